#include "proprio/signal/adaptive_window.h"

#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "proprio/core/error.h"

namespace proprio {

using Eigen::Index;

AdaptiveDifferentiator::AdaptiveDifferentiator(double dt, const AdaptiveWindowOptions& options)
    : dt_(dt), options_(options) {
  constexpr int kLongest = 10000;
  if (!(dt > 0.0) || !(options.band >= 0.0)) {
    throw Error(
        fmt::format("adaptive window: time step {} s and noise band {}, expected a positive and a "
                    "non-negative number",
                    dt, options.band));
  }
  if (options.degree < 1 || options.degree > 2 || options.max_window <= options.degree ||
      options.max_window > kLongest) {
    throw Error(fmt::format(
        "adaptive window: degree {} in at most {} samples; expected degree 1 or 2 and more samples "
        "than that, at most {}",
        options.degree, options.max_window, kLongest));
  }
  ring_ = Eigen::VectorXd::Zero(options.max_window);
  // abscissa j = 0 (newest), 1, ...; only the leading block of the degree is used
  Eigen::Matrix3d gram = Eigen::Matrix3d::Zero();
  const Index size = options.degree + 1;
  for (Index m = 0; m < options.max_window; ++m) {
    const double j = static_cast<double>(m);
    const Eigen::Vector3d powers(1.0, j, j * j);
    gram += powers * powers.transpose();
    Eigen::Matrix3d inverse = Eigen::Matrix3d::Zero();
    if (m >= options.degree) {
      if (size == 2) {
        inverse.topLeftCorner<2, 2>() = gram.topLeftCorner<2, 2>().inverse();
      } else {
        inverse = gram.inverse();
      }
    }
    inverse_gram_.push_back(inverse);
  }
}

void AdaptiveDifferentiator::reset() {
  newest_ = -1;
  held_ = 0;
}

AdaptiveDifferentiator::Result AdaptiveDifferentiator::step(double x) {
  const Index size = ring_.size();
  newest_ = (newest_ + 1) % size;
  ring_[newest_] = x;
  held_ = std::min(held_ + 1, size);
  // values relative to the newest one, so that nothing cancels
  const auto past = [&](Index j) {
    const Index k = newest_ - j;
    return ring_[k < 0 ? k + size : k] - x;
  };
  Eigen::Vector3d moments = Eigen::Vector3d::Zero(), best = Eigen::Vector3d::Zero();
  Result result;
  for (Index m = 0; m < held_; ++m) {
    const double j = static_cast<double>(m), y = past(m);
    moments += Eigen::Vector3d(y, j * y, j * j * y);
    if (m < options_.degree) continue;
    const Eigen::Vector3d fit = inverse_gram_[static_cast<size_t>(m)] * moments;
    // the first window is exact but for rounding
    bool inside = true;
    for (Index i = 0; i <= m && inside && m > options_.degree; ++i) {
      const double t = static_cast<double>(i);
      inside = std::abs(past(i) - (fit[0] + t * (fit[1] + t * fit[2]))) <= options_.band;
    }
    if (!inside) break;
    best = fit;
    result.window = static_cast<int>(m + 1);
  }
  result.value = x + best[0];
  result.first = -best[1] / dt_;
  result.second = 2.0 * best[2] / (dt_ * dt_);
  return result;
}

Derivatives adaptiveWindowDerivatives(const SignalColumns& x, double dt,
                                      const AdaptiveWindowOptions& options) {
  AdaptiveWindowOptions line = options, parabola = options;
  line.degree = 1;
  parabola.degree = 2;
  AdaptiveDifferentiator slope(dt, line), curvature(dt, parabola);
  requireFinite(x, "adaptive window");
  Derivatives d{Eigen::MatrixXd(x.rows(), x.cols()), Eigen::MatrixXd(x.rows(), x.cols())};
  for (Index c = 0; c < x.cols(); ++c) {
    slope.reset();
    curvature.reset();
    for (Index k = 0; k < x.rows(); ++k) {
      d.first(k, c) = slope.step(x(k, c)).first;
      d.second(k, c) = curvature.step(x(k, c)).second;
    }
  }
  return d;
}

}  // namespace proprio
