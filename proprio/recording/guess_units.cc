// Degrees, and clocks in milliseconds, that nobody states.

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
constexpr double kTurn = 2.0 * M_PI, kHalfTurn = 180.0;  // rad; degrees

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

/// Was it chosen by a name that is not ours, and does nothing state its unit?
bool isUnitless(const Selection& s, const Recording& recording) {
  return !s.declaration.channels.empty() && s.declaration.unit.empty() &&
         std::all_of(s.from.begin(), s.from.end(), [&](Index column) {
           return recording.channels[static_cast<size_t>(column)].unit.empty();
         });
}

bool areDegrees(const Model& model, const Selection& s, const Recording& recording) {
  const double degree = findUnit("deg")->factor;
  bool leaves = false;
  for (size_t c = 0; c < s.columns.size(); ++c) {
    const int joint = model.jointIndex(s.columns[c].of);
    if (joint < 0) continue;
    const Joint& of = model.joints[static_cast<size_t>(joint)];
    if (of.type == JointType::kPrismatic) return false;
    const auto values = recording.values.col(s.from[c]);
    leaves = leaves || shareOutside(of.limits, values, 1.0, false) > kMuch;
    if (shareOutside(of.limits, values, degree, true) > kLittle) return false;
  }
  return leaves;
}

/// Least squares factor between a velocity and the differences of a position, over all joints.
double factorBetween(const Selection& positions, const Selection& velocities,
                     const Recording& recording) {
  double products = 0.0, squares = 0.0;
  for (size_t v = 0; v < velocities.columns.size(); ++v) {
    for (size_t q = 0; q < positions.columns.size(); ++q) {
      if (positions.columns[q].of != velocities.columns[v].of) continue;
      for (Index i = 1; i + 1 < recording.time.size(); ++i) {
        const double step = recording.time[i + 1] - recording.time[i - 1];
        const double difference =
            recording.values(i + 1, positions.from[q]) - recording.values(i - 1, positions.from[q]);
        if (std::abs(difference) > kHalfTurn) continue;  // from 359 degrees to 0
        const double slope = difference / step;
        const double velocity = recording.values(i, velocities.from[v]);
        if (!(step > 0.0) || !std::isfinite(slope) || !std::isfinite(velocity)) continue;
        products += slope * velocity;
        squares += slope * slope;
      }
    }
  }
  return squares > 0.0 ? products / squares : 0.0;
}

const Selection* find(const std::vector<Selection>& selections, Quantity quantity) {
  for (const Selection& s : selections) {
    if (s.role == Role::kMeasured && s.columns.front().quantity == quantity) return &s;
  }
  return nullptr;
}

}  // namespace

double guessTimeFactor(const Recording& recording, const std::vector<Selection>& selections,
                       std::vector<std::string>& notes) {
  constexpr Index kFew = 100;
  const VectorXd& time = recording.time;
  if (time.size() < kFew || (time.array() != time.array().floor()).any()) return 1.0;
  std::vector<double> steps;
  for (Index i = 1; i < time.size(); ++i) steps.push_back(time[i] - time[i - 1]);
  std::nth_element(steps.begin(), steps.begin() + std::ssize(steps) / 2, steps.end());
  const double step = steps[steps.size() / 2];
  if (!(step >= 1.0)) return 1.0;
  // a robot's log has 10 Hz to 10 kHz
  const char* unit = step <= 1e2 ? "ms" : step <= 1e5 ? "us" : "ns";
  const double factor = findUnit(unit)->factor;
  const Selection *q = find(selections, Quantity::kPosition),
                  *v = find(selections, Quantity::kVelocity);
  if (q == nullptr || !isUnitless(*q, recording)) return 1.0;
  if (v != nullptr && q->recording == v->recording && isUnitless(*v, recording)) {
    const double between = factor * factorBetween(*q, *v, recording);
    if (std::abs(between - 1.0) > kSame) return 1.0;
  }
  notes.push_back(
      fmt::format("{}: the time stamps are whole numbers in steps of {}, which would be {:.3g} Hz "
                  "in s: read as "
                  "{} (`time` in a robot.yaml says it for sure)",
                  placeOf(recording), step, 1.0 / step, unit));
  return factor;
}

void guessDegrees(const Model& model, const std::vector<Recording>& raw,
                  std::vector<Selection>& selections, std::vector<std::string>& notes) {
  for (Selection& s : selections) {
    const Recording& recording = raw[s.recording];
    if (s.columns.front().quantity != Quantity::kPosition || !isUnitless(s, recording) ||
        !areDegrees(model, s, recording))
      continue;
    std::string with;
    for (Selection& other : selections) {
      if (other.columns.front().quantity != Quantity::kVelocity || other.role != s.role ||
          other.recording != s.recording || !isUnitless(other, recording) ||
          std::abs(factorBetween(s, other, recording) - 1.0) > kSame)
        continue;
      other.declaration.unit = std::string("deg/s");
      with = "; velocities are their derivative and read as deg/s";
    }
    s.declaration.unit = std::string("deg");
    notes.push_back(fmt::format(
        "{}: {}positions state no unit, leave the joints' limits as rad and keep them as deg: read "
        "as deg{} (`unit` in a robot.yaml says it for sure)",
        placeOf(recording), s.role == Role::kMeasured ? "" : "commanded ", with));
  }
}

}  // namespace proprio
