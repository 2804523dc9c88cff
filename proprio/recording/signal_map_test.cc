#include "proprio/recording/signal_map.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>

#include "proprio/core/atomic_file.h"
#include "proprio/core/error.h"
#include "proprio/core/testing/temp_folder.h"
#include "proprio/model/robot_reader.h"
#include "proprio/recording/csv.h"
#include "proprio/recording/cut.h"
#include "proprio/recording/signal_names.h"
#include "proprio/recording/write_recordings.h"

namespace proprio {
namespace {

namespace fs = std::filesystem;

// conversions are a few multiplications and one small linear solve
constexpr double kSignalDigits = 1e-12;
constexpr double kPi = 3.14159265358979323846;

/// A robot with the joints a, b (revolute) and lift (prismatic), and more lines of YAML.
Model robot(const std::string& more) {
  return readRobotYamlText(R"(version: 1
dh:
  convention: modified
  joints:
    - {name: a, a: 1}
    - {name: b, a: 1}
    - {name: lift, type: prismatic, a: 1}
)" + more,
                           "robot.yaml");
}

Recording log(const std::string& text, const std::string& file = "log.csv") {
  return readCsvRecordingText(text, file);
}

std::string mapMessage(const Model& model, const std::vector<Recording>& raw) {
  try {
    mapRecording(model, raw);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

double at(const Recording& recording, const std::string& name, Eigen::Index row) {
  const int column = recording.column(name);
  EXPECT_GE(column, 0) << name;
  return column < 0 ? std::nan("") : recording.values(row, column);
}

// Each column has its own unit: degrees beside radians and millinewtonmetres beside newtonmetres,
// under names that are not ours. An unknown unit is refused, and what is left out is told.
TEST(SignalMap, UnitPerColumn) {
  const Recording mapped = mapRecording(
      robot(""), {log("time,q1 [deg],q2 [rad],q3 [mm],tau1 [Nm],tau2 [mNm],tau3 [N],gripper\n"
                      "0,180,2,500,4,5000,6,1\n1,90,3,600,5,6000,7,2\n")});
  EXPECT_EQ(mapped.channels.size(), 6u);
  EXPECT_DOUBLE_EQ(at(mapped, "q_a", 0), kPi);
  EXPECT_EQ(at(mapped, "q_b", 0), 2.0);
  EXPECT_DOUBLE_EQ(at(mapped, "q_lift", 0), 0.5);
  EXPECT_EQ(at(mapped, "tau_a", 0), 4.0);
  EXPECT_DOUBLE_EQ(at(mapped, "tau_b", 1), 6.0);
  EXPECT_EQ(at(mapped, "tau_lift", 0), 6.0);
  EXPECT_TRUE(std::any_of(mapped.notes.begin(), mapped.notes.end(), [](const std::string& note) {
    return contains(note, "1 of 7 channels were left out: gripper");
  }));
  for (const char* header :
       {"q1 [gon],q2 [gon],q3 [m]", "q1,q2 [gon],q3", "q_a [gon],q_b,q_lift"}) {
    const std::string message = mapMessage(robot(""), {log(std::string("time,") + header +
                                                           ",tau1,tau2,tau3\n0,1,2,3,4,5,6\n"
                                                           "1,1,2,3,4,5,6\n")});
    EXPECT_TRUE(contains(message, "unknown unit 'gon'")) << header << ": " << message;
  }
  // the same signal twice, in two units: one of them
  const Recording twice = mapRecording(
      robot(""), {log("time,pos1 [deg],pos2 [deg],pos3 [mm],pos1 [rad],pos2 [rad],pos3 "
                      "[m]\n0,180,90,5,3,2,1\n1,180,90,5,3,2,1\n")});
  EXPECT_EQ(twice.channels.size(), 3u);
}

// Names of the convention need no declaration; joints that the robot does not have are noted, and
// units that the file states are converted.
TEST(SignalMap, ByNames) {
  const Recording mapped = mapRecording(
      robot(""), {log("time,q_b [deg],q_a,tau_a [mN m],q_elbow,q_des_lift [mm]\n0,180,1,5,9,7\n"
                      "1,90,2,6,9,8\n")});
  EXPECT_EQ(mapped.channels.size(), 4u);
  EXPECT_DOUBLE_EQ(at(mapped, "q_b", 0), kPi);
  EXPECT_EQ(at(mapped, "q_a", 1), 2.0);
  EXPECT_DOUBLE_EQ(at(mapped, "tau_a", 1), 0.006);
  EXPECT_DOUBLE_EQ(at(mapped, "q_des_lift", 0), 0.007);
  EXPECT_EQ(mapped.channels[0].name, "q_a");  // the order of the model
  EXPECT_EQ(mapped.channels[0].side, Side::kJoint);
  EXPECT_EQ(mapped.channels[static_cast<size_t>(mapped.column("q_des_lift"))].unit, "m");
  ASSERT_EQ(mapped.notes.size(), 1u);
  EXPECT_TRUE(contains(mapped.notes[0], "elbow"));
  EXPECT_TRUE(contains(mapMessage(robot(""), {log("x,y\n1,2\n")}),
                       "log.csv: nothing in it names a joint of"));
}

// Other usual names are understood, by number or by the joint's name, in any order; what was taken
// for what is noted. Words that change the meaning, gaps in the numbers and two columns for one
// joint are not.
TEST(SignalMap, ByUsualNames) {
  const auto mapped = [](const std::string& header) {
    return mapRecording(robot(""), {log(header + "\n0,1,2,3,4,5,6\n1,1,2,3,4,5,6\n")});
  };
  for (const char* header :
       {"t,q1,q2,q3,tau1,tau2,tau3", "time,pos_0,pos_1,pos_2,effort_0,effort_1,effort_2",
        "Time,a_pos,b_pos,lift_pos,a_torque,b_torque,lift_torque",
        "time,JointPosition1,JointPosition2,JointPosition3,Torque1,Torque2,Torque3",
        "time,actual_q_1,actual_q_2,actual_q_3,tau_J_1,tau_J_2,tau_J_3"}) {
    const Recording recording = mapped(header);
    ASSERT_EQ(recording.channels.size(), 6u) << header;
    EXPECT_EQ(at(recording, "q_a", 0), 1.0) << header;
    EXPECT_EQ(at(recording, "q_lift", 0), 3.0) << header;
    EXPECT_EQ(at(recording, "tau_b", 1), 5.0) << header;
    ASSERT_EQ(recording.notes.size(), 1u) << header;
    EXPECT_TRUE(contains(recording.notes[0], "taken by their names")) << header;
  }
  const Recording other_order = mapped("time,q3,q1,q2,dq1,dq2,dq3");
  EXPECT_EQ(at(other_order, "q_a", 0), 2.0);
  EXPECT_EQ(at(other_order, "q_lift", 0), 1.0);
  EXPECT_EQ(at(other_order, "v_lift", 0), 6.0);
  const Recording without_lift = mapped("time,q1,q2,x,y,z,w");  // numbers of the first joints
  EXPECT_EQ(at(without_lift, "q_b", 0), 2.0);
  EXPECT_EQ(without_lift.column("q_lift"), -1);
  EXPECT_EQ(mapped("time,q_cmd1,q_cmd2,q_cmd3,q1,q2,q3").column("q_des_b") >= 0, true);
  for (const char* header :
       {"time,q1,q2,q4,x,y,z", "time,q1,q2,q02,x,y,z", "time,q_error1,q_error2,q_error3,x,y,z",
        "time,motor_pos1,motor_pos2,motor_pos3,x,y,z", "time,q5,q6,q7,x,y,z",
        "time,d_q1,d_q2,d_q3,x,y,z"}) {
    EXPECT_TRUE(contains(mapMessage(robot(""), {log(std::string(header) + "\n0,1,2,3,4,5,6\n")}),
                         "nothing in it names a joint of"))
        << header;
  }
}

// Motor side: positions through the inverse of the full coupling matrix, torques through its
// transpose, so that power is the same on both sides; then offsets, per joint.
TEST(SignalMap, CoupledMotors) {
  const Model model = robot(R"(
transmission: {joints: [a, b, lift], matrix: [[32, 0, 0], [16, -45, 0], [0, 3, 200]]}
recording:
  rate: 100
  signals:
    - {quantity: position, side: motor, channels: "m{n}", offset: [0, pi/2, 0.1]}
    - {quantity: velocity, side: motor, channels: "w{n}"}
    - {quantity: torque, side: motor, channels: "t{i}", scale: [1, -1, 2]}
)");
  Eigen::Matrix3d R;
  R << 32, 0, 0, 16, -45, 0, 0, 3, 200;
  const Recording raw =
      log("m1,m2,m3,w1,w2,w3,t0,t1,t2\n1,2,3,4,5,6,.1,.2,.3\n-1,0,2,9,8,7,1,2,3\n");
  const Recording mapped = mapRecording(model, {raw});
  for (Eigen::Index i = 0; i < 2; ++i) {
    const Eigen::Vector3d q = R.inverse() * raw.values.row(i).head<3>().transpose();
    const Eigen::Vector3d w = raw.values.row(i).segment<3>(3).transpose();
    Eigen::Vector3d t = raw.values.row(i).tail<3>().transpose();
    t = t.cwiseProduct(Eigen::Vector3d(1, -1, 2));
    EXPECT_NEAR(at(mapped, "q_a", i), q[0], kSignalDigits);
    EXPECT_NEAR(at(mapped, "q_b", i), q[1] + kPi / 2.0, kSignalDigits);
    EXPECT_NEAR(at(mapped, "q_lift", i), q[2] + 0.1, kSignalDigits);
    double power = 0.0;
    for (const std::string joint : {"a", "b", "lift"})
      power += at(mapped, "v_" + joint, i) * at(mapped, "tau_" + joint, i);
    EXPECT_NEAR(power, w.dot(t), kSignalDigits * std::abs(w.dot(t)) * 100.0);
  }
  EXPECT_EQ(mapped.time[1], 0.01);
  EXPECT_TRUE(contains(
      mapMessage(
          robot("transmission: {joints: [b, a], matrix: [[1, 0], [0, 1]]}\nrecording: "
                "{signals: [{quantity: position, side: motor, joints: [a, b], channels: [m1, "
                "m2]}]}\n"),
          {raw}),
      "expected these joints in this order"));
}

// Without a transmission the gear ratios of the drives do the same; currents times gains are
// torques, kept beside the currents, unless torques are recorded.
TEST(SignalMap, GearRatiosAndGains) {
  const std::string drives = R"(
joints:
  a: {drive: {gear_ratio: 100, gain: 2}}
  b: {drive: {gear_ratio: -50, gain: -3}}
)";
  const std::string common = R"(recording:
  signals:
    - {quantity: position, side: motor, joints: [a, b], channels: [x, y], unit: turn}
    - {quantity: current, joints: [a, b], channels: [i, j], unit: mA}
)";
  const Recording raw = log("t,x,y,i,j,k\n0,1,1,1000,2000,7\n");
  const Recording mapped = mapRecording(robot(drives + common), {raw});
  EXPECT_NEAR(at(mapped, "q_a", 0), 2.0 * kPi / 100.0, kSignalDigits);
  EXPECT_NEAR(at(mapped, "q_b", 0), -2.0 * kPi / 50.0, kSignalDigits);
  EXPECT_EQ(at(mapped, "i_a", 0), 1.0);
  EXPECT_EQ(at(mapped, "tau_a", 0), 2.0);
  EXPECT_EQ(at(mapped, "tau_b", 0), -6.0);
  const Recording both = mapRecording(
      robot(drives + common + "    - {quantity: torque, joints: [b], channels: k}\n"), {raw});
  EXPECT_EQ(at(both, "tau_b", 0), 7.0);
  EXPECT_EQ(at(both, "tau_a", 0), 2.0);
}

// A current without a declared gain is no torque, and that is told.
TEST(SignalMap, CurrentsWithoutGain) {
  const Recording raw = log("t,q1,q2,q3,i1_A,i2_A,i3_A\n0,1,2,3,4,5,6\n1,1,2,3,4,5,6\n");
  const Recording mapped = mapRecording(robot("joints: {b: {drive: {gain: 2}}}\n"), {raw});
  EXPECT_EQ(at(mapped, "i_a", 0), 4.0);
  EXPECT_EQ(at(mapped, "tau_b", 0), 10.0);
  EXPECT_EQ(mapped.column("tau_a"), -1);
  EXPECT_TRUE(std::any_of(mapped.notes.begin(), mapped.notes.end(), [](const std::string& note) {
    return contains(note, "the currents of a, lift are no torques without a gain");
  }));
}

// Of two topics with the same joints that is taken which also has the torques; joints that are
// spread over topics are put together where the stamps agree, else what is left out is told.
TEST(SignalMap, SeveralTopics) {
  const Recording first = log("time,q_a,q_b,q_lift\n0,1,1,1\n1,1,1,1\n", "plan.csv");
  const Recording second =
      log("time,q_a,q_b,q_lift,tau_a,tau_b,tau_lift\n0,2,2,2,5,6,7\n1,2,2,2,5,6,7\n", "arm.csv");
  EXPECT_EQ(at(mapRecording(robot(""), {first, second}), "q_a", 0), 2.0);
  EXPECT_EQ(at(mapRecording(robot(""), {second, first}), "q_a", 0), 2.0);
  const Recording arm = log("time,q_a,q_b,tau_a,tau_b\n0,1,2,3,4\n1,1,2,3,4\n", "arm.csv");
  const Recording lift = log("time,q_lift,tau_lift\n0,8,9\n1,8,9\n", "lift.csv");
  const Recording together = mapRecording(robot(""), {lift, arm});
  EXPECT_EQ(at(together, "q_b", 1), 2.0);
  EXPECT_EQ(at(together, "q_lift", 1), 8.0);
  EXPECT_EQ(at(together, "tau_lift", 1), 9.0);
  const Recording later = log("time,q_lift,tau_lift\n0.5,8,9\n1.5,8,9\n", "lift.csv");
  const Recording apart = mapRecording(robot(""), {later, arm});
  EXPECT_EQ(at(apart, "tau_b", 1), 4.0);
  EXPECT_EQ(apart.column("q_lift"), -1);
  EXPECT_TRUE(std::any_of(apart.notes.begin(), apart.notes.end(), [](const std::string& note) {
    return contains(note, "position of lift.csv has other time stamps and was left out");
  }));
}

// Channels can be given by name, number, pattern or array, or be all of a file in order.
TEST(SignalMap, WaysToNameChannels) {
  const auto q = [](const std::string& channels, const std::string& header) {
    const Model model =
        robot("recording: {signals: [{quantity: position, channels: " + channels + "}]}\n");
    const Recording mapped = mapRecording(model, {log(header + "\n1,2,3\n")});
    return Eigen::Vector3d(at(mapped, "q_a", 0), at(mapped, "q_b", 0), at(mapped, "q_lift", 0));
  };
  const Eigen::Vector3d expected(1, 2, 3);
  EXPECT_EQ(q("[x, y, z]", "x,y,z"), expected);
  EXPECT_EQ(q("[z, y, x]", "x,y,z"), Eigen::Vector3d(3, 2, 1));
  EXPECT_EQ(q("[1, 2, 3]", "x,y,z"), expected);
  EXPECT_EQ(q("\"{joint} pos\"", "a pos,b pos,lift pos"), expected);
  EXPECT_EQ(q("\"j{n}\"", "j1,j2,j3"), expected);
  EXPECT_EQ(q("p", "p[0],p[1],p[2]"), expected);
  const Model plain = robot("recording: {signals: [{quantity: position}]}\n");
  EXPECT_EQ(at(mapRecording(plain, {log("1,2,3\n")}), "q_b", 0), 2.0);
  EXPECT_TRUE(contains(mapMessage(plain, {log("1,2\n")}), "has 2 channels"));
  EXPECT_TRUE(contains(mapMessage(plain, {log("q_a,q_b,q_lft\n1,2,3\n")}),
                       "robot.yaml:8:23: signal position: log.csv has no position of joint 'lift'; "
                       "did you mean 'lft'?"))
      << mapMessage(plain, {log("q_a,q_b,q_lft\n1,2,3\n")});
  const Model named = robot("recording: {signals: [{quantity: position, channels: [x, y, z]}]}\n");
  EXPECT_TRUE(contains(mapMessage(named, {log("x,y,w\n1,2,3\n")}), "has no channel 'z'"));
  const Model two = robot("recording: {signals: [{quantity: position, channels: [x, y]}]}\n");
  EXPECT_TRUE(
      contains(mapMessage(two, {log("x,y,w\n1,2,3\n")}), "2 channels are named, expected 3"));
  // an array is looked for in every part of a log, and one that no part has is named
  const Model array = robot("recording: {signals: [{quantity: position, channels: y}]}\n");
  EXPECT_EQ(at(mapRecording(array, {log("u[0],u[1],u[2]\n7,8,9\n", "1"),
                                    log("y[0],y[1],y[2]\n1,2,3\n", "2")}),
               "q_b", 0),
            2.0);
  EXPECT_TRUE(contains(mapMessage(array, {log("u[0],u[1],u[2]\n7,8,9\n")}), "has no channel 'y'"));
  // names of arrays with the word of a part fit every part
  for (const char* channels : {"y_train", "[\"y_train[0]\", \"y_train[1]\", \"y_train[2]\"]"}) {
    Recording part = log("y[0],y[1],y[2]\n1,2,3\n");
    part.topic = "test";
    const Model parted = robot(
        fmt::format("recording: {{signals: [{{quantity: position, channels: {}}}]}}\n", channels));
    EXPECT_EQ(at(mapRecording(parted, {part}), "q_b", 0), 2.0) << channels;
  }
  EXPECT_TRUE(
      contains(mapMessage(array, {log("x,y,z\n1,2,3\n")}), "1 channels are named, expected 3"));
  EXPECT_TRUE(contains(mapMessage(named, {log("x,y,z\n1,2,3\n", "1"), log("x,y,z\n1,2,3\n", "2")}),
                       "both have it; choose by `file` or `topic`"));
}

// A unit that is unknown, of another kind, or against what the file states is refused.
TEST(SignalMap, Units) {
  const auto with = [](const std::string& unit) {
    return robot("recording: {signals: [{quantity: position, joints: [a], channels: x, unit: " +
                 unit + "}]}\n");
  };
  EXPECT_DOUBLE_EQ(at(mapRecording(with("deg"), {log("x\n180\n")}), "q_a", 0), kPi);
  EXPECT_DOUBLE_EQ(at(mapRecording(with("deg"), {log("x [deg]\n180\n")}), "q_a", 0), kPi);
  EXPECT_TRUE(contains(mapMessage(with("degs"), {log("x\n1\n")}), "unknown unit 'degs'"));
  EXPECT_TRUE(contains(mapMessage(with("mm"), {log("x\n1\n")}), "expected rad, mrad"));
  EXPECT_TRUE(contains(mapMessage(with("deg"), {log("x [rad]\n1\n")}),
                       "has the unit 'rad' in the file, but 'deg' is declared"));
  EXPECT_TRUE(contains(mapMessage(robot("recording: {signals: [{quantity: position, joints: [a], "
                                        "channels: x, scale: [1, 2]}]}\n"),
                                  {log("x\n1\n")}),
                       "scale has 2 numbers, expected 1 or 1"));
}

// Streams with the same stamps come together; others only as declared, and nothing is invented
// beyond the limit.
TEST(SignalMap, Join) {
  const std::string signals = R"(  signals:
    - {quantity: position, joints: [a], file: q.csv, channels: x}
    - {quantity: torque, joints: [a], file: t.csv, channels: x}
)";
  const Recording q = log("t,x\n0,1\n1,2\n2,3\n3,4\n", "dir/q.csv");
  const Recording same = log("t,x\n0,10\n1,20\n2,30\n3,40\n", "dir/t.csv");
  const Recording other = log("t,x\n0.25,10\n1.25,20\n2.5,30\n", "dir/t.csv");
  EXPECT_EQ(at(mapRecording(robot("recording:\n" + signals), {q, same}), "tau_a", 2), 30.0);
  const std::string message = mapMessage(robot("recording:\n" + signals), {q, other});
  EXPECT_TRUE(contains(message, "has other time stamps than dir/q.csv (3 and 4 samples)"))
      << message;
  EXPECT_TRUE(contains(message, "declare recording.join")) << message;

