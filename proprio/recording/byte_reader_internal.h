#pragma once

/// Bytes of an untrusted file: every read is checked against the end, in either byte order, and an
/// error names the file and the byte offset. Also whole files mapped into memory.

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "proprio/core/error.h"

namespace proprio {

template <typename T>
T byteSwapped(T value) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  for (size_t i = 0; i < sizeof(T) / 2; ++i) std::swap(bytes[i], bytes[sizeof(T) - 1 - i]);
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

class ByteReader {
 public:
  /// `origin` is the offset of the first byte in the file, for messages.
  explicit ByteReader(std::string_view bytes, std::string file = "", size_t origin = 0,
                      bool big_endian = false)
      : bytes_(bytes), file_(std::move(file)), origin_(origin), big_endian_(big_endian) {}

  size_t offset() const { return offset_; }
  size_t left() const { return bytes_.size() - offset_; }
  bool atEnd() const { return offset_ == bytes_.size(); }
  bool bigEndian() const { return big_endian_; }
  const std::string& file() const { return file_; }
  size_t fileOffset() const { return origin_ + offset_; }

  /// The next `count` bytes. @throws Error where fewer are left.
  std::string_view take(uint64_t count, const char* what) {
    if (count > left()) throw tooShort(count, what);
    const std::string_view part = bytes_.substr(offset_, static_cast<size_t>(count));
    offset_ += static_cast<size_t>(count);
    return part;
  }
  void seek(uint64_t offset, const char* what) {
    offset_ = 0;
    take(offset, what);
  }
  template <typename T>
  T read(const char* what) {
    T value;
    std::memcpy(&value, take(sizeof(T), what).data(), sizeof(T));
    const bool native_big = std::endian::native == std::endian::big;
    return big_endian_ == native_big ? value : byteSwapped(value);
  }
  /// A reader of the next `count` bytes that knows where in the file it is.
  ByteReader part(uint64_t count, const char* what) {
    const size_t start = fileOffset();
    return ByteReader(take(count, what), file_, start, big_endian_);
  }
  /// "file: at byte 12: sentence".
  Error error(const std::string& sentence) const;

 private:
  Error tooShort(uint64_t count, const char* what) const;

  std::string_view bytes_;
  std::string file_;
  size_t origin_ = 0;
  size_t offset_ = 0;
  bool big_endian_ = false;
};

/// A file's bytes as memory of the system's, however large. @throws Error as readFile does.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  std::string_view bytes() const { return {data_, size_}; }

 private:
  const char* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace proprio
