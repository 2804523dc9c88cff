#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>

#include "proprio/recording/guess_signals_internal.h"
#include "proprio/recording/signal_map.h"
#include "proprio/recording/signal_names.h"
#include "proprio/recording/signal_words_internal.h"
#include "proprio/recording/units.h"

namespace proprio {
namespace {

// ---- joints ----

/// Takes the last number out of `words`.
int takeNumber(Words* words) {
  const auto last = std::find_if(words->rbegin(), words->rend(), isNumberWord);
  if (last == words->rend()) return -1;
  const int number = std::stoi(*last);
  words->erase(std::next(last).base());
  return number;
}

/// Takes all numbers out of `words`.
std::vector<int> takeNumbers(Words* words) {
  std::vector<int> numbers;
  std::erase_if(*words, [&](const std::string& word) {
    if (isNumberWord(word)) numbers.push_back(std::stoi(word));
    return isNumberWord(word);
  });
  return numbers;
}

/// "A1" of an industrial robot is its axis 1; an acceleration would be a1.
std::string withAxes(const std::string& name) {
  std::string out;
  for (size_t i = 0; i < name.size(); ++i) {
    const auto is = [&](size_t at, int (*kind)(int)) {
      return at < name.size() && kind(static_cast<unsigned char>(name[at])) != 0;
    };
    const bool axis =
        name[i] == 'A' && is(i + 1, std::isdigit) && (i == 0 || !is(i - 1, std::isalpha));
    out += axis ? "axis" : std::string(1, name[i]);
  }
  return out;
}

/// The ways to write the joints' names.
class JointNames {
 public:
  explicit JointNames(const std::vector<std::string>& joints) : names_(joints) {
    std::vector<Words> full, bare;
    for (const std::string& joint : joints) full.push_back(wordsOf(joint));
    for (Words words : full) {
      std::erase_if(words, [](const std::string& word) {
        return word == "joint" || word == "joints" || word == "jnt" || word == "axis" ||
               word == "link";
      });
      bare.push_back(words);
    }
    add(full);
    add(bare);
    add(withoutCommonStart(bare));
    findNumbers(full);
  }

  size_t count() const { return names_.size(); }

  /// Takes the words of the longest joint name that they contain out of `words`; -1 if there is
  /// none, or two joints have such a name.
  int take(Words* words) const {
    int best = -1;
    size_t length = 0;
    Words::iterator place;
    for (const std::vector<Words>& way : ways_) {
      for (size_t j = 0; j < way.size(); ++j) {
        const auto found = std::search(words->begin(), words->end(), way[j].begin(), way[j].end());
        if (found == words->end() || way[j].size() <= length) continue;
        best = static_cast<int>(j);
        length = way[j].size();
        place = found;
      }
    }
    if (best >= 0) words->erase(place, place + static_cast<std::ptrdiff_t>(length));
    return best;
  }

  /// The joint of this name, which may lack what all joints have in common; -1 if there is none.
  int find(const std::string& name) const {
    const auto exact = std::find(names_.begin(), names_.end(), name);
    if (exact != names_.end()) return static_cast<int>(exact - names_.begin());
    Words words = wordsOf(name);
    const int joint = take(&words);
    const bool whole = std::all_of(words.begin(), words.end(),
                                   [](const std::string& word) { return isPlainWord(word); });
    return whole ? joint : -1;
  }

  /// The joint that has this number in its name, of those called like the first but for it; -1 if
  /// there is none.
  int numbered(int number) const {
    const auto found = std::find(numbers_.begin(), numbers_.end(), number);
    return number < 0 || found == numbers_.end() ? -1 : static_cast<int>(found - numbers_.begin());
  }

  /// The smallest of the joints' numbers if they count them all in a row, else -1.
  int firstNumber() const {
    const auto [least, most] = std::minmax_element(numbers_.begin(), numbers_.end());
    const bool row =
        !numbers_.empty() && *least >= 0 && *most - *least + 1 == static_cast<int>(numbers_.size());
    return row ? *least : -1;
  }

