#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <set>

#include "proprio/core/text.h"
#include "proprio/recording/guess_signals_internal.h"
#include "proprio/recording/name_words_internal.h"
#include "proprio/recording/signal_map.h"
#include "proprio/recording/signal_names.h"
#include "proprio/recording/signal_select_internal.h"
#include "proprio/recording/units.h"

namespace proprio {
namespace {

constexpr Quantity kJointQuantities[] = {Quantity::kPosition,     Quantity::kVelocity,
                                         Quantity::kAcceleration, Quantity::kTorque,
                                         Quantity::kCurrent,      Quantity::kTemperature};

Quantity quantityNamed(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(Quantity::kTemperature); ++i) {
    if (name == toString(static_cast<Quantity>(i))) return static_cast<Quantity>(i);
  }
  return Quantity::kOther;
}

Role roleNamed(const std::string& name) {
  for (const Role role : {Role::kCommanded, Role::kTruth, Role::kExternal}) {
    if (name == toString(role)) return role;
  }
  return Role::kMeasured;
}

SensorKind sensorKindOf(Quantity quantity) {
  switch (quantity) {
    case Quantity::kLinearAcceleration:
      return SensorKind::kAccelerometer;
    case Quantity::kAngularVelocity:
      return SensorKind::kGyroscope;
    case Quantity::kMagneticField:
      return SensorKind::kMagnetometer;
    case Quantity::kOrientation:
      return SensorKind::kOrientation;
    case Quantity::kContact:
      return SensorKind::kSkin;
    default:
      return SensorKind::kForceTorque;
  }
}

std::vector<std::string> channelNames(const Recording& recording) {
  std::vector<std::string> names;
  for (const Channel& channel : recording.channels) names.push_back(channel.name);
  return names;
}

// "signal torque"
std::string title(const SignalDeclaration& signal) {
  return fmt::format("signal {}{}", signal.role == "measured" ? "" : signal.role + " ",
                     signal.quantity);
}

Error signalError(const SignalDeclaration& signal, const std::string& sentence) {
  return errorAt(signal.location, title(signal) + ": " + sentence);
}

// the sensor of a signal; an IMU named as a whole gives the part that measures it
const Sensor& sensorOf(const Model& model, const SignalDeclaration& signal, Quantity quantity) {
  const SensorKind kind = sensorKindOf(quantity);
  const std::string part = signal.sensor + "." + toString(kind);
  for (const Sensor& sensor : model.sensors) {
    if (sensor.kind == kind && (sensor.name == signal.sensor || sensor.name == part)) return sensor;
  }
  throw signalError(
      signal, fmt::format("sensor {} is not of type {}", inQuotes(signal.sensor), toString(kind)));
}

void addSensorColumns(const Model& model, const SignalDeclaration& signal, Quantity quantity,
                      std::vector<SignalColumn>& columns) {
  const Sensor& sensor = sensorOf(model, signal, quantity);
  std::vector<std::string> components = componentsOf(quantity);
  const size_t cells = sensor.cell_positions.size();
  if (quantity == Quantity::kContact && cells > 1) {
    for (size_t i = 1; i <= cells; ++i) components.push_back(std::to_string(i));
  }
  if (components.empty()) components = {""};
  for (const std::string& component : components)
    columns.push_back({quantity, sensor.name, component});
}

// What the columns of a signal are, before they are looked for in the log.
std::vector<SignalColumn> columnsOf(const Model& model, const SignalDeclaration& signal) {
  std::vector<SignalColumn> columns;
  if (signal.quantity == "wrench") {
    addSensorColumns(model, signal, Quantity::kForce, columns);
    addSensorColumns(model, signal, Quantity::kMoment, columns);
    return columns;
  }
  const Quantity quantity = quantityNamed(signal.quantity);
  if (!belongsToJoint(quantity)) {
    addSensorColumns(model, signal, quantity, columns);
    return columns;
  }
  const std::vector<std::string> joints = signalJoints(model);
  for (const std::string& joint : signal.joints.empty() ? joints : signal.joints) {
    if (std::find(joints.begin(), joints.end(), joint) == joints.end()) {
      throw signalError(signal,
                        fmt::format("joint {} does not move on its own in this model (it is fixed, "
                                    "locked, follows another or has several coordinates)",
                                    inQuotes(joint)));
    }
    columns.push_back({quantity, joint, ""});
  }
  return columns;
}

void replaceAll(std::string& text, const std::string& what, const std::string& with) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

// The names of the declared channels, patterns and arrays written out; `is_array`: a single name
// stands for NAME[0], NAME[1], ...
std::vector<std::string> declaredNames(const Selection& s, bool is_array) {
  const std::vector<std::string>& given = s.declaration.channels;
  const bool pattern = given.size() == 1 && given[0].find('{') != std::string::npos;
  if (!pattern && !is_array) return given;
  std::vector<std::string> names;
  for (size_t k = 0; k < s.columns.size(); ++k) {
    std::string name = is_array ? given[0] + "[{i}]" : given[0];
    replaceAll(name, "{joint}", s.columns[k].of);
    replaceAll(name, "{n}", std::to_string(k + 1));
    replaceAll(name, "{i}", std::to_string(k));
    names.push_back(name);
  }
  return names;
}

// Columns by declared names; `missing` is the first that is not there.
std::vector<Eigen::Index> byDeclaredNames(const Selection& s, const Recording& recording,
                                          std::string& missing) {
  Selection given = s;
  if (!partOf(recording).empty()) {  // "y_train[2]" is "y[2]" of the part "train", and of any other
    for (std::string& name : given.declaration.channels) {
      const size_t index = std::min(name.find('['), name.size());
      name = withoutPart(name.substr(0, index)).rest + name.substr(index);
    }
  }
  const std::vector<std::string>& channels = given.declaration.channels;
  const bool is_array = channels.size() == 1 && recording.column(channels[0] + "[0]") >= 0;
  const std::vector<std::string> names = declaredNames(given, is_array);
  if (names.size() == 1 && s.columns.size() > 1 && columnOf(recording, names[0]) < 0) {
    missing = names[0];  // an array that another part of the log has
    return {};
  }
  if (names.size() != s.columns.size()) {
    throw signalError(
        s.declaration,
        fmt::format("{} channels are named, expected {}, one for each "
                    "of {}",
                    names.size(), s.columns.size(),
                    s.declaration.sensor.empty() ? "the joints" : "the sensor's components"));
  }
  std::vector<Eigen::Index> from;
  for (const std::string& name : names) {
    const Eigen::Index column = columnOf(recording, name);
    if (column < 0) {
      missing = name;
      return {};
    }
    from.push_back(column);
  }
  return from;
}

// Columns by what the log says of its channels; `missing` is the first joint that is not there,
// `found` how many are.
std::vector<Eigen::Index> byMeaning(const Selection& s, const Recording& recording,
                                    std::string& missing, size_t& found) {
  std::vector<Eigen::Index> from;
  found = 0;
  for (const SignalColumn& wanted : s.columns) {
    Eigen::Index column = -1;
    for (size_t c = 0; c < recording.channels.size() && column < 0; ++c) {
      const Channel& channel = recording.channels[c];
      const bool same = channel.quantity == wanted.quantity && channel.role == s.role &&
                        channel.component == wanted.component;
      // messages of a sensor do not always carry its name; the topic chooses it
      const bool owned = channel.of == wanted.of || !belongsToJoint(wanted.quantity);
      if (same && owned) column = static_cast<Eigen::Index>(c);
    }
    if (column < 0 && missing.empty()) missing = wanted.of;
    if (column >= 0) ++found;
    from.push_back(column);
  }
  if (found < s.columns.size()) from.clear();
  return from;
}

std::vector<size_t> candidatesFor(const SignalDeclaration& signal,
                                  const std::vector<Recording>& raw) {
  std::vector<size_t> candidates;
  std::vector<std::string> places;
  for (size_t i = 0; i < raw.size(); ++i) {
    if (isAt(raw[i], signal.file, signal.topic)) candidates.push_back(i);
    places.push_back(placeOf(raw[i]));
  }
  if (candidates.empty()) {
    throw signalError(
        signal,
        fmt::format("no part of the log fits file {} and topic {}; there are {}",
                    inQuotes(signal.file.empty() ? "*" : signal.file),
                    inQuotes(signal.topic.empty() ? "*" : signal.topic), fmt::join(places, "; ")));
  }
  return candidates;
}

// Names of joints (or channels) that a part of the log has for this quantity, for messages.
std::vector<std::string> ownersIn(const Recording& recording, const Selection& s) {
  std::vector<std::string> owners;
  for (const Channel& channel : recording.channels) {
    if (channel.quantity == s.columns[0].quantity && channel.role == s.role)
      owners.push_back(channel.of);
  }
  return owners;
}

void selectIn(Selection& s, const std::vector<Recording>& raw, size_t index, std::string& missing,
              size_t& found) {
  missing.clear();
  found = 0;
  s.recording = index;
  s.from = s.declaration.channels.empty() ? byMeaning(s, raw[index], missing, found)
                                          : byDeclaredNames(s, raw[index], missing);
}

// Nothing fits: say what is nearest.
[[noreturn]] void refuse(const Selection& s, const std::vector<Recording>& raw,
                         const std::vector<size_t>& candidates) {
  for (const size_t index : candidates) {
    Selection trial = s;
    std::string missing;
    size_t found = 0;
    selectIn(trial, raw, index, missing, found);
    const Recording& recording = raw[index];
    if (!s.declaration.channels.empty()) {
      throw signalError(s.declaration,
                        fmt::format("{} has no channel {}{}", placeOf(recording), inQuotes(missing),
                                    didYouMean(missing, channelNames(recording))));
    }
    if (found > 0) {
      throw signalError(s.declaration,
                        fmt::format("{} has no {} of joint {}{} (`joints` declares which are "
                                    "recorded)",
                                    placeOf(recording), s.declaration.quantity, inQuotes(missing),
                                    didYouMean(missing, ownersIn(recording, s))));
    }
  }
  const Recording& recording = raw[candidates[0]];
  throw signalError(s.declaration,
                    fmt::format("{} has {} channels and does not say which are for whom, expected "
                                "{}; name them with `channels`",
                                placeOf(recording), recording.channels.size(), s.columns.size()));
}

// Fills s.recording and s.from.
void select(Selection& s, const std::vector<Recording>& raw) {
  const std::vector<size_t> candidates = candidatesFor(s.declaration, raw);
  std::vector<Selection> fitting;
  for (const size_t index : candidates) {
    Selection trial = s;
    std::string missing;
    size_t found = 0;
    selectIn(trial, raw, index, missing, found);
    if (!trial.from.empty()) fitting.push_back(std::move(trial));
  }
  if (fitting.size() > 1) {
    throw signalError(
        s.declaration,
        fmt::format("{} and {} both have it; choose by `file` or `topic`",
                    placeOf(raw[fitting[0].recording]), placeOf(raw[fitting[1].recording])));
  }
  if (fitting.size() == 1) {
    s = std::move(fitting[0]);
    return;
  }
  // a part that was chosen and has as many channels as are expected: all in order
  const bool chosen = candidates.size() == 1 && s.declaration.channels.empty();
  if (!chosen || raw[candidates[0]].channels.size() != s.columns.size() ||
      !ownersIn(raw[candidates[0]], s).empty())
    refuse(s, raw, candidates);
  s.recording = candidates[0];
  for (size_t c = 0; c < s.columns.size(); ++c) s.from.push_back(static_cast<Eigen::Index>(c));
}

// Roles of which the log has no file or topic at all, while it has all those of another role.
std::set<std::string> absentRoles(const std::vector<SignalDeclaration>& signals,
                                  const std::vector<Recording>& raw) {
  std::set<std::string> there, missing;
  for (const SignalDeclaration& signal : signals) {
    const bool found = std::any_of(raw.begin(), raw.end(), [&](const Recording& recording) {
      return isAt(recording, signal.file, signal.topic);
    });
    (found ? there : missing).insert(signal.role);
  }
  std::set<std::string> absent, whole;
  for (const std::string& role : missing) {
    if (there.count(role) == 0) absent.insert(role);
  }
  for (const std::string& role : there) {
    if (missing.count(role) == 0) whole.insert(role);
  }
  return whole.empty() ? std::set<std::string>() : absent;
}

// The columns of one quantity and role that belong to joints of the model.
Selection named(const std::vector<std::string>& joints, const Recording& recording, size_t index,
                Quantity quantity, Role role) {
  Selection s;
  s.declaration.quantity = toString(quantity);
  s.declaration.role = toString(role);
  s.declaration.location.file = recording.source;
  s.role = role;
  s.recording = index;
  for (const std::string& joint : joints) {
    const int column = recording.column(quantity, role, joint);
    if (column < 0) continue;
    s.columns.push_back({quantity, joint, ""});
    s.from.push_back(column);
  }
  return s;
}

// Column of a sensor's component. An IMU named as a whole in the log, as messages do it, gives its
// parts, which are called NAME.accelerometer and so on.
int sensorColumn(const Recording& recording, const Sensor& sensor, Quantity quantity,
                 const std::string& component) {
  if (quantity == Quantity::kContact)  // the number of a cell is part of the name only
    return recording.column(signalName(quantity, Role::kMeasured, sensor.name, component));
  const int own = recording.column(quantity, Role::kMeasured, sensor.name, component);
  const std::string part = std::string(".") + toString(sensor.kind);
  if (own >= 0 || sensor.kind != sensorKindOf(quantity) || !sensor.name.ends_with(part)) return own;
  const std::string whole = sensor.name.substr(0, sensor.name.size() - part.size());
  return recording.column(quantity, Role::kMeasured, whole, component);
}

// Measured channels of the model's sensors that have their names.
void addSensors(const Model& model, const Recording& recording, size_t index,
                std::vector<Selection>& selections) {
  for (const Quantity quantity :
       {Quantity::kForce, Quantity::kMoment, Quantity::kLinearAcceleration,
        Quantity::kAngularVelocity, Quantity::kMagneticField, Quantity::kOrientation,
        Quantity::kContact}) {
    for (const Sensor& sensor : model.sensors) {
      std::vector<std::string> components = componentsOf(quantity);
      if (quantity == Quantity::kContact) {
        if (sensor.kind != SensorKind::kSkin) continue;
        for (size_t i = 1; i <= sensor.cell_positions.size(); ++i)
          components.push_back(std::to_string(i));
      }
      Selection s = named({}, recording, index, quantity, Role::kMeasured);
      for (const std::string& component : components) {
        const int column = sensorColumn(recording, sensor, quantity, component);
        if (column < 0) break;
        s.columns.push_back({quantity, sensor.name, component});
        s.from.push_back(column);
      }
      if (!components.empty() && s.columns.size() == components.size())
        selections.push_back(std::move(s));
    }
  }
}

bool has(const std::vector<Selection>& selections, Quantity quantity, Role role = Role::kMeasured) {
  return std::any_of(selections.begin(), selections.end(), [&](const Selection& s) {
    return s.role == role && s.columns.front().quantity == quantity;
  });
}

// "q[0] to q[6]" for channels that differ in one number that counts up, else all of them.
std::string channelsText(const std::vector<std::string>& channels) {
  constexpr size_t kFewest = 4;
  const auto counts = [](const std::string& from, const std::string& to) {
    const Words a = wordsOf(from), b = wordsOf(to);
    bool up = a.size() == b.size();
    int differ = 0;
    for (size_t k = 0; k < a.size() && up; ++k) {
      if (a[k] == b[k]) continue;
      ++differ;
      up = isNumberWord(a[k]) && isNumberWord(b[k]) && std::stoi(b[k]) == std::stoi(a[k]) + 1;
    }
    return up && differ == 1;
  };
  bool row = channels.size() >= kFewest;
  for (size_t k = 1; k < channels.size() && row; ++k) row = counts(channels[k - 1], channels[k]);
  return row ? fmt::format("{} to {}", channels.front(), channels.back())
             : fmt::format("{}", fmt::join(channels, " "));
}

// Quantities that no channel has by the convention, from other names; positions come first, because
// their time stamps are those of the result.
// Columns that were counted are a guess where the robot has several limbs.
void addGuesses(const std::vector<std::string>& joints, bool branching, const Recording& recording,
                size_t index, std::vector<Selection>& selections, std::vector<std::string>& notes) {
  std::vector<std::string> told, signalled;
  bool counted = false;
  for (const SignalDeclaration& signal : guessSignals(joints, recording, &counted)) {
    Selection s;
    s.declaration = signal;
    s.declaration.location.file = recording.source;
    s.role = roleNamed(signal.role);
    s.recording = index;
    const Quantity quantity = quantityNamed(signal.quantity);
    if (has(selections, quantity, s.role)) continue;
    for (size_t j = 0; j < signal.channels.size(); ++j) {
      s.columns.push_back({quantity, signal.joints[j], ""});
      s.from.push_back(recording.column(signal.channels[j]));
    }
    const bool other_joints = !signalled.empty() && signal.joints != signalled;
    if (signalled.empty()) signalled = signal.joints;
    told.push_back(fmt::format(
        "{}{}{} is {}{}", signal.role == "measured" ? "" : "commanded ", signal.quantity,
        other_joints ? fmt::format(" of {}", fmt::join(signal.joints, " ")) : "",
        channelsText(signal.channels), signal.unit.empty() ? "" : " in " + signal.unit));
    const bool first = quantity == Quantity::kPosition && s.role == Role::kMeasured;
    selections.insert(first ? selections.begin() : selections.end(), std::move(s));
  }
  if (!told.empty())
    notes.push_back(fmt::format(
        "{}: channels were taken by their names, for {} in this order: {} (`recording` in a "
        "robot.yaml says it for sure)",
        placeOf(recording), fmt::join(signalled, " "), fmt::join(told, "; ")));
  if (!told.empty() && counted && branching)
    notes.push_back(fmt::format(
        "{}: nothing says which limb its numbers belong to: that they count the joints in the "
        "order "
        "of the robot's file is a guess, and controllers of legged robots often count otherwise; "
        "declare their order, `joints: [...]` of each signal in a robot.yaml",
        placeOf(recording)));
}

// The unit in the brackets behind a name, if it is none that is known.
std::string strangeUnit(const std::string& name) {
  const size_t open = name.rfind('[');
  if (open == std::string::npos || open == 0 || name.back() != ']') return "";
  const std::string unit = name.substr(open + 1, name.size() - open - 2);
  const bool letters = !unit.empty() && std::all_of(unit.begin(), unit.end(), [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '/' || c == '^';
  });
  return letters && !findUnit(unit) ? unit : "";
}

// Columns that would be the only ones of a joint's signal but for the unit in their brackets, such
// as "q1 [gon]", are refused: they would be lost without a word.
void requireKnownUnits(const std::vector<std::string>& joints, const Recording& recording,
                       const std::vector<Selection>& selections) {
  Recording bare;
  std::map<std::string, const Channel*> strange;
  for (const Channel& channel : recording.channels) {
    const bool is_strange = !strangeUnit(channel.name).empty();
    std::string name =
        channel.name.substr(0, is_strange ? channel.name.rfind('[') : std::string::npos);
    while (name.ends_with(' ')) name.pop_back();
    if (is_strange) strange[name] = &channel;
    bare.channels.push_back(channel);
    bare.channels.back().name = name;
  }
  if (strange.empty()) return;
  for (const SignalDeclaration& signal : guessSignals(joints, bare)) {
    const Quantity quantity = quantityNamed(signal.quantity);
    for (size_t j = 0; j < signal.channels.size(); ++j) {
      const auto found = strange.find(signal.channels[j]);
      const bool taken = std::any_of(selections.begin(), selections.end(), [&](const Selection& s) {
        return s.role == roleNamed(signal.role) && s.columns.front().quantity == quantity &&
               std::any_of(s.columns.begin(), s.columns.end(), [&](const SignalColumn& column) {
                 return column.of == signal.joints[j];
               });
      });
      if (found == strange.end() || taken) continue;
      requireUnit(strangeUnit(found->second->name), unitOf(quantity),
                  fmt::format("{}: channel {}", placeOf(recording), inQuotes(found->second->name)));
    }
  }
}

}  // namespace

