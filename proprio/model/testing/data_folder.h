#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace proprio {

/// Real robot files and recordings for tests: the folder PROPRIO_DATA, or ../shared/data beside the
/// sources.
inline std::filesystem::path dataFolder() {
  const char* folder = std::getenv("PROPRIO_DATA");
  return folder != nullptr ? std::filesystem::path(folder)
                           : std::filesystem::path(PROPRIO_SOURCE_DIR) / "../shared/data";
}

}  // namespace proprio

/// Skips the test, with a message, where a file of the data folder is missing.
#define PROPRIO_REQUIRE_DATA(file)                                   \
  if (!std::filesystem::exists(proprio::dataFolder() / (file)))      \
  GTEST_SKIP() << "no " << (file) << " in " << proprio::dataFolder() \
               << "; set PROPRIO_DATA to the folder"
