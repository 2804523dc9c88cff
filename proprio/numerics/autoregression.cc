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
/// ... nor is more than this ever mixed in.
constexpr double kMostFloor = 0.05;
constexpr Eigen::Index kShortest = 16;
constexpr Eigen::Index kHighestOrder = 64;
/// Of noise behind residuals: rounds, each of which leaves about the leverage's share of the error.
constexpr int kNoiseRounds = 4;
/// However much a fit may have explained, this part of the noise at most was taken by it.
constexpr double kMostTaken = 0.8;

void requireSeries(ConstSeries series, ConstCounts counts) {
  if (series.size() != counts.size())
    throw Error(fmt::format("a series of {} samples has {} marks of which count", series.size(),
                            counts.size()));
  for (Eigen::Index t = 0; t < series.size(); ++t) {
    if (counts[t] && !std::isfinite(series[t]))
      throw Error(fmt::format("sample {} of a series of residuals is not a number", t + 1));
  }
}

/// Levinson-Durbin: order by order, each the best predictor of its order.
/// @param used   samples that count
/// @param floor  white noise mixed in, of the variance of the series
/// @return whether all orders were looked at
bool fitOrders(const Autocovariance& memory, Eigen::Index used, double floor,
               Autoregression* best) {
  const auto n = static_cast<double>(used);
  const double c0 = memory.values[0] * (1.0 + floor);
  double error = c0;
  double best_bic = n * std::log(error);
  Eigen::VectorXd a(0);
  for (Eigen::Index p = 1; p < memory.values.size(); ++p) {
    if (memory.pairs[static_cast<size_t>(p)] == 0) break;
    const double reach = memory.values[p] - a.dot(memory.values.segment(1, p - 1).reverse());
    const double reflection = reach / error;
    if (!(std::abs(reflection) < 1.0)) return false;
    Eigen::VectorXd next(p);
    next.head(p - 1) = a - reflection * a.reverse();
    next[p - 1] = reflection;
    a = std::move(next);
    error *= 1.0 - reflection * reflection;
    const double bic = n * std::log(error) + static_cast<double>(p) * std::log(n);
    if (bic >= best_bic) continue;
    best_bic = bic;
    best->coefficients = a;
    best->innovation_share = error / c0;
  }
  return true;
}

/// Gaps, and what is given back to residuals, can make the equations of noise with an empty band
/// indefinite; a little more white noise makes them definite.
Autoregression modelOf(const Autocovariance& memory, Eigen::Index used) {
  for (double floor = kNoiseFloor;; floor *= 10.0) {
    Autoregression best;
    best.variance = memory.values[0];
    if (used < kShortest || !(memory.values[0] > 0.0)) return best;
    if (fitOrders(memory, used, floor, &best) || floor >= kMostFloor) return best;
  }
}

/// rho_1 ... rho_lags of the model: its own recursion from the autocovariances that it was fitted
/// to (rho_k = c_k / c_0 for k up to the order).
Eigen::VectorXd autocorrelations(const Autoregression& model, const Autocovariance& memory) {
  const Eigen::Index lags = memory.values.size() - 1, p = model.order();
  Eigen::VectorXd rho = Eigen::VectorXd::Zero(lags + 1);
  rho[0] = 1.0;
  for (Eigen::Index k = 1; k <= lags && p > 0; ++k) {
    rho[k] = k <= p ? memory.values[k] / memory.values[0]
                    : model.coefficients.dot(rho.segment(k - p, p).reverse());
  }
  return rho.tail(lags);
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

Eigen::Index highestOrder(Eigen::Index used) {
  // grows slowly with the length, as the proof of consistency asks (Berk 1974)
  const double root = std::cbrt(static_cast<double>(std::max<Eigen::Index>(used, 1)));
  return std::min({kHighestOrder, static_cast<Eigen::Index>(2.0 * root), used / 8});
}

Autoregression fitAutoregression(ConstSeries series, ConstCounts counts, Eigen::Index max_order) {
  const Eigen::Index used = counts.count();
  const Eigen::Index lags = max_order > 0 ? std::min(max_order, used / 8) : highestOrder(used);
  return modelOf(autocovariance(series, counts, lags), used);
}

Autoregression fitNoise(ConstSeries residual, ConstCounts counts, ConstSeries leverages) {
  const Eigen::Index used = counts.count(), lags = highestOrder(used);
  if (leverages.size() <= lags)
    throw Error(fmt::format("leverages of {} lags are given; expected those up to lag {}",
                            leverages.size(), lags));
  const Autocovariance left = autocovariance(residual, counts, lags);
  Autoregression model = modelOf(left, used);
  if (used < kShortest || !(left.values[0] > 0.0) || !(leverages[0] > 0.0)) return model;
  const double share = leverages[0] / static_cast<double>(used);
  Autocovariance noise = left;
  for (int round = 0; round < kNoiseRounds; ++round) {
    const double density =
        1.0 + 2.0 * autocorrelations(model, noise).dot(leverages.segment(1, lags)) / leverages[0];
    const double taken = std::clamp(density * share, 0.0, kMostTaken);
    const double scale = left.values[0] * taken / ((1.0 - taken) * share);
    for (Eigen::Index k = 0; k <= lags; ++k) {
      const auto pairs = static_cast<double>(left.pairs[static_cast<size_t>(k)]);
      const double taper = 1.0 - static_cast<double>(k) / static_cast<double>(residual.size());
      if (pairs > 0.0) noise.values[k] = left.values[k] + taper * scale * leverages[k] / pairs;
    }
    model = modelOf(noise, used);
  }
  return model;
}

void addLaggedProducts(const Eigen::Ref<const Eigen::MatrixXd>& A,
                       const Eigen::Ref<const Eigen::MatrixXd>& B,
                       Eigen::Ref<Eigen::VectorXd> sums) {
  const Eigen::Index lags = sums.size() - 1;
  if (B.rows() != A.rows() + lags || B.cols() != A.cols())
    throw Error(fmt::format("lagged products of {} x {} with {} x {} numbers over {} lags",
                            A.rows(), A.cols(), B.rows(), B.cols(), lags));
  for (Eigen::Index c = 0; c < A.cols(); ++c) {
    for (Eigen::Index k = 0; k <= lags; ++k)
      sums[k] += A.col(c).dot(B.col(c).segment(lags - k, A.rows()));
  }
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
