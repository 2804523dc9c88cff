#include "proprio/recording/quality.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "proprio/core/text.h"
#include "proprio/recording/cut.h"
#include "proprio/recording/guess_signals_internal.h"
#include "proprio/recording/recorded_velocities.h"
#include "proprio/recording/signal_select_internal.h"

namespace proprio {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

double median(std::vector<double> values) {
  if (values.empty()) return 0.0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The step of which nearly all differences are multiples; 0 if there is none.
double quantisationStep(std::vector<double> values) {
  constexpr size_t kMost = 20000;  // enough to see the grid
  if (values.size() > kMost) values.resize(kMost);
  const size_t count = values.size();
  std::sort(values.begin(), values.end());
  if (count < 10) return 0.0;
  const double range = values.back() - values.front(), rounding = 1e-9 * range;
  std::vector<double> steps;
  for (size_t i = 1; i < count; ++i) {
    if (values[i] - values[i - 1] > rounding) steps.push_back(values[i] - values[i - 1]);
  }
  if (steps.size() < 3) return 0.0;
  const double smallest = *std::min_element(steps.begin(), steps.end());
  double small = 0.0, on_grid = 0.0, sum = 0.0;
  for (const double step : steps) {
    // of values without a grid, hardly any differ by so little
    const double multiple = std::round(step / smallest);
    if (multiple > 10.0) continue;
    small += 1.0;
    if (std::abs(step / smallest - multiple) > 0.05 + 0.01 * multiple) continue;
    on_grid += 1.0;
    sum += step / multiple;
  }
  const bool grid = small > 0.5 * static_cast<double>(steps.size()) && on_grid > 0.9 * small;
  return grid ? sum / on_grid : 0.0;
}

// Samples equal to the extreme value in runs of 5 or more that do not touch the ends, if they pile
// up there; `sign` = 1 for the largest value, -1 for the smallest.
Index saturatedSamples(const Eigen::Ref<const VectorXd>& values, double extreme, double sign,
                       double range, double step) {
  constexpr Index kRun = 5;
  constexpr double kPile = 5.0;
  Index run = 0, saturated = 0, equal = 0, near = 0;
  const double band = std::max(1.5 * step, 0.005 * range);
  for (Index i = 0; i <= values.size(); ++i) {
    const bool at = i < values.size() && values[i] == extreme;
    if (at) ++equal;
    if (i < values.size() && !at && sign * (extreme - values[i]) < band) ++near;
    if (at) {
      ++run;
      continue;
    }
    const bool inside = i < values.size() && i - run > 0;
    if (run >= kRun && inside) saturated += run;
    run = 0;
  }
  return static_cast<double>(equal) > kPile * static_cast<double>(near) ? saturated : 0;
}

/// The samples in [first, first + length) leave the line through the samples beside them by more
/// than `limit`, while the signal just before and after goes on as if nothing had happened. All of
/// them do, or, between the first and the last, no more than kSpikeSamples in a row (`several`).
constexpr Index kSpikeSamples = 3;

bool isSpike(const Eigen::Ref<const VectorXd>& x, Index first, Index length, double limit,
             bool several) {
  const Index after = first + length;
  const double left = x[first - 1], slope = (x[after] - left) / static_cast<double>(length + 1);
  double height = std::numeric_limits<double>::infinity();
  Index run = 0;
  for (Index i = first; i < after; ++i) {
    const double distance = std::abs(x[i] - left - slope * static_cast<double>(i - first + 1));
    if (!std::isfinite(distance)) return false;
    run = distance > limit ? run + 1 : 0;
    const bool between = several && i > first && i + 1 < after;
    if (run > kSpikeSamples || (run == 0 && !between)) return false;
    if (run > 0) height = std::min(height, distance);
  }
  const double quiet = 0.25 * height;
  return std::abs(left - x[first - 2] - slope) < quiet &&
         std::abs(x[after + 1] - x[after] - slope) < quiet;
}

/// Does sample i leave the line through the next two in direction `step`, on which the third is?
bool isSpikeAtEnd(const Eigen::Ref<const VectorXd>& x, Index i, Index step, double limit) {
  const double one = x[i + step], two = x[i + 2 * step], three = x[i + 3 * step];
  const double off = std::abs(x[i] - 2.0 * one + two);
  return off > 2.0 * limit && std::isfinite(off) && std::abs(one - 2.0 * two + three) < 0.25 * off;
}

/// Rows of spikes, which become lines in `x`: of those alone, or of several close to each other and
/// of those at the ends.
std::vector<Index> removeSpikesFrom(VectorXd& x, double limit, bool several) {
  const Index longest = several ? 2 * kSpikeSamples : kSpikeSamples;
  std::vector<Index> rows;
  for (Index i = 2; i + 2 < x.size(); ++i) {
    Index length = 1;
    while (length <= longest && i + length + 1 < x.size() && !isSpike(x, i, length, limit, several))
      ++length;
    if (length > longest || i + length + 1 >= x.size()) continue;
    const double left = x[i - 1], slope = (x[i + length] - left) / static_cast<double>(length + 1);
    for (Index k = 1; k <= length; ++k, ++i) {
      x[i] = left + slope * static_cast<double>(k);
      rows.push_back(i);
    }
  }
  if (!several) return rows;
  for (const auto& [i, step] : {std::pair<Index, Index>{1, 1}, {0, 1}, {-2, -1}, {-1, -1}}) {
    const Index at = i < 0 ? x.size() + i : i;
    if (!isSpikeAtEnd(x, at, step, limit)) continue;
    x[at] = 2.0 * x[at + step] - x[at + 2 * step];
    rows.push_back(at);
  }
  return rows;
}

void findSpikes(const Eigen::Ref<const VectorXd>& x, double range, ChannelStatistics& s) {
  constexpr double kDeviations = 12.0;
  std::vector<double> sizes;
  for (Index i = 1; i + 1 < x.size(); ++i) {
    const double off = x[i] - 0.5 * (x[i - 1] + x[i + 1]);
    if (std::isfinite(off)) sizes.push_back(std::abs(off));
  }
  if (sizes.size() < 20) return;
  constexpr double kMedianToDeviation = 1.4826;  // of a normal distribution
  const double limit =
      std::max({kDeviations * kMedianToDeviation * median(sizes), 3.0 * s.step, 1e-3 * range});
  VectorXd quiet = x;
  s.spike_rows = removeSpikesFrom(quiet, limit, false);
  // where there are some, they may be so close that one hides the other
  if (!s.spike_rows.empty()) {
    const std::vector<Index> close = removeSpikesFrom(quiet, limit, true);
    s.spike_rows.insert(s.spike_rows.end(), close.begin(), close.end());
  }
  std::sort(s.spike_rows.begin(), s.spike_rows.end());
  for (size_t k = 0; k < s.spike_rows.size(); ++k)
    s.spikes += k == 0 || s.spike_rows[k] != s.spike_rows[k - 1] + 1;
  if (s.spikes > 0) s.first_spike = s.spike_rows.front();
  // many of them are noise
  constexpr double kRare = 0.02;
  if (s.spikes > 3 &&
      static_cast<double>(s.spike_rows.size()) > kRare * static_cast<double>(x.size())) {
    s.spikes = 0;
    s.first_spike = -1;
    s.spike_rows.clear();
  }
}

// ---- sentences ----

class Findings {
 public:
  explicit Findings(const Recording& recording) : recording_(recording) {}

  void add(Severity severity, const std::string& about, const std::string& sentence,
           FindingKind kind = FindingKind::kOther) {
    found_.push_back({severity, about, sentence, kind});
  }
  // seconds since 1970, of which six digits tell nothing
  static bool clock(double time) { return std::abs(time) > 1e6; }

  // "row 12 (0.4 s)"
  std::string row(Index i) const {
    if (i < recording_.time.size())
      return clock(recording_.time[0])
                 ? fmt::format("row {} ({:.6g} s after the first)", i + 1,
                               recording_.time[i] - recording_.time[0])
                 : fmt::format("row {} ({:.6g} s)", i + 1, recording_.time[i]);
    return fmt::format("row {}", i + 1);
  }
  std::string rate() const { return rateByVelocities(recording_); }
  std::string span(Index samples, const TimeStatistics& time) const {
    if (time.median_step > 0.0)
      return fmt::format("{:.3g} s", static_cast<double>(samples) * time.median_step);
    return fmt::format("{} samples", samples);
  }
  std::vector<QualityFinding> sorted() {
    std::stable_sort(found_.begin(), found_.end(),
                     [](const auto& a, const auto& b) { return a.severity > b.severity; });
    return std::move(found_);
  }

 private:
  const Recording& recording_;
  std::vector<QualityFinding> found_;
};

void judgeTime(const TimeStatistics& t, Findings& findings) {
  constexpr double kSteady = 0.05;
  if (t.rate_hz == 0.0 && t.reversed + t.repeated == 0) {
    findings.add(Severity::kWarning, "time",
                 t.samples == 0   ? "there are no samples"
                 : t.samples == 1 ? "there is only one sample"
                                  : "there are no time stamps; give the rate (--rate, or "
                                    "recording.rate in robot.yaml)" +
                                        findings.rate());
    return;
  }
  constexpr double kSlowest = 1.0, kFastest = 1e5;  // Hz; robots are recorded with 10 Hz to 10 kHz
  if (t.rate_hz > 0.0 && (t.rate_hz <= kSlowest || t.rate_hz >= kFastest)) {
    findings.add(Severity::kWarning, "time",
                 fmt::format("the stamps say {:.3g} Hz, which no robot is recorded with: check "
                             "their unit ('recording: {{time: {{unit: ms}}}}' in robot.yaml)",
                             t.rate_hz));
  }
  if (t.restarts > 0) {
    findings.add(
        Severity::kWarning, "time",
        fmt::format("the time starts again {} time{}, first at {}: several recordings in "
                    "one file",
                    t.restarts, t.restarts == 1 ? "" : "s", findings.row(t.first_reversed)));
  }
  if (t.reversed > t.restarts) {
    findings.add(Severity::kError, "time",
                 fmt::format("time goes back {} time{}, first at {}", t.reversed,
                             t.reversed == 1 ? "" : "s", findings.row(t.first_reversed)));
  }
  if (t.repeated > 0) {
    findings.add(Severity::kWarning, "time",
                 fmt::format("{} time stamp{} repeated, first at {}", t.repeated,
                             t.repeated == 1 ? " is" : "s are", findings.row(t.first_repeated)));
  }
  if (t.gaps > 0) {
    findings.add(Severity::kWarning, "time",
                 fmt::format("{} gap{}; the longest is {:.3g} s ({:.1f} samples) after {}", t.gaps,
                             t.gaps == 1 ? "" : "s", t.longest_step, t.longest_step / t.median_step,
                             findings.row(t.longest_step_at)));
  }
  if (t.jitter > kSteady) {
    findings.add(Severity::kWarning, "time",
                 fmt::format("the sampling is unsteady: steps vary by {:.0f} % about {:.4g} ms; "
                             "differences and filters need resampled data",
                             100.0 * t.jitter, 1e3 * t.median_step));
  }
}

// What moves comes to rest at the end of its way, and cruises at a constant speed; only what drives
// it saturates.
bool mayRest(const Channel& channel) {
  const Quantity quantity = channel.quantity != Quantity::kOther
                                ? channel.quantity
                                : quantityInName(channel.name).quantity;
  return quantity == Quantity::kPosition || quantity == Quantity::kVelocity ||
         quantity == Quantity::kAcceleration;
}

void judgeChannel(const Channel& channel, const ChannelStatistics& c, const TimeStatistics& t,
                  Findings& findings) {
  const double samples = static_cast<double>(t.samples);
  if (t.samples == 0) return;
  if (c.missing == t.samples) {
    const bool known = channel.quantity != Quantity::kOther;  // else perhaps a column of remarks
    findings.add(known ? Severity::kError : Severity::kWarning, c.name, "has no values at all");
    return;
  }
  if (c.missing > 0) {
    findings.add(Severity::kWarning, c.name,
                 fmt::format("{} of {} values are missing or infinite, first at {}", c.missing,
                             t.samples, findings.row(c.first_missing)));
  }
  if (t.samples < 2) return;
  if (c.smallest == c.largest) {
    findings.add(Severity::kWarning, c.name,
                 fmt::format("is {} throughout: nothing was recorded, or it does not move",
                             formatNumber(c.smallest)));
    return;
  }
  if (c.longest_frozen >= 50 && static_cast<double>(c.longest_frozen) > 0.05 * samples) {
    findings.add(Severity::kNote, c.name,
                 fmt::format("stands still for {} from {} on", findings.span(c.longest_frozen, t),
                             findings.row(c.frozen_at)));
  }
  for (const bool top : {true, false}) {
    const Index count = top ? c.at_largest : c.at_smallest;
    if (count < 10 || mayRest(channel)) continue;
    findings.add(
        Severity::kWarning, c.name,
        fmt::format("is saturated: {} samples sit at its {} value {}", count,
                    top ? "largest" : "smallest", formatNumber(top ? c.largest : c.smallest)));
  }
  if (c.spikes > 0) {
    findings.add(Severity::kWarning, c.name,
                 fmt::format("{} spike{} of one to three samples, first at {}", c.spikes,
                             c.spikes == 1 ? "" : "s", findings.row(c.first_spike)));
  }
  if (c.step > 1e-3 * (c.largest - c.smallest)) {
    findings.add(Severity::kNote, c.name,
                 fmt::format("is coarse: it moves in steps of {:.3g}, {:.0f} over its range",
                             c.step, (c.largest - c.smallest) / c.step));
  }
}

// Positions beyond the limits by more than the whole range are in another unit, or counts. Offsets,
// overshoot and turns that were counted on stay below that; a few values are outliers.
void judgeLimits(const Channel& channel, const ChannelStatistics& c, const TimeStatistics& t,
                 const Model& model, Findings& findings) {
  constexpr double kOutliers = 0.05;  // share of the values
  if (c.beyond == 0) return;
  const JointLimits& limits =
      model.joints[static_cast<size_t>(model.jointIndex(channel.of))].limits;
  const bool few = static_cast<double>(c.beyond) < kOutliers * static_cast<double>(t.samples);
  findings.add(
      few ? Severity::kWarning : Severity::kError, channel.name,
      fmt::format("{} of {} values are far beyond the joint's limits ({} to {}), up to "
                  "{:.6g}: {}",
                  c.beyond, t.samples, formatNumber(limits.lower), formatNumber(limits.upper),
                  std::max(std::abs(c.smallest), std::abs(c.largest)),
                  few ? "outliers"
                      : "another unit, or counts; `unit` or `scale` in robot.yaml says which"));
}

// The size that nine tenths of the values stay below.
double usualSize(const Eigen::Ref<const VectorXd>& values) {
  std::vector<double> sizes;
  for (const double value : values) {
    if (std::isfinite(value)) sizes.push_back(std::abs(value));
  }
  if (sizes.empty()) return 0.0;
  const auto place = static_cast<std::ptrdiff_t>(0.9 * static_cast<double>(sizes.size()));
  std::nth_element(sizes.begin(), sizes.begin() + place, sizes.end());
  return sizes[static_cast<size_t>(place)];
}

// Speeds and torques that are usually ten times what joints are made for, of most joints, are in
// another unit, or the time is. One joint may have a limit that nobody meant.
void judgeDrives(const Recording& recording, const Model& model, Findings& findings) {
  constexpr double kBeyondDrives = 10.0;
  for (const Quantity quantity : {Quantity::kPosition, Quantity::kTorque}) {
    const bool speeds = quantity == Quantity::kPosition;
    if (speeds && recording.time.size() != recording.samples()) continue;
    size_t limited = 0, beyond = 0;
    double most = 0.0, most_limit = 0.0;
    std::string joint_of_most;
    for (size_t c = 0; c < recording.channels.size(); ++c) {
      const Channel& channel = recording.channels[c];
      const int joint = model.jointIndex(channel.of);
      if (channel.quantity != quantity || channel.role != Role::kMeasured || joint < 0) continue;
      const JointLimits& limits = model.joints[static_cast<size_t>(joint)].limits;
      const double limit = speeds ? limits.velocity : limits.effort;
      if (!(limit > 0.0) || !std::isfinite(limit)) continue;
      const auto values = recording.values.col(static_cast<Index>(c));
      const double usual = speeds ? usualSpeed(recording.time, values) : usualSize(values);
      ++limited;
      if (!(usual > kBeyondDrives * limit)) continue;
      ++beyond;
      if (usual / limit <= most) continue;
      most = usual / limit;
      most_limit = limit;
      joint_of_most = channel.of;
    }
    if (2 * beyond <= limited) continue;
    findings.add(
        Severity::kError, "",
        fmt::format("{} of {} joints {} limit of {} most of the time ('{}' {:.3g} times "
                    "its {}): {}",
                    beyond, limited,
                    speeds ? "move far beyond their" : "have torques far beyond their",
                    speeds ? "velocity" : "effort", joint_of_most, most, formatNumber(most_limit),
                    speeds ? "check the unit of positions (degrees?) and of time"
                           : "check the unit of torques (mN m, N mm?), and whether they "
                             "are currents or counts"));
  }
}

// What the joints say together about one delay.
struct CommonDelay {
  double delay = 0.0, error = 0.0, scatter = 0.0;
  double smallest = 0.0, largest = 0.0;
  size_t count = 0, clear = 0;  // reliable joints, and those that a delay explains better
};

// a delay that explains less is that of sticking, or of noise in the positions
constexpr double kAnyGain = 1.3;

CommonDelay commonDelay(const std::vector<DelayEstimate>& delays, double step) {
  CommonDelay all;
  double weights = 0.0, sum = 0.0, squares = 0.0;
  // a parabola through three samples is good to a tenth of one
  const auto variance = [&](const DelayEstimate& d) {
    return d.standard_error * d.standard_error + 0.01 * step * step;
  };
  for (const DelayEstimate& d : delays) {
    if (!d.reliable) continue;
    all.smallest = all.count == 0 ? d.delay : std::min(all.smallest, d.delay);
    all.largest = all.count == 0 ? d.delay : std::max(all.largest, d.delay);
    weights += 1.0 / variance(d);
    sum += d.delay / variance(d);
    ++all.count;
    all.clear += d.gain > kAnyGain;
  }
  if (all.count == 0) return all;
  all.delay = sum / weights;
  for (const DelayEstimate& d : delays) {
    if (d.reliable) squares += (d.delay - all.delay) * (d.delay - all.delay) / variance(d);
  }
  // joints that scatter by more than their errors make the mean less sure, or void (Birge 1932)
  if (all.count > 1) all.scatter = std::sqrt(squares / static_cast<double>(all.count - 1));
  all.error = std::max(1.0, all.scatter) / std::sqrt(weights);
  return all;
}

// s; filters and field buses are not as late: the columns do not belong together
constexpr double kBeyondUse = 0.03;

// A torque that belongs to another time than those of the other joints; its estimate is taken back.
void judgeOddDelays(std::vector<DelayEstimate>& delays, Findings& findings) {
  constexpr double kOwnGain = 4.0;  // three quarters of what remains without the delay
  std::vector<double> others;
  for (const DelayEstimate& d : delays) {
    if (d.reliable) others.push_back(d.delay);
  }
  if (others.size() < 3) return;  // of two that differ nobody knows which is right
  std::nth_element(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(others.size() / 2),
                   others.end());
  const double usual = others[others.size() / 2];
  for (DelayEstimate& d : delays) {
    if (!d.reliable || d.gain < kOwnGain || std::abs(d.delay - usual) < kBeyondUse) continue;
    d.reliable = false;
    findings.add(Severity::kError, d.joint,
                 fmt::format("the torque of joint '{}' comes {:.1f} ms {} its position (standard "
                             "error {:.2g} ms), that of the other joints does not: check what its "
                             "column was recorded with",
                             d.joint, 1e3 * std::abs(d.delay), d.delay > 0.0 ? "after" : "before",
                             1e3 * d.standard_error),
                 FindingKind::kJointDelay);
  }
}

// also takes back what the joints contradict each other about
void judgeDelays(std::vector<DelayEstimate>& delays, const TimeStatistics& t, Findings& findings) {
  if (delays.empty()) return;
  judgeOddDelays(delays, findings);
  const CommonDelay all = commonDelay(delays, t.median_step);
  constexpr char kUntold[] = "the delay between torques and positions cannot be told";
  constexpr double kVoid = 4.0;
  // s; friction that is not quite the model's moves the estimate by about this much
  constexpr double kModelError = 2e-3;
  // joints that say much the same do not contradict each other: a long delay, or one that differs
  // by no more than that either way
  constexpr double kTogether = 0.2;
  const bool together =
      all.largest - all.smallest < std::max(kTogether * std::abs(all.delay), 2.0 * kModelError);
  const std::string found =
      fmt::format("{:.2f} ms (standard error {:.2f} ms, from {} joint{})", 1e3 * all.delay,
                  1e3 * all.error, all.count, all.count == 1 ? "" : "s");
  if (2 * all.count < delays.size() || all.count == 0) {
    findings.add(Severity::kNote, "delay",
                 fmt::format("{}: the torques of {} of {} joints fix it to 5 ms", kUntold,
                             all.count, delays.size()),
                 FindingKind::kDelayUntold);
  } else if (all.scatter > kVoid && !together) {
    for (DelayEstimate& d : delays) d.reliable = false;
    findings.add(Severity::kNote, "delay",
                 fmt::format("{}: the joints say {:.1f} to {:.1f} ms", kUntold, 1e3 * all.smallest,
                             1e3 * all.largest),
                 FindingKind::kDelayUntold);
  } else if (std::abs(all.delay) <= 3.0 * all.error ||
             std::abs(all.delay) <= std::max(0.5 * t.median_step, kModelError)) {
    findings.add(Severity::kNote, "delay",
                 "torques and positions belong to the same times, as far as they tell: the best "
                 "delay is " +
                     found,
                 FindingKind::kSameTimes);
  } else if (2 * all.clear < all.count) {
    findings.add(Severity::kNote, "delay",
                 fmt::format("{}: the best one, {}, explains hardly more of the torques than none",
                             kUntold, found),
                 FindingKind::kDelayUntold);
  } else {
    // declared delays are whole samples
    const double step = t.duration / static_cast<double>(std::max<Index>(1, t.samples - 1));
    const double whole = step * std::max(1.0, std::round(std::abs(all.delay) / step));
    findings.add(
        std::abs(all.delay) > kBeyondUse ? Severity::kError : Severity::kWarning, "",
        fmt::format("torques come {:.2f} ms {} positions (standard error {:.2f} ms, from {} "
                    "joint{}); 'delay: {:.6g}' of the torques in robot.yaml, in whole samples, "
                    "undoes it",
                    1e3 * std::abs(all.delay), all.delay > 0.0 ? "after" : "before",
                    1e3 * all.error, all.count, all.count == 1 ? "" : "s",
                    all.delay > 0.0 ? whole : -whole),
        FindingKind::kDelay);
  }
}

}  // namespace

TimeStatistics timeStatistics(const VectorXd& time, Index samples) {
  constexpr double kGap = 2.5;
  TimeStatistics t;
  t.samples = samples;
  if (time.size() < 2) return t;
  t.duration = time[time.size() - 1] - time[0];
  std::vector<double> positive;
  for (Index i = 1; i < time.size(); ++i) {
    const double step = time[i] - time[i - 1];
    if (step > 0.0) {
      positive.push_back(step);
      if (step > t.longest_step) t.longest_step_at = i - 1;
      t.longest_step = std::max(t.longest_step, step);
      continue;
    }
    const bool repeated = step == 0.0;  // a NaN stamp counts as one that goes back
    Index& first = repeated ? t.first_repeated : t.first_reversed;
    if (first < 0) first = i;
    ++(repeated ? t.repeated : t.reversed);
  }
  if (positive.empty()) return t;
  t.restarts = static_cast<Index>(timeRestarts(time).size());
  t.median_step = median(positive);
  t.rate_hz = 1.0 / t.median_step;
  t.shortest_step = *std::min_element(positive.begin(), positive.end());
  double sum = 0.0, squares = 0.0, count = 0.0;
  for (const double step : positive) {
    if (step > kGap * t.median_step) {
      ++t.gaps;
      continue;
    }
    const double relative = step / t.median_step - 1.0;
    sum += relative;
    squares += relative * relative;
    count += 1.0;
  }
  if (count > 0.0)
    t.jitter = std::sqrt(std::max(0.0, squares / count - (sum / count) * (sum / count)));
  return t;
}

ChannelStatistics channelStatistics(const std::string& name,
                                    const Eigen::Ref<const VectorXd>& values) {
  ChannelStatistics s;
  s.name = name;
  std::vector<double> finite;
  finite.reserve(static_cast<size_t>(values.size()));
  for (Index i = 0, run = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i]))
      finite.push_back(values[i]);
    else if (s.first_missing < 0)
      s.first_missing = i;
    run = i > 0 && values[i] == values[i - 1] ? run + 1 : 1;
    if (run <= s.longest_frozen) continue;
    s.longest_frozen = run;
    s.frozen_at = i - run + 1;
  }
  s.missing = values.size() - static_cast<Index>(finite.size());
  if (finite.empty()) return s;
  const auto [smallest, largest] = std::minmax_element(finite.begin(), finite.end());
  s.smallest = *smallest;
  s.largest = *largest;
  double sum = 0.0, squares = 0.0;
  for (const double value : finite) sum += value;
  s.mean = sum / static_cast<double>(finite.size());
  for (const double value : finite) squares += (value - s.mean) * (value - s.mean);
  s.deviation = std::sqrt(squares / static_cast<double>(finite.size()));
  const double range = s.largest - s.smallest;
  if (!(range > 0.0) || !std::isfinite(range)) return s;
  s.step = quantisationStep(std::move(finite));
  s.at_largest = saturatedSamples(values, s.largest, 1.0, range, s.step);
  s.at_smallest = saturatedSamples(values, s.smallest, -1.0, range, s.step);
  findSpikes(values, range, s);
  return s;
}

