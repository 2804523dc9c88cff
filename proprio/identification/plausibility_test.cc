#include "proprio/identification/plausibility.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "proprio/identification/prior.h"
#include "proprio/identification/testing/consistent_robots.h"
#include "proprio/model/robot_reader.h"

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
    EXPECT_NE(findingsOf(known, other).find("if gravity pointed along"), std::string::npos)
        << gravity.transpose() << ": " << findingsOf(known, other);
  }
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
