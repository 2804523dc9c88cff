#include "proprio/identification/robust_least_squares.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <Eigen/LU>
#include <cmath>

#include "proprio/identification/joint_covariance.h"
#include "proprio/identification/least_squares.h"
#include "proprio/identification/testing/synthetic_data.h"
#include "proprio/numerics/dense.h"
#include "proprio/numerics/streaming_qr.h"

namespace proprio {
namespace {

using testing::declaredValues;
using testing::noisyData;
using testing::treeOf;

/// Every twentieth torque is wrong by 50 to 100 N m, always upwards.
void addGrossErrors(MotionData* data) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> size(50.0, 100.0), chance(0.0, 1.0);
  for (double& torque : data->tau.reshaped()) {
    if (chance(random) < 0.05) torque += size(random);
  }
}

/// Mean of (error / standard deviation)^2 over directions: 1 if the covariance tells the truth.
double normalisedError(const Estimate& estimate, const Eigen::VectorXd& truth) {
  const Eigen::VectorXd error = estimate.beta - truth;
  return error.dot(solveSymmetric(estimate.covariance, error).col(0)) /
         static_cast<double>(error.size());
}

/// Claim: 5 % gross errors, all to one side, break wls; irls, with Huber's weights and with the
/// published window, stays within what its own covariance says.
TEST(RobustLeastSquares, GrossErrorsBreakWlsButNotIrls) {
  const auto tree = treeOf("tx40");
  MotionData data = noisyData(*tree, 3000, 0.3, 11);
  addGrossErrors(&data);
  const IdentificationProblem problem = identificationProblem(tree, {data});
  const Eigen::VectorXd truth = baseMatrix(problem.base) * declaredValues(*tree);
  const double broken = (identify("wls", problem).beta - truth).norm();
  for (const double window : {0.0, 3.0}) {
    MethodOptions options;
    options.window = window;
    const Estimate estimate = identify("irls", problem, options);
    EXPECT_TRUE(estimate.converged) << window;
    EXPECT_LT(estimate.iterations, 30) << window;
    EXPECT_GT(broken, 20.0 * (estimate.beta - truth).norm()) << window;
    // chi-square of 52 directions / 52 stays below 1.7 with probability 0.999; Huber's weights
    // leave a bias of 5 % * 1.345 sigma towards the errors
    EXPECT_LT(normalisedError(estimate, truth), 2.5) << window;
    EXPECT_GT(broken, 20.0 * (identify("pc-irls", problem, options).beta - truth).norm()) << window;
  }
}

/// Claim: without gross errors irls costs 5 % of variance, as Huber's constant promises, and its
/// covariance is true: pooled over 100 seeds and all parameters the normalised error is 1.
TEST(RobustLeastSquares, CovarianceOfIrlsIsTrue) {
  const auto tree = treeOf("planar_2r");
  double pooled = 0.0, ratio = 0.0;
  constexpr int kRuns = 100;
  Eigen::Index size = 0;
  for (int run = 0; run < kRuns; ++run) {
    const IdentificationProblem problem = identificationProblem(
        tree, {noisyData(*tree, 300, 0.5, 100u + static_cast<unsigned>(run))});
    const Eigen::VectorXd truth = baseMatrix(problem.base) * declaredValues(*tree);
    const Estimate estimate = identify("irls", problem);
    pooled += normalisedError(estimate, truth) / kRuns;
    ratio += estimate.covariance.trace() / identify("wls", problem).covariance.trace() / kRuns;
    size = truth.size();
  }
  // variance of chi-square(size) / size is 2 / size; four deviations of the mean
  EXPECT_NEAR(pooled, 1.0, 4.0 * std::sqrt(2.0 / static_cast<double>(size * kRuns)));
  EXPECT_NEAR(ratio, 1.0 / 0.95, 0.05);
}

/// Claim: exact data survive, whatever the weights.
TEST(RobustLeastSquares, IsExactWithoutNoise) {
  const auto tree = treeOf("tx40");
  const IdentificationProblem problem =
      identificationProblem(tree, {noisyData(*tree, 1000, 0.0, 3)});
  const Eigen::VectorXd truth = baseMatrix(problem.base) * declaredValues(*tree);
  for (const char* name : {"irls", "tls"}) {
    const Estimate estimate = identify(name, problem);
    EXPECT_LT((estimate.beta - truth).cwiseAbs().maxCoeff(), 1e-8 * truth.cwiseAbs().maxCoeff())
        << name;
    EXPECT_TRUE(estimate.covariance.allFinite()) << name;
  }
}

/// Two recordings whose torque noise is correlated between joints, the second with twice the noise
/// and a weight that says so, some rows left out.
IdentificationProblem correlatedProblem(const std::shared_ptr<const Tree>& tree, unsigned seed,
                                        const Eigen::MatrixXd& covariance) {
  std::vector<MotionData> data = {noisyData(*tree, 400, 0.0, seed),
                                  noisyData(*tree, 300, 0.0, seed + 1000)};
  data[1].weight = 0.5;
  std::mt19937_64 random(seed);
  std::normal_distribution<double> gaussian(0.0, 1.0);
  const Eigen::MatrixXd L = covariance.llt().matrixL();
  for (MotionData& recording : data) {
    for (Eigen::Index i = 0; i < recording.samples(); ++i) {
      const Eigen::VectorXd unit =
          Eigen::VectorXd::NullaryExpr(L.rows(), [&] { return gaussian(random); });
      recording.tau.row(i) += (L * unit).transpose() / recording.weight;
      if (i % 7 == 0) recording.use(i, i % L.rows()) = false;
    }
  }
  return identificationProblem(tree, std::move(data));
}

/// Claim: the mixed rows give generalised least squares: the same estimate as dense rows with the
/// inverse covariance of each sample, to rounding.
TEST(JointCovariance, IsGeneralisedLeastSquares) {
  const auto tree = treeOf("tx40");
  Eigen::MatrixXd covariance = Eigen::MatrixXd::Constant(6, 6, 0.6) * 0.09;
  covariance.diagonal().setConstant(0.09);
  const IdentificationProblem problem = correlatedProblem(tree, 5, covariance);
  const TriangularSystem system = correlatedSystem(problem, covariance);
  const Eigen::VectorXd x = solveUpper(system.A, system.b);

  const Eigen::Index n = problem.stacked.unknowns();
  Eigen::MatrixXd normal = Eigen::MatrixXd::Zero(n, n);
  Eigen::VectorXd right = Eigen::VectorXd::Zero(n);
  Workspace workspace(*tree);
  RegressorBatch batch(*tree, 8, problem.layout->size());
  for (const MotionData& data : problem.data) {
    forEachBatch(*tree, *problem.layout, data, 0, data.samples(), workspace, batch,
                 [&](Eigen::Index start, Eigen::Index count, RegressorBatch& rows) {
                   for (Eigen::Index i = 0; i < count; ++i) {
                     std::vector<Eigen::Index> joints;
                     for (Eigen::Index j = 0; j < 6; ++j) {
                       if (data.use(start + i, j)) joints.push_back(j);
                     }
                     const auto size = static_cast<Eigen::Index>(joints.size());
                     Eigen::MatrixXd Y = Eigen::MatrixXd::Zero(size, n);
                     Eigen::VectorXd tau(size);
                     for (Eigen::Index a = 0; a < size; ++a) {
                       const Eigen::Index j = joints[static_cast<size_t>(a)];
                       tau[a] = data.tau(start + i, j);
                       for (const int c : problem.stacked.touch[static_cast<size_t>(j)])
                         Y(a, c) = rows.rows(j, count)(
                             i, problem.stacked.columns[static_cast<size_t>(c)]);
                     }
                     const Eigen::MatrixXd inverse =
                         data.weight * data.weight * covariance(joints, joints).inverse();
                     normal += Y.transpose() * inverse * Y;
                     right += Y.transpose() * inverse * tau;
                   }
                 });
  }
  const Eigen::VectorXd expected = solveSymmetric(normal, right);
  EXPECT_LT((x - expected).cwiseAbs().maxCoeff(), 1e-7 * expected.cwiseAbs().maxCoeff());
  EXPECT_LT((system.A.transpose() * system.A - normal).norm(), 1e-10 * normal.norm());
}

/// Claim: where noise is correlated between joints, knowing that lowers the variance of wls and of
/// irls, and the covariance that they report is true.
TEST(JointCovariance, LowersTheVariance) {
  const auto tree = treeOf("planar_2r");
  Eigen::MatrixXd covariance(2, 2);
  covariance << 1.0, 0.48, 0.48, 0.25;  // correlation 0.96
  constexpr int kRuns = 60;
  MethodOptions full;
  full.full_covariance = true;
  for (const char* name : {"wls", "irls"}) {
    double pooled = 0.0, with = 0.0, without = 0.0;
    Eigen::Index size = 0;
    for (unsigned run = 0; run < kRuns; ++run) {
      IdentificationProblem problem = correlatedProblem(tree, 40 + run, covariance);
      const Eigen::VectorXd truth = baseMatrix(problem.base) * declaredValues(*tree);
      const Estimate estimate = identify(name, problem, full);
      with += (estimate.beta - truth).squaredNorm();
      without += (identify(name, problem).beta - truth).squaredNorm();
      pooled += normalisedError(estimate, truth) / kRuns;
      size = truth.size();
    }
    EXPECT_LT(with, 0.7 * without) << name;
    EXPECT_NEAR(pooled, 1.0, 4.0 * std::sqrt(2.0 / static_cast<double>(size * kRuns))) << name;
  }
}

/// Claim: too few samples with all joints are refused in words.
TEST(JointCovariance, RefusesTooFewSamples) {
  const auto tree = treeOf("planar_2r");
  MotionData data = noisyData(*tree, 200, 0.1, 1);
  data.use.col(0).tail(185).setConstant(false);
  const IdentificationProblem problem = identificationProblem(tree, {data});
  MethodOptions full;
  full.full_covariance = true;
  EXPECT_THROW(identify("wls", problem, full), Error);
}

TriangularSystem systemOf(const Eigen::MatrixXd& W, const Eigen::VectorXd& y) {
  const Eigen::Index n = W.cols();
  StreamingQr qr(n + 1);
  Eigen::MatrixXd rows(W.rows(), n + 1);
  rows << W, y;
  qr.add(rows);
  TriangularSystem system;
  system.A = qr.factor().topLeftCorner(n, n).triangularView<Eigen::Upper>();
  system.b = qr.factor().col(n).head(n);
  system.rest = std::abs(qr.factor()(n, n));
  system.rows = W.rows();
  return system;
}

/// Claim: noise of equal size in regressor and torque biases least squares towards zero and leaves
/// total least squares unbiased, with the variance that its covariance says.
TEST(TotalLeastSquares, IsUnbiasedUnderNoiseInTheRegressor) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> gaussian(0.0, 1.0);
  const auto normal = [&] { return gaussian(random); };
  constexpr int kRuns = 300;
  constexpr Eigen::Index kRows = 500, kUnknowns = 4;
  constexpr double kNoise = 0.15;
  const Eigen::Vector4d truth(1.0, -2.0, 0.5, 1.5);
  const Eigen::MatrixXd W = Eigen::MatrixXd::NullaryExpr(kRows, kUnknowns, normal);
  Eigen::VectorXd total = Eigen::Vector4d::Zero(), ordinary = total;
  double squares = 0.0, expected = 0.0;
  for (int run = 0; run < kRuns; ++run) {
    const Eigen::MatrixXd noisy =
        W + kNoise * Eigen::MatrixXd::NullaryExpr(kRows, kUnknowns, normal);
    const Eigen::VectorXd y = W * truth + kNoise * Eigen::VectorXd::NullaryExpr(kRows, normal);
    const TotalLeastSquares solution = solveTotalLeastSquares(systemOf(noisy, y));
    ASSERT_TRUE(solution.solved);
    total += solution.x / kRuns;
    ordinary += leastSquares(noisy, y) / kRuns;
    squares += (solution.x - truth).squaredNorm();
    expected += solution.covariance.trace();
  }
  // attenuation 1 / (1 + noise^2); four deviations of the mean
  const double deviation = std::sqrt(expected / kRuns / kUnknowns / kRuns);
  EXPECT_LT((total - truth).cwiseAbs().maxCoeff(), 4.0 * deviation);
  EXPECT_NEAR(ordinary.norm() / truth.norm(), 1.0 / (1.0 + kNoise * kNoise), 0.005);
  // the formula leaves out a term of relative size noise^2; four deviations of a pooled variance
  EXPECT_NEAR(squares / expected, 1.0,
              kNoise * kNoise + 4.0 * std::sqrt(2.0 / (kRuns * kUnknowns)));
}

