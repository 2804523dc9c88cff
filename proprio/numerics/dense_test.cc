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

// Claim: triangular solves read the upper triangle only.
TEST(Dense, TriangularSolves) {
  MatrixXd R = MatrixXd::Random(4, 4);
  R.diagonal().array() += 3.0;
  const MatrixXd upper = R.triangularView<Eigen::Upper>(), B = MatrixXd::Random(4, 2);
  EXPECT_LT((upper * solveUpper(R, B) - B).norm(), 1e-14);
  EXPECT_LT((upper.transpose() * solveUpperTransposed(R, B) - B).norm(), 1e-14);
}

// Claim: bases of range and null space are orthonormal, of the right size, and complete; the
// lengths of columns do not matter.
TEST(Dense, BasesOfRangeAndNullSpace) {
  MatrixXd A = MatrixXd::Random(6, 4);
  A.col(3) = 1e-12 * (A.col(0) - A.col(1));
  const MatrixXd Q = rangeBasis(A, 1e-8), N = nullBasis(A, 1e-8);
  ASSERT_EQ(Q.cols(), 3);
  EXPECT_LT((Q.transpose() * Q - MatrixXd::Identity(3, 3)).norm(), 1e-14);
  EXPECT_LT((Q * (Q.transpose() * A) - A).norm(), 1e-14);
  ASSERT_EQ(N.cols(), 1);
  EXPECT_LT((A * N).norm(), 1e-12);
  EXPECT_EQ(nullBasis(MatrixXd::Zero(2, 3), 1e-8).cols(), 3);
}

// Claim: matrices without rows or columns have decompositions too.
TEST(Dense, EmptyMatrices) {
  EXPECT_EQ(svd(MatrixXd(0, 0)).values.size(), 0);
  EXPECT_EQ(svd(MatrixXd(0, 3), true).V.cols(), 3);
  EXPECT_EQ(svd(MatrixXd(3, 0)).U.rows(), 3);
}

}  // namespace
}  // namespace proprio
