#pragma once

/// Tables of numbers as text, read in one pass in constant memory: rows are handed over in chunks.
///
/// Understood: comma, semicolon, tab, bar or blanks between cells (found out, or given); a line of
/// names or none; names in quotes and with a unit behind them, `q1 [rad]` or `Time (s)`; a decimal
/// comma where the separator is another character and no number has a point; lines that end in LF,
/// CRLF or CR; a byte order mark; a separator at the end of every row; lines that start with '#' or
/// '%' and empty lines are skipped. A cell that is empty or says nan, NA or null is NaN; true and
/// false are 1 and 0. Where there is no line of names, a comment right above the first row with as
/// many words as it has cells names the columns (NumPy's savetxt writes such files).
///
/// With CsvNames::kDetect also, each with a note: lines of other width or without numbers before
/// the names (a vendor's `Robot;KR6`); a line of units below the names, `[s],[rad]` or `s;deg`;
/// columns of text, which are left out; dates with time and times of day, in seconds. These are
/// judged by the first 200 lines.
///
/// Bad rows (wrong number of cells, a cell that is no number, a last row that is cut off) are an
/// Error with file:row:column, all counted from 1; or they are dropped and counted, if asked.

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace proprio {

enum class CsvNames { kDetect, kFirstLine, kNone };

struct CsvOptions {
  char separator = 0;  ///< 0: found out from the first lines; ' ' stands for any run of blanks
  CsvNames names = CsvNames::kDetect;
  bool drop_bad_rows = false;
  bool finite = false;  ///< every cell must be a finite number: empty ones, nan and inf are bad
};

struct CsvColumn {
  std::string name;    ///< "column_1", ... where the file has none
  std::string unit;    ///< as written; empty if not stated
  int number = 0;      ///< of the column in the file, from 1
  bool stamp = false;  ///< dates or times of day in the file, seconds here
};

/// A column of text, which gives no numbers.
struct CsvText {
  std::string name;
  std::string value;  ///< in the first row
  int number = 0;     ///< of the column in the file, from 1
};

struct CsvLayout {
  std::string file;  ///< for messages
  std::vector<CsvColumn> columns;
  std::vector<CsvText> texts;
  int names_line = 0;  ///< line of the names, 0 if there is none
  char separator = ',';
};

/// Rows of a table, one after the other.
using CsvRows =
    Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
using CsvSink = std::function<void(const CsvLayout& layout, const CsvRows& rows)>;

struct CsvSummary {
  CsvLayout layout;
  int64_t rows = 0;
  int64_t dropped = 0;             ///< bad rows, with CsvOptions::drop_bad_rows
  std::string first_problem;       ///< the message of the first dropped row
  bool cut_off = false;            ///< the last row was among them and had no line end
  std::vector<std::string> notes;  ///< what was skipped, or read as something else
};

/// Reads the file in blocks of a megabyte and calls `sink` with a few thousand rows at a time (not
/// at all if there are none). @throws Error as above, or if the file cannot be read, is empty, is
/// binary, or names are repeated.
CsvSummary streamCsv(const std::string& path, const CsvOptions& options, const CsvSink& sink);
CsvSummary streamCsvText(const std::string& text, const std::string& file_name,
                         const CsvOptions& options, const CsvSink& sink);

}  // namespace proprio
