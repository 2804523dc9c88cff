#include "proprio/recording/recorded_velocities.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "proprio/core/text.h"
#include "proprio/recording/units.h"

namespace proprio {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

/// Windows of a recording, and the samples of one at least and at most.
constexpr Index kWindowsOfRecording = 200, kShortestWindow = 4, kLongestWindow = 200;
/// rad or m that a joint moves in all windows together; noise of encoders stays below.
constexpr double kLeastWay = 0.1, kLeastStraightWay = 0.01;
/// Median steps, above which samples are missing.
constexpr double kGapInWindow = 2.5;
/// Of the ratio: how far a window may be off it, and the share of the way that agrees so.
constexpr double kWindowAgrees = 0.2, kMostOfWay = 0.7;
/// Factors as near as this to 1 are those of filters and rough rates; as near to each other, one.
constexpr double kSameMotion = 0.2, kCommonFactor = 0.1;

struct VelocityWindow {
  double way = 0.0, driven = 0.0, ratio = 0.0;  // |D|, |I| and D / I
};

double unitFactorOf(const Channel& channel) {
  const auto unit = findUnit(channel.unit);
  return unit ? unit->factor : 1.0;
}

double usualStep(const VectorXd& time) {
  std::vector<double> steps;
  for (Index i = 1; i < time.size(); ++i) {
    if (time[i] > time[i - 1]) steps.push_back(time[i] - time[i - 1]);
  }
  if (steps.empty()) return 0.0;
  const auto middle = steps.begin() + std::ssize(steps) / 2;
  std::nth_element(steps.begin(), middle, steps.end());
  return *middle;
}

/// The integral of v over these rows; nothing if they have a gap or a missing value.
std::optional<double> integral(const VectorXd& time, const VectorXd& v, Index from, Index to,
                               double step) {
  double sum = 0.0;
  for (Index i = from; i < to; ++i) {
    const double dt = time[i + 1] - time[i];
    if (!(dt > 0.0) || dt > kGapInWindow * step) return std::nullopt;
    sum += 0.5 * dt * (v[i] + v[i + 1]);
  }
  return std::isfinite(sum) ? std::optional(sum) : std::nullopt;
}

std::vector<VelocityWindow> windowsOf(const VectorXd& time, const VectorXd& q, const VectorXd& v) {
  const Index length =
      std::clamp(time.size() / kWindowsOfRecording, kShortestWindow, kLongestWindow);
  const double step = usualStep(time);
  std::vector<VelocityWindow> windows;
  for (Index from = 0; from + length < time.size(); from += length) {
    const double way = q[from + length] - q[from];
    const auto driven = integral(time, v, from, from + length, step);
    if (!driven || *driven == 0.0 || !std::isfinite(way)) continue;
    windows.push_back({std::abs(way), std::abs(*driven), way / *driven});
  }
  return windows;
}

/// The weighted median of the windows' ratios, inverted, if most of the way agrees with it.
std::optional<double> commonRatio(std::vector<VelocityWindow> windows, double least_way) {
  std::sort(windows.begin(), windows.end(),
            [](const VelocityWindow& a, const VelocityWindow& b) { return a.ratio < b.ratio; });
  double moved = 0.0, all = 0.0, below = 0.0, agreeing = 0.0;
  for (const VelocityWindow& window : windows) {
    moved += window.way;
    all += window.driven;
  }
  if (!(moved > least_way)) return std::nullopt;
  const auto middle =
      std::find_if(windows.begin(), windows.end(), [&](const VelocityWindow& window) {
        below += window.driven;
        return below >= 0.5 * all;
      });
  const double ratio = middle->ratio;
  for (const VelocityWindow& window : windows) {
    if (std::abs(window.ratio - ratio) <= kWindowAgrees * std::abs(ratio))
      agreeing += window.driven;
  }
  return ratio != 0.0 && agreeing > kMostOfWay * all ? std::optional(1.0 / ratio) : std::nullopt;
}

int measuredColumn(const Recording& recording, Quantity quantity, const std::string& joint) {
  for (size_t c = 0; c < recording.channels.size(); ++c) {
    const Channel& channel = recording.channels[c];
    if (channel.quantity == quantity && channel.role == Role::kMeasured && channel.of == joint)
      return static_cast<int>(c);
  }
  return -1;
}

bool isNear(double factor, double other, double by) { return std::abs(factor / other - 1.0) < by; }

/// The median, if it is that of all of them.
std::optional<double> commonFactor(const std::vector<VelocityFactor>& factors) {
  if (factors.empty()) return std::nullopt;
  std::vector<double> sorted;
  for (const VelocityFactor& one : factors) sorted.push_back(one.factor);
  std::sort(sorted.begin(), sorted.end());
  const double common = sorted[sorted.size() / 2];
  const bool together = std::all_of(sorted.begin(), sorted.end(), [&](double factor) {
    return isNear(factor, common, kCommonFactor);
  });
  return together ? std::optional(common) : std::nullopt;
}

QualityFinding commonFinding(const std::vector<VelocityFactor>& factors, double common,
                             double rate) {
  const double degrees = 1.0 / findUnit("deg")->factor;
  const std::string told = fmt::format(
      "recorded velocities are {:.3g} times the derivative of the recorded positions ({} joint{})",
      common, factors.size(), factors.size() == 1 ? "" : "s");
  if (isNear(common, degrees, kCommonFactor))
    return {Severity::kWarning, "",
            told +
                ": they look like degrees per second beside positions in rad; declare their "
                "'unit: deg/s' in robot.yaml"};
  if (isNear(common, 1.0 / degrees, kCommonFactor))
    return {Severity::kError, "",
            told +
                ": positions look like degrees beside velocities in rad/s; declare their 'unit: "
                "deg' in robot.yaml"};
  const std::string hertz =
      common > 0.0 ? fmt::format(" ({:.4g} Hz would agree, they say {:.4g})", common * rate, rate)
                   : "";
  return {Severity::kError, "",
          fmt::format("{}: the time stamps or the rate are wrong{}, or the unit or side of the "
                      "gear of one of the two; declare which in robot.yaml",
                      told, hertz)};
}

}  // namespace

