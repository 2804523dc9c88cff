#include <algorithm>
#include <cctype>

#include "proprio/recording/time_names_internal.h"
#include "proprio/recording/units.h"

namespace proprio {

std::optional<TimeName> timeNamed(std::string name, const std::string& unit) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  TimeName time{unit.empty() ? "s" : unit, !unit.empty()};
  for (const std::string suffix : {"_s", "_ms", "_us", "_ns", "_sec"}) {
    if (name.size() <= suffix.size() || !name.ends_with(suffix)) continue;
    name.resize(name.size() - suffix.size());
    if (!time.stated) time = {suffix.substr(1), true};
    break;
  }
  for (const char* known :
       {"time", "times", "t", "stamp", "stamps", "timestamp", "timestamps", "time_stamp"}) {
    if (name != known) continue;
    const auto found = findUnit(time.unit);
    return found && found->si == "s" ? std::optional(time) : std::nullopt;
  }
  return std::nullopt;
}

const char* unitOfEpoch(double stamp) {
  return stamp < 1e11 ? "s" : stamp < 1e14 ? "ms" : stamp < 1e17 ? "us" : "ns";
}

}  // namespace proprio
