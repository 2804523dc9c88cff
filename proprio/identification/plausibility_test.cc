#include "proprio/identification/plausibility.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>

#include "proprio/identification/prior.h"
#include "proprio/identification/testing/consistent_robots.h"
#include "proprio/identification/wrong_mapping.h"
#include "proprio/model/robot_reader.h"
#include "proprio/model/urdf_reader.h"

namespace proprio {
namespace {

using testing::KnownProblem;
using testing::knownProblem;
using testing::treeOf;

/// Errors and warnings in one text.
std::string findingsOf(const KnownProblem& known, const MotionData& data) {
  const Plausibility check =
      checkPlausibility(*known.problem.tree, *known.problem.layout, known.problem.prior, data);
  std::string text;
  for (const QualityFinding& finding : check.findings) text += finding.sentence + "; ";
  return text;
}

/// Whether one of the findings is an error.
bool findsError(const KnownProblem& known, const MotionData& data) {
  const Plausibility check =
      checkPlausibility(*known.problem.tree, *known.problem.layout, known.problem.prior, data);
  return std::any_of(check.findings.begin(), check.findings.end(), [](const QualityFinding& found) {
    return found.severity == Severity::kError;
  });
}

/// Coordinates of the third joint, the elbow.
constexpr Eigen::Index kElbow = 2;

/// Claim: a description that is a third off explains the recording as it is; read with a joint
/// turned round, shifted by a quarter turn, without gravity, or with a torque of the wrong sign,
/// the mistake is named, and nothing else.
TEST(Plausibility, NamesTheMapping) {
  const KnownProblem known = knownProblem(treeOf("tx40"), {.samples = 1000, .noise = 0.2});
  const MotionData& data = known.problem.data[0];
  EXPECT_EQ(findingsOf(known, data), "");

  MotionData turned = data;
  for (Eigen::MatrixXd* signal : {&turned.q, &turned.v, &turned.a, &turned.tau})
    signal->col(kElbow) *= -1.0;
  EXPECT_NE(findingsOf(known, turned).find("if joint 'joint_3' turned the other way"),
            std::string::npos);

  MotionData shifted = data;
  shifted.q.col(kElbow).array() += std::numbers::pi / 2.0;
  EXPECT_NE(findingsOf(known, shifted).find("zero of joint 'joint_3' were -90 degrees away"),
            std::string::npos);

  Model weightless = known.problem.tree->model();
  weightless.gravity.setZero();
  const Tree in_space(std::make_shared<const Model>(std::move(weightless)));
  MotionData light = data;
  light.tau = predictTorques(in_space, *known.problem.layout, known.truth, data);
  EXPECT_NE(findingsOf(known, light).find("without gravity"), std::string::npos);

  // on a wall, a ceiling and a slope that is not quite one of those that are tried
  for (const Vector3d& gravity :
       {Vector3d(9.81, 0, 0), Vector3d(0, 0, 9.81), Vector3d(0, -6, -7.8)}) {
    Model mounted = known.problem.tree->model();
    mounted.gravity = gravity;
    const Tree tree(std::make_shared<const Model>(std::move(mounted)));
    MotionData other = data;
    other.tau = predictTorques(tree, *known.problem.layout, known.truth, data);
    const std::string told = findingsOf(known, other);
    const size_t at = told.find("if gravity pointed along (");
    ASSERT_NE(at, std::string::npos) << gravity.transpose() << ": " << told;
    // the direction is the one that fits, not the nearest of those that were tried first
    Vector3d direction;
    ASSERT_EQ(std::sscanf(told.c_str() + at, "if gravity pointed along (%lf, %lf, %lf)",
                          &direction[0], &direction[1], &direction[2]),
              3)
        << told;
    EXPECT_LT((direction - gravity.normalized()).norm(), 0.08) << told;
  }
}

/// Claim: if all torques have the wrong sign, that is told, and not a zero that is half a turn away
/// nor every joint by itself.
TEST(Plausibility, OneSignForAll) {
  const KnownProblem known = knownProblem(treeOf("tx40"), {.samples = 1000, .noise = 0.2});
  MotionData data = known.problem.data[0];
  data.tau *= -1.0;
  const std::string told = findingsOf(known, data);
  EXPECT_NE(told.find("if all of them had the other sign"), std::string::npos) << told;
  EXPECT_EQ(told.find("is the negative of"), std::string::npos) << told;
  EXPECT_EQ(told.find("degrees away"), std::string::npos) << told;
}

/// Claim: two joints that stand for each other are named, although the description is a third off;
/// joints of the wrist, which mostly rub, by a good description.
TEST(Plausibility, ExchangedJoints) {
  KnownProblem known = knownProblem(treeOf("tx40"), {.samples = 500, .noise = 0.2});
  const Tree& tree = *known.problem.tree;
  const auto expectNamed = [&](int i, int j) {
    const int first = requireJoint(tree.model(), fmt::format("joint_{}", i));
    const int second = requireJoint(tree.model(), fmt::format("joint_{}", j));
    const MotionData data = withExchanged(tree, known.problem.data[0], first, second);
    const std::string told = findingsOf(known, data);
    EXPECT_NE(told.find(fmt::format("if 'joint_{}' and 'joint_{}' were exchanged", i, j)),
              std::string::npos)
        << i << " " << j << ": " << told;
    EXPECT_TRUE(findsError(known, data)) << i << " " << j;
  };
  expectNamed(1, 2);
  expectNamed(2, 3);
  expectNamed(3, 5);
  known.problem.prior = known.truth;
  expectNamed(4, 5);
  expectNamed(4, 6);
  expectNamed(5, 6);
}

/// A trunk with two legs that mirror each other: hip and knee, with their masses to the outside.
std::string legsUrdf() {
  std::string text = "<robot name='legs'><link name='trunk'/>";
  for (const double y : {1.0, -1.0}) {
    const char* side = y > 0.0 ? "left" : "right";
    const auto joint = [&](const char* name, const char* parent, double at_y, double at_z,
                           const char* axis, double mass) {
      text += fmt::format(
          "<link name='{0}_{1}'><inertial><origin xyz='0.01 {2} -0.12'/><mass value='{3}'/>"
          "<inertia "
          "ixx='0.02' ixy='0' ixz='0' iyy='0.02' iyz='0' izz='0.01'/></inertial></link><joint "
          "name='{0}_{1}_joint' type='revolute'><parent link='{4}'/><child link='{0}_{1}'/><origin "
          "xyz='0 {5} {6}'/><axis xyz='{7}'/><limit lower='-6' upper='6' velocity='9' "
          "effort='90'/></joint>",
          side, name, 0.06 * y, mass, parent, at_y, at_z, axis);
    };
    joint("hip", "trunk", 0.2 * y, 0.0, "1 0 0", 2.0);
    joint("knee", (std::string(side) + "_hip").c_str(), 0.0, -0.25, "0 1 0", 1.5);
  }
  return text + "</robot>";
}

/// Claim: legs that stand for each other are named as a whole.
TEST(Plausibility, ExchangedLimbs) {
  const auto tree = std::make_shared<const Tree>(
      std::make_shared<const Model>(readUrdfText(legsUrdf(), "legs.urdf")));
  const KnownProblem known = knownProblem(tree, {.samples = 500, .noise = 0.02, .difference = 0.1});
  const auto joint = [&](const char* name) { return requireJoint(tree->model(), name); };
  EXPECT_FALSE(findsError(known, known.problem.data[0]));
  MotionData data = withExchanged(*tree, known.problem.data[0], joint("left_hip_joint"),
                                  joint("right_hip_joint"));
  data = withExchanged(*tree, data, joint("left_knee_joint"), joint("right_knee_joint"));
  const std::string told = findingsOf(known, data);
  EXPECT_NE(told.find("'left_hip_joint' 'left_knee_joint' and 'right_hip_joint' "
                      "'right_knee_joint' (or limbs built like them) were exchanged"),
            std::string::npos)
      << told;
}

/// Claim: one factor of all torques is told with its size; a thousand is an error that names the
/// unit, whatever friction does to the torques' shape.
TEST(Plausibility, OneFactorForAll) {
  KnownProblem known = knownProblem(treeOf("tx40"), {.samples = 500, .noise = 0.2});
  MotionData data = known.problem.data[0];
  data.tau *= 1000.0;
  data.tau.col(4) += 20e3 * data.v.col(4).array().sign().matrix();
  data.tau.col(5) += 20e3 * data.v.col(5).array().sign().matrix();
  EXPECT_NE(findingsOf(known, data).find("mN m"), std::string::npos) << findingsOf(known, data);
  EXPECT_TRUE(findsError(known, data));
  known.problem.prior = known.truth;
  EXPECT_EQ(findingsOf(known, known.problem.data[0]), "");
  data.tau = 3.0 * known.problem.data[0].tau;
  EXPECT_NE(findingsOf(known, data).find("all joints are about 3 times"), std::string::npos)
      << findingsOf(known, data);
  EXPECT_FALSE(findsError(known, data));
}

/// Claim: a tool that hangs to another side than the description says looks like a joint whose zero
/// is a quarter turn away, which is the same robot with another body: it is told and no error. A
/// joint in the middle whose zero is a quarter turn away is one.
TEST(Plausibility, ToolsAreNoShiftedZeros) {
  KnownProblem known = knownProblem(treeOf("tx40"), {.samples = 1000, .noise = 0.05});
  const int tool = known.problem.layout->linkOffset(6);
  const auto withTool = [&](Eigen::VectorXd chi, const Vector3d& com) {
    constexpr double kMass = 3.0;
    chi[tool] += kMass;
    chi.segment<3>(tool + 1) += kMass * com;
    return chi;
  };
  MotionData data = known.problem.data[0];
  data.tau = predictTorques(*known.problem.tree, *known.problem.layout,
                            withTool(known.truth, {0.15, 0.0, 0.05}), data);
  const Eigen::VectorXd bare = known.problem.prior;
  known.problem.prior = withTool(bare, {0.0, 0.15, 0.05});
  const std::string told = findingsOf(known, data);
  EXPECT_NE(told.find("would look the same"), std::string::npos) << told;
  EXPECT_FALSE(findsError(known, data)) << told;

  known.problem.prior = withTool(bare, {0.15, 0.0, 0.05});
  EXPECT_FALSE(findsError(known, data)) << findingsOf(known, data);
  data.q.col(kElbow).array() += std::numbers::pi / 2.0;
  EXPECT_TRUE(findsError(known, data)) << findingsOf(known, data);
}

/// Claim: a robot on a wall is told, with the direction of gravity to a tenth, although its
/// description is too rough to know: every centre of mass lies in another direction. Standing
/// upright the same description raises no error.
TEST(Plausibility, RoughDescriptionsStandOnWallsToo) {
  KnownProblem known = knownProblem(treeOf("tx40"), {.samples = 1000, .noise = 0.2});
  EXPECT_FALSE(findsError(known, known.problem.data[0]));
  for (int link = 1; link <= 6; ++link) {
    const int offset = known.problem.layout->linkOffset(link);
    const Vector3d moment = known.problem.prior.segment<3>(offset + 1);
    known.problem.prior.segment<3>(offset + 1) = Vector3d(moment.y(), moment.z(), -moment.x());
  }
  EXPECT_FALSE(findsError(known, known.problem.data[0]))
      << findingsOf(known, known.problem.data[0]);
  Model mounted = known.problem.tree->model();
  mounted.gravity = 9.81 * Vector3d(0.8, 0.6, 0.0);
  const Tree tree(std::make_shared<const Model>(std::move(mounted)));
  MotionData data = known.problem.data[0];
  data.tau = predictTorques(tree, *known.problem.layout, known.truth, data);
  const std::string told = findingsOf(known, data);
  EXPECT_TRUE(findsError(known, data)) << told;
  double x = 0, y = 0, z = 0;
  const size_t at = told.find("along (");
  ASSERT_NE(at, std::string::npos) << told;
  ASSERT_EQ(std::sscanf(told.c_str() + at, "along (%lf, %lf, %lf)", &x, &y, &z), 3) << told;
  EXPECT_LT((Vector3d(x, y, z) - Vector3d(0.8, 0.6, 0.0)).norm(), 0.1) << told;
}

/// Claim: torques that push along with the motion of a joint that only rubs have the wrong sign.
TEST(Plausibility, FrictionBrakes) {
  const KnownProblem known = knownProblem(treeOf("tx40"), {.samples = 1000, .noise = 0.05});
  MotionData data = known.problem.data[0];
  data.tau.col(5) = 3.0 * data.v.col(5).array().sign() + data.v.col(5).array();
  EXPECT_EQ(findingsOf(known, data).find("pushes along"), std::string::npos);
  data.tau.col(5) *= -1.0;
  EXPECT_NE(findingsOf(known, data).find("'joint_6' pushes along with its motion"),
            std::string::npos);
}

/// Claim: a torque in another unit contradicts the joints beside it; a link ten times as heavy as
/// described does not.
TEST(Plausibility, LoadsContradictNobody) {
  KnownProblem known = knownProblem(treeOf("tx40"), {.samples = 1000, .noise = 0.2});
  EXPECT_TRUE(contradicting(known.problem, {kElbow}).empty());
  known.problem.prior.segment<10>(known.problem.layout->linkOffset(4)) *= 0.1;
  EXPECT_TRUE(contradicting(known.problem, {kElbow}).empty());
  known.problem.data[0].tau.col(kElbow) *= 20.0;
  known.problem.stacked = stack(*known.problem.tree, known.problem.layout,
                                known.problem.base.independent, known.problem.data);
  EXPECT_EQ(contradicting(known.problem, {kElbow}), std::vector<int>{kElbow});
}

/// Claim: no samples, or none that count, say nothing.
TEST(Plausibility, NothingToSay) {
  const KnownProblem known = knownProblem(treeOf("tx40"), {.samples = 100, .noise = 0.2});
  MotionData none = known.problem.data[0];
  none.use.setConstant(false);
  EXPECT_EQ(findingsOf(known, none), "");
  EXPECT_EQ(findingsOf(known, middleSamples(known.problem.data[0], 0, 0)), "");
}

/// Claim: of a sliding axis of unknown mass that is declared upright, a force that holds its weight
/// is right, and one without it is told with the mass that moves; lying down there is nothing to
/// tell.
TEST(Plausibility, SlidingJointsHoldTheirWeight) {
  const auto told = [](const char* alpha, double weight) -> std::string {
    const auto model = std::make_shared<const Model>(readRobotYamlText(
        fmt::format(
            "version: 1\ndh: {{convention: modified, joints: [{{name: axis, type: prismatic, "
            "alpha: {}}}]}}",
            alpha),
        "robot.yaml"));
    const Tree tree(model);
    const ParameterLayout layout(model);
    constexpr Eigen::Index kSamples = 200;
    constexpr double kMass = 95.0;
    MotionData data;
    data.time = Eigen::VectorXd::LinSpaced(kSamples, 0.0, 0.05 * (kSamples - 1));
    data.q.resize(kSamples, 1);
    data.v = data.a = data.tau = data.q;
    data.use = Mask::Constant(kSamples, 1, true);
    for (Eigen::Index k = 0; k < kSamples; ++k) {
      const double t = 0.05 * static_cast<double>(k);
      data.q(k, 0) = std::sin(t);
      data.v(k, 0) = std::cos(t);
      data.a(k, 0) = -std::sin(t);
      data.tau(k, 0) = kMass * data.a(k, 0) + 200.0 * data.v(k, 0) + weight * kMass * 9.81 - 3.0;
    }
    std::string text;
    for (const QualityFinding& finding :
         checkWeights(tree, layout, priorParameters(tree, layout).chi, data))
      text += finding.sentence;
    return text;
  };
  EXPECT_EQ(told("0", 1.0), "");
  EXPECT_NE(told("0", 0.0).find("force of -3 N does not hold the 95 kg"), std::string::npos)
      << told("0", 0.0);
  EXPECT_EQ(told("pi/2", 0.0), "");
}

}  // namespace
}  // namespace proprio
