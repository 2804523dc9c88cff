#pragma once

/// What people see in a terminal: columns that align (also with letters outside ASCII), and colour
/// only where it is wanted.

#include <string>
#include <string_view>
#include <vector>

namespace proprio {

enum class Ink { kPlain, kBold, kDim, kRed, kYellow, kGreen, kBlue, kCyan };

/// The text in that colour (ANSI escape codes), or unchanged when `colour` is false.
std::string inked(std::string_view text, Ink ink, bool colour);

/// Columns that a terminal needs for UTF-8 text; escape codes need none, East Asian
/// letters two.
int displayWidth(std::string_view text);

/// Words at most `width` columns per line; every line after the first starts with `indent` spaces.
std::string wrapped(std::string_view text, int width, int indent);

/// Number with `digits` significant digits and without an exponent where that stays readable; "-"
/// for NaN.
std::string readable(double value, int digits = 4);

struct TextTable {
  std::vector<std::string> header;
  std::vector<bool> right;  ///< per column: aligned to the right (numbers); missing = left
  std::vector<std::vector<std::string>> rows;

  /// Header (bold, with a line below) and rows, two spaces between columns, no spaces at line ends,
  /// each line indented. Empty without rows. Columns that are empty in every row are left out.
  std::string text(bool colour, int indent = 2) const;
};

}  // namespace proprio
