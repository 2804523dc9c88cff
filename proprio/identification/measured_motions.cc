#include "proprio/identification/measured_motions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "proprio/core/atomic_file.h"
#include "proprio/core/sha256.h"
#include "proprio/core/text.h"
#include "proprio/identification/sensed_wrenches.h"
#include "proprio/recording/cut.h"
#include "proprio/recording/signal_map.h"
#include "proprio/recording/signal_names.h"
#include "proprio/recording/turns.h"
#include "proprio/signal/recording_filter.h"
#include "proprio/signal/row_order.h"

namespace proprio {
namespace {

/// Periods of the cut-off over which a low-pass spreads a sample to either side.
constexpr double kFilterReach = 0.5;
/// A torque that has one and the same value in more of its samples than this is not a measurement.
constexpr double kMostlyTheSame = 0.5;
/// Steps longer than this many median steps, and than this time, are gaps, which nothing bridges.
constexpr double kGapSteps = 5.0, kGapSeconds = 0.02;
/// Rad (m) from one sample to the next, and times the steps beside it, at which a position jumps;
/// how often it may.
constexpr double kJump = 0.05, kJumpSteps = 20.0;
constexpr size_t kMostJumps = 20;
/// Rows in which nothing moves, and times the usual step after them: a recorder that hung.
constexpr Eigen::Index kFrozenRows = 10;
constexpr double kFrozenJump = 3.0;
/// Shorter stretches between gaps or jumps are left out.
constexpr Eigen::Index kShortStretch = 100;
/// Fewer are no recording.
constexpr Eigen::Index kFewestSamples = 10;

/// Share of the samples that have the most frequent value; those that are missing count as none.
double shareOfOneValue(Eigen::VectorXd values) {
  const auto known = std::partition(values.begin(), values.end(),
                                    [](double value) { return std::isfinite(value); });
  std::sort(values.begin(), known);
  Eigen::Index most = 0, run = 0;
  for (auto value = values.begin(); value != known; ++value) {
    run = value != values.begin() && *value == *(value - 1) ? run + 1 : 1;
    most = std::max(most, run);
  }
  return most > 0 ? static_cast<double>(most) / static_cast<double>(values.size()) : 1.0;
}

/// Spikes that were found become the line through the samples beside them: a low-pass would smear
/// them over many rows, in which no robust weight finds them again.
void removeSpikes(const Quality& quality, Recording* recording, std::vector<std::string>* told) {
  for (const ChannelStatistics& channel : quality.channels) {
    const int column = recording->column(channel.name);
    if (channel.spikes == 0 || column < 0) continue;
    auto values = recording->values.col(column);
    for (size_t first = 0, next = 0; first < channel.spike_rows.size(); first = next) {
      const Eigen::Index before = channel.spike_rows[first] - 1;
      for (next = first + 1; next < channel.spike_rows.size(); ++next)
        if (channel.spike_rows[next] != channel.spike_rows[next - 1] + 1) break;
      const Eigen::Index after = channel.spike_rows[next - 1] + 1;
      const bool head = before < 0, tail = after >= values.size();
      const double slope =
          head   ? values[after + 1] - values[after]
          : tail ? values[before] - values[before - 1]
                 : (values[after] - values[before]) / static_cast<double>(after - before);
      const Eigen::Index from = head ? after : before;
      for (Eigen::Index row = before + 1; row < after; ++row)
        values[row] = values[from] + slope * static_cast<double>(row - from);
    }
    told->push_back(fmt::format("{} spike{} of {} became the line through the samples beside",
                                channel.spikes, channel.spikes == 1 ? "" : "s", channel.name));
  }
}

/// No motor: the description allows this joint no effort, and others some (0 for all is what
/// exporters write who do not know). Its torque is zero, which is as good as measured.
bool isPassive(const Model& model, const std::string& joint) {
  const auto effort = [&](const std::string& name) {
    return model.joints[static_cast<size_t>(requireJoint(model, name))].limits.effort;
  };
  const std::vector<std::string> joints = signalJoints(model);
  return effort(joint) == 0.0 &&
         std::any_of(joints.begin(), joints.end(),
                     [&](const std::string& name) { return effort(name) > 0.0; });
}

/// "; 6 of 12 channels were left out: pose_1 ...", which may be what is missed.
std::string channelsLeftOut(const Recording& recording) {
  std::string left_out;
  for (const std::string& note : recording.notes) {
    const size_t at = note.find("were left out: ");
    if (at != std::string::npos) left_out += "; " + note.substr(note.rfind(": ", at) + 2);
    if (note.find("were ignored: ") != std::string::npos) left_out += "; " + note;
  }
  return left_out;
}

/// Joints whose torque is not recorded, or is no measurement: their channel is (made) zero.
std::vector<std::string> silentTorques(const Model& model, Recording* recording,
                                       std::vector<std::string>* told) {
  std::vector<std::string> silent;
  bool recorded = false;
  for (const std::string& joint : signalJoints(model)) {
    const int column = recording->column(Quantity::kTorque, Role::kMeasured, joint);
    recorded = recorded || column >= 0;
    if (column < 0) {
      Channel channel = channelNamed(signalName(Quantity::kTorque, Role::kMeasured, joint));
      recording->channels.push_back(channel);
      recording->values.conservativeResize(Eigen::NoChange, recording->values.cols() + 1);
      recording->values.rightCols(1).setZero();
      if (isPassive(model, joint)) {
        told->push_back(fmt::format(
            "joint '{}' has no motor (its limit of effort is 0): its torque is taken as zero",
            joint));
        continue;
      }
      silent.push_back(joint);
      told->push_back(
          fmt::format("joint '{}' has no torque in this recording: its rows are not used", joint));
      continue;
    }
    const double share = shareOfOneValue(recording->values.col(column));
    const bool zero = (recording->values.col(column).array() == 0.0).all();
    if (share <= kMostlyTheSame || (zero && isPassive(model, joint))) continue;
    silent.push_back(joint);
    told->push_back(fmt::format(
        "the torque of joint '{}' has one and the same value in {:.0f} % of its samples: "
        "it measures nothing, and its rows are not used",
        joint, 100.0 * share));
  }
  if (silent.size() == signalJoints(model).size() && !hasSensedWrenches(model))
    throw Error(fmt::format(
        "{}: there is no torque (nor current) of any joint{}; {}", recording->source,
        channelsLeftOut(*recording),
        recorded ? told->back()
                 : "if torques are in a file of their own, give the folder that holds both; if a "
                   "channel has them, declare it in a robot.yaml, 'recording: {signals: "
                   "[{quantity: position, channels: ...}, {quantity: torque, channels: ...}]}'"));
  return silent;
}

/// Many controllers record what they command and no more. Where no joint has a measured torque or
/// current, commanded torques stand in for them.
void takeCommandedTorques(Recording* recording) {
  const auto isEffort = [](const Channel& channel, Role role) {
    return channel.role == role &&
           (channel.quantity == Quantity::kTorque ||
            (role == Role::kMeasured && channel.quantity == Quantity::kCurrent));
  };
  std::vector<Channel>& channels = recording->channels;
  if (std::any_of(channels.begin(), channels.end(),
                  [&](const Channel& channel) { return isEffort(channel, Role::kMeasured); }))
    return;
  std::vector<std::string> joints;
  for (Channel& channel : channels) {
    if (!isEffort(channel, Role::kCommanded)) continue;
    joints.push_back(inQuotes(channel.of));
    channel.role = Role::kMeasured;
    channel.name = signalName(channel.quantity, channel.role, channel.of);
  }
  if (!joints.empty())
    recording->notes.push_back(
        fmt::format("no torque is measured: those that were commanded are taken for {}",
                    fmt::join(joints, ", ")));
}

/// Without a position of any joint there is no motion. What was left out may be it.
void requirePositions(const Model& model, const Recording& recording) {
  const std::vector<std::string> joints = signalJoints(model);
  const bool found =
      std::any_of(recording.channels.begin(), recording.channels.end(), [](const Channel& channel) {
        return channel.quantity == Quantity::kPosition && channel.role == Role::kMeasured;
      });
  if (found || joints.empty()) return;
  throw Error(fmt::format(
      "{}: nothing in it is the measured position of a joint, expected channels such as q_{} or "
      "q1{}; declare in a robot.yaml which they are, 'recording: {{signals: [{{quantity: position, "
      "channels: ...}}, {{quantity: torque, channels: ...}}]}}'",
      recording.source, joints[0], channelsLeftOut(recording)));
}

/// Currents are torques only through a gain; one without a declared gain is no measurement of any.
void requireGains(const Model& model, const Recording& recording) {
  std::vector<std::string> joints;
  for (const Channel& channel : recording.channels) {
    if (channel.quantity != Quantity::kCurrent || channel.role != Role::kMeasured) continue;
    const int joint = model.jointIndex(channel.of);
    if (joint < 0 || model.joints[static_cast<size_t>(joint)].drive.gain_declared) continue;
    const int torque = recording.column(Quantity::kTorque, Role::kMeasured, channel.of);
    const bool derived =
        torque >= 0 && recording.channels[static_cast<size_t>(torque)].origin.starts_with(
                           channel.origin + " times the gain ");
    if (torque < 0 || derived) joints.push_back(inQuotes(channel.of));
  }
  if (joints.empty()) return;
  throw Error(fmt::format(
      "{}: currents are recorded for {}, and no gain says which torque they make; declare 'drive: "
      "{{gain: ...}}' (N m at the joint per ampere) for each of these joints in robot.yaml, find "
      "them with 'proprio gains' from a recording with a known payload, or declare 'gain: 1' if "
      "the channel is a torque already",
      recording.source, fmt::join(joints, ", ")));
}

/// Torques at the end of their range are not those that acted: rows that they reach through the
/// filter do not count.
void leaveOutClipped(const Quality& quality, const Recording& stretch, const Tree& tree,
                     const JointSignals& signals, MotionData* motion,
                     std::vector<std::string>* told) {
  double cutoff = 0.0;
  for (const CutoffChoice& choice : signals.cutoffs) cutoff = std::max(cutoff, choice.cutoff_hz);
  const double reach = cutoff > 0.0 ? kFilterReach / cutoff : 0.5 / signals.recorded_rate_hz;
  for (const std::string& joint : signals.joints) {
    const int column = stretch.column(Quantity::kTorque, Role::kMeasured, joint);
    const int i = tree.velocityIndex(requireJoint(tree.model(), joint));
    if (column < 0 || i < 0 || !motion->use.col(i).any()) continue;
    const std::string& name = stretch.channels[static_cast<size_t>(column)].name;
    const auto channel =
        std::find_if(quality.channels.begin(), quality.channels.end(),
                     [&](const ChannelStatistics& other) { return other.name == name; });
    if (channel == quality.channels.end() || channel->at_smallest + channel->at_largest == 0)
      continue;
    const auto clipped = [&](double value) {
      return (channel->at_largest > 0 && value >= channel->largest) ||
             (channel->at_smallest > 0 && value <= channel->smallest);
    };
    const Eigen::Index before = motion->use.col(i).count();
    Eigen::Index row = 0;
    const bool stamped = stretch.time.size() == stretch.samples();
    for (Eigen::Index k = 0; k < stretch.samples(); ++k) {
      if (!clipped(stretch.values(k, column))) continue;
      const double time =
          stamped ? stretch.time[k] : static_cast<double>(k) / signals.recorded_rate_hz;
      while (row < motion->samples() && motion->time[row] < time - reach) ++row;
      for (; row < motion->samples() && motion->time[row] <= time + reach; ++row) {
        motion->use(row, i) = false;
        if (motion->mixed.cols() > 0) motion->mixed(row, i) = false;
      }
    }
    const Eigen::Index after = motion->use.col(i).count();
    told->push_back(fmt::format(
        "the torque of joint '{}' is at the end of its range: {} of {} rows are left out", joint,
        before - after, before));
  }
}

/// Rows after which a position is somewhere else, as where two recordings were put into one file.
std::vector<Eigen::Index> jumpsOf(const Recording& recording) {
  std::vector<Eigen::Index> jumps;
  for (size_t c = 0; c < recording.channels.size(); ++c) {
    const Channel& channel = recording.channels[c];
    if (channel.quantity != Quantity::kPosition || channel.role != Role::kMeasured) continue;
    const auto q = recording.values.col(static_cast<Eigen::Index>(c));
    for (Eigen::Index k = 1; k + 2 < q.size(); ++k) {
      const double step = std::abs(q[k + 1] - q[k]);
      const double beside = std::max(std::abs(q[k] - q[k - 1]), std::abs(q[k + 2] - q[k + 1]));
      if (step > kJump && step > kJumpSteps * beside) jumps.push_back(k + 1);
    }
  }
  std::sort(jumps.begin(), jumps.end());
  jumps.erase(std::unique(jumps.begin(), jumps.end()), jumps.end());
  return jumps;
}

/// The parts between jumps of positions; a signal that jumps all the time is left alone.
std::vector<Recording> splitAtJumps(const Recording& recording, std::vector<std::string>* told) {
  std::vector<Eigen::Index> starts = jumpsOf(recording);
  if (starts.empty() || starts.size() > kMostJumps) return {recording};
  told->push_back(fmt::format(
      "positions jump before row {}: the recording is split there{}", starts[0] + 1,
      starts.size() > 1 ? fmt::format(" and at {} more places", starts.size() - 1) : ""));
  starts.insert(starts.begin(), 0);
  starts.push_back(recording.samples());
  std::vector<Recording> parts;
  for (size_t k = 0; k + 1 < starts.size(); ++k) {
    const Eigen::Index count = starts[k + 1] - starts[k];
    if (count < kFewestSamples) continue;
    parts.push_back(cutByRows(recording, starts[k], count));
  }
  return parts;
}

/// Rows from `first` to before `end`.
struct RowRange {
  Eigen::Index first, end;
};

/// Rows in which no position changes at all, although the next one is somewhere else: the recorder
/// hung while the robot went on.
std::vector<RowRange> frozenRows(const Recording& recording) {
  std::vector<Eigen::Index> columns;
  for (size_t c = 0; c < recording.channels.size(); ++c) {
    const Channel& channel = recording.channels[c];
    if (channel.quantity == Quantity::kPosition && channel.role == Role::kMeasured)
      columns.push_back(static_cast<Eigen::Index>(c));
  }
  const Eigen::MatrixXd q = recording.values(Eigen::all, columns);
  std::vector<RowRange> frozen;
  if (q.cols() == 0 || q.rows() < kFewestSamples) return frozen;
  const Eigen::MatrixXd steps = (q.bottomRows(q.rows() - 1) - q.topRows(q.rows() - 1)).cwiseAbs();
  Eigen::VectorXd usual(q.cols());
  for (Eigen::Index j = 0; j < q.cols(); ++j) {
    std::vector<double> moved;
    for (const double step : steps.col(j))
      if (step > 0.0) moved.push_back(step);
    if (moved.empty()) moved.push_back(std::numeric_limits<double>::infinity());
    const auto place = moved.begin() + std::ssize(moved) * 9 / 10;
    std::nth_element(moved.begin(), place, moved.end());
    usual[j] = *place;
  }
  for (Eigen::Index k = 0, run = 0; k < steps.rows(); ++k) {
    if ((steps.row(k).array() == 0.0).all()) {
      ++run;
      continue;
    }
    const double jump = (steps.row(k).transpose().array() / usual.array()).maxCoeff();
    if (run >= kFrozenRows && jump > kFrozenJump) frozen.push_back({k - run + 1, k + 1});
    run = 0;
  }
  return frozen;
}

/// The parts between rows that a recorder repeated; where it repeats all the time they stay.
std::vector<Recording> withoutFrozen(const Recording& recording, std::vector<std::string>* told) {
  const std::vector<RowRange> frozen = frozenRows(recording);
  if (frozen.empty() || frozen.size() > kMostJumps) return {recording};
  std::vector<Recording> parts;
  Eigen::Index from = 0;
  for (const RowRange& rows : frozen) {
    if (rows.first - from >= kFewestSamples)
      parts.push_back(cutByRows(recording, from, rows.first - from));
    from = rows.end;
    told->push_back(fmt::format(
        "no position changes in rows {} to {}, and the next one is somewhere else: the recorder "
        "repeated what it had, and these rows are left out",
        rows.first + 1, rows.end));
  }
  if (recording.samples() - from >= kFewestSamples)
    parts.push_back(cutByRows(recording, from, recording.samples() - from));
  return parts.empty() ? std::vector<Recording>{recording} : parts;
}

/// On a uniform time base: as it is, or resampled and split at gaps.
std::vector<Recording> uniformStretches(const Recording& recording,
                                        const JointSignalOptions& options,
                                        std::vector<std::string>* told) {
  if (recording.time.size() == 0 || options.resample) return {recording};
  ResampleOptions resampling;
  const TimeStatistics stamps = timeStatistics(recording.time, recording.samples());
  if (stamps.repeated > 0 && stamps.reversed == 0) {
    resampling.merge_repeated = true;
    resampling.max_gap = std::max(kGapSteps * stamps.median_step, kGapSeconds);
    resampling.gaps = GapPolicy::kSplit;
    told->push_back(fmt::format(
        "{} rows have the time stamp of the row before: rows of one stamp became their mean, and "
        "all was resampled (makima)",
        stamps.repeated));
    return resampleRecording(recording, resampling);
  }
  const Sampling sampling = analyseSampling(recording.time);
  if (sampling.uniform) return {recording};
  resampling.max_gap = std::max(kGapSteps * sampling.step, kGapSeconds);
  resampling.gaps = GapPolicy::kSplit;
  std::vector<Recording> stretches = resampleRecording(recording, resampling);
  told->push_back(fmt::format(
      "the time stamps jitter by up to {:.0f} %: resampled at {:.6g} Hz (makima){}",
      100.0 * sampling.jitter, 1.0 / sampling.step,
      stretches.size() > 1 ? fmt::format(" and split into {} stretches at gaps", stretches.size())
                           : ""));
  return stretches;
}

/// The measured columns of one quantity, or none if a joint lacks it.
Eigen::MatrixXd measuredColumns(const Recording& recording, const std::vector<std::string>& joints,
                                Quantity quantity) {
  std::vector<int> columns;
  for (const std::string& joint : joints) {
    const int column = recording.column(quantity, Role::kMeasured, joint);
    if (column < 0 || !recording.values.col(column).allFinite()) return {};
    columns.push_back(column);
  }
  return recording.values(Eigen::all, columns);
}

/// Rows that are not one step of time apart, in a log whose time is counted (stamps that a clock
/// has set tell it themselves): states of their own if accelerations are recorded, else an error.
/// So are rows of which neither a stamp nor a rate tells the time.
bool areStates(const Recording& recording, const JointSignalOptions& signals,
               std::vector<QualityFinding>* findings) {
  const std::vector<std::string>& joints = signals.joints;
  constexpr double kCounted = 1e-6;  // jitter of stamps that are multiples of a period
  if (recording.time.size() > 1 && timeRestarts(recording.time).empty()) {
    const TimeStatistics stamps = timeStatistics(recording.time, recording.samples());
    if (stamps.repeated > 0 || stamps.reversed > 0) return false;
    if (analyseSampling(recording.time).jitter > kCounted) return false;
  }
  const Eigen::MatrixXd q = measuredColumns(recording, joints, Quantity::kPosition);
  if (q.cols() == 0) return false;
  const Eigen::MatrixXd v = measuredColumns(recording, joints, Quantity::kVelocity);
  const bool states =
      v.cols() > 0 && measuredColumns(recording, joints, Quantity::kAcceleration).cols() > 0;
  const bool timeless = recording.time.size() == 0 && signals.rate_hz <= 0.0;
  const RowOrder order = rowOrder(q, v);
  if (!order.shuffled && !order.gaps() && !(timeless && states)) return false;
  const std::string found =
      order.shuffled ? "its rows are in no order of time: neighbours are as different as any two"
      : order.gaps()
          ? fmt::format(
                "rows are missing: positions and velocities say that {:.0f} % of the steps "
                "are longer or shorter than the others",
                100.0 * static_cast<double>(order.unequal) / static_cast<double>(order.judged))
          : "there are neither time stamps nor a rate (--rate)";
  findings->push_back(
      {states ? Severity::kWarning : Severity::kError, "",
       found + (states ? "; every row is taken as a state of its own, with the recorded velocity "
                         "and acceleration"
                       : ", so that nothing can be differentiated; give the time of every row, or "
                         "velocities and accelerations")});
  return states;
}

/// Parts of a recording with a uniform time base and without jumps.
std::vector<Recording> stretchesOf(const Recording& recording, const JointSignalOptions& signals,
                                   std::vector<std::string>* told) {
  std::vector<Recording> stretches;
  const std::vector<Recording> runs = splitAtRestarts(recording);
  if (runs.size() > 1)
    told->push_back(fmt::format("the time starts again at row {}: the recording is split into {}",
                                runs[0].samples() + 1, runs.size()));
  for (const Recording& run : runs) {
    for (const Recording& moving : withoutFrozen(run, told)) {
      for (const Recording& part : splitAtJumps(moving, told)) {
        for (Recording& stretch : uniformStretches(part, signals, told))
          stretches.push_back(std::move(stretch));
      }
    }
  }
  return stretches;
}

/// Stretches from which no filter could be chosen, beside longer ones.
void leaveOutShort(std::vector<Recording>* stretches, std::vector<std::string>* told) {
  const auto is_short = [](const Recording& part) { return part.samples() < kShortStretch; };
  const auto count = std::count_if(stretches->begin(), stretches->end(), is_short);
  if (count == 0 || count == static_cast<std::ptrdiff_t>(stretches->size())) return;
  std::erase_if(*stretches, is_short);
  told->push_back(fmt::format("{} stretch{} of fewer than {} samples {} left out", count,
                              count == 1 ? "" : "es", kShortStretch, count == 1 ? "is" : "are"));
}

}  // namespace

std::string fingerprint(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (fs::is_regular_file(path, ignored)) return sha256(readFile(path, size_t{1} << 34));
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, ignored)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  if (files.empty()) return "";
  std::sort(files.begin(), files.end());
  std::string lines;
  for (const fs::path& file : files)
    lines += fingerprint(file.string()) + "  " + file.filename().string() + "\n";
  return sha256(lines);
}

