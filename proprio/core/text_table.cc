#include "proprio/core/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "proprio/core/text.h"

namespace proprio {
namespace {

const char* code(Ink ink) {
  constexpr const char* kCodes[] = {"0", "1", "2", "31", "33", "32", "34", "36"};
  return kCodes[static_cast<int>(ink)];
}

std::string padded(const std::string& cell, int width, bool right) {
  const std::string space(static_cast<size_t>(std::max(0, width - displayWidth(cell))), ' ');
  return right ? space + cell : cell + space;
}

/// Letters of East Asian scripts and pictures take two columns: those whose UTF-8 starts with these
/// bytes (U+3000 to U+A4CF, U+AC00 to U+D7FF, U+F900 to U+FAFF, U+FF00 to U+FF3F, from U+10000).
bool isWide(unsigned char first, unsigned char second) {
  const int lead = first << 8 | second;
  return (lead >= 0xe380 && lead < 0xea94) || (lead >= 0xeab0 && lead < 0xeda0) ||
         (lead >= 0xefa4 && lead < 0xefac) || lead == 0xefbc || lead >= 0xf090;
}

void appendLine(std::string& out, std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + '\n';
}

}  // namespace

std::string inked(std::string_view text, Ink ink, bool colour) {
  if (!colour || ink == Ink::kPlain || text.empty()) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", code(ink), text);
}

int displayWidth(std::string_view text) {
  int width = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == 0x1b) {
      while (i < text.size() && text[i] != 'm') ++i;
    } else if ((byte & 0xc0) != 0x80) {
      // not a continuation byte
      const bool wide =
          i + 1 < text.size() && isWide(byte, static_cast<unsigned char>(text[i + 1]));
      width += wide ? 2 : 1;
    }
  }
  return width;
}

std::string wrapped(std::string_view text, int width, int indent) {
  std::string out;
  int column = 0;
  for (const std::string_view word : splitWords(text)) {
    const int length = displayWidth(word);
    if (column > 0 && column + 1 + length > width) {
      out += '\n' + std::string(static_cast<size_t>(indent), ' ');
      column = 0;
    } else if (column > 0) {
      out += ' ';
      ++column;
    }
    out += word;
    column += length;
  }
  return out;
}

std::string readable(double value, int digits) {
  if (std::isnan(value)) return "-";
  if (value == 0.0) return "0";
  const double size = std::abs(value);
  if (size >= 1e6 || size < 1e-4) return fmt::format("{:.{}g}", value, std::min(digits, 3));
  return fmt::format("{:.{}g}", value, size >= 1e4 ? 6 : digits);
}

std::string TextTable::text(bool colour, int indent) const {
  if (rows.empty()) return {};
  const size_t columns = header.size();
  std::vector<int> width(columns, 0);
  for (const auto& row : rows) {
    for (size_t c = 0; c < columns && c < row.size(); ++c)
      width[c] = std::max(width[c], displayWidth(row[c]));
  }
  for (size_t c = 0; c < columns; ++c) {
    if (width[c] > 0) width[c] = std::max(width[c], displayWidth(header[c]));
  }
  const auto line = [&](const std::vector<std::string>& cells, Ink ink) {
    std::string out(static_cast<size_t>(indent), ' ');
    for (size_t c = 0; c < columns; ++c) {
      if (width[c] == 0) continue;
      const std::string cell = c < cells.size() ? cells[c] : "";
      out += inked(padded(cell, width[c], c < right.size() && right[c]), ink, colour) + "  ";
    }
    return out;
  };
  std::string out;
  appendLine(out, line(header, Ink::kBold));
  std::string rule(static_cast<size_t>(indent), ' ');
  for (size_t c = 0; c < columns; ++c) {
    if (width[c] == 0) continue;
    for (int k = 0; k < width[c]; ++k) rule += "─";
    rule += "  ";
  }
  appendLine(out, inked(rule, Ink::kDim, colour));
  for (const auto& row : rows) appendLine(out, line(row, Ink::kPlain));
  return out;
}

}  // namespace proprio
