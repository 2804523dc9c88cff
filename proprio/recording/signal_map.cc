#include "proprio/recording/signal_map.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "proprio/core/text.h"
#include "proprio/numerics/dense.h"
#include "proprio/recording/signal_names.h"
#include "proprio/recording/signal_select_internal.h"
#include "proprio/recording/units.h"

namespace proprio {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kUnmeasured = std::numeric_limits<double>::quiet_NaN();

Error quantityError(const SignalDeclaration& signal, const std::string& sentence) {
  return errorAt(signal.location, fmt::format("signal {}: {}", signal.quantity, sentence));
}

// ---- time ----

VectorXd stampsIn(const Recording& recording, const TimeDeclaration& time,
                  const FileLocation& location) {
  if (time.channel.empty() && recording.time.size() > 0) return recording.time;
  if (time.channel.empty() && recording.channels.size() != 1) {
    throw errorAt(location, fmt::format("recording.time: {} has {} channels; name one of them with "
                                        "`channel`",
                                        placeOf(recording), recording.channels.size()));
  }
  const Index column = time.channel.empty() ? 0 : columnOf(recording, time.channel);
  if (column < 0) return {};
  const std::string& stated = recording.channels[static_cast<size_t>(column)].unit;
  const std::string unit = !time.unit.empty() ? time.unit : stated.empty() ? "s" : stated;
  return requireUnit(unit, "s", "recording.time").factor * recording.values.col(column);
}

// The time stamps of every part of the log; empty where there are none.
std::vector<VectorXd> stampsOf(const Model& model, const std::vector<Recording>& raw) {
  std::vector<VectorXd> stamps;
  for (const Recording& recording : raw) stamps.push_back(recording.time);
  if (!model.recording) return stamps;
  const RecordingDeclaration& declared = *model.recording;
  const TimeDeclaration& time = declared.time;
  const bool elsewhere = !time.file.empty() || !time.topic.empty();
  if (elsewhere) {
    const auto part = std::find_if(raw.begin(), raw.end(), [&](const Recording& recording) {
      return isAt(recording, time.file, time.topic);
    });
    const VectorXd found =
        part == raw.end() ? VectorXd() : stampsIn(*part, time, declared.location);
    if (found.size() == 0) {
      throw errorAt(
          declared.location,
          fmt::format("recording.time: the log has no time stamps {}{}{}", inQuotes(time.channel),
                      time.file.empty() ? "" : " in file ", time.file));
    }
    for (size_t i = 0; i < raw.size(); ++i) {
      if (&raw[i] == &*part || stamps[i].size() > 0) continue;
      if (raw[i].samples() != found.size()) {
        throw Error(fmt::format("{}: has {} samples, but there are {} time stamps in {}",
                                placeOf(raw[i]), raw[i].samples(), found.size(), placeOf(*part)));
      }
      stamps[i] = found;
    }
  } else if (time.channel.empty() && !time.unit.empty()) {
    // in another unit than the file states, or than was believed
    for (size_t i = 0; i < raw.size(); ++i) {
      const std::string read_as = raw[i].time_unit.empty() ? "s" : raw[i].time_unit;
      if (read_as != time.unit)
        stamps[i] *= findUnit(time.unit)->factor / findUnit(read_as)->factor;
    }
  } else if (!time.channel.empty()) {
    for (size_t i = 0; i < raw.size(); ++i) {
      const VectorXd found = stampsIn(raw[i], time, declared.location);
      if (found.size() > 0) stamps[i] = found;
    }
  }
  for (size_t i = 0; i < raw.size() && declared.rate_hz > 0.0; ++i) {
    if (stamps[i].size() == 0 && raw[i].samples() > 0) {
      stamps[i] =
          VectorXd::LinSpaced(raw[i].samples(), 0.0, static_cast<double>(raw[i].samples() - 1)) /
          declared.rate_hz;
    }
  }
  return stamps;
}

// ---- streams of other time stamps ----

// Values at times that are not its own. `stamps` must grow; NaN where nothing is near enough.
MatrixXd valuesAt(const VectorXd& times, const VectorXd& stamps, const MatrixXd& values,
                  const JoinDeclaration& join) {
  MatrixXd out = MatrixXd::Constant(times.size(), values.cols(), kUnmeasured);
  if (stamps.size() == 0) return out;
  Index next = 0;
  for (Index i = 0; i < times.size(); ++i) {
    const double t = times[i];
    if (next > 0 && stamps[next - 1] > t) next = 0;  // the times go back
    while (next < stamps.size() && stamps[next] < t) ++next;
    // stamps[next - 1] < t <= stamps[next], where they exist
    const double after = next < stamps.size() ? stamps[next] - t : kUnmeasured;
    const double before = next > 0 ? t - stamps[next - 1] : kUnmeasured;
    if (join.method == "linear") {
      if (after == 0.0) {
        out.row(i) = values.row(next);
      } else if (after <= join.limit && before <= join.limit) {
        const double s = before / (before + after);
        out.row(i) = (1.0 - s) * values.row(next - 1) + s * values.row(next);
      }
    } else {
      const bool later = !(before <= after);
      if ((later ? after : before) <= join.limit) out.row(i) = values.row(later ? next : next - 1);
    }
  }
  return out;
}

bool identical(const VectorXd& a, const VectorXd& b) { return a.size() == b.size() && a == b; }

void requireGrowing(const VectorXd& stamps, const Recording& recording) {
  for (Index i = 1; i < stamps.size(); ++i) {
    if (stamps[i] > stamps[i - 1]) continue;
    throw Error(
        fmt::format("{}: time stamp {} ({} s) does not come after the one before ({} s); "
                    "such a stream cannot be joined with others",
                    placeOf(recording), i + 1, stamps[i], stamps[i - 1]));
  }
}

// Collects the signals over the time base of the first one.
class Collector {
 public:
  Collector(const Model& model, const std::vector<Recording>& raw, size_t base)
      : raw_(raw), stamps_(stampsOf(model, raw)), base_(base) {
    if (model.recording) join_ = model.recording->join;
    time_ = stamps_[base];
    rows_ = raw[base].samples();
  }

