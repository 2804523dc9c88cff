#include "proprio/motion/via_splines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "proprio/core/error.h"
#include "proprio/motion/quintic_spline.h"
#include "proprio/motion/via_splines_internal.h"

namespace proprio {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// rounds in which the time of each segment is adapted, by at most this factor
constexpr int kTimingRounds = 8;
constexpr double kTimingFactor = 1.25;
constexpr int kTimingSamples = 12;
constexpr int kViaDegree = 5;

// the same path in `factor` times the time
void stretch(PiecewisePolynomial& motion, double factor) {
  for (double& knot : motion.knots) knot *= factor;
  for (Index c = 0; c < motion.coefficients.cols(); ++c)
    motion.coefficients.col(c) /= std::pow(factor, static_cast<double>(c % (motion.degree + 1)));
}

// how much slower each segment has to be: largest of velocity ratio and root of acceleration ratio
std::vector<double> slowdowns(const PiecewisePolynomial& motion, const MotionLimits& limits) {
  VectorXd q(motion.size()), v(motion.size()), a(motion.size());
  std::vector<double> factors;
  for (size_t k = 0; k + 1 < motion.knots.size(); ++k) {
    double factor = 0.0;
    for (int j = 0; j <= kTimingSamples; ++j) {
      const double share = static_cast<double>(j) / kTimingSamples;
      motion.at(motion.knots[k] + share * (motion.knots[k + 1] - motion.knots[k]), q, v, a);
      factor = std::max({factor, (v.array() / limits.velocity.array()).abs().maxCoeff(),
                         std::sqrt((a.array() / limits.acceleration.array()).abs().maxCoeff())});
    }
    factors.push_back(factor);
  }
  return factors;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// how much slower a motion has to be as a whole
double slowdown(const Trajectory& motion, const MotionLimits& limits) {
  const MotionExtremes found = extremes(motion);
  const double faster = (found.velocity.array() / limits.velocity.array()).maxCoeff();
  const double harder = (found.acceleration.array() / limits.acceleration.array()).maxCoeff();
  return std::max(faster, std::sqrt(harder));
}

void checkPostures(const MatrixXd& points, const MotionLimits& limits) {
  if (points.rows() < 2 || points.cols() != limits.size()) {
    throw Error(
        fmt::format("{} postures of {} joints with limits of {}; expected at least two "
                    "postures of as many joints",
                    points.rows(), points.cols(), limits.size()));
  }
  for (Index k = 0; k + 1 < points.rows(); ++k) {
    if (points.row(k) == points.row(k + 1)) {
      throw Error(fmt::format(
          "postures {} and {} are the same, between which a spline does not stop; leave one out",
          k + 1, k + 2));
    }
  }
  for (int i = 0; i < limits.size(); ++i) {
    requiredLimit(limits, i, "velocity");
    requiredLimit(limits, i, "acceleration");
  }
}

}  // namespace

PiecewisePolynomial internal::timedSpline(
    const MatrixXd& points, const MotionLimits& limits,
    const std::function<void(MatrixXd&, const std::vector<double>&)>& adapt) {
  VectorXd velocity(points.cols()), ramp(points.cols());
  for (int i = 0; i < limits.size(); ++i) {
    velocity[i] = requiredLimit(limits, i, "velocity");
    ramp[i] = velocity[i] / requiredLimit(limits, i, "acceleration");
  }
  // first guess: every segment at the velocity limit, with time to reach it; then segments that
  // hold the others up get more time, so that all can be faster. Never less than the first guess:
  // short times make a spline overshoot.
  std::vector<double> lengths;
  for (Index k = 0; k + 1 < points.rows(); ++k) {
    const VectorXd step = (points.row(k + 1) - points.row(k)).transpose();
    lengths.push_back(((step.array() / velocity.array()).abs() + ramp.array()).maxCoeff());
  }
  PiecewisePolynomial best;
  for (int round = 0; round < kTimingRounds; ++round) {
    std::vector<double> times = {0.0};
    for (const double length : lengths) times.push_back(times.back() + length);
    MatrixXd adapted = points;
    adapt(adapted, times);
    PiecewisePolynomial motion = quinticSpline(times, adapted);
    stretch(motion, slowdown(motion, limits));
    const std::vector<double> slower = slowdowns(motion, limits);
    const double typical = median(slower);
    for (size_t k = 0; k < lengths.size(); ++k)
      lengths[k] *= std::clamp(slower[k] / typical, 1.0, kTimingFactor);
    if (round == 0 || motion.duration() < best.duration()) best = std::move(motion);
  }
  return best;
}

PiecewisePolynomial splineThrough(const MatrixXd& points, const MotionLimits& limits) {
  checkPostures(points, limits);
  return internal::timedSpline(points, limits, [](MatrixXd&, const std::vector<double>&) {});
}

BSpline splineAlong(const MatrixXd& points, const MotionLimits& limits) {
  checkPostures(points, limits);
  const VectorXd start = points.row(0).transpose();
  const VectorXd end = points.row(points.rows() - 1).transpose();
  const MatrixXd inner = points.middleRows(1, points.rows() - 2).transpose();
  const auto lasting = [&](double seconds) {
    return restToRestSpline(start, inner, end, kViaDegree, seconds);
  };
  return lasting(slowdown(lasting(1.0), limits));
}

}  // namespace proprio
