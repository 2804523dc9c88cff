#pragma once

/// Torques from a model of the robot, which may differ from the robot: in the loop (computed
/// torque) and along a reference (feed-forward).
///   tau = M(q) a + C(q, v) v + G(q) + effects(q, v_ref, a)
/// with a the acceleration that the servo wants, v its velocity estimate, and friction taken at the
/// reference velocity, which is free of noise. effects: friction, springs and couplings of
/// dynamics/joint_effects.h, with a smooth sign instead of the jump at rest.
/// Source: Ramuzat 2022 ch. 4; Leboutet 2022 eq. 12 (tau_ff).

#include <memory>

#include "proprio/servo/servo.h"

namespace proprio {

/// Gain of the smooth sign of a joint that declares none: `gain` s/rad, and ten times as many s/m
/// for a prismatic joint, whose speeds in m/s are smaller numbers (1 rad/s at 0.1 m is 0.1 m/s).
double signGain(JointType type, double gain);

/// The tree outlives it.
class ComputedTorque {
 public:
  /// @param sign_gain  s/rad: sign(v) is tanh(signGain() v)
  ComputedTorque(const Tree& tree, const Parameters& model, double sign_gain = 100.0);

  /// Real-time. Sizes as documented in model/tree.h.
  void torque(ConstVectorRef q, ConstVectorRef v, ConstVectorRef v_ref, ConstVectorRef a,
              VectorRef tau);
  void gravity(ConstVectorRef q, VectorRef tau);

 private:
  const Tree& tree_;
  Parameters model_;
  std::unique_ptr<const Tree> smooth_tree_;  ///< the same robot with smooth signs
  CompiledParameters compiled_;
  Workspace workspace_;
};

}  // namespace proprio
