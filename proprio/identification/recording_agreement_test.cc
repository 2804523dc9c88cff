#include "proprio/identification/recording_agreement.h"

#include <gtest/gtest.h>

#include <cmath>

#include "proprio/identification/testing/synthetic_data.h"

namespace proprio {
namespace {

/// Two recordings of the planar arm with white noise; in the second the forearm weighs `factor`
/// times as much.
IdentificationProblem twoRecordings(double factor, double noise, Eigen::Index samples) {
  const auto tree = testing::treeOf("planar_2r");
  std::vector<MotionData> data = {testing::noisyData(*tree, samples, noise, 1),
                                  testing::noisyData(*tree, samples, noise, 2)};
  const ParameterLayout layout(tree->sharedModel());
  const Eigen::VectorXd declared = testing::declaredValues(*tree);
  Eigen::VectorXd other = declared;
  for (size_t link = 0; link < layout.model().links.size(); ++link) {
    if (layout.model().links[link].name == "forearm")
      other.segment<10>(layout.linkOffset(static_cast<int>(link))) *= factor;
  }
  data[1].tau += predictTorques(*tree, layout, other, data[1]) -
                 predictTorques(*tree, layout, declared, data[1]);
  data[1].source = 1;
  return identificationProblem(tree, std::move(data));
}

/// Claim: recordings of one robot agree, however many rows there are, and each leaves the noise
/// that was added.
TEST(RecordingAgreement, OneRobotAgreesWithItself) {
  for (const Eigen::Index samples : {300, 5000}) {
    const RecordingAgreement found = testAgreement(twoRecordings(1.0, 0.2, samples));
    EXPECT_TRUE(found.agree());
    EXPECT_GT(found.p_value, 1e-3) << samples;
    for (Eigen::Index j = 0; j < 2; ++j) {
      EXPECT_NEAR(found.apart[j], 0.2, 0.02);
      EXPECT_NEAR(found.together[j], 0.2, 0.02);
    }
  }
}

/// Claim: a forearm of twice its mass in one recording is a contradiction that is named by its
/// link, and the error of one robot for both is that of the mean of the two: with equal noise and
/// rows least squares finds 1.5 times the forearm and leaves half of its torque in either.
TEST(RecordingAgreement, NamesAPayload) {
  const IdentificationProblem problem = twoRecordings(2.0, 0.05, 2000);
  const RecordingAgreement found = testAgreement(problem);
  ASSERT_TRUE(found.contradict());
  EXPECT_LT(found.p_value, 1e-12);
  EXPECT_EQ(problem.tree->model().links[static_cast<size_t>(found.link)].name, "forearm");
  EXPECT_GT(found.share, 0.95);
  // the elbow's torque is all of the forearm: 0.5 of 1 and of 2 times as much
  const Eigen::VectorXd one = problem.data[0].tau.col(1), two = problem.data[1].tau.col(1);
  const double expected =
      std::sqrt((0.25 * one.squaredNorm() + 0.0625 * two.squaredNorm()) / 4000.0);
  EXPECT_NEAR(found.together[1], expected, 0.05 * expected);
  EXPECT_NEAR(found.apart[1], 0.05, 0.005);
  const std::string text = agreementText(problem, found, {"x/free.csv", "x/loaded.csv"});
  EXPECT_NE(text.find("the recordings free.csv, loaded.csv contradict each other"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("is the inertia of 'forearm': a payload"), std::string::npos) << text;
}

/// Claim: a difference that is significant only because the recordings are long and clean is none.
TEST(RecordingAgreement, TinyDifferencesAgree) {
  const RecordingAgreement found = testAgreement(twoRecordings(1.02, 0.05, 5000));
  EXPECT_LT(found.p_value, 1e-3);
  EXPECT_TRUE(found.agree());
}

}  // namespace
}  // namespace proprio
