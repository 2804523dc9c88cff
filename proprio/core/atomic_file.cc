#include "proprio/core/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "proprio/core/error.h"

namespace proprio {
namespace {

namespace fs = std::filesystem;

Error systemError(const std::string& path, const std::string& what) {
  return Error(path + ": " + what + ": " + std::strerror(errno));
}

// writes everything and makes sure that it is on the disk before the rename
bool writeAll(int file, const std::string& content) {
  size_t done = 0;
  while (done < content.size()) {
    const ssize_t count = ::write(file, content.data() + done, content.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    done += static_cast<size_t>(count);
  }
  return ::fsync(file) == 0;
}

}  // namespace

std::string readFile(const std::string& path, size_t largest) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) throw Error(path + ": is a folder, expected a file");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw systemError(path, "cannot be opened for reading");
  std::string content;
  char buffer[1 << 16];
  while (file.read(buffer, sizeof buffer) || file.gcount() > 0) {
    content.append(buffer, static_cast<size_t>(file.gcount()));
    if (content.size() > largest) {
      throw Error(path + ": has more than " + std::to_string(largest) +
                  " bytes, which is too large for this kind of file");
    }
  }
  if (file.bad()) throw systemError(path, "cannot be read");
  return content;
}

void writeFileAtomically(const std::string& path, const std::string& content) {
  std::error_code no_link;
  fs::path target = fs::canonical(path, no_link);
  if (no_link) target = path;
  // unique among processes (pid) and among threads of this one (count)
  static std::atomic<unsigned> count{0};
  const std::string temporary =
      target.string() + "." + std::to_string(::getpid()) + "-" + std::to_string(count++) + ".tmp";
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) throw systemError(path, "cannot be written");

  struct stat old_file {};
  const bool replaces = ::stat(target.c_str(), &old_file) == 0;
  bool written = writeAll(file, content);
  if (replaces) written = ::fchmod(file, old_file.st_mode & 07777) == 0 && written;
  written = ::close(file) == 0 && written;
  if (!written || ::rename(temporary.c_str(), target.c_str()) != 0) {
    const Error error = systemError(path, "cannot be written");
    ::unlink(temporary.c_str());
    throw error;
  }
}

}  // namespace proprio
