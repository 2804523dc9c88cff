#pragma once

/// Writes the container: chunks of messages, their indexes, and the summary that lets tools jump in
/// the file.

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "proprio/recording/byte_reader_internal.h"
#include "proprio/recording/mcap_internal.h"

namespace proprio {

struct McapSchema {
  std::string name, encoding, data;
};

/// Little-endian bytes being written.
class McapBytes {
 public:
  template <typename T>
  McapBytes& number(T value) {
    if constexpr (std::endian::native == std::endian::big) value = byteSwapped(value);
    text_.append(reinterpret_cast<const char*>(&value), sizeof(T));
    return *this;
  }
  McapBytes& raw(std::string_view bytes) {
    text_ += bytes;
    return *this;
  }
  McapBytes& text(std::string_view bytes) {
    return number(static_cast<uint32_t>(bytes.size())).raw(bytes);
  }
  McapBytes& record(McapOpcode opcode, const McapBytes& content) {
    number(static_cast<uint8_t>(opcode)).number(static_cast<uint64_t>(content.size()));
    return raw(content.str());
  }
  size_t size() const { return text_.size(); }
  const std::string& str() const { return text_; }
  void clear() { text_.clear(); }

 private:
  std::string text_;
};

class McapWriter {
 public:
  explicit McapWriter(McapCompression compression);
  /// Its number, for addMessage().
  uint16_t addChannel(const std::string& topic, const McapSchema& schema);
  void addMessage(uint16_t channel, uint64_t time_ns, const std::string& message);
  /// What is complete so far and was not taken yet.
  std::string take();
  /// The rest of the file; all of it, if nothing was taken.
  std::string finish();

 private:
  struct Entry {
    uint64_t time_ns, offset;
  };
  uint64_t position() const { return taken_ + out_.size(); }
  void closeChunk();
  void writeStatistics();
  void writeOffset(McapOpcode opcode, uint64_t start, uint64_t end);

  McapCompression compression_;
  McapBytes out_, chunk_, definitions_, chunk_index_;
  uint64_t taken_ = 0;
  uint32_t taken_crc_ = 0;
  uint16_t channels_ = 0;
  uint32_t chunks_ = 0;
  std::map<uint16_t, uint32_t> counts_;
  std::map<uint16_t, std::vector<Entry>> index_;
  uint64_t chunk_start_ = std::numeric_limits<uint64_t>::max(), chunk_end_ = 0;
  uint64_t first_ = std::numeric_limits<uint64_t>::max(), last_ = 0;
};

}  // namespace proprio