Quality assessQuality(const Recording& recording, const std::shared_ptr<const Model>& model,
                      bool ordered) {
  requireValid(recording);
  Quality quality;
  Findings findings(recording);
  quality.time = timeStatistics(recording.time, recording.samples());
  if (ordered) judgeTime(quality.time, findings);
  for (size_t c = 0; c < recording.channels.size(); ++c) {
    quality.channels.push_back(
        channelStatistics(recording.channels[c].name, recording.values.col(static_cast<Index>(c))));
    if (!ordered) {
      quality.channels.back().spikes = 0;
      quality.channels.back().spike_rows.clear();
    }
    judgeChannel(recording.channels[c], quality.channels.back(), quality.time, findings);
  }
  for (size_t c = 0; c < recording.channels.size() && model; ++c) {
    const auto limits = farLimits(*model, recording.channels[c]);
    if (!limits) continue;
    const auto values = recording.values.col(static_cast<Index>(c)).array();
    quality.channels[c].beyond = (values > limits->upper || values < limits->lower).count();
    judgeLimits(recording.channels[c], quality.channels[c], quality.time, *model, findings);
  }
  if (model && ordered) judgeDrives(recording, *model, findings);
  for (const QualityFinding& finding :
       ordered ? judgeVelocities(recording) : std::vector<QualityFinding>())
    findings.add(finding.severity, finding.about, finding.sentence);
  if (ordered) quality.delays = estimateDelays(recording, model);
  judgeDelays(quality.delays, quality.time, findings);
  for (const std::string& note : recording.notes) findings.add(Severity::kNote, "", note);
  quality.findings = findings.sorted();
  return quality;
}