/// Claim: where the smallest direction contains no torque there is no solution, and the method says
/// so with the values of wls instead of numbers that are not finite.
TEST(TotalLeastSquares, ReportsTheDegenerateCase) {
  // the second column is always zero, the torque is not explained
  Eigen::MatrixXd W = Eigen::MatrixXd::Zero(5, 2);
  W.col(0).setOnes();
  const Eigen::VectorXd y = Eigen::VectorXd::LinSpaced(5, 0.0, 1.0);
  EXPECT_FALSE(solveTotalLeastSquares(systemOf(W, y)).solved);

  const auto tree = treeOf("planar_2r");
  MotionData still = noisyData(*tree, 200, 0.1, 1);
  still.v.setZero();
  still.a.setZero();
  still.tau =
      predictTorques(*tree, ParameterLayout(tree->sharedModel()), declaredValues(*tree), still);
  still.tau.array() += 0.1 * still.q.array().sin();
  const IdentificationProblem problem = identificationProblem(tree, {still});
  const Estimate estimate = identify("tls", problem);
  EXPECT_FALSE(estimate.converged);
  ASSERT_FALSE(estimate.notes.empty());
  EXPECT_NE(estimate.notes.back().find("no solution"), std::string::npos);
  EXPECT_TRUE(estimate.beta.allFinite());
  EXPECT_TRUE(estimate.covariance.allFinite());
}

}  // namespace
}  // namespace proprio
