#include "proprio/identification/random_sample_consensus.h"

#include <gtest/gtest.h>

#include <cmath>

#include "proprio/identification/least_squares.h"
#include "proprio/identification/testing/synthetic_data.h"
#include "proprio/numerics/dense.h"

namespace proprio {
namespace {

using testing::declaredValues;
using testing::noisyData;
using testing::treeOf;

/// Mean of (error / standard deviation)^2 over directions: 1 if the covariance tells the truth.
double meanSquaredError(const Estimate& estimate, const Eigen::VectorXd& truth) {
  const Eigen::VectorXd error = estimate.beta - truth;
  return error.dot(solveSymmetric(estimate.covariance, error).col(0)) /
         static_cast<double>(error.size());
}

// A fifth of all samples is recorded while the arm holds 3 kg that nobody declares, and a fifth of
// the others has gross errors to one side: least squares and reweighted least squares are off,
// ransac is not, and tells how many rows are wrong.
TEST(RandomSampleConsensus, SurvivesWhatReweightingDoesNot) {
  const auto tree = treeOf("tx40");
  MotionData data = noisyData(*tree, 3000, 0.3, 21);
  const Tree loaded(std::make_shared<const Model>(lumpFixedJoints(attachPayload(
      tree->model(), "load", "link_6", Pose::identity(),
      InertialParameters::fromCom(3.0, Vector3d(0.05, 0.0, 0.2), Matrix3d::Zero())))));
  const ParameterLayout layout(loaded.sharedModel());
  const Eigen::MatrixXd extra =
      predictTorques(loaded, layout, declaredValues(loaded), data) -
      predictTorques(*tree, ParameterLayout(tree->sharedModel()), declaredValues(*tree), data);
  data.tau.topRows(600) += extra.topRows(600);
  std::mt19937_64 random(4);
  std::uniform_real_distribution<double> size(40.0, 80.0), chance(0.0, 1.0);
  for (Eigen::Index i = 600; i < 3000; ++i) {
    if (chance(random) > 0.2) continue;
    for (Eigen::Index j = 0; j < data.tau.cols(); ++j) data.tau(i, j) += size(random);
  }
  const IdentificationProblem problem = identificationProblem(tree, {data});
  const Eigen::VectorXd truth = baseMatrix(problem.base) * declaredValues(*tree);
  const Estimate estimate = identify("ransac", problem);
  EXPECT_TRUE(estimate.converged);
  const double error = (estimate.beta - truth).norm();
  // loads that change a torque by less than the window go unnoticed: a small bias
  EXPECT_LT(meanSquaredError(estimate, truth), 4.0);
  EXPECT_GT((identify("wls", problem).beta - truth).norm(), 20.0 * error);
  EXPECT_GT((identify("irls", problem).beta - truth).norm(), 3.0 * error);
}

// Without errors the estimate is that of wls within a fraction of its standard deviation, and its
// covariance is true.
TEST(RandomSampleConsensus, CleanDataLoseLittle) {
  const auto tree = treeOf("tx40");
  const IdentificationProblem problem =
      identificationProblem(tree, {noisyData(*tree, 2000, 0.3, 5)});
  const Eigen::VectorXd truth = baseMatrix(problem.base) * declaredValues(*tree);
  const Estimate estimate = identify("ransac", problem), wls = identify("wls", problem);
  // chi-square of 52 directions / 52 stays below 1.7 with probability 0.999
  EXPECT_LT(meanSquaredError(estimate, truth), 1.7);
  const Eigen::ArrayXd deviation = wls.covariance.diagonal().array().sqrt();
  EXPECT_LT(((estimate.beta - wls.beta).array() / deviation).abs().maxCoeff(), 1.0);
}

// Exact data stay exact, and the same data give the same bits.
TEST(RandomSampleConsensus, ExactAndRepeatable) {
  const auto tree = treeOf("planar_2r");
  const IdentificationProblem problem =
      identificationProblem(tree, {noisyData(*tree, 500, 0.0, 3)});
  const Eigen::VectorXd truth = baseMatrix(problem.base) * declaredValues(*tree);
  const Estimate estimate = identify("ransac", problem);
  EXPECT_LT((estimate.beta - truth).cwiseAbs().maxCoeff(), 1e-8);
  EXPECT_EQ(estimate.beta, identify("ransac", problem).beta);
}

// Too few samples to draw from are told, not guessed around.
TEST(RandomSampleConsensus, FewSamples) {
  const auto tree = treeOf("tx40");
  const IdentificationProblem problem = identificationProblem(tree, {noisyData(*tree, 5, 0.1, 3)});
  const Estimate estimate = identify("ransac", problem);
  EXPECT_FALSE(estimate.converged);
  EXPECT_EQ(estimate.beta, identify("wls", problem).beta);
}

}  // namespace
}  // namespace proprio
