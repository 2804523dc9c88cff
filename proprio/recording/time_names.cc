#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <vector>

#include "proprio/recording/name_words_internal.h"
#include "proprio/recording/time_names_internal.h"
#include "proprio/recording/units.h"

namespace proprio {
namespace {

/// The unit of time that a word stands for, or nothing.
std::string unitOfWord(const std::string& word) {
  static const std::map<std::string, std::string> kWords = {
      {"s", "s"},         {"sec", "s"},          {"secs", "s"},         {"seconds", "s"},
      {"ms", "ms"},       {"msec", "ms"},        {"msecs", "ms"},       {"milliseconds", "ms"},
      {"us", "us"},       {"usec", "us"},        {"usecs", "us"},       {"microsec", "us"},
      {"ns", "ns"},       {"nsec", "ns"},        {"nsecs", "ns"},       {"nanosec", "ns"},
      {"nanosecs", "ns"}, {"nanoseconds", "ns"}, {"microseconds", "us"}};
  const auto found = kWords.find(word);
  return found == kWords.end() ? "" : found->second;
}

}  // namespace

std::optional<TimeName> timeNamed(const std::string& name, const std::string& unit) {
  Words words = wordsOf(name);
  TimeName time{unit.empty() ? "s" : unit, !unit.empty()};
  if (words.size() > 1 && !unitOfWord(words.back()).empty()) {
    if (!time.stated) time = {unitOfWord(words.back()), true};
    words.pop_back();
  }
  const std::string plain = fmt::format("{}", fmt::join(words, " "));
  constexpr std::array<std::string_view, 33> kNames = {"time",
                                                       "times",
                                                       "t",
                                                       "ts",
                                                       "stamp",
                                                       "stamps",
                                                       "timestamp",
                                                       "timestamps",
                                                       "time stamp",
                                                       "ros time",
                                                       "sim time",
                                                       "rosbag timestamp",
                                                       "epoch",
                                                       "unix time",
                                                       "system time",
                                                       "epoch time",
                                                       "datetime",
                                                       "elapsed time",
                                                       "seconds",
                                                       "time elapsed",
                                                       "robot time",
                                                       "date time",
                                                       "zeit",
                                                       "zeitstempel",
                                                       "elapsed",
                                                       "relative time",
                                                       "time since start",
                                                       "log time",
                                                       "duration",
                                                       "sample times",
                                                       "sampling times",
                                                       "time points",
                                                       "tout"};
  time.header = plain.ends_with("header stamp");
  time.duration = plain == "duration";
  // a counter is a time only if it says what it counts
  const bool counter = time.stated && (plain == "tick" || plain == "ticks" || plain == "clock");
  if (!time.header && !counter && std::find(kNames.begin(), kNames.end(), plain) == kNames.end())
    return std::nullopt;
  const auto found = findUnit(time.unit);
  return found && found->si == "s" ? std::optional(time) : std::nullopt;
}

std::optional<std::string> splitTimeNamed(const std::string& seconds, const std::string& rest) {
  Words whole = wordsOf(seconds), part = wordsOf(rest);
  if (whole.empty() || part.size() != whole.size()) return std::nullopt;
  const std::string unit = unitOfWord(part.back());
  if (unitOfWord(whole.back()) != "s" || (unit != "ns" && unit != "us")) return std::nullopt;
  whole.pop_back();
  part.pop_back();
  return whole == part ? std::optional(unit) : std::nullopt;
}

const char* unitOfEpoch(double stamp) {
  return stamp < 1e11 ? "s" : stamp < 1e14 ? "ms" : stamp < 1e17 ? "us" : "ns";
}

const char* unitOfSteps(const Eigen::Ref<const Eigen::VectorXd>& stamps) {
  constexpr double kSlowest = 1e3, kMicroseconds = 1e5;  // 10 Hz to 1 kHz in us
  if (stamps.size() < 3 || !(stamps.array() == stamps.array().floor()).all()) return "s";
  std::vector<double> steps;
  for (Eigen::Index i = 1; i < stamps.size(); ++i) steps.push_back(stamps[i] - stamps[i - 1]);
  std::nth_element(steps.begin(), steps.begin() + std::ssize(steps) / 2, steps.end());
  const double step = steps[steps.size() / 2];
  return !(step >= kSlowest) ? "s" : step <= kMicroseconds ? "us" : "ns";
}

}  // namespace proprio
