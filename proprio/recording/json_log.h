#pragma once

/// Logs as JSON text, and text tables with lists of numbers in their cells.
///
/// JSON: a list of records, `[{"t": 0, "q": [0.1, 0.2]}, ...]`, one record per line (JSON Lines),
/// an object of lists, `{"t": [0, ...], "q": [[0.1, 0.2], ...]}`, or either inside other objects.
/// A number in every record is an array of one column, a list of m numbers one of m columns; a
/// record that lacks one has missing values there. Objects in objects get names with dots; lists of
/// texts may name the joints. From there on it is as for NumPy archives (named_arrays_internal.h).
///
/// Tables: cells such as "[0.1, 0.2]" or "[0.1 0.2]", as pandas writes columns of lists, are arrays
/// of that many columns; in quotes they may go over several lines. Other cells are numbers, dates,
/// or text that is left out. The first line names the columns.

#include <string>
#include <vector>

#include "proprio/recording/recording.h"

namespace proprio {

/// @throws Error with the place in the file if it is no such JSON, or has no numbers.
std::vector<Recording> readJsonLog(const std::string& path,
                                   std::vector<std::string>* notes = nullptr);
std::vector<Recording> readJsonLogText(const std::string& text, const std::string& file_name,
                                       std::vector<std::string>* notes = nullptr);

/// Do these first bytes of a text file hold a table with lists in its cells?
bool hasListCells(const std::string& first_bytes);
/// @throws Error with file and row for a row of other width, or a list of other length.
std::vector<Recording> readListCells(const std::string& path,
                                     std::vector<std::string>* notes = nullptr);
std::vector<Recording> readListCellsText(const std::string& text, const std::string& file_name,
                                         std::vector<std::string>* notes = nullptr);

}  // namespace proprio
