#include "proprio/numerics/dense.h"

#include <gtest/gtest.h>

namespace proprio {
namespace {

using Eigen::MatrixXd;

// Claim: each decomposition multiplies back to its matrix, tall, wide and rank deficient ones
// included; solutions fulfil their equations.
TEST(Dense, DecompositionsMultiplyBack) {
  const MatrixXd tall = MatrixXd::Random(7, 4), wide = tall.transpose();
  for (const MatrixXd& A : {tall, wide, MatrixXd(tall * wide)}) {
    const Svd parts = svd(A);
    EXPECT_LT((parts.U * parts.values.asDiagonal() * parts.V.transpose() - A).norm(), 1e-13);
    EXPECT_LT((parts.values - singularValues(A)).norm(), 1e-13);
    const MatrixXd R = triangularFactor(A);
    EXPECT_LT((R.transpose() * R - A.transpose() * A).norm(), 1e-12);
  }
  const MatrixXd positive = wide * tall;
  const SymmetricEigen eigen = symmetricEigen(positive);
  EXPECT_LT(
      (eigen.vectors * eigen.values.asDiagonal() * eigen.vectors.transpose() - positive).norm(),
      1e-13);
  const MatrixXd L = choleskyFactor(positive).value();
  EXPECT_LT((L * L.transpose() - positive).norm(), 1e-13);
  EXPECT_FALSE(choleskyFactor(-positive).has_value());
  const MatrixXd B = MatrixXd::Random(4, 2);
  EXPECT_LT((positive * solveSymmetric(positive, B) - B).norm(), 1e-10);
  EXPECT_LT((positive * solveSquare(positive, B) - B).norm(), 1e-10);
}

// Claim: least squares of a rank-deficient matrix has a residual orthogonal to its columns and no
// part in its null space.
TEST(Dense, LeastSquaresIsOfMinimalNorm) {
  MatrixXd A = MatrixXd::Random(6, 3);
  A.col(2) = A.col(0) + A.col(1);
  const MatrixXd b = MatrixXd::Random(6, 1);
  const MatrixXd x = leastSquares(A, b);
  EXPECT_LT((A.transpose() * (A * x - b)).norm(), 1e-12);
  EXPECT_NEAR(x(0) + x(1) - x(2), 0.0, 1e-12);
}

}  // namespace
}  // namespace proprio
