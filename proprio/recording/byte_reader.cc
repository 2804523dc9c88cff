#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "proprio/recording/byte_reader_internal.h"

namespace proprio {

Error ByteReader::error(const std::string& sentence) const {
  return Error(fmt::format("{}: at byte {}: {}", file_, fileOffset(), sentence));
}

Error ByteReader::tooShort(uint64_t count, const char* what) const {
  return error(fmt::format("{} needs {} bytes but only {} are left; the file is cut off or damaged",
                           what, count, left()));
}

MappedFile::MappedFile(const std::string& path) {
  const auto failure = [&](const char* what) {
    return Error(path + ": " + what + ": " + std::strerror(errno));
  };
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw failure("cannot be opened for reading");
  struct stat status {};
  const bool known = ::fstat(file, &status) == 0;
  if (!known || !S_ISREG(status.st_mode)) {
    ::close(file);
    throw Error(path + (S_ISDIR(status.st_mode) ? ": is a folder, expected a file"
                                                : ": is not a regular file"));
  }
  size_ = static_cast<size_t>(status.st_size);
  void* data = size_ > 0 ? ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0) : nullptr;
  ::close(file);
  if (data == MAP_FAILED) throw failure("cannot be read");
  data_ = static_cast<const char*>(data);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<char*>(data_), size_);
}

}  // namespace proprio
