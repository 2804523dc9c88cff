// The corpus of broken robot files in tests/bad, one test per file.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "proprio/core/atomic_file.h"
#include "proprio/model/robot_reader.h"

namespace proprio {
namespace {

namespace fs = std::filesystem;
const fs::path kFolder = fs::path(PROPRIO_SOURCE_DIR) / "tests" / "bad";

std::vector<std::string> badFiles() {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    const std::string extension = entry.path().extension(), name = entry.path().filename();
    if ((extension == ".urdf" || extension == ".yaml") && name != "good.urdf")
      files.push_back(name);
  }
  std::sort(files.begin(), files.end());
  return files;
}

// What the message must contain: from the file NAME.expect or from the comment in the first line.
std::string expectation(const fs::path& path) {
  const fs::path beside = path.string() + ".expect";
  if (fs::exists(beside)) {
    const std::string text = readFile(beside);
    return text.substr(0, text.find('\n'));
  }
  const std::string text = readFile(path), line = text.substr(0, text.find('\n'));
  constexpr std::string_view kMark = "expect: ";
  const size_t begin = line.find(kMark);
  if (begin == std::string::npos) return "no expectation in the first line";
  const size_t end = path.extension() == ".urdf" ? line.rfind(" -->") : line.size();
  return line.substr(begin + kMark.size(), end - begin - kMark.size());
}

class BadInput : public ::testing::TestWithParam<std::string> {};

// A broken file is refused with its own sentence, which begins with the file and fits on one line.
TEST_P(BadInput, SaysWhatIsWrong) {
  const fs::path path = kFolder / GetParam();
  try {
    readRobot(path);
    FAIL() << "the file was accepted";
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find(expectation(path)), std::string::npos)
        << "message:  " << message << "\nexpected: " << expectation(path);
    EXPECT_EQ(message.rfind(kFolder.string(), 0), 0u) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}
INSTANTIATE_TEST_SUITE_P(Files, BadInput, ::testing::ValuesIn(badFiles()), [](const auto& test) {
  std::string name = test.param;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

// The corpus is there, and the file that its YAML files refer to is sound.
TEST(BadInputCorpus, IsLargeAndItsReferenceIsSound) {
  EXPECT_GE(badFiles().size(), 40u);
  EXPECT_EQ(readRobot(kFolder / "good.urdf").velocity_count, 1);
}

}  // namespace
}  // namespace proprio
