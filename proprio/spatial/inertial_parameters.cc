#include "proprio/spatial/inertial_parameters.h"

namespace proprio {
namespace {

// -a^ b^ - b^ a^ = 2 (a.b) 1 - a b^T - b a^T: the mixed term of -(a+b)^ (a+b)^, symmetric by form.
Matrix3d mixedSteiner(const Vector3d& a, const Vector3d& b) {
  const Matrix3d ab = a * b.transpose();
  return 2.0 * a.dot(b) * Matrix3d::Identity() - ab - ab.transpose();
}

}  // namespace

InertialParameters InertialParameters::fromCom(double mass, const Vector3d& com,
                                               const Matrix3d& inertia_at_com) {
  const Vector3d first_moment = mass * com;
  return {mass, first_moment, inertia_at_com + 0.5 * mixedSteiner(first_moment, com)};
}

InertialParameters InertialParameters::fromVector(const Eigen::Ref<const Vector10d>& vector) {
  InertialParameters body;
  body.mass = vector[0];
  body.first_moment = vector.segment<3>(1);
  body.inertia << vector[4], vector[5], vector[6],  //
      vector[5], vector[7], vector[8],              //
      vector[6], vector[8], vector[9];
  return body;
}

Vector10d InertialParameters::vector() const {
  Vector10d result;
  result << mass, first_moment, inertia(0, 0), inertia(0, 1), inertia(0, 2), inertia(1, 1),
      inertia(1, 2), inertia(2, 2);
  return result;
}

Vector3d InertialParameters::com() const {
  if (mass == 0.0) return Vector3d::Zero();
  return first_moment / mass;
}

Matrix3d InertialParameters::inertiaAtCom() const {
  return inertia - 0.5 * mixedSteiner(first_moment, com());
}

Matrix6d InertialParameters::matrix() const {
  const Matrix3d mc = skew(first_moment);
  Matrix6d M;
  M << mass * Matrix3d::Identity(), -mc, mc, inertia;
  return M;
}

InertialParameters operator+(const InertialParameters& a, const InertialParameters& b) {
  return {a.mass + b.mass, a.first_moment + b.first_moment, a.inertia + b.inertia};
}

InertialParameters operator-(const InertialParameters& a, const InertialParameters& b) {
  return {a.mass - b.mass, a.first_moment - b.first_moment, a.inertia - b.inertia};
}

InertialParameters transformed(const Pose& X_AB, const InertialParameters& body_in_B) {
  // with r_A = R r_B + p: h_A = R h + m p,  I_A = R I R^T - (Rh)^ p^ - p^ (Rh)^ - m p^ p^
  const double mass = body_in_B.mass;
  const Vector3d Rh = X_AB.R * body_in_B.first_moment;
  const Matrix3d inertia = X_AB.R * body_in_B.inertia * X_AB.R.transpose() +
                           mixedSteiner(Rh, X_AB.p) + 0.5 * mass * mixedSteiner(X_AB.p, X_AB.p);
  return {mass, Rh + mass * X_AB.p, 0.5 * (inertia + inertia.transpose())};
}

Eigen::Matrix<double, 3, 6> inertiaOperator(const Vector3d& u) {
  Eigen::Matrix<double, 3, 6> U;
  U << u.x(), u.y(), u.z(), 0.0, 0.0, 0.0,  //
      0.0, u.x(), 0.0, u.y(), u.z(), 0.0,   //
      0.0, 0.0, u.x(), 0.0, u.y(), u.z();
  return U;
}

Matrix10d parameterTransform(const Pose& X_AB) {
  Matrix10d T;
  for (Eigen::Index k = 0; k < 10; ++k) {
    const auto unit = InertialParameters::fromVector(Vector10d::Unit(k));
    T.col(k) = transformed(X_AB, unit).vector();
  }
  return T;
}

}  // namespace proprio
