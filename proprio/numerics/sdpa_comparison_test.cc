#include <gtest/gtest.h>

#include <random>

#include "proprio/numerics/lmi_least_squares.h"
#include "proprio/numerics/testing/random_matrices.h"
#include "proprio/numerics/testing/sdpa.h"

namespace proprio {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::normalMatrix;

/// Claim: the objective is that of an independent solver to 1e-6, and the own gap is below 1e-8 of
/// it: random problems with one to six blocks, inequalities, rank-deficient data with a prior.
TEST(SdpaComparison, RandomProblems) {
  if (!testing::haveSdpa()) GTEST_SKIP() << "sdpa is not installed (Debian package sdpa)";
  int compared = 0;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    const int blocks = 1 + static_cast<int>(seed % 6);
    const Eigen::Index n = 10 * blocks + 3;
    LmiProblem problem;
    const Eigen::Index data = seed % 3 == 0 ? n / 2 : 2 * n;
    problem.A = MatrixXd::Zero(data + n, n);
    problem.A.topRows(data) = normalMatrix(random, data, n);
    problem.A.bottomRows(n) = 0.1 * MatrixXd::Identity(n, n);
    problem.b = VectorXd::Zero(data + n);
    problem.b.head(data) = 3.0 * normalMatrix(random, data, 1);
    for (int k = 0; k < blocks; ++k) {
      PsdBlock block;
      for (int i = 0; i < 10; ++i) block.variables.push_back(10 * k + i);
      block.map = MatrixXd::Identity(10, 10) + 0.1 * normalMatrix(random, 10, 10);
      for (const int i : {0, 2, 5, 9}) block.constant[i] = 1.0;
      problem.blocks.push_back(block);
    }
    for (int l = 0; l < 3; ++l) {
      const int variable = static_cast<int>(n) - 1 - l;
      problem.inequalities.push_back({{variable, l}, Eigen::Vector2d(1.0, 0.3), -0.2});
    }
    problem = withTriangularRows(problem);
    const LmiSolution own = solveLmiLeastSquares(problem);
    ASSERT_EQ(own.status, LmiStatus::kSolved) << seed;
    EXPECT_LT(own.gap, 1e-8 * own.objective) << seed;
    const testing::SdpaAnswer other = testing::solveWithSdpa(problem, own.objective);
    if (!other.optimal) continue;  // it does not always reach its own tolerance
    ++compared;
    EXPECT_NEAR(own.objective, other.objective, 1e-6 * other.objective) << seed;
  }
  EXPECT_GE(compared, 10);
}

}  // namespace
}  // namespace proprio
