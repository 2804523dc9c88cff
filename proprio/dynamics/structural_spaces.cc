#include <algorithm>

#include "proprio/dynamics/structural_spaces_internal.h"

namespace proprio::internal {

Matrix6d motionCross(const Vector6d& S) {
  Matrix6d X = Matrix6d::Zero();
  X.topLeftCorner<3, 3>() = skew(S.tail<3>());
  X.topRightCorner<3, 3>() = skew(S.head<3>());
  X.bottomRightCorner<3, 3>() = skew(S.tail<3>());
  return X;
}

Matrix10d parameterGenerator(const Vector6d& S) {
  const Vector3d v = S.head<3>(), w = S.tail<3>();
  Matrix10d generator;
  for (int k = 0; k < 10; ++k) {
    const InertialParameters b = InertialParameters::fromVector(Vector10d::Unit(k));
    InertialParameters rate;
    rate.mass = 0.0;
    rate.first_moment = w.cross(b.first_moment) + b.mass * v;
    const Matrix3d vh = skew(v) * skew(b.first_moment);
    rate.inertia = skew(w) * b.inertia - b.inertia * skew(w) - vh - vh.transpose();
    generator.col(k) = rate.vector();
  }
  return generator;
}

Vector10d productRow(const Vector6d& S, const Vector6d& u) {
  return (S.transpose() * inertiaRegressor(u)).transpose();
}

double robotSize(const Tree& tree) {
  double size = 0.0;
  for (const TreeBody& body : tree.bodies()) {
    if (body.parent < 0) continue;
    size = std::max({size, Vector3d::Map(body.p_PJ).norm(), Vector3d::Map(body.p_BL).norm()});
  }
  return size > 0.0 ? size : 1.0;
}

double robotReach(const Tree& tree) {
  double reach = 0.0;
  std::vector<double> to_joint;
  for (const TreeBody& body : tree.bodies()) {
    to_joint.push_back(body.parent < 0 ? 0.0
                                       : to_joint[static_cast<size_t>(body.parent)] +
                                             Vector3d::Map(body.p_PJ).norm());
    reach = std::max(reach, to_joint.back() + Vector3d::Map(body.p_BL).norm());
  }
  return reach > 0.0 ? reach : 1.0;
}

std::vector<Vector6d> jointTwists(BodyJoint joint) {
  switch (joint) {
    case BodyJoint::kFixed:
      return {};
    case BodyJoint::kRevolute:
      return {Vector6d::Unit(5)};
    case BodyJoint::kPrismatic:
      return {Vector6d::Unit(2)};
    case BodyJoint::kFloating:
      break;
  }
  std::vector<Vector6d> all;
  for (int k = 0; k < 6; ++k) all.push_back(Vector6d::Unit(k));
  return all;
}

}  // namespace proprio::internal
