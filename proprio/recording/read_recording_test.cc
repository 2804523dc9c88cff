#include "proprio/recording/read_recording.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "proprio/core/atomic_file.h"
#include "proprio/core/error.h"
#include "proprio/core/testing/temp_folder.h"

namespace proprio {
namespace {

class ReadRecording : public ::testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& content) {
    writeFileAtomically(folder_.file(name), content);
    return folder_.file(name);
  }
  std::string messageOf(const std::string& path) {
    try {
      readRecordings(path);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  testing::TempFolder folder_;
};

// Text is read whatever it is called; the width of a list of values is an option.
TEST_F(ReadRecording, Text) {
  for (const char* name : {"a.csv", "a.TXT", "a.unknown", "a"}) {
    const auto recordings = readRecordings(file(name, "t,x\n0,1\n"));
    ASSERT_EQ(recordings.size(), 1u);
    EXPECT_EQ(recordings[0].channels[0].name, "x");
  }
  RecordingOptions options;
  options.columns = 2;
  EXPECT_EQ(readRecordings(file("b.txt", "1\n2\n3\n4\n"), options)[0].samples(), 2);
}

// What cannot be read is told: folder, missing file, unknown binary.
TEST_F(ReadRecording, Refusals) {
  EXPECT_NE(messageOf(folder_.path()).find("is a folder"), std::string::npos);
  EXPECT_NE(messageOf("/nowhere/x.csv").find("cannot be opened"), std::string::npos);
  EXPECT_NE(messageOf(file("c.bin", std::string("\x01\x00\x02", 3))).find("no known format"),
            std::string::npos);
}

// Writing picks the format by extension; what it writes it reads; a wrong extension leaves nothing.
TEST_F(ReadRecording, Writes) {
  Recording recording;
  recording.channels.resize(1);
  recording.channels[0].name = "q_a";
  recording.channels[0].unit = "rad";
  recording.values = Eigen::Vector3d(1, 2, 3);
  recording.time = Eigen::Vector3d(0, 1, 2);
  const std::string path = file("d.csv", "");
  writeRecording(recording, path);
  const auto again = readRecordings(path);
  EXPECT_EQ(again[0].values, recording.values);
  EXPECT_EQ(again[0].time, recording.time);
  EXPECT_EQ(again[0].channels[0].unit, "rad");
  const std::string wrong = folder_.file("e.doc");
  EXPECT_THROW(writeRecording(recording, wrong), Error);
  EXPECT_FALSE(std::filesystem::exists(wrong));
}

}  // namespace
}  // namespace proprio
