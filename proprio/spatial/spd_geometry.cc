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

template <int N>
void requireSymmetric(const SquareMatrix<N>& A, Eigen::Index size, const char* name) {
  if (A.rows() != size || A.cols() != size) {
    throw Error(fmt::format("positive definite matrices: {} is {} x {}, expected {} x {}", name,
                            A.rows(), A.cols(), size, size));
  }
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
template <int N>
struct Base {
  SquareMatrix<N> L;

  explicit Base(const SquareMatrix<N>& D) {
    requireSymmetric<N>(D, D.rows(), "the base matrix");
    const Eigen::LLT<SquareMatrix<N>> llt(D);
    if (llt.info() != Eigen::Success) {
      throw Error("positive definite matrices: the base matrix is not positive definite");
    }
    L = llt.matrixL();
  }
  // L^-1 A L^-T
  SquareMatrix<N> whitened(const SquareMatrix<N>& A) const {
    const auto triangular = L.template triangularView<Eigen::Lower>();
    const SquareMatrix<N> left = triangular.solve(A);
    const SquareMatrix<N> both = triangular.solve(left.transpose().eval());
    return 0.5 * (both + both.transpose());
  }
  // L A L^T
  SquareMatrix<N> coloured(const SquareMatrix<N>& A) const {
    const SquareMatrix<N> B = L * A * L.transpose();
    return 0.5 * (B + B.transpose());
  }
};

template <int N>
struct Spectrum {
  SquareMatrix<N> Q;                   // eigenvectors, orthonormal
  Eigen::Matrix<double, N, 1> values;  // ascending

  template <class F>
  SquareMatrix<N> map(const F& f) const {
    return Q * values.unaryExpr(f).asDiagonal() * Q.transpose();
  }
};

template <int N>
Spectrum<N> spectrum(const SquareMatrix<N>& A) {
  const Eigen::SelfAdjointEigenSolver<SquareMatrix<N>> solver(A);
  return {solver.eigenvectors(), solver.eigenvalues()};
}

// log of the eigenvalues of D^-1 E, and lambda - 1 without cancellation.
template <int N>
struct Relative {
  SquareMatrix<N> Q;
  Eigen::Matrix<double, N, 1> logarithms, excess;
};

template <int N>
Relative<N> relative(const Base<N>& base, const SquareMatrix<N>& D, const SquareMatrix<N>& E) {
  requireSymmetric<N>(E, D.rows(), "the other matrix");
  const SquareMatrix<N> difference = base.whitened(E - D);
  if (difference.norm() < kNear) {
    const auto s = spectrum<N>(difference);
    return {s.Q, s.values.unaryExpr([](double x) { return std::log1p(x); }), s.values};
  }
  const auto s = spectrum<N>(base.whitened(E));
  if (!(s.values.minCoeff() > 0.0)) {
    throw Error(
        fmt::format("positive definite matrices: the other matrix is not positive definite (its "
                    "smallest eigenvalue relative to the base matrix is {})",
                    s.values.minCoeff()));
  }
  return {s.Q, s.values.array().log(), s.values.array() - 1.0};
}

}  // namespace

template <int N>
double spdInnerProduct(const SquareMatrix<N>& D, const SquareMatrix<N>& U,
                       const SquareMatrix<N>& V) {
  const Base<N> base(D);
  requireSymmetric<N>(U, D.rows(), "the first tangent");
  requireSymmetric<N>(V, D.rows(), "the second tangent");
  return base.whitened(U).cwiseProduct(base.whitened(V)).sum();
}

template <int N>
SquareMatrix<N> spdExp(const SquareMatrix<N>& D, const SquareMatrix<N>& V) {
  const Base<N> base(D);
  requireSymmetric<N>(V, D.rows(), "the tangent");
  const auto s = spectrum<N>(base.whitened(V));
  return base.coloured(s.map([](double x) { return std::exp(x); }));
}

template <int N>
SquareMatrix<N> spdLog(const SquareMatrix<N>& D, const SquareMatrix<N>& E) {
  const Base<N> base(D);
  const auto r = relative<N>(base, D, E);
  return base.coloured(r.Q * r.logarithms.asDiagonal() * r.Q.transpose());
}

template <int N>
double spdDistance(const SquareMatrix<N>& D, const SquareMatrix<N>& E) {
  return relative<N>(Base<N>(D), D, E).logarithms.norm();
}

template <int N>
SquareMatrix<N> spdGeodesic(const SquareMatrix<N>& D, const SquareMatrix<N>& E, double t) {
  const Base<N> base(D);
  const auto r = relative<N>(base, D, E);
  const Spectrum<N> logarithm{r.Q, r.logarithms};
  return base.coloured(logarithm.map([t](double x) { return std::exp(t * x); }));
}

template <int N>
double entropicDivergence(const SquareMatrix<N>& E, const SquareMatrix<N>& D) {
  const auto r = relative<N>(Base<N>(D), D, E);
  return (r.excess - r.logarithms).sum();
}

template <int N>
double smallestRelativeEigenvalue(const SquareMatrix<N>& D, const SquareMatrix<N>& E) {
  const Base<N> base(D);
  requireSymmetric<N>(E, D.rows(), "the other matrix");
  return spectrum<N>(base.whitened(E)).values.minCoeff();
}

#define PROPRIO_INSTANTIATE(N)                                                                     \
  template double spdInnerProduct<N>(const SquareMatrix<N>&, const SquareMatrix<N>&,               \
                                     const SquareMatrix<N>&);                                      \
  template SquareMatrix<N> spdExp<N>(const SquareMatrix<N>&, const SquareMatrix<N>&);              \
  template SquareMatrix<N> spdLog<N>(const SquareMatrix<N>&, const SquareMatrix<N>&);              \
  template double spdDistance<N>(const SquareMatrix<N>&, const SquareMatrix<N>&);                  \
  template SquareMatrix<N> spdGeodesic<N>(const SquareMatrix<N>&, const SquareMatrix<N>&, double); \
  template double entropicDivergence<N>(const SquareMatrix<N>&, const SquareMatrix<N>&);           \
  template double smallestRelativeEigenvalue<N>(const SquareMatrix<N>&, const SquareMatrix<N>&);
PROPRIO_INSTANTIATE(4)
PROPRIO_INSTANTIATE(Eigen::Dynamic)
#undef PROPRIO_INSTANTIATE

}  // namespace proprio