  void scaleTime(double factor) {
    if (factor == 1.0) return;
    time_ *= factor;
    for (VectorXd& stamps : stamps_) stamps *= factor;
  }

  const VectorXd& time() const { return time_; }
  Index rows() const { return rows_; }
  Index cutBegin() const { return cut_begin_; }
  Index cutEnd() const { return cut_end_; }

  // Does the selection need a declared join?
  bool sameTime(size_t recording) const {
    if (recording == base_) return true;
    if (time_.size() == 0 && stamps_[recording].size() == 0)
      return raw_[recording].samples() == rows_;
    return identical(stamps_[recording], time_);
  }

  MatrixXd values(const Selection& s, std::vector<std::string>& notes) {
    const Recording& recording = raw_[s.recording];
    MatrixXd values(recording.samples(), static_cast<Index>(s.from.size()));
    for (size_t c = 0; c < s.from.size(); ++c)
      values.col(static_cast<Index>(c)) = recording.values.col(s.from[c]);
    const double delay = s.declaration.delay;
    if (sameTime(s.recording) && (delay == 0.0 || join_.method != "linear"))
      return shifted(std::move(values), s);
    if (join_.method.empty()) refuseJoin(s);
    const VectorXd& stamps = stamps_[s.recording];
    if (stamps.size() == 0 || time_.size() == 0)
      throw quantityError(s.declaration,
                          "a stream without time stamps cannot be joined with others");
    requireGrowing(stamps, recording);
    MatrixXd joined = valuesAt((time_.array() + delay).matrix(), stamps, values, join_);
    const Index missing = joined.col(0).array().isNaN().count();
    if (missing > 0) {
      notes.push_back(
          fmt::format("{} of {} samples of {} have no partner within {} s and are "
                      "missing",
                      missing, rows_, s.declaration.quantity, join_.limit));
    }
    return joined;
  }

