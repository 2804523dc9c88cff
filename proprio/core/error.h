#pragma once

#include <stdexcept>
#include <string>

namespace proprio {

/// Bad input, told in one sentence: where (file, line or row, link or joint), what was found, what
/// was expected, what to do. The `proprio` command prints it and exits with code 2.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A place in a text file; line and column count from 1, 0 means unknown.
struct FileLocation {
  std::string file;
  int line = 0;
  int column = 0;
};

/// "robot.urdf:12:5" (or less, where line or column are unknown).
std::string toString(const FileLocation& location);

/// An Error whose message starts with the place: "robot.urdf:12: joint 'elbow' ...".
Error errorAt(const FileLocation& location, const std::string& sentence);

}  // namespace proprio
