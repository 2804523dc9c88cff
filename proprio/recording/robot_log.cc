// The files of a log that a robot's declared signals name.

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <set>

#include "proprio/core/error.h"
#include "proprio/core/text.h"
#include "proprio/recording/name_words_internal.h"
#include "proprio/recording/signal_map.h"
#include "proprio/recording/split_log_internal.h"

namespace proprio {
namespace {

namespace fs = std::filesystem;

struct NamedFile {
  std::string pattern;
  int columns = 0;
  FileLocation location;
};

std::vector<NamedFile> declaredFiles(const Model& model) {
  std::vector<NamedFile> files;
  if (!model.recording) return files;
  const auto add = [&](const std::string& pattern, int columns, const FileLocation& location) {
    const bool known = std::any_of(files.begin(), files.end(),
                                   [&](const NamedFile& file) { return file.pattern == pattern; });
    if (!pattern.empty() && !known) files.push_back({pattern, columns, location});
  };
  for (const SignalDeclaration& signal : model.recording->signals)
    add(signal.file, signal.columns, signal.location);
  const TimeDeclaration& time = model.recording->time;
  add(time.file, time.columns, model.recording->location);
  return files;
}

bool matches(const std::string& pattern, const fs::path& path) {
  return ::fnmatch(pattern.c_str(), path.filename().c_str(), 0) == 0;
}

// the only file of a folder that fits
fs::path fileIn(const fs::path& folder, const NamedFile& named) {
  std::vector<std::string> names;
  std::vector<fs::path> fitting;
  for (const auto& found : fs::directory_iterator(folder)) {
    if (found.is_directory()) continue;
    names.push_back(found.path().filename().string());
    if (matches(named.pattern, found.path())) fitting.push_back(found.path());
  }
  std::sort(fitting.begin(), fitting.end());
  std::sort(names.begin(), names.end());
  if (fitting.empty()) {
    throw errorAt(named.location,
                  fmt::format("the folder {} has no file {}{}", folder.string(),
                              inQuotes(named.pattern), didYouMean(named.pattern, names)));
  }
  if (fitting.size() > 1) {
    throw errorAt(named.location,
                  fmt::format("the folder {} has several files {}: {} and {}; name one",
                              folder.string(), inQuotes(named.pattern),
                              fitting[0].filename().string(), fitting[1].filename().string()));
  }
  return fitting[0];
}

// What belongs to another part of the log than is wanted goes; test comes before val.
std::vector<Recording> withPart(std::vector<Recording> recordings, DataPart wanted) {
  const auto has = [&](const char* part) {
    return std::any_of(recordings.begin(), recordings.end(),
                       [&](const Recording& recording) { return partOf(recording) == part; });
  };
  if (wanted == DataPart::kAll || !has("train") || !(has("test") || has("val"))) return recordings;
  const std::string kept = wanted == DataPart::kTraining ? "train" : has("test") ? "test" : "val";
  std::erase_if(recordings, [&](const Recording& recording) {
    return !partOf(recording).empty() && partOf(recording) != kept;
  });
  recordings.front().notes.push_back(fmt::format(
      "the log has parts of its own for training and test: this is its part {}", inQuotes(kept)));
  return recordings;
}

bool sameChannels(const Recording& a, const Recording& b) {
  return std::equal(
      a.channels.begin(), a.channels.end(), b.channels.begin(), b.channels.end(),
      [](const Channel& x, const Channel& y) { return x.name == y.name && x.unit == y.unit; });
}

// The numbers of runs that an archive counts (data[0], data[1], ...; trial_1/log, trial_2/log), one
// per recording: the one word in which their topics differ, if they have the same channels. Not
// topics of messages, and not what a robot has several of. Empty otherwise.
std::vector<int> runNumbers(const std::vector<Recording>& recordings) {
  static const std::set<std::string> kParts = {"arm",   "arms", "robot", "leg", "hand",
                                               "joint", "axis", "motor", "imu", "sensor"};
  const Words first = wordsOf(recordings.front().topic);
  std::vector<Words> topics;
  std::set<size_t> varying;
  for (const Recording& recording : recordings) {
    topics.push_back(wordsOf(recording.topic));
    const Words& words = topics.back();
    if (words.size() != first.size() || recording.topic.starts_with("/") ||
        recording.time.size() == 0 || !sameChannels(recording, recordings.front()))
      return {};
    for (size_t k = 0; k < words.size(); ++k) {
      if (words[k] != first[k]) varying.insert(k);
      if (kParts.count(words[k]) != 0) return {};
    }
  }
  if (varying.size() != 1) return {};
  std::vector<int> numbers;
  for (const Words& words : topics) {
    const std::string& number = words[*varying.begin()];
    if (!isNumberWord(number)) return {};
    numbers.push_back(std::stoi(number));
  }
  return numbers;
}

// Such runs are recordings of their own: they follow each other, and each begins at the time at
// which the first does.
std::vector<Recording> withRuns(std::vector<Recording> recordings) {
  const std::vector<int> numbers =
      recordings.size() < 2 ? std::vector<int>() : runNumbers(recordings);
  if (numbers.empty()) return recordings;
  std::vector<size_t> order(numbers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return numbers[a] < numbers[b]; });
  Recording all = recordings[order.front()];
  const double start = all.time[0];
  Eigen::Index rows = 0, at = 0;
  for (const Recording& run : recordings) rows += run.samples();
  all.time.resize(rows);
  all.values.resize(rows, all.values.cols());
  for (const size_t k : order) {
    const Recording& run = recordings[k];
    all.time.segment(at, run.samples()) = run.time.array() - run.time[0] + start;
    all.values.middleRows(at, run.samples()) = run.values;
    at += run.samples();
  }
  all.notes.push_back(fmt::format(
      "{} to {} have the same channels: {} recordings, each on its own, with times that begin at "
      "{} s",
      all.topic, recordings[order.back()].topic, order.size(), formatNumber(start)));
  return {all};
}

std::vector<Recording> readWholeLog(const Model& model, const std::string& path,
                                    const RecordingOptions& options) {
  const std::vector<NamedFile> files = declaredFiles(model);
  std::error_code ignored;
  const bool folder = fs::is_directory(path, ignored);
  RecordingOptions one = options;
  if (files.empty()) {
    const bool declared = model.recording && !model.recording->signals.empty();
    if (folder && !isBagFolder(path)) return readSplitFolder(path, signalJoints(model), one);
    // one layout for all signals
    if (declared && one.columns == 0) one.columns = model.recording->signals[0].columns;
    std::vector<Recording> recordings = readRecordings(path, one);
    if (declared || folder) return recordings;
    recordings = withRuns(std::move(recordings));
    return withSplitFiles(path, std::move(recordings), signalJoints(model), one);
  }
  if (!folder && std::none_of(files.begin(), files.end(),
                              [&](const NamedFile& file) { return matches(file.pattern, path); })) {
    // a log in one file, for example one converted from these files
    return readRecordings(path, options);
  }
  const fs::path parent = folder ? fs::path(path) : fs::path(path).parent_path();
  std::vector<Recording> recordings;
  for (const NamedFile& file : files) {
    // the file that the user names decides where several fit
    const bool given = !folder && matches(file.pattern, path);
    const fs::path found = given ? fs::path(path) : fileIn(parent.empty() ? "." : parent, file);
    one.columns = file.columns > 0 ? file.columns : options.columns;
    for (Recording& recording : readRecordings(found.string(), one))
      recordings.push_back(std::move(recording));
  }
  return recordings;
}

}  // namespace

std::string partOf(const Recording& recording) {
  const std::string& topic = recording.topic;
  const size_t at = topic.find_last_of("./");
  const PartName name = withoutPart(at == std::string::npos ? topic : topic.substr(at + 1));
  return name.rest.empty() ? name.part : "";
}

std::vector<Recording> readRobotLog(const Model& model, const std::string& path,
                                    const RecordingOptions& options) {
  return withPart(readWholeLog(model, path, options), options.part);
}

}  // namespace proprio