 private:
  [[noreturn]] void refuseJoin(const Selection& s) const {
    const VectorXd& other = stamps_[s.recording];
    std::string difference = fmt::format("{} and {} samples", raw_[s.recording].samples(), rows_);
    if (other.size() == time_.size() && other.size() > 0) {
      Index first = 0;
      while (first + 1 < other.size() && other[first] == time_[first]) ++first;
      difference =
          fmt::format("sample {} at {} s and at {} s", first + 1, other[first], time_[first]);
    }
    throw quantityError(s.declaration,
                        fmt::format("{} has other time stamps than {} ({}); declare recording.join "
                                    "(nearest or linear, with a limit) to bring them together",
                                    placeOf(raw_[s.recording]), placeOf(raw_[base_]), difference));
  }

  // later by whole samples
  MatrixXd shifted(MatrixXd values, const Selection& s) {
    const double delay = s.declaration.delay;
    if (delay == 0.0 || rows_ < 2) return values;
    if (time_.size() == 0)
      throw quantityError(s.declaration, "a delay needs time stamps or a rate");
    const double period = (time_[rows_ - 1] - time_[0]) / static_cast<double>(rows_ - 1);
    const double samples = delay / period;
    constexpr double kWhole = 0.01;  // of a sample: far below what can be measured
    if (!(std::abs(samples) < static_cast<double>(rows_)) ||
        std::abs(samples - std::round(samples)) > kWhole) {
      throw quantityError(
          s.declaration, fmt::format("delay is {:.3f} samples of {:.6g} s, expected a whole number "
                                     "of them; join linearly to interpolate",
                                     samples, period));
    }
    const auto shift = static_cast<Index>(std::round(samples));
    MatrixXd out = MatrixXd::Constant(values.rows(), values.cols(), kUnmeasured);
    const Index kept = values.rows() - std::abs(shift);
    if (shift >= 0) {
      out.topRows(kept) = values.bottomRows(kept);
      cut_end_ = std::max(cut_end_, shift);
    } else {
      out.bottomRows(kept) = values.topRows(kept);
      cut_begin_ = std::max(cut_begin_, -shift);
    }
    return out;
  }

