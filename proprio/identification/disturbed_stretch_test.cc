#include "proprio/identification/disturbed_stretch.h"

#include <gtest/gtest.h>

#include "proprio/identification/robust_least_squares.h"
#include "proprio/identification/testing/synthetic_data.h"

namespace proprio {
namespace {

constexpr Eigen::Index kPushed = 1200, kPushedFor = 300;  // samples at 100 Hz

/// 30 s of a smooth motion with noise, and torques of 15 N m in these joints from 12 to 15 s.
std::vector<DisturbedStretch> found(const std::vector<int>& pushed,
                                    IdentificationProblem* problem) {
  const auto tree = testing::treeOf("tx40");
  MotionData data = testing::smoothData(*tree, 3000, 4);
  data.tau +=
      testing::noisyData(*tree, 3000, 0.1, 5).tau - testing::noisyData(*tree, 3000, 0.0, 5).tau;
  for (const int j : pushed) data.tau.col(j).segment(kPushed, kPushedFor).array() += 15.0;
  *problem = identificationProblem(tree, {data});
  return disturbedStretches(*problem, reweightedLeastSquares(*problem, {}));
}

/// Claim: a push of three joints at once is found where it was, to a quarter of a second, with the
/// joints, and taken out; a push of one joint (friction, a stuck brake) and none are no contact.
TEST(DisturbedStretch, FindsAContactAndNothingElse) {
  IdentificationProblem problem;
  const std::vector<DisturbedStretch> stretches = found({1, 2, 4}, &problem);
  ASSERT_EQ(stretches.size(), 1u);
  EXPECT_NEAR(static_cast<double>(stretches[0].start), static_cast<double>(kPushed), 25.0);
  EXPECT_NEAR(static_cast<double>(stretches[0].count), static_cast<double>(kPushedFor), 50.0);
  EXPECT_EQ(stretches[0].coordinates, (std::vector<int>{1, 2, 4}));
  const std::string text = stretchText(problem, stretches[0]);
  EXPECT_NE(text.find("s of synthetic (joint_2, joint_3, joint_5)"), std::string::npos) << text;
  const std::vector<MotionData> rest = undisturbed(problem, stretches);
  EXPECT_FALSE(rest[0].use.middleRows(kPushed + 25, kPushedFor - 50).any());
  EXPECT_TRUE(rest[0].use.topRows(kPushed - 50).all());
  EXPECT_TRUE(found({1}, &problem).empty());
  EXPECT_TRUE(found({}, &problem).empty());
}

/// Claim: what disturbs all joints while they have hardly begun to move (a hundredth of their
/// speed) is friction that sticks; the same in the midst of the motion is an event.
TEST(DisturbedStretch, StartingFromRestIsNoContact) {
  const auto tree = testing::treeOf("tx40");
  for (const Eigen::Index start : {Eigen::Index{0}, kPushed}) {
    MotionData data = testing::smoothData(*tree, 3000, 4);
    data.tau +=
        testing::noisyData(*tree, 3000, 0.1, 5).tau - testing::noisyData(*tree, 3000, 0.0, 5).tau;
    data.v.middleRows(start, 100) *= 0.01;
    data.tau.middleRows(start, 100).array() += 15.0;
    const IdentificationProblem problem = identificationProblem(tree, {data});
    const size_t events = start == 0 ? 0 : 1;
    EXPECT_EQ(disturbedStretches(problem, reweightedLeastSquares(problem, {})).size(), events);
  }
}

}  // namespace
}  // namespace proprio
