#include "proprio/recording/read_recording.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <new>
#include <string_view>

#include "proprio/core/atomic_file.h"
#include "proprio/core/error.h"
#include "proprio/core/text.h"
#include "proprio/recording/compression_internal.h"
#include "proprio/recording/csv.h"
#include "proprio/recording/growing_recording_internal.h"
#include "proprio/recording/hdf5.h"
#include "proprio/recording/json_log.h"
#include "proprio/recording/mat.h"
#include "proprio/recording/mcap.h"
#include "proprio/recording/npy.h"
#include "proprio/recording/rosbag.h"
#include "proprio/recording/write_recordings.h"

namespace proprio {
namespace {

namespace fs = std::filesystem;
using Notes = std::vector<std::string>;

// of what is inside, where a file is compressed
std::string firstBytes(const std::string& path, size_t most) {
  if (isGzip(path)) {
    std::string bytes(most, '\0');
    bytes.resize(GzipFile(path).read(bytes.data(), most));
    return bytes;
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) readFile(path, 0);  // says why
  std::string bytes(most, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<size_t>(file.gcount()));
  return bytes;
}

[[noreturn]] void refuseGzip(const std::string& path) {
  throw Error(path +
              ": is compressed, and only plain text tables are read so; unpack it first (gunzip)");
}

std::vector<Recording> readTextFile(const std::string& path, const RecordingOptions& options,
                                    Notes* notes) {
  constexpr size_t kFirstRows = 1 << 16;
  if (options.columns > 0) return {readValueList(path, options.columns, options.csv)};
  const std::string bytes = firstBytes(path, kFirstRows);
  const size_t first = bytes.find_first_not_of(" \t\r\n");
  const bool json = first != std::string::npos && bytes[first] == '{';
  const bool lists = options.csv.names == CsvNames::kDetect && hasListCells(bytes);
  if ((json || lists) && isGzip(path)) refuseGzip(path);
  if (json) return readJsonLog(path, notes);
  if (lists) return readListCells(path, notes);
  return {readCsvRecording(path, options.csv)};
}

std::vector<Recording> readJsonOf(const std::string& path, const RecordingOptions&, Notes* notes) {
  return readJsonLog(path, notes);
}

void writeCsv(const std::vector<Recording>& recordings, const std::string& path) {
  std::vector<FileContent> files;
  const std::vector<std::string> paths = writtenPaths(path, recordings.size());
  for (size_t k = 0; k < paths.size(); ++k) files.push_back({paths[k], csvText(recordings[k])});
  writeFilesTogether(files);
}

void writeNpzOf(const std::vector<Recording>& recordings, const std::string& path) {
  writeNpz(path, recordings);
}

std::vector<Recording> readNpyOf(const std::string& path, const RecordingOptions&, Notes* notes) {
  return readNpy(path, notes);
}

std::vector<Recording> readNpzOf(const std::string& path, const RecordingOptions&, Notes* notes) {
  return readNpz(path, notes);
}

std::vector<Recording> readBagOf(const std::string& path, const RecordingOptions& options,
                                 Notes* notes) {
  return readRosbag(path, notes, options.csv.drop_bad_rows);
}

std::vector<Recording> readMcapOf(const std::string& path, const RecordingOptions& options,
                                  Notes* notes) {
  return readMcap(path, {options.csv.drop_bad_rows}, notes);
}

void writeMcapOf(const std::vector<Recording>& recordings, const std::string& path) {
  writeMcap(path, recordings);
}

std::vector<Recording> readMatOf(const std::string& path, const RecordingOptions&, Notes* notes) {
  return readMat(path, notes);
}

std::vector<Recording> readHdf5Of(const std::string& path, const RecordingOptions&, Notes* notes) {
  return readHdf5(path, {}, notes);
}

void writeHdf5Of(const std::vector<Recording>& recordings, const std::string& path) {
  writeHdf5(path, recordings);
}

/// A format: how its files are recognised, read and written.
struct Format {
  std::vector<std::string> extensions;
  std::string first_bytes;  ///< of every such file; empty for text
  std::vector<Recording> (*read)(const std::string&, const RecordingOptions&, Notes*);
  void (*write)(const std::vector<Recording>&, const std::string&);  ///< null if it is only read
  std::unique_ptr<GrowingRecording> (*grow)(const std::string&, Eigen::Index) = nullptr;
  bool needs_rows = false;  ///< before it can grow
};

// Later ones are asked first where the bytes decide; text is the rest.
const std::vector<Format>& formats() {
  static const std::vector<Format> all = {
      {{".csv", ".txt", ".tsv", ".dat", ".log"}, "", readTextFile, writeCsv, growingCsv},
      {{".npy"}, "\x93NUMPY", readNpyOf, nullptr},
      {{".npz"}, "PK\3\4", readNpzOf, writeNpzOf, growingNpz, true},
      {{".mat"}, "MATLAB ", readMatOf, nullptr},
      {{".h5", ".hdf5"}, "\x89HDF", readHdf5Of, writeHdf5Of, growingHdf5, true},
      {{".db3"}, "SQLite format 3", readBagOf, nullptr},
      {{".zstd"}, "\x28\xb5\x2f\xfd", readBagOf, nullptr},
      {{".mcap"}, "\x89MCAP", readMcapOf, writeMcapOf, growingMcap},
      {{".json", ".jsonl", ".ndjson"}, "", readJsonOf, nullptr},
  };
  return all;
}

// of what is inside, where a file is compressed: .csv of run.csv.gz
std::string extensionOf(const std::string& path) {
  fs::path name(path);
  if (name.extension() == ".gz") name = name.stem();
  std::string extension = name.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension;
}

std::string extensions(bool written) {
  std::vector<std::string> names;
  for (const Format& format : formats()) {
    if (!written || format.write != nullptr)
      names.insert(names.end(), format.extensions.begin(), format.extensions.end());
  }
  return fmt::format("{}", fmt::join(names, " "));
}

bool has(const Format& format, const std::string& extension) {
  return std::find(format.extensions.begin(), format.extensions.end(), extension) !=
         format.extensions.end();
}

const Format& writtenFormat(const std::string& path) {
  const std::string extension = path.ends_with(".gz") ? ".gz" : extensionOf(path);
  for (const Format& format : formats()) {
    if (format.write != nullptr && has(format, extension)) return format;
  }
  throw Error(fmt::format("{}: cannot be written in the format {}, expected one of {}", path,
                          inQuotes(extension), extensions(true)));
}

// What else people have, and how they get a log out of it.
void refuseOtherFormats(const std::string& path, const std::string& bytes) {
  struct Other {
    std::string_view begins, sentence;
  };
  constexpr std::string_view kPickle =
      "is a pickle of Python, which could run any code; save arrays by numpy.savez";
  constexpr Other kOthers[] = {
      {"#ROSBAG V", "is a ROS 1 bag; convert it: rosbags-convert --src BAG --dst FOLDER"},
      {"PAR1", "is a Parquet file; save it as text: pandas.read_parquet(FILE).to_csv(...)"},
      {"ARROW1", "is a Feather file; save it as text: pandas.read_feather(FILE).to_csv(...)"},
      {"\x80\x02", kPickle},
      {"\x80\x03", kPickle},
      {"\x80\x04\x95", kPickle},
      {"\x80\x05\x95", kPickle},
      {"MDF  ",
       "is a measurement file of ASAM (MDF); save it as text: "
       "asammdf.MDF(FILE).to_dataframe().to_csv(...)"},
      {"TDSm",
       "is a file of LabVIEW (TDMS); save it as text: "
       "nptdms.TdmsFile(FILE).as_dataframe().to_csv(...)"},
      {"ULog", "is a log of PX4 (ULog); convert it: ulog2csv FILE"},
      {"\xed\xa1\xda\x01", "is a log of LCM; save its messages by numpy.savez or as MATLAB file"},
      {"\xd0\xcf\x11\xe0", "is an old Excel file; save it as CSV"},
      {"BZh", "is compressed by bzip2; unpack it first (bunzip2)"},
      {"\xfd"
       "7zXZ",
       "is compressed by xz; unpack it first (unxz)"}};
  constexpr const char* kEndsOfTags[] = {"/>", "</", "?>"};
  for (const Other& other : kOthers) {
    if (bytes.rfind(other.begins, 0) == 0) throw Error(fmt::format("{}: {}", path, other.sentence));
  }
  const bool ends =
      std::any_of(std::begin(kEndsOfTags), std::end(kEndsOfTags),
                  [&](const char* end) { return bytes.find(end) != std::string::npos; });
  if (bytes.rfind('<', 0) == 0 && ends)
    throw Error(path + ": is XML; write its numbers as a table, one row for each time stamp");
  if (bytes.rfind("PK\3\4", 0) == 0 && extensionOf(path) == ".xlsx")
    throw Error(path + ": is an Excel file; save it as CSV");
}

std::vector<Recording> readAny(const std::string& path, const RecordingOptions& options,
                               Notes* notes) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    const std::vector<std::string> files = logFilesIn(path);
    if (isBagFolder(path) || files.empty()) {
      return readRosbag(path, notes, options.csv.drop_bad_rows);
    }
    std::vector<Recording> recordings;
    for (const std::string& file : files) {
      for (Recording& recording : readRecordings(file, options))
        recordings.push_back(std::move(recording));
    }
    return recordings;
  }
  constexpr size_t kFirstBytes = 512;
  const std::string bytes = firstBytes(path, kFirstBytes), extension = extensionOf(path);
  refuseOtherFormats(path, bytes);
  // what the file is counts more than what it is called
  for (const Format& format : formats()) {
    if (format.first_bytes.empty() || bytes.rfind(format.first_bytes, 0) != 0) continue;
    if (isGzip(path)) refuseGzip(path);
    return format.read(path, options, notes);
  }
  if (isGzip(path)) {
    if (bytes.find('\0') != std::string::npos) refuseGzip(path);
    return readTextFile(path, options, notes);
  }
  for (const Format& format : formats()) {
    if (has(format, extension)) return format.read(path, options, notes);
  }
  if (bytes.find('\0') != std::string::npos) {
    throw Error(fmt::format("{}: is a binary file of no known format, expected one of {}", path,
                            extensions(false)));
  }
  return readTextFile(path, options, notes);
}

}  // namespace

