#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

#include "proprio/core/error.h"
#include "proprio/core/text.h"
#include "proprio/recording/guess_signals_internal.h"
#include "proprio/recording/name_words_internal.h"
#include "proprio/recording/signal_names.h"
#include "proprio/recording/split_log_internal.h"
#include "proprio/recording/time_names_internal.h"
#include "proprio/recording/units.h"

namespace proprio {
namespace {

namespace fs = std::filesystem;

struct SplitFile {
  fs::path path;
  NamedQuantity named;
  std::optional<TimeName> time;  ///< it holds the time stamps
};

std::optional<SplitFile> splitFile(const fs::path& path) {
  SplitFile file{path, quantityInName(path.stem().string()), std::nullopt};
  if (file.named.quantity != Quantity::kOther) return file;
  std::vector<std::string>& words = file.named.rest;
  for (const std::ptrdiff_t count : {3, 2, 1}) {  // "sample times s", "time ms", "time"
    if (file.time || std::ssize(words) < count) continue;
    const std::vector<std::string> last(words.end() - count, words.end());
    file.time = timeNamed(fmt::format("{}", fmt::join(last, "_")), "");
    if (file.time) words.resize(words.size() - static_cast<size_t>(count));
  }
  return file.time ? std::optional(file) : std::nullopt;
}

bool sameRun(const SplitFile& a, const SplitFile& b) { return a.named.rest == b.named.rest; }

std::vector<SplitFile> splitFilesIn(const fs::path& folder) {
  std::vector<SplitFile> files;
  for (const std::string& path : logFilesIn(folder.string())) {
    if (const auto file = splitFile(path)) files.push_back(*file);
  }
  return files;
}

bool isNameless(const Recording& recording) {
  return std::all_of(
      recording.channels.begin(), recording.channels.end(), [](const Channel& channel) {
        return channel.name.starts_with("column_") || channel.name.find('[') != std::string::npos;
      });
}

bool grows(const Eigen::Ref<const Eigen::VectorXd>& x) {
  for (Eigen::Index i = 1; i < x.size(); ++i) {
    if (!(x[i] > x[i - 1])) return false;
  }
  return x.size() > 1;
}

std::string titleOf(const SplitFile& file) {
  return fmt::format("{}{}{}", file.named.role == Role::kCommanded ? "commanded " : "",
                     toString(file.named.quantity),
                     file.named.unit.empty() ? "" : " in " + file.named.unit);
}

// Channels called by quantity and number, or by quantity and their own name, in the unit that the
// name of the file says.
void nameChannels(const SplitFile& file, size_t joints, Recording& recording) {
  const bool nameless = isNameless(recording);
  if (nameless && recording.time.size() == 0 && recording.channels.size() == joints + 1 &&
      grows(recording.values.col(0))) {
    recording.time = recording.values.col(0);
    recording.values = recording.values.rightCols(recording.values.cols() - 1).eval();
    recording.channels.erase(recording.channels.begin());
    recording.notes.push_back(fmt::format("{}: the first column grows and was taken for the time",
                                          file.path.filename().string()));
  }
  const std::string prefix = fmt::format("{}{}_", toString(file.named.quantity),
                                         file.named.role == Role::kCommanded ? "_des" : "");
  for (size_t c = 0; c < recording.channels.size(); ++c) {
    Channel& channel = recording.channels[c];
    const bool says = quantityInName(channel.name).quantity != Quantity::kOther;
    if (!nameless && says) continue;
    channel.name = prefix + (nameless ? std::to_string(c + 1) : channel.name);
    channel.quantity = Quantity::kOther;
    if (channel.unit.empty()) channel.unit = file.named.unit;
  }
}

// One value per line and as many for each time stamp as there are joints: rows of that many.
void foldValues(const SplitFile& file, Eigen::Index stamps, size_t joints, Recording& recording) {
  const auto columns = static_cast<Eigen::Index>(joints);
  if (columns < 2 || stamps < 2 || recording.time.size() > 0 || recording.values.cols() != 1 ||
      recording.samples() != columns * stamps)
    return;
  const Eigen::MatrixXd rows = recording.values.reshaped(columns, stamps).transpose();
  recording.values = rows;
  recording.channels.clear();
  for (Eigen::Index c = 0; c < columns; ++c) {
    recording.channels.push_back(channelNamed(fmt::format("column_{}", c + 1)));
    recording.channels.back().origin = fmt::format("{}, value {}", recording.source, c + 1);
  }
  recording.notes.push_back(
      fmt::format("{}: has one value per line, {} for each of the {} time stamps: they were taken "
                  "for the joints in order",
                  file.path.filename().string(), columns, stamps));
}

Eigen::VectorXd stampsOfFile(const SplitFile& file, const Recording& recording) {
  if (recording.time.size() > 0) return recording.time;
  if (recording.values.cols() != 1)
    throw Error(fmt::format("{}: has {} columns, expected one of time stamps, as its name says",
                            recording.source, recording.values.cols()));
  return findUnit(file.time->unit)->factor * recording.values.col(0);
}

// All in one if they have the same samples.
std::vector<Recording> merged(std::vector<Recording> parts, const Eigen::VectorXd& stamps) {
  Recording all;
  all.source = parts.front().source;
  all.time = stamps;
  bool same = true;
  for (const Recording& part : parts) {
    same = same && part.samples() == parts.front().samples();
    if (part.time.size() > 0 && all.time.size() == 0) all.time = part.time;
    same = same && (part.time.size() == 0 || part.time == all.time);
  }
  if (!same || (all.time.size() > 0 && all.time.size() != parts.front().samples())) {
    const bool timed = std::all_of(parts.begin(), parts.end(),
                                   [](const Recording& part) { return part.time.size() > 0; });
    if (timed) return parts;
    std::vector<std::string> counts;
    if (stamps.size() > 0) counts.push_back(fmt::format("{} time stamps", stamps.size()));
    for (const Recording& part : parts)
      counts.push_back(fmt::format("{} samples in {}", part.samples(), part.source));
    throw Error(
        fmt::format("the files of one recording differ in length: {}; expected as many in "
                    "each, or time stamps in all",
                    fmt::join(counts, ", ")));
  }
  for (Recording& part : parts) {
    all.notes.insert(all.notes.end(), part.notes.begin(), part.notes.end());
    const Eigen::Index before = all.values.cols();
    all.values.conservativeResize(part.samples(), before + part.values.cols());
    all.values.rightCols(part.values.cols()) = part.values;
    for (Channel& channel : part.channels) {
      if (all.column(channel.name) >= 0) channel.name = channel.origin;
      all.channels.push_back(std::move(channel));
    }
  }
  return {all};
}

std::vector<Recording> readFiles(const std::vector<SplitFile>& files, size_t joints,
                                 const RecordingOptions& options) {
  std::vector<Recording> parts;
  std::vector<const SplitFile*> files_of_parts;
  std::vector<std::string> told;
  Eigen::VectorXd stamps;
  for (const SplitFile& file : files) {
    std::vector<Recording> read = readRecordings(file.path.string(), options);
    const std::string name = file.path.filename().string();
    if (file.time) {
      stamps = stampsOfFile(file, read.front());
      told.push_back(name + " (time)");
      continue;
    }
    told.push_back(fmt::format("{} ({})", name, titleOf(file)));
    for (Recording& part : read) {
      parts.push_back(std::move(part));
      files_of_parts.push_back(&file);
    }
  }
  for (size_t k = 0; k < parts.size(); ++k) {
    foldValues(*files_of_parts[k], stamps.size(), joints, parts[k]);
    nameChannels(*files_of_parts[k], joints, parts[k]);
  }
  std::vector<Recording> recordings = merged(std::move(parts), stamps);
  std::vector<std::string>& notes = recordings.front().notes;
  notes.insert(notes.begin(),
               fmt::format("{}: the names of the files say what they hold: {}",
                           files.front().path.parent_path().string(), fmt::join(told, ", ")));
  return recordings;
}

void requireOneOfEach(const std::vector<SplitFile>& files) {
  for (size_t i = 0; i < files.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      const NamedQuantity &a = files[i].named, &b = files[k].named;
      if (a.quantity != b.quantity || a.role != b.role) continue;
      throw Error(fmt::format(
          "{} and {} both seem to hold the {} of one recording; keep one of them in the folder, or "
          "declare the files under `recording` in a robot.yaml",
          files[k].path.string(), files[i].path.string(),
          files[i].time ? "time" : titleOf(files[i])));
    }
  }
}

/// Takes the last number out of the words that tell runs apart; -1 if there is none.
int takeJointNumber(std::vector<std::string>* words) {
  const auto last = std::find_if(words->rbegin(), words->rend(), isNumberWord);
  if (last == words->rend() || last->size() > 3) return -1;
  const int number = std::stoi(*last);
  words->erase(std::next(last).base());
  return number;
}

/// Files of one signal of one joint each: theta1.txt ... theta6.txt, torque1.txt ... torque6.txt.
struct JointFile {
  const SplitFile* file;
  int number;
};

/// The files in this order, time first, if their names differ in the number of the joint only and
/// each signal has all of the first joints, at least half of all.
std::vector<JointFile> filesOfJoints(const std::vector<SplitFile>& files, size_t joints) {
  std::vector<JointFile> all;
  std::map<std::pair<Quantity, Role>, std::set<int>> numbers;
  std::optional<std::vector<std::string>> run;
  for (const SplitFile& file : files) {
    std::vector<std::string> words = file.named.rest;
    const int number = file.time ? 0 : takeJointNumber(&words);
    if (number < 0 || (run && *run != words)) return {};
    run = words;
    all.push_back({&file, number});
    if (!file.time && !numbers[{file.named.quantity, file.named.role}].insert(number).second)
      return {};
  }
  for (const auto& [signal, of_joints] : numbers) {
    const auto count = static_cast<size_t>(*of_joints.rbegin() - *of_joints.begin() + 1);
    if (of_joints != numbers.begin()->second || *of_joints.begin() > 1 ||
        count != of_joints.size() || count < 2 || count > joints || 2 * count < joints)
      return {};
  }
  if (numbers.empty()) return {};
  std::stable_sort(all.begin(), all.end(), [](const JointFile& a, const JointFile& b) {
    return std::tuple(!a.file->time, a.file->named.quantity, a.number) <
           std::tuple(!b.file->time, b.file->named.quantity, b.number);
  });
  return all;
}

/// All of them as one recording; nothing if they are not of one joint each.
std::vector<Recording> readJointFiles(const std::vector<SplitFile>& files, size_t joints,
                                      const RecordingOptions& options) {
  const std::vector<JointFile> of_joints = filesOfJoints(files, joints);
  std::vector<Recording> parts;
  std::vector<std::string> told;
  Eigen::VectorXd stamps;
  for (const JointFile& joint : of_joints) {
    std::vector<Recording> read = readRecordings(joint.file->path.string(), options);
    if (read.size() != 1) return {};
    if (joint.file->time) {
      stamps = stampsOfFile(*joint.file, read.front());
    } else {
      nameChannels(*joint.file, 1, read.front());
      if (read.front().channels.size() != 1) return {};
      std::string& name = read.front().channels.front().name;
      name = fmt::format("{}{}_{}", toString(joint.file->named.quantity),
                         joint.file->named.role == Role::kCommanded ? "_des" : "", joint.number);
      parts.push_back(std::move(read.front()));
    }
    told.push_back(fmt::format("{} ({})", joint.file->path.filename().string(),
                               joint.file->time ? "time" : titleOf(*joint.file)));
  }
  if (parts.empty()) return {};
  std::vector<Recording> recordings = merged(std::move(parts), stamps);
  std::vector<std::string>& notes = recordings.front().notes;
  notes.insert(notes.begin(),
               fmt::format("{}: the names of the files say what they hold, one joint each: {}",
                           files.front().path.parent_path().string(), fmt::join(told, ", ")));
  return recordings;
}

}  // namespace