 private:
  /// A way is good if it gives every joint a word of its own, not just a number.
  void add(const std::vector<Words>& way) {
    const std::set<Words> distinct(way.begin(), way.end());
    const bool worded = std::all_of(way.begin(), way.end(), [](const Words& words) {
      return !std::all_of(words.begin(), words.end(), isNumberWord);
    });
    if (worded && distinct.size() == way.size()) ways_.push_back(way);
  }

  static std::vector<Words> withoutCommonStart(std::vector<Words> way) {
    const auto all_start_alike = [&] {
      return way.size() > 1 && std::all_of(way.begin(), way.end(), [&](const Words& words) {
               return words.size() > 1 && words.front() == way.front().front();
             });
    };
    while (all_start_alike()) {
      for (Words& words : way) words.erase(words.begin());
    }
    return way;
  }

  void findNumbers(const std::vector<Words>& full) {
    Words first;
    for (Words words : full) {
      const int number = takeNumber(&words);
      if (numbers_.empty()) first = words;
      const bool known = std::find(numbers_.begin(), numbers_.end(), number) != numbers_.end();
      numbers_.push_back(words == first && !known ? number : -1);
    }
  }

  std::vector<std::string> names_;
  std::vector<std::vector<Words>> ways_;
  std::vector<int> numbers_;  ///< of each joint; -1 for those that are called otherwise
};

// ---- groups of columns ----

/// A column whose joint is known by place among the joints, or by a number that is not yet one.
struct GuessedColumn {
  size_t channel = 0;
  int joint = -1, number = -1;
};

struct ColumnGroup {
  std::vector<GuessedColumn> columns;
  Words words;       // what is left of the names
  std::string unit;  // as the file states it, or as the names do; of all of them
  bool unit_in_name = false;
};

/// Which of several numbers in the names is the joint's: the only one that varies, else the last.
/// Groups in which several vary are taken apart by those before the last.
void chooseNumbers(const std::vector<std::vector<int>>& numbers, std::vector<ColumnGroup>* groups) {
  std::vector<ColumnGroup> chosen;
  for (const ColumnGroup& group : *groups) {
    if (group.columns.front().joint >= 0) {
      chosen.push_back(group);
      continue;
    }
    const size_t count = numbers[group.columns.front().channel].size();
    std::vector<size_t> varying;
    for (size_t k = 0; k < count; ++k) {
      const int first = numbers[group.columns.front().channel][k];
      if (std::any_of(group.columns.begin(), group.columns.end(),
                      [&](const GuessedColumn& c) { return numbers[c.channel][k] != first; }))
        varying.push_back(k);
    }
    const size_t place = varying.size() == 1 ? varying[0] : count - 1;
    std::map<std::vector<int>, ColumnGroup> parts;
    for (GuessedColumn column : group.columns) {
      std::vector<int> others = numbers[column.channel];
      column.number = others[place];
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(place));
      ColumnGroup& part =
          parts.try_emplace(others, ColumnGroup{{}, group.words, group.unit, group.unit_in_name})
              .first->second;
      part.columns.push_back(column);
    }
    for (auto& [others, part] : parts) chosen.push_back(std::move(part));
  }
  *groups = std::move(chosen);
}

/// The name without the unit that columns called alike keep in it.
std::string withoutUnit(const Channel& channel) {
  const bool stated = !channel.unit.empty() && channel.name.ends_with("[" + channel.unit + "]");
  return stated ? channel.name.substr(0, channel.name.size() - channel.unit.size() - 2)
                : channel.name;
}

/// System variables of KUKA's controllers: axes are in degrees; speeds and currents are percentages
/// of what the motor can, as the torques of many traces are ("Torque A1 [%]"), which is no quantity
/// here.
bool startsWith(const std::string& name, std::string_view capitals) {
  return name.size() >= capitals.size() &&
         std::equal(capitals.begin(), capitals.end(), name.begin(), [](char a, char b) {
           return a == std::toupper(static_cast<unsigned char>(b));
         });
}
bool isPercentage(const std::string& name) {
  return startsWith(name, "$VEL_AXIS") || startsWith(name, "$CURR_ACT") ||
         name.find('%', 1) != std::string::npos;  // "%time" is something else
}

/// What the unit of a column says beyond its words. Columns whose words name the quantity belong
/// together whatever units the file states for each of them; where no word does, the kind of unit
/// tells angles from torques. A unit in the name holds for the whole group and stays apart.
std::string unitInKey(const Words& words, const std::string& unit, bool in_name) {
  if (in_name) return unit;
  if (std::any_of(words.begin(), words.end(),
                  [](const std::string& word) { return !quantityOf(word).empty(); }))
    return "";
  const auto known = findUnit(unit);
  return known ? known->si : unit;
}

/// Where joints have several columns in a group, each in another unit, the first ones are a group,
/// the second ones another. Alike, they name a joint twice, and nobody knows which counts.
std::vector<ColumnGroup> withoutRivals(const std::vector<ColumnGroup>& groups,
                                       const std::vector<std::vector<int>>& numbers,
                                       const Recording& recording) {
  std::vector<ColumnGroup> apart;
  for (const ColumnGroup& group : groups) {
    std::map<std::pair<int, std::vector<int>>, std::set<std::string>> seen;
    std::vector<ColumnGroup> parts;
    bool alike = false;
    for (const GuessedColumn& column : group.columns) {
      std::set<std::string>& units = seen[{column.joint, numbers[column.channel]}];
      const size_t turn = units.size();
      alike = alike || !units.insert(recording.channels[column.channel].unit).second;
      if (turn == parts.size()) parts.push_back({{}, group.words, group.unit, group.unit_in_name});
      parts[turn].columns.push_back(column);
    }
    if (alike) parts = {group};
    apart.insert(apart.end(), parts.begin(), parts.end());
  }
  return apart;
}

/// What all joints that the messages of a log name begin with, such as the name of another robot of
/// the same kind (fer_joint1 for panda_joint1) or a name space, if none of them is a joint of the
/// robot. Not words that tell arms and hands apart, or that say more than a name; nor those of
/// torques alone (tau_pred_1 beside q1), which may be of any kind.
Words foreignStart(const JointNames& joints, const Recording& recording) {
  static const std::set<std::string> kSides = {"left", "right", "l",    "r",      "front",
                                               "rear", "hand",  "head", "finger", "gripper"};
  std::optional<Words> start;
  bool positions = false;
  for (const Channel& channel : recording.channels) {
    if (!belongsToJoint(channel.quantity) || channel.of.empty()) continue;
    positions = positions || channel.quantity == Quantity::kPosition;
    if (joints.find(channel.of) >= 0) return {};
    Words words = wordsOf(channel.of);
    if (words.empty()) return {};
    words.pop_back();  // a word is left
    if (!start) start = words;
    const auto differ = std::mismatch(start->begin(), start->end(), words.begin(), words.end());
    start->erase(differ.first, start->end());
  }
  const auto says = [](const std::string& word) {
    return kSides.count(word) != 0 || word == "motor" || isCommandedWord(word) ||
           isOtherThing(word) || !quantityOf(word).empty();
  };
  if (!start || !positions || std::any_of(start->begin(), start->end(), says)) return {};
  return *start;
}

std::vector<ColumnGroup> groupsOf(const JointNames& joints, const Recording& recording) {
  // the group of an archive may say what channels called `values` or `signals.values` are
  const bool told = quantityInName(recording.topic).quantity != Quantity::kOther;
  const Words start = foreignStart(joints, recording);
  std::vector<ColumnGroup> groups;
  std::vector<std::vector<int>> numbers(recording.channels.size());
  // words, by name?, numbers, what the unit adds
  using Key = std::tuple<Words, bool, size_t, std::string>;
  std::map<Key, size_t> place;
  for (size_t c = 0; c < recording.channels.size(); ++c) {
    const Channel& channel = recording.channels[c];
    if (isPercentage(channel.name)) continue;
    const bool says = quantityInName(channel.name).quantity != Quantity::kOther;
    GuessedColumn column;
    column.channel = c;
    Words words = wordsOf(withAxes(withoutUnit(channel)));
    if (const auto found = std::search(words.begin(), words.end(), start.begin(), start.end());
        found != words.end() && !start.empty())
      words.erase(found, found + std::ssize(start));
    std::string unit = channel.unit.empty() ? takeUnit(&words) : channel.unit;
    if (unit.empty() && startsWith(channel.name, "$AXIS")) unit = "deg";
    const bool unit_in_name = channel.unit.empty() && !unit.empty();
    const bool attributed = channel.quantity == Quantity::kOther && !channel.of.empty();
    column.joint = attributed ? joints.find(channel.of) : joints.take(&words);
    if (attributed && column.joint < 0) continue;
    if (column.joint < 0 || attributed) numbers[c] = takeNumbers(&words);
    if (column.joint < 0 && numbers[c].empty()) continue;
    if (!unit_in_name && channel.unit.empty() && !words.empty()) unit = takeUnit(&words);
    if (told && !says) {
      const Words topic = wordsOf(recording.topic);
      words.insert(words.begin(), topic.begin(), topic.end());
    }
    joinWords(&words);
    const auto [entry, fresh] =
        place.try_emplace(Key{words, column.joint >= 0, column.joint >= 0 ? 0 : numbers[c].size(),
                              unitInKey(words, unit, unit_in_name || channel.unit.empty())},
                          groups.size());
    if (fresh) groups.push_back({{}, words, unit, channel.unit.empty() && !unit.empty()});
    groups[entry->second].columns.push_back(column);
  }
  groups = withoutRivals(groups, numbers, recording);
  chooseNumbers(numbers, &groups);
  return groups;
}

/// The column of each joint, -1 where there is none; nothing if a joint has two, or numbers are not
/// those of joints.
std::vector<int> byJoint(const ColumnGroup& group, const JointNames& joints) {
  const size_t count = group.columns.size();
  const bool by_number = group.columns.front().joint < 0;
  const bool own_numbers = by_number && std::all_of(group.columns.begin(), group.columns.end(),
                                                    [&](const GuessedColumn& c) {
                                                      return joints.numbered(c.number) >= 0;
                                                    });
  int first = group.columns.front().number;
  for (const GuessedColumn& column : group.columns) first = std::min(first, column.number);
  if (by_number && !own_numbers &&
      (first > 1 || count > joints.count() || 2 * count < joints.count()))
    return {};
  std::vector<int> columns(joints.count(), -1);
  for (const GuessedColumn& column : group.columns) {
    int at = column.joint;
    if (own_numbers) {
      at = joints.numbered(column.number);
    } else if (by_number) {
      // columns from 0 of joints from 1 count as these do, wherever those are in the robot's file
      const int place = column.number - first, lowest = joints.firstNumber();
      at = place >= static_cast<int>(count) ? -1
           : lowest >= 0                    ? joints.numbered(lowest + place)
                                            : place;
    }
    if (at < 0 || at >= static_cast<int>(joints.count()) || columns[static_cast<size_t>(at)] >= 0)
      return {};
    columns[static_cast<size_t>(at)] = static_cast<int>(column.channel);
  }
  return columns;
}

/// Are these columns those of the joints in a row, as no number of a joint says which is whose?
bool isCounted(const ColumnGroup& group, const JointNames& joints) {
  return group.columns.front().joint < 0 && joints.firstNumber() < 0 &&
         !std::all_of(group.columns.begin(), group.columns.end(),
                      [&](const GuessedColumn& c) { return joints.numbered(c.number) >= 0; });
}

// ---- meaning ----

struct Meaning {
  std::string quantity, role = "measured";
  size_t cost = 0;  ///< of two groups the cheaper is taken
};

/// What only a unit or nothing at all says is taken after all that words say.
constexpr size_t kByUnit = 10, kBare = 20, kStrange = 40;
/// Beside columns that say that they were measured, those that do not may be commands.
constexpr size_t kNotSaid = 4;

/// The motor's side; a list of motor states (motorState[3].q, motor_states_3_dq), as legged robots
/// report it, is about the joints.
bool isOfMotor(const Words& words) {
  const auto motor = std::find(words.begin(), words.end(), "motor");
  if (motor == words.end()) return false;
  const auto next = std::next(motor);
  return next == words.end() || (*next != "state" && *next != "states");
}

/// @param named the joints' names were there, not just numbers
std::optional<Meaning> meaningOf(const Words& words, const std::string& unit, bool named) {
  static const std::set<std::string> kJointWords = {"joint", "joints", "j",  "jnt",
                                                    "axis",  "axes",   "ax", "achse"};
  static const std::set<std::string> kMeasuredWords = {"act",      "actual",   "meas", "msr",
                                                       "measured", "feedback", "ist"};
  Meaning meaning;
  bool strange = false, weak = false, bare = named || !words.empty();
  // "AXIS_ACT[1]": what an axis is actually at is its position
  const bool of_joint =
      named || std::any_of(words.begin(), words.end(),
                           [](const std::string& word) { return kJointWords.count(word) != 0; });
  const bool motor = isOfMotor(words);
  for (const std::string& word : words) {
    ++meaning.cost;
    // often the motor's: q comes first; what was measured comes before what was estimated
    if (word == "theta" || word == "thetas" || word == "est" || word == "estimated") ++meaning.cost;
    bare = bare && (kJointWords.count(word) != 0 || isCommandedWord(word) ||
                    (of_joint && kMeasuredWords.count(word) != 0));
    if (isPlainWord(word) || isNumberWord(word) || word == "motor") continue;
    if (word == "m") {  // measured, or the motor's: after one that says nothing
      ++meaning.cost;
      continue;
    }
    if (word == "d" && meaning.quantity.empty()) return std::nullopt;  // of "d x", not of "q d"
    if (isCommandedWord(word)) {
      meaning.role = "commanded";
      continue;
    }
    const std::string quantity = quantityOf(word);
    if (quantity.empty()) {
      strange = true;
    } else if (meaning.quantity.empty() || weak) {
      meaning.quantity = quantity;
      weak = word == "q";  // "q vel" is a velocity
    } else {
      return std::nullopt;
    }
  }
  if (std::none_of(words.begin(), words.end(),
                   [](const std::string& word) { return kMeasuredWords.count(word) != 0; }))
    meaning.cost += kNotSaid;
  const auto known = findUnit(unit);
  const std::string by_unit = known ? quantityOfUnit(known->si) : "";
  if (meaning.quantity.empty()) {
    meaning.cost += by_unit.empty() ? kBare : kByUnit;
    meaning.quantity = by_unit.empty() ? "position" : by_unit;
    if (by_unit.empty() && !bare) return std::nullopt;
  } else if (strange) {
    return std::nullopt;
  }
  if (strange) meaning.cost += kStrange;
  if (std::any_of(words.begin(), words.end(),
                  [](const std::string& word) { return isOtherThing(word); }))
    return std::nullopt;
  // the motor's side needs a gear ratio; its current does not
  if (motor && meaning.quantity != "current") return std::nullopt;
  return meaning;
}

}  // namespace

