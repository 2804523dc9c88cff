#pragma once

/// Files written and read by Python and its libraries, as oracles of the readers and writers.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "proprio/core/error.h"
#include "proprio/core/testing/message_of.h"
#include "proprio/core/testing/temp_folder.h"

namespace proprio {

/// Runs a Python script with the folder as working directory; what it prints. Fails the test, with
/// Python's message, if it fails.
inline std::string runPython(const testing::TempFolder& folder, const std::string& script) {
  std::ofstream(folder.file("script.py")) << script;
  const std::string command =
      "cd '" + folder.path().string() + "' && '" + PROPRIO_PYTHON + "' script.py 2>&1";
  FILE* pipe = ::popen(command.c_str(), "r");
  std::string out;
  std::array<char, 4096> buffer{};
  for (size_t count = 0; (count = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    out.append(buffer.data(), count);
  EXPECT_EQ(::pclose(pipe), 0) << out;
  return out;
}

inline bool pythonHas(const std::string& module) {
  const std::string command =
      std::string("'") + PROPRIO_PYTHON + "' -c 'import " + module + "' 2>/dev/null";
  return std::system(command.c_str()) == 0;
}

/// Whether one of the notes contains the piece.
inline bool mentions(const std::vector<std::string>& notes, const std::string& piece) {
  return std::any_of(notes.begin(), notes.end(), [&](const std::string& note) {
    return note.find(piece) != std::string::npos;
  });
}

}  // namespace proprio

/// Skips the test, with a message, where Python lacks a module.
#define PROPRIO_REQUIRE_PYTHON(module) \
  if (!proprio::pythonHas(module)) GTEST_SKIP() << "Python has no module " << (module)
