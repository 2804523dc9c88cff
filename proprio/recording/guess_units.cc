// Degrees that nobody states.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "proprio/recording/signal_select_internal.h"
#include "proprio/recording/units.h"

namespace proprio {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

/// rad beyond a limit that wrong zeros and overshoot may explain
constexpr double kBeyond = 0.5;
/// Share of the samples that must lie beyond it, and that may.
constexpr double kMuch = 0.05, kLittle = 0.01;
/// Velocities are the derivative of positions but for noise and filters.
constexpr double kSame = 0.2;
constexpr double kTurn = 2.0 * M_PI;
/// Times the limit of velocity: no joint is as fast, and one may seem to be by noise.
constexpr double kTooFast = 3.0, kFastEnough = 2.0;
/// Degrees: a step from the end of a turn to its beginning, and the largest angle beside one.
constexpr double kLeastWrap = 350.0, kMostWrap = 370.0;

/// Share of the samples outside of the limits, with `turns` also if they were a turn less or more
/// (0 ... 360 degrees); -1 if there are none.
double shareOutside(const JointLimits& limits, const Eigen::Ref<const VectorXd>& q, double factor,
                    bool turns) {
  if (!std::isfinite(limits.lower) || !std::isfinite(limits.upper)) return -1.0;
  Index outside = 0;
  for (const double value : q) {
    const auto inside = [&](double angle) {
      return angle >= limits.lower - kBeyond && angle <= limits.upper + kBeyond;
    };
    const double angle = factor * value;
    const bool any = inside(angle) || (turns && (inside(angle - kTurn) || inside(angle + kTurn)));
    if (!any) ++outside;
  }
  return static_cast<double>(outside) / static_cast<double>(std::max<Index>(1, q.size()));
}

/// Does an angle that stays within a turn of 360 go from its end to its beginning?
bool wrapsAt360(const Eigen::Ref<const VectorXd>& q) {
  bool wraps = false;
  for (Index i = 0; i < q.size(); ++i) {
    if (std::abs(q[i]) > kMostWrap) return false;
    wraps = wraps || (i > 0 && std::abs(q[i] - q[i - 1]) > kLeastWrap);
  }
  return wraps;
}

bool areDegrees(const Model& model, const Selection& s, const Recording& recording,
                const VectorXd& time) {
  const double degree = findUnit("deg")->factor;
  bool leaves = false;
  size_t limited = 0, too_fast = 0;
  for (size_t c = 0; c < s.columns.size(); ++c) {
    const int joint = model.jointIndex(s.columns[c].of);
    if (joint < 0) continue;
    const Joint& of = model.joints[static_cast<size_t>(joint)];
    if (of.type == JointType::kPrismatic) return false;
    const auto values = recording.values.col(s.from[c]);
    leaves = leaves || shareOutside(of.limits, values, 1.0, false) > kMuch || wrapsAt360(values);
    if (shareOutside(of.limits, values, degree, true) > kLittle) return false;
    if (!(of.limits.velocity > 0.0) || time.size() != values.size()) continue;
    const double speed = usualSpeed(time, values) / of.limits.velocity;
    if (degree * speed > kFastEnough) return false;
    ++limited;
    too_fast += speed > kTooFast;
  }
  return leaves || 2 * too_fast > limited;
}

}  // namespace

bool isUnitless(const Selection& s, const Recording& recording) {
  return !s.declaration.channels.empty() && s.declaration.unit.empty() &&
         std::all_of(s.from.begin(), s.from.end(), [&](Index column) {
           return recording.channels[static_cast<size_t>(column)].unit.empty();
         });
}

void guessDegrees(const Model& model, const std::vector<Recording>& raw, const VectorXd& time,
                  std::vector<Selection>& selections, std::vector<std::string>& notes) {
  for (Selection& s : selections) {
    const Recording& recording = raw[s.recording];
    if (s.columns.front().quantity != Quantity::kPosition || !isUnitless(s, recording) ||
        !areDegrees(model, s, recording, time))
      continue;
    std::string with;
    for (Selection& other : selections) {
      if (other.columns.front().quantity != Quantity::kVelocity || other.role != s.role ||
          other.recording != s.recording || !isUnitless(other, recording) ||
          std::abs(velocityFactor(recording, time, s, other) - 1.0) > kSame)
        continue;
      other.declaration.unit = std::string("deg/s");
      with = "; velocities are their derivative and read as deg/s";
    }
    s.declaration.unit = std::string("deg");
    notes.push_back(fmt::format(
        "{}: {}positions state no unit, leave the joints' limits (or those of their velocities) as "
        "rad and keep them as deg: read as deg{} (`unit` in a robot.yaml says it for sure)",
        placeOf(recording), s.role == Role::kMeasured ? "" : "commanded ", with));
  }
}

}  // namespace proprio