NamedQuantity quantityInName(const std::string& name) {
  Words words = wordsOf(name);
  NamedQuantity named;
  named.unit = takeUnit(&words);
  joinWords(&words);
  std::set<std::string> found;
  for (const std::string& word : words) {
    const bool letter = word.size() == 1 && word != "q" && word != "v";
    const std::string quantity = letter ? "" : quantityOf(word);
    const bool commanded = !letter && isCommandedWord(word);
    if (commanded) named.role = Role::kCommanded;
    if (!quantity.empty()) found.insert(quantity);
    if (quantity.empty() && !commanded && !isPlainWord(word)) named.rest.push_back(word);
  }
  const bool motor = isOfMotor(words);
  const bool other = std::any_of(words.begin(), words.end(),
                                 [](const std::string& word) { return isOtherThing(word); });
  if (found.size() != 1 || other || (motor && *found.begin() != "current")) return named;
  for (const Quantity quantity : {Quantity::kPosition, Quantity::kVelocity, Quantity::kAcceleration,
                                  Quantity::kTorque, Quantity::kCurrent}) {
    if (*found.begin() == toString(quantity)) named.quantity = quantity;
  }
  return named;
}

namespace {

/// Joints with how many others move each.
std::vector<std::pair<int, std::string>> jointsByDepth(const Model& model) {
  std::vector<std::pair<int, std::string>> joints;
  std::vector<std::string> names = signalJoints(model);
  std::map<int, const Joint*> above;  // by the link that it moves
  for (const Joint& joint : model.joints) above[joint.second] = &joint;
  for (const std::string& name : names) {
    int depth = 0;
    const Joint* at = &model.joints[static_cast<size_t>(requireJoint(model, name))];
    for (size_t k = 0; k < model.joints.size() && above.count(at->first) != 0; ++k) {
      at = above[at->first];
      depth += std::find(names.begin(), names.end(), at->name) != names.end();
    }
    joints.emplace_back(depth, name);
  }
  return joints;
}

bool branches(const std::vector<std::pair<int, std::string>>& joints) {
  std::set<int> depths;
  for (const auto& [depth, name] : joints) depths.insert(depth);
  return depths.size() < joints.size();
}

}  // namespace

