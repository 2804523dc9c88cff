#pragma once

/// Kinematics of every link: poses, twists, accelerations, Jacobians and their bias, relative
/// motion of two links.
///
/// Everything is carried in an inertial frame O with the world's axes whose origin is where the
/// root's origin is now (a constant at the instant; robots far from the world origin lose no
/// digits). For body b with joint axis column S_b:
///   V_b = V_parent + S_b v_b,   A_b = A_parent + S_b a_b + V_b x S_b v_b      (spatial twists
///   about O)
/// Jacobian columns of a link are the S of the coordinates on its path. Source: Traversaro
/// 2017, 3.4-3.5.
///
/// Real-time once the Kinematics object exists. A quaternion of zeros gives poses that are NaN.

#include <vector>

#include "proprio/dynamics/workspace.h"
#include "proprio/spatial/motion_types.h"

namespace proprio {

/// One instant of a tree's motion. Filled by computeKinematics.
struct Kinematics {
  explicit Kinematics(const Tree& tree);

  Vector3d origin = Vector3d::Zero();          ///< O in the world
  std::vector<Pose> X_WB;                      ///< per body: body frame in the world
  std::vector<Pose> X_WL;                      ///< per link: link frame in the world
  std::vector<Vector6d> V;                     ///< per body: spatial twist about O
  std::vector<Vector6d> A;                     ///< per body: spatial acceleration about O
  std::vector<Vector6d> bias;                  ///< the same with all generalised accelerations zero
  Eigen::Matrix<double, 6, Eigen::Dynamic> S;  ///< per full velocity coordinate: column about O
  Eigen::Matrix<double, 6, Eigen::Dynamic> dS;  ///< its time derivative, V_b x S
  std::vector<int> body_of;                     ///< per full velocity coordinate: the body it moves
};

/// Poses only (V, A, dS are set to zero), with velocities, with accelerations.
void computeKinematics(const Tree& tree, ConstVectorRef q, Kinematics& kinematics);
void computeKinematics(const Tree& tree, ConstVectorRef q, ConstVectorRef v,
                       Kinematics& kinematics);
void computeKinematics(const Tree& tree, ConstVectorRef q, ConstVectorRef v, ConstVectorRef a,
                       Kinematics& kinematics);

/// Pose in the world of a frame at X_LF on a link.
Pose framePose(const Kinematics& kinematics, int link, const Pose& X_LF = {});
BodyTwist frameTwist(const Tree& tree, const Kinematics& kinematics, int link,
                     const Pose& X_LF = {});
BodyAcceleration frameAcceleration(const Tree& tree, const Kinematics& kinematics, int link,
                                   const Pose& X_LF = {});
/// What an accelerometer and a differentiated gyroscope at the frame read.
ProperSensorAcceleration frameProperAcceleration(const Tree& tree, const Kinematics& kinematics,
                                                 int link, const Pose& X_LF = {});

/// Jacobian of a frame: its twist in representation `of` is J v, where the base columns of a
/// floating tree multiply the base twist in representation `base`. @param J 6 x velocityCount().
/// kSensor is refused.
void frameJacobian(const Tree& tree, const Kinematics& kinematics, int link, const Pose& X_LF,
                   Representation of, Representation base,
                   Eigen::Ref<Eigen::Matrix<double, 6, Eigen::Dynamic>> J);
/// Jdot v: the frame's acceleration in representation `of` minus J times the derivative of v (base
/// part in `base`).
Vector6d frameBias(const Tree& tree, const Kinematics& kinematics, int link, const Pose& X_LF,
                   Representation of, Representation base);

/// Pose of link `to` in link `from`, whatever the base.
Pose relativePose(const Kinematics& kinematics, int from, int to);
/// Twist of `to` relative to `from` in representation `of` is S times the shape velocities.
/// @param S 6 x model.velocity_count
void relativeJacobian(const Tree& tree, const Kinematics& kinematics, int from, int to,
                      Representation of, Eigen::Ref<Eigen::Matrix<double, 6, Eigen::Dynamic>> S);

/// Its derivative with all shape accelerations zero (Sdot times the shape velocities): what the
/// acceleration of `to` relative to `from`, d/dt of that twist, has beside S times the shape
/// accelerations. The same for every base and every motion of it.
Vector6d relativeBias(const Tree& tree, const Kinematics& kinematics, int from, int to,
                      Representation of);

/// Poses of all links for many samples: column 12 * link + k holds R row-major (k < 9), then p.
void linkPosesBatch(const Tree& tree, Workspace& workspace, ConstMatrixRef q, MatrixRef poses);

}  // namespace proprio