  const Recording nearest = mapRecording(
      robot("recording:\n  join: {method: nearest, limit: 0.3}\n" + signals), {q, other});
  EXPECT_EQ(at(nearest, "tau_a", 0), 10.0);
  EXPECT_EQ(at(nearest, "tau_a", 1), 20.0);
  EXPECT_TRUE(std::isnan(at(nearest, "tau_a", 2)));
  EXPECT_TRUE(std::isnan(at(nearest, "tau_a", 3)));
  EXPECT_TRUE(contains(nearest.notes.back(), "2 of 4 samples of torque have no partner"));
  const Recording linear = mapRecording(
      robot("recording:\n  join: {method: linear, limit: 0.8}\n" + signals), {q, other});
  EXPECT_TRUE(std::isnan(at(linear, "tau_a", 0)));
  EXPECT_NEAR(at(linear, "tau_a", 1), 17.5, kSignalDigits);
  EXPECT_NEAR(at(linear, "tau_a", 2), 20.0 + 10.0 * 0.75 / 1.25, kSignalDigits);
  EXPECT_TRUE(std::isnan(at(linear, "tau_a", 3)));
}

// A declared delay moves a signal by whole samples and cuts the rows that lose their partner; a
// fraction of a sample needs linear joining, which is exact on a straight line.
TEST(SignalMap, Delay) {
  std::string text = "t,x,y\n";
  for (int i = 0; i < 10; ++i)
    text += std::to_string(i) + "," + std::to_string(i) + "," + std::to_string(i * 10) + "\n";
  const auto with = [](const std::string& delay, const std::string& join = "") {
    return robot("recording:\n" + join +
                 "  signals:\n    - {quantity: position, joints: [a], channels: x}\n    - "
                 "{quantity: torque, joints: [a], channels: y, delay: " +
                 delay + "}\n");
  };
  const Recording late = mapRecording(with("3"), {log(text)});
  ASSERT_EQ(late.samples(), 7);
  for (Eigen::Index i = 0; i < 7; ++i)
    EXPECT_EQ(at(late, "tau_a", i), 10.0 * (at(late, "q_a", i) + 3.0));
  const Recording early = mapRecording(with("-2"), {log(text)});
  ASSERT_EQ(early.samples(), 8);
  EXPECT_EQ(early.time[0], 2.0);
  EXPECT_EQ(at(early, "tau_a", 0), 0.0);
  EXPECT_TRUE(contains(mapMessage(with("0.5"), {log(text)}), "expected a whole number of them"));
  const Recording half =
      mapRecording(with("0.5", "  join: {method: linear, limit: 1}\n"), {log(text)});
  EXPECT_NEAR(at(half, "tau_a", 4), 45.0, kSignalDigits);
}

