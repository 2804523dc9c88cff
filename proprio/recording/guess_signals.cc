#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>

#include "proprio/recording/guess_signals_internal.h"

namespace proprio {
namespace {

using Words = std::vector<std::string>;

/// The quantity that a word stands for, or nothing.
std::string quantityOf(const std::string& word) {
  struct QuantityWords {
    const char* quantity;
    std::set<std::string> words;
  };
  static const std::vector<QuantityWords> kQuantities = {
      {"position",
       {"q", "pos", "position", "positions", "angle", "angles", "theta", "thetas", "qpos"}},
      {"velocity",
       {"dq", "qd", "qdot", "v", "vel", "velocity", "velocities", "speed", "speeds", "omega",
        "dtheta", "qvel"}},
      {"acceleration", {"ddq", "qdd", "qddot", "a", "acc", "acceleration", "accelerations"}},
      {"torque", {"tau", "torque", "torques", "effort", "efforts", "trq", "tq", "moment"}},
      {"current", {"i", "cur", "curr", "current", "currents", "amps"}}};
  for (const QuantityWords& candidate : kQuantities) {
    if (candidate.words.count(word) != 0) return candidate.quantity;
  }
  return "";
}

const std::set<std::string> kCommandedWords = {
    "des",       "desired", "cmd",     "command",  "commands", "commanded", "ref",
    "reference", "target",  "targets", "setpoint", "goal",     "d"};
/// Words that change nothing.
const std::set<std::string> kPlainWords = {
    "joint",  "joints", "j",        "jnt", "axis",  "ax",     "axes", "arm", "robot",   "act",
    "actual", "meas",   "measured", "msr", "state", "states", "link", "fbk", "feedback"};

/// Words in lower case and numbers: at signs, and where letters meet digits or a capital begins.
Words wordsOf(const std::string& name) {
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

bool isNumber(const std::string& word) {
  return !word.empty() && std::isdigit(static_cast<unsigned char>(word[0])) != 0 && word.size() < 4;
}

/// A column whose joint is known by place among the joints, or by a number that is not yet one.
struct GuessedColumn {
  size_t channel = 0;
  int joint = -1, number = -1;
};

struct ColumnGroup {
  std::vector<GuessedColumn> columns;
  Words words;  // what is left of the names
};

/// Takes the words of the longest joint name that they contain out of `words`.
int takeJoint(const std::vector<Words>& joints, Words* words) {
  int best = -1;
  Words::iterator place;
  for (size_t j = 0; j < joints.size(); ++j) {
    if (joints[j].empty()) continue;
    const auto found =
        std::search(words->begin(), words->end(), joints[j].begin(), joints[j].end());
    if (found == words->end()) continue;
    if (best >= 0 && joints[static_cast<size_t>(best)].size() >= joints[j].size()) continue;
    best = static_cast<int>(j);
    place = found;
  }
  if (best < 0) return -1;
  const auto length = static_cast<std::ptrdiff_t>(joints[static_cast<size_t>(best)].size());
  words->erase(place, place + length);
  return best;
}

/// Takes the last number out of `words`.
int takeNumber(Words* words) {
  const auto last = std::find_if(words->rbegin(), words->rend(), isNumber);
  if (last == words->rend()) return -1;
  const int number = std::stoi(*last);
  words->erase(std::next(last).base());
  return number;
}

std::vector<ColumnGroup> groupsOf(const std::vector<std::string>& joints,
                                  const Recording& recording) {
  std::vector<Words> joint_words;
  for (const std::string& joint : joints) joint_words.push_back(wordsOf(joint));
  std::vector<ColumnGroup> groups;
  std::map<std::pair<Words, bool>, size_t> place;  // words, and whether joints are named
  for (size_t c = 0; c < recording.channels.size(); ++c) {
    GuessedColumn column;
    column.channel = c;
    Words words = wordsOf(recording.channels[c].name);
    const Words all = words;
    column.joint = takeJoint(joint_words, &words);
    if (words.empty()) {  // a joint that is called like a quantity: q1
      column.joint = -1;
      words = all;
    }
    if (column.joint < 0) column.number = takeNumber(&words);
    if (column.joint < 0 && column.number < 0) continue;
    const auto [entry, fresh] = place.try_emplace({words, column.joint >= 0}, groups.size());
    if (fresh) groups.push_back({{}, words});
    groups[entry->second].columns.push_back(column);
  }
  return groups;
}

/// Channel names in the order of the joints; nothing unless every joint has exactly one, or numbers
/// are those of the first joints (an arm before its gripper), at least half of all.
std::vector<std::string> inJointOrder(const ColumnGroup& group, size_t joints,
                                      const Recording& recording) {
  const size_t count = group.columns.size();
  const bool by_number = group.columns.front().joint < 0;
  if (count > joints || (count < joints && (!by_number || 2 * count < joints))) return {};
  int first = group.columns.front().number;
  for (const GuessedColumn& column : group.columns) first = std::min(first, column.number);
  if (first > 1) return {};
  std::vector<std::string> names(count);
  for (const GuessedColumn& column : group.columns) {
    const int at = column.joint >= 0 ? column.joint : column.number - first;
    if (at < 0 || at >= static_cast<int>(count) || !names[static_cast<size_t>(at)].empty())
      return {};
    names[static_cast<size_t>(at)] = recording.channels[column.channel].name;
  }
  return names;
}

struct Meaning {
  std::string quantity, role = "measured";
  size_t words = 0;
};

std::optional<Meaning> meaningOf(const Words& words) {
  Meaning meaning;
  for (const std::string& word : words) {
    ++meaning.words;
    if (kPlainWords.count(word) != 0) continue;
    if (word == "d" && meaning.quantity.empty()) return std::nullopt;  // of "d q", not of "q d"
    if (kCommandedWords.count(word) != 0) {
      meaning.role = "commanded";
      continue;
    }
    if (word == "theta" || word == "thetas") ++meaning.words;  // often the motor's: q comes first
    if (word == "motor") continue;                             // judged below, with the quantity
    const std::string quantity = quantityOf(word);
    if (quantity.empty() || !meaning.quantity.empty()) return std::nullopt;
    meaning.quantity = quantity;
  }
  if (meaning.quantity.empty()) return std::nullopt;
  // the motor's side needs a gear ratio; its current does not
  const bool motor = std::find(words.begin(), words.end(), "motor") != words.end();
  if (motor && meaning.quantity != "current") return std::nullopt;
  return meaning;
}

}  // namespace

std::vector<SignalDeclaration> guessSignals(const std::vector<std::string>& joints,
                                            const Recording& recording) {
  struct Found {
    Meaning meaning;
    std::vector<std::string> channels;
  };
  std::vector<Found> found;
  for (const ColumnGroup& group : groupsOf(joints, recording)) {
    const std::optional<Meaning> meaning = meaningOf(group.words);
    if (!meaning) continue;
    std::vector<std::string> channels = inJointOrder(group, joints.size(), recording);
    if (channels.empty()) continue;
    const auto same = std::find_if(found.begin(), found.end(), [&](const Found& other) {
      return other.meaning.quantity == meaning->quantity && other.meaning.role == meaning->role;
    });
    if (same == found.end())
      found.push_back({*meaning, std::move(channels)});
    else if (meaning->words < same->meaning.words)
      *same = {*meaning, std::move(channels)};
  }
  std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    return a.meaning.role > b.meaning.role;  // "measured" before "commanded"
  });
  std::vector<SignalDeclaration> signals;
  for (Found& one : found) {
    SignalDeclaration signal;
    signal.quantity = one.meaning.quantity;
    signal.role = one.meaning.role;
    signal.channels = std::move(one.channels);
    signal.joints.assign(joints.begin(),
                         joints.begin() + static_cast<std::ptrdiff_t>(signal.channels.size()));
    signals.push_back(std::move(signal));
  }
  return signals;
}

}  // namespace proprio
