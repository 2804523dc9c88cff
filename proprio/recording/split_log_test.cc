/// Recordings in several files with one signal each, read through a robot that declares nothing.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "proprio/core/atomic_file.h"
#include "proprio/core/error.h"
#include "proprio/core/testing/temp_folder.h"
#include "proprio/model/robot_reader.h"
#include "proprio/recording/npy.h"
#include "proprio/recording/signal_map.h"

namespace proprio {
namespace {

class SplitLog : public ::testing::Test {
 protected:
  /// 20 rows of `first`, then `columns` columns of the numbers 10 column + row + `base`.
  std::string rows(int columns, double base, const char* separator = " ", bool timed = true,
                   int count = 20) const {
    std::string text;
    for (int i = 0; i < count; ++i) {
      if (timed) text += fmt::format("{:.3f}{}", 0.004 * i, separator);
      for (int c = 0; c < columns; ++c)
        text += fmt::format("{}{}", base + 10 * c + i, c + 1 < columns ? separator : "\n");
    }
    return text;
  }
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(folder_.file(name)).parent_path());
    writeFileAtomically(folder_.file(name), text);
  }
  Recording read(const std::string& name) const {
    return readRobotRecording(robot_, name.empty() ? folder_.path().string() : folder_.file(name));
  }
  double at(const Recording& recording, const std::string& name, Eigen::Index row) const {
    const int column = recording.column(name);
    EXPECT_GE(column, 0) << name;
    return column < 0 ? std::nan("") : recording.values(row, column);
  }
  std::string message(const std::string& name) const {
    try {
      read(name);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  testing::TempFolder folder_;
  Model robot_ = readRobotYamlText(R"(version: 1
dh:
  convention: modified
  joints: [{name: pan_joint, a: 1}, {name: lift_joint, a: 1}, {name: elbow_joint, a: 1}]
)",
                                   "robot.yaml");
};

// Columns without names are the joints in order behind the time; the folder and each of its files
// give the same recording, and a note says what was taken for what.
TEST_F(SplitLog, FolderAndEachFile) {
  write("run1_pos.dat", rows(3, 0));
  write("run1_vel.dat", rows(3, 100));
  write("run1_trq.dat", rows(3, 200));
  write("notes.md", "not a log");
  for (const char* name : {"", "run1_pos.dat", "run1_trq.dat"}) {
    const Recording mapped = read(name);
    ASSERT_EQ(mapped.samples(), 20) << name;
    EXPECT_EQ(mapped.channels.size(), 9u);
    EXPECT_DOUBLE_EQ(mapped.time[5], 0.02);
    EXPECT_EQ(at(mapped, "q_pan_joint", 3), 3.0);
    EXPECT_EQ(at(mapped, "v_lift_joint", 0), 110.0);
    EXPECT_EQ(at(mapped, "tau_elbow_joint", 1), 221.0);
    bool told = false;
    for (const std::string& note : mapped.notes)
      told = told || note.find(
                         "run1_pos.dat (position), run1_trq.dat (torque), run1_vel.dat "
                         "(velocity)") != std::string::npos;
    EXPECT_TRUE(told);
  }
}

// Joints as rows, as matrices are often saved; rows of a few numbers more than there are of them
// stay rows.
TEST_F(SplitLog, JointsAsRows) {
  const auto matrix = [](int columns, double base) {
    std::string text;
    for (int row = 0; row < 3; ++row) {
      for (int c = 0; c < columns; ++c) text += fmt::format("{} ", base + 1000 * row + c);
      text += "\n";
    }
    return text;
  };
  write("robot_q.dat", matrix(150, 0));
  write("robot_tau.dat", matrix(150, 5000));
  for (const char* name : {"", "robot_q.dat"}) {
    const Recording mapped = read(name);
    ASSERT_EQ(mapped.samples(), 150) << name;
    EXPECT_EQ(at(mapped, "q_lift_joint", 7), 1007.0);
    EXPECT_EQ(at(mapped, "tau_elbow_joint", 149), 7149.0);
  }
  write("b/wide.dat", matrix(99, 0));
  EXPECT_EQ(readRecordings(folder_.file("b/wide.dat"))[0].samples(), 3);
}

// A unit at the end of a file's name is that of its columns.
TEST_F(SplitLog, UnitsInNamesOfFiles) {
  write("q_deg.csv", "t,elbow,pan,lift\n" + rows(3, 0, ","));
  write("current_mA.csv", "t,elbow,pan,lift\n" + rows(3, 200, ","));
  write("torque_Nm.csv", rows(3, 300, ","));
  for (const char* name : {"", "q_deg.csv", "current_mA.csv"}) {
    const Recording mapped = read(name);
    EXPECT_NEAR(at(mapped, "q_pan_joint", 3), 13.0 * M_PI / 180.0, 1e-15) << name;
    EXPECT_DOUBLE_EQ(at(mapped, "i_pan_joint", 3), 0.213) << name;
    EXPECT_EQ(at(mapped, "tau_pan_joint", 3), 303.0) << name;
  }
}

// Time stamps in a file of their own, names of joints in the first line, commanded signals.
TEST_F(SplitLog, OtherLayouts) {
  write("a/q.txt", rows(3, 0, ",", false));
  write("a/tau.txt", rows(3, 200, ",", false));
  std::string stamps;
  for (int i = 0; i < 20; ++i) stamps += fmt::format("{}\n", 4 * i);
  write("a/time_ms.txt", stamps);
  const Recording apart = read("a");
  ASSERT_EQ(apart.time.size(), 20);
  EXPECT_DOUBLE_EQ(apart.time[5], 0.02);
  EXPECT_EQ(at(apart, "tau_lift_joint", 0), 210.0);
  write("b/joint_position.csv", "t,elbow,pan,lift\n" + rows(3, 0, ","));
  write("b/joint_effort.csv", "t,pan,lift,elbow\n" + rows(3, 200, ","));
  write("b/joint_position_des.csv", "t,pan,lift,elbow\n" + rows(3, 300, ","));
  const Recording named = read("b");
  EXPECT_EQ(at(named, "q_elbow_joint", 0), 0.0);
  EXPECT_EQ(at(named, "q_pan_joint", 0), 10.0);
  EXPECT_EQ(at(named, "tau_elbow_joint", 0), 220.0);
  EXPECT_EQ(at(named, "q_des_lift_joint", 0), 310.0);
  // a file whose columns say it themselves is a log of its own
  write("c/torque_test.csv", "t,q1,q2,q3,tau1,tau2,tau3\n" + rows(6, 0, ","));
  write("c/pos.csv", rows(3, 0, ","));
  EXPECT_EQ(read("c/torque_test.csv").channels.size(), 6u);
  // and so is one with arrays called by quantities, although its name looks like one (version 2)
  Recording arrays;
  arrays.source = "arrays";
  arrays.time.setLinSpaced(20, 0.0, 0.19);
  for (const char* name : {"q[0]", "q[1]", "q[2]", "tau[0]", "tau[1]", "tau[2]"}) {
    arrays.channels.push_back(Channel());
    arrays.channels.back().name = name;
  }
  arrays.values = Eigen::MatrixXd::Random(20, 6);
  std::filesystem::create_directories(folder_.file("d"));
  for (const char* name : {"d/log_v2.npz", "d/04_v73.npz", "d/run73.npz"}) {
    writeNpz(folder_.file(name), {arrays});
    const Recording one = read(name);
    EXPECT_EQ(one.channels.size(), 6u) << name;
    EXPECT_EQ(at(one, "tau_lift_joint", 3), arrays.values(3, 4)) << name;
  }
}

// What cannot be told apart, or does not fit together, is refused in a sentence.
TEST_F(SplitLog, Refusals) {
  write("two/run1_pos.dat", rows(3, 0));
  write("two/run2_pos.dat", rows(3, 0));
  EXPECT_NE(message("two").find("is a folder with several recordings (files such as run1_pos.dat "
                                "and run2_pos.dat)"),
            std::string::npos)
      << message("two");
  write("twice/pos.dat", rows(3, 0));
  write("twice/q.dat", rows(3, 0));
  EXPECT_NE(message("twice").find("both seem to hold the position"), std::string::npos);
  write("length/pos.dat", rows(3, 0, " ", false));
  write("length/trq.dat", rows(3, 0, " ", false, 19));
  EXPECT_NE(message("length").find("differ in length: 20 samples"), std::string::npos)
      << message("length");
  write("none/a.dat", rows(3, 0));
  write("none/b.dat", rows(3, 0));
  EXPECT_NE(message("none").find("do not say by their names what they hold"), std::string::npos)
      << message("none");
  EXPECT_NE(message("none").find("a.dat, b.dat"), std::string::npos);
  write("wide/pos.dat", rows(5, 0));
  write("wide/trq.dat", rows(5, 0));
  EXPECT_NE(message("wide").find("nothing in it names a joint"), std::string::npos)
      << message("wide");
}

// Stamps whose file is called by what they are, sample_times_s, belong to the other files.
TEST_F(SplitLog, SampleTimes) {
  write("joint_positions.csv", rows(3, 0.0, ",", false));
  write("joint_torques.csv", rows(3, 100.0, ",", false));
  write("sample_times_s.csv", rows(1, 0.0, ",", false));
  const Recording recording = read("");
  EXPECT_EQ(recording.time[7], 7.0);
  EXPECT_EQ(at(recording, "tau_elbow_joint", 2), 122.0);
}

// Values one per line, three for each time stamp of a robot with three joints, are rows.
TEST_F(SplitLog, ValuesOnePerLine) {
  write("time.txt", rows(1, 0.0, " ", false, 20));
  write("positions.txt", rows(1, 0.0, " ", false, 60));
  write("torques.txt", rows(1, 100.0, " ", false, 60));
  const Recording recording = read("");
  ASSERT_EQ(recording.samples(), 20);
  EXPECT_EQ(at(recording, "q_pan_joint", 4), 12.0);
  EXPECT_EQ(at(recording, "tau_elbow_joint", 4), 114.0);
}

// One file for each signal of each joint: the folder and each of its files are all joints. Files of
// several columns that are numbered the same way are several recordings.
TEST_F(SplitLog, OneFilePerJoint) {
  for (int joint = 1; joint <= 3; ++joint) {
    write(fmt::format("out_theta{}.txt", joint), rows(1, 10 * joint, " ", false));
    write(fmt::format("out_torque{}.txt", joint), rows(1, 200 + 10 * joint, " ", false));
  }
  for (const char* name : {"", "out_theta1.txt", "out_torque3.txt"}) {
    const Recording mapped = read(name);
    ASSERT_EQ(mapped.samples(), 20) << name;
    EXPECT_EQ(mapped.channels.size(), 6u) << name;
    EXPECT_EQ(at(mapped, "q_pan_joint", 0), 10.0);
    EXPECT_EQ(at(mapped, "q_elbow_joint", 3), 33.0);
    EXPECT_EQ(at(mapped, "tau_lift_joint", 1), 221.0);
  }
  write("out_time.txt", rows(1, 0, " ", false));
  EXPECT_EQ(read("").time[7], 7.0);

  for (int run = 1; run <= 2; ++run) {
    write(fmt::format("runs/pos_{}.csv", run), rows(3, 0, ","));
    write(fmt::format("runs/torque_{}.csv", run), rows(3, 100, ","));
  }
  EXPECT_NE(message("runs").find("with several recordings"), std::string::npos) << message("runs");
  EXPECT_EQ(read("runs/pos_2.csv").channels.size(), 6u);
}

}  // namespace
}  // namespace proprio
