#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "proprio/core/error.h"
#include "proprio/recording/child_process_internal.h"

namespace proprio {
namespace {

constexpr size_t kLargestFrame = size_t{1} << 20;
constexpr size_t kFrameHead = 9;  // kind, size
constexpr char kDone = 'Z', kFailed = 'E';

bool writeAll(int pipe, const char* data, size_t size) {
  while (size > 0) {
    const ssize_t count = ::write(pipe, data, size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    data += count;
    size -= static_cast<size_t>(count);
  }
  return true;
}

[[noreturn]] void runChild(int pipe, const std::function<void(const FrameSender&)>& work) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // no orphans
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  // a crash ends the child quietly, whatever handlers the parent has installed
  for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGPIPE})
    ::signal(number, SIG_DFL);
  const int nothing = ::open("/dev/null", O_WRONLY);
  ::dup2(nothing, STDOUT_FILENO);
  ::dup2(nothing, STDERR_FILENO);
  const FrameSender sender(pipe);
  try {
    work(sender);
    sender.send(kDone, "");
  } catch (const std::exception& error) {
    sender.send(kFailed, error.what());
  }
  ::_exit(0);
}

// The child's end and the pipe, tidied up whatever happens.
class Child {
 public:
  Child(pid_t process, int pipe) : process_(process), pipe_(pipe) {}
  ~Child() {
    if (process_ > 0) {
      ::kill(process_, SIGKILL);
      wait();
    }
    ::close(pipe_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  int pipe() const { return pipe_; }
  int wait() {
    int status = 0;
    while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = 0;
    return status;
  }

 private:
  pid_t process_;
  int pipe_;
};

// Adds what has come to `buffer`; false at the end of the stream.
bool readMore(Child& child, const std::string& what, double silence_s, std::string& buffer) {
  pollfd waiting{child.pipe(), POLLIN, 0};
  const double milliseconds = std::clamp(std::ceil(1000 * silence_s), 1.0, 1e9);
  int ready = 0;
  do {
    ready = ::poll(&waiting, 1, static_cast<int>(milliseconds));
  } while (ready < 0 && errno == EINTR);
  if (ready == 0) {
    throw Error(
        fmt::format("{} delivered nothing for {} s and was stopped; the file is probably "
                    "damaged",
                    what, silence_s));
  }
  const size_t used = buffer.size();
  buffer.resize(used + (size_t{1} << 16));
  ssize_t count = 0;
  do {
    count = ::read(child.pipe(), buffer.data() + used, buffer.size() - used);
  } while (count < 0 && errno == EINTR);
  buffer.resize(used + static_cast<size_t>(std::max<ssize_t>(count, 0)));
  return count > 0;
}

}  // namespace

void FrameSender::send(char kind, std::string_view content) const {
  do {
    const std::string_view part = content.substr(0, kLargestFrame);
    content.remove_prefix(part.size());
    char head[kFrameHead] = {kind};
    const uint64_t size = part.size();
    std::memcpy(head + 1, &size, sizeof size);
    if (!writeAll(pipe_, head, kFrameHead) || !writeAll(pipe_, part.data(), part.size()))
      ::_exit(1);  // nobody listens any more
  } while (!content.empty());
}

void runInChild(const std::string& what, double silence_s,
                const std::function<void(const FrameSender&)>& child,
                const std::function<void(char kind, std::string_view content)>& receive) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw Error(fmt::format("{} cannot be started: {}", what, std::strerror(errno)));
  const pid_t process = ::fork();
  if (process == 0) {
    ::close(ends[0]);
    runChild(ends[1], child);
  }
  ::close(ends[1]);
  if (process < 0) {
    ::close(ends[0]);
    throw Error(fmt::format("{} cannot be started: {}", what, std::strerror(errno)));
  }
  Child running(process, ends[0]);
  std::string buffer;
  while (readMore(running, what, silence_s, buffer)) {
    size_t start = 0;
    while (buffer.size() - start >= kFrameHead) {
      uint64_t size = 0;
      std::memcpy(&size, buffer.data() + start + 1, sizeof size);
      if (size > kLargestFrame) throw Error(what + " failed; the file is probably damaged");
      if (buffer.size() - start - kFrameHead < size) break;
      const char kind = buffer[start];
      const auto content = std::string_view(buffer).substr(start + kFrameHead, size);
      if (kind == kDone) return;
      if (kind == kFailed) throw Error(std::string(content));
      receive(kind, content);
      start += kFrameHead + static_cast<size_t>(size);
    }
    buffer.erase(0, start);
  }
  const int status = running.wait();
  if (WIFSIGNALED(status)) {
    throw Error(fmt::format("{} crashed ({}); the file is probably damaged", what,
                            ::strsignal(WTERMSIG(status))));
  }
  throw Error(what + " ended early; the file is probably damaged");
}

}  // namespace proprio
