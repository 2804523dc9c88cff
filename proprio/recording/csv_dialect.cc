#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <unordered_map>

#include "proprio/core/error.h"
#include "proprio/core/text.h"
#include "proprio/recording/csv_dialect_internal.h"
#include "proprio/recording/units.h"

namespace proprio::csv {
namespace {

constexpr size_t kLinesLookedAt = 20;

bool isBlank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && isBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && isBlank(text.back())) text.remove_suffix(1);
  return text;
}

// also removes quotes
std::string_view cellOf(std::string_view text) {
  text = trimmed(text);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
    text = trimmed(text.substr(1, text.size() - 2));
  return text;
}

struct Line {
  std::string_view text;
  int number = 0;
  size_t begin = 0, end = 0;  // bytes; end is behind the line end
};

struct FirstLines {
  std::vector<Line> rows;
  std::string_view comment;  // right above the first row, without its mark
  int lines = 0;             // all of them, where there are no rows
};

FirstLines firstLines(std::string_view text, size_t begin) {
  FirstLines first;
  for (size_t at = begin; at < text.size() && first.rows.size() < kLinesLookedAt;) {
    const size_t line_end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, line_end - at);
    ++first.lines;
    if (isRow(line)) {
      first.rows.push_back({line, first.lines, at, std::min(line_end + 1, text.size())});
    } else if (first.rows.empty()) {
      const std::string_view comment = trimmed(line);
      first.comment = comment.substr(std::min(comment.find_first_not_of("#%"), comment.size()));
    }
    at = line_end + 1;
  }
  return first;
}

size_t countOutsideQuotes(std::string_view line, char c) {
  size_t count = 0;
  bool quoted = false;
  for (const char x : line) {
    if (x == '"') quoted = !quoted;
    if (x == c && !quoted) ++count;
  }
  return count;
}

// The separator that every line has equally often; a comma only if nothing else is there, because
// it may be a decimal comma. Otherwise the one that the first line has most of; otherwise blanks.
char findSeparator(const std::vector<Line>& rows) {
  constexpr std::array<char, 4> kCandidates = {';', '\t', '|', ','};
  for (const char c : kCandidates) {
    const size_t count = countOutsideQuotes(rows[0].text, c);
    if (count > 0 && std::all_of(rows.begin(), rows.end(), [&](const Line& line) {
          return countOutsideQuotes(line.text, c) == count;
        }))
      return c;
  }
  char best = ',';
  for (const char c : kCandidates) {
    if (countOutsideQuotes(rows[0].text, c) > countOutsideQuotes(rows[0].text, best)) best = c;
  }
  if (countOutsideQuotes(rows[0].text, best) > 0) return best;
  // blanks: several words per line; a single column may have a name of several words
  std::vector<std::string_view> words;
  splitCells(rows.back().text, ' ', words);
  return words.size() > 1 ? ' ' : ',';
}

bool isNumber(std::string_view cell, char separator) {
  if (valueOfWord(cell) || parseNumber(cell)) return true;
  if (separator == ',' || cell.find('.') != std::string_view::npos) return false;
  std::string with_point(cell);
  std::replace(with_point.begin(), with_point.end(), ',', '.');
  return parseNumber(with_point).has_value();
}

// Is the first line a line of names? @throws Error if it looks like a damaged row of numbers.
bool isNames(const std::vector<std::string_view>& cells, char separator, const Line& line,
             const std::string& file) {
  const auto is_text = [&](std::string_view cell) { return !isNumber(cell, separator); };
  const auto text = std::find_if(cells.begin(), cells.end(), is_text);
  if (text == cells.end()) return false;
  // names may be whole numbers ("t,1,2,3"), but not measurements
  const bool measured = std::any_of(cells.begin(), cells.end(), [&](std::string_view cell) {
    return !is_text(cell) && cell.find_first_of(".") != std::string_view::npos;
  });
  if (measured) {
    throw errorAt({file, line.number, static_cast<int>(text - cells.begin()) + 1},
                  fmt::format("the first line has numbers and the text {}; expected numbers only, "
                              "or names only",
                              inQuotes(*text)));
  }
  return true;
}

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
  return {std::string(text), ""};
}

void checkNames(const std::vector<std::string_view>& cells, const Line& line, bool required,
                const std::string& file) {
  std::unordered_map<std::string_view, size_t> first;
  for (size_t c = 0; c < cells.size(); ++c) {
    const FileLocation at{file, line.number, static_cast<int>(c) + 1};
    if (required && cells[c].empty())
      throw errorAt(at, "this column has no name; the first line names the columns");
    if (required && parseNumber(cells[c])) {
      throw errorAt(at, fmt::format("the first line has the number {} where a column name is "
                                    "expected, such as q_shoulder",
                                    inQuotes(cells[c])));
    }
    const auto [other, fresh] = first.emplace(cells[c], c);
    if (!fresh && !cells[c].empty()) {
      throw errorAt(at, fmt::format("the column name {} is used already in column {}; rename one",
                                    inQuotes(cells[c]), other->second + 1));
    }
  }
}

