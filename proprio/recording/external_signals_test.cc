// What the surroundings do to a robot (A-21): external torques and wrenches beside measured and
// commanded ones.

#include <gtest/gtest.h>

#include "proprio/core/testing/temp_folder.h"
#include "proprio/model/robot_reader.h"
#include "proprio/recording/csv.h"
#include "proprio/recording/read_recording.h"
#include "proprio/recording/signal_map.h"
#include "proprio/recording/signal_names.h"

namespace proprio {
namespace {

constexpr const char* kPushedArm = R"(version: 1
dh:
  convention: modified
  joints: [{name: a, a: 1}, {name: b, a: 1}]
  links: {link_2: {mass: 1}}
)";

Recording pushed() {
  Recording recording;
  for (const char* name : {"q_a", "q_b", "tau_a", "tau_b", "tau_des_a", "tau_des_b", "tau_ext_a",
                           "tau_ext_b", "f_ext_hand_x", "f_ext_hand_y", "f_ext_hand_z"})
    recording.channels.push_back(channelNamed(name));
  recording.time = Eigen::VectorXd::LinSpaced(5, 0.0, 0.4);
  recording.values = Eigen::MatrixXd::Random(5, 11);
  return recording;
}

// Every format keeps external, commanded and measured signals apart, and their values to the bit.
TEST(ExternalSignals, RoundTripOfEveryFormat) {
  const Recording recording = pushed();
  EXPECT_EQ(recording.channels[6].role, Role::kExternal);
  EXPECT_EQ(recording.channels[6].of, "a");
  const testing::TempFolder folder;
  for (const char* name : {"log.csv", "log.npz", "log.h5", "log.mcap"}) {
    writeRecording(recording, folder.file(name));
    const std::vector<Recording> parts = readRecordings(folder.file(name));
    for (size_t c = 0; c < recording.channels.size(); ++c) {
      const Channel& channel = recording.channels[c];
      bool found = false;
      for (const Recording& part : parts) {
        for (size_t other = 0; other < part.channels.size(); ++other) {
          const Channel& read = part.channels[other];
          if (read.quantity != channel.quantity || read.role != channel.role ||
              read.of != channel.of || read.component != channel.component)
            continue;
          found = true;
          EXPECT_EQ(part.values.col(static_cast<Eigen::Index>(other)),
                    recording.values.col(static_cast<Eigen::Index>(c)))
              << name << " " << channel.name;
        }
      }
      EXPECT_TRUE(found) << name << " " << channel.name;
    }
  }
}

// Mapped through a robot by their names, or by a declaration with role external, they stay what
// they are; measured torques are not touched by them.
TEST(ExternalSignals, MappedThroughTheRobot) {
  const Recording named = mapRecording(readRobotYamlText(kPushedArm), {pushed()});
  for (const char* joint : {"a", "b"}) {
    EXPECT_GE(named.column(Quantity::kTorque, Role::kExternal, joint), 0) << joint;
    EXPECT_NE(named.column(Quantity::kTorque, Role::kExternal, joint),
              named.column(Quantity::kTorque, Role::kMeasured, joint));
  }
  const Model model = readRobotYamlText(std::string(kPushedArm) + R"(recording:
  signals:
    - {quantity: position, channels: ["p1", "p2"]}
    - {quantity: torque, channels: ["t1", "t2"]}
    - {quantity: torque, role: external, channels: ["e1", "e2"], unit: "mN m"}
)");
  const Recording declared = mapRecording(
      model, {readCsvRecordingText("time,p1,p2,t1,t2,e1,e2\n0,1,2,3,4,5000,6000\n0.1,1,2,3,4,5,6\n",
                                   "log.csv")});
  const int external = declared.column(Quantity::kTorque, Role::kExternal, "b");
  ASSERT_GE(external, 0);
  EXPECT_EQ(declared.channels[static_cast<size_t>(external)].name, "tau_ext_b");
  EXPECT_DOUBLE_EQ(declared.values(0, external), 6.0);
  EXPECT_EQ(declared.values(0, declared.column(Quantity::kTorque, Role::kMeasured, "b")), 4.0);
}

}  // namespace
}  // namespace proprio
