#include "proprio/dynamics/body_regressor.h"

namespace proprio {
namespace {

/// u x* : the dual cross product of a motion with wrenches, [w^, 0; v^, w^].
Matrix6d dualCross(const Vector3d& v, const Vector3d& w) {
  Matrix6d X = Matrix6d::Zero();
  X.topLeftCorner<3, 3>() = skew(w);
  X.bottomLeftCorner<3, 3>() = skew(v);
  X.bottomRightCorner<3, 3>() = skew(w);
  return X;
}

}  // namespace

Matrix36d inertiaTimes(const Vector3d& w) {
  Matrix36d D;
  D << w[0], w[1], w[2], 0, 0, 0,  //
      0, w[0], 0, w[1], w[2], 0,   //
      0, 0, w[0], 0, w[1], w[2];
  return D;
}

Matrix6x10d inertiaRegressor(const Vector6d& u) {
  Matrix6x10d D = Matrix6x10d::Zero();
  const Vector3d v = u.head<3>(), w = u.tail<3>();
  D.block<3, 1>(0, 0) = v;
  D.block<3, 3>(0, 1) = skew(w);
  D.block<3, 3>(3, 1) = -skew(v);
  D.block<3, 6>(3, 4) = inertiaTimes(w);
  return D;
}

Matrix6x10d bodyRegressor(const ProperSensorAcceleration& acceleration, const Vector3d& w_B) {
  const Vector3d zero = Vector3d::Zero();
  const Vector6d turning = (Vector6d() << zero, w_B).finished();
  return inertiaRegressor(acceleration.vector()) + dualCross(zero, w_B) * inertiaRegressor(turning);
}

Matrix6x10d bodyRegressor(const BodyTwist& V, const ProperBodyAcceleration& acceleration) {
  return inertiaRegressor(acceleration.vector()) +
         dualCross(V.linear, V.angular) * inertiaRegressor(V.vector());
}

Eigen::Matrix<double, 1, 10> kineticEnergyRow(const BodyTwist& V) {
  return 0.5 * V.vector().transpose() * inertiaRegressor(V.vector());
}

Eigen::Matrix<double, 1, 10> potentialEnergyRow(const Pose& X_WB, const Vector3d& gravity_W) {
  Eigen::Matrix<double, 1, 10> row = Eigen::Matrix<double, 1, 10>::Zero();
  row[0] = -gravity_W.dot(X_WB.p);
  row.segment<3>(1) = -gravity_W.transpose() * X_WB.R;
  return row;
}

}  // namespace proprio