std::vector<std::string> signalJoints(const Model& model) {
  std::vector<std::string> names;
  for (const Joint& joint : model.joints) {
    if (velocityCount(joint.type) == 1 && !joint.mimic) names.push_back(joint.name);
  }
  return names;
}

std::string placeOf(const Recording& recording) {
  const std::string file = recording.source.empty() ? "the log" : recording.source;
  return recording.topic.empty() ? file : file + ", topic " + recording.topic;
}

bool isAt(const Recording& recording, const std::string& file, const std::string& topic) {
  const auto fits = [](const std::string& pattern, const std::string& text) {
    return pattern.empty() || ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
  };
  const std::string name = std::filesystem::path(recording.source).filename().string();
  // "/joint_states" and "joint_states" are the same topic
  const auto bare = [](const std::string& text) {
    return text.rfind('/', 0) == 0 ? text.substr(1) : text;
  };
  return fits(file, name) && fits(bare(topic), bare(recording.topic));
}

Eigen::Index columnOf(const Recording& recording, const std::string& name) {
  const int column = recording.column(name);
  if (column >= 0) return column;
  const auto number = parseNumber(name);
  const auto count = static_cast<double>(recording.channels.size());
  if (!number || !(*number >= 1.0 && *number <= count) || *number != std::floor(*number)) return -1;
  return static_cast<Eigen::Index>(*number) - 1;
}