  const std::vector<Recording>& raw_;
  std::vector<VectorXd> stamps_;
  size_t base_;
  JoinDeclaration join_;
  VectorXd time_;
  Index rows_ = 0, cut_begin_ = 0, cut_end_ = 0;
};

// ---- units, gears, offsets ----

bool isPrismatic(const Model& model, const SignalColumn& column) {
  const int joint = belongsToJoint(column.quantity) ? model.jointIndex(column.of) : -1;
  return joint >= 0 && model.joints[static_cast<size_t>(joint)].type == JointType::kPrismatic;
}

// The unit of one column: declared, stated by the file (both must agree), or SI.
Unit unitFor(const Model& model, const Selection& s, size_t c, const Channel& channel) {
  const SignalColumn& column = s.columns[c];
  const bool motor = s.declaration.side == "motor";
  std::string si = unitOf(column.quantity, isPrismatic(model, column) && !motor);
  const std::string& declared = s.declaration.unit;
  const std::string text = declared.empty() ? channel.unit : declared;
  if (text.empty()) return {si, 1.0, 0.0};
  const std::string what =
      fmt::format("{}: channel {}", toString(s.declaration.location), inQuotes(channel.name));
  if (s.declaration.quantity == "wrench" && !declared.empty())
    throw quantityError(s.declaration, "a wrench has two units; declare force and moment apart");
  // a drive signal may be anything that a gain turns into torque; motors turn, or slide
  const auto known = findUnit(text);
  if (column.quantity == Quantity::kCurrent) si.clear();
  if (motor && known && known->si == unitOf(column.quantity, true)) si = known->si;
  Unit unit = requireUnit(text, si, what);
  if (!declared.empty() && !channel.unit.empty()) {
    const auto stated = findUnit(channel.unit);
    if (!stated || stated->si != unit.si || stated->factor != unit.factor) {
      throw Error(fmt::format("{} has the unit {} in the file, but {} is declared; correct one",
                              what, inQuotes(channel.unit), inQuotes(declared)));
    }
  }
  return unit;
}

// one number for all, or one per column
double entry(const std::vector<double>& numbers, size_t c, double otherwise) {
  return numbers.empty() ? otherwise : numbers.size() == 1 ? numbers[0] : numbers[c];
}

void requireCount(const Selection& s, const std::vector<double>& numbers, const char* what) {
  if (numbers.size() > 1 && numbers.size() != s.columns.size()) {
    throw quantityError(s.declaration, fmt::format("{} has {} numbers, expected 1 or {}", what,
                                                   numbers.size(), s.columns.size()));
  }
}

// q_motor = R q_joint for the motors of a signal
MatrixXd gearMatrix(const Model& model, const Selection& s) {
  const auto count = static_cast<Index>(s.columns.size());
  if (!model.transmission) {
    MatrixXd R = MatrixXd::Zero(count, count);
    for (Index c = 0; c < count; ++c) {
      const int joint = requireJoint(model, s.columns[static_cast<size_t>(c)].of);
      R(c, c) = model.joints[static_cast<size_t>(joint)].drive.gear_ratio;
      if (R(c, c) == 0.0) {
        throw quantityError(s.declaration,
                            fmt::format("joint {} has a gear_ratio of 0",
                                        inQuotes(s.columns[static_cast<size_t>(c)].of)));
      }
    }
    return R;
  }
  std::vector<std::string> joints, signal;
  for (const int joint : model.transmission->joints)
    joints.push_back(model.joints[static_cast<size_t>(joint)].name);
  for (const SignalColumn& column : s.columns) signal.push_back(column.of);
  if (joints != signal || model.transmission->matrix.rows() != count) {
    throw quantityError(
        s.declaration,
        fmt::format("the transmission has {} motors of the joints {}, expected these "
                    "joints in this order on the motor side, found {}",
                    model.transmission->matrix.rows(), fmt::join(joints, ", "),
                    fmt::join(signal, ", ")));
  }
  return model.transmission->matrix;
}

MatrixXd toJointSide(const Model& model, const Selection& s, const MatrixXd& values) {
  const Quantity quantity = s.columns[0].quantity;
  if (s.declaration.side != "motor" || quantity == Quantity::kTemperature ||
      quantity == Quantity::kCurrent)  // the gain is per unit of the drive signal, at the joint
    return values;
  const MatrixXd R = gearMatrix(model, s);
  if (quantity == Quantity::kTorque) return values * R;  // rows: (R^T tau)^T
  return leastSquares(R, values.transpose()).transpose();
}

// Values in SI on the joint side; `units` of the columns.
MatrixXd converted(const Model& model, const Recording& recording, const Selection& s,
                   MatrixXd values, std::vector<std::string>& units) {
  requireCount(s, s.declaration.scale, "scale");
  requireCount(s, s.declaration.offset, "offset");
  for (size_t c = 0; c < s.columns.size(); ++c) {
    const auto column = static_cast<Index>(c);
    const Channel& channel = recording.channels[static_cast<size_t>(s.from[c])];
    const Unit unit = unitFor(model, s, c, channel);
    const double scale = entry(s.declaration.scale, c, 1.0);
    if (unit.factor * scale != 1.0) values.col(column) *= unit.factor * scale;
    if (unit.offset != 0.0) values.col(column).array() += scale * unit.offset;
    units.push_back(belongsToJoint(s.columns[c].quantity) &&
                            s.columns[c].quantity != Quantity::kCurrent
                        ? unitOf(s.columns[c].quantity, isPrismatic(model, s.columns[c]))
                        : unit.si);
  }
  values = toJointSide(model, s, values);
  for (size_t c = 0; c < s.columns.size(); ++c) {
    const double offset = entry(s.declaration.offset, c, 0.0);
    if (offset != 0.0) values.col(static_cast<Index>(c)).array() += offset;
  }
  return values;
}

// ---- the mapped recording ----

struct Output {
  std::vector<Channel> channels;
  std::vector<VectorXd> columns;