// Time stamps from a file of their own, by channel, or by rate; rows count from 1.
TEST(SignalMap, TimeAndRows) {
  const std::string signal = "  signals: [{quantity: position, joints: [a], channels: x}]\n";
  const Recording file =
      mapRecording(robot("recording:\n  time: {file: t.txt, columns: 1, unit: ms}\n" + signal),
                   {log("x\n5\n6\n"), readValueListText("0\n8\n", "t.txt", 1)});
  EXPECT_DOUBLE_EQ(file.time[1], 0.008);
  EXPECT_TRUE(contains(mapMessage(robot("recording:\n  time: {file: t.txt}\n" + signal),
                                  {log("x\n5\n6\n"), readValueListText("0\n8\n9\n", "t.txt", 1)}),
                       "log.csv: has 2 samples, but there are 3 time stamps in t.txt"));
  const Recording channel =
      mapRecording(robot("recording:\n  time: {channel: clock, unit: us}\n" + signal),
                   {log("clock,x\n0,1\n500,2\n")});
  EXPECT_DOUBLE_EQ(channel.time[1], 500e-6);
  const Recording rows = mapRecording(robot("recording:\n  rate: 10\n  rows: [2, 3]\n" + signal),
                                      {log("x\n5\n6\n7\n8\n")});
  ASSERT_EQ(rows.samples(), 2);
  EXPECT_EQ(at(rows, "q_a", 0), 6.0);
  EXPECT_DOUBLE_EQ(rows.time[0], 0.1);
  EXPECT_TRUE(contains(mapMessage(robot("recording:\n  rows: [2, 9]\n" + signal), {log("x\n5\n")}),
                       "rows end at 9, but the log has 1 samples"));
  const Recording none = mapRecording(robot("recording:\n" + signal), {log("x\n5\n6\n")});
  EXPECT_EQ(none.time.size(), 0);
  EXPECT_TRUE(none.notes.empty());  // the quality of a recording tells it
  // a declared unit counts, whatever the file states
  const Recording stated = mapRecording(robot("recording:\n  time: {unit: ms}\n" + signal),
                                        {log("time [s],x\n0,5\n8,6\n")});
  EXPECT_DOUBLE_EQ(stated.time[1], 0.008);
}

