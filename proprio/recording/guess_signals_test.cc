/// Names that vendors and laboratories give to channels, mapped without a declaration.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "proprio/core/error.h"
#include "proprio/model/robot_reader.h"
#include "proprio/model/urdf_reader.h"
#include "proprio/recording/csv.h"
#include "proprio/recording/guess_signals_internal.h"
#include "proprio/recording/signal_map.h"

namespace proprio {
namespace {

using Names = std::vector<std::string>;

/// A robot of revolute joints with these names.
Model robotWith(const Names& joints) {
  std::string text = "version: 1\ndh:\n  convention: modified\n  joints:\n";
  for (const std::string& joint : joints) text += fmt::format("    - {{name: {}, a: 1}}\n", joint);
  return readRobotYamlText(text, "robot.yaml");
}

const Names kUrJoints = {"shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint"};
const Names kNumberedJoints = {"joint_1", "joint_2", "joint_3", "joint_4", "joint_5", "joint_6"};

/// Channel k has the value k (from 1) in each of two rows.
Recording namedLog(const Names& names) {
  std::string head = "time", row;
  for (size_t k = 0; k < names.size(); ++k) {
    head += "," + names[k];
    row += fmt::format(",{}", k + 1);
  }
  return readCsvRecordingText(head + "\n0" + row + "\n1" + row + "\n", "log.csv");
}

double channelValue(const Recording& recording, const std::string& name) {
  const int column = recording.column(name);
  EXPECT_GE(column, 0) << name;
  return column < 0 ? std::nan("") : recording.values(0, column);
}

std::string refusalOf(const Names& joints, const Names& names) {
  try {
    mapRecording(robotWith(joints), {namedLog(names)});
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool containsText(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Names without `joint`, in capitals, with a message's path: each finds its joint, in any order.
TEST(GuessSignals, ShortenedJointNames) {
  for (const Names& names :
       {Names{"pos_elbow", "pos_shoulder_pan", "pos_shoulder_lift", "trq_elbow", "trq_shoulder_pan",
              "trq_shoulder_lift"},
        Names{"POSITION_ELBOW_JOINT", "POSITION_SHOULDER_PAN_JOINT", "POSITION_SHOULDER_LIFT_JOINT",
              "EFFORT_ELBOW_JOINT", "EFFORT_SHOULDER_PAN_JOINT", "EFFORT_SHOULDER_LIFT_JOINT"},
        Names{"/joint_states/position.elbow_joint", "/joint_states/position.shoulder_pan_joint",
              "/joint_states/position.shoulder_lift_joint", "/joint_states/effort.elbow_joint",
              "/joint_states/effort.shoulder_pan_joint",
              "/joint_states/effort.shoulder_lift_joint"}}) {
    const Recording mapped = mapRecording(robotWith(kUrJoints), {namedLog(names)});
    EXPECT_EQ(channelValue(mapped, "q_elbow_joint"), 1.0) << names[0];
    EXPECT_EQ(channelValue(mapped, "q_shoulder_lift_joint"), 3.0);
    EXPECT_EQ(channelValue(mapped, "tau_shoulder_pan_joint"), 5.0);
    ASSERT_EQ(mapped.notes.size(), 1u);
  }
}

// A log of some joints is mapped as far as it goes, and numbers are those in the joints' names.
TEST(GuessSignals, SomeJoints) {
  const Recording by_number =
      mapRecording(robotWith(kNumberedJoints), {namedLog({"q2", "q5", "tau2", "tau5"})});
  EXPECT_EQ(by_number.channels.size(), 4u);
  EXPECT_EQ(channelValue(by_number, "q_joint_5"), 2.0);
  EXPECT_EQ(channelValue(by_number, "tau_joint_2"), 3.0);
  EXPECT_TRUE(containsText(by_number.notes.at(0), "for joint_2 joint_5 in this order"));
  const Recording by_name =
      mapRecording(robotWith(kUrJoints), {namedLog({"elbow pos", "elbow torque"})});
  EXPECT_EQ(channelValue(by_name, "tau_elbow_joint"), 2.0);
  // from 0 they are no such numbers: the robot's order counts, and more than half are needed
  const Recording from_0 =
      mapRecording(robotWith(kNumberedJoints), {namedLog({"q_0", "q_1", "q_2", "q_3"})});
  EXPECT_EQ(channelValue(from_0, "q_joint_1"), 1.0);
  EXPECT_TRUE(containsText(refusalOf(kUrJoints, {"q1", "x", "y"}), "nothing in it names a joint"));
  // of another robot
  EXPECT_NE(refusalOf(kUrJoints, {"q1", "q2", "q3", "q4"}), "");
}

// Logs of common robots and tools: what is measured, what commanded, and what is neither.
TEST(GuessSignals, VendorNames) {
  const Names panda = {"panda_joint1", "panda_joint2"};
  const Recording franka = mapRecording(
      robotWith(panda),
      {namedLog({"q_0", "q_1", "q_d_0", "q_d_1", "dq_0", "dq_1", "tau_J_0", "tau_J_1", "tau_J_d_0",
                 "tau_J_d_1", "tau_ext_hat_filtered_0", "tau_ext_hat_filtered_1"})});
  EXPECT_EQ(channelValue(franka, "q_panda_joint2"), 2.0);
  EXPECT_EQ(channelValue(franka, "q_des_panda_joint2"), 4.0);
  EXPECT_EQ(channelValue(franka, "v_panda_joint2"), 6.0);
  EXPECT_EQ(channelValue(franka, "tau_panda_joint2"), 8.0);
  EXPECT_EQ(channelValue(franka, "tau_des_panda_joint2"), 10.0);
  const Recording ur =
      mapRecording(robotWith(kUrJoints),
                   {namedLog({"target_q_0", "target_q_1", "target_q_2", "actual_q_0", "actual_q_1",
                              "actual_q_2", "actual_current_0", "actual_current_1",
                              "actual_current_2", "target_moment_0", "target_moment_1",
                              "target_moment_2", "joint_mode_0", "joint_mode_1", "joint_mode_2"})});
  EXPECT_EQ(channelValue(ur, "q_des_elbow_joint"), 3.0);
  EXPECT_EQ(channelValue(ur, "q_elbow_joint"), 6.0);
  EXPECT_EQ(channelValue(ur, "i_elbow_joint"), 9.0);
  EXPECT_EQ(channelValue(ur, "tau_des_elbow_joint"), 12.0);
  const Recording kuka =
      mapRecording(robotWith({"joint_a1", "joint_a2"}),
                   {namedLog({"AxisPos_A1", "AxisPos_A2", "AxisTorque_A1", "AxisTorque_A2",
                              "AxisPosDes_A1", "AxisPosDes_A2"})});
  EXPECT_EQ(channelValue(kuka, "q_joint_a2"), 2.0);
  EXPECT_EQ(channelValue(kuka, "tau_joint_a1"), 3.0);
  EXPECT_EQ(channelValue(kuka, "q_des_joint_a1"), 5.0);
  const Recording measured = mapRecording(
      robotWith(panda), {namedLog({"q_m_1", "q_m_2", "q_dot_1", "q_dot_2", "tau_m_1", "tau_m_2"})});
  EXPECT_EQ(channelValue(measured, "q_panda_joint1"), 1.0);
  EXPECT_EQ(channelValue(measured, "v_panda_joint2"), 4.0);
}

// KUKA's system variables: axes in degrees however small the motion, torques in N m; speeds are in
// percent of the motor's, which is no velocity.
TEST(GuessSignals, SystemVariablesOfKuka) {
  const Model robot = robotWith({"joint_a1", "joint_a2"});
  for (const Names& names :
       {Names{"$AXIS_ACT[1]", "$AXIS_ACT[2]", "$TORQUE_AXIS_ACT[1]", "$TORQUE_AXIS_ACT[2]",
              "$VEL_AXIS_ACT[1]", "$VEL_AXIS_ACT[2]"},
        Names{"$AXIS_ACT.A1", "$AXIS_ACT.A2", "$TORQUE_AXIS_ACT.A1", "$TORQUE_AXIS_ACT.A2"},
        Names{"$AXIS_ACT_MEAS.A1", "$AXIS_ACT_MEAS.A2", "$TORQUE_AXIS[1]", "$TORQUE_AXIS[2]"}}) {
    const Recording log = mapRecording(robot, {namedLog(names)});
    EXPECT_DOUBLE_EQ(channelValue(log, "q_joint_a2"), 2.0 * M_PI / 180.0) << names[0];
    EXPECT_EQ(channelValue(log, "tau_joint_a1"), 3.0) << names[0];
    EXPECT_EQ(log.column("v_joint_a1"), -1) << names[0];
  }
  const Recording plain =
      mapRecording(robot, {namedLog({"AXIS_ACT.A1", "AXIS_ACT.A2", "AXIS_DES.A1", "AXIS_DES.A2"})});
  EXPECT_EQ(channelValue(plain, "q_joint_a1"), 1.0);
  EXPECT_EQ(channelValue(plain, "q_des_joint_a2"), 4.0);
}

// Units in names are honoured; where no word says the quantity, the unit does, unless two groups
// would fit; columns called like the joints and nothing else are positions.
TEST(GuessSignals, UnitsAndBareNames) {
  const Recording named = mapRecording(
      robotWith(kUrJoints), {namedLog({"q1_deg", "q2_deg", "q3_deg", "dq1_deg_s", "dq2_deg_s",
                                       "dq3_deg_s", "tau1_Nm", "tau2_Nm", "tau3_Nm"})});
  constexpr double kDegree = 3.14159265358979323846 / 180.0;
  EXPECT_DOUBLE_EQ(channelValue(named, "q_shoulder_lift_joint"), 2.0 * kDegree);
  EXPECT_DOUBLE_EQ(channelValue(named, "v_shoulder_lift_joint"), 5.0 * kDegree);
  EXPECT_EQ(channelValue(named, "tau_shoulder_lift_joint"), 8.0);
  EXPECT_TRUE(containsText(named.notes.at(0), "q1_deg q2_deg q3_deg in deg")) << named.notes[0];
  const Recording by_unit = mapRecording(
      robotWith(kUrJoints),
      {namedLog({"J1 [deg]", "J2 [deg]", "J3 [deg]", "T1 [Nm]", "T2 [Nm]", "T3 [Nm]"})});
  EXPECT_DOUBLE_EQ(channelValue(by_unit, "q_elbow_joint"), 3.0 * kDegree);
  EXPECT_EQ(channelValue(by_unit, "tau_elbow_joint"), 6.0);
  const Recording two =
      mapRecording(robotWith(kUrJoints), {namedLog({"q1", "q2", "q3", "T1 [Nm]", "T2 [Nm]",
                                                    "T3 [Nm]", "S1 [Nm]", "S2 [Nm]", "S3 [Nm]"})});
  EXPECT_EQ(two.column("tau_elbow_joint"), -1);
  const Recording bare =
      mapRecording(robotWith({"joint_a1", "joint_a2"}), {namedLog({"A1", "A2", "tau1", "tau2"})});
  EXPECT_EQ(channelValue(bare, "q_joint_a2"), 2.0);
  EXPECT_NE(refusalOf(kUrJoints, {"1", "2", "3"}), "");
  EXPECT_NE(refusalOf(kUrJoints, {"state_1", "state_2", "state_3"}), "");
}

// The m of mA and mNm belongs to the unit: measured amperes would be a thousand times as much.
TEST(GuessSignals, SmallUnitsInNames) {
  const Recording log = mapRecording(
      robotWith(kUrJoints), {namedLog({"q1_mrad", "q2_mrad", "q3_mrad", "i1_mA", "i2_mA", "i3_mA",
                                       "tau1_mNm", "tau2_mNm", "tau3_mNm"})});
  EXPECT_DOUBLE_EQ(channelValue(log, "q_shoulder_lift_joint"), 2e-3);
  EXPECT_DOUBLE_EQ(channelValue(log, "i_shoulder_lift_joint"), 5e-3);
  EXPECT_DOUBLE_EQ(channelValue(log, "tau_shoulder_lift_joint"), 8e-3);
  const Recording measured =
      mapRecording(robotWith(kUrJoints),
                   {namedLog({"q_1", "q_2", "q_3", "tau_m_1_Nm", "tau_m_2_Nm", "tau_m_3_Nm"})});
  EXPECT_EQ(channelValue(measured, "tau_elbow_joint"), 6.0);
}

// Torques in percent of what the motor can are no torques; "%time" is a name.
TEST(GuessSignals, Percentages) {
  const Recording log = mapRecording(
      robotWith(kUrJoints),
      {namedLog({"Position A1", "Position A2", "Position A3", "Torque A1 [%]", "Torque A2 [%]",
                 "Torque A3 [%]", "%velocity1", "%velocity2", "%velocity3"})});
  EXPECT_EQ(channelValue(log, "q_elbow_joint"), 3.0);
  EXPECT_EQ(log.column("tau_elbow_joint"), -1);
  EXPECT_EQ(channelValue(log, "v_elbow_joint"), 9.0);
}

// Degrees of freedom, as simulators of legged robots call joints; derivatives of theta; what a
// controller of an industrial robot planned and fed back.
TEST(GuessSignals, OtherWords) {
  const Recording legs =
      mapRecording(robotWith(kUrJoints),
                   {namedLog({"dof_pos[0]", "dof_pos[1]", "dof_pos[2]", "dof_vel[0]", "dof_vel[1]",
                              "dof_vel[2]", "dof_torques[0]", "dof_torques[1]", "dof_torques[2]",
                              "des_dof_pos[0]", "des_dof_pos[1]", "des_dof_pos[2]"})});
  EXPECT_EQ(channelValue(legs, "q_elbow_joint"), 3.0);
  EXPECT_EQ(channelValue(legs, "v_elbow_joint"), 6.0);
  EXPECT_EQ(channelValue(legs, "tau_elbow_joint"), 9.0);
  EXPECT_EQ(channelValue(legs, "q_des_elbow_joint"), 12.0);
  const Recording joined =
      mapRecording(robotWith({"joint_1", "joint_2"}),
                   {namedLog({"jpos1", "jpos2", "jvel1", "jvel2", "jtau1", "jtau2"})});
  EXPECT_EQ(channelValue(joined, "v_joint_2"), 4.0);
  EXPECT_EQ(channelValue(joined, "tau_joint_2"), 6.0);
  const Recording theta = mapRecording(
      robotWith({"joint_1", "joint_2"}),
      {namedLog({"theta_1", "theta_2", "theta_dot_1", "theta_dot_2", "thetaddot1", "thetaddot2"})});
  EXPECT_EQ(channelValue(theta, "q_joint_2"), 2.0);
  EXPECT_EQ(channelValue(theta, "v_joint_2"), 4.0);
  EXPECT_EQ(channelValue(theta, "a_joint_2"), 6.0);
  const Recording egm = mapRecording(
      robotWith({"joint_1", "joint_2"}),
      {namedLog({"feedback_joint_1", "feedback_joint_2", "planned_joint_1", "planned_joint_2"})});
  EXPECT_EQ(channelValue(egm, "q_joint_2"), 2.0);
  EXPECT_EQ(channelValue(egm, "q_des_joint_2"), 4.0);
}

// What a model predicts is no measured torque because it is the only one; measured torques come
// before estimated ones, which are taken alone.
TEST(GuessSignals, PredictedAndEstimated) {
  const Recording predicted =
      mapRecording(robotWith(kUrJoints),
                   {namedLog({"q1", "q2", "q3", "tau_pred_1", "tau_pred_2", "tau_pred_3"})});
  EXPECT_EQ(predicted.column("tau_elbow_joint"), -1);
  const Recording both = mapRecording(
      robotWith(kUrJoints), {namedLog({"q1", "q2", "q3", "tau_est_1", "tau_est_2", "tau_est_3",
                                       "tau_meas_1", "tau_meas_2", "tau_meas_3"})});
  EXPECT_EQ(channelValue(both, "tau_elbow_joint"), 9.0);
  const Recording estimated = mapRecording(
      robotWith(kUrJoints), {namedLog({"q1", "q2", "q3", "tau_est_1", "tau_est_2", "tau_est_3"})});
  EXPECT_EQ(channelValue(estimated, "tau_elbow_joint"), 6.0);
}

// A list of names in the log decides, whatever the order of the columns.
TEST(GuessSignals, ListedJoints) {
  Recording log =
      namedLog({"position0", "position1", "position2", "effort0", "effort1", "effort2"});
  for (size_t k = 0; k < 6; ++k)
    log.channels[k].of = Names{"gripper", "elbow_joint", "shoulder_pan_joint"}[k % 3];
  const Recording mapped = mapRecording(robotWith(kUrJoints), {log});
  EXPECT_EQ(channelValue(mapped, "q_elbow_joint"), 2.0);
  EXPECT_EQ(channelValue(mapped, "tau_shoulder_pan_joint"), 6.0);
  EXPECT_EQ(mapped.column("q_shoulder_lift_joint"), -1);
}

// Where nothing fits, the message has the channels, the joints and lines for robot.yaml, which
// work once corrected.
TEST(GuessSignals, RefusalHelps) {
  const Names names = {"x[0]", "x[1]", "x[2]", "y[0]", "y[1]", "y[2]", "mode"};
  const std::string message = refusalOf(kUrJoints, names);
  EXPECT_TRUE(containsText(message,
                           "channels found: log.csv (2 samples): x[0] to x[2] (3), y[0] to "
                           "y[2] (3), mode"))
      << message;
  EXPECT_TRUE(containsText(message, "joints wanted: shoulder_pan_joint, shoulder_lift_joint"));
  const size_t lines = message.find("recording:\n");
  ASSERT_NE(lines, std::string::npos) << message;
  std::string text = "version: 1\ndh:\n  convention: modified\n  joints:\n";
  for (const std::string& joint : kUrJoints)
    text += fmt::format("    - {{name: {}, a: 1}}\n", joint);
  const Model declared = readRobotYamlText(text + message.substr(lines) + "\n", "robot.yaml");
  const Recording mapped = mapRecording(declared, {namedLog(names)});
  EXPECT_EQ(channelValue(mapped, "q_elbow_joint"), 3.0);
  EXPECT_EQ(channelValue(mapped, "tau_shoulder_pan_joint"), 4.0);
}

// What the reader could not use is told beside, and what to do with a table of one row per joint.
TEST(GuessSignals, RefusalOfOneRowPerJoint) {
  const Recording tidy = readCsvRecordingText(
      "time,joint,position,effort\n0,a,1,2\n0,b,3,4\n1,a,1,2\n1,b,3,4\n", "log.csv");
  std::string message;
  try {
    mapRecording(robotWith({"a", "b"}), {tidy});
  } catch (const Error& error) {
    message = error.what();
  }
  EXPECT_TRUE(containsText(message, "note: a column with text was left out: 'joint'")) << message;
  EXPECT_TRUE(containsText(message, "give every joint columns of its own first")) << message;
}

// Of a table without names the lines propose the time, positions and torques.
TEST(GuessSignals, RefusalOfTablesWithoutNames) {
  std::string table;
  for (int i = 0; i < 20; ++i) table += fmt::format("{} 1 2 3 4 5 6\n", 0.1 * i);
  const Recording log = readCsvRecordingText(table, "log.txt");
  std::string message;
  try {
    mapRecording(robotWith(kUrJoints), {log});
  } catch (const Error& error) {
    message = error.what();
  }
  std::string text = "version: 1\ndh:\n  convention: modified\n  joints:\n";
  for (const std::string& joint : kUrJoints)
    text += fmt::format("    - {{name: {}, a: 1}}\n", joint);
  const size_t lines = message.find("recording:\n");
  ASSERT_NE(lines, std::string::npos) << message;
  const Recording mapped =
      mapRecording(readRobotYamlText(text + message.substr(lines) + "\n", "robot.yaml"), {log});
  EXPECT_DOUBLE_EQ(mapped.time[3], 0.3);
  EXPECT_EQ(channelValue(mapped, "q_elbow_joint"), 3.0);
  EXPECT_EQ(channelValue(mapped, "tau_shoulder_pan_joint"), 4.0);
}

// Of one array with four columns per joint the lines propose positions, velocities, accelerations
// and torques, in this order.
TEST(GuessSignals, RefusalOfOneArray) {
  std::vector<std::string> names;
  for (int k = 0; k < 12; ++k) names.push_back(fmt::format("x[{}]", k));
  const std::string message = refusalOf(kUrJoints, names);
  for (const char* line :
       {"quantity: position, unit: rad, channels: [\"x[0]\", \"x[1]\", \"x[2]\"]",
        "quantity: velocity, unit: rad/s, channels: [\"x[3]\", \"x[4]\", \"x[5]\"]",
        "quantity: acceleration, unit: rad/s^2, channels: [\"x[6]\", \"x[7]\", \"x[8]\"]",
        "quantity: torque, unit: N m, channels: [\"x[9]\", \"x[10]\", \"x[11]\"]"})
    EXPECT_TRUE(containsText(message, line)) << message;
}

// Positions that state no unit are degrees if they leave the limits as radians and keep them as
// degrees, with velocities that are their derivative; otherwise they stay.
TEST(GuessSignals, DegreesByLimits) {
  Model robot = robotWith(kUrJoints);
  for (Joint& joint : robot.joints) {
    joint.limits.lower = -3.0;
    joint.limits.upper = 3.0;
  }
  const auto log_of = [](double amplitude, double rate, const std::string& head) {
    std::string text = head + "\n";
    for (int i = 0; i < 500; ++i) {
      const double t = 0.01 * i, q = amplitude * std::sin(t), v = rate * std::cos(t);
      text += fmt::format("{},{},{},{},{},{},{}\n", t, q, q, q, v, v, v);
    }
    return readCsvRecordingText(text, "log.csv");
  };
  constexpr double kRadian = 180.0 / 3.14159265358979323846;
  const std::string head = "t,q1,q2,q3,dq1,dq2,dq3";
  const Recording degrees = mapRecording(robot, {log_of(kRadian, kRadian, head)});
  EXPECT_NEAR(degrees.values.col(degrees.column("q_elbow_joint")).maxCoeff(), 1.0, 1e-4);
  EXPECT_NEAR(degrees.values.col(degrees.column("v_elbow_joint")).maxCoeff(), 1.0, 1e-4);
  EXPECT_TRUE(containsText(degrees.notes.back(), "read as deg; velocities"))
      << degrees.notes.back();
  Recording unsigned_log = log_of(kRadian, kRadian, head);  // 0 ... 360 degrees
  for (double& q : unsigned_log.values.leftCols(3).reshaped()) q += q < 0.0 ? 360.0 : 0.0;
  const Recording turned = mapRecording(robot, {unsigned_log});
  EXPECT_NEAR(turned.values.col(turned.column("q_elbow_joint")).maxCoeff(), 6.283, 0.02);
  EXPECT_NEAR(turned.values.col(turned.column("v_elbow_joint")).maxCoeff(), 1.0, 1e-4);
  const Recording rpm = mapRecording(robot, {log_of(kRadian, kRadian / 6.0, head)});
  EXPECT_NEAR(rpm.values.col(rpm.column("q_elbow_joint")).maxCoeff(), 1.0, 1e-4);
  EXPECT_NEAR(rpm.values.col(rpm.column("v_elbow_joint")).maxCoeff(), kRadian / 6.0, 1e-4);
  for (const Recording& log : {log_of(2.9, 2.9, head), log_of(1000.0, 1000.0, head),
                               log_of(kRadian, kRadian, "t,q1 [rad],q2 [rad],q3 [rad],a,b,c")}) {
    const Recording mapped = mapRecording(robot, {log});
    EXPECT_EQ(mapped.values.col(0).maxCoeff(), log.values.col(0).maxCoeff());
  }
}

// Of several numbers in a name the one that varies is the joint's; capital A with a number is an
// axis.
TEST(GuessSignals, NumbersInNames) {
  for (const Names& names :
       {Names{"q_1_1", "q_2_1", "q_3_1", "tau_1_1", "tau_2_1", "tau_3_1"},
        Names{"robot0_q_0", "robot0_q_1", "robot0_q_2", "robot0_tau_0", "robot0_tau_1",
              "robot0_tau_2"},
        Names{"A1 pos", "A2 pos", "A3 pos", "A1 torque", "A2 torque", "A3 torque"},
        Names{"A1", "A2", "A3", "M_A1 [Nm]", "M_A2 [Nm]", "M_A3 [Nm]"}}) {
    const Recording mapped = mapRecording(robotWith(kUrJoints), {namedLog(names)});
    EXPECT_EQ(channelValue(mapped, "q_elbow_joint"), 3.0) << names[0];
    EXPECT_EQ(channelValue(mapped, "tau_shoulder_lift_joint"), 5.0) << names[0];
  }
  const Recording small =
      mapRecording(robotWith(kUrJoints), {namedLog({"q1", "q2", "q3", "a1", "a2", "a3"})});
  EXPECT_EQ(channelValue(small, "a_elbow_joint"), 6.0);
}

// The group of an archive says what its values are, as Simulink saves signals.
TEST(GuessSignals, GroupsOfArchives) {
  Recording q = namedLog({"signals.values[0]", "signals.values[1]", "signals.values[2]"}), tau = q;
  q.topic = "q_meas";
  tau.topic = "tau";
  tau.values.array() += 10.0;
  const Recording mapped = mapRecording(robotWith(kUrJoints), {tau, q});
  EXPECT_EQ(channelValue(mapped, "q_elbow_joint"), 3.0);
  EXPECT_EQ(channelValue(mapped, "tau_elbow_joint"), 13.0);
}

// Whole time stamps in steps of 1 and more are no seconds, unless velocities say so.
TEST(GuessSignals, ClocksWithoutUnit) {
  const auto mapped = [](double step, double velocity) {
    std::string text = "time,q1,q2,q3,dq1,dq2,dq3\n";
    for (int i = 0; i < 200; ++i) {
      const double q = std::sin(0.02 * i), v = velocity * std::cos(0.02 * i);
      text += fmt::format("{},{},{},{},{},{},{}\n", step * i, q, q, q, v, v, v);
    }
    return mapRecording(robotWith(kUrJoints), {readCsvRecordingText(text, "log.csv")});
  };
  // 4 ms per sample: dq/dt = 0.02 / 0.004
  EXPECT_DOUBLE_EQ(mapped(4.0, 5.0).time[100], 0.4);
  EXPECT_TRUE(containsText(mapped(4.0, 5.0).notes.at(1), "read as ms"));
  EXPECT_DOUBLE_EQ(mapped(4000.0, 5.0).time[100], 0.4);
  EXPECT_EQ(mapped(4.0, 0.005).time[100], 400.0);  // a very slow robot
  EXPECT_DOUBLE_EQ(mapped(0.004, 5.0).time[100], 0.4);
}

/// 200 rows of a motion at 1 kHz under our own names, with these time stamps and velocities (rad/s,
/// unless empty).
Recording stampedLog(const std::string& time, double step, double velocity) {
  std::string text = time + ",q_elbow_joint [rad]";
  if (velocity > 0.0) text += ",v_elbow_joint [rad/s]";
  for (int i = 0; i < 200; ++i) {
    text += fmt::format("\n{},{}", step * i, std::sin(0.002 * i));
    if (velocity > 0.0) text += fmt::format(",{}", velocity * std::cos(0.002 * i));
  }
  return readCsvRecordingText(text + "\n", "log.csv");
}

// Stamps in ms or ns are read so, under our own names too, if the speeds are those of a joint then;
// recorded velocities prove it or its contrary. What the file states is never changed without a
// word: a contradiction is refused, and a declared unit decides it.
TEST(GuessSignals, ClocksThatCallThemselvesSeconds) {
  const Model robot = robotWith(kUrJoints);
  EXPECT_DOUBLE_EQ(mapRecording(robot, {stampedLog("time", 1.0, 0.0)}).time[100], 0.1);
  // a column that counts up by one may be a counter as well; velocities tell
  const auto doubted = [&](double step, double velocity) {
    const Names notes = mapRecording(robot, {stampedLog("time", step, velocity)}).notes;
    return std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
      return containsText(note, "read as ms, although they may just count the rows");
    });
  };
  EXPECT_TRUE(doubted(1.0, 0.0));
  EXPECT_FALSE(doubted(1.0, 2.0));
  EXPECT_FALSE(doubted(2.0, 0.0));
  EXPECT_DOUBLE_EQ(mapRecording(robot, {stampedLog("time", 1e6, 0.0)}).time[100], 0.1);
  EXPECT_DOUBLE_EQ(mapRecording(robot, {stampedLog("time", 1.0, 2.0)}).time[100], 0.1);
  EXPECT_DOUBLE_EQ(mapRecording(robot, {stampedLog("time [s]", 1.0, 0.002)}).time[100], 100.0);
  EXPECT_DOUBLE_EQ(mapRecording(robot, {stampedLog("time [s]", 0.001, 0.0)}).time[100], 0.1);
  EXPECT_DOUBLE_EQ(mapRecording(robot, {stampedLog("tick_ms", 1.0, 0.0)}).time[100], 0.1);
  const auto message = [&](const Recording& log) -> std::string {
    try {
      mapRecording(robot, {log});
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_TRUE(containsText(message(stampedLog("time [s]", 1.0, 0.0)), "look like ms"));
  EXPECT_TRUE(containsText(message(stampedLog("time [s]", 1e6, 0.0)), "look like ns"));
  EXPECT_TRUE(containsText(message(stampedLog("time [ms]", 1e-3, 0.0)), "look like s, but"));
  EXPECT_TRUE(containsText(message(stampedLog("time [s]", 1.0, 2.0)), "velocities are 1e+03 times"))
      << message(stampedLog("time [s]", 1.0, 2.0));
  // a joint that would be faster than it can be is slow instead
  Model slow = robot;
  for (Joint& joint : slow.joints) joint.limits.velocity = 0.5;
  EXPECT_DOUBLE_EQ(mapRecording(slow, {stampedLog("time [s]", 1.0, 0.0)}).time[100], 100.0);
  Model declared = robot;
  declared.recording = RecordingDeclaration();
  declared.recording->time.unit = "s";
  EXPECT_DOUBLE_EQ(mapRecording(declared, {stampedLog("time [s]", 1.0, 0.0)}).time[100], 100.0);
}

// Continuous joints have no limits of position: their limits of velocity tell degrees, and so does
// an angle that goes from 180 to -180.
TEST(GuessSignals, DegreesBySpeed) {
  const auto largest = [](double amplitude, double limit, bool wrap) {
    Model robot = robotWith(kUrJoints);
    for (Joint& joint : robot.joints) joint.limits.velocity = limit;
    std::string text = "t,q1,q2,q3\n";
    for (int i = 0; i < 500; ++i) {
      double q = amplitude * std::sin(0.01 * i);
      if (wrap && q > 180.0) q -= 360.0;
      text += fmt::format("{},{},{},{}\n", 0.01 * i, q, q, q);
    }
    const Recording mapped = mapRecording(robot, {readCsvRecordingText(text, "log.csv")});
    return mapped.values.col(0).maxCoeff();
  };
  EXPECT_NEAR(largest(90.0, 3.0, false), 1.5708, 1e-3);
  EXPECT_NEAR(largest(2.0, 3.0, false), 2.0, 1e-3);
  EXPECT_NEAR(largest(90.0, 0.0, false), 90.0, 0.1);  // nothing tells
  EXPECT_NEAR(largest(200.0, 0.0, true), 3.1416, 0.05);
}

// Columns that count from 0 are joints that count from 1, and joints without numbers follow each
// other along the chain, in whatever order the robot's file has them.
TEST(GuessSignals, OrderOfJoints) {
  Model robot = robotWith(kNumberedJoints);
  std::reverse(robot.joints.begin(), robot.joints.end());
  robot = finalize(robot);
  Names names;
  for (int k = 0; k < 6; ++k) names.push_back(fmt::format("position_{}", k));
  for (int k = 0; k < 6; ++k) names.push_back(fmt::format("torque_{}", k));
  const Recording numbered = mapRecording(robot, {namedLog(names)});
  EXPECT_EQ(channelValue(numbered, "q_joint_1"), 1.0);
  EXPECT_EQ(channelValue(numbered, "tau_joint_6"), 12.0);
  Model shuffled = robotWith(kUrJoints);
  std::swap(shuffled.joints[0], shuffled.joints[2]);
  shuffled = finalize(shuffled);
  const Recording along =
      mapRecording(shuffled, {namedLog({"q1", "q2", "q3", "tau1", "tau2", "tau3"})});
  EXPECT_EQ(channelValue(along, "q_shoulder_pan_joint"), 1.0);
  EXPECT_EQ(channelValue(along, "tau_elbow_joint"), 6.0);
}

/// Two limbs of two joints each, the right one first.
Model walker(const Names& joints) {
  std::string text = "<robot name='walker'><link name='base'/>";
  for (size_t k = 0; k < joints.size(); ++k) {
    const std::string parent = k % 2 == 0 ? "base" : fmt::format("link_{}", k - 1);
    text += fmt::format(
        "<link name='link_{0}'/><joint name='{1}' type='revolute'><parent link='{2}'/>"
        "<child link='link_{0}'/><axis xyz='0 1 0'/>"
        "<limit lower='-3' upper='3' effort='1' velocity='1'/></joint>",
        k, joints[k], parent);
  }
  return readUrdfText(text + "</robot>");
}

// Columns that are only counted say nothing of the limb: a note tells that their order is a guess.
// It does not where names or numbers of the joints decide, nor for a chain.
TEST(GuessSignals, NumbersOnLimbs) {
  const auto doubted = [](const Model& robot, const Names& names) {
    const Recording log = mapRecording(robot, {namedLog(names)});
    return std::any_of(log.notes.begin(), log.notes.end(), [](const std::string& note) {
      return containsText(note, "nothing says which limb");
    });
  };
  const Names counted = {"q0", "q1", "q2", "q3", "tau0", "tau1", "tau2", "tau3"};
  const Model legs = walker({"right_hip", "right_knee", "left_hip", "left_knee"});
  EXPECT_TRUE(doubted(legs, counted));
  EXPECT_FALSE(doubted(legs, {"right_hip_q", "left_hip_q", "right_knee_q", "left_knee_q"}));
  EXPECT_FALSE(doubted(walker({"joint_1", "joint_2", "joint_3", "joint_4"}), counted));
  EXPECT_FALSE(doubted(robotWith(kUrJoints), {"q0", "q1", "q2", "tau0", "tau1", "tau2"}));
}

// Beside columns that say that they were measured, plain ones may be commands.
TEST(GuessSignals, MeasuredIsSaid) {
  const Recording log = mapRecording(
      robotWith(kUrJoints), {namedLog({"q1", "q2", "q3", "joint_position_meas_1",
                                       "joint_position_meas_2", "joint_position_meas_3", "tau1",
                                       "tau2", "tau3", "tau_msr_1", "tau_msr_2", "tau_msr_3"})});
  EXPECT_EQ(channelValue(log, "q_elbow_joint"), 6.0);
  EXPECT_EQ(channelValue(log, "tau_elbow_joint"), 12.0);
}

// A list of motor states, as legged robots report it, is about the joints; the note names the first
// and the last of channels that count up. A motor's position alone still needs a gear ratio.
TEST(GuessSignals, MotorStates) {
  Names names;
  for (int k = 0; k < 6; ++k) {
    for (const char* what : {"q", "dq", "tauEst"})
      names.push_back(fmt::format("motorState[{}].{}", k, what));
  }
  const Recording mapped = mapRecording(robotWith(kNumberedJoints), {namedLog(names)});
  EXPECT_EQ(channelValue(mapped, "q_joint_6"), 16.0);
  EXPECT_EQ(channelValue(mapped, "v_joint_6"), 17.0);
  EXPECT_EQ(channelValue(mapped, "tau_joint_6"), 18.0);
  EXPECT_TRUE(containsText(mapped.notes.at(0),
                           "torque is motorState[0].tauEst to "
                           "motorState[5].tauEst"))
      << mapped.notes.at(0);
  EXPECT_NE(refusalOf(kUrJoints, {"motor_q1", "motor_q2", "motor_q3"}), "");
}

// Messages of another robot of the same kind, or under a name space, name its joints by another
// beginning; those of another arm do not.
TEST(GuessSignals, JointsUnderAnotherBeginning) {
  const Names fer = {"q_fer_joint1", "q_fer_joint2", "tau_fer_joint1", "tau_fer_joint2"};
  const Recording panda = mapRecording(
      robotWith({"panda_joint1", "panda_joint2", "panda_finger_joint1"}), {namedLog(fer)});
  EXPECT_EQ(channelValue(panda, "q_panda_joint2"), 2.0);
  EXPECT_EQ(channelValue(panda, "tau_panda_joint1"), 3.0);
  const Recording ur = mapRecording(robotWith(kUrJoints),
                                    {namedLog({"q_cell_elbow_joint", "q_cell_shoulder_pan_joint",
                                               "q_cell_shoulder_lift_joint"})});
  EXPECT_EQ(channelValue(ur, "q_elbow_joint"), 1.0);
  EXPECT_EQ(channelValue(ur, "q_shoulder_lift_joint"), 3.0);
  EXPECT_NE(refusalOf({"right_joint1", "right_joint2"},
                      {"q_left_joint1", "q_left_joint2", "tau_left_joint1", "tau_left_joint2"}),
            "");
}

// Lines to paste: words choose the channels, whatever their order; sliding joints have m and N; of
// nameless columns the joints are the most for which they are whole blocks, by number, so that the
// lines hold for arrays called otherwise.
TEST(GuessSignals, LinesToPasteFit) {
  const std::string words =
      refusalOf(kUrJoints, {"motor_vel1", "motor_vel2", "motor_vel3", "motor_pos1", "motor_pos2",
                            "motor_pos3", "motor_tau1", "motor_tau2", "motor_tau3"});
  EXPECT_TRUE(containsText(words, "quantity: position, unit: rad, channels: [\"motor_pos1\""))
      << words;
  EXPECT_TRUE(containsText(words, "quantity: torque, unit: N m, channels: [\"motor_tau1\""))
      << words;

  const auto refusal = [](const std::string& joints, const Recording& log) -> std::string {
    try {
      mapRecording(
          readRobotYamlText("version: 1\ndh: {convention: modified, joints: [" + joints + "]}",
                            "robot.yaml"),
          {log});
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const std::string slide = refusal("{name: axis, type: prismatic}", namedLog({"qm", "qg", "vir"}));
  EXPECT_TRUE(containsText(slide, "{quantity: position, unit: m, channels: [\"qm\"]}")) << slide;
  EXPECT_TRUE(containsText(slide, "{quantity: torque, unit: N, channels: [\"vir\"]}")) << slide;

  const std::string gripper =
      refusal("{name: a, a: 1}, {name: b, a: 1}, {name: c, a: 1}, {name: finger, type: prismatic}",
              readCsvRecordingText("1,2,3,4,5,6,7,8,9,0\n2,3,4,5,6,7,8,9,1,0\n", "log.csv"));
  EXPECT_TRUE(containsText(gripper, "torque, unit: N m, joints: [a, b, c], channels: [8, 9, 10]}"))
      << gripper;
}

// Names of files.
TEST(GuessSignals, QuantityInName) {
  EXPECT_EQ(quantityInName("run1_pos").quantity, Quantity::kPosition);
  EXPECT_EQ(quantityInName("run1_pos").rest, (Names{"run", "1"}));
  EXPECT_EQ(quantityInName("jointTorques").quantity, Quantity::kTorque);
  EXPECT_EQ(quantityInName("jointTorques").rest, Names{});
  EXPECT_EQ(quantityInName("q_des").role, Role::kCommanded);
  EXPECT_EQ(quantityInName("dq").quantity, Quantity::kVelocity);
  for (const char* name : {"pos_and_torque", "run_a", "motor_position", "tau_ext", "data"})
    EXPECT_EQ(quantityInName(name).quantity, Quantity::kOther) << name;
}

}  // namespace
}  // namespace proprio
