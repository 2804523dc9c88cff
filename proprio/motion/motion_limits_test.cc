#include "proprio/motion/motion_limits.h"

#include <gtest/gtest.h>

#include <cmath>

#include "proprio/core/error.h"
#include "proprio/dynamics/augmented_regressor.h"
#include "proprio/model/robot_reader.h"
#include "proprio/model/testing/bundled_robot.h"
#include "proprio/motion/fourier_series.h"
#include "proprio/motion/point_to_point.h"
#include "proprio/motion/quintic_spline.h"
#include "proprio/motion/testing/motion_checks.h"
#include "proprio/motion/testing/motion_limits_for_test.h"

namespace proprio {
namespace {

std::shared_ptr<const Model> fromUrdf(const std::string& joints) {
  const std::string inertial =
      "<inertial><mass value='1'/><inertia ixx='0.1' ixy='0' ixz='0' iyy='0.1' iyz='0' "
      "izz='0.1'/></inertial>";
  return std::make_shared<const Model>(finalize(
      readUrdfText("<robot name='r'><link name='l0'/><link name='l1'>" + inertial +
                       "</link><link name='l2'>" + inertial + "</link>" + joints + "</robot>",
                   "r.urdf")));
}

std::string jointXml(const std::string& name, const std::string& type, int parent,
                     const std::string& more) {
  return "<joint name='" + name + "' type='" + type + "'><parent link='l" + std::to_string(parent) +
         "'/><child link='l" + std::to_string(parent + 1) + "'/><axis xyz='0 0 1'/>" + more +
         "</joint>";
}

// Extremes between samples are found: closed forms of a sine and of a minimum-jerk motion.
TEST(MotionLimits, ExtremesAreExact) {
  FourierSeries series(1, 3, 7.0);
  series.offset[0] = 0.4;
  series.b(0, 2) = 1.3;
  series.repeats = 5;
  const double w = 3 * series.baseFrequency();
  MotionExtremes found = extremes(series);
  EXPECT_NEAR(found.highest[0], 0.4 + 1.3 / w, 1e-12);
  EXPECT_NEAR(found.lowest[0], 0.4 - 1.3 / w, 1e-12);
  EXPECT_NEAR(found.velocity[0], 1.3, 1e-12);
  EXPECT_NEAR(found.acceleration[0], 1.3 * w, 1e-11);
  found = extremes(minimumJerk(Eigen::Vector2d(0, 1), Eigen::Vector2d(1, -2), 2.0));
  EXPECT_NEAR(found.velocity[1], 15.0 / 8.0 * 3.0 / 2.0, 1e-12);
  EXPECT_NEAR(found.velocity_time[1], 1.0, 1e-6);
  EXPECT_NEAR(found.acceleration[1], 10.0 / std::sqrt(3.0) * 3.0 / 4.0, 1e-11);
  EXPECT_NEAR(found.lowest[1], -2.0, 1e-12);
  EXPECT_NEAR(found.highest[1], 1.0, 1e-12);
}

// The largest value of a random series on a grid a hundred times finer is never above the found
// one, and not far below.
TEST(MotionLimits, ExtremesAgreeWithBruteForce) {
  const FourierSeries series = randomFourierSeries(Eigen::Vector2d::Zero(), 12, 10.0, 4);
  const MotionExtremes found = extremes(series);
  const MotionSamples fine = sample(series, 20011.0, {"a", "b"});
  for (int i = 0; i < 2; ++i) {
    EXPECT_GE(found.highest[i], fine.q.col(i).maxCoeff() - 1e-12);
    EXPECT_LE(found.lowest[i], fine.q.col(i).minCoeff() + 1e-12);
    EXPECT_NEAR(found.highest[i], fine.q.col(i).maxCoeff(), 1e-6);
    EXPECT_NEAR(found.velocity[i], fine.v.col(i).cwiseAbs().maxCoeff(), 1e-5);
    EXPECT_GE(found.velocity[i], fine.v.col(i).cwiseAbs().maxCoeff() - 1e-12);
    EXPECT_NEAR(found.acceleration[i], fine.a.col(i).cwiseAbs().maxCoeff(), 1e-4);
    EXPECT_GE(found.acceleration[i], fine.a.col(i).cwiseAbs().maxCoeff() - 1e-9);
  }
}

// A jump of the acceleration is seen from both sides.
TEST(MotionLimits, SeesBothSidesOfAJump) {
  PiecewisePolynomial motion;
  motion.degree = 2;
  motion.knots = {0.0, 1.0, 2.0};
  motion.coefficients.resize(1, 6);
  motion.coefficients << 0, 0, 3.0, 3.0, 6.0, 0.5;  // acceleration 6, then 1
  EXPECT_NEAR(extremes(motion).acceleration[0], 6.0, 1e-12);
}

// A jump in position is an infinite velocity, a jump in velocity an infinite acceleration; limits
// of both are broken there, and where none is stated it is told all the same.
TEST(MotionLimits, JumpsAreInfinite) {
  const auto model = sharedBundledRobot("tx40.yaml");
  const Tree tree(model);
  const Parameters parameters = declaredParameters(model);
  PiecewisePolynomial motion;
  motion.degree = 1;
  motion.knots = {0.0, 1.0, 2.0, 3.0};
  motion.coefficients.resize(2, 6);
  motion.coefficients << 0, 0.1, 0.1, 0.1, 0.4, 0,  // the first joint jumps by 0.2 at 2 s
      0, 0.5, 0.5, -0.5, 0, 0;                      // the second changes its velocity at 1 s
  const MotionExtremes found = extremes(motion);
  EXPECT_TRUE(std::isinf(found.velocity[0]));
  EXPECT_EQ(found.velocity_time[0], 2.0);
  EXPECT_EQ(found.velocity[1], 0.5);
  EXPECT_TRUE(std::isinf(found.acceleration[1]));
  EXPECT_EQ(found.acceleration_time[1], 1.0);
  const JointMotion both{{"joint_1", "joint_2"}, std::make_shared<PiecewisePolynomial>(motion)};
  MotionCheckOptions options;
  options.effort = false;
  const MotionCheck check = checkMotion(tree, parameters, both, options);
  ASSERT_EQ(check.violations.size(), 2u);
  EXPECT_EQ(sentence(check.violations[0]).find("joint 'joint_1' jumps in position at 2 s"), 0u)
      << sentence(check.violations[0]);
  EXPECT_EQ(sentence(check.violations[1]).find("joint 'joint_2' jumps in velocity at 1 s"), 0u);
  MotionLimits none = limitsOf(*model, both.joints);
  none.velocity.setConstant(NAN);
  none.acceleration.setConstant(NAN);
  const MotionCheck free = checkMotion(tree, parameters, both, none, options);
  EXPECT_TRUE(free.violations.empty());
  EXPECT_NE(free.note.find("joint 'joint_2' jumps in velocity at 1 s"), std::string::npos)
      << free.note;
}

// Limits of the TX40 are those of its file; a motion within them passes, a faster one is told
// joint, time, value and limit.
TEST(MotionLimits, ChecksARobot) {
  const auto model = sharedBundledRobot("tx40.yaml");
  const Tree tree(model);
  const Parameters parameters = declaredParameters(model);
  const std::vector<std::string> joints = motionJoints(*model);
  ASSERT_EQ(joints.size(), 6u);
  const MotionLimits limits = limitsOf(*model, joints);
  EXPECT_EQ(limits.lower[4], -2.0944);
  EXPECT_EQ(limits.upper[4], 2.33001);
  EXPECT_EQ(limits.acceleration[0], 50.0);
  EXPECT_EQ(limits.effort[5], 12.0);
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(6), there = Eigen::VectorXd::Constant(6, 1.0);
  const auto slow = std::make_shared<PiecewisePolynomial>(minimumJerk(zero, there, 2.0));
  const MotionCheck good = checkMotion(tree, parameters, {joints, slow});
  EXPECT_TRUE(good.violations.empty());
  EXPECT_TRUE(good.note.empty());
  const auto fast = std::make_shared<PiecewisePolynomial>(minimumJerk(zero, 2.3 * there, 0.5));
  const MotionCheck bad = checkMotion(tree, parameters, {joints, fast});
  bool velocity = false, position = false;
  for (const Violation& violation : bad.violations) {
    if (violation.joint == "joint_2" && violation.kind == LimitKind::kVelocity) {
      velocity = true;
      EXPECT_NEAR(violation.found, 15.0 / 8.0 * 2.3 / 0.5, 1e-9);
      EXPECT_NEAR(violation.time, 0.25, 1e-4);
      EXPECT_EQ(sentence(violation),
                "joint 'joint_2' reaches velocity 8.625 at 0.25 s; its velocity limit is 5.0091");
    }
    if (violation.kind == LimitKind::kUpper) {
      position = true;
      EXPECT_EQ(violation.joint, "joint_2");
    }
  }
  EXPECT_TRUE(velocity && position);
}

// The effort is that of inverse dynamics with friction at the reported time, also for a motion that
// names some joints in another order.
TEST(MotionLimits, EffortIsTheFullTorque) {
  const auto model = sharedBundledRobot("tx40.yaml");
  const Tree tree(model);
  const Parameters parameters = declaredParameters(model);
  const auto motion = std::make_shared<PiecewisePolynomial>(
      minimumJerk(Eigen::Vector2d(0.2, 0.1), Eigen::Vector2d(1.5, 1.1), 0.6));
  MotionCheckOptions options;
  options.posture = Eigen::VectorXd::Constant(6, 0.3);
  const MotionCheck check =
      checkMotion(tree, parameters, {{"joint_3", "joint_2"}, motion}, options);
  const StateAt state = stateAt(*motion, check.effort_time[1]);
  Eigen::VectorXd q = options.posture, v = Eigen::VectorXd::Zero(6), a = v, tau = v;
  q[2] = state.q[0];
  q[1] = state.q[1];
  v[2] = state.v[0];
  v[1] = state.v[1];
  a[2] = state.a[0];
  a[1] = state.a[1];
  Workspace workspace(tree);
  fullTorque(tree, parameters, compileParameters(tree, parameters), workspace, q, v, a, tau);
  EXPECT_NEAR(check.effort[1], std::abs(tau[1]), 1e-9);
  MotionLimits limits = limitsOf(*model, {"joint_3", "joint_2"});
  limits.effort[1] = 0.5 * check.effort[1];
  const MotionCheck strict =
      checkMotion(tree, parameters, {{"joint_3", "joint_2"}, motion}, limits, options);
  ASSERT_EQ(strict.violations.size(), 1u);
  EXPECT_EQ(strict.violations[0].kind, LimitKind::kEffort);
  EXPECT_EQ(strict.violations[0].joint, "joint_2");
}

// A free base has no effort to check, and the result says so.
TEST(MotionLimits, FreeBaseSaysWhatItLeavesOut) {
  const auto model = sharedBundledRobot("humanoid.yaml");
  const Tree tree(model);
  const std::vector<std::string> joints = motionJoints(*model);
  const auto still = std::make_shared<PiecewisePolynomial>(
      standstill(Eigen::VectorXd::Zero(static_cast<Eigen::Index>(joints.size()))));
  const MotionCheck check = checkMotion(tree, declaredParameters(model), {joints, still});
  EXPECT_NE(check.note.find("efforts were not checked"), std::string::npos);
}

// A joint that others follow is held to their limits too; continuous joints have no end.
TEST(MotionLimits, MimicAndContinuousJoints) {
  const auto model = fromUrdf(
      jointXml("lead", "revolute", 0, "<limit lower='-1' upper='1' velocity='2' effort='9'/>") +
      jointXml("follow", "revolute", 1,
               "<limit lower='-1' upper='3' velocity='1' effort='1'/><mimic joint='lead' "
               "multiplier='-2' offset='1'/>"));
  EXPECT_EQ(motionJoints(*model), std::vector<std::string>{"lead"});
  const MotionLimits limits = limitsOf(*model, {"lead"});
  EXPECT_EQ(limits.lower[0], -1.0);  // -2 q + 1 <= 3
  EXPECT_EQ(limits.upper[0], 1.0);   // -2 q + 1 >= -1
  EXPECT_EQ(limits.velocity[0], 0.5);
  EXPECT_EQ(limits.effort[0], 9.0);
  EXPECT_NE(messageOf([&] { limitsOf(*model, {"follow"}); }).find("'follow' is a mimic joint"),
            std::string::npos);
  const auto wheel = fromUrdf(jointXml("wheel", "continuous", 0, "") +
                              jointXml("arm", "revolute", 1, "<limit velocity='1' effort='1'/>"));
  const MotionLimits open = limitsOf(*wheel, {"wheel", "arm"});
  EXPECT_TRUE(std::isinf(open.lower[0]) && std::isinf(open.upper[0]));
  EXPECT_TRUE(std::isnan(open.velocity[0]));
  EXPECT_EQ(requiredRange(open, 0, 1.0).upper, 1.0 + M_PI);
}

// Margins shrink everything about the middle of the range.
TEST(MotionLimits, Margin) {
  const MotionLimits inside = withMargin(threeJoints(), 0.8);
  EXPECT_NEAR(inside.lower[0], 0.25 - 0.8 * 1.25, 1e-15);
  EXPECT_NEAR(inside.upper[0], 0.25 + 0.8 * 1.25, 1e-15);
  EXPECT_NEAR(inside.velocity[1], 0.8, 1e-15);
  for (const double fraction : {0.0, 1.1, static_cast<double>(NAN)})
    EXPECT_NE(messageOf([&] { withMargin(threeJoints(), fraction); }).find("of the limits"),
              std::string::npos);
}

// Joints that do not exist and limits of other joints are refused.
TEST(MotionLimits, BadInput) {
  const auto model = sharedBundledRobot("tx40.yaml");
  const Tree tree(model);
  const Parameters parameters = declaredParameters(model);
  const auto still = std::make_shared<PiecewisePolynomial>(standstill(Eigen::VectorXd::Zero(1)));
  EXPECT_NE(messageOf([&] {
              checkMotion(tree, parameters, {{"joint_9"}, still});
            }).find("joint_9"),
            std::string::npos);
  EXPECT_NE(messageOf([&] {
              checkMotion(tree, parameters, {{"joint_1"}, nullptr});
            }).find("no trajectory"),
            std::string::npos);
  EXPECT_NE(messageOf([&] {
              checkMotion(tree, parameters, {{"joint_1"}, still}, limitsOf(*model, {"joint_2"}));
            }).find("other joints"),
            std::string::npos);
  MotionCheckOptions options;
  options.posture = Eigen::VectorXd::Zero(2);
  EXPECT_NE(messageOf([&] {
              checkMotion(tree, parameters, {{"joint_1"}, still}, options);
            }).find("2 positions"),
            std::string::npos);
}

}  // namespace
}  // namespace proprio
