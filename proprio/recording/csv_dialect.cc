#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <deque>
#include <unordered_map>

#include "proprio/core/error.h"
#include "proprio/core/text.h"
#include "proprio/recording/csv_dialect_internal.h"
#include "proprio/recording/units.h"

namespace proprio::csv {
namespace {

constexpr size_t kLinesLookedAt = 200;  // the header of a vendor's file may be long
constexpr size_t kLinesJudged = 40;     // to find the separator

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

// What a single cell looks like.
enum class Look { kEmpty, kNumber, kStamp, kDamaged, kText };

Look lookOf(std::string_view cell) {
  if (cell.empty()) return Look::kEmpty;
  if (isNumber(cell)) return Look::kNumber;
  if (parseStamp(cell)) return Look::kStamp;
  if (isDate(cell)) return Look::kText;
  const std::string_view digits = cell.substr(std::min(cell.find_first_not_of("+-."), cell.size()));
  const bool hexadecimal = digits.size() > 2 && digits[0] == '0' && (digits[1] | 0x20) == 'x';
  const bool starts = !digits.empty() && std::isdigit(static_cast<unsigned char>(digits[0])) != 0;
  return starts && !hexadecimal ? Look::kDamaged : Look::kText;
}

bool isValue(Look look) { return look == Look::kNumber || look == Look::kStamp; }

// The first lines as cells of a separator, and the rows among them.
struct Table {
  char separator = ',';
  std::vector<Cells> lines;
  std::vector<std::vector<Look>> looks;
  size_t width = 0;  // of the rows: that of most lines with a number
  int score = 0;     // values minus texts of these lines
};

Table tableOf(const std::vector<Line>& rows, size_t begin, char separator) {
  Table table;
  table.separator = separator;
  std::vector<std::pair<size_t, int>> widths;  // and how many lines with numbers
  for (size_t i = begin; i < rows.size(); ++i) {
    Cells cells;
    splitCells(rows[i].text, separator, cells);
    std::vector<Look> looks;
    for (const std::string_view cell : cells) looks.push_back(lookOf(cell));
    if (std::any_of(looks.begin(), looks.end(), isValue)) {
      const auto same = std::find_if(widths.begin(), widths.end(),
                                     [&](const auto& w) { return w.first == cells.size(); });
      if (same == widths.end())
        widths.emplace_back(cells.size(), 1);
      else
        ++same->second;
    }
    table.lines.push_back(std::move(cells));
    table.looks.push_back(std::move(looks));
  }
  int most = 0;
  for (const auto& [width, count] : widths) {
    if (count > most) table.width = width;
    most = std::max(most, count);
  }
  for (const std::vector<Look>& looks : table.looks) {
    if (looks.size() != table.width || std::none_of(looks.begin(), looks.end(), isValue)) continue;
    for (const Look look : looks) table.score += isValue(look) ? 1 : look == Look::kEmpty ? 0 : -1;
  }
  return table;
}

// The separator that every line has equally often; otherwise the one that the first line has most
// of; otherwise blanks.
char separatorWithoutNumbers(const std::vector<Line>& rows) {
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
  Cells words;
  splitCells(rows.back().text, ' ', words);
  return words.size() > 1 ? ' ' : ',';
}

// The separator that makes most numbers of the lines; a comma after the others, because it may be a
// decimal comma.
char findSeparator(const std::vector<Line>& rows) {
  const size_t begin = rows.size() > kLinesJudged ? rows.size() - kLinesJudged : 0;
  char best = 0;
  int score = 0;
  for (const char candidate : {';', '\t', '|', ',', ' '}) {
    const std::string_view any =
        candidate == ' ' ? std::string_view(" \t") : std::string_view(&candidate, 1);
    if (rows.back().text.find_first_of(any) == std::string_view::npos) continue;
    const Table table = tableOf(rows, begin, candidate);
    if (table.width < 2 || table.score <= score) continue;
    best = candidate;
    score = table.score;
  }
  return best != 0 ? best : separatorWithoutNumbers(rows);
}

// @throws Error if a line of names looks like a damaged row of numbers: names may be whole numbers
// ("t,1,2,3"), but not measurements.
void requireNames(const Cells& cells, const Line& line, const std::string& file) {
  const auto is_text = [](std::string_view cell) { return !isNumber(cell); };
  const auto text = std::find_if(cells.begin(), cells.end(), is_text);
  const bool measured = std::any_of(cells.begin(), cells.end(), [&](std::string_view cell) {
    return !is_text(cell) && cell.find('.') != std::string_view::npos;
  });
  if (measured && text != cells.end()) {
    throw errorAt({file, line.number, static_cast<int>(text - cells.begin()) + 1},
                  fmt::format("the first line has numbers and the text {}; expected numbers only, "
                              "or names only",
                              inQuotes(*text)));
  }
}

// The names that a comment above the first row gives; empty ones if it does not.
Cells namesAbove(std::string_view comment, const Table& table) {
  Cells words;
  splitCells(comment, table.separator, words);
  if (words.size() != table.width) splitCells(comment, ' ', words);
  const bool named =
      words.size() == table.width && std::none_of(words.begin(), words.end(), [&](auto word) {
        return word.empty() || isNumber(word) || std::count(words.begin(), words.end(), word) > 1;
      });
  if (!named) words.assign(table.width, {});
  return words;
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

// A line that underlines the names.
bool isRule(std::string_view line) {
  return std::none_of(line.begin(), line.end(),
                      [](unsigned char c) { return std::isalnum(c) != 0 || c >= 0x80; });
}

bool hasWidth(const Table& table, size_t i) {
  const Cells& cells = table.lines[i];
  return cells.size() == table.width ||
         (cells.size() == table.width + 1 && cells.back().empty() && table.separator != ' ');
}

// A separator at the end of every row makes no column, unless the column has a name.
void forgetLastColumn(Table& table) {
  if (table.width < 2 || table.separator == ' ') return;
  for (size_t i = 0; i < table.lines.size(); ++i) {
    if (table.lines[i].size() == table.width && !table.lines[i].back().empty()) return;
  }
  --table.width;
}

// What most cells of each column are. The first line may hold names, and does not vote if there are
// others.
std::vector<CellKind> kindsOf(const Table& table) {
  std::vector<size_t> voters;
  for (size_t i = 0; i < table.lines.size(); ++i) {
    const std::vector<Look>& looks = table.looks[i];
    if (hasWidth(table, i) && std::any_of(looks.begin(), looks.end(), isValue)) voters.push_back(i);
  }
  if (voters.size() > 1 && voters[0] == 0) voters.erase(voters.begin());
  std::vector<CellKind> kinds;
  for (size_t c = 0; c < table.width; ++c) {
    size_t numbers = 0, stamps = 0, texts = 0;
    for (const size_t i : voters) {
      const Look look = table.looks[i][c];
      numbers += look == Look::kNumber || look == Look::kDamaged ? 1 : 0;
      stamps += look == Look::kStamp ? 1 : 0;
      texts += look == Look::kText ? 1 : 0;
    }
    const bool text = texts > numbers + stamps;
    kinds.push_back(text                           ? CellKind::kText
                    : stamps > numbers             ? CellKind::kStamp
                    : numbers + stamps + texts > 0 ? CellKind::kNumber
                                                   : CellKind::kEmpty);
  }
  return kinds;
}

// Is a line a row of the table, or a damaged one (which the reader will refuse)?
bool isData(const Table& table, const std::vector<CellKind>& kinds, size_t i) {
  const std::vector<Look>& looks = table.looks[i];
  bool fits = hasWidth(table, i);
  for (size_t c = 0; c < kinds.size() && fits; ++c) {
    const bool value =
        isValue(looks[c]) || looks[c] == Look::kEmpty || (looks[c] == Look::kDamaged && i > 0);
    fits = value || kinds[c] == CellKind::kText || (kinds[c] == CellKind::kEmpty && i > 0);
  }
  if (fits || (i == 0 && hasWidth(table, i))) return fits;
  const auto values = std::count_if(looks.begin(), looks.end(), isValue);
  return looks.size() > 1 && isValue(looks[0]) && 2 * values > std::ssize(looks);
}

// Names that are separated in another way than the rows, or have units behind a blank.
bool splitNames(std::string_view line, size_t width, Cells& cells) {
  for (const char separator : {';', '\t', '|', ',', ' '}) {
    splitCells(line, separator, cells);
    if (cells.size() == width + 1 && cells.back().empty()) cells.pop_back();
    if (cells.size() == width && width > 1) return true;
  }
  Cells joined;  // of blanks: "q1 [deg]" is one name
  for (const std::string_view cell : cells) {
    const bool unit = !joined.empty() && withoutBrackets(cell) != cell;
    if (!unit) joined.push_back(cell);
    if (unit)
      joined.back() = std::string_view(joined.back().data(),
                                       static_cast<size_t>(cell.end() - joined.back().data()));
  }
  cells = joined;
  return cells.size() == width && width > 1;
}

std::string shortened(std::string_view line) {
  constexpr size_t kMost = 40;
  const std::string text = utf8(trimmed(line));
  return inQuotes(text.size() > kMost ? text.substr(0, kMost) + "..." : text);
}

// Where the names, their units and the rows are.
struct Header {
  size_t rows = 0;             // index of the first row
  int names = -1, units = -1;  // indices of lines, -1 if there are none
  int index = -1;              // of a line that names the first column only, as pandas writes it
  Cells name_cells;
  std::deque<std::string> titled;  // names that were put together
  size_t skipped = 0;              // lines before all that
};

bool hasRepeated(const Cells& cells) {
  for (size_t c = 0; c < cells.size(); ++c) {
    if (!cells[c].empty() && std::count(cells.begin(), cells.end(), cells[c]) > 1) return true;
  }
  return false;
}

// "time,,,": the name of the index below those of the columns
bool isIndexName(const Cells& cells) {
  return cells.size() > 1 && !cells[0].empty() &&
         std::all_of(cells.begin() + 1, cells.end(), [](auto cell) { return cell.empty(); });
}

// "Position;;Torque;" above "A1;A2;A1;A2": a title holds up to the next one.
void addTitles(const Table& table, size_t line, Header& header) {
  const Cells& titles = table.lines[line];
  std::string_view title;
  for (size_t c = header.index < 0 ? 0 : 1; c < table.width; ++c) {
    if (!titles[c].empty()) title = titles[c];
    if (title.empty() || title == header.name_cells[c]) continue;
    header.titled.push_back(fmt::format("{} {}", title, header.name_cells[c]));
    header.name_cells[c] = trimmed(header.titled.back());
  }
}

Header findHeader(const Table& table, const std::vector<CellKind>& kinds,
                  const std::vector<Line>& lines) {
  Header header;
  while (header.rows < lines.size() && !isData(table, kinds, header.rows)) ++header.rows;
  const size_t count = header.rows;
  for (size_t i = 0; i < count; ++i) {
    if (hasWidth(table, i) && !isRule(lines[i].text)) header.names = static_cast<int>(i);
  }
  if (header.names > 0 && isUnits(table.lines[static_cast<size_t>(header.names)]) &&
      hasWidth(table, static_cast<size_t>(header.names) - 1))
    header.units = header.names--;
  if (header.names > 0 && isIndexName(table.lines[static_cast<size_t>(header.names)]) &&
      hasWidth(table, static_cast<size_t>(header.names) - 1))
    header.index = header.names--;
  int top = header.names;
  if (header.names >= 0) {
    header.name_cells = table.lines[static_cast<size_t>(header.names)];
    header.name_cells.resize(table.width);
    if (header.index >= 0) header.name_cells[0] = table.lines[static_cast<size_t>(header.index)][0];
    while (top > 0 && hasRepeated(header.name_cells) &&
           hasWidth(table, static_cast<size_t>(top) - 1))
      addTitles(table, static_cast<size_t>(--top), header);
  } else if (count > 0 && splitNames(lines[count - 1].text, table.width, header.name_cells)) {
    header.names = static_cast<int>(count) - 1;
  } else if (count == 1 && 2 * table.lines[0].size() > table.width && table.lines[0].size() > 1) {
    header.names = 0;  // too many or too few: the first row will be refused
    header.name_cells = table.lines[0];
  }
  if (top < 0) top = header.names;
  header.skipped = top >= 0 ? static_cast<size_t>(top) : count;
  // rows begin below the names; what is there and is none is refused, unless it underlines them
  const int last = std::max({header.names, header.units, header.index});
  if (last >= 0) {
    size_t next = static_cast<size_t>(last) + 1;
    while (next < count && isRule(lines[next].text)) ++next;
    header.rows = next;
  }
  return header;
}

void noteColumns(const Table& table, size_t row, Dialect& dialect,
                 const std::vector<CsvColumn>& columns) {
  std::vector<std::string> texts;
  for (size_t c = 0; c < dialect.cells.size(); ++c) {
    const std::string_view cell = row < table.lines.size() && c < table.lines[row].size()
                                      ? table.lines[row][c]
                                      : std::string_view();
    if (dialect.cells[c] == CellKind::kText) {
      dialect.texts.push_back({columns[c].name, utf8(cell), columns[c].number});
      texts.push_back(fmt::format("{} ({})", inQuotes(columns[c].name), shortened(cell)));
      continue;
    }
    dialect.columns.push_back(columns[c]);
    if (dialect.cells[c] != CellKind::kStamp) continue;
    const bool dated = cell.find_first_of("-/") < 5 || cell.find('.') == 2;
    dialect.columns.back().unit = std::string("s");
    dialect.columns.back().stamp = true;
    const bool duration = parseDuration(cell).has_value();
    dialect.notes.push_back(fmt::format("column {} holds {} ({}): read as seconds{}",
                                        inQuotes(columns[c].name),
                                        duration ? "times with a unit"
                                        : dated  ? "dates and times"
                                                 : "times of day",
                                        shortened(cell),
                                        duration ? ""
                                        : dated  ? " since 1970, UTC where no zone is said"
                                                 : " since midnight"));
  }
  if (texts.empty()) return;
  constexpr size_t kMost = 8;
  const size_t more = texts.size() > kMost ? texts.size() - kMost : 0;
  texts.resize(texts.size() - more);
  dialect.notes.push_back(fmt::format(
      "{} with text {} left out: {}{}", texts.size() + more == 1 ? "a column" : "columns",
      texts.size() + more == 1 ? "was" : "were", fmt::join(texts, ", "),
      more > 0 ? fmt::format(" and {} more", more) : ""));
}

}  // namespace

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
  dialect.separator = separator;
  const auto begin_rows = [&](size_t i) {
    const bool behind = i >= first.rows.size();
    const Line& line = behind ? first.rows.back() : first.rows[i];
    dialect.lines_before_rows = behind ? line.number : line.number - 1;
    dialect.bytes_before_rows = behind ? line.end : line.begin;
  };
  Table table = tableOf(first.rows, 0, separator);
  const bool judged = options.names == CsvNames::kDetect && table.width > 0;
  if (!judged) table.width = table.lines[0].size();
  forgetLastColumn(table);

