#pragma once

/// Work in a child process, for libraries that may crash or hang on damaged files. The child sends
/// frames (a kind and bytes) through a pipe; the parent takes them one by one and turns a crash, a
/// long silence or an Error of the child into an Error of its own.

#include <functional>
#include <string>
#include <string_view>

namespace proprio {

class FrameSender {
 public:
  explicit FrameSender(int pipe) : pipe_(pipe) {}
  /// Large content goes out in several frames of the same kind.
  void send(char kind, std::string_view content) const;

 private:
  int pipe_;
};

/// Forks; `child` runs in the new process, which ends without destructors, exit handlers or output
/// on stdout and stderr. `receive` is called here for every frame.
/// @param what begins messages: "file.h5: the HDF5 library"
/// @param silence_s longest time between two frames
/// @throws Error if the child threw one (with its message), crashed, or was silent for too long.
void runInChild(const std::string& what, double silence_s,
                const std::function<void(const FrameSender&)>& child,
                const std::function<void(char kind, std::string_view content)>& receive);

}  // namespace proprio
