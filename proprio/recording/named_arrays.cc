#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>

#include "proprio/core/error.h"
#include "proprio/core/text.h"
#include "proprio/recording/name_words_internal.h"
#include "proprio/recording/named_arrays_internal.h"
#include "proprio/recording/signal_names.h"
#include "proprio/recording/time_names_internal.h"
#include "proprio/recording/units.h"

namespace proprio {
namespace {

// "arm" of "arm/q", empty where there is no group
std::string groupOf(const std::string& name, char separator) {
  const size_t at = name.rfind(separator);
  return at == std::string::npos ? "" : name.substr(0, at);
}

std::string leafOf(const std::string& name, char separator) {
  const size_t at = name.rfind(separator);
  return at == std::string::npos ? name : name.substr(at + 1);
}

bool isInside(const std::string& group, const std::string& outer, char separator) {
  return outer.empty() || group == outer ||
         (group.size() > outer.size() && group.starts_with(outer) &&
          group[outer.size()] == separator);
}

struct TimeBase {
  size_t array;
  std::string group;
  Eigen::Index stamps;
};

// The time base nearest to a group, or the only one of that length, or -1.
int timeBaseFor(const std::vector<TimeBase>& bases, const std::string& group, Eigen::Index rows,
                char separator) {
  int nearest = -1, fitting = 0, last = -1;
  for (size_t i = 0; i < bases.size(); ++i) {
    if (bases[i].stamps != rows) continue;
    ++fitting;
    last = static_cast<int>(i);
    if (isInside(group, bases[i].group, separator) &&
        (nearest < 0 || bases[i].group.size() > bases[static_cast<size_t>(nearest)].group.size())) {
      nearest = static_cast<int>(i);
    }
  }
  return nearest >= 0 ? nearest : fitting == 1 ? last : -1;
}

std::string shapeOf(const NamedArray& array) {
  return fmt::format("({}, {})", array.values.rows(), array.values.cols());
}

// The period that a single number states, in s; 0 if there is none, or several that differ.
double samplePeriod(const std::vector<NamedArray>& arrays, char separator, std::string& name) {
  double period = 0.0;
  for (const NamedArray& array : arrays) {
    if (array.values.size() != 1 || !(array.values(0, 0) > 0.0)) continue;
    double found = periodNamed(leafOf(array.name, separator), array.values(0, 0));
    const auto unit = findUnit(array.unit);
    if (unit && unit->si == "s") found *= unit->factor;
    if (found == 0.0) continue;
    if (period != 0.0 && std::abs(found - period) > 1e-6 * period) return 0.0;
    period = found;
    name = array.name;
  }
  return period;
}

// Drops what cannot be a signal; one row becomes one column. In a file of our own one row is one
// sample.
std::vector<NamedArray> usableArrays(const std::string& file, std::vector<NamedArray> arrays,
                                     bool own, Notes* notes) {
  std::vector<NamedArray> usable;
  for (NamedArray& array : arrays) {
    if (array.values.size() == 0) {
      note(notes, fmt::format("{}: array {} is empty", file, inQuotes(array.name)));
    } else if (array.values.size() == 1 && !own) {
      note(notes, fmt::format("{}: array {} is a single number ({}), not a signal", file,
                              inQuotes(array.name), formatNumber(array.values(0, 0))));
    } else {
      if (array.values.rows() == 1 && !own) array.values = array.values.transpose().eval();
      usable.push_back(std::move(array));
    }
  }
  return usable;
}

std::vector<TimeBase> findTimeBases(const std::vector<NamedArray>& arrays, char separator) {
  std::vector<TimeBase> bases;
  std::set<std::string> groups;  // a group has one time base: its first
  for (size_t i = 0; i < arrays.size(); ++i) {
    const std::string group = groupOf(arrays[i].name, separator);
    if (arrays[i].values.cols() != 1 ||
        !timeNamed(leafOf(arrays[i].name, separator), arrays[i].unit))
      continue;
    if (groups.insert(group).second) bases.push_back({i, group, arrays[i].values.rows()});
  }
  return bases;
}

// "data.y_train" becomes "data.train.y" where the same array is there for another part
void groupByParts(std::vector<NamedArray>& arrays, char separator) {
  std::map<std::string, std::set<std::string>> parts;
  for (const NamedArray& array : arrays) {
    const PartName name = withoutPart(leafOf(array.name, separator));
    if (!name.part.empty() && !name.rest.empty())
      parts[groupOf(array.name, separator) + separator + name.rest].insert(name.part);
  }
  if (std::none_of(parts.begin(), parts.end(),
                   [](const auto& entry) { return entry.second.size() > 1; }))
    return;
  for (NamedArray& array : arrays) {
    const std::string group = groupOf(array.name, separator);
    const PartName name = withoutPart(leafOf(array.name, separator));
    if (name.part.empty() || name.rest.empty()) continue;
    array.name = group + (group.empty() ? "" : std::string(1, separator)) + name.part + separator +
                 name.rest;
  }
}

bool sameStamps(const std::vector<NamedArray>& arrays, const TimeBase& a, const TimeBase& b) {
  return a.stamps == b.stamps && arrays[a.array].values == arrays[b.array].values &&
         arrays[a.array].unit == arrays[b.array].unit;
}

void turnArraysOnTheirSide(const std::string& file, std::vector<NamedArray>& arrays,
                           const std::vector<TimeBase>& bases, Notes* notes) {
  for (NamedArray& array : arrays) {
    const auto fits = [&](Eigen::Index n) {
      return std::any_of(bases.begin(), bases.end(),
                         [n](const TimeBase& base) { return base.stamps == n; });
    };
    constexpr Eigen::Index kMany = 100, kLonger = 10;
    const bool lies =
        array.values.cols() >= kMany && array.values.cols() >= kLonger * array.values.rows();
    if (fits(array.values.rows()) || !(fits(array.values.cols()) || lies)) continue;
    note(notes, fmt::format("{}: array {} of shape {} has its samples along the columns; it was "
                            "turned",
                            file, inQuotes(array.name), shapeOf(array)));
    array.values = array.values.transpose().eval();
  }
}

// The innermost group that holds all of these names.
std::string commonGroup(const std::vector<std::string>& names, char separator) {
  std::string group = groupOf(names.front(), separator);
  for (const std::string& name : names) {
    while (!isInside(groupOf(name, separator), group, separator)) group = groupOf(group, separator);
  }
  return group;
}

// In seconds, as name, unit or size of the stamps say.
void setTime(const NamedArray& array, char separator, Recording& recording) {
  const auto time = timeNamed(leafOf(array.name, separator), array.unit);
  std::string unit = time->unit;
  if (!time->stated) {
    unit = unitOfEpoch(array.values(0, 0));
    if (unit != "s") {
      recording.notes.push_back(
          fmt::format("the time stamps of array {} have no unit and begin with {:.6g}: read as {} "
                      "since 1970",
                      inQuotes(array.name), array.values(0, 0), unit));
    } else if (unit = unitOfSteps(array.values.col(0)); unit != "s") {
      recording.notes.push_back(
          fmt::format("the time stamps of array {} have no unit and are whole numbers in large "
                      "steps: read as {}",
                      inQuotes(array.name), unit));
    }
  }
  recording.time = array.values.col(0);
  if (unit != "s") recording.time *= findUnit(unit)->factor;
  if (time->stated || unit != "s") recording.time_unit = unit;
}

Recording makeRecording(const std::string& file, const std::vector<const NamedArray*>& members,
                        const NamedArray* time, char separator) {
  std::vector<std::string> names;
  Eigen::Index columns = 0;
  for (const NamedArray* array : members) {
    names.push_back(array->name);
    columns += array->values.cols();
  }
  if (time != nullptr) names.push_back(time->name);
  Recording recording;
  recording.source = file;
  recording.topic = commonGroup(names, separator);
  if (time != nullptr) setTime(*time, separator, recording);
  const Eigen::Index rows = time != nullptr ? time->values.rows() : members.front()->values.rows();
  recording.values.resize(rows, columns);
  const size_t skip = recording.topic.empty() ? 0 : recording.topic.size() + 1;
  Eigen::Index at = 0;
  for (const NamedArray* array : members) {
    for (Eigen::Index c = 0; c < array->values.cols(); ++c) {
      const std::string index = array->values.cols() == 1 ? "" : fmt::format("[{}]", c);
      Channel channel = channelNamed(array->name.substr(skip) + index);
      channel.unit = array->unit;
      channel.origin = fmt::format("{}: {}{}", file, array->name, index);
      recording.channels.push_back(std::move(channel));
      recording.values.col(at++) = array->values.col(c);
    }
  }
  return recording;
}

template <typename Enum>
void readEnum(const nlohmann::json& json, const char* key, Enum last, Enum& value) {
  const std::string text = json.value(key, "");
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    if (text == toString(static_cast<Enum>(i))) value = static_cast<Enum>(i);
  }
}

// "/joint_states" is the group "joint_states"
std::string topicGroup(const std::string& topic) {
  return topic.starts_with("/") ? topic.substr(1) : topic;
}

void applyChannelsJson(const std::string& text, std::vector<Recording>& recordings) {
  const nlohmann::json json = nlohmann::json::parse(text);
  for (const nlohmann::json& entry : json.at("recordings")) {
    const std::string topic = entry.value("topic", "");
    for (Recording& recording : recordings) {
      if (recording.topic != topicGroup(topic)) continue;
      recording.topic = topic;
      for (const nlohmann::json& described : entry.at("channels")) {
        const int column = recording.column(described.value("name", ""));
        if (column < 0) continue;
        Channel& channel = recording.channels[static_cast<size_t>(column)];
        readEnum(described, "quantity", Quantity::kTemperature, channel.quantity);
        readEnum(described, "role", Role::kExternal, channel.role);
        readEnum(described, "side", Side::kMotor, channel.side);
        channel.of = described.value("of", "");
        channel.component = described.value("component", "");
        channel.unit = described.value("unit", "");
      }
      break;
    }
  }
}

// "q" and 3 of "q[3]"
std::optional<std::pair<std::string, Eigen::Index>> splitIndex(const std::string& name) {
  const size_t open = name.rfind('[');
  if (open == std::string::npos || open == 0 || name.back() != ']') return std::nullopt;
  const std::string digits = name.substr(open + 1, name.size() - open - 2);
  if (digits.empty() || digits.size() > 6 ||
      !std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    return std::nullopt;
  }
  return std::pair{name.substr(0, open), static_cast<Eigen::Index>(std::stol(digits))};
}

// Time stamps that fit no array are told where arrays have none.
void noteUnusedStamps(const std::vector<NamedArray>& arrays, const std::vector<TimeBase>& bases,
                      std::vector<Recording>& recordings) {
  for (Recording& recording : recordings) {
    if (recording.time.size() > 0) continue;
    for (const TimeBase& base : bases) {
      recording.notes.push_back(fmt::format(
          "array {} has {} time stamps, but {} {} samples, so that they have no time: expected as "
          "many of each",
          inQuotes(arrays[base.array].name), base.stamps,
          recording.channels.size() == 1 ? inQuotes(recording.channels[0].name) + " has"
                                         : inQuotes(recording.channels.front().name) + " to " +
                                               inQuotes(recording.channels.back().name) + " have",
          recording.samples()));
    }
  }
}

// Tables of pandas: columns by their names, without the array of all names (axis0), and without
// the index (axis1) where it counts rows.
void nameBlocks(std::vector<NamedArray>& arrays, char separator) {
  std::vector<NamedArray> named;
  std::set<std::string> groups, done;
  for (const NamedArray& list : arrays) {
    const std::string block = blockOfItems(list, separator);
    for (const NamedArray& array : arrays) {
      if (block.empty() || array.name != block ||
          array.values.cols() != static_cast<Eigen::Index>(list.texts.size()))
        continue;
      const std::string group = groupOf(list.name, separator);
      for (size_t c = 0; c < list.texts.size(); ++c) {
        named.push_back({(group.empty() ? "" : group + separator) + list.texts[c],
                         array.values.col(static_cast<Eigen::Index>(c)), ""});
      }
      groups.insert(group);
      done.insert({block, list.name});
    }
  }
  if (groups.empty()) return;
  std::erase_if(arrays, [&](NamedArray& array) {
    const bool axis = groups.count(groupOf(array.name, separator)) != 0 &&
                      leafOf(array.name, separator).starts_with("axis");
    const Eigen::Index n = array.values.size();
    const bool counts = n > 0 && array.values(0) == 0.0 && array.values(n - 1) == double(n - 1);
    if (axis && !counts && n > 0) array.name.replace(array.name.rfind("axis"), 5, "index");
    return done.count(array.name) != 0 || (axis && (counts || n == 0));
  });
  arrays.insert(arrays.end(), named.begin(), named.end());
}

}  // namespace

