#include "proprio/motion/point_to_point.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "proprio/core/error.h"
#include "proprio/motion/quintic_spline.h"

namespace proprio {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kInfinite = std::numeric_limits<double>::infinity();
// postures nearer than this are the same: no robot resolves it
constexpr double kSamePlace = 1e-12;
// phases shorter than this part of the motion are rounding
constexpr double kNoPhase = 1e-12;

// largest velocity and acceleration of the minimum-jerk motion over distance 1 in time 1; its jerk
const double kQuinticVelocity = 15.0 / 8.0;
const double kQuinticAcceleration = 10.0 / std::sqrt(3.0);
constexpr double kQuinticJerk = 60.0;

void checkPostures(const VectorXd& from, const VectorXd& to, const MotionLimits& limits) {
  if (from.size() != limits.size() || to.size() != limits.size())
    throw Error(fmt::format("from a posture of {} to one of {} joints with limits of {}",
                            from.size(), to.size(), limits.size()));
  for (Index i = 0; i < from.size(); ++i) {
    if (!std::isfinite(from[i]) || !std::isfinite(to[i]))
      throw Error(fmt::format("joint '{}' shall move from {} to {}; expected finite numbers",
                              limits.joints[static_cast<size_t>(i)], from[i], to[i]));
  }
}

// the tightest limit on the path coordinate s
double pathLimit(const VectorXd& step, const MotionLimits& limits, const std::string& what) {
  double least = kInfinite;
  for (Index i = 0; i < step.size(); ++i) {
    const double distance = std::abs(step[i]);
    if (distance > kSamePlace)
      least = std::min(least, requiredLimit(limits, static_cast<int>(i), what) / distance);
  }
  return least;
}

// s over [0, 1] as pieces of constant jerk: time of each, and the jerk or (trapezoid) acceleration
struct Phase {
  double seconds, acceleration, jerk;  ///< at its start
};

std::vector<Phase> phases(const RestToRestTimes& times) {
  const double tj = times.jerk_phase, ta = times.acceleration, tv = times.cruise;
  const double flat = ta - 2.0 * tj;
  // the distance is (ta + tv) times the largest velocity, which is a (ta - tj)
  const double a = 1.0 / ((ta + tv) * (ta - tj));
  const double j = tj > 0.0 ? a / tj : 0.0;
  return {{tj, 0.0, j},  {flat, a, 0.0},  {tj, a, -j}, {tv, 0.0, 0.0},
          {tj, 0.0, -j}, {flat, -a, 0.0}, {tj, -a, j}};
}

PiecewisePolynomial alongPath(const VectorXd& from, const VectorXd& step,
                              const RestToRestTimes& times) {
  PiecewisePolynomial motion;
  motion.degree = times.jerk_phase > 0.0 ? 3 : 2;
  motion.knots = {0.0};
  std::vector<VectorXd> columns;
  double s = 0.0, v = 0.0;
  const double total = times.duration();
  for (const Phase& phase : phases(times)) {
    const double h = phase.seconds;
    if (!(h > kNoPhase * total)) continue;
    columns.emplace_back(from + s * step);
    columns.emplace_back(v * step);
    columns.emplace_back(0.5 * phase.acceleration * step);
    if (motion.degree == 3) columns.emplace_back(phase.jerk / 6.0 * step);
    s += h * (v + h * (phase.acceleration / 2.0 + h * phase.jerk / 6.0));
    v += h * (phase.acceleration + h * phase.jerk / 2.0);
    motion.knots.push_back(motion.knots.back() + h);
  }
  motion.coefficients.resize(from.size(), static_cast<Index>(columns.size()));
  for (size_t k = 0; k < columns.size(); ++k)
    motion.coefficients.col(static_cast<Index>(k)) = columns[k];
  return motion;
}

// the same polynomials, written with more coefficients
MatrixXd raised(const PiecewisePolynomial& part, int degree) {
  const Index pieces = std::max(part.pieces(), 1);
  MatrixXd coefficients = MatrixXd::Zero(part.size(), pieces * (degree + 1));
  for (Index k = 0; k < pieces; ++k) {
    coefficients.middleCols(k * (degree + 1), part.degree + 1) =
        part.coefficients.middleCols(k * (part.degree + 1), part.degree + 1);
  }
  return coefficients;
}

}  // namespace

const char* toString(Profile profile) {
  switch (profile) {
    case Profile::kTrapezoid:
      return "trapezoid";
    case Profile::kDoubleS:
      return "double-s";
    case Profile::kMinimumJerk:
      return "min-jerk";
  }
  return "";
}

