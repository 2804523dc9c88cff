// Names and units of columns.

#include <fmt/format.h>

#include <array>
#include <unordered_map>

#include "proprio/recording/csv_dialect_internal.h"
#include "proprio/recording/name_words_internal.h"
#include "proprio/recording/units.h"

namespace proprio::csv {
namespace {

// "q1 [rad]" or "Time (s)" with a unit that is one
CsvColumn nameAndUnit(std::string_view text) {
  for (const auto& [open, close] : {std::pair{'[', ']'}, std::pair{'(', ')'}}) {
    if (text.empty() || text.back() != close) continue;
    const size_t begin = text.rfind(open);
    if (begin == std::string_view::npos || begin == 0) continue;
    const std::string_view name = trimmed(text.substr(0, begin));
    const std::string unit(trimmed(text.substr(begin + 1, text.size() - begin - 2)));
    if (!name.empty() && findUnit(unit)) return {std::string(name), unit};
  }
  // "Torque A1 / Nm", "Time in s"
  for (const std::string_view between : {std::string_view(" / "), std::string_view(" in ")}) {
    const size_t at = text.rfind(between);
    if (at == std::string_view::npos || at == 0) continue;
    const std::string unit(trimmed(text.substr(at + between.size())));
    if (findUnit(unit)) return {std::string(trimmed(text.substr(0, at))), unit};
  }
  return {std::string(text), ""};
}

}  // namespace

std::string utf8(std::string_view text) {
  bool valid = true;
  for (size_t i = 0; i < text.size() && valid; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const size_t more = byte < 0x80 ? 0 : byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : 1;
    valid = more == 0 || (byte >= 0xc2 && byte < 0xf5 && i + more < text.size());
    for (size_t k = 0; k < more && valid; ++k)
      valid = (static_cast<unsigned char>(text[++i]) & 0xc0) == 0x80;
  }
  if (valid) return std::string(text);
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) out += static_cast<char>(byte >= 0xc0 ? 0xc3 : 0xc2);
    out += static_cast<char>(byte >= 0xc0 ? byte - 0x40 : byte);
  }
  return out;
}

// in a cell in quotes, a quote is written twice
std::string textOf(std::string_view cell) {
  std::string text = utf8(cell);
  for (size_t i = text.find("\"\""); i != std::string::npos; i = text.find("\"\"", i + 1))
    text.erase(i, 1);
  return text;
}

std::vector<CsvColumn> namedColumns(const Cells& cells) {
  std::vector<CsvColumn> columns;
  std::unordered_map<std::string, int> count;
  for (size_t c = 0; c < cells.size(); ++c) {
    columns.push_back(nameAndUnit(textOf(cells[c])));
    columns.back().number = static_cast<int>(c) + 1;
    if (cells[c].empty()) columns.back().name = fmt::format("column_{}", c + 1);
    ++count[columns.back().name];
  }
  // two columns that differ in their unit only keep it in their names
  for (size_t c = 0; c < cells.size(); ++c) {
    if (count[columns[c].name] > 1) columns[c].name = textOf(cells[c]);
  }
  return columns;
}

bool listsJoints(const CsvText& text) {
  const Words words = wordsOf(text.name);
  return !text.value.empty() && words.size() > 1 && isNumberWord(words.back()) &&
         (words[words.size() - 2] == "name" || words[words.size() - 2] == "names");
}

bool areJointStates(const std::vector<CsvColumn>& numbers, size_t joints) {
  const size_t count = numbers.size();
  return joints > 0 && count >= 3 * joints + 2 && count <= 3 * joints + 3 &&
         numbers[0].name == "column_1";
}

std::string_view withoutBrackets(std::string_view cell) {
  constexpr std::array<std::string_view, 3> kBrackets = {"[]", "()", "<>"};
  for (const std::string_view pair : kBrackets) {
    if (cell.size() > 2 && cell.front() == pair[0] && cell.back() == pair[1])
      return trimmed(cell.substr(1, cell.size() - 2));
  }
  return cell;
}

bool isUnits(const Cells& cells) {
  bool known = false;
  for (const std::string_view cell : cells) {
    const std::string_view bare = withoutBrackets(cell);
    const bool unit = findUnit(utf8(bare)).has_value();
    if (!unit && !cell.empty() && bare == cell && cell != "-" && cell != "--") return false;
    known = known || unit;
  }
  return known;
}

void addUnits(const Cells& units, std::vector<CsvColumn>& columns) {
  for (size_t c = 0; c < columns.size() && c < units.size(); ++c) {
    const std::string unit = utf8(withoutBrackets(units[c]));
    if (findUnit(unit) && columns[c].unit.empty())
      columns[c].unit = unit;
    else if (!findUnit(unit) && unit.find_first_not_of("-") != std::string::npos)
      columns[c].name += " [" + unit + "]";
  }
}

}  // namespace proprio::csv