std::vector<Selection> selectDeclared(const Model& model, const std::vector<Recording>& raw,
                                      std::vector<std::string>& notes) {
  const std::set<std::string> absent = absentRoles(model.recording->signals, raw);
  std::vector<Selection> selections;
  for (const SignalDeclaration& signal : model.recording->signals) {
    if (absent.count(signal.role) != 0) {
      notes.push_back(
          fmt::format("{} is not in this log, which has no part for topic {} and file {}",
                      title(signal), inQuotes(signal.topic.empty() ? "*" : signal.topic),
                      inQuotes(signal.file.empty() ? "*" : signal.file)));
      continue;
    }
    Selection s;
    s.declaration = signal;
    s.role = roleNamed(signal.role);
    s.columns = columnsOf(model, signal);
    if (s.columns.empty()) throw signalError(signal, "the model has no joint that moves");
    select(s, raw);
    selections.push_back(std::move(s));
  }
  return selections;
}

void noteStrangers(const Model& model, const std::vector<Recording>& raw,
                   const std::vector<Selection>& selections, std::vector<std::string>& notes) {
  const std::vector<std::string> joints = signalJoints(model);
  std::set<std::string> strangers, sensors;
  for (const Selection& s : selections) {
    const std::vector<Channel>& channels = raw[s.recording].channels;
    for (size_t c = 0; c < channels.size(); ++c) {
      const Channel& channel = channels[c];
      const bool used = std::any_of(selections.begin(), selections.end(), [&](const Selection& o) {
        return o.recording == s.recording &&
               std::find(o.from.begin(), o.from.end(), static_cast<Eigen::Index>(c)) !=
                   o.from.end();
      });
      if (used || !belongsToJoint(channel.quantity) || channel.of.empty() ||
          std::find(joints.begin(), joints.end(), channel.of) != joints.end())
        continue;
      const bool sensor =
          std::any_of(model.sensors.begin(), model.sensors.end(),
                      [&](const Sensor& declared) { return declared.name == channel.of; });
      (sensor ? sensors : strangers).insert(channel.of);
    }
  }
  if (!strangers.empty()) {
    notes.push_back(fmt::format("joints of the log that the robot does not have were ignored: {}",
                                fmt::join(strangers, ", ")));
  }
  if (!sensors.empty())
    notes.push_back(
        fmt::format("sensors of the torque of a joint are not used: {}", fmt::join(sensors, ", ")));
}