// Wrenches and the parts of an IMU belong to declared sensors of the right kind.
TEST(SignalMap, Sensors) {
  const std::string sensors = R"(
sensors:
  - {name: head, type: imu, link: link_2}
recording:
  signals:
    - {quantity: linear_acceleration, sensor: head, channels: [x, y, z], unit: g}
    - {quantity: angular_velocity, sensor: head.gyroscope, channels: [x, y, z], unit: deg/s}
)";
  const Recording mapped = mapRecording(robot(sensors), {log("x,y,z\n1,0,180\n")});
  EXPECT_DOUBLE_EQ(at(mapped, "acc_head.accelerometer_x", 0), 9.80665);
  EXPECT_DOUBLE_EQ(at(mapped, "gyro_head.gyroscope_z", 0), kPi);
  EXPECT_EQ(mapped.channels[2].component, "z");
  EXPECT_TRUE(contains(mapMessage(robot(R"(
sensors: [{name: head, type: gyroscope, link: link_2}]
recording: {signals: [{quantity: wrench, sensor: head}]}
)"),
                                  {log("x,y,z\n1,0,180\n")}),
                       "sensor 'head' is not of type force_torque"));
}

// An IMU that the log names as a whole, as messages do, gives its parts; the cells of a skin belong
// to it, one or several; what only a simulator knows is told apart from what was not understood.
TEST(SignalMap, SensorsByTheirNames) {
  const Model model = robot(R"(
sensors:
  - {name: head, type: imu, link: link_2}
  - {name: shaft, type: joint_torque, joint: a}
  - {name: tip, type: skin, link: link_2, cells: [[0, 0, 1, 0, 0, 1]]}
  - {name: palm, type: skin, link: link_2, cells: [[0, 0, 1, 0, 0, 1], [0, 0, 2, 0, 0, 1]]}
)");
  const Recording mapped = mapRecording(
      model, {log("time,q_a,acc_head_x,acc_head_y,acc_head_z,gyro_head_x,gyro_head_y,gyro_head_z,"
                  "contact_tip_1,contact_palm_1,contact_palm_2,friction_true_a,motor_true_b,junk,"
                  "tau_shaft\n0,1,2,3,4,5,6,7,8,9,10,11,12,13,14\n")});
  EXPECT_EQ(at(mapped, "acc_head.accelerometer_y", 0), 3.0);
  EXPECT_EQ(at(mapped, "gyro_head.gyroscope_z", 0), 7.0);
  EXPECT_EQ(at(mapped, "contact_tip_1", 0), 8.0);
  EXPECT_EQ(at(mapped, "contact_palm_2", 0), 10.0);
  std::string notes;
  for (const std::string& note : mapped.notes) notes += note + "\n";
  EXPECT_TRUE(contains(notes, "friction_true_a, motor_true_b are truth")) << notes;
  EXPECT_TRUE(contains(notes, "1 of 14 channels were left out: junk")) << notes;
  EXPECT_TRUE(contains(notes, "of a joint are not used: shaft")) << notes;
  EXPECT_FALSE(contains(notes, "does not have")) << notes;
}

