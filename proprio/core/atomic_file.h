#pragma once

/// Whole files in and out. A file is written under a temporary name beside its final place and
/// renamed, so that a reader (or a full disk) never sees half of it. Files that belong together are
/// all written under temporary names before the first of them is renamed.
///
/// What is there and is no regular file (a FIFO, a device, the pipe behind /dev/stdout) is opened
/// and written to instead: a rename would put a file in its place. So is the file that standard
/// output or standard error goes to.
///
/// Limit: a program that is killed outright, or loses power, between two renames leaves files of
/// two results; what stopTidily() takes care of does not.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace proprio {

/// The bytes of a file. @throws Error that names the file and the system's reason, also when it is
/// a directory or larger than `largest` bytes.
std::string readFile(const std::string& path, size_t largest = size_t{1} << 30);

/// Replaces the file by `content`, keeping the permissions of a file that is already there; a
/// symbolic link keeps pointing to the (new) file. @throws Error that names the file and the
/// system's reason; then nothing changed.
void writeFileAtomically(const std::string& path, const std::string& content);

struct FileContent {
  std::string path, content;
};

/// Replaces all of the files, in their order, and then removes those in `stale` that exist.
/// @throws Error as writeFileAtomically; then nothing changed, unless the system refuses a rename
/// or a removal after others succeeded.
void writeFilesTogether(const std::vector<FileContent>& files,
                        const std::vector<std::string>& stale = {});

/// A file that is written piece by piece. It takes the place of what was there with finish();
/// destroyed before that, it leaves nothing behind.
class GrowingFile {
 public:
  /// @throws Error as writeFileAtomically, here and below.
  explicit GrowingFile(const std::string& path);
  ~GrowingFile();
  void append(std::string_view piece);
  /// At this place, whatever was written before; not for what is no regular file.
  void writeAt(uint64_t offset, std::string_view piece);
  /// Where it grows, for libraries that open files by name; empty for what is no regular file.
  const std::string& temporaryPath() const;
  void finish();

 private:
  class Temporary;
  std::unique_ptr<Temporary> temporary_;
  friend void writeFilesTogether(const std::vector<FileContent>&, const std::vector<std::string>&);
};

/// From now on the program ends on SIGINT (Ctrl-C), SIGTERM and SIGHUP without temporary files left
/// behind, after renames that have begun are done, with exit code 128 + the signal's number (130
/// for Ctrl-C). Signals that are ignored stay so (nohup). For commands; call it once, at the start.
void stopTidily();

}  // namespace proprio
