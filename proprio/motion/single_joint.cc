#include "proprio/motion/single_joint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "proprio/core/error.h"
#include "proprio/core/text_table.h"

namespace proprio {
namespace {

using Eigen::VectorXd;

std::vector<int> chosen(const std::vector<int>& joints, const VectorXd& start,
                        const MotionLimits& limits) {
  if (start.size() != limits.size())
    throw Error(
        fmt::format("a start posture of {} joints with limits of {}", start.size(), limits.size()));
  std::vector<int> list = joints;
  if (list.empty()) {
    list.resize(static_cast<size_t>(limits.size()));
    std::iota(list.begin(), list.end(), 0);
  }
  for (const int joint : list) {
    if (joint < 0 || joint >= limits.size())
      throw Error(fmt::format("there is no joint {} among {}", joint, limits.size()));
  }
  return list;
}

const std::string& name(const MotionLimits& limits, int joint) {
  return limits.joints[static_cast<size_t>(joint)];
}

double jerkOf(const MotionLimits& limits, int joint, Profile profile) {
  return profile == Profile::kDoubleS ? requiredLimit(limits, joint, "jerk")
                                      : std::numeric_limits<double>::infinity();
}

// the posture with one joint elsewhere
VectorXd with(VectorXd posture, int joint, double position) {
  posture[joint] = position;
  return posture;
}

// parts of one motion, with the time so far
struct Builder {
  std::vector<PiecewisePolynomial> parts;
  double time = 0.0;