Recording readMeasurements(const Model& model, const std::string& path,
                           const RecordingOptions& options) {
  Recording recording = readRobotRecording(model, path, options);
  takeCommandedTorques(&recording);
  requirePositions(model, recording);
  requireGains(model, recording);
  restoreTurns(model, &recording);
  std::vector<Eigen::Index> columns, rows;
  std::vector<Channel> channels;
  const auto needed = [](const Channel& channel) {
    return channel.role == Role::kMeasured &&
           (channel.quantity == Quantity::kPosition || channel.quantity == Quantity::kTorque);
  };
  for (Eigen::Index c = 0; c < recording.values.cols(); ++c) {
    const Channel& channel = recording.channels[static_cast<size_t>(c)];
    if (needed(channel) && recording.samples() > 0 &&
        !recording.values.col(c).array().isFinite().any()) {
      recording.notes.push_back(channel.name + " has no value at all and was left out");
      continue;
    }
    columns.push_back(c);
    channels.push_back(channel);
  }
  for (Eigen::Index r = 0; r < recording.samples(); ++r) {
    bool whole_row = true;
    for (size_t c = 0; c < columns.size() && whole_row; ++c)
      whole_row = !needed(channels[c]) || std::isfinite(recording.values(r, columns[c]));
    if (whole_row) rows.push_back(r);
  }
  const auto missing = recording.samples() - static_cast<Eigen::Index>(rows.size());
  const bool stamped = recording.time.size() > 0;  // else nothing tells where a row is missing
  if (missing > 0 && stamped)
    recording.notes.push_back(fmt::format(
        "{} of {} rows lack a position or torque and were left out", missing, recording.samples()));
  if (columns.size() < recording.channels.size()) {
    recording.values = Eigen::MatrixXd(recording.values(Eigen::all, columns));
    recording.channels = std::move(channels);
  }
  if (missing > 0 && stamped) {
    recording.values = Eigen::MatrixXd(recording.values(rows, Eigen::all));
    recording.time = Eigen::VectorXd(recording.time(rows));
  }
  if (recording.samples() < kFewestSamples)
    throw Error(
        fmt::format("{}: there are {} samples with positions and torques; expected {} and "
                    "more, some seconds of motion",
                    path, recording.samples(), kFewestSamples));
  return recording;
}

