#include "proprio/recording/mcap.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "proprio/core/atomic_file.h"
#include "proprio/core/error.h"
#include "proprio/model/testing/data_folder.h"
#include "proprio/recording/rosbag.h"
#include "proprio/recording/signal_names.h"
#include "proprio/recording/testing/python_files.h"

namespace proprio {
namespace {

constexpr McapCompression kAll[] = {McapCompression::kNone, McapCompression::kLz4,
                                    McapCompression::kZstd};

Channel channelOf(Quantity quantity, const std::string& of, const std::string& component = "",
                  Role role = Role::kMeasured) {
  Channel channel;
  channel.name = signalName(quantity, role, of, component);
  channel.quantity = quantity;
  channel.role = role;
  channel.of = of;
  channel.component = component;
  return channel;
}

Recording recordingWith(const std::vector<Channel>& channels, Eigen::Index rows) {
  Recording recording;
  recording.source = "sample";
  recording.channels = channels;
  recording.time.setLinSpaced(rows, 1.5, 1.5 + 1e-3 * static_cast<double>(rows - 1));
  recording.values.resize(rows, static_cast<Eigen::Index>(channels.size()));
  for (Eigen::Index i = 0; i < recording.values.size(); ++i)
    recording.values(i) = std::sin(1 + static_cast<double>(i));
  return recording;
}

Recording robotRecording(Eigen::Index rows) {
  std::vector<Channel> channels;
  for (const char* joint : {"a", "b"}) {
    channels.push_back(channelOf(Quantity::kPosition, joint));
    channels.push_back(channelOf(Quantity::kTorque, joint));
  }
  channels.push_back(channelOf(Quantity::kPosition, "a", "", Role::kCommanded));
  channels.push_back(channelOf(Quantity::kAcceleration, "b"));
  for (const char* component : {"x", "y", "z"}) {
    channels.push_back(channelOf(Quantity::kLinearAcceleration, "torso", component));
    channels.push_back(channelOf(Quantity::kForce, "wrist", component));
  }
  return recordingWith(channels, rows);
}

// An uncompressed file of messages without chunk, summary or checksums, by hand.
std::string mcapOf(const std::string& encoding, const std::vector<std::string>& messages) {
  const auto number = [](uint64_t value, int bytes) {
    std::string out;
    for (int i = 0; i < bytes; ++i) out += static_cast<char>((value >> (8 * i)) & 0xff);
    return out;
  };
  const auto text = [&](const std::string& t) { return number(t.size(), 4) + t; };
  const auto record = [&](int opcode, const std::string& content) {
    return number(static_cast<uint64_t>(opcode), 1) + number(content.size(), 8) + content;
  };
  const std::string magic = "\x89MCAP0\r\n";
  std::string records;
  for (const std::string& message : messages)
    records +=
        record(5, number(7, 2) + number(0, 4) + number(2500000000, 8) + number(0, 8) + message);
  return magic + record(1, text("") + text("")) +
         record(4, number(7, 2) + number(0, 2) + text("/data") + text(encoding) + number(0, 4)) +
         records + record(15, number(0, 4)) + record(2, std::string(20, '\0')) + magic;
}

// Claim: stamps since 1970 are written with the digits that they were recorded with, and come back
// as the same numbers; times 1e9 they would be off by hundreds of ns.
TEST(McapTest, stampsKeepTheirDigits) {
  Recording written;
  written.channels.push_back(channelNamed("q_a"));
  written.time.resize(5);
  written.time << 0.0, 1e-9, 0.1, 1700000000.102, 1731912345.000001;
  written.values.setZero(5, 1);
  const std::string bytes = mcapBytes({written}, McapCompression::kNone);
  const auto read = readMcapBytes(bytes, "m.mcap");
  EXPECT_EQ(read.at(0).time, written.time);
  const std::string nanosec = {'\x80', '\x65', '\x14', '\x06'};  // 102000000 in CDR
  EXPECT_NE(bytes.find(nanosec), std::string::npos);
}

// Claim: joints, sensors, commanded values and the rest come back from the topics they were written
// to, exactly, with each compression and over several chunks.
TEST(McapTest, roundTrip) {
  const Recording written = robotRecording(9000);
  for (const McapCompression compression : kAll) {
    std::vector<std::string> notes;
    const auto read = readMcapBytes(mcapBytes({written}, compression), "m.mcap", {}, &notes);
    EXPECT_TRUE(notes.empty());
    ASSERT_EQ(read.size(), 5u);
    size_t found = 0;
    for (const Recording& recording : read) {
      ASSERT_EQ(recording.samples(), 9000);
      EXPECT_LT((recording.time - written.time).cwiseAbs().maxCoeff(), 0.51e-9);
      for (size_t c = 0; c < written.channels.size(); ++c) {
        const Channel& channel = written.channels[c];
        const int column = recording.column(channel.name);
        if (column < 0) continue;
        ++found;
        EXPECT_EQ(recording.values.col(column), written.values.col(static_cast<Eigen::Index>(c)));
        EXPECT_EQ(recording.channels[static_cast<size_t>(column)].quantity, channel.quantity);
        EXPECT_EQ(recording.channels[static_cast<size_t>(column)].role, channel.role);
      }
    }
    EXPECT_EQ(found, written.channels.size());
  }
}

// Claim: a topic whose own name is about commands holds commanded values; one in a group of such a
// name does not.
TEST(McapTest, topicsOfCommands) {
  for (const auto& [topic, role] : {std::pair{"/arm/joint_commands", Role::kCommanded},
                                    {"/desired_joint_states", Role::kCommanded},
                                    {"/command_panel/joint_states", Role::kMeasured},
                                    {"/d/joint_states", Role::kMeasured}}) {
    Recording written = robotRecording(3);
    written.topic = topic;
    written.channels = {channelOf(Quantity::kPosition, "a", "", Role::kMeasured)};
    written.values = Eigen::MatrixXd::Ones(3, 1);
    const auto read = readMcapBytes(mcapBytes({written}), "m.mcap");
    EXPECT_EQ(read.at(0).channels.at(0).role, role) << topic;
  }
}

// Claim: JSON numbers become dotted channels, flags 0 and 1, text nothing; an object with name,
// position and velocity is a JointState; time is the header's or the log's.
TEST(McapTest, json) {
  std::vector<std::string> notes;
  const Recording flat = readMcapBytes(
      mcapOf("json", {R"({"arm":{"load":[1,2.5]},"on":true,"label":"x","gap":null})"}), "j.mcap",
      {}, &notes)[0];
  EXPECT_EQ(flat.values(0, flat.column("arm.load[1]")), 2.5);
  EXPECT_EQ(flat.values(0, flat.column("on")), 1);
  EXPECT_TRUE(std::isnan(flat.values(0, flat.column("gap"))));
  EXPECT_EQ(flat.channels.size(), 4u);
  EXPECT_EQ(flat.time[0], 2.5);
  EXPECT_EQ(notes.size(), 1u);
  const Recording joints = readMcapBytes(
      mcapOf("json", {R"({"header":{"stamp":{"sec":3,"nanosec":500000000},"frame_id":""},
                         "name":["a","b"],"position":[1,2],"velocity":[],"effort":[3,4]})"}),
      "j.mcap")[0];
  EXPECT_EQ(joints.time[0], 3.5);
  EXPECT_EQ(joints.values(0, joints.column(Quantity::kTorque, Role::kMeasured, "b")), 4);
  EXPECT_EQ(joints.channels.size(), 4u);
  EXPECT_THROW(readMcapBytes(mcapOf("json", {"[1, 2"}), "j.mcap"), Error);
  EXPECT_THROW(readMcapBytes(mcapOf("json", {std::string(5000, '[')}), "j.mcap"), Error);
  const std::string deep = R"({"a":)" + std::string(5000, '[') + std::string(5000, ']') + "}";
  EXPECT_THROW(readMcapBytes(mcapOf("json", {deep}), "j.mcap"), Error);
}

// Claim: a JSON message that is none is refused or, if asked, left out and counted; those behind it
// are read.
TEST(McapTest, badMessagesAreSkippedIfAsked) {
  const std::string bytes = mcapOf("json", {R"({"x":1})", R"({"x":)", R"({"x":3})", R"({"x":4})"});
  EXPECT_THROW(readMcapBytes(bytes, "j.mcap"), Error);
  std::vector<std::string> notes;
  const Recording read = readMcapBytes(bytes, "j.mcap", {true}, &notes).at(0);
  EXPECT_EQ(read.values.col(0), Eigen::Vector3d(1, 3, 4));
  EXPECT_NE(notes.at(0).find("1 of 4 messages cannot be decoded"), std::string::npos) << notes[0];
}

// Claim: a file cut off at any byte is refused, or, if asked, read up to the cut with a note.
TEST(McapTest, cutOffAnywhere) {
  for (const McapCompression compression : kAll) {
    const std::string bytes = mcapBytes({robotRecording(3)}, compression);
    for (size_t size = 0; size < bytes.size(); ++size) {
      const std::string_view cut = std::string_view(bytes).substr(0, size);
      EXPECT_THROW(readMcapBytes(cut, "cut.mcap"), Error) << size;
    }
  }
  const std::string bytes = mcapBytes({robotRecording(9000)});
  std::vector<std::string> notes;
  const auto recovered = readMcapBytes(std::string_view(bytes).substr(0, bytes.size() * 2 / 3),
                                       "cut.mcap", {true}, &notes);
  ASSERT_EQ(recovered.size(), 5u);
  EXPECT_GT(recovered[0].samples(), 3000);
  EXPECT_LT(recovered[0].samples(), 9000);
  EXPECT_EQ(recovered[0].values(17, 0), robotRecording(9000).values(17, 0));
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("recovered what comes before this: cut.mcap: at byte"),
            std::string::npos);
}

// Claim: checksums cover the whole file: no single damaged byte passes.
TEST(McapTest, damagedBytes) {
  for (const McapCompression compression : kAll) {
    const std::string bytes = mcapBytes({robotRecording(3)}, compression);
    for (size_t i = 0; i < bytes.size(); ++i) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ 0x15);
      EXPECT_THROW(readMcapBytes(damaged, "damaged.mcap"), Error) << i;
    }
  }
}