namespace {

// How many signals of these joints a part of the log has.
size_t signalCount(const std::vector<std::string>& joints, const Recording& recording, Role role) {
  size_t count = 0;
  for (const Quantity quantity : kJointQuantities)
    count += named(joints, recording, 0, quantity, role).columns.size();
  return count;
}

// From the part that has it for most joints; of those the one that tells most of them, so that
// positions and torques are of one topic. Then what other parts have of the joints that are left.
void addNamed(std::vector<std::string> joints, const std::vector<Recording>& raw, Quantity quantity,
              Role role, std::vector<Selection>& selections) {
  while (true) {
    Selection best;
    size_t most = 0;
    for (size_t i = 0; i < raw.size(); ++i) {
      Selection s = named(joints, raw[i], i, quantity, role);
      const size_t signals = signalCount(joints, raw[i], role);
      if (std::make_pair(s.columns.size(), signals) <= std::make_pair(best.columns.size(), most))
        continue;
      best = std::move(s);
      most = signals;
    }
    if (best.columns.empty()) return;
    std::erase_if(joints, [&](const std::string& joint) {
      return std::any_of(best.columns.begin(), best.columns.end(),
                         [&](const SignalColumn& column) { return column.of == joint; });
    });
    selections.push_back(std::move(best));
  }
}

}  // namespace

