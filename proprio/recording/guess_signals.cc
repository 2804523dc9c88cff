#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "proprio/recording/guess_signals_internal.h"
#include "proprio/recording/name_words_internal.h"
#include "proprio/recording/units.h"

namespace proprio {
namespace {

// ---- words ----

/// The quantity that a word stands for, or nothing.
std::string quantityOf(const std::string& word) {
  struct QuantityWords {
    const char* quantity;
    std::set<std::string> words;
  };
  static const std::vector<QuantityWords> kQuantities = {
      {"position",
       {"q", "pos", "position", "positions", "angle", "angles", "theta", "thetas", "qpos", "winkel",
        "lage"}},
      {"velocity",
       {"dq", "qd", "qdot", "v", "vel", "velocity", "velocities", "speed", "speeds", "omega",
        "dtheta", "qvel", "drehzahl", "geschwindigkeit"}},
      {"acceleration",
       {"ddq", "qdd", "qddot", "a", "acc", "accel", "acceleration", "accelerations"}},
      {"torque",
       {"tau", "torque", "torques", "effort", "efforts", "trq", "tq", "torq", "moment", "moments",
        "drehmoment"}},
      {"current", {"i", "iq", "cur", "curr", "current", "currents", "amps", "strom"}}};
  for (const QuantityWords& candidate : kQuantities) {
    if (candidate.words.count(word) != 0) return candidate.quantity;
  }
  return "";
}

/// The quantity of a joint with this SI unit, or nothing.
std::string quantityOfUnit(const std::string& si) {
  static const std::map<std::string, std::string> kUnits = {{"rad", "position"},
                                                            {"m", "position"},
                                                            {"rad/s", "velocity"},
                                                            {"m/s", "velocity"},
                                                            {"rad/s^2", "acceleration"},
                                                            {"m/s^2", "acceleration"},
                                                            {"N m", "torque"},
                                                            {"N", "torque"},
                                                            {"A", "current"}};
  const auto found = kUnits.find(si);
  return found == kUnits.end() ? "" : found->second;
}

const std::set<std::string> kCommandedWords = {
    "des",       "desired", "cmd",     "command",  "commands", "commanded", "ref", "soll",
    "reference", "target",  "targets", "setpoint", "goal",     "d",         "ipo"};
/// Words that change nothing.
const std::set<std::string> kPlainWords = {
    "joint",  "joints",   "j",    "jnt",      "axis",  "ax",     "axes", "arm",   "robot", "act",
    "actual", "meas",     "msr",  "measured", "state", "states", "link", "fbk",   "ist",   "field",
    "achse",  "feedback", "data", "msg",      "value", "values", "obs",  "sensor"};

/// Words that make something else of a quantity, whatever its unit.
const std::set<std::string> kOtherThings = {
    "error",    "err",   "ext",       "external",  "gravity", "grav",  "coriolis",
    "friction", "limit", "max",       "min",       "std",     "diff",  "delta",
    "tool",     "tcp",   "cart",      "cartesian", "ee",      "resid", "residual",
    "model",    "dev",   "deviation", "following", "contact"};

/// Units at the end of a name: "q1_deg", "speed_2_deg_s"; in the order in which they are tried.
struct UnitWords {
  Words words;
  const char* unit;
};
const std::vector<UnitWords>& unitWords() {
  static const std::vector<UnitWords> kUnits = {{{"rad", "per", "s"}, "rad/s"},
                                                {{"deg", "per", "s"}, "deg/s"},
                                                {{"rad", "s"}, "rad/s"},
                                                {{"deg", "s"}, "deg/s"},
                                                {{"radps"}, "rad/s"},
                                                {{"degps"}, "deg/s"},
                                                {{"dps"}, "deg/s"},
                                                {{"rpm"}, "rpm"},
                                                {{"rad"}, "rad"},
                                                {{"radians"}, "rad"},
                                                {{"deg"}, "deg"},
                                                {{"degrees"}, "deg"},
                                                {{"degree"}, "deg"},
                                                {{"nm"}, "Nm"},
                                                {{"n", "m"}, "Nm"},
                                                {{"mnm"}, "mNm"},
                                                {{"ma"}, "mA"},
                                                {{"amp"}, "A"},
                                                {{"ampere"}, "A"}};
  return kUnits;
}

std::string takeUnit(Words* words) {
  for (const UnitWords& unit : unitWords()) {
    if (words->size() <= unit.words.size() ||
        !std::equal(unit.words.rbegin(), unit.words.rend(), words->rbegin()))
      continue;
    words->resize(words->size() - unit.words.size());
    return unit.unit;
  }
  return "";
}

/// Words that belong together: "q dot" is qdot; "d q" may be dq or a desired q.
void joinWords(Words* words) {
  struct Pair {
    const char *first, *second, *joined;
  };
  constexpr Pair kPairs[] = {{"q", "dot", "qdot"},     {"q", "ddot", "qddot"},
                             {"qdot", "dot", "qddot"}, {"dd", "q", "ddq"},
                             {"i", "q", "iq"},         {"set", "point", "setpoint"}};
  for (size_t i = 1; i < words->size();) {
    const auto* const found = std::find_if(
        std::begin(kPairs), std::end(kPairs),
        [&](const Pair& p) { return (*words)[i - 1] == p.first && (*words)[i] == p.second; });
    if (found == std::end(kPairs)) {
      ++i;
      continue;
    }
    (*words)[i - 1] = found->joined;
    words->erase(words->begin() + static_cast<std::ptrdiff_t>(i));
  }
}

// ---- joints ----

/// Takes the last number out of `words`.
int takeNumber(Words* words) {
  const auto last = std::find_if(words->rbegin(), words->rend(), isNumberWord);
  if (last == words->rend()) return -1;
  const int number = std::stoi(*last);
  words->erase(std::next(last).base());
  return number;
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
    const bool whole = std::all_of(words.begin(), words.end(), [](const std::string& word) {
      return kPlainWords.count(word) != 0;
    });
    return whole ? joint : -1;
  }

