#include "proprio/numerics/dense.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
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

// A decomposition is one of singular values if it gives the matrix back, its factors are
// orthonormal and its values are descending and not negative. All shapes, lost ranks, zeros,
// numbers near the ends of what double holds. A backward stable method leaves some (rows + columns)
// roundings.
TEST(Dense, SingularValuesOfAnyMatrix) {
  std::mt19937 rng(5);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 240; ++trial) {
    const Eigen::Index m = 1 + static_cast<int>(rng() % 30), n = 1 + static_cast<int>(rng() % 30);
    const double scale = trial % 6 == 3 ? 1e-200 : trial % 6 == 4 ? 1e180 : 1.0;
    MatrixXd A(m, n);
    for (Eigen::Index j = 0; j < n; ++j) {
      const double size = trial % 6 == 5 ? std::pow(10.0, -static_cast<double>(j)) : 1.0;
      const bool repeated = trial % 6 == 1 && j > 1;
      for (Eigen::Index i = 0; i < m; ++i)
        A(i, j) = trial % 6 == 2 ? 0.0 : repeated ? A(i, j % 2) : scale * size * normal(rng);
    }
    for (const bool full : {false, true}) {
      const Svd parts = svd(A, full);
      const Eigen::Index count = std::min(m, n);
      ASSERT_EQ(parts.U.cols(), count);
      ASSERT_EQ(parts.V.cols(), full ? n : count);
      const MatrixXd unit_u = parts.U.transpose() * parts.U, unit_v = parts.V.transpose() * parts.V;
      MatrixXd thin = parts.V, rebuilt;
      thin.conservativeResize(n, count);
      for (Eigen::Index k = 0; k < count; ++k) thin.col(k) *= parts.values[k] / scale;
      rebuilt = parts.U * thin.transpose();
      A /= scale;
      const double tolerance = 1e-15 * static_cast<double>(4 * (m + n));
      EXPECT_TRUE(rebuilt.isApprox(A, tolerance) || (rebuilt - A).norm() < tolerance) << trial;
      A *= scale;
      EXPECT_LT((unit_u - MatrixXd::Identity(count, count)).norm(), tolerance) << trial;
      EXPECT_LT((unit_v - MatrixXd::Identity(unit_v.rows(), unit_v.rows())).norm(), tolerance)
          << trial;
      for (Eigen::Index k = 0; k < count; ++k) {
        EXPECT_GE(parts.values[k], k + 1 < count ? parts.values[k + 1] : 0.0) << trial;
        EXPECT_NEAR(singularValues(A)[k], parts.values[k], tolerance * parts.values[0]) << trial;
      }
    }
  }
  MatrixXd bad = MatrixXd::Ones(3, 2);
  bad(1, 1) = std::nan("");
  EXPECT_TRUE(std::isnan(singularValues(bad)[0]));
  EXPECT_TRUE(std::isnan(svd(bad, true).V(1, 1)));
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
