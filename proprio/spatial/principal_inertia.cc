#include "proprio/spatial/principal_inertia.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

#include "proprio/core/error.h"
#include "proprio/spatial/pseudo_inertia.h"

namespace proprio {
namespace {

// Second moments closer than this fraction of the largest one leave their axes undetermined.
constexpr double kEqualMoments = 1e-12;

// tr(S) 1 - S: second moment to rotational inertia.
Matrix3d rotationalInertia(const Matrix3d& second_moment) {
  return second_moment.trace() * Matrix3d::Identity() - second_moment;
}

Vector10d parameters(double mass, const Vector3d& first_moment, const Matrix3d& inertia) {
  return InertialParameters{mass, first_moment, inertia}.vector();
}

}  // namespace

InertialParameters fromPrincipal(const PrincipalInertia& body) {
  const Matrix3d S = body.rotation * body.second_moments.asDiagonal() * body.rotation.transpose();
  return InertialParameters::fromCom(body.mass, body.com,
                                     rotationalInertia(0.5 * (S + S.transpose())));
}

PrincipalInertia principalInertia(const InertialParameters& body) {
  PrincipalInertia result{body.mass, body.com(), Matrix3d::Identity(), Vector3d::Zero()};
  const Matrix3d S = centralSecondMoment(body);
  if (!S.allFinite()) {
    throw Error(
        fmt::format("inertia: the body with mass {} kg has parameters that are not finite "
                    "numbers, so it has no principal axes",
                    body.mass));
  }
  const Eigen::SelfAdjointEigenSolver<Matrix3d> solver(S);
  result.second_moments = solver.eigenvalues();
  for (Eigen::Index k = 0; k < 2; ++k) {
    const Vector3d axis = solver.eigenvectors().col(k);
    Eigen::Index largest = 0;
    axis.cwiseAbs().maxCoeff(&largest);
    result.rotation.col(k) = axis[largest] < 0.0 ? Vector3d(-axis) : axis;
  }
  result.rotation.col(2) = result.rotation.col(0).cross(result.rotation.col(1));
  return result;
}

PrincipalInertia moved(const PrincipalInertia& body, const Vector10d& z) {
  return {body.mass + z[0], body.com + z.segment<3>(1),
          body.rotation * rotationExp(z.segment<3>(4)), body.second_moments + z.tail<3>()};
}

Matrix10d principalJacobian(const PrincipalInertia& body) {
  const Matrix3d& Q = body.rotation;
  const Matrix3d c = skew(body.com);
  const Matrix3d S = body.second_moments.asDiagonal();
  Matrix10d J;
  J.col(0) = parameters(1.0, body.com, -c * c);
  for (Eigen::Index k = 0; k < 3; ++k) {
    const Matrix3d e = skew(Vector3d::Unit(k));
    J.col(1 + k) = parameters(0.0, body.mass * Vector3d::Unit(k), -body.mass * (e * c + c * e));
    J.col(4 + k) =
        parameters(0.0, Vector3d::Zero(), rotationalInertia(Q * (e * S - S * e) * Q.transpose()));
    J.col(7 + k) =
        parameters(0.0, Vector3d::Zero(), rotationalInertia(Q.col(k) * Q.col(k).transpose()));
  }
  return J;
}

std::optional<Matrix10d> principalInverseJacobian(const PrincipalInertia& body) {
  const Vector3d& L = body.second_moments;
  // gaps in the order of the rotations about axes 1, 2, 3
  const Vector3d gaps(L[1] - L[2], L[2] - L[0], L[0] - L[1]);
  const double smallest = kEqualMoments * L.cwiseAbs().maxCoeff();
  if (!(gaps.cwiseAbs().minCoeff() > smallest) || body.mass == 0.0) return std::nullopt;

  const Matrix3d& Q = body.rotation;
  const Matrix3d c = skew(body.com);
  Matrix10d J;
  for (Eigen::Index k = 0; k < 10; ++k) {
    const auto d = InertialParameters::fromVector(Vector10d::Unit(k));
    const Vector3d dc = (d.first_moment - d.mass * body.com) / body.mass;
    const Matrix3d mixed = skew(dc) * c;
    const Matrix3d d_I_C = d.inertia + d.mass * c * c + body.mass * (mixed + mixed.transpose());
    // the change of the second moment in principal axes: L on its diagonal, the rotation off it
    const Matrix3d d_S = 0.5 * d_I_C.trace() * Matrix3d::Identity() - d_I_C;
    const Matrix3d N = Q.transpose() * d_S * Q;
    J.col(k) << d.mass, dc, N(2, 1) / gaps[0], N(0, 2) / gaps[1], N(1, 0) / gaps[2], N.diagonal();
  }
  return J;
}

Vector3d equivalentBoxSize(const PrincipalInertia& body) {
  const double smallest = body.second_moments.minCoeff();
  if (!(body.mass > 0.0) || !(smallest >= 0.0)) {
    throw Error(
        fmt::format("inertia: no solid has mass {} kg and smallest central second moment {} "
                    "kg m^2; both must be positive, repair the body first",
                    body.mass, smallest));
  }
  return 2.0 * (3.0 / body.mass * body.second_moments).cwiseSqrt();
}

}  // namespace proprio