// A log that was mapped and written maps to itself, also through a robot that declares motor-side
// files: ratios are not applied twice.
TEST(SignalMap, MappedLogsStayTheSame) {
  const Model model = robot(R"(
joints: {a: {drive: {gear_ratio: 100}}, b: {drive: {gear_ratio: 50}}, lift: {drive: {gear_ratio: 7}}}
recording:
  rate: 10
  rows: [2, 3]
  signals: [{quantity: position, side: motor, file: "m*.csv", offset: 1}]
)");
  const Recording once = mapRecording(model, {log("1,2,3\n4,5,6\n7,8,9\n", "m1.csv")});
  const Recording twice = mapRecording(model, {log(csvText(once), "again.csv")});
  EXPECT_EQ(twice.values, once.values);
  EXPECT_EQ(twice.time, once.time);
}

// Runs that an archive counts become parts of one log that begin at the same time, in their order;
// arms do not, and one that lacks a channel stays apart.
TEST(RobotLog, NumberedRuns) {
  const testing::TempFolder folder;
  const Model robot =
      readRobot(std::string(PROPRIO_SOURCE_DIR) + "/examples/robots/planar_2r.yaml");
  const auto run = [](const std::string& topic, double start, double value) {
    Recording r;
    r.topic = topic;
    r.time = Eigen::VectorXd::LinSpaced(20, start, start + 1.9);
    r.values = Eigen::MatrixXd::Constant(20, 2, value);
    for (const char* name : {"q[0]", "q[1]"}) r.channels.push_back(channelNamed(name));
    return r;
  };
  writeRecordings({run("run_10/log", 7.0, 3.0), run("run_2/log", 5.0, 2.0)}, folder.file("a.npz"));
  const Recording mapped = readRobotRecording(robot, folder.file("a.npz"));
  const std::vector<Recording> parts = splitAtRestarts(mapped);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].values(0, 0), 2.0);
  EXPECT_EQ(parts[1].values(19, 1), 3.0);
  EXPECT_EQ(parts[1].time[0], 5.0);
  EXPECT_NEAR(parts[1].time[19], 6.9, 1e-12);
  writeRecordings({run("arm_1", 5.0, 2.0), run("arm_2", 7.0, 3.0)}, folder.file("b.npz"));
  EXPECT_EQ(readRobotRecording(robot, folder.file("b.npz")).samples(), 20);
  Recording other = run("run_2", 7.0, 3.0);
  other.channels[1].name = "x";
  writeRecordings({run("run_1", 5.0, 2.0), other}, folder.file("c.npz"));
  EXPECT_EQ(readRobotRecording(robot, folder.file("c.npz")).samples(), 20);
}

