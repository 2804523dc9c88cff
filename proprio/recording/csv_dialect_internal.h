#pragma once

/// How a text table is written: what separates its cells, where its rows begin, how its columns are
/// called.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proprio/recording/csv_stream.h"

namespace proprio::csv {

/// What the cells of a column are, as far as the first lines show it.
enum class CellKind : unsigned char {
  kNumber,
  kStamp,  ///< dates with time, or times of day
  kText,   ///< left out
  kJoint,  ///< left out, but the same in every row: whose the numbers of the row are
  kEmpty   ///< nothing so far: numbers, or a remark now and then
};

struct Dialect {
  char separator = ',';             ///< ' ' stands for any run of blanks
  std::vector<CellKind> cells;      ///< of a row; empty if the text has no rows
  std::vector<CsvColumn> columns;   ///< of the cells that are no text
  std::vector<CsvText> texts;       ///< of those that are
  std::vector<std::string> notes;   ///< what was skipped or taken for units
  std::vector<std::string> header;  ///< the lines of names and units, if there are any
  int names_line = 0;               ///< from 1; 0 if there is none
  int lines_before_rows = 0;
  size_t bytes_before_rows = 0;
};

/// Looks at the first lines of `text`, which ends with a line end.
/// @throws Error if it is binary, or if a first line has names that are missing or repeated.
Dialect findDialect(std::string_view text, const CsvOptions& options, const std::string& file);

using Cells = std::vector<std::string_view>;

/// Bytes that are not UTF-8 are taken for Latin-1, as instruments write it.
std::string utf8(std::string_view text);
/// Columns with these names, of which known units are taken off; column_1, ... where they are
/// empty.
std::vector<CsvColumn> namedColumns(const Cells& cells);
/// "[deg]" without its brackets.
std::string_view withoutBrackets(std::string_view cell);
/// Does a line below the names hold their units? At least one is known, and all others are empty, a
/// stroke or in brackets.
bool isUnits(const Cells& cells);
/// Units as such a line says them; an unknown one becomes a part of the name.
void addUnits(const Cells& units, std::vector<CsvColumn>& columns);

/// Is this column of text one of those that list the joints, "field.name0"?
bool listsJoints(const CsvText& text);
/// `ros2 topic echo --csv` of JointState has no names: so many columns of numbers for so many
/// joints.
bool areJointStates(const std::vector<CsvColumn>& numbers, size_t joints);

/// Neither empty nor a comment.
bool isRow(std::string_view line);

/// Without blanks around it.
std::string_view trimmed(std::string_view text);

/// The cells of a line without blanks and quotes around them.
void splitCells(std::string_view line, char separator, std::vector<std::string_view>& cells);

/// NaN for an empty cell and the words for it; infinities; 1 and 0 for true and false.
std::optional<double> valueOfWord(std::string_view cell);

/// A number with this decimal point; exponents may begin with d, as Fortran writes them.
std::optional<double> parsedNumber(std::string_view text, char decimal);

/// A number or one of the words above; with a decimal comma where no cell can be cut there (between
/// commas: in quotes).
bool isNumber(std::string_view cell);

/// Seconds since 1970 of 2024-03-01T12:00:00.123Z, 2024/03/01 12:00:00,123 or 01.03.2024 12:00:00
/// (with +hh:mm or Z; UTC where nothing is said), or seconds since midnight of 12:00:00.123, or of
/// a duration, "0.005 sec".
std::optional<double> parseStamp(std::string_view cell);

std::optional<double> parseDuration(std::string_view cell);
/// A date without a time.
bool isDate(std::string_view cell);

}  // namespace proprio::csv
