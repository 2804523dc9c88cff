#pragma once

/// What the tests of the verbs share: a folder of their own and the built command.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <deque>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "proprio/core/atomic_file.h"
#include "proprio/core/testing/temp_folder.h"

namespace proprio {

struct CommandResult {
  int code = -1;
  std::string out;    ///< standard output
  std::string error;  ///< standard error
};

/// A bundled robot's file.
inline std::string robot(const std::string& name) {
  return std::string(PROPRIO_SOURCE_DIR) + "/examples/robots/" + name;
}

class CommandTestBase : public ::testing::Test {
 protected:
  testing::TempFolder folder_;

  std::string file(const std::string& name) const { return folder_.file(name); }
  std::string write(const std::string& name, const std::string& text) const {
    writeFileAtomically(file(name), text);
    return file(name);
  }
  /// Kept until the end of the test, so that loops may run over parts of it.
  const nlohmann::json& json(const std::string& name) const {
    return documents_.emplace_back(nlohmann::json::parse(readFile(file(name))));
  }
  /// `proprio ARGUMENTS` through a shell.
  CommandResult run(const std::string& arguments) const {
    const std::string out = file("stdout"), error = file("stderr");
    const int status = std::system(
        fmt::format("('{}' {}) >'{}' 2>'{}'", PROPRIO_COMMAND, arguments, out, error).c_str());
    CommandResult result;
    result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    result.out = readFile(out);
    result.error = readFile(error);
    std::filesystem::remove(out);
    std::filesystem::remove(error);
    return result;
  }

 private:
  mutable std::deque<nlohmann::json> documents_;
};

}  // namespace proprio
