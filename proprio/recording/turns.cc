#include "proprio/recording/turns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

namespace proprio {
namespace {

constexpr double kTurn = 2.0 * std::numbers::pi;
constexpr double kLargeStep = 1.0;  // rad from one sample to the next
constexpr double kMostTurns = 2.0;  // lost at once
constexpr int kFewSteps = 10;       // one of so many may be large and no turn, such as spikes
constexpr size_t kSpikeSteps = 3;   // a large step that another one undoes so soon is a spike
constexpr double kNoise = 0.01;     // rad by which an angle within one turn may exceed it

/// Smallest and largest of the values that are there.
std::pair<double, double> rangeOf(const Eigen::Ref<const Eigen::VectorXd>& q) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double value : q) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  return {low, high};
}

/// Adds the turns that are lost before each sample; how often that happens.
int continueAngle(Eigen::Ref<Eigen::VectorXd> q) {
  std::vector<Eigen::Index> known;
  for (Eigen::Index k = 0; k < q.size(); ++k) {
    if (std::isfinite(q[k])) known.push_back(k);
  }
  const auto [low, high] = rangeOf(q);
  const bool within = high - low <= kTurn + kNoise;
  const auto step = [&](size_t i) { return q[known[i + 1]] - q[known[i]]; };
  const auto large = [&](size_t i) { return std::abs(step(i)) > kLargeStep; };
  std::vector<double> turns(known.size(), 0.0);
  int count = 0, others = 0;  // large steps that are lost turns, and those that are none
  for (size_t i = 0; i + 1 < known.size(); ++i) {
    turns[i + 1] = turns[i];
    if (!large(i)) continue;
    bool alone = true;
    for (size_t k = i > kSpikeSteps ? i - kSpikeSteps : 0; k <= i + kSpikeSteps; ++k)
      alone = alone && (k == i || k + 1 >= known.size() || !large(k));
    const double lost = std::round(step(i) / kTurn);
    const bool whole = lost != 0.0 && std::abs(lost) <= kMostTurns &&  // more are another unit
                       std::abs(step(i) - lost * kTurn) <= kLargeStep;
    if (!whole) ++others;
    if (!whole || !(within || alone)) continue;
    turns[i + 1] -= lost;
    ++count;
  }
  // rows in no order: some of their steps are a turn by chance
  if (count == 0 || kFewSteps * others > static_cast<int>(known.size())) return 0;
  for (size_t i = 0; i < known.size(); ++i) q[known[i]] += turns[i] * kTurn;
  return count;
}

/// By whole turns into the limits; false if it is inside, or if none bring it there.
bool moveInside(const JointLimits& limits, Eigen::Ref<Eigen::VectorXd> q) {
  const auto [low, high] = rangeOf(q);
  if (!(limits.upper > limits.lower) || (low >= limits.lower && high <= limits.upper)) return false;
  const double turns = low < limits.lower ? std::ceil((limits.lower - low) / kTurn)
                                          : -std::ceil((high - limits.upper) / kTurn);
  if (std::abs(turns) > kMostTurns || low + turns * kTurn < limits.lower ||
      high + turns * kTurn > limits.upper)
    return false;
  q.array() += turns * kTurn;
  return true;
}

}  // namespace

int restoreTurns(const Model& model, Recording* recording) {
  int all = 0;
  for (size_t c = 0; c < recording->channels.size(); ++c) {
    const Channel& channel = recording->channels[c];
    if (channel.quantity != Quantity::kPosition) continue;
    const int index = model.jointIndex(channel.of);
    if (index < 0) continue;
    const Joint& joint = model.joints[static_cast<size_t>(index)];
    if (joint.type != JointType::kRevolute && joint.type != JointType::kContinuous) continue;
    auto q = recording->values.col(static_cast<Eigen::Index>(c));
    const int turns = continueAngle(q);
    const bool moved = joint.type == JointType::kRevolute && moveInside(joint.limits, q);
    if (turns == 0 && moved)
      recording->notes.push_back(fmt::format(
          "{} lies a whole turn outside its limits and was moved inside", channel.name));
    if (turns == 0) continue;
    recording->notes.push_back(
        fmt::format("{} jumps by a whole turn {}: an angle that was kept within one turn; it was "
                    "made continuous",
                    channel.name, turns == 1 ? "once" : fmt::format("{} times", turns)));
    all += turns;
  }
  return all;
}

}  // namespace proprio