  bool has(const std::string& name) const {
    return std::any_of(channels.begin(), channels.end(),
                       [&](const Channel& channel) { return channel.name == name; });
  }
  void add(const Selection& s, const SignalColumn& column, const std::string& unit,
           const std::string& origin, VectorXd values) {
    Channel channel;
    channel.name = signalName(column.quantity, s.role, column.of, column.component);
    channel.quantity = column.quantity;
    channel.role = s.role;
    channel.side = Side::kJoint;
    channel.of = column.of;
    channel.component = column.component;
    channel.unit = unit;
    channel.origin = origin;
    if (has(channel.name)) {
      throw quantityError(s.declaration, fmt::format("{} is declared twice", channel.name));
    }
    channels.push_back(std::move(channel));
    columns.push_back(std::move(values));
  }
};

// tau = gain i, where there are currents and no torques
void addTorques(const Model& model, const std::vector<Selection>& selections, Output& out,
                std::vector<std::string>& notes) {
  const size_t recorded = out.channels.size();
  std::vector<std::string> unknown;
  for (size_t c = 0; c < recorded; ++c) {
    const Channel channel = out.channels[c];
    if (channel.quantity != Quantity::kCurrent) continue;
    if (out.has(signalName(Quantity::kTorque, channel.role, channel.of))) continue;
    const SignalColumn column{Quantity::kTorque, channel.of, ""};
    const Drive& drive = model.joints[static_cast<size_t>(requireJoint(model, channel.of))].drive;
    if (!drive.gain_declared) {
      unknown.push_back(channel.of);
      continue;
    }
    const double gain = drive.gain;
    Selection s = selections.front();
    s.role = channel.role;
    out.add(s, column, unitOf(Quantity::kTorque, isPrismatic(model, column)),
            fmt::format("{} times the gain {}", channel.origin, formatNumber(gain)),
            gain * out.columns[c]);
  }
  if (unknown.empty()) return;
  notes.push_back(fmt::format(
      "the currents of {} are no torques without a gain; declare drive.gain (N m at the "
      "joint per ampere) in robot.yaml",
      fmt::join(unknown, ", ")));
}

// Does a part of the log have joint positions under our names with SI units, as this mapping writes
// them?
bool isMapped(const Model& model, const std::vector<Recording>& raw) {
  for (const std::string& joint : signalJoints(model)) {
    const std::string name = signalName(Quantity::kPosition, Role::kMeasured, joint);
    for (const Recording& recording : raw) {
      const int column = recording.column(name);
      if (column < 0) continue;
      const std::string& unit = recording.channels[static_cast<size_t>(column)].unit;
      return unit == "rad" || unit == "m";
    }
  }
  return false;
}

// As declared; but a log that was mapped before, or simulated, goes by its names where the files,
// topics or channels of the declaration are not in it.
std::vector<Selection> selectionsFor(const Model& model, const std::vector<Recording>& raw,
                                     bool& declared, std::vector<std::string>& notes) {
  if (declared && isMapped(model, raw)) {
    try {
      return selectDeclared(model, raw, notes);
    } catch (const Error&) {
      declared = false;
    }
  }
  return declared ? selectDeclared(model, raw, notes) : selectByNames(model, raw, notes);
}

void chooseRows(const Model& model, const Collector& collector, bool mapped_before, Index& begin,
                Index& count) {
  begin = collector.cutBegin();
  Index end = collector.rows() - collector.cutEnd();
  if (!mapped_before && model.recording && model.recording->first_row > 0) {
    const RecordingDeclaration& layout = *model.recording;
    if (layout.last_row > collector.rows()) {
      throw errorAt(layout.location, fmt::format("recording.rows end at {}, but the log has {} "
                                                 "samples",
                                                 layout.last_row, collector.rows()));
    }
    begin = std::max<Index>(begin, layout.first_row - 1);
    end = std::min<Index>(end, layout.last_row);
  }
  count = std::max<Index>(0, end - begin);
}

}  // namespace

