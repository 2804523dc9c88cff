#pragma once

#include <string>
#include <string_view>

#include "proprio/recording/mcap.h"
#include "proprio/recording/message_log_internal.h"

namespace proprio {

inline constexpr std::string_view kMcapMagic = "\x89MCAP0\r\n";

enum class McapOpcode : unsigned char {
  kHeader = 1,
  kFooter = 2,
  kSchema = 3,
  kChannel = 4,
  kMessage = 5,
  kChunk = 6,
  kMessageIndex = 7,
  kChunkIndex = 8,
  kStatistics = 11,
  kSummaryOffset = 14,
  kDataEnd = 15
};

/// Adds the messages of an MCAP file to a log.
void readMcapMessages(std::string_view bytes, const std::string& file, const McapOptions& options,
                      MessageLog& log, Notes* notes);

}  // namespace proprio
