#pragma once

/// ROS 2 bags: a folder with metadata.yaml, or one of its files: SQLite (.db3), also compressed as
/// a whole (.db3.zstd) or message by message, and MCAP (mcap.h). One Recording per topic; which
/// messages are read and what their channels are called: cdr.h and docs/recording.md.
///
/// The database is opened read-only and as immutable: nothing is ever created beside it. Metadata
/// that names a missing file is noted, and the files that are there are read.

#include <string>
#include <vector>

#include "proprio/recording/recording.h"

namespace proprio {

/// @param notes if given, receives a sentence for everything in the bag that was not read
/// @param skip_bad leave out messages that cannot be decoded, and of MCAP files what is cut off
/// @throws Error that names the file, the topic and the message.
std::vector<Recording> readRosbag(const std::string& path,
                                  std::vector<std::string>* notes = nullptr, bool skip_bad = false);

}  // namespace proprio
