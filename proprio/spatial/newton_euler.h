#pragma once

#include "proprio/spatial/inertial_parameters.h"
#include "proprio/spatial/motion_types.h"

/// Newton-Euler equations, momentum and energy of one rigid body with frame B moving in the
/// inertial frame A.
///
/// newtonEuler() returns the sum f of all wrenches on the body other than gravity, with M the 6x6
/// inertia in the frame of the representation and a^g the proper acceleration:
///   body     M a^g + V x* M V                         M = body.matrix(), constant
///   spatial  M_A a^g + V x* M_A V                     M_A = A_X^B M B_X_A
///   mixed    M_R a^g + (0, w_A) x* M_R (0, w_A)       M_R = M in the axes of A
///   sensor   M a^g + (0, w_B) x* M (0, w_B)           needs no pose and no linear velocity: the
///                                                     form for estimation and identification
/// All four are the same wrench.
///
/// Momentum about A's origin changes by the wrenches about A's origin, gravity included; the same
/// holds about the centre of mass in the axes of A (and about no other moving point).
///
/// Source: Traversaro 2017, sections 2.6 to 2.8, with the sign of the potential corrected.
namespace proprio {

BodyWrench newtonEuler(const InertialParameters& body, const BodyTwist& V,
                       const ProperBodyAcceleration& a);
SpatialWrench newtonEuler(const Pose& X_AB, const InertialParameters& body, const SpatialTwist& V,
                          const ProperSpatialAcceleration& a);
/// w_A is the angular velocity in the axes of A.
MixedWrench newtonEuler(const Pose& X_AB, const InertialParameters& body, const Vector3d& w_A,
                        const ProperMixedAcceleration& a);
/// w_B is the angular velocity in the axes of B, what a gyroscope reads.
BodyWrench newtonEuler(const InertialParameters& body, const Vector3d& w_B,
                       const ProperSensorAcceleration& a);

/// Weight m g at the centre of mass, about B's origin in B's axes.
BodyWrench gravityWrench(const Pose& X_AB, const InertialParameters& body,
                         const Vector3d& gravity_A);

/// M V.
BodyMomentum momentum(const InertialParameters& body, const BodyTwist& V);
/// Momentum about the centre of mass in the axes of A: (m p_C', R I_C w_B).
MixedMomentum centroidalMomentum(const Pose& X_AB, const InertialParameters& body,
                                 const BodyTwist& V);
/// d/dt of the spatial momentum: weight plus external wrench, about A's origin.
SpatialWrench momentumRate(const Pose& X_AB, const InertialParameters& body,
                           const Vector3d& gravity_A, const SpatialWrench& external);
/// d/dt of the centroidal momentum, from the external wrench about B's origin.
MixedWrench centroidalMomentumRate(const Pose& X_AB, const InertialParameters& body,
                                   const Vector3d& gravity_A, const BodyWrench& external);

/// 1/2 V^T M V, J.
double kineticEnergy(const InertialParameters& body, const BodyTwist& V);
/// -g^T (m p + R m c), J: zero at the origin of A, growing against gravity.
double potentialEnergy(const Pose& X_AB, const InertialParameters& body, const Vector3d& gravity_A);

}  // namespace proprio
