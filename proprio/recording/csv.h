#pragma once

/// Tables of numbers as text: a line of column names, then a line of numbers per sample.
///
/// Read: comma, semicolon or tab between cells (whichever the first line has most of), quoted
/// names, CRLF, a byte order mark; empty lines and lines that start with '#' are skipped. Decimal
/// point, never a comma. Written: commas, shortest numbers that read back exactly.

#include <Eigen/Core>
#include <string>
#include <vector>

namespace proprio {

struct CsvTable {
  std::string file;  ///< for messages
  std::vector<std::string> names;
  Eigen::MatrixXd values;  ///< row = sample, column = name

  /// Column of that name, -1 if there is none.
  int column(const std::string& name) const;
};

/// @throws Error with file:row:column (both from 1, the names are row 1) for a cell that is not a
/// finite number, a row of another length, or names that are missing or repeated.
CsvTable readCsv(const std::string& path);
CsvTable readCsvText(const std::string& text, const std::string& file_name = "csv");

std::string csvText(const CsvTable& table);

}  // namespace proprio
