#pragma once

/// Inverse dynamics: joint torques (and the base wrench) for a given motion,
///   tau = M(q) a + C(q, v) v + G(q) - sum_links J^T f_ext   (+ rotor inertia times joint
///   acceleration),
/// by the recursive Newton-Euler algorithm in proper classical accelerations.
/// Source: Featherstone 2008 ch. 5; classical form with B = al^ + w^ w^ after Traversaro 2017
/// eq. 3.64. Friction, springs and couplings are not included: see joint_effects.h.
///
/// Real-time: no allocation, lock or throw once the sizes are right.

#include "proprio/dynamics/workspace.h"

namespace proprio {

/// @param q,v,a   sizes tree.positionCount(), velocityCount(), velocityCount()
/// @param tau     velocityCount(); floating base: first six entries are the wrench on the base
/// @param external wrench on every link, or null
void inverseDynamics(const Tree& tree, const CompiledParameters& parameters, Workspace& workspace,
                     ConstVectorRef q, ConstVectorRef v, ConstVectorRef a, VectorRef tau,
                     const LinkWrenches* external = nullptr);

/// The same for dual numbers: derivative of tau along the direction in the duals.
/// @param tau       resized: allocates where it is too small
/// @param external  six numbers per link, in the order of LinkWrenches, or null
void inverseDynamics(const Tree& tree, const CompiledParametersOf<Dual>& parameters,
                     Workspace& workspace, const std::vector<Dual>& q, const std::vector<Dual>& v,
                     const std::vector<Dual>& a, std::vector<Dual>* tau,
                     const std::vector<Dual>* external = nullptr);

/// From what an IMU on the base link knows (T-23): proper classical acceleration of the link-frame
/// origin (what an accelerometer there reads), angular acceleration and angular velocity, all in
/// link axes; needs neither pose nor linear velocity. `tree` is floating with that link as base;
/// shape coordinates only in s, sd, sdd (without base). tau has velocityCount() entries; the first
/// six are the wrench on the base link.
struct ImuMotion {
  Vector3d proper_acceleration = Vector3d::Zero();
  Vector3d angular_acceleration = Vector3d::Zero();
  Vector3d angular_velocity = Vector3d::Zero();
};
void inverseDynamicsFromImu(const Tree& tree, const CompiledParameters& parameters,
                            Workspace& workspace, const ImuMotion& base, ConstVectorRef s,
                            ConstVectorRef sd, ConstVectorRef sdd, VectorRef tau,
                            const LinkWrenches* external = nullptr);

/// Gravity torques G(q), and C(q, v) v + G(q).
void gravityTorque(const Tree& tree, const CompiledParameters& parameters, Workspace& workspace,
                   ConstVectorRef q, VectorRef tau);
void biasTorque(const Tree& tree, const CompiledParameters& parameters, Workspace& workspace,
                ConstVectorRef q, ConstVectorRef v, VectorRef tau,
                const LinkWrenches* external = nullptr);

/// Wrench (f, n) that the ground exerts on a fixed base link, at its frame, in its axes.
Vector6d baseReaction(const Tree& tree, const CompiledParameters& parameters, Workspace& workspace,
                      ConstVectorRef q, ConstVectorRef v, ConstVectorRef a,
                      const LinkWrenches* external = nullptr);

/// Many samples: row = sample, column = coordinate. Real-time like the one-sample form.
/// Outputs must not overlap inputs.
/// @param external  wrenches on some links, or null
void inverseDynamicsBatch(const Tree& tree, const CompiledParameters& parameters,
                          Workspace& workspace, ConstMatrixRef q, ConstMatrixRef v,
                          ConstMatrixRef a, MatrixRef tau, const BatchWrenches* external = nullptr);

}  // namespace proprio