SignalPlan planSignals(const Model& model, const std::vector<Recording>& raw) {
  if (raw.empty()) throw Error("there is no recording to map");
  SignalPlan plan;
  plan.declared = model.recording && !model.recording->signals.empty();
  plan.selections = selectionsFor(model, raw, plan.declared, plan.notes);
  const size_t first = plan.selections[0].recording;
  Collector collector(model, raw, first);
  if (!model.recording || (model.recording->time.unit.empty() && !(model.recording->rate_hz > 0.0)))
    plan.time_factor =
        guessTimeFactor(model, raw[first], collector.time(), plan.selections, plan.notes);
  collector.scaleTime(plan.time_factor);
  if (!plan.declared) guessDegrees(model, raw, collector.time(), plan.selections, plan.notes);
  for (const Recording& recording : raw)
    plan.notes.insert(plan.notes.end(), recording.notes.begin(), recording.notes.end());
  noteStrangers(model, raw, plan.selections, plan.notes);
  if (!plan.declared) noteLeftOut(model, raw, plan.selections, plan.notes);
  return plan;
}

Recording mapRecording(const Model& model, const std::vector<Recording>& raw) {
  return mappedBy(planSignals(model, raw), model, raw);
}

Recording mappedBy(const SignalPlan& plan, const Model& model, const std::vector<Recording>& raw) {
  const std::vector<Selection>& selections = plan.selections;
  const bool declared = plan.declared;
  const bool mapped_before = !declared && model.recording && !model.recording->signals.empty();
  Recording mapped;
  mapped.notes = plan.notes;
  mapped.source = raw[selections[0].recording].source;
  mapped.topic = raw[selections[0].recording].topic;
  Collector collector(model, raw, selections[0].recording);
  collector.scaleTime(plan.time_factor);
  const bool can_join = model.recording && !model.recording->join.method.empty();
  Output out;
  for (const Selection& s : selections) {
    if (!declared && !can_join && !collector.sameTime(s.recording)) {
      mapped.notes.push_back(
          fmt::format("{} of {} has other time stamps and was left out; declare "
                      "recording.join to use it",
                      s.declaration.quantity, placeOf(raw[s.recording])));
      continue;
    }
    std::vector<std::string> units;
    const MatrixXd values =
        converted(model, raw[s.recording], s, collector.values(s, mapped.notes), units);
    for (Index c = 0; c < values.cols(); ++c) {
      const auto k = static_cast<size_t>(c);
      out.add(s, s.columns[k], units[k],
              raw[s.recording].channels[static_cast<size_t>(s.from[k])].origin, values.col(c));
    }
  }
  addTorques(model, selections, out, mapped.notes);

  Index begin = 0, count = 0;
  chooseRows(model, collector, mapped_before, begin, count);
  if (collector.time().size() > 0) mapped.time = collector.time().segment(begin, count);
  mapped.channels = std::move(out.channels);
  mapped.values.resize(count, static_cast<Index>(mapped.channels.size()));
  for (size_t c = 0; c < out.columns.size(); ++c)
    mapped.values.col(static_cast<Index>(c)) = out.columns[c].segment(begin, count);
  requireValid(mapped);
  return mapped;
}

Recording readRobotRecording(const Model& model, const std::string& path,
                             const RecordingOptions& options) {
  return mapRecording(model, readRobotLog(model, path, options));
}

}  // namespace proprio
