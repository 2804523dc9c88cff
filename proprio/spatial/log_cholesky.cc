#include "proprio/spatial/log_cholesky.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <cmath>

#include "proprio/core/error.h"
#include "proprio/spatial/pseudo_inertia.h"

namespace proprio {
namespace {

using Eigen::Matrix4d;

// Row and column of U for the numbers s12, s23, s13, t1, t2, t3.
struct Entry {
  Eigen::Index row, column;
};
constexpr Entry kOffDiagonal[6] = {{0, 1}, {1, 2}, {0, 2}, {0, 3}, {1, 3}, {2, 3}};

Matrix4d factor(const Vector10d& theta) {
  Matrix4d U = Matrix4d::Identity();
  for (Eigen::Index k = 0; k < 3; ++k) U(k, k) = std::exp(theta[1 + k]);
  for (Eigen::Index k = 0; k < 6; ++k)
    U(kOffDiagonal[k].row, kOffDiagonal[k].column) = theta[4 + k];
  return std::exp(theta[0]) * U;
}

}  // namespace

Vector10d logCholesky(const InertialParameters& body) {
  // the upper factor is the lower one with rows and columns reversed
  const Matrix4d D = pseudoInertia(body);
  const Eigen::LLT<Matrix4d> llt(D.reverse());
  const Matrix4d U = Matrix4d(llt.matrixL()).reverse();
  if (llt.info() != Eigen::Success || !U.allFinite()) {
    throw Error(
        fmt::format("inertia: the pseudo-inertia of the body with mass {} kg is not positive "
                    "definite, so it has no logarithmic Cholesky factor; repair the body first",
                    body.mass));
  }
  Vector10d theta;
  const double scale = U(3, 3);
  theta[0] = std::log(scale);
  for (Eigen::Index k = 0; k < 3; ++k) theta[1 + k] = std::log(U(k, k) / scale);
  for (Eigen::Index k = 0; k < 6; ++k) {
    theta[4 + k] = U(kOffDiagonal[k].row, kOffDiagonal[k].column) / scale;
  }
  return theta;
}

InertialParameters fromLogCholesky(const Vector10d& theta) {
  const Matrix4d U = factor(theta);
  return fromPseudoInertia(U * U.transpose());
}

Matrix10d logCholeskyJacobian(const Vector10d& theta) {
  // d_D = d_U U^T + U d_U^T, with one entry of U moving per column (all of them for a)
  const Matrix4d U = factor(theta);
  const double scale = U(3, 3);
  const auto column = [&](const Matrix4d& d_U) {
    const Matrix4d half = d_U * U.transpose();
    return fromPseudoInertia(half + half.transpose()).vector();
  };
  Matrix10d J;
  J.col(0) = column(U);
  for (Eigen::Index k = 0; k < 3; ++k) {
    Matrix4d d_U = Matrix4d::Zero();
    d_U(k, k) = U(k, k);
    J.col(1 + k) = column(d_U);
  }
  for (Eigen::Index k = 0; k < 6; ++k) {
    Matrix4d d_U = Matrix4d::Zero();
    d_U(kOffDiagonal[k].row, kOffDiagonal[k].column) = scale;
    J.col(4 + k) = column(d_U);
  }
  return J;
}

Matrix10d logCholeskyInverseJacobian(const Vector10d& theta) {
  // U^-1 d_D U^-T = F + F^T with F = U^-1 d_U upper triangular: F is the upper half, diagonal
  // halved
  const Matrix4d U = factor(theta);
  const double scale = U(3, 3);
  const auto triangular = U.triangularView<Eigen::Upper>();
  Matrix10d J;
  for (Eigen::Index k = 0; k < 10; ++k) {
    const Matrix4d d_D = pseudoInertia(InertialParameters::fromVector(Vector10d::Unit(k)));
    const Matrix4d left = triangular.solve(d_D);
    Matrix4d F = triangular.solve(left.transpose().eval());
    F.diagonal() *= 0.5;
    const Matrix4d d_U = U * Matrix4d(F.triangularView<Eigen::Upper>());
    const double da = d_U(3, 3) / scale;
    J(0, k) = da;
    for (Eigen::Index i = 0; i < 3; ++i) J(1 + i, k) = d_U(i, i) / U(i, i) - da;
    for (Eigen::Index i = 0; i < 6; ++i) {
      const auto [row, col] = kOffDiagonal[i];
      J(4 + i, k) = (d_U(row, col) - U(row, col) * da) / scale;
    }
  }
  return J;
}

}  // namespace proprio