std::vector<VelocityFactor> velocityFactors(const Recording& recording) {
  std::vector<VelocityFactor> factors;
  if (recording.time.size() == 0 || recording.time.size() != recording.samples()) return factors;
  for (size_t c = 0; c < recording.channels.size(); ++c) {
    const Channel& position = recording.channels[c];
    if (position.quantity != Quantity::kPosition || position.role != Role::kMeasured) continue;
    const int v = measuredColumn(recording, Quantity::kVelocity, position.of);
    if (v < 0) continue;
    const Channel& velocity = recording.channels[static_cast<size_t>(v)];
    const auto unit = findUnit(position.unit);
    const bool straight = unit && unit->si == "m";
    const auto factor =
        commonRatio(windowsOf(recording.time,
                              unitFactorOf(position) * recording.values.col(static_cast<Index>(c)),
                              unitFactorOf(velocity) * recording.values.col(v)),
                    straight ? kLeastStraightWay : kLeastWay);
    if (factor) factors.push_back({position.of, *factor});
  }
  return factors;
}

std::string rateByVelocities(const Recording& recording) {
  if (recording.time.size() > 0 || recording.samples() < 2) return "";
  Recording counted = recording;  // one sample per second: the factor is the rate in Hz
  counted.time =
      VectorXd::LinSpaced(recording.samples(), 0.0, static_cast<double>(recording.samples() - 1));
  const std::optional<double> rate = commonFactor(velocityFactors(counted));
  if (!rate || !(*rate > 0.0)) return "";
  return fmt::format(" (recorded velocities say about {:.3g} Hz, if their unit is right)", *rate);
}

std::vector<QualityFinding> judgeVelocities(const Recording& recording) {
  const std::vector<VelocityFactor> factors = velocityFactors(recording);
  const std::optional<double> common = commonFactor(factors);
  if (common && !isNear(*common, 1.0, kSameMotion))
    return {commonFinding(factors, *common, 1.0 / usualStep(recording.time))};
  std::vector<QualityFinding> findings;
  for (const VelocityFactor& one : factors) {
    if (isNear(one.factor, 1.0, kSameMotion)) continue;
    findings.push_back(
        {Severity::kWarning, one.joint,
         fmt::format("the recorded velocity of '{}' is {:.3g} times the derivative of its "
                     "recorded position: check sign, unit and side of the gear of both",
                     one.joint, one.factor)});
  }
  return findings;
}

}  // namespace proprio
