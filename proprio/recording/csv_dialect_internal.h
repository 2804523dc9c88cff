#pragma once

/// How a text table is written: what separates its cells, where its rows begin, how its columns are
/// called.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proprio/recording/csv_stream.h"

namespace proprio::csv {

struct Dialect {
  char separator = ',';            ///< ' ' stands for any run of blanks
  std::vector<CsvColumn> columns;  ///< empty if the text has no rows
  int names_line = 0;              ///< from 1; 0 if there is none
  int lines_before_rows = 0;
  size_t bytes_before_rows = 0;
};

/// Looks at the first lines of `text`, which ends with a line end.
/// @throws Error if it is binary, or if a first line has names that are missing or repeated.
Dialect findDialect(std::string_view text, const CsvOptions& options, const std::string& file);

/// Neither empty nor a comment.
bool isRow(std::string_view line);

/// The cells of a line without blanks and quotes around them.
void splitCells(std::string_view line, char separator, std::vector<std::string_view>& cells);

/// NaN for an empty cell and the words for it; infinities; 1 and 0 for true and false.
std::optional<double> valueOfWord(std::string_view cell);

}  // namespace proprio::csv