std::optional<FarLimits> farLimits(const Model& model, const Channel& channel) {
  const int joint = model.jointIndex(channel.of);
  if (channel.quantity != Quantity::kPosition || channel.side == Side::kMotor || joint < 0)
    return std::nullopt;
  const JointLimits& limits = model.joints[static_cast<size_t>(joint)].limits;
  const double range = limits.upper - limits.lower;
  if (!std::isfinite(range) || !(range > 0.0)) return std::nullopt;
  const double far = std::max(range, 2.0 * M_PI);
  return FarLimits{limits.lower - far, limits.upper + far};
}

Quality qualityOf(const Recording& recording, TimeStatistics time,
                  std::vector<ChannelStatistics> channels, const Model* model) {
  Recording untimed;  // its rows are not those of the statistics
  untimed.channels = recording.channels;
  Findings findings(untimed);
  judgeTime(time, findings);
  for (size_t c = 0; c < channels.size(); ++c)
    judgeChannel(recording.channels[c], channels[c], time, findings);
  for (size_t c = 0; c < channels.size() && model != nullptr; ++c)
    judgeLimits(recording.channels[c], channels[c], time, *model, findings);
  for (const std::string& note : recording.notes) findings.add(Severity::kNote, "", note);
  Quality quality;
  quality.time = time;
  quality.channels = std::move(channels);
  quality.findings = findings.sorted();
  return quality;
}

}  // namespace proprio