  void add(PiecewisePolynomial part) {
    time += part.duration();
    parts.push_back(std::move(part));
  }
};

// the fastest speed whose plateau covers `share` of the stroke: bisection, because the part of the
// stroke that the ends need grows with the speed
double fastestPlateau(double stroke, double v, double a, double j, double share) {
  const auto covered = [&](double speed) {
    return speed * restToRestTimes(stroke, speed, a, j).cruise >= share * stroke;
  };
  if (covered(v)) return v;
  double low = 0.0, high = v;
  for (int k = 0; k < 60; ++k) {
    const double middle = 0.5 * (low + high);
    (covered(middle) ? low : high) = middle;
  }
  return low;
}

std::vector<double> sweepSpeeds(int joint, double stroke, const MotionLimits& limits,
                                const FrictionSweepOptions& options) {
  const double v = requiredLimit(limits, joint, "velocity");
  const double fastest =
      fastestPlateau(stroke, v, requiredLimit(limits, joint, "acceleration"),
                     jerkOf(limits, joint, options.profile), options.least_plateau);
  std::vector<double> speeds = options.speeds;
  if (speeds.empty()) {
    const double slowest = std::min(options.slowest * v, fastest);
    for (int k = 0; k < options.speed_count; ++k) {
      const double share = options.speed_count > 1 ? k / (options.speed_count - 1.0) : 1.0;
      speeds.push_back(slowest * std::pow(fastest / slowest, share));
    }
  }
  for (double& speed : speeds) {
    if (!(speed > 0) || speed > fastest * (1.0 + 1e-9)) {
      throw Error(
          fmt::format("joint '{}' cannot be swept at {}: its range of {} allows speeds up "
                      "to {} with a plateau over {} of it",
                      name(limits, joint), readable(speed), readable(stroke), readable(fastest),
                      options.least_plateau));
    }
    speed = std::min(speed, fastest);
  }
  return speeds;
}

void checkOptions(const FrictionSweepOptions& options) {
  if (options.profile == Profile::kMinimumJerk)
    throw Error(
        "a friction sweep with a min-jerk profile has no plateau; choose trapezoid or "
        "double-s");
  if (options.speeds.empty() &&
      (options.speed_count < 1 || !(options.slowest > 0 && options.slowest <= 1)))
    throw Error(
        fmt::format("a friction sweep at {} speeds from {} of the limit; expected at least "
                    "one speed and a part in (0, 1]",
                    options.speed_count, options.slowest));
  if (!(options.least_plateau >= 0 && options.least_plateau < 1))
    throw Error(fmt::format("plateaus over {} of the stroke; expected a part in [0, 1)",
                            options.least_plateau));
}

}  // namespace

FrictionSweep frictionSweep(const VectorXd& start, const MotionLimits& limits,
                            const FrictionSweepOptions& options) {
  checkOptions(options);
  FrictionSweep sweep;
  Builder builder;
  builder.add(standstill(start));
  for (const int joint : chosen(options.joints, start, limits)) {
    const PositionRange range = requiredRange(limits, joint, start[joint]);
    const double stroke = range.upper - range.lower;
    if (!(stroke > 0))
      throw Error(fmt::format("joint '{}' has no range to sweep", name(limits, joint)));
    const VectorXd low = with(start, joint, range.lower), high = with(start, joint, range.upper);
    MotionLimits slow = limits;
    builder.add(pointToPoint(start, low, limits, options.profile));
    for (const double speed : sweepSpeeds(joint, stroke, limits, options)) {
      slow.velocity[joint] = speed;
      const RestToRestTimes times =
          restToRestTimes(stroke, speed, requiredLimit(limits, joint, "acceleration"),
                          jerkOf(limits, joint, options.profile));
      const double ramp = 0.5 * speed * times.acceleration;  // way to reach the speed
      for (const bool up : {true, false}) {
        builder.add(standstill(up ? low : high, options.dwell));
        const double begin = builder.time + times.acceleration;
        sweep.plateaus.push_back({joint, up ? speed : -speed, begin, begin + times.cruise,
                                  up ? range.lower + ramp : range.upper - ramp,
                                  up ? range.upper - ramp : range.lower + ramp});
        builder.add(pointToPoint(up ? low : high, up ? high : low, slow, options.profile));
      }
    }
    builder.add(standstill(low, options.dwell));
    builder.add(pointToPoint(low, start, limits, options.profile));
  }
  sweep.motion = joined(builder.parts);
  return sweep;
}

PiecewisePolynomial inertiaStrokes(const VectorXd& start, const MotionLimits& limits,
                                   const InertiaStrokesOptions& options) {
  if (options.profile == Profile::kMinimumJerk)
    throw Error("inertia strokes need a trapezoid or double-s profile");
  if (options.repeats < 1)
    throw Error(fmt::format("{} strokes of each length; expected at least one", options.repeats));
  Builder builder;
  builder.add(standstill(start));
  for (const int joint : chosen(options.joints, start, limits)) {
    const PositionRange range = requiredRange(limits, joint, start[joint]);
    const double v = requiredLimit(limits, joint, "velocity"),
                 a = requiredLimit(limits, joint, "acceleration"),
                 j = jerkOf(limits, joint, options.profile);
    // the way to the velocity limit and back to rest: any long distance tells the time it takes
    const double reach = v * restToRestTimes(1e6 * v * (v / a + 1.0), v, a, j).acceleration;
    const double longest = std::min(reach, range.upper - range.lower);
    VectorXd here = start;
    for (const double share : options.lengths) {
      if (!(share > 0 && share <= 1))
        throw Error(
            fmt::format("an inertia stroke of {} of the longest; expected a part in "
                        "(0, 1]",
                        share));
      const double half = 0.5 * share * longest;
      // about the start, or as near to it as the range allows
      const double middle = std::clamp(start[joint], range.lower + half, range.upper - half);
      const VectorXd low = with(start, joint, middle - half),
                     high = with(start, joint, middle + half);
      builder.add(pointToPoint(here, low, limits, options.profile));
      for (int k = 0; k < options.repeats; ++k) {
        builder.add(pointToPoint(low, high, limits, options.profile));
        builder.add(pointToPoint(high, low, limits, options.profile));
      }
      here = low;
    }
    builder.add(pointToPoint(here, start, limits, options.profile));
  }
  return joined(builder.parts);
}

Sequence singleJointFourier(const VectorXd& start, int harmonics, double period, uint64_t seed,
                            const MotionLimits& limits, const std::vector<int>& joints) {
  const std::vector<int> list = chosen(joints, start, limits);
  const FourierSeries all = randomFourierWithin(start, harmonics, period, seed, limits);
  std::vector<std::shared_ptr<const Trajectory>> parts;
  for (const int joint : list) {
    auto one = std::make_shared<FourierSeries>(limits.size(), harmonics, period);
    one->offset = start;
    one->offset[joint] = all.offset[joint];
    one->a.row(joint) = all.a.row(joint);
    one->b.row(joint) = all.b.row(joint);
    parts.push_back(std::move(one));
  }
  return inSequence(std::move(parts));
}

}  // namespace proprio
