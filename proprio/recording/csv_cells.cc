// Lines and cells of text tables.

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>

#include "proprio/core/text.h"
#include "proprio/recording/csv_dialect_internal.h"
#include "proprio/recording/units.h"

namespace proprio::csv {
namespace {

bool isBlank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// also removes quotes
std::string_view cellOf(std::string_view text) {
  text = trimmed(text);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
    text = trimmed(text.substr(1, text.size() - 2));
  return text;
}

// Reads fixed numbers of digits and signs.
class StampScanner {
 public:
  explicit StampScanner(std::string_view text) : text_(text) {}
  bool done() const { return text_.empty(); }
  bool skip(std::string_view any) {
    if (text_.empty() || any.find(text_.front()) == std::string_view::npos) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool digits(size_t count, int& number) {
    if (text_.size() < count) return false;
    number = 0;
    for (size_t i = 0; i < count; ++i) {
      if (text_[i] < '0' || text_[i] > '9') return false;
      number = 10 * number + (text_[i] - '0');
    }
    text_.remove_prefix(count);
    return true;
  }
  // digits behind a decimal point
  double fraction() {
    double value = 0.0, weight = 0.1;
    for (; !text_.empty() && text_.front() >= '0' && text_.front() <= '9'; weight *= 0.1) {
      value += weight * (text_.front() - '0');
      text_.remove_prefix(1);
    }
    return value;
  }

 private:
  std::string_view text_;
};

// days since 1970-01-01 in the Gregorian calendar, counted in years that begin in March
int64_t daysSince1970(int year, int month, int day) {
  const int64_t y = month > 2 ? year : year - 1;
  const int64_t era = (y >= 0 ? y : y - 399) / 400, of_era = y - 400 * era;
  const int64_t of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
  return 146097 * era + 365 * of_era + of_era / 4 - of_era / 100 + of_year - 719468;
}

// hh:mm:ss and a fraction
std::optional<double> timeOfDay(StampScanner& scan) {
  int hour = 0, minute = 0, second = 0;
  if (!scan.digits(2, hour) || !scan.skip(":") || !scan.digits(2, minute) || !scan.skip(":") ||
      !scan.digits(2, second) || hour > 24 || minute > 59 || second > 60)
    return std::nullopt;
  const double fraction = scan.skip(".,") ? scan.fraction() : 0.0;
  return 3600.0 * hour + 60.0 * minute + second + fraction;
}

// 2024-03-01, 2024/03/01 or 01.03.2024
std::optional<double> dateSeconds(StampScanner& scan) {
  StampScanner other = scan;
  int year = 0, month = 0, day = 0;
  const bool year_first = scan.digits(4, year) && scan.skip("-/") && scan.digits(2, month) &&
                          scan.skip("-/") && scan.digits(2, day);
  if (!year_first) {
    scan = other;
    if (!scan.digits(2, day) || !scan.skip(".") || !scan.digits(2, month) || !scan.skip(".") ||
        !scan.digits(4, year))
      return std::nullopt;
  }
  if (month < 1 || month > 12 || day < 1 || day > 31) return std::nullopt;
  return 86400.0 * static_cast<double>(daysSince1970(year, month, day));
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && isBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && isBlank(text.back())) text.remove_suffix(1);
  return text;
}

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

std::optional<double> parsedNumber(std::string_view text, char decimal) {
  if (decimal == '.' && text.find_first_of("dD") == std::string_view::npos)
    return parseNumber(text);
  std::string plain(text);
  std::replace(plain.begin(), plain.end(), decimal, '.');
  for (char& c : plain) c = c == 'd' || c == 'D' ? 'e' : c;
  return parseNumber(plain);
}

bool isNumber(std::string_view cell) {
  if (parsedNumber(cell, '.') || valueOfWord(cell)) return true;
  return cell.find('.') == std::string_view::npos && parsedNumber(cell, ',').has_value();
}

bool isDate(std::string_view cell) {
  StampScanner scan(cell);
  return dateSeconds(scan) && scan.done();
}

std::optional<double> parseDuration(std::string_view cell) {
  const size_t blank = cell.find(' ');
  if (blank == std::string_view::npos || blank == 0) return std::nullopt;
  const auto unit = findUnit(std::string(trimmed(cell.substr(blank))));
  const auto number = parseNumber(cell.substr(0, blank));
  if (!unit || unit->si != "s" || !number) return std::nullopt;
  return unit->factor * *number;
}

std::optional<double> parseStamp(std::string_view cell) {
  if (const auto duration = parseDuration(cell)) return duration;
  constexpr size_t kShortest = 8, kLongest = 40;
  if (cell.size() < kShortest || cell.size() > kLongest) return std::nullopt;
  StampScanner scan(cell), again(cell);
  const std::optional<double> date = dateSeconds(scan);
  if (date && !scan.skip("Tt ")) return std::nullopt;
  if (!date) scan = again;
  const std::optional<double> time = timeOfDay(scan);
  if (!time) return std::nullopt;
  double seconds = date.value_or(0.0) + *time;
  if (!date) return scan.done() ? std::optional(seconds) : std::nullopt;
  scan.skip(" ");
  if (!scan.skip("Zz") && !scan.done()) {
    const bool west = scan.skip("-");
    int hours = 0, minutes = 0;
    if ((!west && !scan.skip("+")) || !scan.digits(2, hours)) return std::nullopt;
    if (scan.skip(":") ? !scan.digits(2, minutes) : !scan.done() && !scan.digits(2, minutes))
      return std::nullopt;
    seconds -= (west ? -1.0 : 1.0) * (3600.0 * hours + 60.0 * minutes);
  }
  return scan.done() ? std::optional(seconds) : std::nullopt;
}

}  // namespace proprio::csv
