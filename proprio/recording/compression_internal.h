#pragma once

/// Checksums, and decompression whose output never exceeds what a file claims.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace proprio {

/// CRC-32 of zip, zlib and MCAP; of bytes behind others, with the number of those.
uint32_t crc32Of(std::string_view bytes, uint32_t before = 0);

enum class Compression { kDeflate, kZlib, kLz4Frame, kZstd };

/// The decompressed bytes; `size` is what the file claims, and memory grows with what is really
/// there. @throws Error "where: ..." if the stream is damaged or gives another size.
std::string decompressed(Compression compression, std::string_view bytes, uint64_t size,
                         const std::string& where);
/// The same where the size is not known: at most `largest` bytes.
std::string decompressedUnsized(Compression compression, std::string_view bytes, uint64_t largest,
                                const std::string& where);
std::string compressed(Compression compression, std::string_view bytes);

/// Does a file begin like one of gzip? False for what cannot be looked at before it is read
/// (pipes).
bool isGzip(const std::string& path);

/// A file of gzip (RFC 1952, several members too), read in constant memory.
class GzipFile {
 public:
  /// @throws Error if it cannot be opened.
  explicit GzipFile(const std::string& path);
  /// The next bytes, 0 of them at the end. @throws Error if it is damaged or cut off.
  size_t read(char* to, size_t most);

 private:
  std::string path_;
  std::shared_ptr<void> file_;
};

}  // namespace proprio
