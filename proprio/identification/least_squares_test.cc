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
