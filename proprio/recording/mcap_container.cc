#include <algorithm>

#include "proprio/recording/compression_internal.h"
#include "proprio/recording/mcap_container_internal.h"

namespace proprio {
namespace {

constexpr size_t kChunkSize = size_t{1} << 20;

}  // namespace

McapWriter::McapWriter(McapCompression compression) : compression_(compression) {
  out_.raw(kMcapMagic).record(McapOpcode::kHeader, McapBytes().text("ros2").text("proprio"));
}

uint16_t McapWriter::addChannel(const std::string& topic, const McapSchema& schema) {
  ++channels_;
  McapBytes definition;
  definition.record(
      McapOpcode::kSchema,
      McapBytes().number(channels_).text(schema.name).text(schema.encoding).text(schema.data));
  definition.record(McapOpcode::kChannel, McapBytes()
                                              .number(channels_)
                                              .number(channels_)
                                              .text(topic)
                                              .text(schema.encoding == "ros2msg" ? "cdr" : "json")
                                              .number(uint32_t{0}));
  definitions_.raw(definition.str());
  chunk_.raw(definition.str());
  return channels_;
}

void McapWriter::addMessage(uint16_t channel, uint64_t time_ns, const std::string& message) {
  index_[channel].push_back({time_ns, chunk_.size()});
  chunk_start_ = std::min(chunk_start_, time_ns);
  chunk_end_ = std::max(chunk_end_, time_ns);
  chunk_.record(McapOpcode::kMessage, McapBytes()
                                          .number(channel)
                                          .number(counts_[channel]++)
                                          .number(time_ns)
                                          .number(time_ns)
                                          .raw(message));
  if (chunk_.size() > kChunkSize) closeChunk();
}

std::string McapWriter::take() {
  std::string bytes = out_.str();
  taken_ += bytes.size();
  taken_crc_ = crc32Of(bytes, taken_crc_);
  out_.clear();
  return bytes;
}

std::string McapWriter::finish() {
  closeChunk();
  McapBytes data_end;
  data_end.number(crc32Of(out_.str(), taken_crc_));
  out_.record(McapOpcode::kDataEnd, data_end);
  const uint64_t summary = position();
  out_.raw(definitions_.str());
  const uint64_t chunk_indexes = position();
  out_.raw(chunk_index_.str());
  const uint64_t statistics = position();
  writeStatistics();
  const uint64_t offsets = position();
  writeOffset(McapOpcode::kChunkIndex, chunk_indexes, statistics);
  writeOffset(McapOpcode::kStatistics, statistics, offsets);
  // the checksum covers the summary and the footer up to itself
  McapBytes footer;
  footer.number(static_cast<uint8_t>(McapOpcode::kFooter)).number(uint64_t{20});
  footer.number(summary).number(offsets);
  out_.raw(footer.str());
  out_.number(crc32Of(std::string_view(out_.str()).substr(summary - taken_)));
  out_.raw(kMcapMagic);
  return out_.str();
}

void McapWriter::closeChunk() {
  if (chunk_.size() == 0) return;
  if (index_.empty()) chunk_start_ = 0;
  const bool lz4 = compression_ == McapCompression::kLz4;
  const bool plain = compression_ == McapCompression::kNone;
  const char* compression = plain ? "" : lz4 ? "lz4" : "zstd";
  const std::string records =
      plain ? chunk_.str()
            : compressed(lz4 ? Compression::kLz4Frame : Compression::kZstd, chunk_.str());
  const uint64_t start = position();
  out_.record(McapOpcode::kChunk, McapBytes()
                                      .number(chunk_start_)
                                      .number(chunk_end_)
                                      .number(static_cast<uint64_t>(chunk_.size()))
                                      .number(crc32Of(chunk_.str()))
                                      .text(compression)
                                      .number(static_cast<uint64_t>(records.size()))
                                      .raw(records));
  const uint64_t indexes = position();
  McapBytes offsets;
  for (const auto& [channel, entries] : index_) {
    offsets.number(channel).number(position());
    McapBytes index;
    index.number(channel).number(static_cast<uint32_t>(16 * entries.size()));
    for (const Entry& entry : entries) index.number(entry.time_ns).number(entry.offset);
    out_.record(McapOpcode::kMessageIndex, index);
  }
  chunk_index_.record(McapOpcode::kChunkIndex, McapBytes()
                                                   .number(chunk_start_)
                                                   .number(chunk_end_)
                                                   .number(start)
                                                   .number(indexes - start)
                                                   .text(offsets.str())
                                                   .number(position() - indexes)
                                                   .text(compression)
                                                   .number(static_cast<uint64_t>(records.size()))
                                                   .number(static_cast<uint64_t>(chunk_.size())));
  if (!index_.empty()) {
    first_ = std::min(first_, chunk_start_);
    last_ = std::max(last_, chunk_end_);
  }
  ++chunks_;
  chunk_.clear();
  index_.clear();
  chunk_start_ = std::numeric_limits<uint64_t>::max();
  chunk_end_ = 0;
}

void McapWriter::writeStatistics() {
  uint64_t messages = 0;
  McapBytes counts;
  for (const auto& [channel, count] : counts_) {
    messages += count;
    counts.number(channel).number(static_cast<uint64_t>(count));
  }
  out_.record(McapOpcode::kStatistics, McapBytes()
                                           .number(messages)
                                           .number(channels_)
                                           .number(uint32_t{channels_})
                                           .number(uint32_t{0})
                                           .number(uint32_t{0})
                                           .number(chunks_)
                                           .number(messages == 0 ? uint64_t{0} : first_)
                                           .number(last_)
                                           .text(counts.str()));
}

void McapWriter::writeOffset(McapOpcode opcode, uint64_t start, uint64_t end) {
  out_.record(McapOpcode::kSummaryOffset,
              McapBytes().number(static_cast<uint8_t>(opcode)).number(start).number(end - start));
}

}  // namespace proprio
