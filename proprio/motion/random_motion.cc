#include "proprio/motion/random_motion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "proprio/core/error.h"
#include "proprio/motion/quintic_spline.h"
#include "proprio/motion/uniform_internal.h"
#include "proprio/motion/via_splines_internal.h"

namespace proprio {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

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
  // the spline is linear in its points: scaling them about the start scales it, whatever the times
  return internal::timedSpline(
      roundTrip(start, points, seed, limits), limits,
      [&](MatrixXd& trip, const std::vector<double>& times) { keepInRange(trip, times, limits); });
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