bool jointsBranch(const Model& model) { return branches(jointsByDepth(model)); }

std::vector<std::string> jointsAlongChain(const Model& model) {
  std::vector<std::pair<int, std::string>> joints = jointsByDepth(model);
  if (branches(joints)) return signalJoints(model);
  std::sort(joints.begin(), joints.end());
  std::vector<std::string> ordered;
  for (const auto& [depth, name] : joints) ordered.push_back(name);
  return ordered;
}

std::vector<SignalDeclaration> guessSignals(const std::vector<std::string>& joints,
                                            const Recording& recording, bool* counted) {
  struct Found {
    Meaning meaning;
    const ColumnGroup* group;
    std::vector<int> columns;
    bool doubtful = false;  ///< another one fits as well
  };
  const JointNames names(joints);
  const std::vector<ColumnGroup> groups = groupsOf(names, recording);
  std::vector<Found> found;
  for (const ColumnGroup& group : groups) {
    const std::optional<Meaning> meaning =
        meaningOf(group.words, group.unit, group.columns.front().joint >= 0);
    if (!meaning) continue;
    std::vector<int> columns = byJoint(group, names);
    if (columns.empty()) continue;
    const auto same = std::find_if(found.begin(), found.end(), [&](const Found& other) {
      return other.meaning.quantity == meaning->quantity && other.meaning.role == meaning->role;
    });
    if (same == found.end())
      found.push_back({*meaning, &group, std::move(columns)});
    else if (meaning->cost < same->meaning.cost)
      *same = {*meaning, &group, std::move(columns)};
    else if (meaning->cost == same->meaning.cost && meaning->cost >= kBare)
      same->doubtful = true;
  }
  std::erase_if(found, [](const Found& one) { return one.doubtful; });
  std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    return a.meaning.role > b.meaning.role;  // "measured" before "commanded"
  });
  std::vector<SignalDeclaration> signals;
  for (const Found& one : found) {
    if (counted != nullptr) *counted = *counted || isCounted(*one.group, names);
    SignalDeclaration signal;
    signal.quantity = one.meaning.quantity;
    signal.role = one.meaning.role;
    if (one.group->unit_in_name) signal.unit = one.group->unit;
    for (size_t j = 0; j < joints.size(); ++j) {
      if (one.columns[j] < 0) continue;
      signal.joints.push_back(joints[j]);
      signal.channels.push_back(recording.channels[static_cast<size_t>(one.columns[j])].name);
    }
    signals.push_back(std::move(signal));
  }
  return signals;
}

}  // namespace proprio
