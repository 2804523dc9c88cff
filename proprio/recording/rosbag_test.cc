#include "proprio/recording/rosbag.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "proprio/core/atomic_file.h"
#include "proprio/core/error.h"
#include "proprio/model/testing/data_folder.h"
#include "proprio/recording/compression_internal.h"
#include "proprio/recording/testing/python_files.h"

namespace proprio {
namespace {

// Python that writes bags by hand: a small CDR encoder with `struct`, and `sqlite3`.
constexpr char kBagWriter[] = R"(
import sqlite3, struct, sys

class Cdr:
  def __init__(self, end): self.end, self.b = end, b''
  def put(self, fmt, v):
    n = struct.calcsize('<' + fmt); self.b += b'\0' * (-len(self.b) % n)
    self.b += struct.pack(self.end + fmt, v); return self
  def text(self, s): self.put('I', len(s) + 1); self.b += s.encode() + b'\0'; return self
  def seq(self, fmt, vs):
    self.put('I', len(vs))
    for v in vs: self.put(fmt, v)
    return self
  def header(self, ns, frame): return self.put('i', ns // 10**9).put('I', ns % 10**9).text(frame)
  def doubles(self, vs):
    for v in vs: self.put('d', v)
    return self
  def bytes(self): return (b'\0\1\0\0' if self.end == '<' else b'\0\0\0\0') + self.b

def joints(ns, names, q, v=(), e=(), end='<'):
  c = Cdr(end).header(ns, '').put('I', len(names))
  for n in names: c.text(n)
  return c.seq('d', q).seq('d', v).seq('d', e).bytes()

def bag(path, topics):
  db = sqlite3.connect(path)
  db.execute('CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT, type TEXT, serialization_format TEXT, offered_qos_profiles TEXT)')
  db.execute('CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, data BLOB)')
  for i, (name, type, messages) in enumerate(topics):
    db.execute('INSERT INTO topics VALUES (?, ?, ?, ?, ?)', (i + 1, name, type, 'cdr', ''))
    for stamp, data in messages:
      db.execute('INSERT INTO messages(topic_id, timestamp, data) VALUES (?, ?, ?)', (i + 1, stamp, data))
  db.commit(); db.close()
)";

// Claim: joints are matched by name when the order changes between messages, a missing joint is
// NaN, empty velocities give no channel, and both byte orders are read.
TEST(RosbagTest, jointStatesByName) {
  const testing::TempFolder folder;
  runPython(folder, std::string(kBagWriter) + R"(
J = 'sensor_msgs/msg/JointState'
bag('a.db3', [('/joint_states', J, [
  (5, joints(10**9 + 500, ['a', 'b'], [1., 2.], [], [10., 20.])),
  (7, joints(2 * 10**9, ['b', 'a'], [4., 3.], [], [40., 30.], '>')),
  (9, joints(3 * 10**9, ['b', 'c'], [6., 7.], [], []))])])
)");
  std::vector<std::string> notes;
  const auto recordings = readRosbag(folder.file("a.db3"), &notes);
  ASSERT_EQ(recordings.size(), 1u);
  const Recording& recording = recordings[0];
  EXPECT_EQ(recording.topic, "/joint_states");
  ASSERT_EQ(recording.channels.size(), 5u);  // q of a b c, tau of a b
  EXPECT_TRUE(notes.empty());
  EXPECT_EQ(recording.time, Eigen::Vector3d(1 + 500e-9, 2, 3));
  const auto value = [&](int row, Quantity quantity, const char* joint) {
    return recording.values(row, recording.column(quantity, Role::kMeasured, joint));
  };
  EXPECT_EQ(value(0, Quantity::kPosition, "a"), 1);
  EXPECT_EQ(value(1, Quantity::kPosition, "a"), 3);
  EXPECT_TRUE(std::isnan(value(2, Quantity::kPosition, "a")));
  EXPECT_EQ(value(1, Quantity::kTorque, "b"), 40);
  EXPECT_TRUE(std::isnan(value(2, Quantity::kTorque, "b")));
  EXPECT_EQ(value(2, Quantity::kPosition, "c"), 7);
  EXPECT_EQ(recording.column("q_a"), 0);
}

// Claim: a message that is cut off is refused with its topic and number or, if asked, left out and
// counted, and the others stay as they are.
TEST(RosbagTest, badMessagesAreSkippedIfAsked) {
  const testing::TempFolder folder;
  runPython(folder, std::string(kBagWriter) + R"(
J = 'sensor_msgs/msg/JointState'
good = [(k, joints(k * 10**9, ['a', 'b'], [k, 2. * k])) for k in range(1, 6)]
good[2] = (3, good[2][1][:-9])
bag('a.db3', [('/joint_states', J, good)])
)");
  const std::string message = messageOf([&] { readRosbag(folder.file("a.db3")); });
  EXPECT_NE(message.find("message 3"), std::string::npos) << message;
  std::vector<std::string> notes;
  const Recording recording = readRosbag(folder.file("a.db3"), &notes, true).at(0);
  EXPECT_EQ(recording.time, Eigen::Vector4d(1, 2, 4, 5));
  EXPECT_EQ(recording.values.col(1), Eigen::Vector4d(2, 4, 8, 10));
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("1 of 5 messages cannot be decoded"), std::string::npos) << notes[0];
}

// Claim: IMU, wrench and trajectory messages give their quantities; an orientation that the sensor
// marks as not measured gives none; without stamps the log's time counts, with a note; other types
// are listed.
TEST(RosbagTest, otherMessages) {
  const testing::TempFolder folder;
  runPython(folder, std::string(kBagWriter) + R"(
imu = Cdr('<').header(10**9, 'imu_link').doubles([0, 0, 0, 1] + [-1.] + [0.] * 8 + [.1, .2, .3] +
      [0.] * 9 + [0, 0, 9.81] + [0.] * 9).bytes()
stamped = Cdr('<').header(0, '').doubles([1, 2, 3, 4, 5, 6]).bytes()
plain = Cdr('<').doubles([1, 2, 3, 4, 5, 6]).bytes()
points = Cdr('<').header(0, '').put('I', 1).text('elbow').put('I', 2)
for i in range(2):
  points.seq('d', [i + .5]).seq('d', []).seq('d', [8.]).seq('d', []).put('i', i).put('I', 250)
bag('a.db3', [('/imu', 'sensor_msgs/msg/Imu', [(1, imu)]),
  ('/ft/wrench', 'geometry_msgs/msg/WrenchStamped', [(2 * 10**9, stamped)]),
  ('/plain', 'geometry_msgs/msg/Wrench', [(3 * 10**9, plain)]),
  ('/plan', 'trajectory_msgs/msg/JointTrajectory', [(4 * 10**9, points.bytes())]),
  ('/camera', 'sensor_msgs/msg/Image', [(1, b'whatever')])])
)");
  std::vector<std::string> notes;
  const auto recordings = readRosbag(folder.file("a.db3"), &notes);
  ASSERT_EQ(recordings.size(), 4u);
  const Recording &wrench = recordings[0], &imu = recordings[1], &plain = recordings[2],
                  &plan = recordings[3];
  EXPECT_EQ(wrench.time[0], 2);
  EXPECT_EQ(wrench.values(0, wrench.column(Quantity::kMoment, Role::kMeasured, "wrench", "y")), 5);
  EXPECT_EQ(plain.time[0], 3);
  EXPECT_EQ(plain.values(0, plain.column(Quantity::kForce, Role::kMeasured, "plain", "z")), 3);
  ASSERT_EQ(imu.channels.size(), 6u);
  EXPECT_EQ(imu.time[0], 1);
  EXPECT_EQ(
      imu.values(0, imu.column(Quantity::kLinearAcceleration, Role::kMeasured, "imu_link", "z")),
      9.81);
  EXPECT_EQ(imu.values(0, imu.column("gyro_imu_link_x")), 0.1);
  EXPECT_EQ(plan.time, Eigen::Vector2d(250e-9, 1 + 250e-9));
  ASSERT_EQ(plan.channels.size(), 2u);
  EXPECT_EQ(plan.values(1, plan.column(Quantity::kPosition, Role::kCommanded, "elbow")), 1.5);
  EXPECT_TRUE(mentions(notes, "topic '/camera' was not read: messages 'sensor_msgs/msg/Image'"));
  EXPECT_TRUE(mentions(notes, "topic '/ft/wrench': the messages have no time stamps"));
}

// Claim: the files of a split bag are joined; metadata that names a missing file is survived; a
// database or messages compressed with zstd are read; nothing is created beside the bag.
TEST(RosbagTest, foldersAndCompression) {
  const testing::TempFolder folder;
  runPython(folder, std::string(kBagWriter) + R"(
import os
J = 'sensor_msgs/msg/JointState'
os.mkdir('split'); os.mkdir('flawed')
for i in range(2):
  bag('split/b_%d.db3' % i, [('/j', J, [(i, joints(10**9 * (i + 1), ['a'], [float(i)]))])])
open('split/metadata.yaml', 'w').write('rosbag2_bagfile_information:\n  relative_file_paths:\n  - b_0.db3\n  - old/b_1.db3\n')
bag('flawed/other.db3', [('/j', J, [(0, joints(10**9, ['a'], [5.]))])])
open('flawed/metadata.yaml', 'w').write('rosbag2_bagfile_information:\n  relative_file_paths: [ros2.db3]\n')
open('message.bin', 'wb').write(joints(10**9, ['a'], [7.]))
)");
  EXPECT_EQ(readRosbag(folder.file("split"))[0].values, Eigen::Vector2d(0, 1));
  std::vector<std::string> notes;
  EXPECT_EQ(readRosbag(folder.file("flawed"), &notes)[0].values(0, 0), 5);
  EXPECT_TRUE(mentions(notes, "names 'ros2.db3', which is not there"));

  writeFileAtomically(folder.file("w.db3.zstd"),
                      compressed(Compression::kZstd, readFile(folder.file("flawed/other.db3"))));
  EXPECT_EQ(readRosbag(folder.file("w.db3.zstd"))[0].values(0, 0), 5);
  writeFileAtomically(folder.file("message.zstd"),
                      compressed(Compression::kZstd, readFile(folder.file("message.bin"))));
  runPython(folder, std::string(kBagWriter) + R"(
bag('m.db3', [('/j', 'sensor_msgs/msg/JointState', [(0, open('message.zstd', 'rb').read())])])
)");
  EXPECT_EQ(readRosbag(folder.file("m.db3"))[0].values(0, 0), 7);
  for (const char* made : {"m.db3-wal", "m.db3-shm", "m.db3-journal"})
    EXPECT_FALSE(std::filesystem::exists(folder.file(made)));
}

// Claim: bad bags are told apart: not a database, not a bag, a message that is cut off or has the
// wrong counts, a database cut off anywhere.
TEST(RosbagTest, messages) {
  const testing::TempFolder folder;
  runPython(folder, std::string(kBagWriter) + R"(
J = 'sensor_msgs/msg/JointState'
open('text.db3', 'w').write('hello, this is no database')
db = sqlite3.connect('plain.db3'); db.execute('CREATE TABLE x(y)'); db.commit(); db.close()
bag('cut.db3', [('/j', J, [(0, joints(0, ['a'], [1.])), (1, joints(0, ['a'], [1.])[:-12])])])
bag('count.db3', [('/j', J, [(0, joints(0, ['a', 'b'], [1.]))])])
bag('twice.db3', [('/j', J, [(0, joints(0, ['a', 'a'], [1., 2.]))])])
bag('huge.db3', [('/j', J, [(0, joints(0, ['a'], [1.])[:20] + b'\xff\xff\xff\x7f')])])
bag('none.db3', [('/j', 'x/msg/Y', [(0, b'')])])
bag('code.db3', [('/j', J, [(0, b'\1\2\3\4\5')])])
bag('good.db3', [('/j', J, [(i, joints(0, ['a'], [1.])) for i in range(100)])])
)");
  const auto expect = [&](const char* file, const char* piece) {
    const std::string message = messageOf([&] { readRosbag(folder.file(file)); });
    EXPECT_NE(message.find(piece), std::string::npos) << message;
    EXPECT_NE(message.find(file), std::string::npos) << message;
  };
  expect("text.db3", "not an SQLite database");
  expect("plain.db3", "not a ROS 2 bag");
  expect("cut.db3", "topic '/j', message 2: at byte");
  expect("count.db3", "1 values of position for 2 joints");
  expect("twice.db3", "'q_a' appears twice");
  expect("huge.db3", "announces");
  expect("none.db3", "no topic in it can be read ('x/msg/Y')");
  expect("code.db3", "encoding 0102");
  expect("missing.db3", "No such file");
  const std::string good = readFile(folder.file("good.db3"));
  for (size_t size = 0; size < good.size(); size += 331) {
    std::ofstream(folder.file("short.db3"), std::ios::binary) << good.substr(0, size);
    EXPECT_THROW(readRosbag(folder.file("short.db3")), Error) << size;
  }
}

// Claim: the published bags hold what their description says: Panda at 30 Hz with joints
// fer_joint1..7, UR10 with 6 joints, one trajectory with positions to efforts.
TEST(RosbagTest, realBags) {
  PROPRIO_REQUIRE_DATA("rosbag2/panda_exciting_trajectory.db3");
  const std::string folder = (dataFolder() / "rosbag2").string();
  const Recording panda = readRosbag(folder + "/panda_exciting_trajectory.db3").at(0);
  EXPECT_EQ(panda.samples(), 727);
  EXPECT_EQ(panda.channels.size(), 21u);
  EXPECT_GE(panda.column(Quantity::kTorque, Role::kMeasured, "fer_joint7"), 0);
  EXPECT_NEAR(726 / (panda.time[726] - panda.time[0]), 30, 0.1);
  const Recording plan = readRosbag(folder + "/ur10_validation_trajectory.db3").at(0);
  EXPECT_EQ(plan.samples(), 3441);
  EXPECT_EQ(plan.channels.size(), 24u);
  EXPECT_NEAR(plan.time[3440], 27.52, 1e-6);
  EXPECT_GE(plan.column("a_des_elbow_joint"), 0);
  std::vector<std::string> notes;
  EXPECT_EQ(readRosbag(folder, &notes).size(), 3u);
  EXPECT_TRUE(mentions(notes, "names 'ros2.db3', which is not there"));
}

}  // namespace
}  // namespace proprio
