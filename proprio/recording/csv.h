#pragma once

/// Tables of numbers as text, whole in memory. The dialects are those of csv_stream.h.
///
/// As recordings: a column called time, t, stamp or timestamp (with _s, _ms, _us, _ns or a unit in
/// brackets; case does not matter) gives the time stamps, in s. Stamps without a unit that lie
/// beyond 1e11 are taken for milli-, micro- or nanoseconds since 1970, and a note says so. What the
/// other columns are is read from their names where these follow signal_names.h.
///
/// Written: a line of names with units, `time [s],q_elbow [rad]`, commas, shortest numbers that
/// read back exactly, an empty cell for NaN.

#include <Eigen/Core>
#include <functional>
#include <string>
#include <vector>

#include "proprio/recording/csv_stream.h"
#include "proprio/recording/recording.h"

namespace proprio {

struct CsvTable {
  std::string file;  ///< for messages
  std::vector<std::string> names;
  Eigen::MatrixXd values;  ///< row = sample, column = name
  /// As written beside the names ("deg"); empty, or none at the end: not stated.
  std::vector<std::string> units = {};

  /// Column of that name, -1 if there is none.
  int column(const std::string& name) const;
};

/// A table with names in which every cell is a number. @throws Error with file:row:column (both
/// from 1, the names are row 1) for a cell that is not a finite number, a row of another length, or
/// names that are missing or repeated.
CsvTable readCsv(const std::string& path);
CsvTable readCsvText(const std::string& text, const std::string& file_name = "csv");

std::string csvText(const CsvTable& table);

/// A text table as a recording; rows that were dropped are told in its notes.
Recording readCsvRecording(const std::string& path, const CsvOptions& options = {});
Recording readCsvRecordingText(const std::string& text, const std::string& file_name,
                               const CsvOptions& options = {});

/// The same in pieces of a few thousand samples, in constant memory; which column is time is judged
/// by the first of them. @return the notes.
std::vector<std::string> streamCsvRecording(const std::string& path, const CsvOptions& options,
                                            const std::function<void(const Recording&)>& sink);

/// One value per line, `columns` values per sample, called column_1, ... @throws Error if the
/// number of values is not a multiple of `columns`; with drop_bad_rows the rest is left out.
Recording readValueList(const std::string& path, int columns, const CsvOptions& options = {});
Recording readValueListText(const std::string& text, const std::string& file_name, int columns,
                            const CsvOptions& options = {});

std::string csvText(const Recording& recording);
/// Its first line, and its other lines.
std::string csvNames(const Recording& recording);
std::string csvRows(const Recording& recording);

/// Turns a column into the time stamps, where its name says that it is time (used by the readers
/// of other formats, too).
void takeTimeColumn(Recording& recording);

}  // namespace proprio