// A folder is read through the files that the signals name, and so is one of these files.
TEST(RobotLog, FolderAndSiblings) {
  const testing::TempFolder own;
  const fs::path& folder = own.path();
  writeFileAtomically(folder / "q_1.csv", "x\n1\n2\n");
  writeFileAtomically(folder / "tau.txt", "5\n6\n");
  const Model model = robot(R"(
recording:
  rate: 1
  signals:
    - {quantity: position, joints: [a], file: "q_*.csv", channels: x}
    - {quantity: torque, joints: [a], file: tau.txt, columns: 1}
)");
  for (const fs::path& path : {folder, folder / "q_1.csv", folder / "tau.txt"}) {
    const Recording mapped = readRobotRecording(model, path);
    EXPECT_EQ(at(mapped, "q_a", 1), 2.0);
    EXPECT_EQ(at(mapped, "tau_a", 1), 6.0);
  }
  writeFileAtomically(folder / "q_2.csv", "x\n3\n4\n");
  EXPECT_EQ(at(readRobotRecording(model, folder / "q_2.csv"), "q_a", 1), 4.0);
  const auto message = [&](const Model& m, const fs::path& path) {
    try {
      readRobotRecording(m, path);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_TRUE(contains(message(model, folder), "has several files 'q_*.csv'"));
  EXPECT_TRUE(contains(message(robot(""), folder), "is a folder"));
  fs::remove(folder / "tau.txt");
  EXPECT_TRUE(contains(message(model, folder / "q_1.csv"), "has no file 'tau.txt'"));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace proprio
