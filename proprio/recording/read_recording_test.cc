#include "proprio/recording/read_recording.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "proprio/core/atomic_file.h"
#include "proprio/core/error.h"
#include "proprio/core/testing/temp_folder.h"
#include "proprio/recording/signal_names.h"
#include "proprio/recording/write_recordings.h"

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

// Several recordings, also with equal stamps or of one topic, come back one by one from every
// format.
TEST_F(ReadRecording, WritesSeveral) {
  Recording first;
  first.channels.push_back(channelNamed("q_a"));
  first.values = Eigen::Vector3d(1, 2, 3);
  first.time = Eigen::Vector3d(0, 1, 2);
  first.topic = "/joint_states";
  Recording second = first, third = first;
  second.values *= 10.0;
  third.values *= 100.0;
  third.topic = "/other";
  for (const char* name : {"s.npz", "s.h5", "s.mcap"}) {
    const std::string path = folder_.file(name);
    writeRecordings({first, second, third}, path);
    EXPECT_EQ(writtenPaths(path, 3), std::vector<std::string>{path});
    const auto again = readRecordings(path);
    ASSERT_EQ(again.size(), 3u) << name;
    double sum = 0.0;
    for (const Recording& recording : again) {
      ASSERT_EQ(recording.channels.size(), 1u) << name;
      EXPECT_EQ(recording.channels[0].name, "q_a");
      EXPECT_EQ(recording.time, first.time);
      sum += recording.values(2, 0);
    }
    EXPECT_EQ(sum, 333.0);
  }
  writeRecordings({first, second, third}, folder_.file("s.csv"));
  EXPECT_EQ(readRecordings(folder_.file("s_2.csv"))[0].values, second.values);
  EXPECT_EQ(readRecordings(folder_.file("s_3.csv"))[0].values, third.values);
  EXPECT_FALSE(std::filesystem::exists(folder_.file("s.csv")));
}

}  // namespace
}  // namespace proprio