std::optional<Profile> profileNamed(const std::string& name) {
  for (const Profile profile : {Profile::kTrapezoid, Profile::kDoubleS, Profile::kMinimumJerk}) {
    if (name == toString(profile)) return profile;
  }
  return std::nullopt;
}

RestToRestTimes restToRestTimes(double distance, double v, double a, double j) {
  if (!(distance >= 0) || !std::isfinite(distance) || !(v > 0) || !(a > 0) || !(j > 0)) {
    throw Error(
        fmt::format("from rest to rest over {} with velocity {}, acceleration {}, jerk {}; "
                    "expected positive numbers",
                    distance, v, a, j));
  }
  RestToRestTimes times;
  if (distance == 0.0) return times;
  // with a cruise phase: the acceleration limit is reached on the way to v, or not
  const bool reaches_a = v * j >= a * a;
  times.jerk_phase = reaches_a ? a / j : std::sqrt(v / j);
  times.acceleration = reaches_a ? times.jerk_phase + v / a : 2.0 * times.jerk_phase;
  times.cruise = distance / v - times.acceleration;
  if (times.cruise >= 0.0) return times;
  // too short for v; long enough for a, or not even that
  times.cruise = 0.0;
  const double tj = a / j;
  if (distance >= 2.0 * a * tj * tj) {
    times.jerk_phase = tj;
    times.acceleration = tj / 2.0 + std::sqrt(tj * tj / 4.0 + distance / a);
  } else {
    times.jerk_phase = std::cbrt(distance / (2.0 * j));
    times.acceleration = 2.0 * times.jerk_phase;
  }
  return times;
}

PiecewisePolynomial pointToPoint(const VectorXd& from, const VectorXd& to,
                                 const MotionLimits& limits, Profile profile) {
  checkPostures(from, to, limits);
  const VectorXd step = to - from;
  if (step.size() == 0 || step.cwiseAbs().maxCoeff() <= kSamePlace) return standstill(to);
  const double v = pathLimit(step, limits, "velocity");
  const double a = pathLimit(step, limits, "acceleration");
  if (profile == Profile::kMinimumJerk) {
    double seconds = std::max(kQuinticVelocity / v, std::sqrt(kQuinticAcceleration / a));
    for (Index i = 0; i < step.size(); ++i) {
      if (limits.jerk[i] > 0)
        seconds = std::max(seconds, std::cbrt(kQuinticJerk * std::abs(step[i]) / limits.jerk[i]));
    }
    return minimumJerk(from, to, seconds);
  }
  const double j = profile == Profile::kDoubleS ? pathLimit(step, limits, "jerk") : kInfinite;
  return alongPath(from, step, restToRestTimes(1.0, v, a, j));
}

PiecewisePolynomial alongPoints(const MatrixXd& points, const MotionLimits& limits, Profile profile,
                                double dwell) {
  if (points.rows() == 0) throw Error("a motion through no points; expected at least one");
  std::vector<PiecewisePolynomial> parts;
  const VectorXd first = points.row(0).transpose();
  checkPostures(first, first, limits);
  parts.push_back(standstill(first, dwell));
  for (Index k = 0; k + 1 < points.rows(); ++k) {
    parts.push_back(
        pointToPoint(points.row(k).transpose(), points.row(k + 1).transpose(), limits, profile));
    parts.push_back(standstill(points.row(k + 1).transpose(), dwell));
  }
  return joined(parts);
}

PiecewisePolynomial joined(const std::vector<PiecewisePolynomial>& parts) {
  if (parts.empty()) throw Error("joined: no part; expected at least one");
  PiecewisePolynomial whole;
  Index columns = 0;
  for (const PiecewisePolynomial& part : parts) {
    whole.degree = std::max(whole.degree, part.degree);
    columns += part.pieces();
    if (part.size() != parts.front().size())
      throw Error(
          fmt::format("joined: parts of {} and {} joints", parts.front().size(), part.size()));
  }
  whole.knots = {0.0};
  const Index width = whole.degree + 1;
  if (columns == 0) {  // nothing takes time
    whole.coefficients = raised(parts.back(), whole.degree);
    return whole;
  }
  whole.coefficients.resize(parts.front().size(), columns * width);
  Index filled = 0;
  for (const PiecewisePolynomial& part : parts) {
    if (part.pieces() == 0) continue;
    whole.coefficients.middleCols(filled, part.pieces() * width) = raised(part, whole.degree);
    filled += part.pieces() * width;
    const double begin = whole.knots.back();
    for (size_t k = 1; k < part.knots.size(); ++k) whole.knots.push_back(begin + part.knots[k]);
  }
  return whole;
}

}  // namespace proprio
