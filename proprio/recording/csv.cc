#include "proprio/recording/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "proprio/core/atomic_file.h"
#include "proprio/core/error.h"
#include "proprio/core/text.h"

namespace proprio {
namespace {

std::string_view trimmed(std::string_view cell) {
  const auto space = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!cell.empty() && space(cell.front())) cell.remove_prefix(1);
  while (!cell.empty() && space(cell.back())) cell.remove_suffix(1);
  if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"')
    cell = cell.substr(1, cell.size() - 2);
  return cell;
}

void split(std::string_view line, char separator, std::vector<std::string_view>& cells) {
  cells.clear();
  size_t begin = 0;
  while (true) {
    const size_t end = line.find(separator, begin);
    cells.push_back(trimmed(line.substr(begin, end - begin)));
    if (end == std::string_view::npos) return;
    begin = end + 1;
  }
}

char separatorOf(std::string_view line) {
  char best = ',';
  for (const char c : {';', '\t'}) {
    if (std::count(line.begin(), line.end(), c) > std::count(line.begin(), line.end(), best))
      best = c;
  }
  return best;
}

void checkNames(const CsvTable& table, int line) {
  std::unordered_map<std::string, size_t> first;
  for (size_t c = 0; c < table.names.size(); ++c) {
    const FileLocation at{table.file, line, static_cast<int>(c) + 1};
    const std::string& name = table.names[c];
    if (name.empty())
      throw errorAt(at, "this column has no name; the first line names the columns");
    if (parseNumber(name)) {
      throw errorAt(at, fmt::format("the first line has the number {} where a column name is "
                                    "expected, such as q_shoulder",
                                    inQuotes(name)));
    }
    const auto [other, fresh] = first.emplace(name, c);
    if (!fresh) {
      throw errorAt(at, fmt::format("the column name {} is used already in column {}; rename one",
                                    inQuotes(name), other->second + 1));
    }
  }
}

void readRow(const std::vector<std::string_view>& cells, int line, const CsvTable& table,
             std::vector<double>& numbers) {
  if (cells.size() != table.names.size()) {
    throw errorAt({table.file, line, 0},
                  fmt::format("this row has {} cells, expected {}, one per column name",
                              cells.size(), table.names.size()));
  }
  for (size_t c = 0; c < cells.size(); ++c) {
    const auto number = parseNumber(cells[c]);
    if (!number || !std::isfinite(*number)) {
      throw errorAt({table.file, line, static_cast<int>(c) + 1},
                    fmt::format("column {} has {}, expected a finite number",
                                inQuotes(table.names[c]), inQuotes(cells[c])));
    }
    numbers.push_back(*number);
  }
}

}  // namespace

int CsvTable::column(const std::string& name) const {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? -1 : static_cast<int>(found - names.begin());
}

CsvTable readCsv(const std::string& path) { return readCsvText(readFile(path), path); }

CsvTable readCsvText(const std::string& text, const std::string& file_name) {
  CsvTable table;
  table.file = file_name;
  std::string_view rest = text;
  if (rest.rfind("\xef\xbb\xbf", 0) == 0) rest.remove_prefix(3);
  std::vector<std::string_view> cells;
  std::vector<double> numbers;
  char separator = 0;
  for (int line = 1; !rest.empty(); ++line) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view row = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (trimmed(row).empty() || row.front() == '#') continue;
    if (separator == 0) {
      separator = separatorOf(row);
      split(row, separator, cells);
      table.names.assign(cells.begin(), cells.end());
      checkNames(table, line);
    } else {
      split(row, separator, cells);
      readRow(cells, line, table, numbers);
    }
  }
  if (table.names.empty())
    throw Error(file_name + ": the file is empty; expected a line of column names");
  const auto columns = static_cast<Eigen::Index>(table.names.size());
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  table.values = Eigen::Map<const RowMajor>(
      numbers.data(), static_cast<Eigen::Index>(numbers.size()) / columns, columns);
  return table;
}

std::string csvText(const CsvTable& table) {
  std::string out = fmt::format("{}\n", fmt::join(table.names, ","));
  for (Eigen::Index i = 0; i < table.values.rows(); ++i) {
    for (Eigen::Index c = 0; c < table.values.cols(); ++c) {
      if (c > 0) out += ',';
      out += formatNumber(table.values(i, c));
    }
    out += '\n';
  }
  return out;
}

}  // namespace proprio