// Claim: each kind of bad file or recording has its own message.
TEST(McapTest, messages) {
  const auto expect = [](const std::string& bytes, const char* piece) {
    const std::string message = messageOf([&] { readMcapBytes(bytes, "f.mcap"); });
    EXPECT_NE(message.find(piece), std::string::npos) << message;
  };
  expect("hello", "this is not an MCAP file");
  expect(mcapOf("cdr", {"x"}), "no topic in it can be read");
  expect(mcapOf("ros1", {"x"}), "in encoding 'ros1'); expected messages of ROS 2");
  std::string other = mcapBytes({robotRecording(3)}, McapCompression::kZstd);
  other.replace(other.find("zstd"), 4, "brot");
  expect(other, "compressed with 'brot'");
  Recording untimed = robotRecording(3);
  untimed.time.resize(0);
  EXPECT_NE(messageOf([&] { mcapBytes({untimed}); }).find("no time stamps"), std::string::npos);
  Recording early = robotRecording(3);
  early.time[1] = -1;
  EXPECT_NE(messageOf([&] { mcapBytes({early}); }).find("time stamp -1 of row 2"),
            std::string::npos);
  EXPECT_NE(messageOf([&] {
              mcapBytes({robotRecording(3), robotRecording(3)});
            }).find("two recordings would have the topic"),
            std::string::npos);
}

