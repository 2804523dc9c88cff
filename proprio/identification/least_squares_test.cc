#include "proprio/identification/least_squares.h"

#include <gtest/gtest.h>

#include <Eigen/QR>
#include <cmath>

#include "proprio/core/random.h"
#include "proprio/dynamics/augmented_regressor.h"
#include "proprio/identification/testing/synthetic_data.h"

namespace proprio {
namespace {

using testing::noisyData;
using testing::treeOf;

/// Claim: without noise and with true accelerations least squares returns the base parameters of
/// the robot to rounding (1e-8), for arms with rotors, friction and coupled joints.
TEST(LeastSquares, IsExactWithoutNoise) {
  for (const char* robot : {"planar_2r", "tx40", "tx40_coupled", "rv2sq", "iiwa14"}) {
    const auto tree = treeOf(robot);
    const IdentificationProblem problem =
        identificationProblem(tree, {noisyData(*tree, 4000, 0.0, 1)});
    const Eigen::VectorXd truth = baseMatrix(problem.base) * testing::declaredValues(*tree);
    for (const char* name : {"ols", "wls"}) {
      const Estimate estimate = identify(name, problem);
      EXPECT_TRUE(estimate.undecided.empty()) << robot << " " << name;
      EXPECT_LT((estimate.beta - truth).cwiseAbs().maxCoeff(), 1e-8 * truth.cwiseAbs().maxCoeff())
          << robot << " " << name;
    }
  }
}

/// Claim: with 60 samples for 52 parameters the noise found per joint is unbiased: its square is
/// the true one on average over 200 runs, within four standard deviations sqrt(2 / (r - b) / 200)
/// of that average, b at most the 52 parameters; a joint with a tenth of the noise of the others,
/// too.
TEST(LeastSquares, NoisePerJointIsUnbiased) {
  constexpr int kRuns = 200;
  constexpr Eigen::Index kSamples = 60;
  const auto tree = treeOf("tx40");
  IdentificationProblem problem = identificationProblem(tree, {noisyData(*tree, kSamples, 0.0, 3)});
  const Eigen::MatrixXd exact = problem.data[0].tau;
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(6), noise(kSamples);
  const auto size = [](Eigen::Index j) { return j == 3 ? 0.1 : 1.0; };
  for (int run = 0; run < kRuns; ++run) {
    for (Eigen::Index j = 0; j < 6; ++j) {
      normalNumbers(17, static_cast<std::uint64_t>(6 * run + j), 0, kSamples, noise.data());
      problem.data[0].tau.col(j) = exact.col(j) + size(j) * noise;
    }
    problem.stacked = stack(*tree, problem.layout, problem.base.independent, problem.data);
    sum += identify("wls", problem).sigma.cwiseAbs2();
  }
  for (Eigen::Index j = 0; j < 6; ++j) {
    const auto rows = static_cast<double>(problem.stacked.rows(static_cast<int>(j)));
    EXPECT_NEAR(sum[j] / kRuns / std::pow(size(j), 2.0), 1.0,
                4.0 * std::sqrt(2.0 / (rows - 52.0) / kRuns))
        << j;
  }
}

/// Claim: the standard parameters that are written next to the base parameters predict the same
/// torques.
TEST(LeastSquares, StandardParametersHaveTheBaseParameters) {
  const auto tree = treeOf("tx40");
  const IdentificationProblem problem =
      identificationProblem(tree, {noisyData(*tree, 500, 0.3, 2)});
  const Estimate estimate = identify("wls", problem);
  const Eigen::VectorXd back = baseMatrix(problem.base) * estimate.chi;
  EXPECT_LT((back - estimate.beta).cwiseAbs().maxCoeff(), 1e-9 * estimate.beta.norm());
}

}  // namespace
}  // namespace proprio