Model withRecordedJoints(const Model& model, const std::vector<Recording>& recordings,
                         std::vector<std::string>* told) {
  std::vector<JointValue> held;
  for (const std::string& name : signalJoints(model)) {
    const bool recorded =
        std::any_of(recordings.begin(), recordings.end(), [&](const Recording& recording) {
          return recording.column(Quantity::kPosition, Role::kMeasured, name) >= 0;
        });
    if (recorded) continue;
    const JointLimits& limits = model.joints[static_cast<size_t>(requireJoint(model, name))].limits;
    const double at =
        limits.upper > limits.lower ? std::clamp(0.0, limits.lower, limits.upper) : 0.0;
    held.push_back({name, at});
  }
  if (held.size() == 1) {
    told->push_back(fmt::format("joint '{}' is not recorded: it is held at {:g}", held[0].joint,
                                held[0].position));
  } else if (!held.empty()) {
    std::vector<std::string> joints;
    for (const JointValue& one : held)
      joints.push_back(one.position == 0.0 ? fmt::format("'{}'", one.joint)
                                           : fmt::format("'{}' ({:g})", one.joint, one.position));
    told->push_back(
        fmt::format("joints {} are not recorded: they are held at 0, or where a number says",
                    fmt::join(joints, ", ")));
  }
  const bool all = held.size() == signalJoints(model).size();  // for a better message than this one
  for (const Joint& joint : model.joints) {
    if (all || joint.sensed || joint.mimic || velocityCount(joint.type) < 2) continue;
    held.push_back({joint.name, 0.0});
    told->push_back(fmt::format(
        "joint '{}' has {} coordinates, which no recording states: it is held at its neutral "
        "position and must not have moved; 'exclude: [{}]' in robot.yaml holds it in 'simulate' "
        "too",
        joint.name, velocityCount(joint.type), joint.name));
  }
  return held.empty() || all ? model : lumpFixedJoints(lockJoints(model, held));
}

