#include "proprio/recording/mcap.h"

#include <fmt/format.h>

#include <unordered_map>

#include "proprio/core/text.h"
#include "proprio/recording/byte_reader_internal.h"
#include "proprio/recording/compression_internal.h"
#include "proprio/recording/mcap_internal.h"

namespace proprio {
namespace {

constexpr uint64_t kLargestChunk = uint64_t{1} << 32;

struct McapChannel {
  std::string topic, type, encoding;
  bool known = false;
};

std::string_view readString(ByteReader& reader, const char* what) {
  return reader.take(reader.read<uint32_t>(what), what);
}

class McapReader {
 public:
  McapReader(std::string_view bytes, const std::string& file, MessageLog& log)
      : bytes_(bytes), file_(file), log_(log) {}

  // the data section record by record, then the footer
  void readAll() {
    ByteReader reader(bytes_, file_);
    if (reader.left() < kMcapMagic.size() || reader.take(kMcapMagic.size(), "") != kMcapMagic)
      throw reader.error("this is not an MCAP file: it does not start with its magic bytes");
    while (true) {
      const size_t start = reader.offset();
      const auto opcode = static_cast<McapOpcode>(reader.read<uint8_t>("a record"));
      ByteReader record = reader.part(reader.read<uint64_t>("a record"), "a record");
      if (opcode == McapOpcode::kFooter && !data_ended_)
        throw record.error("the record that ends the data is missing");
      if (opcode == McapOpcode::kFooter) return readFooter(record, reader, start);
      if (opcode == McapOpcode::kDataEnd) readDataEnd(record, start);
      if (!data_ended_) readRecord(opcode, record);
    }
  }

 private:
  void readRecord(McapOpcode opcode, ByteReader& record) {
    switch (opcode) {
      case McapOpcode::kSchema:
        return readSchema(record);
      case McapOpcode::kChannel:
        return readChannel(record);
      case McapOpcode::kMessage:
        return readMessage(record);
      case McapOpcode::kChunk:
        return readChunk(record);
      default:  // indexes, attachments, metadata and what later versions add
        return;
    }
  }

  void readSchema(ByteReader& record) {
    const auto id = record.read<uint16_t>("the schema's number");
    schemas_[id] = readString(record, "the schema's name");
  }

  void readChannel(ByteReader& record) {
    const auto id = record.read<uint16_t>("the channel's number");
    const auto schema = record.read<uint16_t>("the channel's schema");
    McapChannel channel;
    channel.topic = readString(record, "the channel's topic");
    channel.encoding = readString(record, "the channel's encoding");
    const auto found = schemas_.find(schema);
    if (found != schemas_.end()) channel.type = found->second;
    if (schema != 0 && found == schemas_.end())
      throw record.error(fmt::format("topic {} refers to schema {}, which the file does not have",
                                     inQuotes(channel.topic), schema));
    const auto same = channels_.find(id);
    if (same != channels_.end() && same->second.topic == channel.topic) return;
    channel.known = log_.knows(channel.topic, channel.type, channel.encoding);
    channels_[id] = std::move(channel);
  }

  void readMessage(ByteReader& record) {
    const auto id = record.read<uint16_t>("the message's channel");
    record.read<uint32_t>("the message's number");
    const auto log_time = record.read<uint64_t>("the message's log time");
    record.read<uint64_t>("the message's publish time");
    const auto found = channels_.find(id);
    if (found == channels_.end())
      throw record.error(fmt::format("a message of channel {}, which the file does not have", id));
    const McapChannel& channel = found->second;
    if (!channel.known) return;
    log_.add(file_, channel.topic, channel.type, channel.encoding, static_cast<int64_t>(log_time),
             record.take(record.left(), "the message"));
  }

