#pragma once

#include <Eigen/Core>

namespace proprio {

using Vector3d = Eigen::Vector3d;
using Matrix3d = Eigen::Matrix3d;
using Vector6d = Eigen::Matrix<double, 6, 1>;
using Matrix6d = Eigen::Matrix<double, 6, 6>;

/// The skew matrix u^ with u^ x = u x x (cross product).
Matrix3d skew(const Vector3d& u);
/// Inverse of skew() on the skew part of S: half of (S32-S23, S13-S31, S21-S12).
Vector3d unskew(const Matrix3d& S);

/// Rotation by |w| radians about w (Rodrigues, in a form without cancellation).
Matrix3d rotationExp(const Vector3d& w);
/// The rotation vector of R, |w| <= pi (also accurate near 0 and pi).
Vector3d rotationLog(const Matrix3d& R);
/// URDF angles: R = Rz(yaw) Ry(pitch) Rx(roll).
Matrix3d rotationFromRpy(const Vector3d& rpy);
/// Inverse of rotationFromRpy with pitch in [-pi/2, pi/2]; roll = 0 in gimbal lock.
Vector3d rpyFromRotation(const Matrix3d& R);
/// R from a quaternion (x, y, z, w), normalised first. @throws Error for a zero or non-finite one.
Matrix3d rotationFromQuaternion(const Eigen::Vector4d& xyzw);
/// The unit quaternion (x, y, z, w) of R with w >= 0.
Eigen::Vector4d quaternionFromRotation(const Matrix3d& R);
/// A rotation whose third column is the given unit axis. For +-x, +-y, +-z it is an exact signed
/// permutation (identity for +z), so that relabelling a frame costs nothing. The axis is
/// normalised.
/// @throws Error for a zero or non-finite one.
Matrix3d rotationWithZAlong(const Vector3d& axis);

/// Pose X_AB of frame B in frame A: p_A = R p_B + p.
struct Pose {
  Matrix3d R = Matrix3d::Identity();
  Vector3d p = Vector3d::Zero();

  static Pose identity() { return {}; }
  static Pose fromXyzRpy(const Vector3d& xyz, const Vector3d& rpy);
  Pose inverse() const;
  Eigen::Matrix4d matrix() const;
};

/// X_AC = X_AB X_BC.
Pose operator*(const Pose& X_AB, const Pose& X_BC);
/// p_A = X_AB p_B.
Vector3d operator*(const Pose& X_AB, const Vector3d& p_B);

/// Velocity adjoint A_X_B = [R, p^ R; 0, R] acting on twists (v, w), linear first.
Matrix6d velocityAdjoint(const Pose& X_AB);
/// Force adjoint A_X^B = [R, 0; p^ R, R] = A_X_B^{-T} acting on wrenches (f, t).
Matrix6d forceAdjoint(const Pose& X_AB);

}  // namespace proprio
