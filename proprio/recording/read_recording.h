#pragma once

/// Logs of every format, recognised by their first bytes and their extension.

#include <string>
#include <vector>

#include "proprio/recording/csv_stream.h"
#include "proprio/recording/recording.h"

namespace proprio {

/// Which part of a log that holds several is wanted: those under a topic or group called train, and
/// those under test or val (also from arrays called y_train and y_test).
enum class DataPart { kAll, kTraining, kTest };

struct RecordingOptions {
  CsvOptions csv;   ///< for text files; drop_bad_rows also asks this of other formats
  int columns = 0;  ///< > 0: text with one value per line, so many values per sample
  DataPart part = DataPart::kAll;  ///< for readRobotLog(), where there are such parts
};

/// One recording per time base: one for a text file, one per topic of a bag (a file, or a folder
/// with metadata.yaml), those of every log in another folder. What of the file was not read is told
/// in the notes of the first.
/// @throws Error if the file cannot be read, or is of no known format (the message lists them).
std::vector<Recording> readRecordings(const std::string& path,
                                      const RecordingOptions& options = {});

/// "train", "val" or "test" if the recording's topic says that it is such a part; else empty.
std::string partOf(const Recording& recording);

/// By its extension.
bool isTextTable(const std::string& path);
/// Is the folder a log by itself, a ROS 2 bag?
bool isBagFolder(const std::string& folder);
/// Files of a folder whose extension is that of a log, in the order of their names.
std::vector<std::string> logFilesIn(const std::string& folder);

/// Whole or not at all, in the format of the extension (the message of a wrong one lists them).
void writeRecording(const Recording& recording, const std::string& path);

}  // namespace proprio
