#include <fmt/format.h>

#include <algorithm>

#include "proprio/core/text.h"
#include "proprio/recording/byte_reader_internal.h"
#include "proprio/recording/compression_internal.h"
#include "proprio/recording/zip_archive_internal.h"

namespace proprio {
namespace {

constexpr uint32_t kLocalHeader = 0x04034b50;
constexpr uint32_t kDirectoryEntry = 0x02014b50;
constexpr uint32_t kEnd = 0x06054b50;
constexpr uint32_t kEnd64 = 0x06064b50;
constexpr uint32_t kEnd64Locator = 0x07064b50;
constexpr uint32_t kIn64 = 0xffffffff;  // the value is in a 64-bit field instead

struct Directory {
  uint64_t offset = 0;
  uint64_t count = 0;
};

// the end record is the last thing in the file, but for a comment whose length it states
size_t findEnd(std::string_view bytes, const std::string& file) {
  constexpr size_t kSize = 22, kLongestComment = 65535;
  for (size_t back = kSize; back <= std::min(bytes.size(), kSize + kLongestComment); ++back) {
    const size_t at = bytes.size() - back;
    ByteReader reader(bytes.substr(at), file, at);
    if (reader.read<uint32_t>("the signature") != kEnd) continue;
    reader.take(16, "the end record");
    if (reader.read<uint16_t>("the comment") == back - kSize) return at;
  }
  throw Error(
      fmt::format("{}: at byte {}: no zip directory at the end of the file; it is cut off "
                  "or not a zip archive",
                  file, bytes.size()));
}

Directory findDirectory(std::string_view bytes, const std::string& file) {
  const size_t end = findEnd(bytes, file);
  ByteReader reader(bytes, file);
  reader.seek(end + 10, "the end record");
  Directory directory;
  directory.count = reader.read<uint16_t>("the number of members");
  reader.read<uint32_t>("the size of the directory");
  directory.offset = reader.read<uint32_t>("the offset of the directory");
  if (directory.offset != kIn64 && directory.count != 0xffff) return directory;
  // zip64: a locator before the end record points to a longer end record
  if (end < 20) return directory;
  reader.seek(end - 20, "the zip64 locator");
  if (reader.read<uint32_t>("the signature") != kEnd64Locator) return directory;
  reader.read<uint32_t>("the disk");
  reader.seek(reader.read<uint64_t>("the zip64 end record"), "the zip64 end record");
  if (reader.read<uint32_t>("the signature") != kEnd64)
    throw reader.error("expected the zip64 end record here");
  reader.take(28, "the zip64 end record");
  directory.count = reader.read<uint64_t>("the number of members");
  reader.read<uint64_t>("the size of the directory");
  directory.offset = reader.read<uint64_t>("the offset of the directory");
  return directory;
}

struct Entry {
  uint64_t size = 0, stored_size = 0, local_offset = 0;
};

// values that did not fit into 32 bits, in the order in which the entry needs them
void readZip64(ByteReader extra, Entry& entry) {
  while (extra.left() >= 4) {
    const auto id = extra.read<uint16_t>("an extra field");
    ByteReader field = extra.part(extra.read<uint16_t>("an extra field"), "an extra field");
    if (id != 1) continue;
    for (uint64_t* value : {&entry.size, &entry.stored_size, &entry.local_offset}) {
      if (*value == kIn64) *value = field.read<uint64_t>("a zip64 size");
    }
  }
}

ZipMember readEntry(ByteReader& reader, std::string_view bytes) {
  if (reader.read<uint32_t>("a directory entry") != kDirectoryEntry)
    throw reader.error("expected an entry of the zip directory here");
  ZipMember member;
  Entry entry;
  reader.read<uint32_t>("versions");
  const auto flags = reader.read<uint16_t>("flags");
  const auto method = reader.read<uint16_t>("the compression method");
  reader.read<uint32_t>("date and time");
  member.crc = reader.read<uint32_t>("the checksum");
  entry.stored_size = reader.read<uint32_t>("the compressed size");
  entry.size = reader.read<uint32_t>("the size");
  const auto name_size = reader.read<uint16_t>("the size of the name");
  const auto extra_size = reader.read<uint16_t>("the size of the extra field");
  const auto comment_size = reader.read<uint16_t>("the size of the comment");
  reader.take(8, "attributes");
  entry.local_offset = reader.read<uint32_t>("the offset of the member");
  member.name = reader.take(name_size, "the name");
  readZip64(reader.part(extra_size, "the extra field"), entry);
  reader.take(comment_size, "the comment");
  if ((flags & 1) != 0)
    throw reader.error(fmt::format("member {} is encrypted", inQuotes(member.name)));
  if (method != 0 && method != 8) {
    throw reader.error(
        fmt::format("member {} uses compression method {}, expected 0 (stored) or "
                    "8 (deflate)",
                    inQuotes(member.name), method));
  }
  member.deflated = method == 8;
  member.size = entry.size;

  ByteReader local(bytes, reader.file());
  local.seek(entry.local_offset, "a member");
  if (local.read<uint32_t>("a member") != kLocalHeader)
    throw local.error("expected the header of member " + inQuotes(member.name) + " here");
  local.take(22, "the header of a member");
  const auto local_name = local.read<uint16_t>("the size of the name");
  const auto local_extra = local.read<uint16_t>("the size of the extra field");
  local.take(size_t{local_name} + local_extra, "the header of a member");
  member.offset = local.fileOffset();
  member.data = local.take(entry.stored_size, "the data of a member");
  return member;
}

template <typename T>
void appendLittleEndian(std::string& out, T value) {  // little endian
  for (size_t i = 0; i < sizeof(T); ++i)
    out += static_cast<char>((static_cast<uint64_t>(value) >> (8 * i)) & 0xff);
}

// the fields that the local header and the directory entry share
void appendHeader(std::string& out, const ZipMember& member) {
  appendLittleEndian<uint16_t>(out, 20);      // version that can extract it
  appendLittleEndian<uint16_t>(out, 0x0800);  // names are UTF-8
  appendLittleEndian<uint16_t>(out, member.deflated ? 8 : 0);
  appendLittleEndian<uint32_t>(out,
                               0x00210000);  // 1980-01-01: the same content gives the same file
  appendLittleEndian<uint32_t>(out, member.crc);
  appendLittleEndian<uint32_t>(out, static_cast<uint32_t>(member.data.size()));
  appendLittleEndian<uint32_t>(out, static_cast<uint32_t>(member.size));
  appendLittleEndian<uint16_t>(out, static_cast<uint16_t>(member.name.size()));
  appendLittleEndian<uint16_t>(out, 0);
}

}  // namespace

std::vector<ZipMember> readZipDirectory(std::string_view bytes, const std::string& file) {
  const Directory directory = findDirectory(bytes, file);
  ByteReader reader(bytes, file);
  reader.seek(directory.offset, "the zip directory");
  std::vector<ZipMember> members;
  uint64_t stored = 0;
  for (uint64_t i = 0; i < directory.count; ++i) {
    members.push_back(readEntry(reader, bytes));
    stored += members.back().data.size();
    // members that share their bytes would be a small file of endless content
    if (stored > bytes.size()) throw reader.error("the members of the archive overlap");
  }
  return members;
}

std::string_view readZipMember(const ZipMember& member, const std::string& file,
                               std::string& buffer) {
  const std::string where =
      fmt::format("{}: at byte {}: member {}", file, member.offset, inQuotes(member.name));
  std::string_view bytes = member.data;
  if (member.deflated) {
    buffer = decompressed(Compression::kDeflate, member.data, member.size, where);
    bytes = buffer;
  } else if (member.size != member.data.size()) {
    throw Error(fmt::format("{}: stored with {} bytes but {} are announced", where,
                            member.data.size(), member.size));
  }
  if (crc32Of(bytes) != member.crc) {
    throw Error(fmt::format("{}: the checksum is {:08x}, expected {:08x}; the file is damaged",
                            where, crc32Of(bytes), member.crc));
  }
  return bytes;
}

std::string zipArchive(const std::vector<std::pair<std::string, std::string>>& members,
                       bool deflate, const std::string& file) {
  std::string out, directory;
  for (const auto& [name, bytes] : members) {
    const std::string packed = deflate ? compressed(Compression::kDeflate, bytes) : std::string();
    const ZipMember member{name,          deflate ? packed : bytes, 0, deflate, bytes.size(),
                           crc32Of(bytes)};
    appendLittleEndian(directory, kDirectoryEntry);
    appendLittleEndian<uint16_t>(directory, 20);
    appendHeader(directory, member);
    directory.append(10, '\0');  // comment, disk, attributes
    appendLittleEndian(directory, static_cast<uint32_t>(out.size()));
    directory += name;
    appendLittleEndian(out, kLocalHeader);
    appendHeader(out, member);
    out += name;
    out += member.data;
    if (out.size() + directory.size() > 0xfffffff0 || members.size() > 0xfff0) {
      throw Error(file +
                  ": the archive would exceed what a zip file of 32 bits holds (4 GiB); "
                  "write HDF5 instead or cut the recording");
    }
  }
  const size_t start = out.size();
  out += directory;
  appendLittleEndian(out, kEnd);
  appendLittleEndian<uint32_t>(out, 0);
  appendLittleEndian(out, static_cast<uint16_t>(members.size()));
  appendLittleEndian(out, static_cast<uint16_t>(members.size()));
  appendLittleEndian(out, static_cast<uint32_t>(directory.size()));
  appendLittleEndian(out, static_cast<uint32_t>(start));
  appendLittleEndian<uint16_t>(out, 0);
  return out;
}

namespace {

constexpr uint64_t kLocalSize = 30 + 20;  // without the name: fixed part and sizes of 64 bits

// what the local header and the directory entry share; sizes are in the extra field
void appendHeader64(std::string& out, const std::string& name, uint32_t crc, uint16_t extra) {
  appendLittleEndian<uint16_t>(out, 45);
  appendLittleEndian<uint16_t>(out, 0x0800);  // names are UTF-8
  appendLittleEndian<uint16_t>(out, 0);
  appendLittleEndian<uint32_t>(out, 0x00210000);
  appendLittleEndian(out, crc);
  appendLittleEndian(out, kIn64);
  appendLittleEndian(out, kIn64);
  appendLittleEndian(out, static_cast<uint16_t>(name.size()));
  appendLittleEndian(out, extra);
}

void appendExtra64(std::string& out, const std::vector<uint64_t>& values) {
  appendLittleEndian<uint16_t>(out, 1);
  appendLittleEndian(out, static_cast<uint16_t>(8 * values.size()));
  for (const uint64_t value : values) appendLittleEndian(out, value);
}

// the longer end record, where it is, and the short one that points there
std::string end64(uint64_t count, uint64_t size, uint64_t start) {
  std::string out;
  appendLittleEndian(out, kEnd64);
  appendLittleEndian<uint64_t>(out, 44);
  appendLittleEndian<uint16_t>(out, 45);
  appendLittleEndian<uint16_t>(out, 45);
  appendLittleEndian<uint64_t>(out, 0);
  for (const uint64_t value : {count, count, size, start}) appendLittleEndian(out, value);
  appendLittleEndian(out, kEnd64Locator);
  appendLittleEndian<uint32_t>(out, 0);
  appendLittleEndian(out, start + size);
  appendLittleEndian<uint32_t>(out, 1);
  appendLittleEndian(out, kEnd);
  appendLittleEndian<uint32_t>(out, 0);
  appendLittleEndian<uint32_t>(out, 0xffffffff);
  appendLittleEndian(out, kIn64);
  appendLittleEndian(out, kIn64);
  appendLittleEndian<uint16_t>(out, 0);
  return out;
}

}  // namespace

uint64_t ZipPlaces::add(const std::string& name, uint64_t size) {
  places_.push_back({name, end_, size, 0});
  const uint64_t data = end_ + kLocalSize + name.size();
  end_ = data + size;
  return data;
}

void ZipPlaces::written(size_t k, std::string_view bytes) {
  places_[k].crc = crc32Of(bytes, places_[k].crc);
}

std::vector<std::pair<uint64_t, std::string>> ZipPlaces::headers() const {
  std::vector<std::pair<uint64_t, std::string>> out;
  std::string directory;
  for (const Place& place : places_) {
    std::string local;
    appendLittleEndian(local, kLocalHeader);
    appendHeader64(local, place.name, place.crc, 20);
    local += place.name;
    appendExtra64(local, {place.size, place.size});
    out.emplace_back(place.header, local);
    appendLittleEndian(directory, kDirectoryEntry);
    appendLittleEndian<uint16_t>(directory, 45);
    appendHeader64(directory, place.name, place.crc, 28);
    directory.append(10, '\0');  // comment, disk, attributes
    appendLittleEndian(directory, kIn64);
    directory += place.name;
    appendExtra64(directory, {place.size, place.size, place.header});
  }
  out.emplace_back(end_, directory + end64(places_.size(), directory.size(), end_));
  return out;
}

}  // namespace proprio
