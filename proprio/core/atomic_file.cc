#include "proprio/core/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>

#include "proprio/core/error.h"

namespace proprio {
namespace {

namespace fs = std::filesystem;

Error systemError(const std::string& path, const std::string& what) {
  return Error(path + ": " + what + ": " + std::strerror(errno));
}

/// Names of temporary files where a signal's handler finds them: plain memory, no locks.
struct TemporaryName {
  enum State { kFree, kClaimed, kUsed };
  std::atomic<int> state{kFree};
  std::array<char, PATH_MAX> path{};
};
std::array<TemporaryName, 16> temporary_names;

/// What happens first, the renames or the end of the program, decides this one number.
enum Phase { kRunning, kRenaming, kEnding };
std::atomic<int> phase{kRunning};
std::atomic<int> received_signal{0};
static_assert(std::atomic<int>::is_always_lock_free);  // else no handler may touch it

/// Only what is allowed in a signal's handler.
[[noreturn]] void endNow(int signal) {
  for (const TemporaryName& name : temporary_names) {
    if (name.state == TemporaryName::kUsed) ::unlink(name.path.data());
  }
  constexpr char kSentence[] = "\nproprio: interrupted\n";
  const ssize_t told = ::write(STDERR_FILENO, kSentence, sizeof kSentence - 1);
  static_cast<void>(told);  // there is nobody left to complain to
  ::_exit(128 + signal);
}

void onSignal(int signal) {
  received_signal = signal;  // before the phase is looked at, or an ending renamer may miss it
  int expected = kRunning;
  if (phase.compare_exchange_strong(expected, kEnding)) endNow(signal);
}

/// Signals wait while it lives.
class Renaming {
 public:
  Renaming() : alone_(mutex()) {
    int expected = kRunning;
    if (!phase.compare_exchange_strong(expected, kRenaming)) {
      while (true) ::pause();  // another thread is ending the program
    }
  }
  ~Renaming() {
    phase = kRunning;
    if (received_signal != 0) onSignal(received_signal);
  }
  Renaming(const Renaming&) = delete;
  Renaming& operator=(const Renaming&) = delete;