std::vector<Recording> readSplitFolder(const std::string& folder,
                                       const std::vector<std::string>& joints,
                                       const RecordingOptions& options) {
  const std::vector<SplitFile> files = splitFilesIn(folder);
  const std::vector<std::string> logs = logFilesIn(folder);
  if (files.empty() && logs.size() == 1) return readRecordings(logs[0], options);
  const auto other = std::find_if(files.begin(), files.end(), [&](const SplitFile& file) {
    return !sameRun(file, files.front());
  });
  if (other != files.end()) {
    std::vector<Recording> of_joints = readJointFiles(files, joints.size(), options);
    if (!of_joints.empty()) return of_joints;
  }
  if (files.empty() || other != files.end()) {
    std::vector<std::string> names;
    for (const std::string& log : logs) names.push_back(fs::path(log).filename().string());
    throw Error(fmt::format(
        "{}: is a folder {}, and no signal under `recording` of the robot names a file in it; give "
        "one of its files{}",
        folder,
        files.empty()
            ? "whose files do not say by their names what they hold (such as run1_pos.csv "
              "and run1_torque.csv)"
            : fmt::format("with several recordings (files such as {} and {})",
                          files.front().path.filename().string(), other->path.filename().string()),
        names.empty() ? ": it has none that can be read"
                      : fmt::format(": {}", fmt::join(names, ", "))));
  }
  requireOneOfEach(files);
  return readFiles(files, joints.size(), options);
}

