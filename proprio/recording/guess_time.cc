// Clocks in ms, us or ns that nobody states, or that are called seconds.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "proprio/recording/signal_select_internal.h"
#include "proprio/recording/units.h"

namespace proprio {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

/// Fewer stamps tell nothing.
constexpr Index kFewStamps = 100;
/// s: steps of no log, and the steps that a log of a robot has (10 kHz to 10 Hz).
constexpr double kLongStep = 1.0, kShortStep = 1e-5, kShortestUse = 1e-4, kLongestUse = 0.1;
/// Velocities are the derivative of positions but for noise and filters.
constexpr double kSameSpeed = 0.2;
/// rad/s (m/s), where no limit of velocity is stated: a fast joint of an arm.
constexpr double kFastJoint = 10.0;
/// Of the limits: what a recording may seem to reach, with noise, and what the fastest joint uses.
constexpr double kMostSpeed = 2.0, kLeastSpeed = 0.01;
/// Share of the steps that are no faster than the speed that is looked at: spikes and turns are.
constexpr double kUsualSteps = 0.9;

double medianOf(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + std::ssize(values) / 2, values.end());
  return values[values.size() / 2];
}

/// Do the joints keep their limits of velocity if positions are multiplied by `unit` where no unit
/// is stated, and time by `factor`, and use some of them?
bool keepsSpeeds(const Model& model, const Recording& recording, const VectorXd& time,
                 const Selection& positions, double factor, double unit) {
  double most = 0.0;
  for (size_t c = 0; c < positions.columns.size(); ++c) {
    const int joint = model.jointIndex(positions.columns[c].of);
    if (joint < 0) continue;
    const double stated = model.joints[static_cast<size_t>(joint)].limits.velocity;
    const double limit = stated > 0.0 ? stated : kFastJoint;
    const Channel& channel = recording.channels[static_cast<size_t>(positions.from[c])];
    const auto known =
        findUnit(positions.declaration.unit.empty() ? channel.unit : positions.declaration.unit);
    const double speed = usualSpeed(time, recording.values.col(positions.from[c])) *
                         (known ? known->factor : unit) / factor;
    most = std::max(most, speed / limit);
  }
  return most >= kLeastSpeed && most <= kMostSpeed;
}

const Selection* measuredOf(const std::vector<Selection>& selections, Quantity quantity) {
  for (const Selection& s : selections) {
    if (s.role == Role::kMeasured && s.columns.front().quantity == quantity) return &s;
  }
  return nullptr;
}

/// The factor that makes it a log of a robot, if one does; steps of 100 ms are more usual than
/// 100 us.
std::optional<double> usualFactor(double step) {
  for (const double factor : {1e-3, 1e-6, 1e-9, 1e3, 1e6}) {
    if (factor * step >= kShortestUse && factor * step <= kLongestUse) return factor;
  }
  return std::nullopt;
}

/// The unit of time with this many seconds, or nothing.
std::string unitOfSeconds(double seconds) {
  for (const char* unit : {"s", "ms", "us", "ns"}) {
    if (std::abs(findUnit(unit)->factor / seconds - 1.0) < 1e-6) return unit;
  }
  return "";
}

}  // namespace

double usualSpeed(const VectorXd& time, const Eigen::Ref<const VectorXd>& q) {
  std::vector<double> speeds;
  for (Index i = 1; i < time.size(); ++i) {
    const double speed = std::abs((q[i] - q[i - 1]) / (time[i] - time[i - 1]));
    if (std::isfinite(speed)) speeds.push_back(speed);
  }
  if (speeds.empty()) return 0.0;
  const auto place = static_cast<std::ptrdiff_t>(kUsualSteps * static_cast<double>(speeds.size()));
  std::nth_element(speeds.begin(), speeds.begin() + place, speeds.end());
  return speeds[static_cast<size_t>(place)];
}

double velocityFactor(const Recording& recording, const VectorXd& time, const Selection& positions,
                      const Selection& velocities) {
  constexpr double kHalfTurn = 180.0;  // degrees
  double products = 0.0, squares = 0.0;
  if (time.size() != recording.samples()) return 0.0;
  for (size_t v = 0; v < velocities.columns.size(); ++v) {
    for (size_t q = 0; q < positions.columns.size(); ++q) {
      if (positions.columns[q].of != velocities.columns[v].of) continue;
      for (Index i = 1; i + 1 < time.size(); ++i) {
        const double step = time[i + 1] - time[i - 1];
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

double guessTimeFactor(const Model& model, const Recording& recording, const VectorXd& time,
                       const std::vector<Selection>& selections, std::vector<std::string>& notes) {
  if (time.size() < kFewStamps || time.size() != recording.samples()) return 1.0;
  std::vector<double> steps;
  for (Index i = 1; i < time.size(); ++i) steps.push_back(time[i] - time[i - 1]);
  const double step = medianOf(std::move(steps));
  if (!(step >= kLongStep) && !(step > 0.0 && step <= kShortStep)) return 1.0;
  const std::optional<double> factor = usualFactor(step);
  const Selection *q = measuredOf(selections, Quantity::kPosition),
                  *v = measuredOf(selections, Quantity::kVelocity);
  if (!factor || q == nullptr || q->recording != selections[0].recording) return 1.0;
  const double between =
      v != nullptr && q->recording == v->recording ? velocityFactor(recording, time, *q, *v) : 0.0;
  if (std::abs(between - 1.0) < kSameSpeed) return 1.0;
  const bool proved = std::abs(*factor * between - 1.0) < kSameSpeed;
  const double degree = findUnit("deg")->factor;
  if (!proved && !keepsSpeeds(model, recording, time, *q, *factor, 1.0) &&
      !(isUnitless(*q, recording) && keepsSpeeds(model, recording, time, *q, *factor, degree)))
    return 1.0;
  const std::string stated = recording.time_unit.empty() ? "s" : recording.time_unit;
  const std::string unit = unitOfSeconds(*factor * findUnit(stated)->factor);
  if (unit.empty()) return 1.0;
  const std::string found =
      fmt::format("{}: the time stamps have steps of {:.6g} {}, {:.3g} Hz{}", placeOf(recording),
                  step / findUnit(stated)->factor, stated, 1.0 / step,
                  proved ? fmt::format(", while recorded velocities are {:.3g} times the "
                                       "differences of positions over them",
                                       between)
                         : ", which no robot is recorded with");
  if (!recording.time_unit.empty())
    throw Error(fmt::format(
        "{}: they look like {}, but the file says {}; correct it, or declare which is right in "
        "robot.yaml, 'recording: {{time: {{unit: {}}}}}'",
        found, unit, stated, unit));
  const bool counter =
      !proved && time == VectorXd::LinSpaced(time.size(), time[0],
                                             time[0] + static_cast<double>(time.size() - 1));
  notes.push_back(fmt::format(
      "{}: read as {}{} (`time: {{unit: ...}}` in a robot.yaml says it for "
      "sure)",
      found, unit,
      counter ? ", although they may just count the rows: check that the rate is 1 kHz" : ""));
  return *factor;
}

}  // namespace proprio