  void readChunk(ByteReader& record) {
    record.take(16, "the times of a chunk");
    const auto size = record.read<uint64_t>("the size of a chunk");
    const auto crc = record.read<uint32_t>("the checksum of a chunk");
    const std::string compression(readString(record, "the compression of a chunk"));
    const size_t start = record.fileOffset();
    const std::string_view packed =
        record.take(record.read<uint64_t>("the records of a chunk"), "the records of a chunk");
    const std::string where = fmt::format("{}: at byte {}: chunk", file_, start);
    if (size > kLargestChunk) throw Error(fmt::format("{}: announces {} bytes", where, size));
    std::string_view records = packed;
    if (compression == "lz4" || compression == "zstd") {
      buffer_ = decompressed(compression == "lz4" ? Compression::kLz4Frame : Compression::kZstd,
                             packed, size, where);
      records = buffer_;
    } else if (!compression.empty()) {
      throw Error(fmt::format("{}: compressed with {}, expected lz4, zstd or nothing", where,
                              inQuotes(compression)));
    } else if (size != packed.size()) {
      throw Error(fmt::format("{}: has {} bytes but {} are announced", where, packed.size(), size));
    }
    if (crc != 0 && crc32Of(records) != crc)
      throw Error(fmt::format("{}: the checksum is {:08x}, expected {:08x}; the file is damaged",
                              where, crc32Of(records), crc));
    ByteReader reader(records, fmt::format("{}: in the chunk at byte {}", file_, start));
    while (!reader.atEnd()) {
      const auto opcode = static_cast<McapOpcode>(reader.read<uint8_t>("a record"));
      ByteReader inner = reader.part(reader.read<uint64_t>("a record"), "a record");
      if (opcode != McapOpcode::kChunk) readRecord(opcode, inner);
    }
  }

  void readDataEnd(ByteReader& record, size_t start) {
    const auto crc = record.read<uint32_t>("the checksum of the data");
    checkCrc(crc, 0, start, "data");
    data_ended_ = true;
  }

  void readFooter(ByteReader& record, ByteReader& reader, size_t start) {
    const auto summary_start = record.read<uint64_t>("the start of the summary");
    record.read<uint64_t>("the start of the offsets");
    const auto crc = record.read<uint32_t>("the checksum of the summary");
    // of the summary and of the footer up to the checksum: opcode, length, two offsets
    constexpr size_t kFooterPart = 1 + 8 + 8 + 8;
    if (crc != 0) {
      const uint64_t from = summary_start == 0 ? start : summary_start;
      if (from > start) throw record.error("the summary starts behind its end");
      checkCrc(crc, static_cast<size_t>(from), start + kFooterPart, "summary");
    }
    if (reader.left() < kMcapMagic.size() || reader.take(kMcapMagic.size(), "") != kMcapMagic)
      throw reader.error("the file does not end with the magic bytes of MCAP");
  }

  void checkCrc(uint32_t crc, size_t from, size_t to, const char* what) {
    if (crc == 0) return;
    const uint32_t found = crc32Of(bytes_.substr(from, to - from));
    if (found != crc)
      throw Error(
          fmt::format("{}: bytes {} to {}: the checksum of the {} is {:08x}, expected "
                      "{:08x}; the file is damaged",
                      file_, from, to, what, found, crc));
  }

  std::string_view bytes_;
  const std::string& file_;
  MessageLog& log_;
  std::unordered_map<uint16_t, std::string> schemas_;
  std::unordered_map<uint16_t, McapChannel> channels_;
  std::string buffer_;  ///< the chunk being read
  bool data_ended_ = false;
};

}  // namespace

void readMcapMessages(std::string_view bytes, const std::string& file, const McapOptions& options,
                      MessageLog& log, Notes* notes) {
  try {
    McapReader(bytes, file, log).readAll();
  } catch (const Error& error) {
    if (!options.recover || !bytes.starts_with(kMcapMagic)) throw;
    note(notes, fmt::format("recovered what comes before this: {}", error.what()));
  }
}

std::vector<Recording> readMcapBytes(std::string_view bytes, const std::string& file,
                                     const McapOptions& options, Notes* notes) {
  MessageLog log(file, notes, options.recover);
  readMcapMessages(bytes, file, options, log, notes);
  return log.finish();
}

std::vector<Recording> readMcap(const std::string& path, const McapOptions& options, Notes* notes) {
  const MappedFile file(path);
  return readMcapBytes(file.bytes(), path, options, notes);
}

}  // namespace proprio
