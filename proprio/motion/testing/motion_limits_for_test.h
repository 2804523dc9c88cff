#pragma once

#include "proprio/motion/motion_limits.h"

namespace proprio {

/// Three joints with different limits; jerk included.
inline MotionLimits threeJoints() {
  MotionLimits limits;
  limits.joints = {"one", "two", "three"};
  limits.lower = Eigen::Vector3d(-1.0, -2.0, -0.5);
  limits.upper = Eigen::Vector3d(1.5, 2.0, 3.0);
  limits.velocity = Eigen::Vector3d(2.0, 1.0, 3.0);
  limits.acceleration = Eigen::Vector3d(5.0, 8.0, 20.0);
  limits.jerk = Eigen::Vector3d(60.0, 100.0, 150.0);
  limits.effort = Eigen::Vector3d::Constant(NAN);
  return limits;
}

}  // namespace proprio
