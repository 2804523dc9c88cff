#include "proprio/numerics/residual_tests.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "proprio/core/error.h"
#include "proprio/numerics/dense.h"
#include "proprio/numerics/distributions.h"

namespace proprio {
namespace {

/// Columns of Z that add less than this of their length to the others add nothing.
constexpr double kDependent = 1e-9;

TestResult chiSquareResult(double statistic, double degrees) {
  return {statistic, degrees, chiSquareTail(statistic, degrees)};
}

std::vector<Eigen::Index> placesOf(ConstCounts counts) {
  std::vector<Eigen::Index> places;
  for (Eigen::Index t = 0; t < counts.size(); ++t) {
    if (counts[t]) places.push_back(t);
  }
  return places;
}

}  // namespace

TestResult whitenessTest(ConstSeries residuals, ConstCounts counts, Eigen::Index lags,
                         Eigen::Index fitted) {
  const Autocovariance memory = autocovariance(residuals, counts, lags);
  const auto n = static_cast<double>(counts.count());
  const auto length = static_cast<double>(residuals.size());
  if (!(memory.values[0] > 0.0)) return {};
  double sum = 0.0, degrees = -static_cast<double>(fitted);
  for (Eigen::Index k = 1; k <= lags; ++k) {
    const auto pairs = static_cast<double>(memory.pairs[static_cast<size_t>(k)]);
    if (pairs < 1.0) continue;
    // r = sum of products / sum of squares; its variance is pairs / n^2 if the series is white
    const double taper = 1.0 - static_cast<double>(k) / length;
    const double r = memory.values[k] / taper * pairs / (n * memory.values[0]);
    sum += r * r * n * n / pairs;
    degrees += 1.0;
  }
  if (degrees < 1.0) return {};
  return chiSquareResult(sum * (n + 2.0) / n, degrees);
}

TestResult normalityTest(ConstSeries residuals, ConstCounts counts) {
  const Autocovariance moments = autocovariance(residuals, counts, 0);
  const auto n = static_cast<double>(counts.count());
  const double variance = moments.values[0];
  if (n < 8.0 || !(variance > 0.0)) return {};
  double third = 0.0, fourth = 0.0;
  for (const Eigen::Index t : placesOf(counts)) {
    const double z = (residuals[t] - moments.mean) / std::sqrt(variance);
    third += z * z * z;
    fourth += z * z * z * z;
  }
  const double skewness = third / n, excess = fourth / n - 3.0;
  return chiSquareResult(n / 6.0 * (skewness * skewness + excess * excess / 4.0), 2.0);
}

TestResult regressionTest(ConstSeries y, const Eigen::Ref<const Eigen::MatrixXd>& Z,
                          ConstCounts counts) {
  if (Z.rows() != y.size() || counts.size() != y.size())
    throw Error(fmt::format("{} values are regressed on {} rows with {} marks of which count",
                            y.size(), Z.rows(), counts.size()));
  const std::vector<Eigen::Index> places = placesOf(counts);
  const auto n = static_cast<Eigen::Index>(places.size());
  if (n < 2 * (Z.cols() + 1)) return {};
  Eigen::MatrixXd columns(n, Z.cols());
  Eigen::VectorXd right(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    columns.row(i) = Z.row(places[static_cast<size_t>(i)]);
    right[i] = y[places[static_cast<size_t>(i)]];
  }
  if (!columns.allFinite() || !right.allFinite())
    throw Error("a regression of residuals meets a value that is not a number");
  // the constant is taken out of everything, then all columns are made of one length
  right.array() -= right.mean();
  for (Eigen::Index c = 0; c < columns.cols(); ++c) {
    const double before = columns.col(c).norm();
    columns.col(c).array() -= columns.col(c).mean();
    const double length = columns.col(c).norm();
    columns.col(c) *= length > kDependent * before ? 1.0 / length : 0.0;
  }
  const Eigen::MatrixXd basis = rangeBasis(columns, kDependent);
  const double total = right.squaredNorm();
  if (basis.cols() == 0 || !(total > 0.0)) return {};
  const Eigen::VectorXd explained = basis.transpose() * right;
  return chiSquareResult(static_cast<double>(n) * explained.squaredNorm() / total,
                         static_cast<double>(basis.cols()));
}

TestResult constantVarianceTest(ConstSeries residuals, const Eigen::Ref<const Eigen::MatrixXd>& Z,
                                ConstCounts counts) {
  return regressionTest(residuals.cwiseAbs2(), Z, counts);
}

TestResult independenceTest(ConstSeries residuals, const Eigen::Ref<const Eigen::MatrixXd>& inputs,
                            ConstCounts counts, Eigen::Index lags) {
  const Eigen::Index n = residuals.size();
  if (lags < 1 || n <= lags) return {};
  Eigen::MatrixXd past(n - lags, lags * inputs.cols());
  for (Eigen::Index k = 1; k <= lags; ++k)
    past.middleCols((k - 1) * inputs.cols(), inputs.cols()) = inputs.middleRows(lags - k, n - lags);
  return regressionTest(residuals.tail(n - lags), past, counts.tail(n - lags));
}

Eigen::VectorXd crossCorrelation(ConstSeries residuals, ConstSeries input, ConstCounts counts,
                                 Eigen::Index lags) {
  const Eigen::Index n = residuals.size();
  if (input.size() != n || counts.size() != n)
    throw Error(fmt::format("{} residuals are correlated with {} inputs", n, input.size()));
  const Autocovariance moments = autocovariance(residuals, counts, 0);
  const auto used = static_cast<double>(counts.count());
  const double deviation = std::sqrt(moments.values[0]);
  const Eigen::VectorXd e = counts.select(residuals.array() - moments.mean, 0.0);
  const Eigen::VectorXd u = input.array() - input.mean();
  const double input_deviation =
      std::sqrt(u.squaredNorm() / static_cast<double>(std::max<Eigen::Index>(n, 1)));
  Eigen::VectorXd result = Eigen::VectorXd::Zero(lags + 1);
  if (!(deviation > 0.0) || !(input_deviation > 0.0)) return result;
  for (Eigen::Index k = 0; k <= std::min(lags, n - 1); ++k)
    result[k] = e.tail(n - k).dot(u.head(n - k)) / (used * deviation * input_deviation);
  return result;
}

}  // namespace proprio
