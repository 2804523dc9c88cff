#include "proprio/identification/late_reversals.h"

#include <gtest/gtest.h>

#include <random>

#include "proprio/identification/least_squares.h"
#include "proprio/identification/testing/synthetic_data.h"
#include "proprio/identification/usual_terms.h"
#include "proprio/recording/signal_names.h"

namespace proprio {
namespace {

constexpr double kDryFriction = 0.5;  // N m, of both joints

std::shared_ptr<const Tree> rubbingArm() {
  std::vector<std::string> told;
  return std::make_shared<const Tree>(
      std::make_shared<const Model>(withUsualTerms(testing::treeOf("planar_2r")->model(), &told)));
}

/// A recording of half a minute at 500 Hz in which dry friction turns after `travel`, with white
/// noise of 1e-5 rad and 0.05 N m.
MotionData rubbingData(const Tree& tree, double travel) {
  const Eigen::Index samples = 15000;
  MotionData exact;
  exact.time = Eigen::VectorXd::LinSpaced(samples, 0.0, static_cast<double>(samples - 1) / 500.0);
  exact.q = exact.v = exact.a = exact.tau = Eigen::MatrixXd::Zero(samples, 2);
  exact.use = Mask::Constant(samples, 2, true);
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> phase(-3.14, 3.14);
  std::normal_distribution<double> gaussian;
  for (Eigen::Index j = 0; j < 2; ++j) {
    for (int h = 1; h <= 5; ++h) {
      const double w = 2.0 * M_PI * 0.1 * h;
      const Eigen::ArrayXd angle = w * exact.time.array() + phase(random);
      exact.q.col(j).array() += 0.4 / w * angle.sin();
      exact.v.col(j).array() += 0.4 * angle.cos();
      exact.a.col(j).array() -= 0.4 * w * angle.sin();
    }
  }
  const ParameterLayout layout(tree.sharedModel());
  exact.tau = predictTorques(tree, layout, testing::declaredValues(tree), exact);
  Recording recording;
  recording.source = "rubbing";
  recording.time = exact.time;
  recording.values.resize(samples, 4);
  for (Eigen::Index j = 0; j < 2; ++j) {
    double sign = exact.v(0, j) > 0.0 ? 1.0 : -1.0, farthest = exact.q(0, j);
    for (Eigen::Index k = 0; k < samples; ++k) {
      const double q = exact.q(k, j);
      farthest = sign > 0.0 ? std::max(farthest, q) : std::min(farthest, q);
      if (std::abs(farthest - q) > travel) {
        sign = -sign;
        farthest = q;
      }
      recording.values(k, j) = q + 1e-5 * gaussian(random);
      recording.values(k, 2 + j) = exact.tau(k, j) + kDryFriction * sign + 0.05 * gaussian(random);
    }
  }
  for (const char* quantity : {"q_", "tau_"}) {
    for (const Joint& joint : tree.model().joints) {
      if (joint.velocity_index >= 0)
        recording.channels.push_back(channelNamed(quantity + joint.name));
    }
  }
  return motionData(tree, jointSignals(recording));
}

/// Largest relative error of the base parameters that are not zero (inertias and first moments), by
/// least squares on the data.
double inertialError(const std::shared_ptr<const Tree>& tree, const MotionData& data) {
  const IdentificationProblem problem = identificationProblem(tree, {data});
  const Estimate estimate = weightedLeastSquares(problem, {});
  const Eigen::VectorXd truth = baseMatrix(problem.base) * testing::declaredValues(*tree);
  double worst = 0.0;
  for (Eigen::Index k = 0; k < truth.size(); ++k) {
    if (std::abs(truth[k]) > 1e-6)
      worst = std::max(worst, std::abs(estimate.beta[k] / truth[k] - 1.0));
  }
  return worst;
}

/// Claim: friction that turns with the joint is left as it is.
TEST(LateReversals, AreNotFoundWhereFrictionTurnsAtOnce) {
  const std::shared_ptr<const Tree> tree = rubbingArm();
  EXPECT_TRUE(findLateReversals(*tree, {rubbingData(*tree, 0.0)}).empty());
}

/// Claim: the travel after which friction turns is found, and parameters that are wrong without it
/// are right with it.
TEST(LateReversals, AreFoundAndTakenOutOfTheInertias) {
  const std::shared_ptr<const Tree> tree = rubbingArm();
  const double travel = 5e-4;
  std::vector<MotionData> data = {rubbingData(*tree, travel)};
  const std::vector<LateReversal> found = findLateReversals(*tree, data);
  ASSERT_EQ(found.size(), 2u);
  for (const LateReversal& one : found) EXPECT_NEAR(one.travel, travel, 0.2 * travel);
  EXPECT_NE(lateReversalText(*tree, found).find("elbow"), std::string::npos)
      << lateReversalText(*tree, found);
  const double before = inertialError(tree, data.front());
  turnLate(found, &data);
  EXPECT_EQ(data.front().late.size(), 0);
  const double after = inertialError(tree, data.front());
  EXPECT_GT(before, 0.02);
  EXPECT_LT(after, 0.3 * before);
}

}  // namespace
}  // namespace proprio
