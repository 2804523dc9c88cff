// What is said of a log in which nothing names a joint.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "proprio/core/error.h"
#include "proprio/recording/name_words_internal.h"
#include "proprio/recording/signal_select_internal.h"

namespace proprio {
namespace {

// Channels NAME[0], NAME[1], ... or NAME1, NAME2, ... that differ in their last number only.
using Family = std::vector<std::string>;

std::vector<Family> familiesOf(const Recording& recording) {
  std::vector<Family> families;
  std::map<Words, size_t> place;
  for (const Channel& channel : recording.channels) {
    Words words = wordsOf(channel.name);
    const auto number = std::find_if(words.rbegin(), words.rend(), isNumberWord);
    if (number == words.rend()) {
      families.push_back(Family{channel.name});
      continue;
    }
    *number = std::string(1, '0');
    const auto [entry, fresh] = place.try_emplace(words, families.size());
    if (fresh) families.emplace_back();
    families[entry->second].push_back(channel.name);
  }
  return families;
}

std::string familyText(const Family& family) {
  if (family.size() < 3) return fmt::format("{}", fmt::join(family, ", "));
  return fmt::format("{} to {} ({})", family.front(), family.back(), family.size());
}

// The lines of robot.yaml that would declare it, with the first channels that are as many as
// joints.
std::string linesToPaste(const std::vector<std::string>& joints,
                         const std::vector<Recording>& raw) {
  const size_t count = joints.size();
  std::vector<std::string> candidates;
  std::string time;
  const auto add = [&](const Family& family, size_t first) {
    std::string line;
    for (size_t k = first; k < first + count; ++k)
      line += fmt::format("{}\"{}\"", line.empty() ? "[" : ", ", family[k]);
    candidates.push_back(line + "]");
  };
  for (const Recording& recording : raw) {
    for (const Family& family : familiesOf(recording)) {
      if (count == 0 || family.size() < count) continue;
      const bool nameless = family.front().starts_with("column_");
      if (family.size() == count || !nameless) add(family, 0);
      // a table without names: perhaps the time, then positions first and torques last
      const size_t rest = family.size() % count;
      if (family.size() == count || rest > 1 || !nameless) continue;
      if (rest == 1) time = fmt::format("  time: {{channel: {}}}  # if it is\n", family.front());
      add(family, rest);
      add(family, family.size() - count);
    }
  }
  std::string placeholder;
  for (const std::string& joint : joints)
    placeholder += fmt::format("{}\"channel of {}\"", placeholder.empty() ? "[" : ", ", joint);
  candidates.resize(std::max<size_t>(candidates.size(), 2), placeholder + "]");
  return fmt::format(
      "recording:\n{}  signals:\n    - {{quantity: position, unit: rad, channels: {}}}\n    - "
      "{{quantity: torque, unit: N m, channels: {}}}",
      time, candidates[0], candidates[1]);
}

}  // namespace

void refuseLog(const Model& model, const std::vector<std::string>& joints,
               const std::vector<Recording>& raw) {
  constexpr size_t kMost = 24;
  std::vector<std::string> parts;
  for (const Recording& recording : raw) {
    std::vector<std::string> families;
    for (const Family& family : familiesOf(recording)) families.push_back(familyText(family));
    const size_t more = families.size() > kMost ? families.size() - kMost : 0;
    families.resize(families.size() - more);
    parts.push_back(fmt::format("{} ({} samples): {}{}", placeOf(recording), recording.samples(),
                                fmt::join(families, ", "),
                                more > 0 ? fmt::format(" and {} more", more) : ""));
  }
  throw Error(fmt::format(
      "{}: nothing in it names a joint of {}, expected channels such as q_{} and tau_{}, or q1 and "
      "tau1; declare in a robot.yaml what its channels are.\n  channels found: {}\n  joints "
      "wanted: {}\n  lines to paste into robot.yaml and correct:\n{}",
      placeOf(raw.front()), model.name.empty() ? "the robot" : model.name,
      joints.empty() ? "JOINT" : joints[0], joints.empty() ? "JOINT" : joints[0],
      fmt::join(parts, "\n    "), fmt::join(joints, ", "), linesToPaste(joints, raw)));
}

}  // namespace proprio