std::vector<CsvColumn> namedColumns(const std::vector<std::string_view>& cells) {
  std::vector<CsvColumn> columns;
  std::unordered_map<std::string, int> count;
  for (size_t c = 0; c < cells.size(); ++c) {
    columns.push_back(nameAndUnit(cells[c]));
    if (cells[c].empty()) columns.back().name = fmt::format("column_{}", c + 1);
    ++count[columns.back().name];
  }
  // two columns that differ in their unit only keep it in their names
  for (size_t c = 0; c < cells.size(); ++c) {
    if (count[columns[c].name] > 1) columns[c].name = std::string(cells[c]);
  }
  return columns;
}

}  // namespace

bool isRow(std::string_view line) {
  line = trimmed(line);
  return !line.empty() && line.front() != '#' && line.front() != '%';
}

void splitCells(std::string_view line, char separator, std::vector<std::string_view>& cells) {
  cells.clear();
  const bool blanks = separator == ' ';
  line = blanks ? trimmed(line) : line;
  size_t begin = 0;
  while (begin <= line.size()) {
    bool quoted = false;
    size_t end = begin;
    for (; end < line.size(); ++end) {
      if (line[end] == '"') quoted = !quoted;
      if (!quoted && (line[end] == separator || (blanks && isBlank(line[end])))) break;
    }
    cells.push_back(cellOf(line.substr(begin, end - begin)));
    if (end >= line.size()) return;
    begin = end + 1;
    while (blanks && begin < line.size() && isBlank(line[begin])) ++begin;
  }
}

std::optional<double> valueOfWord(std::string_view cell) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr size_t kLongest = 9;
  if (cell.empty()) return kNan;
  if (cell.size() > kLongest) return std::nullopt;
  std::array<char, kLongest> buffer{};
  std::transform(cell.begin(), cell.end(), buffer.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::string_view word(buffer.data(), cell.size());
  if (word == "true") return 1.0;
  if (word == "false") return 0.0;
  const bool negative = word.front() == '-';
  if (negative || word.front() == '+') word.remove_prefix(1);
  if (word == "inf" || word == "infinity") return negative ? -kInf : kInf;
  constexpr std::array<std::string_view, 7> kMissing = {"nan",  "na",       "n/a",   "null",
                                                        "none", "nan(ind)", "1.#ind"};
  const bool missing = std::find(kMissing.begin(), kMissing.end(), word) != kMissing.end();
  return missing ? std::optional<double>(kNan) : std::nullopt;
}

Dialect findDialect(std::string_view text, const CsvOptions& options, const std::string& file) {
  if (text.rfind("\xff\xfe", 0) == 0 || text.rfind("\xfe\xff", 0) == 0)
    throw Error(file + ": is UTF-16 text; save it as UTF-8");
  if (text.find('\0') != std::string_view::npos)
    throw Error(file + ": is a binary file, expected a table as text");
  const size_t mark = text.rfind("\xef\xbb\xbf", 0) == 0 ? 3 : 0;
  const FirstLines first = firstLines(text, mark);
  Dialect dialect;
  dialect.lines_before_rows = first.lines;
  dialect.bytes_before_rows = text.size();
  if (first.rows.empty()) return dialect;

  const char separator = options.separator != 0 ? options.separator : findSeparator(first.rows);
  std::vector<std::string_view> cells, second;
  splitCells(first.rows[0].text, separator, cells);
  if (first.rows.size() > 1) splitCells(first.rows[1].text, separator, second);
  // a separator at the end of every row makes no column
  const bool same = second.empty() || (second.size() == cells.size() && second.back().empty());
  if (cells.size() > 1 && cells.back().empty() && separator != ' ' && same) cells.pop_back();

  const Line& line = first.rows[0];
  const bool required = options.names == CsvNames::kFirstLine;
  const bool named =
      required || (options.names == CsvNames::kDetect && isNames(cells, separator, line, file));
  dialect.separator = separator;
  dialect.lines_before_rows = named ? line.number : line.number - 1;
  dialect.bytes_before_rows = named ? line.end : line.begin;
  if (named) {
    dialect.names_line = line.number;
    checkNames(cells, line, required, file);
    dialect.columns = namedColumns(cells);
    return dialect;
  }
  std::vector<std::string_view> words;
  splitCells(first.comment, separator, words);
  if (words.size() != cells.size()) splitCells(first.comment, ' ', words);
  const bool named_above =
      words.size() == cells.size() && std::none_of(words.begin(), words.end(), [&](auto word) {
        return word.empty() || isNumber(word, separator) ||
               std::count(words.begin(), words.end(), word) > 1;
      });
  if (!named_above) words.assign(cells.size(), {});
  dialect.columns = namedColumns(words);
  return dialect;
}

}  // namespace proprio::csv
