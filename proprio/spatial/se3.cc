#include "proprio/spatial/se3.h"

#include <Eigen/Geometry>
#include <cmath>

namespace proprio {
namespace {

// Below this angle the closed forms lose digits to cancellation and series take over, truncated
// where they change the Jacobians by less than 1e-16.
constexpr double kSeriesAngle = 0.25;

// (1 - cos t)/t^2, without cancellation.
double cosineTerm(double t) {
  const double half = 0.5 * t;
  const double sinc = half == 0.0 ? 1.0 : std::sin(half) / half;
  return 0.5 * sinc * sinc;
}

// (t - sin t)/t^3.
double sineTerm(double t) {
  if (t > kSeriesAngle) return (t - std::sin(t)) / (t * t * t);
  const double s = t * t;
  return (1.0 - s / 20.0 * (1.0 - s / 42.0 * (1.0 - s / 72.0 * (1.0 - s / 110.0)))) / 6.0;
}

// (1 - (t/2) cot(t/2))/t^2.
double cotangentTerm(double t) {
  const double s = t * t;
  if (t > kSeriesAngle) return (1.0 - 0.5 * t / std::tan(0.5 * t)) / s;
  return 1.0 / 12.0 +
         s * (1.0 / 720.0 + s * (1.0 / 30240.0 + s * (1.0 / 1209600.0 + s / 47900160.0)));
}

}  // namespace

Eigen::Matrix4d twistHat(const Vector6d& x) {
  Eigen::Matrix4d X = Eigen::Matrix4d::Zero();
  X.topLeftCorner<3, 3>() = skew(x.tail<3>());
  X.topRightCorner<3, 1>() = x.head<3>();
  return X;
}

Vector6d twistVee(const Eigen::Matrix4d& X) {
  Vector6d x;
  x << X.topRightCorner<3, 1>(), unskew(X.topLeftCorner<3, 3>());
  return x;
}

Pose poseExp(const Vector6d& x) {
  const Vector3d w = x.tail<3>();
  return {rotationExp(w), rotationExpJacobian(w) * x.head<3>()};
}

Vector6d poseLog(const Pose& X) {
  const Vector3d w = rotationLog(X.R);
  Vector6d x;
  x << rotationExpJacobianInverse(w) * X.p, w;
  return x;
}

Matrix3d rotationExpJacobian(const Vector3d& w) {
  const double angle = w.stableNorm();
  const Matrix3d W = skew(w);
  return Matrix3d::Identity() + cosineTerm(angle) * W + sineTerm(angle) * W * W;
}

Matrix3d rotationExpJacobianInverse(const Vector3d& w) {
  const Matrix3d W = skew(w);
  return Matrix3d::Identity() - 0.5 * W + cotangentTerm(w.stableNorm()) * W * W;
}

Matrix6d motionCrossMatrix(const Vector6d& x) {
  const Matrix3d W = skew(x.tail<3>());
  Matrix6d X;
  X << W, skew(x.head<3>()), Matrix3d::Zero(), W;
  return X;
}

Matrix6d forceCrossMatrix(const Vector6d& x) {
  const Matrix3d W = skew(x.tail<3>());
  Matrix6d X;
  X << W, Matrix3d::Zero(), skew(x.head<3>()), W;
  return X;
}

Vector6d motionCross(const Vector6d& x, const Vector6d& m) {
  const Vector3d v = x.head<3>(), w = x.tail<3>(), a = m.head<3>(), b = m.tail<3>();
  Vector6d result;
  result << w.cross(a) + v.cross(b), w.cross(b);
  return result;
}

Vector6d forceCross(const Vector6d& x, const Vector6d& f) {
  const Vector3d v = x.head<3>(), w = x.tail<3>(), a = f.head<3>(), b = f.tail<3>();
  Vector6d result;
  result << w.cross(a), v.cross(a) + w.cross(b);
  return result;
}

}  // namespace proprio
