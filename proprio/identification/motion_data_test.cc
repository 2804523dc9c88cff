#include "proprio/identification/motion_data.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "proprio/identification/measured_motions.h"
#include "proprio/recording/signal_names.h"
#include "proprio/simulation/testing/loop_robots.h"

namespace proprio {
namespace {

using testing_loop::bundled;

/// A short closed-loop run of the planar arm with its commands.
Recording commandedRun(const Tree& tree) {
  ClosedLoopRun run =
      testing_loop::runOf(tree, testing_loop::sineMotion(tree, 0.4, 0.5, 0.5, 5000.0));
  return simulateClosedLoop(tree, run).recording;
}

MotionData emptyData() {
  MotionData data;
  data.name = "log";
  return data;
}

/// Claim: joints of several coordinates, which no recording states, are held still like others that
/// are not recorded, and told; joints that are recorded stay.
TEST(MotionData, PlanarBasesAreHeldStill) {
  const Model model = *bundled("mobile_manipulator.yaml");
  Recording recording;
  for (const Joint& joint : model.joints) {
    if (velocityCount(joint.type) == 1)
      recording.channels.push_back(
          channelNamed(signalName(Quantity::kPosition, Role::kMeasured, joint.name)));
  }
  recording.values.resize(0, static_cast<Eigen::Index>(recording.channels.size()));
  std::vector<std::string> told;
  const Model held = withRecordedJoints(model, {recording}, &told);
  EXPECT_EQ(held.velocity_count, model.velocity_count - 3);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_NE(told[0].find("'base_motion' has 3 coordinates"), std::string::npos) << told[0];
}

/// Claim: the reference is the commanded motion; velocities are those recorded and accelerations,
/// which are not, follow the analytic ones to the error of a central difference, h^2 / 6 |q''''|.
TEST(MotionDataReference, IsTheCommandedMotion) {
  const Tree tree(bundled("planar_2r.yaml"));
  const Recording recording = commandedRun(tree);
  MotionData data = emptyData();
  attachReference(tree, recording, &data);
  ASSERT_TRUE(data.reference);
  const MotionSamples exact =
      testing_loop::sineMotion(tree, 0.4, 0.5, recording.time.tail(1)[0], 1000.0);
  ASSERT_EQ(data.reference->samples(), exact.samples());
  EXPECT_EQ(data.reference->joints, exact.joints);
  EXPECT_LT((data.reference->q - exact.q).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((data.reference->v - exact.v).cwiseAbs().maxCoeff(), 1e-12);
  const double w = 2.0 * std::numbers::pi * 0.5 * 1.13, bound = 1e-6 / 3.0 * 0.4 * w * w * w * w;
  EXPECT_LT((data.reference->a - exact.a).cwiseAbs().maxCoeff(), bound);
}

/// Claim: a recording without time stamps, without one joint's command or with a gap in it has no
/// reference, and says so by leaving it empty.
TEST(MotionDataReference, IsLeftEmptyWhereTheCommandIsIncomplete) {
  const Tree tree(bundled("planar_2r.yaml"));
  const Recording recording = commandedRun(tree);
  const std::string joint = tree.model().joints.back().name;
  const int column = recording.column(Quantity::kPosition, Role::kCommanded, joint);
  ASSERT_GE(column, 0);
  Recording unstamped = recording, silent = recording, torn = recording, backwards = recording;
  unstamped.time.resize(0);
  silent.channels[static_cast<size_t>(column)].role = Role::kMeasured;
  torn.values(7, column) = std::numeric_limits<double>::quiet_NaN();
  backwards.time[4] = backwards.time[2];
  for (const Recording* broken : {&unstamped, &silent, &torn, &backwards}) {
    MotionData data = emptyData();
    attachReference(tree, *broken, &data);
    EXPECT_FALSE(data.reference);
  }
}

/// 4 s at 1 kHz of both joints of the planar arm, with velocities and torques that vary.
Recording plainRun() {
  Recording recording;
  recording.source = "log";
  const Eigen::Index n = 4000;
  recording.time = Eigen::VectorXd::LinSpaced(n, 0.0, 1e-3 * static_cast<double>(n - 1));
  for (const char* name : {"q_shoulder", "q_elbow", "v_shoulder", "v_elbow", "tau_shoulder"})
    recording.channels.push_back(channelNamed(name));
  recording.values.resize(n, 5);
  for (Eigen::Index k = 0; k < n; ++k) {
    const double t = recording.time[k];
    recording.values.row(k) << std::sin(2.0 * t), 0.8 * std::sin(3.1 * t), 2.0 * std::cos(2.0 * t),
        2.48 * std::cos(3.1 * t), 5.0 * std::cos(2.3 * t);
  }
  return recording;
}

/// The steps and errors that a recording gets, in one text, and its motions.
std::string toldOf(const Tree& tree, const Recording& recording, std::vector<MotionData>* motions) {
  RecordingInfo info;
  *motions = motionsOf(tree, recording, "log", {}, {}, &info);
  std::string told;
  for (const std::string& step : info.steps) told += step + "; ";
  for (const QualityFinding& finding : info.quality.findings) {
    if (finding.severity == Severity::kError) told += "error: " + finding.sentence + "; ";
  }
  return told;
}

/// Claim: a joint without a recorded torque does not count, unless its limit of effort is 0 while
/// another's is not: then its torque is zero, and every row of it counts.
TEST(MeasuredMotions, JointsWithoutMotor) {
  Model model = *bundled("planar_2r.yaml");
  std::vector<MotionData> motions;
  const auto used = [&](const Model& robot) {
    const Tree tree(std::make_shared<const Model>(robot));
    toldOf(tree, plainRun(), &motions);
    const int i = tree.velocityIndex(requireJoint(robot, "elbow"));
    EXPECT_EQ(motions.at(0).tau.col(i).cwiseAbs().maxCoeff(), 0.0);
    return motions.at(0).use.col(i).any();
  };
  EXPECT_FALSE(used(model));
  model.joints[static_cast<size_t>(requireJoint(model, "elbow"))].limits.effort = 0.0;
  EXPECT_TRUE(used(model));
  model.joints[static_cast<size_t>(requireJoint(model, "shoulder"))].limits.effort = 0.0;
  EXPECT_FALSE(used(model));
}

/// Claim: rows that a recorder repeated are named and left out, and make no other row wrong.
TEST(MeasuredMotions, RepeatedRows) {
  const Tree tree(bundled("planar_2r.yaml"));
  std::vector<MotionData> motions;
  EXPECT_EQ(toldOf(tree, plainRun(), &motions).find("error"), std::string::npos);
  EXPECT_EQ(motions.size(), 1u);
  Recording hung = plainRun();
  for (Eigen::Index k = 1001; k < 1800; ++k)
    hung.values.row(k).head(2) = hung.values.row(1000).head(2);
  const std::string told = toldOf(tree, hung, &motions);
  EXPECT_NE(told.find("no position changes in rows 1002 to 1800"), std::string::npos) << told;
  EXPECT_EQ(told.find("error"), std::string::npos) << told;
  EXPECT_EQ(motions.size(), 2u);
}

/// Claim: spikes in positions are removed before rows and units are judged: no order is missed, and
/// no other unit is seen.
TEST(MeasuredMotions, SpikesAreNoDisorder) {
  const Tree tree(bundled("planar_2r.yaml"));
  Recording spiky = plainRun();
  for (Eigen::Index k = 50; k < spiky.samples(); k += 97)
    spiky.values(k, k % 2) += 10.0 + static_cast<double>(k % 5);
  std::vector<MotionData> motions;
  const std::string told = toldOf(tree, spiky, &motions);
  EXPECT_EQ(told.find("error"), std::string::npos) << told;
  EXPECT_NE(told.find("became the line"), std::string::npos) << told;
  EXPECT_EQ(motions.size(), 1u);
}

}  // namespace
}  // namespace proprio