std::vector<MotionData> motionsOf(const Tree& tree, Recording recording, const std::string& path,
                                  JointSignalOptions signals, const MeasurementOptions& options,
                                  RecordingInfo* info) {
  const Model& model = tree.model();
  info->path = path;
  info->sha256 = fingerprint(path);
  if (signals.joints.empty()) signals.joints = signalJoints(model);
  if (recording.time.size() == 0 && signals.rate_hz > 0.0)
    recording.time = Eigen::VectorXd::LinSpaced(
        recording.samples(), 0.0, static_cast<double>(recording.samples() - 1) / signals.rate_hz);
  signals.as_recorded = signals.as_recorded || signals.at_rest;
  info->quality = assessQuality(recording, tree.sharedModel(), !signals.as_recorded);
  if (!signals.as_recorded) {
    // spikes are no disorder of the rows, and where there is none they are no spikes
    Recording clean = recording;
    std::vector<std::string> removed;
    removeSpikes(info->quality, &clean, &removed);
    std::vector<QualityFinding> order;
    std::vector<std::string> ignored;
    const std::vector<Recording> parts = withoutFrozen(clean, &ignored);
    const auto longest = std::max_element(
        parts.begin(), parts.end(),
        [](const Recording& a, const Recording& b) { return a.samples() < b.samples(); });
    signals.as_recorded = areStates(*longest, signals, &order);
    if (signals.as_recorded) {
      info->quality = assessQuality(recording, tree.sharedModel(), false);
    } else if (!options.keep_spikes) {
      recording = std::move(clean);
      info->steps.insert(info->steps.end(), removed.begin(), removed.end());
    }
    info->quality.findings.insert(info->quality.findings.begin(), order.begin(), order.end());
  }
  const std::vector<std::string> silent = silentTorques(model, &recording, &info->steps);
  signals.channels = sensedChannels(model);
  std::vector<MotionData> motions;
  std::vector<std::string> repeated;  // what the first stretch has told already
  std::vector<Recording> stretches = signals.as_recorded
                                         ? std::vector<Recording>{recording}
                                         : stretchesOf(recording, signals, &info->steps);
  leaveOutShort(&stretches, &info->steps);
  for (const Recording& stretch : stretches) {
    const JointSignals joint_signals = jointSignals(stretch, signals);
    MotionData motion = motionData(tree, joint_signals);
    for (const std::string& joint : silent) {
      const int i = tree.velocityIndex(requireJoint(model, joint));
      motion.use.col(i).setConstant(false);
      if (motion.mixed.cols() > 0) motion.mixed.col(i).setConstant(false);
    }
    addSensedWrenches(tree, joint_signals, options.touching, &motion,
                      motions.empty() ? &info->steps : &repeated);
    leaveOutClipped(info->quality, stretch, tree, joint_signals, &motion, &info->steps);
    if (!signals.as_recorded) attachReference(tree, stretch, &motion);
    motion.name = std::filesystem::path(path).filename().string();
    if (!partOf(stretch).empty()) motion.name += " (" + partOf(stretch) + ")";
    if (motions.empty()) {
      info->steps.insert(info->steps.end(), joint_signals.steps.begin(), joint_signals.steps.end());
    }
    info->recorded_rate_hz = joint_signals.recorded_rate_hz;
    info->rate_hz = joint_signals.rate_hz;
    info->samples += motion.samples();
    motions.push_back(std::move(motion));
  }
  return motions;
}

}  // namespace proprio
