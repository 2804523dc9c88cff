// What is said of a log in which nothing names a joint.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "proprio/core/error.h"
#include "proprio/recording/name_words_internal.h"
#include "proprio/recording/signal_map.h"
#include "proprio/recording/signal_names.h"
#include "proprio/recording/signal_select_internal.h"
#include "proprio/recording/signal_words_internal.h"

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

// What lines of robot.yaml have to say of the joints.
struct WantedJoints {
  std::vector<std::string> names;
  bool turning = false, sliding = false;  ///< some of them turn, some slide
};

// The first `count` of them.
WantedJoints wantedJoints(const Model& model, std::vector<std::string> names, size_t count) {
  names.resize(count);
  WantedJoints wanted{std::move(names)};
  for (const std::string& name : wanted.names) {
    const bool slides =
        model.joints[static_cast<size_t>(requireJoint(model, name))].type == JointType::kPrismatic;
    (slides ? wanted.sliding : wanted.turning) = true;
  }
  return wanted;
}

// A line of robot.yaml under `signals`.
std::string signalLine(const Model& model, const WantedJoints& wanted, Quantity quantity,
                       const std::string& channels) {
  const bool one_unit = !(wanted.turning && wanted.sliding) || quantity == Quantity::kCurrent;
  const bool all = wanted.names.size() == signalJoints(model).size();
  return fmt::format("\n    - {{quantity: {}{}{}, channels: {}}}", toString(quantity),
                     one_unit ? fmt::format(", unit: {}", unitOf(quantity, wanted.sliding)) : "",
                     all ? "" : fmt::format(", joints: [{}]", fmt::join(wanted.names, ", ")),
                     channels);
}

// `count` names from the one at `first` on, as a list.
std::string listOf(const Family& family, size_t first, size_t count) {
  std::string list;
  for (size_t k = first; k < first + count; ++k)
    list += fmt::format("{}\"{}\"", list.empty() ? "[" : ", ", family[k]);
  return list + "]";
}

// Into how many joints a table of nameless columns, perhaps with the time before them, falls: all,
// or the most of the first ones (grippers come last) for which it is at least two whole blocks.
size_t jointsInTable(size_t columns, size_t joints) {
  for (size_t count = joints; 2 * count > joints; --count) {
    if (columns >= 2 * count && columns % count <= (count > 1 ? 1 : 0)) return count;
  }
  return 0;
}

// A table of which only the columns' numbers are known: perhaps the time, then positions first and
// torques last, velocities and accelerations between them if there is room for just these. Where it
// is the whole log, numbers hold for other files too, whatever their array is called.
std::string linesOfTable(const Model& model, const WantedJoints& wanted, const Family& table,
                         bool whole) {
  const size_t joints = wanted.names.size();
  const size_t blocks = table.size() / joints, rest = table.size() % joints;
  std::vector<Quantity> quantities = {Quantity::kPosition};
  if (blocks == 3 || blocks == 4) quantities.push_back(Quantity::kVelocity);
  if (blocks == 4) quantities.push_back(Quantity::kAcceleration);
  const auto columns = [&](size_t first) {
    if (!whole) return listOf(table, first, joints);
    std::vector<size_t> numbers(joints);
    std::iota(numbers.begin(), numbers.end(), first + 1);
    return fmt::format("[{}]", fmt::join(numbers, ", "));
  };
  std::string lines = "  signals:";
  for (size_t k = 0; k < quantities.size(); ++k)
    lines += signalLine(model, wanted, quantities[k], columns(rest + k * joints));
  lines += signalLine(model, wanted, Quantity::kTorque, columns(table.size() - joints));
  if (rest == 0) return lines;
  return fmt::format("  time: {{channel: {}}}  # if it is\n",
                     whole ? "1" : fmt::format("\"{}\"", table.front())) +
         lines;
}

// What a word in the name says; kOther if none does, or if it was commanded.
Quantity quantityOfFamily(const Family& family) {
  Quantity found = Quantity::kOther;
  for (const std::string& word : wordsOf(family.front())) {
    if (isCommandedWord(word) || isOtherThing(word)) return Quantity::kOther;
    for (const Quantity quantity : {Quantity::kPosition, Quantity::kVelocity,
                                    Quantity::kAcceleration, Quantity::kTorque, Quantity::kCurrent})
      if (quantityOf(word) == toString(quantity)) found = quantity;
  }
  return found;
}

