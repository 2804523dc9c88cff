#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/verb.h"
#include "proprio/core/atomic_file.h"
#include "proprio/core/error.h"
#include "proprio/core/text.h"
#include "proprio/recording/channel_selection.h"
#include "proprio/recording/csv.h"
#include "proprio/recording/csv_survey.h"
#include "proprio/recording/cut.h"
#include "proprio/recording/growing_recording.h"
#include "proprio/recording/quality.h"
#include "proprio/recording/read_recording.h"
#include "proprio/recording/signal_map.h"
#include "proprio/recording/write_recordings.h"
#include "proprio/report/recording_chart.h"
#include "proprio/report/recording_report.h"
#include "proprio/signal/recording_filter.h"

namespace proprio::apps {
namespace {

using Json = nlohmann::ordered_json;

struct LogOptions {
  std::vector<std::string> files;
  std::string robot, topic, separator, out, plot, json;
  std::vector<std::string> channels;
  double from = NAN, to = NAN;       ///< s since the first stamp
  double rate = 0.0;                 ///< of logs without time stamps
  std::vector<std::string> filters;  ///< recording_filter.h
  std::string resample;
  bool join = false, stream = false;
  RecordingOptions read;
};

/// Text tables above this size are read in constant memory, without --stream too.
constexpr std::uintmax_t kLargeBytes = 1'000'000'000;
/// Stretches of them with at most so many numbers (240 MB) are taken into memory.
constexpr Eigen::Index kStretchNumbers = 30'000'000;

struct LogPart {
  Recording recording;  ///< as chosen
  Quality quality;      ///< of that
  std::vector<Recording> results;
};

char separatorOf(const std::string& text) {
  if (text.empty()) return 0;
  if (text == "tab" || text == "\\t") return '\t';
  if (text == "space" || text == "blank") return ' ';
  if (text.size() == 1) return text[0];
  throw Error(
      fmt::format("--separator is {}; expected one character, tab or space", inQuotes(text)));
}

bool known(const std::vector<Recording>& parts, const Recording& part) {
  for (const Recording& other : parts) {
    if (other.source == part.source && other.topic == part.topic) return true;
  }
  return false;
}

// Everything that the files hold; through a robot they are parts of one log.
std::vector<Recording> readAll(const LogOptions& options, const Model* model) {
  std::vector<Recording> parts;
  for (const std::string& file : options.files) {
    for (Recording& part : model != nullptr ? readRobotLog(*model, file, options.read)
                                            : readRecordings(file, options.read)) {
      if (!known(parts, part)) parts.push_back(std::move(part));
    }
  }
  if (!options.topic.empty()) {
    std::vector<std::string> topics;
    for (const Recording& part : parts) topics.push_back(part.topic);
    std::erase_if(parts, [&](const Recording& part) { return part.topic != options.topic; });
    if (parts.empty())
      throw Error(fmt::format("there is no topic {}{}", inQuotes(options.topic),
                              didYouMean(options.topic, topics)));
  }
  for (Recording& part : parts) {
    if (options.rate == 0.0) continue;
    if (part.time.size() > 0)
      throw Error(part.source + ": has time stamps of its own, so that --rate is not for it");
    part.time.setLinSpaced(part.samples(), 0.0,
                           static_cast<double>(part.samples() - 1) / options.rate);
  }
  if (model == nullptr) return parts;
  return {mapRecording(*model, parts)};
}

bool isCut(const LogOptions& options) {
  return !std::isnan(options.from) || !std::isnan(options.to);
}

Recording chosenPart(const LogOptions& options, Recording recording) {
  if (isCut(options)) {
    const double start = recording.time.size() > 0 ? recording.time[0] : 0.0;
    const double infinity = std::numeric_limits<double>::infinity();
    recording = cutByTime(recording, std::isnan(options.from) ? -infinity : start + options.from,
                          std::isnan(options.to) ? infinity : start + options.to);
  }
  if (!options.channels.empty()) recording = withChannels(recording, options.channels);
  return recording;
}

// a uniform rate and filters, as asked for, in this order: filters need a uniform rate
std::vector<Recording> treated(const LogOptions& options, Recording recording, std::string& told) {
  std::vector<Recording> stretches;
  if (options.resample.empty()) {
    stretches.push_back(std::move(recording));
  } else {
    const Eigen::Index before = recording.samples();
    std::vector<std::string> steps;
    stretches = resampleWithoutAliases(recording, parseResampling(options.resample), steps);
    for (const std::string& step : steps) told += "  " + step + "\n";
    for (const Recording& stretch : stretches) {
      told += fmt::format("  resampled from {} to {} samples{}\n", before, stretch.samples(),
                          stretches.size() > 1 ? ", a stretch between gaps" : "");
    }
  }
  for (Recording& stretch : stretches) {
    for (const std::string& text : options.filters) {
      for (const std::string& step : applyFilter(stretch, parseRecordingFilter(text)))
        told += "  " + step + "\n";
    }
  }
  return stretches;
}

// the names of several tables are made from --out, and might be those of what was read
void requireNoInput(const LogOptions& options, const std::string& path) {
  std::error_code not_there;
  for (const std::string& file : options.files) {
    if (std::filesystem::equivalent(file, path, not_there))
      throw Error(fmt::format("--out {}: {} is read, and would be replaced; choose another name",
                              options.out, path));
  }
}

// --out takes all of them
void writeResults(const LogOptions& options, const std::vector<const Recording*>& results,
                  std::string& text) {
  std::vector<Recording> recordings;
  for (const Recording* result : results) recordings.push_back(*result);
  const std::vector<std::string> paths = writtenPaths(options.out, recordings.size());
  for (const std::string& path : paths) requireNoInput(options, path);
  writeRecordings(recordings, options.out);
  for (size_t k = 0; k < paths.size() && paths.size() > 1; ++k) {
    text += fmt::format("  written to {}: {} samples, {} channels\n", paths[k],
                        recordings[k].samples(), recordings[k].channels.size());
  }
  if (paths.size() > 1) return;
  Eigen::Index samples = 0;
  size_t channels = 0;
  for (const Recording& recording : recordings) {
    samples += recording.samples();
    channels += recording.channels.size();
  }
  const std::string count =
      recordings.size() > 1 ? fmt::format("{} recordings, ", recordings.size()) : "";
  text += fmt::format("  written to {}: {}{} samples, {} channels\n", paths[0], count, samples,
                      channels);
}

void writeReport(const LogOptions& options, const std::vector<LogPart>& parts, int errors) {
  if (options.json.empty()) return;
  Json recordings = Json::array();
  int warnings = 0;
  for (const LogPart& part : parts) {
    recordings.push_back(Json::parse(recordingJson(part.recording, part.quality)));
    warnings += countOf(part.quality.findings, Severity::kWarning);
  }
  Json out = {{"usable", errors == 0},
              {"errors", errors},
              {"warnings", warnings},
              {"recordings", std::move(recordings)}};
  if (!options.out.empty()) out["out"] = options.out;
  if (!options.plot.empty()) out["plot"] = options.plot;
  writeFileAtomically(options.json, out.dump(2) + "\n");
}

// One text table that is to be read in constant memory.
bool isStreamed(const LogOptions& options, const Model* model) {
  std::error_code unreadable;
  const std::string& file = options.files.front();
  const auto bytes = std::filesystem::file_size(file, unreadable);
  const bool single = options.files.size() == 1 && isTextTable(file) && options.read.columns == 0;
  if (options.stream && !single) throw Error("--stream takes one text table, without --columns");
  const bool possible = single && (model == nullptr || needsWholeLog(*model).empty());
  // where --stream is asked for and not possible, the reader says why
  return options.stream || (possible && !unreadable && bytes > kLargeBytes);
}

PieceOptions piecesOf(const LogOptions& options, const Model* model) {
  PieceOptions pieces;
  pieces.csv = options.read.csv;
  pieces.model = model;
  pieces.rate_hz = options.rate;
  pieces.channels = options.channels;
  if (!std::isnan(options.from)) pieces.from = options.from;
  if (!std::isnan(options.to)) pieces.to = options.to;
  return pieces;
}

// Filters look at all rows at once.
void requireStreamable(const LogOptions& options) {
  if (options.filters.empty() && options.resample.empty()) return;
  throw Error(fmt::format(
      "{}: is read in constant memory, in which filtering and resampling is not possible; choose a "
      "stretch of less than {} million numbers with --from and --to",
      options.files.front(), kStretchNumbers / 1'000'000));
}

// Statistics of all rows, which go to --out and --plot on the way; formats that need the number of
// rows take a second pass.
LogPart streamed(const LogOptions& options, const Model* model, std::string& text) {
  requireStreamable(options);
  const bool again = !options.out.empty() && needsRowCount(options.out);
  std::unique_ptr<GrowingRecording> out;
  if (!options.out.empty() && !again) out = growingRecording(options.out, 0);
  Envelope envelope;
  const auto pass = [&](const Recording& piece) {
    if (!options.plot.empty()) envelope.add(piece);
    if (out) out->append(piece);
  };
  CsvSurvey survey = surveyCsv(options.files.front(), piecesOf(options, model), pass);
  LogPart part;
  part.recording = std::move(survey.preview);
  part.quality = std::move(survey.quality);
  part.quality.findings.push_back(
      {Severity::kNote, "",
       "read in constant memory: spikes, saturation and delays were not looked for; --from and "
       "--to take a stretch into memory"});
  text += recordingText(part.recording, part.quality, colourWanted(), terminalWidth());
  if (!options.out.empty()) {
    if (part.quality.time.samples == 0)
      throw Error(options.files.front() + ": has no samples that could be written");
    if (again) {
      out = growingRecording(options.out, part.quality.time.samples);
      streamCsvPieces(options.files.front(), piecesOf(options, model),
                      [&](const Recording& piece) { out->append(piece); });
    }
    out->finish();
    text += fmt::format("  written to {}: {} samples, {} channels\n", options.out,
                        part.quality.time.samples, part.recording.channels.size());
  }
  if (!options.plot.empty()) {
    writePicture(recordingFigures(envelope.finished(), model, envelope.samples()), options.plot);
    text += fmt::format("  picture in {}\n", options.plot);
  }
  return part;
}

// reads, chooses and treats; what is printed about it goes to `text`
std::vector<LogPart> partsOf(const LogOptions& options, const Model* model, std::string& text) {
  std::vector<Recording> whole;
  const bool in_pieces = isStreamed(options, model);
  if (in_pieces) {
    std::optional<Recording> stretch;
    if (isCut(options))
      stretch = readCsvStretch(options.files.front(), piecesOf(options, model), kStretchNumbers);
    if (!stretch) return {streamed(options, model, text)};
    whole.push_back(std::move(*stretch));
  } else {
    whole = readAll(options, model);
  }
  std::vector<Recording> raw;
  for (const Recording& recording : whole) {
    for (Recording& part : splitAtRestarts(recording)) raw.push_back(std::move(part));
  }
  if (options.join) raw = {concatenated(raw, true)};
  std::vector<LogPart> parts;
  std::string told;
  for (Recording& recording : raw) {
    LogPart part;
    part.recording = in_pieces ? std::move(recording) : chosenPart(options, std::move(recording));
    part.quality = assessQuality(
        part.recording, model != nullptr ? std::make_shared<const Model>(*model) : nullptr);
    part.results = treated(options, part.recording, told);
    text += recordingText(part.recording, part.quality, colourWanted(), terminalWidth()) + "\n";
    parts.push_back(std::move(part));
  }
  text += told;
  return parts;
}

std::optional<Model> robotOf(const LogOptions& options) {
  if (options.robot.empty()) return std::nullopt;
  RobotOptions robot;
  robot.robot = options.robot;
  return readRobot(robot);
}

int runLog(LogOptions options) {
  if (!options.plot.empty()) requirePicturePath(options.plot);
  options.read.csv.separator = separatorOf(options.separator);
  const std::optional<Model> model = robotOf(options);
  const Model* robot = model ? &*model : nullptr;
  std::string text;
  const std::vector<LogPart> parts = partsOf(options, robot, text);

  int errors = 0;
  std::vector<const Recording*> results;
  for (const LogPart& part : parts) {
    errors += countOf(part.quality.findings, Severity::kError);
    for (const Recording& result : part.results) results.push_back(&result);
  }
  if (!options.out.empty() && !results.empty()) writeResults(options, results, text);
  if (!options.plot.empty() && !results.empty()) {
    std::vector<Figure> figures;
    for (const Recording* result : results) {
      for (Figure& figure : recordingFigures(*result, robot)) figures.push_back(std::move(figure));
    }
    writePicture(figures, options.plot);
    text += fmt::format("  picture in {}\n", options.plot);
  }
  writeReport(options, parts, errors);
  print(text);
  return errors > 0 ? 1 : 0;
}

}  // namespace

Run addLog(CLI::App& verb) {
  const auto options = std::make_shared<LogOptions>();
  verb.add_option("FILE", options->files,
                  "recordings: text tables, NumPy, MATLAB, HDF5, ROS 2 bags, MCAP; with --robot "
                  "also a folder")
      ->required();
  verb.add_option("--robot", options->robot,
                  "map channels to the joints and sensors of this robot, as its recording section "
                  "declares; several FILEs are then parts of one log")
      ->type_name("ROBOT");
  verb.add_option("--topic", options->topic, "only this topic of a bag, or array of an archive")
      ->type_name("NAME");
  verb.add_option("--channels", options->channels, "only these channels; * stands for any letters")
      ->delimiter(',')
      ->type_name("LIST");
  verb.add_option("--from", options->from, "cut: start, in s since the first sample")
      ->type_name("S");
  verb.add_option("--to", options->to, "cut: end, in s since the first sample")->type_name("S");
  verb.add_option("--rate", options->rate, "rate of a file without time stamps, in Hz")
      ->check(CLI::PositiveNumber)
      ->type_name("HZ");
  verb.add_option("--filter", options->filters,
                  "lowpass (cut-off from the joint's spectrum), lowpass:HZ, causal:HZ, "
                  "savgol:WINDOW:ORDER, hampel:WINDOW, detrend:DEGREE; several one after the other")
      ->delimiter(',')
      ->type_name("LIST");
  verb.add_option(
          "--resample", options->resample,
          "onto a constant rate in Hz (auto: that of the median step), with "
          ":previous, :nearest, :linear, :makima or :cubic, :split at gaps, :merge repeated stamps")
      ->type_name("HZ");
  verb.add_option("--separator", options->separator,
                  "of a text table: one character, tab or space; found out otherwise")
      ->type_name("CHAR");
  verb.add_option("--columns", options->read.columns,
                  "text with one value per line: so many values per sample")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  verb.add_flag("--drop-bad-rows", options->read.csv.drop_bad_rows,
                "leave out rows that cannot be read, and count them");
  verb.add_flag("--stream", options->stream,
                "read a text table in constant memory: statistics, --out, --plot; or the stretch "
                "between --from and --to (so are all above 1 GB)");
  verb.add_flag("--join", options->join,
                "several FILEs with the same channels are one recording, one after the other");
  verb.add_option("--out", options->out,
                  "write the recording; .csv, .npz, .h5 or .mcap; of several, NAME.csv becomes "
                  "NAME_1.csv, NAME_2.csv, ...")
      ->type_name("FILE");
  verb.add_option("--plot", options->plot, "write a picture; .png, .svg, or .html to zoom")
      ->type_name("FILE");
  verb.add_option("--json", options->json, "also write the result to this file, for programs")
      ->type_name("FILE");
  return [options] { return runLog(*options); };
}

}  // namespace proprio::apps
