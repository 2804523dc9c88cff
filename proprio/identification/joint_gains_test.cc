#include "proprio/identification/joint_gains.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "proprio/identification/testing/synthetic_data.h"

namespace proprio {
namespace {

/// A smooth motion with white noise, the torque of one coordinate times `factor`; `stribeck` times
/// its dry friction more below 0.1 rad/s, which the model does not have.
IdentificationProblem scaledProblem(const std::string& robot, int coordinate, double factor,
                                    unsigned seed, double stribeck = 0.0) {
  const auto tree = testing::treeOf(robot);
  MotionData data = testing::smoothData(*tree, 2000, seed);
  std::mt19937_64 random(seed + 100);
  std::normal_distribution<double> gaussian(0.0, 0.2);
  data.tau += Eigen::MatrixXd::NullaryExpr(data.tau.rows(), data.tau.cols(),
                                           [&] { return gaussian(random); });
  for (Eigen::Index j = 0; j < data.tau.cols(); ++j) {
    const Eigen::ArrayXd v = data.v.col(j).array();
    const double size = stribeck * std::sqrt(data.tau.col(j).squaredNorm() / 2000.0);
    data.tau.col(j).array() += size * v.sign() * (-(v / 0.1).square()).exp();
  }
  data.tau.col(coordinate) *= factor;
  return identificationProblem(tree, {data});
}

/// Claim: a torque that is twice or half of what it should be is named with its factor, within
/// four of its own deviations, or its scale is said to be untold, where friction is most of the
/// torque; a third are named.
TEST(JointGains, NamesAJointOfAnotherScale) {
  int named = 0;
  for (const double factor : {2.0, 0.5}) {
    for (int coordinate = 0; coordinate < 6; ++coordinate) {
      const IdentificationProblem problem = scaledProblem("tx40", coordinate, factor, 1);
      const JointGains found = findWrongGains(problem);
      if (found.wrong.empty()) {
        EXPECT_NE(std::count(found.untold.begin(), found.untold.end(), coordinate), 0)
            << coordinate << " " << factor;
        continue;
      }
      ++named;
      ASSERT_EQ(found.wrong.size(), 1u) << coordinate << " " << factor;
      const JointGain& gain = found.wrong[0];
      EXPECT_EQ(gain.coordinate, coordinate);
      EXPECT_NEAR(gain.gain, factor, 4.0 * gain.deviation * factor);
      EXPECT_TRUE(contradicts(gain)) << coordinate << " " << gain.better;
      EXPECT_NE(gainText(problem, gain).find("times what the other joints imply"),
                std::string::npos);
    }
  }
  EXPECT_GE(named, 4);
}

/// Claim: torques of one scale name nobody, nor does friction that the model does not have: a
/// Stribeck peak of a tenth of the joint's torque, half as much more than the noise.
TEST(JointGains, FrictionOfAnotherKindIsNoScale) {
  for (const double stribeck : {0.0, 0.1}) {
    for (const char* robot : {"tx40", "iiwa14", "planar_2r"}) {
      for (const unsigned seed : {1u, 2u, 3u})
        EXPECT_TRUE(findWrongGains(scaledProblem(robot, 0, 1.0, seed, stribeck)).wrong.empty())
            << robot << " " << seed << " " << stribeck;
    }
  }
}

/// Claim: the deviation is that of the factor: over 40 seeds the mean square of (factor - truth) /
/// deviation is that of Student's distribution with 9 degrees of freedom (10 blocks), 9 / 7; the
/// mean of 40 such squares has a standard deviation of 0.4.
TEST(JointGains, DeviationsAreRight) {
  constexpr unsigned kSeeds = 40;
  double squares = 0.0;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    const JointGains found = findWrongGains(scaledProblem("planar_2r", 0, 1.5, seed));
    ASSERT_EQ(found.wrong.size(), 1u) << seed;
    const JointGain& gain = found.wrong[0];
    const double truth = gain.coordinate == 0 ? 1.5 : 1.0 / 1.5;
    squares += std::pow((gain.gain / truth - 1.0) / gain.deviation, 2.0) / kSeeds;
  }
  EXPECT_GT(squares, 9.0 / 7.0 - 3.0 * 0.4 / 1.5);
  EXPECT_LT(squares, 9.0 / 7.0 + 3.0 * 0.4);
}

/// Claim: of two joints that are only compared with each other both are named, one with the other's
/// factor turned round.
TEST(JointGains, NamesBothOfTwo) {
  const JointGains found = findWrongGains(scaledProblem("planar_2r", 1, 2.0, 5));
  ASSERT_EQ(found.wrong.size(), 1u);
  ASSERT_EQ(found.wrong[0].rivals.size(), 1u);
  EXPECT_NEAR(found.wrong[0].gain * found.wrong[0].rivals[0].second, 1.0, 0.1);
}

}  // namespace
}  // namespace proprio
