#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "proprio/recording/name_words_internal.h"

namespace proprio {

namespace {

/// Units that begin small and go on large are one word: mA, not the measured one in A.
std::string withWholeUnits(std::string name) {
  const auto letterAt = [&](size_t at) {
    return at < name.size() && std::isalpha(static_cast<unsigned char>(name[at])) != 0;
  };
  for (const std::string_view unit : {"mA", "mNm", "kNm"}) {
    for (size_t at = name.find(unit); at != std::string::npos; at = name.find(unit, at + 1)) {
      if ((at > 0 && letterAt(at - 1)) || letterAt(at + unit.size())) continue;
      std::transform(unit.begin(), unit.end(), name.begin() + static_cast<std::ptrdiff_t>(at),
                     [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    }
  }
  return name;
}

}  // namespace

Words wordsOf(const std::string& text) {
  const std::string name = withWholeUnits(text);
  Words words;
  char before = ' ';
  for (const char c : name) {
    const auto u = static_cast<unsigned char>(c);
    const bool digit = std::isdigit(u) != 0, letter = std::isalpha(u) != 0;
    const bool was_digit = std::isdigit(static_cast<unsigned char>(before)) != 0;
    const bool was_lower = std::islower(static_cast<unsigned char>(before)) != 0;
    const bool was_letter = std::isalpha(static_cast<unsigned char>(before)) != 0;
    if (digit || letter) {
      const bool goes_on =
          (digit && was_digit) || (letter && was_letter && !(std::isupper(u) != 0 && was_lower));
      if (!goes_on) words.emplace_back();
      words.back() += static_cast<char>(std::tolower(u));
    }
    before = c;
  }
  return words;
}

bool isNumberWord(const std::string& word) {
  return !word.empty() && std::isdigit(static_cast<unsigned char>(word[0])) != 0 && word.size() < 4;
}

PartName withoutPart(const std::string& name) {
  static const std::map<std::string, std::string> kParts = {
      {"train", "train"}, {"training", "train"}, {"test", "test"},     {"testing", "test"},
      {"val", "val"},     {"valid", "val"},      {"validation", "val"}};
  const auto partOfWord = [](std::string word) {
    std::transform(word.begin(), word.end(), word.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const auto found = kParts.find(word);
    return found == kParts.end() ? "" : found->second;
  };
  if (const std::string part = partOfWord(name); !part.empty()) return {"", part};
  const size_t first = name.find('_'), last = name.rfind('_');
  if (first == std::string::npos) return {name, ""};
  if (const std::string part = partOfWord(name.substr(last + 1)); !part.empty())
    return {name.substr(0, last), part};
  if (const std::string part = partOfWord(name.substr(0, first)); !part.empty())
    return {name.substr(first + 1), part};
  return {name, ""};
}

void attributeJoints(Recording& recording, const std::vector<std::string>& joints,
                     const std::string& origin, const std::string& within) {
  std::map<Words, std::vector<size_t>> arrays;  // channels with the same words before a last number
  for (size_t c = 0; c < recording.channels.size(); ++c) {
    if (!recording.channels[c].name.starts_with(within)) continue;
    Words words = wordsOf(recording.channels[c].name);
    if (words.size() < 2 || !isNumberWord(words.back()) || !recording.channels[c].of.empty())
      continue;
    words.pop_back();
    arrays[words].push_back(c);
  }
  bool any = false;
  for (const auto& [words, columns] : arrays) {
    if (columns.size() != joints.size()) continue;
    for (size_t k = 0; k < columns.size(); ++k) recording.channels[columns[k]].of = joints[k];
    any = true;
  }
  if (any)
    recording.notes.push_back(fmt::format("{} says whose the numbered channels are, in order: {}",
                                          origin, fmt::join(joints, " ")));
}

}  // namespace proprio
