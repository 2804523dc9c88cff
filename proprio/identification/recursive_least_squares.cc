#include "proprio/identification/recursive_least_squares.h"

#include <fmt/format.h>

#include <cmath>

#include "proprio/core/error.h"
#include "proprio/numerics/dense.h"

namespace proprio {
namespace {

using Eigen::Index;

/// A pivot below this part of the largest one is rounding.
constexpr double kOpen = 1e-12;

}  // namespace

RecursiveLeastSquares::RecursiveLeastSquares(Index unknowns)
    : factor_(Eigen::MatrixXd::Zero(unknowns + 1, unknowns)),
      incoming_(Eigen::VectorXd::Zero(unknowns + 1)) {}

RecursiveLeastSquares::RecursiveLeastSquares(const Eigen::VectorXd& before,
                                             const Eigen::VectorXd& deviations)
    : RecursiveLeastSquares(before.size()) {
  if (deviations.size() != before.size())
    throw Error(fmt::format("{} values and {} standard deviations are given; expected as many",
                            before.size(), deviations.size()));
  for (Index i = 0; i < before.size(); ++i) {
    if (!std::isfinite(before[i]) || !std::isfinite(deviations[i]) || deviations[i] <= 0.0)
      throw Error(fmt::format(
          "unknown {} is {} with a standard deviation of {}; expected finite numbers, the second "
          "one positive",
          i + 1, before[i], deviations[i]));
    factor_(i, i) = 1.0 / deviations[i];
    factor_(unknowns(), i) = before[i] / deviations[i];
  }
}

void RecursiveLeastSquares::add(
    const Eigen::Ref<const Eigen::RowVectorXd, 0, Eigen::InnerStride<>>& row, double y,
    double sigma) noexcept {
  const Index n = unknowns();
  if (row.size() != n || !(sigma > 0.0) || !std::isfinite(y) || !row.allFinite()) return;
  incoming_.head(n) = row.transpose() / sigma;
  incoming_[n] = y / sigma;
  ++rows_;
  for (Index i = 0; i < n; ++i) {
    const double b = incoming_[i];
    if (b == 0.0) continue;
    const double a = factor_(i, i), r = std::hypot(a, b);
    const double c = a / r, s = b / r;
    double* kept = factor_.col(i).data();
    double* now = incoming_.data();
    for (Index k = i; k <= n; ++k) {
      const double x = kept[k], z = now[k];
      kept[k] = c * x + s * z;
      now[k] = c * z - s * x;
    }
  }
  residual_ = std::hypot(residual_, incoming_[n]);
}

void RecursiveLeastSquares::forget(double factor) noexcept {
  if (!(factor > 0.0) || factor > 1.0) return;
  factor_ *= std::sqrt(factor);
  residual_ *= std::sqrt(factor);
}

bool RecursiveLeastSquares::determined() const noexcept {
  if (unknowns() == 0) return true;
  const double largest = factor_.diagonal().cwiseAbs().maxCoeff();
  return factor_.diagonal().cwiseAbs().minCoeff() > kOpen * largest;
}

bool RecursiveLeastSquares::estimate(Eigen::Ref<Eigen::VectorXd> beta) const noexcept {
  const Index n = unknowns();
  if (beta.size() != n || !determined()) return false;
  for (Index i = n - 1; i >= 0; --i) {
    double rest = factor_(n, i);
    for (Index k = i + 1; k < n; ++k) rest -= factor_(k, i) * beta[k];
    beta[i] = rest / factor_(i, i);
  }
  return true;
}

Eigen::MatrixXd RecursiveLeastSquares::covariance() const {
  if (!determined())
    throw Error(fmt::format("{} rows leave some of {} unknowns open: there is no covariance yet",
                            rows_, unknowns()));
  const Index n = unknowns();
  const Eigen::MatrixXd R = factor_.topRows(n).transpose();
  const Eigen::MatrixXd inverse = solveUpper(R, Eigen::MatrixXd::Identity(n, n));
  return inverse * inverse.transpose();
}

}  // namespace proprio