  /// The joint that has this number in its name, of those called like the first but for it; -1 if
  /// there is none.
  int numbered(int number) const {
    const auto found = std::find(numbers_.begin(), numbers_.end(), number);
    return number < 0 || found == numbers_.end() ? -1 : static_cast<int>(found - numbers_.begin());
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

std::vector<ColumnGroup> groupsOf(const JointNames& joints, const Recording& recording) {
  std::vector<ColumnGroup> groups;
  using Key = std::tuple<Words, bool, std::string>;  // words, whether joints are named, unit
  std::map<Key, size_t> place;
  for (size_t c = 0; c < recording.channels.size(); ++c) {
    const Channel& channel = recording.channels[c];
    GuessedColumn column;
    column.channel = c;
    Words words = wordsOf(channel.name);
    std::string unit = channel.unit.empty() ? takeUnit(&words) : channel.unit;
    const bool unit_in_name = channel.unit.empty() && !unit.empty();
    const bool attributed = channel.quantity == Quantity::kOther && !channel.of.empty();
    if (attributed) {
      column.joint = joints.find(channel.of);
      takeNumber(&words);
      if (column.joint < 0) continue;
    } else {
      column.joint = joints.take(&words);
      if (column.joint < 0) column.number = takeNumber(&words);
      if (column.joint < 0 && column.number < 0) continue;
    }
    if (!unit_in_name && channel.unit.empty() && !words.empty()) unit = takeUnit(&words);
    joinWords(&words);
    const auto [entry, fresh] =
        place.try_emplace(Key{words, column.joint >= 0, unit}, groups.size());
    if (fresh) groups.push_back({{}, words, unit, channel.unit.empty() && !unit.empty()});
    groups[entry->second].columns.push_back(column);
  }
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
    const int at = !by_number    ? column.joint
                   : own_numbers ? joints.numbered(column.number)
                                 : column.number - first;
    if (at < 0 || at >= static_cast<int>(by_number && !own_numbers ? count : joints.count()) ||
        columns[static_cast<size_t>(at)] >= 0)
      return {};
    columns[static_cast<size_t>(at)] = static_cast<int>(column.channel);
  }
  return columns;
}

// ---- meaning ----

struct Meaning {
  std::string quantity, role = "measured";
  size_t cost = 0;  ///< of two groups the cheaper is taken
};

/// What only a unit or nothing at all says is taken after all that words say.
constexpr size_t kByUnit = 10, kBare = 20, kStrange = 40;

/// @param named the joints' names were there, not just numbers
std::optional<Meaning> meaningOf(const Words& words, const std::string& unit, bool named) {
  static const std::set<std::string> kJointWords = {"joint", "joints", "j",  "jnt",
                                                    "axis",  "axes",   "ax", "achse"};
  Meaning meaning;
  bool strange = false, weak = false, bare = named || !words.empty();
  const bool motor = std::find(words.begin(), words.end(), "motor") != words.end();
  for (const std::string& word : words) {
    ++meaning.cost;
    bare = bare && kJointWords.count(word) + kCommandedWords.count(word) > 0;
    if (kPlainWords.count(word) != 0 || isNumberWord(word) || word == "motor") continue;
    if (word == "m") {  // measured, or the motor's: after one that says nothing
      ++meaning.cost;
      continue;
    }
    if (word == "d" && meaning.quantity.empty()) return std::nullopt;  // of "d x", not of "q d"
    if (kCommandedWords.count(word) != 0) {
      meaning.role = "commanded";
      continue;
    }
    if (word == "theta" || word == "thetas") ++meaning.cost;  // often the motor's: q comes first
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
                  [](const std::string& word) { return kOtherThings.count(word) != 0; }))
    return std::nullopt;
  // the motor's side needs a gear ratio; its current does not
  if (motor && meaning.quantity != "current") return std::nullopt;
  return meaning;
}

}  // namespace

NamedQuantity quantityInName(const std::string& name) {
  Words words = wordsOf(name);
  joinWords(&words);
  NamedQuantity named;
  std::set<std::string> found;
  for (const std::string& word : words) {
    const bool letter = word.size() == 1 && word != "q" && word != "v";
    const std::string quantity = letter ? "" : quantityOf(word);
    const bool commanded = !letter && kCommandedWords.count(word) != 0;
    if (commanded) named.role = Role::kCommanded;
    if (!quantity.empty()) found.insert(quantity);
    if (quantity.empty() && !commanded && kPlainWords.count(word) == 0) named.rest.push_back(word);
  }
  const bool motor = std::find(words.begin(), words.end(), "motor") != words.end();
  const bool other = std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return kOtherThings.count(word) != 0;
  });
  if (found.size() != 1 || other || (motor && *found.begin() != "current")) return named;
  for (const Quantity quantity : {Quantity::kPosition, Quantity::kVelocity, Quantity::kAcceleration,
                                  Quantity::kTorque, Quantity::kCurrent}) {
    if (*found.begin() == toString(quantity)) named.quantity = quantity;
  }
  return named;
}

std::vector<SignalDeclaration> guessSignals(const std::vector<std::string>& joints,
                                            const Recording& recording) {
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