bool isTextTable(const std::string& path) { return has(formats().front(), extensionOf(path)); }

bool isBagFolder(const std::string& folder) {
  return std::any_of(fs::directory_iterator(folder), fs::directory_iterator(),
                     [](const auto& file) {
                       const std::string extension = file.path().extension().string();
                       return file.path().filename() == "metadata.yaml" || extension == ".db3" ||
                              extension == ".mcap";
                     });
}

std::vector<std::string> logFilesIn(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string extension = extensionOf(entry.path().string());
    const bool known = std::any_of(formats().begin(), formats().end(),
                                   [&](const Format& format) { return has(format, extension); });
    if (extension == ".json") continue;  // what describes a log, more often than one
    const std::string name = entry.path().filename().string();
    if (known && entry.is_regular_file() && !name.starts_with(".") && !name.starts_with("README"))
      files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<Recording> readRecordings(const std::string& path, const RecordingOptions& options) {
  Notes notes;
  std::vector<Recording> recordings;
  try {
    recordings = readAny(path, options, &notes);
  } catch (const std::bad_alloc&) {
    throw Error(path + ": what it holds does not fit into memory");
  }
  Notes& told = recordings.front().notes;
  told.insert(told.begin(), notes.begin(), notes.end());
  return recordings;
}

std::vector<std::string> writtenPaths(const std::string& path, size_t recordings) {
  if (recordings < 2 || !isTextTable(path)) return {path};
  std::vector<std::string> paths;
  const fs::path whole(path);
  for (size_t k = 1; k <= recordings; ++k) {
    const std::string name =
        fmt::format("{}_{}{}", whole.stem().string(), k, whole.extension().string());
    paths.push_back((whole.parent_path() / name).string());
  }
  return paths;
}

void writeRecordings(std::vector<Recording> recordings, const std::string& path) {
  const Format& format = writtenFormat(path);
  std::map<std::string, int> of_topic, seen;
  for (const Recording& recording : recordings) ++of_topic[recording.topic];
  for (Recording& recording : recordings) {
    const std::string topic = recording.topic;
    if (of_topic[topic] < 2) continue;
    recording.topic += fmt::format("{}part_{}", topic.empty() ? "" : "/", ++seen[topic]);
  }
  format.write(recordings, path);
}

bool needsRowCount(const std::string& path) { return writtenFormat(path).needs_rows; }

std::unique_ptr<GrowingRecording> growingRecording(const std::string& path, Eigen::Index rows) {
  return writtenFormat(path).grow(path, rows);
}

void writeRecording(const Recording& recording, const std::string& path) {
  writeRecordings({recording}, path);
}

}  // namespace proprio
