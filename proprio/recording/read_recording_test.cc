#include "proprio/recording/read_recording.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zlib.h>

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

std::string gzipped(const std::string& text) {
  std::string out(compressBound(text.size()) + 64, '\0');
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string in = text;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// A compressed table gives the numbers of the plain one, in one stream or several, whatever it is
// called; one that is damaged or cut off is told, and so is another format inside.
TEST_F(ReadRecording, Gzip) {
  std::string text = "time,x\n", rest;
  for (int k = 0; k < 200000; ++k) (k < 9 ? text : rest) += fmt::format("{},{}\n", k, 0.1 * k);
  const auto plain = readRecordings(file("a.csv", text + rest))[0];
  for (const char* name : {"a.csv.gz", "a.gz", "b.csv"}) {
    const auto packed = readRecordings(file(name, gzipped(text) + gzipped(rest)))[0];
    EXPECT_EQ(packed.time, plain.time) << name;
    EXPECT_EQ(packed.values, plain.values) << name;
  }
  EXPECT_TRUE(isTextTable("a.csv.gz"));
  std::string bytes = gzipped(text + rest);
  EXPECT_NE(messageOf(file("c.csv.gz", bytes.substr(0, bytes.size() / 2))).find("is cut off"),
            std::string::npos);
  bytes[bytes.size() - 6] = static_cast<char>(~bytes[bytes.size() - 6]);  // of the checksum
  EXPECT_NE(messageOf(file("d.csv.gz", bytes)).find("is damaged"), std::string::npos);
  for (const std::string& inside :
       {std::string("\x93NUMPY\x01"), std::string("{\"q\": [1, 2]}"), std::string("a\0b", 3)}) {
    EXPECT_NE(messageOf(file("e.gz", gzipped(inside))).find("unpack it first"), std::string::npos);
  }
}

// What cannot be read is told: folder, missing file, unknown binary.
TEST_F(ReadRecording, Refusals) {
  EXPECT_NE(messageOf(folder_.path()).find("is a folder"), std::string::npos);
  EXPECT_NE(messageOf("/nowhere/x.csv").find("cannot be opened"), std::string::npos);
  EXPECT_NE(messageOf(file("c.bin", std::string("\x01\x00\x02", 3))).find("no known format"),
            std::string::npos);
}

// Formats of others are named, with the way out of them.
TEST_F(ReadRecording, OtherFormats) {
  for (const auto& [bytes, name] :
       {std::pair<std::string, std::string>{"#ROSBAG V2.0\n", "ROS 1 bag"},
        {"PAR1", "Parquet"},
        {std::string("\x80\x04\x95\0\0", 5), "pickle"},
        {std::string("\x80\x05\x95\0\0", 5), "pickle"},
        {"MDF     4.10", "asammdf"},
        {"TDSm", "LabVIEW"},
        {"ULog\x01", "ulog2csv"},
        {"\xed\xa1\xda\x01", "LCM"},
        {"<Rob Type=\"KUKA\"><AIPos A1=\"0.0\"/></Rob>\n", "is XML"},
        {"<?xml version=\"1.0\"?>\n", "is XML"},
        {"BZh91AY", "bunzip2"},
        {"PK\3\4", "Excel"}}) {
    EXPECT_NE(messageOf(file("other.xlsx", bytes)).find(name), std::string::npos) << name;
  }
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
