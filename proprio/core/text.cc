#include "proprio/core/text.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <utility>

namespace proprio {
namespace {

constexpr std::string_view kBlank = " \t\r\n";

// number of single-letter insertions, deletions and replacements, and exchanges of two neighbours,
// that turn a into b
size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before, above, row(b.size() + 1);  // of the last three prefixes of a
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    before = std::exchange(above, row);
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      row[j + 1] = std::min({above[j] + (a[i] == b[j] ? 0 : 1), row[j] + 1, above[j + 1] + 1});
      if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j])
        row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
    }
  }
  return row.back();
}

}  // namespace

std::optional<double> parseNumber(std::string_view text) {
  const size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return std::nullopt;
  text = text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
  if (text[0] == '+') {
    text.remove_prefix(1);
    if (text.empty() || text[0] == '-' || text[0] == '+') return std::nullopt;
  }
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    // too small and too large look the same; a negative exponent tells them apart
    const size_t exponent = text.find_first_of("eE");
    if (exponent == std::string_view::npos || text[exponent + 1] != '-') return std::nullopt;
    return 0.0;
  }
  if (error != std::errc()) return std::nullopt;
  return value;
}

std::string formatNumber(double value) {
  char text[32];
  const auto result = std::to_chars(text, text + sizeof text, value == 0.0 ? 0.0 : value);
  return {text, result.ptr};
}

std::vector<std::string_view> splitWords(std::string_view text) {
  std::vector<std::string_view> words;
  for (size_t begin = text.find_first_not_of(kBlank); begin != std::string_view::npos;) {
    const size_t end = std::min(text.find_first_of(kBlank, begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(kBlank, end);
  }
  return words;
}

std::vector<std::string> splitAt(std::string_view text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::string inQuotes(std::string_view text) {
  constexpr size_t kLongest = 60;
  std::string result = "'";
  for (char c : text.substr(0, kLongest)) {
    result += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  }
  return result + (text.size() > kLongest ? "...'" : "'");
}

std::vector<std::string> nearestNames(const std::string& name,
                                      const std::vector<std::string>& names, size_t count) {
  // distances beyond a third of the length are coincidence; very long names are not worth the time
  constexpr size_t kLongest = 200;
  const size_t limit = std::max<size_t>(1, name.size() / 3);
  std::vector<std::pair<size_t, std::string>> near;
  if (name.size() > kLongest) return {};
  for (const std::string& other : names) {
    if (other.size() > name.size() + limit || name.size() > other.size() + limit) continue;
    const size_t distance = editDistance(name, other);
    if (distance <= limit) near.emplace_back(distance, other);
  }
  std::stable_sort(near.begin(), near.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> result;
  for (size_t i = 0; i < std::min(count, near.size()); ++i) result.push_back(near[i].second);
  return result;
}

std::string didYouMean(const std::string& name, const std::vector<std::string>& names) {
  constexpr size_t kShown = 6;
  const std::vector<std::string> near = nearestNames(name, names);
  const std::vector<std::string>& shown = near.empty() ? names : near;
  if (shown.empty()) return "; there are none";
  std::string list;
  for (size_t i = 0; i < std::min(kShown, shown.size()); ++i) {
    list += (i == 0 ? "" : near.empty() ? ", " : " or ") + inQuotes(shown[i]);
  }
  if (!near.empty()) return "; did you mean " + list + "?";
  return (shown.size() == 1 ? "; there is only " : "; there are ") + list +
         (shown.size() > kShown ? ", ..." : "");
}

}  // namespace proprio
