#pragma once

/// Pose, velocity and proper acceleration of every link, as plain values: what sensors on the links
/// would see, and what the regressors of single links and of parts of the robot are built from.
/// By the composition law in sensor form (Traversaro 2017 eq. 3.7), which carries gyroscope and
/// accelerometer readings along the tree without pose or linear velocity of the base.
///
/// Written for clarity, one sample at a time; inverse dynamics and the torque regressor have faster
/// routes of their own. Real-time once `motions` has its size; throws Error for a quaternion that
/// is zero or not finite.

#include "proprio/dynamics/inverse_dynamics.h"
#include "proprio/spatial/motion_types.h"

namespace proprio {

struct LinkMotion {
  Pose X_WL;                              ///< link frame in the world
  BodyTwist twist;                        ///< of the link in the world, in link axes
  ProperSensorAcceleration acceleration;  ///< what an accelerometer at the link's origin reads
};

/// @param q,v,a    sizes as documented in model/tree.h
/// @param motions  one entry per model link
void linkMotions(const Tree& tree, ConstVectorRef q, ConstVectorRef v, ConstVectorRef a,
                 std::vector<LinkMotion>* motions);

/// From an IMU on the base link of a floating tree; s, sd, sdd without base coordinates. Poses are
/// relative to the base link, twists have the linear velocity of the base taken as zero: angular
/// velocities and proper accelerations need neither.
void linkMotionsFromImu(const Tree& tree, const ImuMotion& base, ConstVectorRef s,
                        ConstVectorRef sd, ConstVectorRef sdd, std::vector<LinkMotion>* motions);

}  // namespace proprio