// The lines of robot.yaml that would declare it: channels that are as many as the joints, those
// whose words say a quantity for it, otherwise the first for positions and the next that is called
// by another letter for torques.
std::string linesToPaste(const Model& model, const std::vector<std::string>& joints,
                         const std::vector<Recording>& raw) {
  size_t count = joints.size();
  std::vector<Family> candidates;
  for (const Recording& recording : raw) {
    const std::vector<Family> families = familiesOf(recording);
    for (const Family& family : families) {
      const bool nameless = family.front().starts_with("column_");
      const size_t in_table = jointsInTable(family.size(), count);
      if ((nameless || families.size() == 1) && candidates.empty() && in_table > 0)
        return "recording:\n" +
               linesOfTable(model, wantedJoints(model, joints, in_table), family,
                            raw.size() == 1 && families.size() == 1 && recording.time.size() == 0);
      if (2 * family.size() > count && (family.size() == count || !nameless))
        candidates.push_back(family);
    }
  }
  // where nothing is for all joints, for as many as there are channels: grippers come last
  size_t most = 0;
  for (const Family& family : candidates) most = std::max(most, family.size());
  if (most > 0) count = std::min(count, most);
  std::erase_if(candidates, [&](const Family& family) { return family.size() < count; });
  const WantedJoints wanted = wantedJoints(model, joints, count);
  std::map<Quantity, Family> chosen;
  for (const Family& family : candidates)
    if (const Quantity quantity = quantityOfFamily(family); quantity != Quantity::kOther)
      chosen.try_emplace(quantity, family);
  std::erase_if(candidates,
                [](const Family& family) { return quantityOfFamily(family) != Quantity::kOther; });
  if (!candidates.empty() && chosen.count(Quantity::kPosition) == 0) {
    chosen[Quantity::kPosition] = candidates.front();
    candidates.erase(candidates.begin());
  }
  const Quantity effort =
      chosen.count(Quantity::kTorque) == 0 && chosen.count(Quantity::kCurrent) != 0
          ? Quantity::kCurrent
          : Quantity::kTorque;
  if (!candidates.empty() && chosen.count(effort) == 0) {
    const char letter = chosen.at(Quantity::kPosition).front().front();
    const auto other = std::find_if(candidates.begin(), candidates.end(), [&](const Family& one) {
      return one.front().front() != letter;
    });
    chosen[effort] = other == candidates.end() ? candidates.front() : *other;
  }
  Family placeholders;
  for (const std::string& joint : joints) placeholders.push_back("channel of " + joint);
  chosen.try_emplace(Quantity::kPosition, placeholders);
  chosen.try_emplace(effort, placeholders);
  std::string lines = "recording:\n  signals:";
  for (const Quantity quantity : {Quantity::kPosition, Quantity::kVelocity, effort}) {
    const auto found = chosen.find(quantity);
    if (found != chosen.end())
      lines += signalLine(model, wanted, quantity, listOf(found->second, 0, count));
  }
  return lines;
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

// friction_true_J and motor_true_J: what the simulator knows of a joint besides its signals.
bool isSimulatedTruth(const std::string& name, const std::vector<std::string>& joints) {
  for (const std::string prefix : {"friction_true_", "motor_true_"}) {
    if (name.starts_with(prefix) &&
        std::find(joints.begin(), joints.end(), name.substr(prefix.size())) != joints.end())
      return true;
  }
  return false;
}

// What the reader could not use, and a table in which the rows of all joints follow each other.
std::string refusalHints(const std::vector<Recording>& raw) {
  constexpr size_t kMost = 4;
  std::string text;
  size_t told = 0;
  for (const Recording& recording : raw) {
    for (const std::string& note : recording.notes) {
      if (told++ < kMost) text += fmt::format("  note: {}\n", note);
    }
    const Eigen::VectorXd& time = recording.time;
    if (time.size() > 1 && time[0] == time[1]) {
      text += fmt::format(
          "  {}: has several rows for one time stamp; if they are of different joints, give every "
          "joint columns of its own first (pandas: DataFrame.pivot)\n",
          placeOf(recording));
    }
  }
  return text;
}

}  // namespace

void noteLeftOut(const Model& model, const std::vector<Recording>& raw,
                 const std::vector<Selection>& selections, std::vector<std::string>& notes) {
  constexpr size_t kMost = 12;
  const std::vector<std::string> joints = signalJoints(model);
  for (size_t i = 0; i < raw.size(); ++i) {
    Recording left, truth;
    for (size_t c = 0; c < raw[i].channels.size(); ++c) {
      const bool used = std::any_of(selections.begin(), selections.end(), [&](const Selection& s) {
        return s.recording == i && std::find(s.from.begin(), s.from.end(),
                                             static_cast<Eigen::Index>(c)) != s.from.end();
      });
      const Channel& channel = raw[i].channels[c];
      const bool stranger = belongsToJoint(channel.quantity) && !channel.of.empty() &&
                            std::find(joints.begin(), joints.end(), channel.of) == joints.end();
      if (used || stranger) continue;
      (isSimulatedTruth(channel.name, joints) ? truth : left).channels.push_back(channel);
    }
    if (!truth.channels.empty()) {
      notes.push_back(fmt::format(
          "{}: {} are truth that only a simulator knows, and no signals that a robot records",
          placeOf(raw[i]), familiesText(truth, kMost)));
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
      "tau1; declare in a robot.yaml what its channels are.\n  channels found: {}\n{}  joints "
      "wanted: {}\n  lines to paste into robot.yaml and correct:\n{}",
      placeOf(raw.front()), model.name.empty() ? "the robot" : model.name,
      joints.empty() ? "JOINT" : joints[0], joints.empty() ? "JOINT" : joints[0],
      fmt::join(parts, "\n    "), refusalHints(raw), fmt::join(joints, ", "),
      linesToPaste(model, joints, raw)));
}

}  // namespace proprio
