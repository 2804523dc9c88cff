// What is said of a log in which nothing names a joint.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "proprio/core/error.h"
#include "proprio/recording/name_words_internal.h"
#include "proprio/recording/signal_map.h"
#include "proprio/recording/signal_names.h"
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

// A line of robot.yaml under `signals`.
std::string signalLine(const std::string& quantity, const std::string& channels) {
  static const std::map<std::string, std::string> kUnits = {
      {"position", "rad"}, {"velocity", "rad/s"}, {"acceleration", "rad/s^2"}, {"torque", "N m"}};
  return fmt::format("\n    - {{quantity: {}, unit: {}, channels: {}}}", quantity,
                     kUnits.at(quantity), channels);
}

// `count` names from the one at `first` on, as a list.
std::string listOf(const Family& family, size_t first, size_t count) {
  std::string list;
  for (size_t k = first; k < first + count; ++k)
    list += fmt::format("{}\"{}\"", list.empty() ? "[" : ", ", family[k]);
  return list + "]";
}

// A table of which only the columns' numbers are known: perhaps the time, then positions first and
// torques last, velocities and accelerations between them if there is room for just these.
std::string linesOfTable(const Family& table, size_t joints) {
  const size_t blocks = table.size() / joints, rest = table.size() % joints;
  std::vector<std::string> quantities = {"position"};
  if (blocks == 3 || blocks == 4) quantities.emplace_back("velocity");
  if (blocks == 4) quantities.emplace_back("acceleration");
  std::string lines = "  signals:";
  for (size_t k = 0; k < quantities.size(); ++k)
    lines += signalLine(quantities[k], listOf(table, rest + k * joints, joints));
  lines += signalLine("torque", listOf(table, table.size() - joints, joints));
  return rest == 0
             ? lines
             : fmt::format("  time: {{channel: \"{}\"}}  # if it is\n", table.front()) + lines;
}

// The lines of robot.yaml that would declare it, with the first channels that are as many as
// joints.
std::string linesToPaste(const std::vector<std::string>& joints,
                         const std::vector<Recording>& raw) {
  const size_t count = joints.size();
  std::vector<std::string> candidates;
  for (const Recording& recording : raw) {
    const std::vector<Family> families = familiesOf(recording);
    for (const Family& family : families) {
      if (count == 0 || family.size() < count) continue;
      const bool nameless = family.front().starts_with("column_");
      if ((nameless || families.size() == 1) && candidates.empty() && family.size() >= 2 * count &&
          family.size() % count <= 1)
        return "recording:\n" + linesOfTable(family, count);
      if (family.size() == count || !nameless) candidates.push_back(listOf(family, 0, count));
    }
  }
  Family placeholders;
  for (const std::string& joint : joints) placeholders.push_back("channel of " + joint);
  candidates.resize(std::max<size_t>(candidates.size(), 2), listOf(placeholders, 0, count));
  return "recording:\n  signals:" + signalLine("position", candidates[0]) +
         signalLine("torque", candidates[1]);
}

// At most `most` families, and how many more there are.
std::string familiesText(const Recording& recording, size_t most) {
  std::vector<std::string> families;
  for (const Family& family : familiesOf(recording)) families.push_back(familyText(family));
  const size_t more = families.size() > most ? families.size() - most : 0;
  families.resize(families.size() - more);
  return fmt::format("{}{}", fmt::join(families, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

}  // namespace

void noteLeftOut(const Model& model, const std::vector<Recording>& raw,
                 const std::vector<Selection>& selections, std::vector<std::string>& notes) {
  constexpr size_t kMost = 12;
  const std::vector<std::string> joints = signalJoints(model);
  for (size_t i = 0; i < raw.size(); ++i) {
    Recording left;
    for (size_t c = 0; c < raw[i].channels.size(); ++c) {
      const bool used = std::any_of(selections.begin(), selections.end(), [&](const Selection& s) {
        return s.recording == i && std::find(s.from.begin(), s.from.end(),
                                             static_cast<Eigen::Index>(c)) != s.from.end();
      });
      const Channel& channel = raw[i].channels[c];
      const bool stranger = belongsToJoint(channel.quantity) && !channel.of.empty() &&
                            std::find(joints.begin(), joints.end(), channel.of) == joints.end();
      if (!used && !stranger) left.channels.push_back(channel);
    }
    if (left.channels.empty()) continue;
    notes.push_back(fmt::format("{}: {} of {} channels were left out: {}", placeOf(raw[i]),
                                left.channels.size(), raw[i].channels.size(),
                                familiesText(left, kMost)));
  }
}

void refuseLog(const Model& model, const std::vector<std::string>& joints,
               const std::vector<Recording>& raw) {
  constexpr size_t kMost = 24;
  std::vector<std::string> parts;
  for (const Recording& recording : raw) {
    parts.push_back(fmt::format("{} ({} samples): {}", placeOf(recording), recording.samples(),
                                familiesText(recording, kMost)));
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
