#pragma once

/// Some channels of a recording, by name.

#include <string>
#include <vector>

#include "proprio/recording/recording.h"

namespace proprio {

/// The channels that match one of the patterns, in the order of the patterns, each once. `*` in a
/// pattern stands for any letters, `?` for one. @throws Error for a pattern that matches nothing,
/// with the names that are near.
Recording withChannels(const Recording& recording, const std::vector<std::string>& patterns);

}  // namespace proprio
