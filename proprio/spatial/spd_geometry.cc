#include "proprio/spatial/spd_geometry.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <cmath>

#include "proprio/core/error.h"

namespace proprio {
namespace {

// Asymmetry allowed, relative to the norm: what a few operations in floating point leave behind.
constexpr double kAsymmetry = 1e-9;
// Below this norm of D^-1/2 (E - D) D^-1/2 logarithms are taken of 1 + x to keep small distances.
constexpr double kNear = 0.5;

void requireSymmetric(const Matrix4d& A, const char* name) {
  if (!A.allFinite()) {
    throw Error(fmt::format(
        "positive definite matrices: {} has entries that are not finite numbers", name));
  }
  const double asymmetry = (A - A.transpose()).norm();
  if (asymmetry > kAsymmetry * A.norm()) {
    throw Error(
        fmt::format("positive definite matrices: {} differs from its transpose by {}, "
                    "expected a symmetric matrix",
                    name, asymmetry));
  }
}

// A base point D = L L^T, with the maps to and from coordinates in which it is the identity.
struct Base {
  Matrix4d L;

  explicit Base(const Matrix4d& D) {
    requireSymmetric(D, "the base matrix");
    const Eigen::LLT<Matrix4d> llt(D);
    if (llt.info() != Eigen::Success) {
      throw Error("positive definite matrices: the base matrix is not positive definite");
    }
    L = llt.matrixL();
  }
  // L^-1 A L^-T
  Matrix4d whitened(const Matrix4d& A) const {
    const auto triangular = L.triangularView<Eigen::Lower>();
    const Matrix4d left = triangular.solve(A);
    const Matrix4d both = triangular.solve(left.transpose().eval());
    return 0.5 * (both + both.transpose());
  }
  // L A L^T
  Matrix4d coloured(const Matrix4d& A) const {
    const Matrix4d B = L * A * L.transpose();
    return 0.5 * (B + B.transpose());
  }
};

struct Spectrum {
  Matrix4d Q;              // eigenvectors, orthonormal
  Eigen::Vector4d values;  // ascending

  template <class F>
  Matrix4d map(const F& f) const {
    return Q * values.unaryExpr(f).asDiagonal() * Q.transpose();
  }
};

Spectrum spectrum(const Matrix4d& A) {
  const Eigen::SelfAdjointEigenSolver<Matrix4d> solver(A);
  return {solver.eigenvectors(), solver.eigenvalues()};
}

// log of the eigenvalues of D^-1 E, and lambda - 1 without cancellation.
struct Relative {
  Matrix4d Q;
  Eigen::Vector4d logarithms, excess;
};

Relative relative(const Base& base, const Matrix4d& D, const Matrix4d& E) {
  requireSymmetric(E, "the other matrix");
  const Matrix4d difference = base.whitened(E - D);
  if (difference.norm() < kNear) {
    const auto s = spectrum(difference);
    return {s.Q, s.values.unaryExpr([](double x) { return std::log1p(x); }), s.values};
  }
  const auto s = spectrum(base.whitened(E));
  if (!(s.values.minCoeff() > 0.0)) {
    throw Error(
        fmt::format("positive definite matrices: the other matrix is not positive definite (its "
                    "smallest eigenvalue relative to the base matrix is {})",
                    s.values.minCoeff()));
  }
  return {s.Q, s.values.array().log(), s.values.array() - 1.0};
}

}  // namespace

double spdInnerProduct(const Matrix4d& D, const Matrix4d& U, const Matrix4d& V) {
  const Base base(D);
  requireSymmetric(U, "the first tangent");
  requireSymmetric(V, "the second tangent");
  return base.whitened(U).cwiseProduct(base.whitened(V)).sum();
}

Matrix4d spdExp(const Matrix4d& D, const Matrix4d& V) {
  const Base base(D);
  requireSymmetric(V, "the tangent");
  const auto s = spectrum(base.whitened(V));
  return base.coloured(s.map([](double x) { return std::exp(x); }));
}

Matrix4d spdLog(const Matrix4d& D, const Matrix4d& E) {
  const Base base(D);
  const auto r = relative(base, D, E);
  return base.coloured(r.Q * r.logarithms.asDiagonal() * r.Q.transpose());
}

double spdDistance(const Matrix4d& D, const Matrix4d& E) {
  return relative(Base(D), D, E).logarithms.norm();
}

Matrix4d spdGeodesic(const Matrix4d& D, const Matrix4d& E, double t) {
  const Base base(D);
  const auto r = relative(base, D, E);
  const Spectrum logarithm{r.Q, r.logarithms};
  return base.coloured(logarithm.map([t](double x) { return std::exp(t * x); }));
}

double entropicDivergence(const Matrix4d& E, const Matrix4d& D) {
  const auto r = relative(Base(D), D, E);
  return (r.excess - r.logarithms).sum();
}

double smallestRelativeEigenvalue(const Matrix4d& D, const Matrix4d& E) {
  const Base base(D);
  requireSymmetric(E, "the other matrix");
  return spectrum(base.whitened(E)).values.minCoeff();
}

}  // namespace proprio
