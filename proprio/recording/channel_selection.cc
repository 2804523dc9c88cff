#include "proprio/recording/channel_selection.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>

#include "proprio/core/error.h"
#include "proprio/core/text.h"

namespace proprio {

Recording withChannels(const Recording& recording, const std::vector<std::string>& patterns) {
  std::vector<Eigen::Index> columns;
  for (const std::string& pattern : patterns) {
    bool found = false;
    for (size_t c = 0; c < recording.channels.size(); ++c) {
      const std::string& name = recording.channels[c].name;
      if (name != pattern && fnmatch(pattern.c_str(), name.c_str(), 0) != 0) continue;
      found = true;
      const auto column = static_cast<Eigen::Index>(c);
      if (std::find(columns.begin(), columns.end(), column) == columns.end())
        columns.push_back(column);
    }
    if (found) continue;
    std::vector<std::string> names;
    for (const Channel& channel : recording.channels) names.push_back(channel.name);
    throw Error(fmt::format("{}: there is no channel {}{}", recording.source, inQuotes(pattern),
                            didYouMean(pattern, names)));
  }
  Recording chosen = recording;
  chosen.values = recording.values(Eigen::all, columns);
  chosen.channels.clear();
  for (const Eigen::Index column : columns)
    chosen.channels.push_back(recording.channels[static_cast<size_t>(column)]);
  return chosen;
}

}  // namespace proprio
