#include "proprio/numerics/autoregression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "proprio/core/error.h"

namespace proprio {
namespace {

/// White noise mixed in: filtered signals have bands without any power, where the equations would
/// be singular. Far below what matters for averages.
constexpr double kNoiseFloor = 1e-7;
constexpr Eigen::Index kShortest = 16;
constexpr Eigen::Index kHighestOrder = 64;

void requireSeries(ConstSeries series, ConstCounts counts) {
  if (series.size() != counts.size())
    throw Error(fmt::format("a series of {} samples has {} marks of which count", series.size(),
                            counts.size()));
  for (Eigen::Index t = 0; t < series.size(); ++t) {
    if (counts[t] && !std::isfinite(series[t]))
      throw Error(fmt::format("sample {} of a series of residuals is not a number", t + 1));
  }
}

}  // namespace

Autocovariance autocovariance(ConstSeries series, ConstCounts counts, Eigen::Index lags) {
  requireSeries(series, counts);
  Autocovariance result;
  const Eigen::Index n = series.size();
  result.values = Eigen::VectorXd::Zero(lags + 1);
  result.pairs.assign(static_cast<size_t>(lags + 1), 0);
  const auto used = static_cast<double>(counts.count());
  if (used == 0.0) return result;
  // what does not count becomes zero and adds nothing to the sums of products
  const Eigen::VectorXd weight = counts.cast<double>();
  result.mean = counts.select(series.array(), 0.0).sum() / used;
  const Eigen::VectorXd x = counts.select(series.array() - result.mean, 0.0);
  for (Eigen::Index k = 0; k <= std::min(lags, n - 1); ++k) {
    const double pairs = weight.head(n - k).dot(weight.tail(n - k));
    result.pairs[static_cast<size_t>(k)] = static_cast<Eigen::Index>(pairs);
    const double taper = 1.0 - static_cast<double>(k) / static_cast<double>(n);
    if (pairs > 0.0) result.values[k] = taper * x.head(n - k).dot(x.tail(n - k)) / pairs;
  }
  return result;
}

double Autoregression::longRunRatio() const {
  const double gain = 1.0 - coefficients.sum();
  return innovation_share / (gain * gain);
}

Autoregression fitAutoregression(ConstSeries series, ConstCounts counts, Eigen::Index max_order) {
  const auto used = counts.count();
  if (max_order <= 0) {
    // grows slowly with the length, as the proof of consistency asks (Berk 1974)
    const double root = std::cbrt(static_cast<double>(std::max<Eigen::Index>(used, 1)));
    max_order = std::min(kHighestOrder, static_cast<Eigen::Index>(2.0 * root));
  }
  max_order = std::min(max_order, used / 8);
  const Autocovariance memory =
      autocovariance(series, counts, std::max<Eigen::Index>(max_order, 0));
  Autoregression best;
  best.variance = memory.values[0];
  if (used < kShortest || !(memory.values[0] > 0.0)) return best;

  // Levinson-Durbin: order by order, each the best predictor of its order
  const auto n = static_cast<double>(used);
  const double c0 = memory.values[0] * (1.0 + kNoiseFloor);
  double error = c0;
  double best_bic = n * std::log(error);
  Eigen::VectorXd a(0);
  for (Eigen::Index p = 1; p <= max_order; ++p) {
    if (memory.pairs[static_cast<size_t>(p)] == 0) break;
    const double reach = memory.values[p] - a.dot(memory.values.segment(1, p - 1).reverse());
    const double reflection = reach / error;
    if (!(std::abs(reflection) < 1.0)) break;  // gaps can make the equations indefinite
    Eigen::VectorXd next(p);
    next.head(p - 1) = a - reflection * a.reverse();
    next[p - 1] = reflection;
    a = std::move(next);
    error *= 1.0 - reflection * reflection;
    const double bic = n * std::log(error) + static_cast<double>(p) * std::log(n);
    if (bic >= best_bic) continue;
    best_bic = bic;
    best.coefficients = a;
    best.innovation_share = error / c0;
  }
  return best;
}

Eigen::VectorXd innovations(const Autoregression& model, ConstSeries series, Counts* counts) {
  requireSeries(series, *counts);
  const Counts given = *counts;
  const Eigen::Index p = model.order();
  const double scale = 1.0 / std::sqrt(model.innovation_share);
  Eigen::VectorXd result = Eigen::VectorXd::Zero(series.size());
  Eigen::Index run = 0;  // samples in a row that count
  for (Eigen::Index t = 0; t < series.size(); ++t) {
    run = given[t] ? run + 1 : 0;
    (*counts)[t] = run > p;
    if (run <= p) continue;
    double predicted = 0.0;
    for (Eigen::Index k = 0; k < p; ++k) predicted += model.coefficients[k] * series[t - 1 - k];
    result[t] = scale * (series[t] - predicted);
  }
  return result;
}

}  // namespace proprio
