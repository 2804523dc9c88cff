#include "proprio/motion/random_motion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "proprio/core/error.h"
#include "proprio/motion/quintic_spline.h"
#include "proprio/motion/uniform_internal.h"

namespace proprio {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// rounds in which the time of each segment is adapted, by at most this factor
constexpr int kTimingRounds = 8;
constexpr double kTimingFactor = 1.25;
constexpr int kSamplesOfSegment = 12;
constexpr int kCalmingRounds = 12;

void checkStart(const VectorXd& start, const MotionLimits& limits) {
  if (start.size() != limits.size())
    throw Error(
        fmt::format("a start posture of {} joints with limits of {}", start.size(), limits.size()));
}

// start, random postures, start
MatrixXd roundTrip(const VectorXd& start, int points, uint64_t seed, const MotionLimits& limits) {
  const MatrixXd postures = randomPostures(start, points, seed, limits);
  MatrixXd trip(points + 2, start.size());
  trip << start.transpose(), postures, start.transpose();
  return trip;
}

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
    for (int j = 0; j <= kSamplesOfSegment; ++j) {
      const double share = static_cast<double>(j) / kSamplesOfSegment;
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

// draws the points next to an overshoot towards the middle of the range, again and again; what is
// left of it (a curve bends elsewhere when a point moves) is little
void calm(MatrixXd& points, const std::vector<double>& times,
          const std::vector<PositionRange>& ranges) {
  VectorXd q(points.cols()), v(points.cols()), a(points.cols());
  for (int round = 0; round < kCalmingRounds; ++round) {
    const PiecewisePolynomial motion = quinticSpline(times, points);
    bool outside = false;
    for (Index k = 0; k + 1 < points.rows(); ++k) {
      VectorXd excess = VectorXd::Ones(points.cols());  // distance from the middle, in half ranges
      const double begin = times[static_cast<size_t>(k)], end = times[static_cast<size_t>(k) + 1];
      for (int j = 1; j < kSamplesOfSegment; ++j) {
        motion.at(begin + (end - begin) * j / kSamplesOfSegment, q, v, a);
        for (Index i = 0; i < q.size(); ++i)
          excess[i] = std::max(excess[i], ranges[static_cast<size_t>(i)].share(q[i]));
      }
      for (Index i = 0; i < q.size(); ++i) {
        if (excess[i] <= 1.0) continue;
        outside = true;
        const double middle = ranges[static_cast<size_t>(i)].middle();
        for (const Index point : {k, k + 1}) {  // start and end stay
          if (point > 0 && point + 1 < points.rows())
            points(point, i) = middle + (points(point, i) - middle) / excess[i];
        }
      }
    }
    if (!outside) return;
  }
}

// draws the points of each joint towards its start until the spline stays within the range
void keepInRange(MatrixXd& points, const std::vector<double>& times, const MotionLimits& limits) {
  std::vector<PositionRange> ranges;
  for (int i = 0; i < limits.size(); ++i) ranges.push_back(requiredRange(limits, i, points(0, i)));
  calm(points, times, ranges);
  const MotionExtremes found = extremes(quinticSpline(times, points));
  for (Index i = 0; i < points.cols(); ++i) {
    const double start = points(0, i);
    const PositionRange& range = ranges[static_cast<size_t>(i)];
    double scale = 1.0;
    if (found.highest[i] > range.upper)
      scale = std::min(scale, (range.upper - start) / (found.highest[i] - start));
    if (found.lowest[i] < range.lower)
      scale = std::min(scale, (start - range.lower) / (start - found.lowest[i]));
    points.col(i) = (start + scale * (points.col(i).array() - start)).matrix();
  }
}

// the spline is linear in its points: scaling them about the start scales it, whatever the times
PiecewisePolynomial withinLimits(MatrixXd points, const std::vector<double>& times,
                                 const MotionLimits& limits) {
  keepInRange(points, times, limits);
  PiecewisePolynomial motion = quinticSpline(times, points);
  const MotionExtremes found = extremes(motion);
  const double faster = (found.velocity.array() / limits.velocity.array()).maxCoeff();
  const double harder = (found.acceleration.array() / limits.acceleration.array()).maxCoeff();
  stretch(motion, std::max(faster, std::sqrt(harder)));
  return motion;
}

}  // namespace

MatrixXd randomPostures(const VectorXd& start, int points, uint64_t seed,
                        const MotionLimits& limits) {
  checkStart(start, limits);
  if (points < 1)
    throw Error(fmt::format("a motion through {} random postures; expected at least one", points));
  std::vector<PositionRange> ranges;
  for (int i = 0; i < limits.size(); ++i) ranges.push_back(requiredRange(limits, i, start[i]));
  MatrixXd postures(points, start.size());
  Uniform uniform(seed);
  for (Index k = 0; k < points; ++k) {
    for (Index i = 0; i < start.size(); ++i) {
      const PositionRange& range = ranges[static_cast<size_t>(i)];
      postures(k, i) = uniform(range.lower, range.upper);
    }
  }
  return postures;
}

PiecewisePolynomial randomStops(const VectorXd& start, int points, uint64_t seed,
                                const MotionLimits& limits, Profile profile, double dwell) {
  return alongPoints(roundTrip(start, points, seed, limits), limits, profile, dwell);
}

PiecewisePolynomial randomSpline(const VectorXd& start, int points, uint64_t seed,
                                 const MotionLimits& limits) {
  const MatrixXd trip = roundTrip(start, points, seed, limits);
  VectorXd velocity(start.size()), ramp(start.size());
  for (int i = 0; i < limits.size(); ++i) {
    velocity[i] = requiredLimit(limits, i, "velocity");
    ramp[i] = velocity[i] / requiredLimit(limits, i, "acceleration");
  }
  // first guess: every segment at the velocity limit, with time to reach it; then segments that
  // hold the others up get more time, so that all can be faster. Never less than the first guess:
  // short times make a spline overshoot.
  std::vector<double> lengths;
  for (Index k = 0; k + 1 < trip.rows(); ++k) {
    const VectorXd step = (trip.row(k + 1) - trip.row(k)).transpose();
    lengths.push_back(((step.array() / velocity.array()).abs() + ramp.array()).maxCoeff());
  }
  PiecewisePolynomial best;
  for (int round = 0; round < kTimingRounds; ++round) {
    std::vector<double> times = {0.0};
    for (const double length : lengths) times.push_back(times.back() + length);
    PiecewisePolynomial motion = withinLimits(trip, times, limits);
    const std::vector<double> slower = slowdowns(motion, limits);
    const double typical = median(slower);
    for (size_t k = 0; k < lengths.size(); ++k)
      lengths[k] *= std::clamp(slower[k] / typical, 1.0, kTimingFactor);
    if (round == 0 || motion.duration() < best.duration()) best = std::move(motion);
  }
  return best;
}

FourierSeries randomFourierWithin(const VectorXd& start, int harmonics, double period,
                                  uint64_t seed, const MotionLimits& limits) {
  checkStart(start, limits);
  FourierSeries series = randomFourierSeries(start, harmonics, period, seed);
  const MotionExtremes found = extremes(series);
  for (int i = 0; i < limits.size(); ++i) {
    const PositionRange range = requiredRange(limits, i, start[i]);
    double scale = requiredLimit(limits, i, "velocity") / found.velocity[i];
    if (limits.acceleration[i] > 0)
      scale = std::min(scale, limits.acceleration[i] / found.acceleration[i]);
    scale = std::min({scale, (range.upper - start[i]) / (found.highest[i] - start[i]),
                      (start[i] - range.lower) / (start[i] - found.lowest[i])});
    if (!(scale > 1e-9)) {
      throw Error(
          fmt::format("joint '{}' starts at its position limit {} and has no room for a "
                      "Fourier series; give another start posture",
                      limits.joints[static_cast<size_t>(i)], start[i]));
    }
    series.a.row(i) *= scale;
    series.b.row(i) *= scale;
    series.offset[i] = start[i] + scale * (series.offset[i] - start[i]);
  }
  return series;
}

}  // namespace proprio