double periodNamed(const std::string& name, double value) {
  static const std::set<std::string> kPeriods = {
      "ts",          "dt",          "delta t",        "sample time",     "sampletime",
      "period",      "time step",   "timestep",       "sampling time",   "sample period",
      "sampling dt", "time delta",  "sampling step",  "sampling period", "sampling interval",
      "sample dt",   "sample step", "sample interval"};
  static const std::set<std::string> kRates = {"fs",
                                               "rate",
                                               "sample rate",
                                               "frequency",
                                               "samplerate",
                                               "sampling rate",
                                               "freq",
                                               "sampling freq",
                                               "sampling frequency",
                                               "sample freq",
                                               "sample frequency"};
  static const std::map<std::string, double> kSeconds = {
      {"s", 1.0}, {"sec", 1.0}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
  Words words = wordsOf(name);
  if (words.empty()) return 0.0;
  const auto seconds = kSeconds.find(words.back());
  const bool hertz = words.back() == "hz" || words.back() == "khz";
  double factor = seconds != kSeconds.end() ? seconds->second : words.back() == "khz" ? 1e3 : 1.0;
  if (hertz || seconds != kSeconds.end()) words.pop_back();
  if (hertz && !words.empty() && words.back() == "k") {  // kHz
    words.pop_back();
    factor = 1e3;
  }
  const std::string said = fmt::format("{}", fmt::join(words, " "));
  if (kPeriods.count(said) != 0 && !hertz) return value * factor;
  const bool rate = kRates.count(said) != 0 || (said.empty() && hertz);
  return rate && seconds == kSeconds.end() ? 1.0 / (value * factor) : 0.0;
}

bool isJointList(const NamedArray& array, char separator) {
  const std::string words =
      fmt::format("{}", fmt::join(wordsOf(leafOf(array.name, separator)), " "));
  constexpr std::array<std::string_view, 10> kNames = {
      "joint names", "names",       "joints",    "name",           "joint name",
      "jointnames",  "joint order", "dof names", "elements names", "element names"};
  return !array.texts.empty() && std::find(kNames.begin(), kNames.end(), words) != kNames.end();
}

std::string blockOfItems(const NamedArray& array, char separator) {
  constexpr std::string_view kItems = "_items";
  if (array.texts.empty() || !array.name.ends_with(kItems) ||
      !leafOf(array.name, separator).starts_with("block"))
    return "";
  return array.name.substr(0, array.name.size() - kItems.size()) + "_values";
}

void note(Notes* notes, std::string sentence) {
  if (notes != nullptr) notes->push_back(std::move(sentence));
}

std::vector<Recording> recordingsFromArrays(const std::string& file, std::vector<NamedArray> arrays,
                                            char separator, const std::string& channels_json,
                                            Notes* notes) {
  const bool own = !channels_json.empty();  // a file that we wrote says itself what is what
  if (!own) groupByParts(arrays, separator);
  nameBlocks(arrays, separator);
  std::vector<NamedArray> lists;
  std::erase_if(arrays, [&](NamedArray& array) {
    if (isJointList(array, separator)) lists.push_back(array);
    return !array.texts.empty();
  });
  std::string period_name;
  const double period = own ? 0.0 : samplePeriod(arrays, separator, period_name);
  arrays = usableArrays(file, std::move(arrays), own, notes);
  std::vector<TimeBase> bases = findTimeBases(arrays, separator);
  if (arrays.size() == 1) bases.clear();  // nothing else to give the time to
  turnArraysOnTheirSide(file, arrays, bases, notes);

  // with a time base first, in the order of the file
  std::map<std::pair<size_t, Eigen::Index>, std::vector<const NamedArray*>> tables;
  std::set<std::string> names;
  for (size_t i = 0; i < arrays.size(); ++i) {
    if (!names.insert(arrays[i].name).second)
      throw Error(fmt::format("{}: two arrays are called {}", file, inQuotes(arrays[i].name)));
    if (std::any_of(bases.begin(), bases.end(), [i](const TimeBase& b) { return b.array == i; }))
      continue;
    const Eigen::Index rows = arrays[i].values.rows();
    int base = timeBaseFor(bases, groupOf(arrays[i].name, separator), rows, separator);
    for (int other = 0; other < base; ++other) {
      if (own ||
          !sameStamps(arrays, bases[static_cast<size_t>(other)], bases[static_cast<size_t>(base)]))
        continue;
      base = other;
    }
    tables[{base < 0 ? bases.size() : static_cast<size_t>(base), rows}].push_back(&arrays[i]);
  }
  std::vector<Recording> recordings;
  std::set<std::string> topics;
  for (const auto& [key, members] : tables) {
    const NamedArray* time = key.first < bases.size() ? &arrays[bases[key.first].array] : nullptr;
    recordings.push_back(makeRecording(file, members, time, separator));
    std::string& topic = recordings.back().topic;
    const bool nameless = topic.empty() && time == nullptr && tables.size() > 1;
    if (nameless || !topics.insert(topic).second)
      topic = time != nullptr ? time->name : members.front()->name;
  }
  noteUnusedStamps(arrays, bases, recordings);
  if (recordings.empty())
    throw Error(file +
                ": no array in it is a signal (numbers, one or two dimensions, more than "
                "one sample)");
  for (Recording& recording : recordings) {
    for (const NamedArray& list : lists) {
      const std::string group = groupOf(list.name, separator), topic = recording.topic;
      const bool inner = group != topic && isInside(group, topic, separator);
      if (!inner && !isInside(topic, group, separator)) continue;
      const std::string within =
          inner ? group.substr(topic.empty() ? 0 : topic.size() + 1) + separator : "";
      attributeJoints(recording, list.texts, "array " + inQuotes(list.name), within);
    }
    if (period == 0.0 || !bases.empty()) continue;
    recording.time =
        period * Eigen::VectorXd::LinSpaced(recording.samples(), 0.0,
                                            static_cast<double>(recording.samples() - 1));
    recording.notes.push_back(fmt::format("the time is counted in steps of {} s, as {} says",
                                          formatNumber(period), inQuotes(period_name)));
  }
  if (own) {
    try {
      applyChannelsJson(channels_json, recordings);
    } catch (const nlohmann::json::exception&) {
      note(notes, fmt::format("{}: {} cannot be understood; quantities and units are unknown", file,
                              kChannelsJsonName));
    }
  }
  return recordings;
}

std::vector<NamedArray> arraysFromRecordings(const std::vector<Recording>& recordings) {
  std::vector<NamedArray> arrays;
  std::set<std::string> groups;
  for (const Recording& recording : recordings) {
    requireValid(recording);
    const std::string group = topicGroup(recording.topic);
    const std::string prefix = group.empty() ? "" : group + "/";
    if (!groups.insert(group).second) {
      throw Error(fmt::format("{}: two recordings have the topic {}; name them apart",
                              recording.source, inQuotes(recording.topic)));
    }
    const bool timed = recording.time.size() > 0;
    if (timed && recording.column("time") >= 0) {
      throw Error(recording.source +
                  ": a channel is called 'time' like the time stamps; rename it");
    }
    if (timed) arrays.push_back({prefix + "time", recording.time, "s"});
    Eigen::Index next = 0;  // index that would continue the last array
    for (size_t c = 0; c < recording.channels.size(); ++c) {
      const Channel& channel = recording.channels[c];
      const auto column = recording.values.col(static_cast<Eigen::Index>(c));
      const auto split = splitIndex(channel.name);
      if (split && split->second == next && next > 0 &&
          arrays.back().name == prefix + split->first) {
        arrays.back().values.conservativeResize(Eigen::NoChange, ++next);
        arrays.back().values.col(next - 1) = column;
        continue;
      }
      // "q[0]" opens an array only if "q[1]" follows
      const bool opens = split && split->second == 0 && c + 1 < recording.channels.size() &&
                         recording.channels[c + 1].name == split->first + "[1]";
      arrays.push_back({prefix + (opens ? split->first : channel.name), column, channel.unit});
      next = opens ? 1 : 0;
    }
  }
  return arrays;
}

std::string channelsJson(const std::vector<Recording>& recordings) {
  nlohmann::json json;
  json["recordings"] = nlohmann::json::array();
  for (const Recording& recording : recordings) {
    nlohmann::json channels = nlohmann::json::array();
    for (const Channel& channel : recording.channels) {
      channels.push_back({{"name", channel.name},
                          {"quantity", toString(channel.quantity)},
                          {"role", toString(channel.role)},
                          {"side", toString(channel.side)},
                          {"of", channel.of},
                          {"component", channel.component},
                          {"unit", channel.unit}});
    }
    json["recordings"].push_back({{"topic", recording.topic}, {"channels", channels}});
  }
  return json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace proprio
