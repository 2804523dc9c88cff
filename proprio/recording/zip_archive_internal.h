#pragma once

/// Zip files as NumPy writes them (.npz): members stored or deflated, sizes of 64 bits, sizes
/// behind the data. Not read: encrypted members, archives in several parts, other compressions.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace proprio {

struct ZipMember {
  std::string name;
  std::string_view data;  ///< as stored in the archive
  size_t offset = 0;      ///< of the data, for messages
  bool deflated = false;
  uint64_t size = 0;  ///< once decompressed
  uint32_t crc = 0;
};

/// The members in the order of the central directory. @throws Error with the byte offset.
std::vector<ZipMember> readZipDirectory(std::string_view bytes, const std::string& file);

/// The bytes of a member, decompressed into `buffer` if need be; size and checksum are verified.
std::string_view readZipMember(const ZipMember& member, const std::string& file,
                               std::string& buffer);

/// An archive of (name, bytes). @throws Error if it would exceed 4 GiB.
std::string zipArchive(const std::vector<std::pair<std::string, std::string>>& members,
                       bool deflate, const std::string& file);

/// An archive of stored members whose sizes are known before their bytes, with sizes of 64 bits.
class ZipPlaces {
 public:
  /// Where the bytes of this member go.
  uint64_t add(const std::string& name, uint64_t size);
  /// The next bytes of member k.
  void written(size_t k, std::string_view bytes);
  /// (offset, bytes) of all headers and the directory, once all members are written.
  std::vector<std::pair<uint64_t, std::string>> headers() const;

 private:
  struct Place {
    std::string name;
    uint64_t header, size;
    uint32_t crc;
  };
  std::vector<Place> places_;
  uint64_t end_ = 0;
};

}  // namespace proprio
