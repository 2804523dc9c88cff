#include "proprio/spatial/pose.h"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <cmath>

#include "proprio/core/error.h"

namespace proprio {
namespace {

// Below this distance from the pole (|cos(pitch)|) roll and yaw turn about the same axis.
constexpr double kGimbalLock = 1e-12;

}  // namespace

Matrix3d skew(const Vector3d& u) {
  Matrix3d S;
  S << 0.0, -u.z(), u.y(),  //
      u.z(), 0.0, -u.x(),   //
      -u.y(), u.x(), 0.0;
  return S;
}

Vector3d unskew(const Matrix3d& S) {
  return 0.5 * Vector3d(S(2, 1) - S(1, 2), S(0, 2) - S(2, 0), S(1, 0) - S(0, 1));
}

Matrix3d rotationExp(const Vector3d& w) {
  // R = 1 + a w^ + b w^ w^ with a = sin(t)/t and b = (1 - cos t)/t^2 = (sin(t/2)/(t/2))^2 / 2;
  // the second form of b has no cancellation, so only division by zero needs care; and t^2 where t
  // is huge, so that turns of more than one radian go by the unit axis
  const double angle = w.stableNorm();
  const double half = 0.5 * angle;
  if (angle > 1.0) {
    const Matrix3d U = skew(w / angle);
    const double s = std::sin(half);
    return Matrix3d::Identity() + std::sin(angle) * U + 2.0 * s * s * U * U;
  }
  const double a = angle == 0.0 ? 1.0 : std::sin(angle) / angle;
  const double half_sinc = half == 0.0 ? 1.0 : std::sin(half) / half;
  const double b = 0.5 * half_sinc * half_sinc;
  const Matrix3d W = skew(w);
  return Matrix3d::Identity() + a * W + b * W * W;
}

Vector3d rotationLog(const Matrix3d& R) {
  // the quaternion keeps full relative accuracy of the axis both near 0 (from the skew part of R)
  // and near pi (from the symmetric part)
  const Eigen::Vector4d q = quaternionFromRotation(R);
  const Vector3d axis_sin_half = q.head<3>();
  const double sin_half = axis_sin_half.stableNorm();
  if (sin_half == 0.0) return Vector3d::Zero();
  return (2.0 * std::atan2(sin_half, q.w()) / sin_half) * axis_sin_half;
}

Matrix3d rotationFromRpy(const Vector3d& rpy) {
  const double cr = std::cos(rpy.x()), sr = std::sin(rpy.x());
  const double cp = std::cos(rpy.y()), sp = std::sin(rpy.y());
  const double cy = std::cos(rpy.z()), sy = std::sin(rpy.z());
  Matrix3d R;
  R << cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr,  //
      sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr,   //
      -sp, cp * sr, cp * cr;
  return R;
}

Vector3d rpyFromRotation(const Matrix3d& R) {
  const double cos_pitch = std::hypot(R(0, 0), R(1, 0));
  const double pitch = std::atan2(-R(2, 0), cos_pitch);
  if (cos_pitch < kGimbalLock) return {0.0, pitch, std::atan2(-R(0, 1), R(1, 1))};
  // roll from the matrix with the yaw undone: what yaw loses near the pole, roll takes up
  const double yaw = std::atan2(R(1, 0), R(0, 0));
  const double cy = std::cos(yaw), sy = std::sin(yaw);
  const double roll = std::atan2(sy * R(0, 2) - cy * R(1, 2), cy * R(1, 1) - sy * R(0, 1));
  return {roll, pitch, yaw};
}

Matrix3d rotationFromQuaternion(const Eigen::Vector4d& xyzw) {
  const double norm = xyzw.stableNorm();
  if (!(norm > 0.0) || !std::isfinite(norm)) {
    throw Error(fmt::format(
        "rotation: the quaternion (x, y, z, w) = ({}, {}, {}, {}) has no direction; give four "
        "finite numbers that are not all zero",
        xyzw.x(), xyzw.y(), xyzw.z(), xyzw.w()));
  }
  const Eigen::Vector4d q = xyzw / norm;
  return Eigen::Quaterniond(q.w(), q.x(), q.y(), q.z()).toRotationMatrix();
}

Eigen::Vector4d quaternionFromRotation(const Matrix3d& R) {
  // Shepperd: take the square root of the largest of 4w^2, 4x^2, 4y^2, 4z^2, the rest by division
  const double trace = R.trace();
  Eigen::Index k = 0;
  const double largest = R.diagonal().maxCoeff(&k);
  Eigen::Vector4d q;
  if (trace >= largest) {
    q << R(2, 1) - R(1, 2), R(0, 2) - R(2, 0), R(1, 0) - R(0, 1), 1.0 + trace;
  } else {
    const Eigen::Index i = (k + 1) % 3, j = (k + 2) % 3;
    q[k] = 1.0 + 2.0 * largest - trace;
    q[i] = R(i, k) + R(k, i);
    q[j] = R(j, k) + R(k, j);
    q[3] = R(j, i) - R(i, j);
  }
  q /= q.norm();
  return q.w() < 0.0 ? Eigen::Vector4d(-q) : q;
}

Matrix3d rotationWithZAlong(const Vector3d& axis) {
  const double norm = axis.stableNorm();
  if (!(norm > 0.0) || !std::isfinite(norm)) {
    throw Error(
        fmt::format("rotation: the axis ({}, {}, {}) has no direction; give three finite "
                    "numbers that are not all zero",
                    axis.x(), axis.y(), axis.z()));
  }
  Matrix3d R = Matrix3d::Zero();
  Eigen::Index k = 0;
  axis.cwiseAbs().maxCoeff(&k);
  const Eigen::Index i = (k + 1) % 3, j = (k + 2) % 3;
  const double sign = axis[k] < 0.0 ? -1.0 : 1.0;
  if (axis[i] == 0.0 && axis[j] == 0.0) {
    R(i, 0) = 1.0;
    R(j, 1) = sign;
    R(k, 2) = sign;
    return R;
  }
  // for other axes: x is the next coordinate axis, made orthogonal to z
  const Vector3d z = axis / norm;
  const Vector3d x = (Vector3d::Unit(i) - z[i] * z).normalized();
  R << x, z.cross(x), z;
  return R;
}

Pose Pose::fromXyzRpy(const Vector3d& xyz, const Vector3d& rpy) {
  return {rotationFromRpy(rpy), xyz};
}

Pose Pose::inverse() const { return {R.transpose(), -(R.transpose() * p)}; }

Pose operator*(const Pose& X_AB, const Pose& X_BC) {
  return {X_AB.R * X_BC.R, X_AB.R * X_BC.p + X_AB.p};
}

Vector3d operator*(const Pose& X_AB, const Vector3d& p_B) { return X_AB.R * p_B + X_AB.p; }

Eigen::Matrix4d Pose::matrix() const {
  Eigen::Matrix4d H = Eigen::Matrix4d::Identity();
  H.topLeftCorner<3, 3>() = R;
  H.topRightCorner<3, 1>() = p;
  return H;
}

Matrix6d velocityAdjoint(const Pose& X_AB) {
  Matrix6d X;
  X << X_AB.R, skew(X_AB.p) * X_AB.R, Matrix3d::Zero(), X_AB.R;
  return X;
}

Matrix6d forceAdjoint(const Pose& X_AB) {
  Matrix6d X;
  X << X_AB.R, Matrix3d::Zero(), skew(X_AB.p) * X_AB.R, X_AB.R;
  return X;
}

}  // namespace proprio