 private:
  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }
  std::lock_guard<std::mutex> alone_;
};

bool writeAll(int file, std::string_view content) {
  while (!content.empty()) {
    const ssize_t count = ::write(file, content.data(), content.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    content.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

bool sameFile(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// Where content goes that must not be renamed into its place.
struct WrittenThrough {
  bool special = false;  ///< no regular file, or the one behind `stream`
  int stream = -1;       ///< standard output or error, if it is that
};

WrittenThrough writtenThrough(const std::string& path) {
  struct stat there {};
  if (::stat(path.c_str(), &there) != 0 || S_ISDIR(there.st_mode)) return {};
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat open {};
    if (::fstat(stream, &open) == 0 && sameFile(there, open)) return {true, stream};
  }
  return {!S_ISREG(there.st_mode), -1};
}

}  // namespace

/// The new content of a file under another name beside it; or what is written through.
class GrowingFile::Temporary {
 public:
  explicit Temporary(const std::string& path) : path_(path) {
    const WrittenThrough through = writtenThrough(path);
    special_ = through.special;
    if (special_) {
      std::fflush(nullptr);  // what was printed before comes first
      file_ = through.stream >= 0 ? ::fcntl(through.stream, F_DUPFD_CLOEXEC, 0)
                                  : ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
      if (file_ < 0) throw systemError(path_, "cannot be written");
      return;
    }
    std::error_code no_link;
    fs::path target = fs::canonical(path, no_link);
    if (no_link) target = path;
    target_ = target.string();
    // unique among processes (pid) and among threads of this one (count)
    static std::atomic<unsigned> count{0};
    name_ = target_ + "." + std::to_string(::getpid()) + "-" + std::to_string(count++) + ".tmp";
    enlist();
    file_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file_ >= 0) {
      exists_ = true;
      return;
    }
    const Error error = systemError(path_, "cannot be written");
    unlist();
    throw error;
  }
  ~Temporary() {
    if (file_ >= 0) ::close(file_);
    if (exists_) ::unlink(name_.c_str());
    unlist();
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  void append(std::string_view piece) {
    if (!writeAll(file_, piece)) throw systemError(path_, "cannot be written");
  }

  void writeAt(uint64_t offset, std::string_view piece) {
    while (!piece.empty()) {
      const ssize_t count = ::pwrite(file_, piece.data(), piece.size(), static_cast<off_t>(offset));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) throw systemError(path_, "cannot be written");
      piece.remove_prefix(static_cast<size_t>(count));
      offset += static_cast<uint64_t>(count);
    }
  }

  const std::string& name() const { return name_; }

  /// Makes sure that everything is on the disk before the rename.
  void complete() {
    struct stat old_file {};
    bool written = special_ || ::fsync(file_) == 0;
    if (!special_ && ::stat(target_.c_str(), &old_file) == 0)
      written = ::fchmod(file_, old_file.st_mode & 07777) == 0 && written;
    written = ::close(file_) == 0 && written;
    file_ = -1;
    if (!written) throw systemError(path_, "cannot be written");
  }

  /// Gives it its final name. @throws Error
  void rename() {
    if (special_) return;
    if (::rename(name_.c_str(), target_.c_str()) != 0)
      throw systemError(path_, "cannot be written");
    exists_ = false;
  }

 private:
  /// Where every place is taken the file is not tidied away on a signal, but for that complete.
  void enlist() {
    for (TemporaryName& place : temporary_names) {
      int expected = TemporaryName::kFree;
      if (name_.size() >= place.path.size() ||
          !place.state.compare_exchange_strong(expected, TemporaryName::kClaimed))
        continue;
      std::memcpy(place.path.data(), name_.c_str(), name_.size() + 1);
      place.state = TemporaryName::kUsed;
      listed_ = &place;
      return;
    }
  }
  void unlist() {
    if (listed_ != nullptr) listed_->state = TemporaryName::kFree;
  }

  std::string path_, target_, name_;
  TemporaryName* listed_ = nullptr;
  int file_ = -1;
  bool exists_ = false, special_ = false;
};

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

GrowingFile::GrowingFile(const std::string& path) : temporary_(std::make_unique<Temporary>(path)) {}

GrowingFile::~GrowingFile() = default;

void GrowingFile::append(std::string_view piece) { temporary_->append(piece); }

void GrowingFile::writeAt(uint64_t offset, std::string_view piece) {
  temporary_->writeAt(offset, piece);
}

const std::string& GrowingFile::temporaryPath() const { return temporary_->name(); }

void GrowingFile::finish() {
  temporary_->complete();
  const Renaming renaming;
  temporary_->rename();
}

void writeFileAtomically(const std::string& path, const std::string& content) {
  GrowingFile file(path);
  file.append(content);
  file.finish();
}

void writeFilesTogether(const std::vector<FileContent>& files,
                        const std::vector<std::string>& stale) {
  std::vector<std::unique_ptr<GrowingFile::Temporary>> temporaries;
  // what is written through cannot be taken back and comes when the others are complete; not while
  // signals wait, since a FIFO waits for its reader
  for (const bool special : {false, true}) {
    for (const FileContent& file : files) {
      if (writtenThrough(file.path).special != special) continue;
      temporaries.push_back(std::make_unique<GrowingFile::Temporary>(file.path));
      temporaries.back()->append(file.content);
      temporaries.back()->complete();
    }
  }
  const Renaming renaming;
  for (const std::unique_ptr<GrowingFile::Temporary>& temporary : temporaries) temporary->rename();
  for (const std::string& path : stale) {
    if (::unlink(path.c_str()) != 0 && errno != ENOENT)
      throw systemError(path, "cannot be removed");
  }
}

void stopTidily() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) continue;
    action = {};
    action.sa_handler = onSignal;
    action.sa_flags = SA_RESTART;
    ::sigaction(signal, &action, nullptr);
  }
}

}  // namespace proprio
