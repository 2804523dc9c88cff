// Text tables with lists of numbers in their cells, and of the joints that they belong to.

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "proprio/core/atomic_file.h"
#include "proprio/core/error.h"
#include "proprio/core/text.h"
#include "proprio/recording/csv_dialect_internal.h"
#include "proprio/recording/json_log.h"
#include "proprio/recording/named_arrays_internal.h"

namespace proprio {
namespace {

using ListRow = std::vector<std::string>;

/// The next row from `at` on: cells between commas, in quotes with commas and line ends.
ListRow nextListRow(const std::string& text, size_t* at) {
  ListRow row(1);
  bool quoted = false;
  for (; *at < text.size(); ++*at) {
    const char c = text[*at];
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      row.emplace_back();
    } else if (c == '\n' && !quoted) {
      ++*at;
      break;
    } else if (c != '\r') {
      row.back() += c;
    }
  }
  return row;
}

/// What "[1, 2]", "(1, 2)", "array([1. 2.])" or "tensor([1., 2.])" have between their brackets,
/// with blanks for commas, line ends and `others`; nothing if it is no list.
std::optional<std::string> insideList(std::string_view cell, std::string_view others = "") {
  cell = csv::trimmed(cell);
  for (const std::string_view type : {"array(", "tensor("}) {
    if (cell.starts_with(type) && cell.ends_with(")"))
      cell = cell.substr(type.size(), cell.size() - type.size() - 1);
  }
  if (cell.size() < 2 ||
      !((cell.front() == '[' && cell.back() == ']') || (cell.front() == '(' && cell.back() == ')')))
    return std::nullopt;
  std::string inner(cell.substr(1, cell.size() - 2));
  std::replace_if(
      inner.begin(), inner.end(),
      [&](char c) {
        return c == ',' || c == '\n' || c == '\t' || others.find(c) != std::string_view::npos;
      },
      ' ');
  return inner;
}

/// The numbers of a list; nothing if it is no list of numbers.
std::optional<std::vector<double>> numbersInList(std::string_view cell) {
  const std::optional<std::string> inner = insideList(cell);
  if (!inner) return std::nullopt;
  std::vector<double> numbers;
  for (const std::string_view word : splitWords(*inner)) {
    const auto number = parseNumber(word);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

/// The words of "['elbow', 'wrist']" in a column that lists the joints; nothing in another one.
std::vector<std::string> jointsInList(std::string_view column, std::string_view cell) {
  const std::optional<std::string> inner = insideList(cell, "'\"");
  NamedArray list{std::string(csv::trimmed(column)), {}, "", {}};
  if (!inner || numbersInList(cell)) return {};
  for (const std::string_view word : splitWords(*inner)) list.texts.emplace_back(word);
  return isJointList(list, '.') ? list.texts : std::vector<std::string>();
}

std::optional<double> numberInCell(const std::string& cell) {
  if (csv::trimmed(cell).empty()) return std::numeric_limits<double>::quiet_NaN();
  if (const auto number = parseNumber(csv::trimmed(cell))) return number;
  return csv::parseStamp(csv::trimmed(cell));
}

}  // namespace

bool hasListCells(const std::string& first_bytes) {
  size_t at = 0;
  const ListRow names = nextListRow(first_bytes, &at);
  if (names.size() < 2 || at >= first_bytes.size()) return false;
  const auto isList = [](const std::string& cell) { return numbersInList(cell).has_value(); };
  if (std::any_of(names.begin(), names.end(), isList)) return false;
  const ListRow row = nextListRow(first_bytes, &at);
  return row.size() == names.size() && std::any_of(row.begin(), row.end(), isList);
}

std::vector<Recording> readListCellsText(const std::string& text, const std::string& file_name,
                                         std::vector<std::string>* notes) {
  size_t at = 0;
  const ListRow names = nextListRow(text, &at);
  std::vector<std::vector<double>> values(names.size());
  std::vector<size_t> widths;                                  // of the first row; zero for text
  std::vector<std::vector<std::string>> joints(names.size());  // lists of them
  Eigen::Index rows = 0;
  while (at < text.size()) {
    const ListRow row = nextListRow(text, &at);
    if (row.size() == 1 && csv::trimmed(row[0]).empty()) continue;
    ++rows;
    if (row.size() != names.size())
      throw Error(fmt::format("{}: row {} has {} cells, expected {}, one per column name",
                              file_name, rows, row.size(), names.size()));
    for (size_t c = 0; c < row.size(); ++c) {
      const auto list = numbersInList(row[c]);
      const auto number = list ? std::nullopt : numberInCell(row[c]);
      const size_t width = list ? list->size() : number ? 1 : 0;
      if (widths.size() == c) {
        widths.push_back(width);
        joints[c] = jointsInList(names[c], row[c]);
      }
      if (!joints[c].empty() && jointsInList(names[c], row[c]) != joints[c])
        throw Error(
            fmt::format("{}: row {}: column {} is another list than in the first row; expected the "
                        "same joints in the same order",
                        file_name, rows, inQuotes(names[c])));
      if (widths[c] == 0) continue;
      if (width != widths[c])
        throw Error(
            fmt::format("{}: row {}: column {} has {}, expected {} as in the first row", file_name,
                        rows, inQuotes(names[c]), inQuotes(row[c]),
                        widths[c] == 1 ? "a number" : fmt::format("{} numbers", widths[c])));
      if (list) values[c].insert(values[c].end(), list->begin(), list->end());
      if (number) values[c].push_back(*number);
    }
  }
  std::vector<NamedArray> arrays;
  for (size_t c = 0; c < widths.size(); ++c) {
    const auto width = static_cast<Eigen::Index>(widths[c]);
    const std::string name(csv::trimmed(names[c]));
    if (!joints[c].empty()) arrays.push_back({name, {}, "", joints[c]});
    // text, and the numbers of the rows that pandas writes before them
    if (width == 0 || name.empty()) continue;
    arrays.push_back({name,
                      Eigen::Map<const Eigen::MatrixXd>(values[c].data(), width, rows).transpose(),
                      "",
                      {}});
  }
  note(notes,
       fmt::format("{}: cells with lists of numbers are read as that many columns", file_name));
  return recordingsFromArrays(file_name, std::move(arrays), '.', "", notes);
}

std::vector<Recording> readListCells(const std::string& path, std::vector<std::string>* notes) {
  return readListCellsText(readFile(path), path, notes);
}

}  // namespace proprio
