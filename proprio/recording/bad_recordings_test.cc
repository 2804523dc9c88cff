// The corpus of broken logs in tests/bad/recordings, one test per file.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "proprio/core/atomic_file.h"
#include "proprio/core/error.h"
#include "proprio/recording/read_recording.h"

namespace proprio {
namespace {

namespace fs = std::filesystem;
const fs::path kFolder = fs::path(PROPRIO_SOURCE_DIR) / "tests" / "bad" / "recordings";

std::vector<std::string> badFiles() {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    if (entry.path().extension() != ".expect") files.push_back(entry.path().filename());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// What the message must contain: from the file NAME.expect or from the comment in the first line.
std::string expectation(const fs::path& path) {
  const fs::path beside = path.string() + ".expect";
  const std::string text = readFile(fs::exists(beside) ? beside : path);
  const std::string line = text.substr(0, text.find('\n'));
  constexpr std::string_view kMark = "# expect: ";
  return line.rfind(kMark, 0) == 0 ? line.substr(kMark.size()) : line;
}

class BadRecording : public ::testing::TestWithParam<std::string> {};

// A broken log is refused with its own sentence, which begins with the file and fits on one line.
TEST_P(BadRecording, SaysWhatIsWrong) {
  const fs::path path = kFolder / GetParam();
  try {
    readRecordings(path);
    FAIL() << "the file was accepted";
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find(expectation(path)), std::string::npos)
        << "message:  " << message << "\nexpected: " << expectation(path);
    EXPECT_EQ(message.rfind(kFolder.string(), 0), 0u) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}
INSTANTIATE_TEST_SUITE_P(Files, BadRecording, ::testing::ValuesIn(badFiles()),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

}  // namespace
}  // namespace proprio
