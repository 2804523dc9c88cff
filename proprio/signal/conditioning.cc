#include "proprio/signal/conditioning.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "proprio/core/error.h"
#include "proprio/numerics/dense.h"

namespace proprio {
namespace {

using Eigen::Index;

// Standard deviation of a normal distribution over its median absolute deviation.
constexpr double kNormalMad = 1.4826022185056018;
constexpr int kMaxDegree = 20;

/// Median of the numbers, which are reordered.
double medianInPlace(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return 0.5 * (*middle + *std::max_element(values.begin(), middle));
}

}  // namespace

HampelResult hampel(const SignalColumns& x, int window, double deviations) {
  if (window < 3 || window % 2 == 0 || !(deviations > 0.0)) {
    throw Error(fmt::format(
        "Hampel filter: a window of {} samples and {} deviations; expected an odd window of 3 or "
        "more and a positive number",
        window, deviations));
  }
  requireFinite(x, "Hampel filter");
  HampelResult result{x, Mask::Constant(x.rows(), x.cols(), false), 0};
  const Index half = window / 2;
  std::vector<double> around;
  around.reserve(static_cast<size_t>(window));
  for (Index c = 0; c < x.cols(); ++c) {
    for (Index k = 0; k < x.rows(); ++k) {
      const Index first = std::max<Index>(0, k - half), last = std::min(x.rows() - 1, k + half);
      around.clear();
      for (Index i = first; i <= last; ++i) around.push_back(x(i, c));
      const double median = medianInPlace(around);
      for (double& value : around) value = std::abs(value - median);
      const double scale = kNormalMad * medianInPlace(around);
      if (scale == 0.0 || std::abs(x(k, c) - median) <= deviations * scale) continue;
      result.values(k, c) = median;
      result.outlier(k, c) = true;
      ++result.count;
    }
  }
  return result;
}

Eigen::MatrixXd detrend(const SignalColumns& x, int degree, Eigen::MatrixXd* coefficients) {
  if (degree < 0 || degree > kMaxDegree || degree >= x.rows()) {
    throw Error(fmt::format(
        "drift removal: degree {} with {} samples; expected 0 to {} and more samples than that",
        degree, x.rows(), kMaxDegree));
  }
  requireFinite(x, "drift removal");
  // Legendre polynomials: nearly orthogonal on a uniform grid
  const Eigen::VectorXd s = Eigen::VectorXd::LinSpaced(x.rows(), -1.0, 1.0);
  Eigen::MatrixXd P(x.rows(), degree + 1);
  P.col(0).setOnes();
  if (degree > 0) P.col(1) = s;
  for (int i = 2; i <= degree; ++i) {
    P.col(i) = ((2.0 * i - 1.0) * s.cwiseProduct(P.col(i - 1)) - (i - 1.0) * P.col(i - 2)) / i;
  }
  const Eigen::MatrixXd fit = leastSquares(P, x);
  if (coefficients != nullptr) *coefficients = fit;
  return x - P * fit;
}

Eigen::MatrixXd trimBorders(const SignalColumns& x, Index border) {
  if (border < 0 || 2 * border >= x.rows()) {
    throw Error(
        fmt::format("trimming {} samples at each border of {} leaves nothing", border, x.rows()));
  }
  return x.middleRows(border, x.rows() - 2 * border);
}

Mask fastEnough(const SignalColumns& speed, const Eigen::VectorXd& thresholds) {
  if (thresholds.size() != speed.cols()) {
    throw Error(fmt::format("low-speed mask: {} thresholds for {} joints", thresholds.size(),
                            speed.cols()));
  }
  if (thresholds.hasNaN()) throw Error("low-speed mask: a threshold is NaN");
  Mask mask(speed.rows(), speed.cols());
  for (Index c = 0; c < speed.cols(); ++c) {
    for (Index k = 0; k < speed.rows(); ++k) {
      const double v = speed(k, c);
      const bool turns =
          thresholds[c] > 0.0 && ((k > 0 && v * speed(k - 1, c) < 0.0) ||
                                  (k + 1 < speed.rows() && v * speed(k + 1, c) < 0.0));
      mask(k, c) = std::abs(v) >= thresholds[c] && !turns;
    }
  }
  return mask;
}

}  // namespace proprio