// Claim: channels that ROS messages cannot hold (degrees, motor side) are not put into them.
TEST(McapTest, onlySiUnitsInRosMessages) {
  Recording recording = recordingWith({channelOf(Quantity::kPosition, "a")}, 3);
  recording.channels[0].unit = "deg";
  const Recording degrees = readMcapBytes(mcapBytes({recording}), "m")[0];
  EXPECT_EQ(degrees.values, recording.values);
  EXPECT_EQ(degrees.channels[0].unit, "");
  recording.channels[0].unit = "rad";
  const std::string bytes = mcapBytes({recording}, McapCompression::kNone);
  EXPECT_NE(bytes.find("sensor_msgs/msg/JointState"), std::string::npos);
}

// Claim: a real bag, written as MCAP and read again, is the same to the nanosecond and the bit.
TEST(McapTest, realBag) {
  PROPRIO_REQUIRE_DATA("rosbag2/panda_exciting_trajectory.db3");
  const Recording bag =
      readRosbag((dataFolder() / "rosbag2/panda_exciting_trajectory.db3").string()).at(0);
  const testing::TempFolder folder;
  writeMcap(folder.file("panda.mcap"), {bag});
  for (const auto& read :
       {readMcap(folder.file("panda.mcap")), readRosbag(folder.file("panda.mcap"))}) {
    ASSERT_EQ(read.size(), 1u);
    EXPECT_EQ(read[0].topic, bag.topic);
    EXPECT_EQ(read[0].time, bag.time);
    EXPECT_EQ(read[0].values, bag.values);
  }
}

}  // namespace
}  // namespace proprio