std::vector<Selection> selectByNames(const Model& model, const std::vector<Recording>& raw,
                                     std::vector<std::string>& notes) {
  const std::vector<std::string> joints = jointsAlongChain(model);
  std::vector<Selection> selections;
  for (const Role role : {Role::kMeasured, Role::kCommanded, Role::kTruth, Role::kExternal}) {
    for (const Quantity quantity : kJointQuantities)
      addNamed(joints, raw, quantity, role, selections);
  }
  if (!has(selections, Quantity::kPosition) ||
      (!has(selections, Quantity::kTorque) && !has(selections, Quantity::kCurrent))) {
    for (size_t i = 0; i < raw.size(); ++i)
      addGuesses(joints, jointsBranch(model), raw[i], i, selections, notes);
  }
  for (const Recording& recording : raw) requireKnownUnits(joints, recording, selections);
  const bool useful = std::any_of(selections.begin(), selections.end(), [](const Selection& s) {
    return s.columns.front().quantity != Quantity::kAcceleration &&
           s.columns.front().quantity != Quantity::kTemperature;
  });
  if (!useful) refuseLog(model, joints, raw);
  for (size_t i = 0; i < raw.size(); ++i) addSensors(model, raw[i], i, selections);
  return selections;
}

}  // namespace proprio
