#include "proprio/recording/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "proprio/core/error.h"
#include "proprio/core/text.h"
#include "proprio/recording/csv_dialect_internal.h"
#include "proprio/recording/name_words_internal.h"
#include "proprio/recording/signal_names.h"
#include "proprio/recording/time_names_internal.h"
#include "proprio/recording/units.h"

namespace proprio {
namespace {

// Collects rows of unknown number.
struct CsvNumbers {
  std::vector<double> numbers;
  void operator()(const CsvLayout&, const CsvRows& rows) {
    numbers.insert(numbers.end(), rows.data(), rows.data() + rows.size());
  }
  Eigen::MatrixXd matrix(size_t columns) const {
    return CsvRows(numbers.data(), static_cast<Eigen::Index>(numbers.size() / columns),
                   static_cast<Eigen::Index>(columns));
  }
};

CsvOptions strictOptions() {
  CsvOptions options;
  options.names = CsvNames::kFirstLine;
  options.finite = true;
  return options;
}

CsvTable tableOf(const CsvSummary& summary, const CsvNumbers& rows) {
  CsvTable table;
  table.file = summary.layout.file;
  for (const CsvColumn& column : summary.layout.columns) {
    table.names.push_back(column.name);
    table.units.push_back(column.unit);
  }
  table.values = rows.matrix(table.names.size());
  return table;
}

std::string droppedNote(const CsvSummary& summary) {
  return fmt::format(
      "{} bad row{} dropped{}; the first: {}", summary.dropped, summary.dropped == 1 ? "" : "s",
      summary.cut_off ? ", the last one because it is cut off" : "", summary.first_problem);
}

void removeColumn(Recording& recording, int column) {
  // the other columns close the gap
  const Eigen::Index behind = recording.values.cols() - column - 1;
  recording.values.middleCols(column, behind) = recording.values.rightCols(behind).eval();
  recording.values.conservativeResize(Eigen::NoChange, recording.values.cols() - 1);
  recording.channels.erase(recording.channels.begin() + column);
}

/// Which columns are the time stamps: seconds (and the rest in another column) times factors.
struct TimeColumns {
  int whole = -1, rest = -1;  ///< -1 if there is none
  double factor = 1.0, rest_factor = 0.0;
  std::string note;
  std::string unit;  ///< of Recording::time_unit
};

TimeColumns timeColumn(const Recording& recording, int column, const TimeName& name) {
  std::string unit = name.unit;
  TimeColumns time;
  time.whole = column;
  if (!name.stated && recording.samples() > 0) {
    const double first = recording.values(0, column);
    unit = unitOfEpoch(first);
    if (unit != "s") {
      time.note = fmt::format(
          "the time stamps of column '{}' have no unit and begin with {:.6g}: read "
          "as {} since 1970",
          recording.channels[static_cast<size_t>(column)].name, first, unit);
    }
  }
  if (unit != "s") time.factor = findUnit(unit)->factor;
  if (name.stated || unit != "s") time.unit = unit;
  return time;
}

// Whole seconds and the rest in two columns.
TimeColumns splitTimeColumns(const Recording& recording) {
  const int count = static_cast<int>(recording.channels.size());
  for (int s = 0; s < count; ++s) {
    for (const int r : {s + 1, s - 1}) {  // side by side
      if (r < 0 || r >= count) continue;
      const std::string& seconds = recording.channels[static_cast<size_t>(s)].name;
      const std::string& rest = recording.channels[static_cast<size_t>(r)].name;
      const auto unit = splitTimeNamed(seconds, rest);
      if (!unit) continue;
      const double factor = findUnit(*unit)->factor;
      const Eigen::ArrayXd whole = recording.values.col(s), part = recording.values.col(r);
      const bool fits = (whole == whole.floor() && part >= 0.0 && part < 1.0 / factor).all();
      if (!fits || (whole == 0.0 && part == 0.0).all()) continue;
      return {s,
              r,
              1.0,
              factor,
              fmt::format("the time is {} plus {} {}", inQuotes(seconds), inQuotes(rest), *unit),
              ""};
    }
  }
  return {};
}

// A first column without a name beside others that have one, as pandas writes an index: the time,
// if it grows and does not just count rows.
bool isNamelessTime(const Recording& recording) {
  if (recording.channels.size() < 2 || recording.samples() < 3 ||
      recording.channels[0].name != "column_1" || recording.channels[1].name == "column_2")
    return false;
  const Eigen::ArrayXd stamps = recording.values.col(0);
  const Eigen::Index steps = stamps.size() - 1;
  const Eigen::ArrayXd step = stamps.tail(steps) - stamps.head(steps);
  return (step > 0.0).all() && !(step == 1.0).all();
}

TimeColumns findTimeColumns(const Recording& recording) {
  TimeColumns split = splitTimeColumns(recording);
  if (split.whole >= 0) return split;
  int best = -1;
  TimeName chosen;
  for (size_t c = 0; c < recording.channels.size(); ++c) {
    const auto time = timeNamed(recording.channels[c].name, recording.channels[c].unit);
    const bool rival = best >= 0 && (chosen.header || !(time && time->header)) && !chosen.duration;
    if (!time || rival) continue;
    // headers that nobody filled in
    const auto values = recording.values.col(static_cast<Eigen::Index>(c));
    if (time->header && values.size() > 1 && (values.array() == values[0]).all()) continue;
    // a duration is a time if it grows; that of a step, or of a task, does not
    const Eigen::Index steps = values.size() - 1;
    if (time->duration && steps > 0 &&
        !(values.tail(steps).array() > values.head(steps).array()).all())
      continue;
    best = static_cast<int>(c);
    chosen = *time;
  }
  if (best >= 0) return timeColumn(recording, best, chosen);
  if (!isNamelessTime(recording)) return {};
  TimeColumns time = timeColumn(recording, 0, {"s", false, false});
  if (time.note.empty()) time.note = "the first column has no name and grows: read as time in s";
  return time;
}

void takeTime(Recording& recording, const TimeColumns& time) {
  if (time.whole < 0) return;
  recording.time = recording.values.col(time.whole);
  if (time.factor != 1.0) recording.time *= time.factor;
  recording.time_unit = time.unit;
  if (time.rest >= 0) recording.time += time.rest_factor * recording.values.col(time.rest);
  if (!time.note.empty()) recording.notes.push_back(time.note);
  for (const int column : {std::max(time.whole, time.rest), std::min(time.whole, time.rest)}) {
    if (column >= 0) removeColumn(recording, column);
  }
}

// Columns of text such as field.name0, field.name1, ... that name the joints of the numbered
// columns.
void attributeByTexts(const std::vector<CsvText>& texts, Recording& recording) {
  std::vector<std::string> joints;
  std::string first;
  for (const CsvText& text : texts) {
    if (!csv::listsJoints(text)) continue;
    if (joints.empty()) first = text.name;
    joints.push_back(text.value);
  }
  if (!joints.empty())
    attributeJoints(recording, joints, fmt::format("column {} and those like it", inQuotes(first)));
}

// `ros2 topic echo --csv` of JointState has no names: sec, nanosec, frame, the joints' names, their
// positions, velocities and efforts.
void nameJointStates(const CsvLayout& layout, Recording& recording) {
  const std::vector<CsvText>& texts = layout.texts;
  const size_t joints = texts.size(), columns = recording.channels.size();
  if (!csv::areJointStates(layout.columns, joints)) return;
  for (size_t k = 0; k < joints; ++k) {
    if (texts[k].number != texts[0].number + static_cast<int>(k)) return;
  }
  const size_t before = columns - 3 * joints;
  if (layout.columns[before - 1].number >= texts[0].number ||
      layout.columns[before].number <= texts.back().number)
    return;
  constexpr std::array<const char*, 3> kNames = {"position", "velocity", "effort"};
  for (size_t c = before; c < columns; ++c) {
    Channel& channel = recording.channels[c];
    channel.name = fmt::format("{}[{}]", kNames[(c - before) / joints], (c - before) % joints);
    channel.of = texts[(c - before) % joints].value;
  }
  recording.channels[0].name = "sec";
  recording.channels[1].name = "nanosec";
  recording.notes.push_back(
      fmt::format("the columns are those of JointState messages without names: {} joints, their "
                  "positions, velocities and efforts",
                  joints));
}

// `time`: which columns it is; found out if it says none, and told
Recording recordingOf(const CsvSummary& summary, const CsvNumbers& rows,
                      std::optional<TimeColumns>& time) {
  Recording recording;
  recording.source = summary.layout.file;
  int stamps = -1;
  for (const CsvColumn& column : summary.layout.columns) {
    if (column.stamp && stamps < 0) stamps = static_cast<int>(recording.channels.size());
    Channel channel = channelNamed(column.name);
    channel.unit = column.unit;
    channel.origin = fmt::format("{}, column {}", summary.layout.file, column.number);
    recording.channels.push_back(std::move(channel));
  }
  recording.values = rows.matrix(recording.channels.size());
  recording.notes = summary.notes;
  if (summary.dropped > 0) recording.notes.push_back(droppedNote(summary));
  nameJointStates(summary.layout, recording);
  if (!time) time = findTimeColumns(recording);
  if (time->whole < 0 && stamps >= 0) time = timeColumn(recording, stamps, {"s", true, false});
  takeTime(recording, *time);
  attributeByTexts(summary.layout.texts, recording);
  return recording;
}

Recording recordingOf(const CsvSummary& summary, const CsvNumbers& rows) {
  std::optional<TimeColumns> time;
  return recordingOf(summary, rows, time);
}

// A whole table without names that is much wider than it is long has its samples along the rows, as
// matrices of MATLAB and NumPy often do; arrays are turned by the same rule (named_arrays.cc).
Recording turnedIfItLies(const CsvSummary& summary, Recording recording) {
  constexpr Eigen::Index kMany = 100, kLonger = 10;
  const Eigen::Index rows = recording.samples(), columns = recording.values.cols();
  if (summary.layout.names_line != 0 || !summary.layout.texts.empty() || rows == 0 ||
      recording.time.size() > 0 || columns < kMany || columns < kLonger * rows)
    return recording;
  const std::string& file = summary.layout.file;
  recording.values = recording.values.transpose().eval();
  recording.channels.clear();
  for (Eigen::Index c = 0; c < rows; ++c) {
    recording.channels.push_back(channelNamed(fmt::format("column_{}", c + 1)));
    recording.channels.back().origin = fmt::format("{}, row {}", file, c + 1);
  }
  recording.notes.push_back(fmt::format(
      "{}: a table of {} rows and {} columns without names has its samples along the rows; it was "
      "turned",
      file, rows, columns));
  return recording;
}

// nothing for NaN; `alone` in its line it would be lost with the empty lines
void appendNumber(std::string& out, double value, bool alone) {
  if (std::isnan(value)) {
    out += alone ? "nan" : "";
    return;
  }
  char text[32];
  out.append(text, std::to_chars(text, text + sizeof text, value).ptr);
}

// in quotes where a name has what would end it; quotes of its own are written twice
std::string quoted(const std::string& name) {
  const bool needed = name.find_first_of(",;\t|\"") != std::string::npos ||
                      parseNumber(name).has_value() || name.front() == '#' || name.front() == '%';
  if (!needed) return name;
  std::string out = "\"";
  for (const char c : name) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + '"';
}

}  // namespace

int CsvTable::column(const std::string& name) const {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? -1 : static_cast<int>(found - names.begin());
}

CsvTable readCsv(const std::string& path) {
  CsvNumbers rows;
  const CsvSummary summary = streamCsv(path, strictOptions(), std::ref(rows));
  return tableOf(summary, rows);
}

CsvTable readCsvText(const std::string& text, const std::string& file_name) {
  CsvNumbers rows;
  const CsvSummary summary = streamCsvText(text, file_name, strictOptions(), std::ref(rows));
  return tableOf(summary, rows);
}

std::string csvText(const CsvTable& table) {
  std::string out;
  for (const std::string& name : table.names) out += (out.empty() ? "" : ",") + quoted(name);
  out += '\n';
  for (Eigen::Index i = 0; i < table.values.rows(); ++i) {
    for (Eigen::Index c = 0; c < table.values.cols(); ++c) {
      if (c > 0) out += ',';
      out += formatNumber(table.values(i, c));
    }
    out += '\n';
  }
  return out;
}

Recording readCsvRecording(const std::string& path, const CsvOptions& options) {
  CsvNumbers rows;
  const CsvSummary summary = streamCsv(path, options, std::ref(rows));
  return turnedIfItLies(summary, recordingOf(summary, rows));
}

std::vector<std::string> streamCsvRecording(const std::string& path, const CsvOptions& options,
                                            const std::function<void(const Recording&)>& sink) {
  std::vector<std::string> notes;
  std::optional<TimeColumns> time;
  const CsvSummary summary =
      streamCsv(path, options, [&](const CsvLayout& layout, const CsvRows& rows) {
        CsvNumbers piece;
        piece(layout, rows);
        CsvSummary head;
        head.layout = layout;
        const Recording recording = recordingOf(head, piece, time);
        if (notes.empty()) notes = recording.notes;
        sink(recording);
      });
  notes.insert(notes.end(), summary.notes.begin(), summary.notes.end());
  if (summary.dropped > 0) notes.push_back(droppedNote(summary));
  return notes;
}

Recording readCsvRecordingText(const std::string& text, const std::string& file_name,
                               const CsvOptions& options) {
  CsvNumbers rows;
  const CsvSummary summary = streamCsvText(text, file_name, options, std::ref(rows));
  return turnedIfItLies(summary, recordingOf(summary, rows));
}

namespace {

Recording valueList(const CsvSummary& summary, CsvNumbers rows, int columns,
                    const CsvOptions& options) {
  const std::string& file = summary.layout.file;
  if (summary.layout.columns.size() != 1) {
    throw errorAt({file, 1, 0}, fmt::format("the first row has {} cells, expected one value per "
                                            "line; a table needs no `columns`",
                                            summary.layout.columns.size()));
  }
  const size_t width = static_cast<size_t>(columns), rest = rows.numbers.size() % width;
  Recording recording;
  recording.source = file;
  if (rest != 0) {
    const std::string sentence =
        fmt::format("{}: has {} values, which is not a multiple of {} columns: the last row has {}",
                    file, rows.numbers.size(), columns, rest);
    if (!options.drop_bad_rows) throw Error(sentence);
    recording.notes.push_back("the last row is cut off and dropped; " + sentence);
    rows.numbers.resize(rows.numbers.size() - rest);
  }
  for (int c = 0; c < columns; ++c) {
    Channel channel;
    channel.name = fmt::format("column_{}", c + 1);
    channel.origin = fmt::format("{}, value {} of {}", file, c + 1, columns);
    recording.channels.push_back(std::move(channel));
  }
  recording.values = rows.matrix(width);
  return recording;
}

// a bad value cannot be left out without moving all that follow to other columns
CsvOptions listOptions(CsvOptions options, int columns) {
  if (columns < 1) throw Error(fmt::format("columns is {}, expected at least 1", columns));
  options.drop_bad_rows = false;
  options.names = CsvNames::kNone;
  return options;
}

}  // namespace

Recording readValueList(const std::string& path, int columns, const CsvOptions& options) {
  CsvNumbers rows;
  const CsvSummary summary = streamCsv(path, listOptions(options, columns), std::ref(rows));
  return valueList(summary, std::move(rows), columns, options);
}

Recording readValueListText(const std::string& text, const std::string& file_name, int columns,
                            const CsvOptions& options) {
  CsvNumbers rows;
  const CsvSummary summary =
      streamCsvText(text, file_name, listOptions(options, columns), std::ref(rows));
  return valueList(summary, std::move(rows), columns, options);
}

void takeTimeColumn(Recording& recording) { takeTime(recording, findTimeColumns(recording)); }

std::string csvNames(const Recording& recording) {
  std::string out = recording.time.size() > 0 ? "time [s]" : "";
  for (const Channel& channel : recording.channels) {
    if (!out.empty()) out += ',';
    out += quoted(channel.name + (channel.unit.empty() ? "" : " [" + channel.unit + "]"));
  }
  return out + '\n';
}

std::string csvRows(const Recording& recording) {
  const bool timed = recording.time.size() > 0;
  std::string out;
  for (Eigen::Index i = 0; i < recording.samples(); ++i) {
    if (timed) appendNumber(out, recording.time[i], recording.channels.empty());
    for (Eigen::Index c = 0; c < recording.values.cols(); ++c) {
      if (timed || c > 0) out += ',';
      appendNumber(out, recording.values(i, c), !timed && recording.channels.size() == 1);
    }
    out += '\n';
  }
  return out;
}

std::string csvText(const Recording& recording) {
  requireValid(recording);
  return csvNames(recording) + csvRows(recording);
}

}  // namespace proprio