std::vector<Recording> withSplitFiles(const std::string& path, std::vector<Recording> recordings,
                                      const std::vector<std::string>& joints,
                                      const RecordingOptions& options) {
  const std::optional<SplitFile> own = splitFile(path);
  if (!own || own->time || recordings.size() != 1) return recordings;
  // a file that says itself what its columns are is no part; so is one with an array that is called
  // by another quantity than the file ("q[0]" and "tau[0]" in log_v2.npz)
  const Recording& first = recordings.front();
  const bool says =
      std::any_of(first.channels.begin(), first.channels.end(), [&](const Channel& channel) {
        const NamedQuantity named = quantityInName(channel.name);
        const bool array = channel.name.find('[') != std::string::npos && isNameless(first);
        const bool same = named.quantity == own->named.quantity && named.role == own->named.role;
        return channel.quantity != Quantity::kOther ||
               (named.quantity != Quantity::kOther && !(array && same));
      });
  if (says) return recordings;
  const fs::path parent = fs::path(path).parent_path();
  std::vector<SplitFile> files, of_joints;
  std::vector<std::string> own_run = own->named.rest;
  takeJointNumber(&own_run);
  for (const SplitFile& file : splitFilesIn(parent.empty() ? "." : parent)) {
    if (file.path.extension() != own->path.extension()) continue;
    if (sameRun(file, *own)) files.push_back(file);
    std::vector<std::string> run = file.named.rest;
    if (!file.time) takeJointNumber(&run);
    if (run == own_run) of_joints.push_back(file);
  }
  if (of_joints.size() > files.size()) {
    std::vector<Recording> all = readJointFiles(of_joints, joints.size(), options);
    if (!all.empty()) return all;
  }
  requireOneOfEach(files);
  return readFiles(files, joints.size(), options);
}

}  // namespace proprio
