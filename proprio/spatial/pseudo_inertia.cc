#include "proprio/spatial/pseudo_inertia.h"

namespace proprio {
namespace {

// tr(I)/2 1 - I: rotational inertia to second moment. Its inverse is tr(S) 1 - S.
Matrix3d secondMoment(const Matrix3d& inertia) {
  return 0.5 * inertia.trace() * Matrix3d::Identity() - inertia;
}

}  // namespace

Eigen::Matrix4d pseudoInertia(const InertialParameters& body) {
  Eigen::Matrix4d D;
  D << secondMoment(body.inertia), body.first_moment, body.first_moment.transpose(), body.mass;
  return D;
}

InertialParameters fromPseudoInertia(const Eigen::Matrix4d& D) {
  Matrix3d S;
  S << D(0, 0), D(1, 0), D(2, 0),  //
      D(1, 0), D(1, 1), D(2, 1),   //
      D(2, 0), D(2, 1), D(2, 2);
  return {D(3, 3), D.block<1, 3>(3, 0).transpose(), S.trace() * Matrix3d::Identity() - S};
}

Vector10d lowerTriangle(const Eigen::Matrix4d& D) {
  Vector10d entries;
  Eigen::Index k = 0;
  for (Eigen::Index i = 0; i < 4; ++i) {
    for (Eigen::Index j = 0; j <= i; ++j) entries[k++] = D(i, j);
  }
  return entries;
}

Eigen::Matrix4d symmetricFromLowerTriangle(const Vector10d& entries) {
  Eigen::Matrix4d D;
  Eigen::Index k = 0;
  for (Eigen::Index i = 0; i < 4; ++i) {
    for (Eigen::Index j = 0; j <= i; ++j) D(i, j) = D(j, i) = entries[k++];
  }
  return D;
}

Matrix10d pseudoInertiaJacobian() {
  Matrix10d J;
  for (Eigen::Index k = 0; k < 10; ++k) {
    const auto unit = InertialParameters::fromVector(Vector10d::Unit(k));
    J.col(k) = lowerTriangle(pseudoInertia(unit));
  }
  return J;
}

Matrix10d pseudoInertiaInverseJacobian() {
  Matrix10d J;
  for (Eigen::Index k = 0; k < 10; ++k) {
    J.col(k) = fromPseudoInertia(symmetricFromLowerTriangle(Vector10d::Unit(k))).vector();
  }
  return J;
}

Matrix3d centralSecondMoment(const InertialParameters& body) {
  return secondMoment(body.inertiaAtCom());
}

}  // namespace proprio
