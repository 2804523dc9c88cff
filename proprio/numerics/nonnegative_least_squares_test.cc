#include "proprio/numerics/nonnegative_least_squares.h"

#include <gtest/gtest.h>

#include <Eigen/QR>
#include <random>

#include "proprio/core/error.h"
#include "proprio/numerics/testing/random_matrices.h"

namespace proprio {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::normalMatrix;

/// Claim: the optimality conditions hold: slopes vanish where x is positive or free, and point out
/// of the feasible set where it is zero. Wide and tall problems.
TEST(NonnegativeLeastSquares, OptimalityConditions) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 30; ++trial) {
    const Eigen::Index rows = 20, columns = trial % 2 == 0 ? 60 : 12;
    const int free = trial % 3;
    const MatrixXd A = normalMatrix(random, rows, columns);
    const VectorXd b = normalMatrix(random, rows, 1);
    const NonnegativeSolution solution = nonnegativeLeastSquares(A, b, free);
    ASSERT_TRUE(solution.converged);
    const VectorXd slope = A.transpose() * (b - A * solution.x);
    for (Eigen::Index i = 0; i < columns; ++i) {
      if (i < free || solution.x[i] > 0.0) {
        EXPECT_NEAR(slope[i], 0.0, 1e-9);
      } else {
        EXPECT_EQ(solution.x[i], 0.0);
        EXPECT_LT(slope[i], 1e-9);
      }
    }
  }
}

/// Claim: an unconstrained solution that is positive is found as it is; nothing to explain gives
/// zero; nonsense is refused.
TEST(NonnegativeLeastSquares, Edges) {
  std::mt19937 random(2);
  const MatrixXd A = normalMatrix(random, 9, 4);
  const VectorXd x = normalMatrix(random, 4, 1).cwiseAbs();
  EXPECT_LT((nonnegativeLeastSquares(A, A * x).x - x).norm(), 1e-12);
  EXPECT_EQ(nonnegativeLeastSquares(A, VectorXd::Zero(9)).x.norm(), 0.0);
  EXPECT_EQ(nonnegativeLeastSquares(MatrixXd(3, 0), VectorXd::Ones(3)).x.size(), 0);
  EXPECT_THROW(nonnegativeLeastSquares(A, VectorXd::Ones(8)), Error);
  EXPECT_THROW(nonnegativeLeastSquares(A, VectorXd::Constant(9, NAN)), Error);
}

}  // namespace
}  // namespace proprio