  Header header;
  if (judged) {
    dialect.cells = kindsOf(table);
    header = findHeader(table, dialect.cells, first.rows);
    for (size_t i = header.skipped; i < header.rows; ++i)
      dialect.header.emplace_back(trimmed(first.rows[i].text));
  } else if (options.names != CsvNames::kNone) {
    header.names = 0;
    header.rows = 1;
    header.name_cells = table.lines[0];
    header.name_cells.resize(table.width);
  }
  begin_rows(header.rows);
  if (header.names >= 0) {
    const Line& line = first.rows[static_cast<size_t>(header.names)];
    if (judged) requireNames(header.name_cells, line, file);
    checkNames(header.name_cells, line, options.names == CsvNames::kFirstLine, file);
    dialect.names_line = line.number;
  } else {
    header.name_cells = namesAbove(first.comment, table);
  }
  dialect.cells.resize(header.name_cells.size(), CellKind::kNumber);
  std::vector<CsvColumn> columns = namedColumns(header.name_cells);
  if (header.units >= 0) {
    const auto units = static_cast<size_t>(header.units);
    addUnits(table.lines[units], columns);
    dialect.notes.push_back(
        fmt::format("line {} holds the units of the columns", first.rows[units].number));
  }
  if (header.skipped > 0) {
    dialect.notes.push_back(
        fmt::format("{} line{} before the table {} skipped: {}{}", header.skipped,
                    header.skipped == 1 ? "" : "s", header.skipped == 1 ? "was" : "were",
                    shortened(first.rows[0].text), header.skipped > 1 ? ", ..." : ""));
  }
  noteColumns(table, header.rows, dialect, columns);
  return dialect;
}

}  // namespace proprio::csv
