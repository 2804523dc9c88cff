#include "proprio/identification/recursive_least_squares.h"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <random>

#include "proprio/core/error.h"
#include "proprio/numerics/dense.h"

namespace proprio {
namespace {

using Eigen::Index;

struct Rows {
  Eigen::MatrixXd W;
  Eigen::VectorXd y, beta;
};

Rows randomRows(Index count, Index unknowns, double noise, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  Rows rows;
  rows.beta = Eigen::VectorXd::NullaryExpr(unknowns, [&] { return normal(random); });
  rows.W = Eigen::MatrixXd::NullaryExpr(count, unknowns, [&] { return normal(random); });
  rows.y = rows.W * rows.beta +
           noise * Eigen::VectorXd::NullaryExpr(count, [&] { return normal(random); });
  return rows;
}

/// Claim (A-30, L-78): without prior the estimate after k rows is least squares over k rows, and
/// there is none before the rows determine it.
TEST(RecursiveLeastSquares, EqualsAllRowsAtOnce) {
  const Rows rows = randomRows(60, 7, 0.3, 1);
  RecursiveLeastSquares online(7);
  Eigen::VectorXd beta = Eigen::VectorXd::Constant(7, 5.0);
  for (Index k = 0; k < 60; ++k) {
    online.add(rows.W.row(k), rows.y[k], 0.3);
    EXPECT_EQ(online.estimate(beta), k >= 6) << k;
    if (k < 6) {
      EXPECT_EQ(beta, Eigen::VectorXd::Constant(7, 5.0));  // untouched
      EXPECT_THROW(online.covariance(), Error);
      continue;
    }
    const Eigen::VectorXd batch = leastSquares(rows.W.topRows(k + 1), rows.y.head(k + 1));
    EXPECT_LT((beta - batch).norm(), 1e-10 * (1.0 + batch.norm())) << k;
  }
  const Eigen::MatrixXd P = inverseOf(rows.W.transpose() * rows.W / 0.09);
  EXPECT_LT((online.covariance() - P).norm(), 1e-11 * P.norm());
  EXPECT_NEAR(online.residual(), (rows.W * beta - rows.y).norm() / 0.3, 1e-9);
  EXPECT_EQ(online.rows(), 60);
}

/// Claim: with a prior it is the recursion with gains, row by row.
TEST(RecursiveLeastSquares, EqualsTheRecursionWithGains) {
  const Rows rows = randomRows(200, 6, 0.1, 2);
  const Eigen::VectorXd before = Eigen::VectorXd::Constant(6, 0.5);
  Eigen::VectorXd deviations(6);
  deviations << 1, 2, 0.5, 10, 0.1, 3;
  RecursiveLeastSquares online(before, deviations);
  Eigen::VectorXd expected = before, beta(6);
  Eigen::MatrixXd P = deviations.cwiseAbs2().asDiagonal();
  for (Index k = 0; k < 200; ++k) {
    const Eigen::RowVectorXd w = rows.W.row(k);
    const Eigen::VectorXd K = P * w.transpose() / (0.01 + w * P * w.transpose());
    expected += K * (rows.y[k] - w * expected);
    P -= (K * w * P).eval();
    online.add(w, rows.y[k], 0.1);
    ASSERT_TRUE(online.estimate(beta));
    ASSERT_LT((beta - expected).norm(), 1e-9) << k;
  }
  EXPECT_LT((online.covariance() - P).norm(), 1e-9 * P.norm());
}

/// Claim: with forgetting it is least squares with weights that fade.
TEST(RecursiveLeastSquares, Forgets) {
  const Rows rows = randomRows(80, 4, 0.5, 3);
  RecursiveLeastSquares online(4);
  Eigen::VectorXd weights(80), beta(4);
  for (Index k = 0; k < 80; ++k) {
    online.forget(0.9);
    online.add(rows.W.row(k), rows.y[k]);
    weights[k] = std::pow(0.9, static_cast<double>(79 - k));
  }
  ASSERT_TRUE(online.estimate(beta));
  const Eigen::MatrixXd WtS = rows.W.transpose() * weights.asDiagonal();
  EXPECT_LT((beta - solveSymmetric(WtS * rows.W, WtS * rows.y)).norm(), 1e-10);
}

/// Claim: what is no row changes nothing; nonsense before the first row is refused.
TEST(RecursiveLeastSquares, LeavesOutNonsense) {
  RecursiveLeastSquares online(Eigen::Vector2d(1, 2), Eigen::Vector2d(1, 1));
  online.add(Eigen::RowVector2d(1, NAN), 1.0);
  online.add(Eigen::RowVector2d(1, 1), INFINITY);
  online.add(Eigen::RowVector2d(1, 1), 1.0, 0.0);
  online.add(Eigen::RowVector3d(1, 1, 1), 1.0);
  online.forget(0.0);
  online.forget(NAN);
  Eigen::VectorXd beta(2);
  ASSERT_TRUE(online.estimate(beta));
  EXPECT_EQ(beta, Eigen::Vector2d(1, 2));
  EXPECT_EQ(online.rows(), 0);
  Eigen::VectorXd short_one(1);
  EXPECT_FALSE(online.estimate(short_one));
  EXPECT_THROW(RecursiveLeastSquares(Eigen::Vector2d(1, 2), Eigen::Vector3d(1, 1, 1)), Error);
  EXPECT_THROW(RecursiveLeastSquares(Eigen::Vector2d(1, NAN), Eigen::Vector2d(1, 1)), Error);
  EXPECT_THROW(RecursiveLeastSquares(Eigen::Vector2d(1, 2), Eigen::Vector2d(1, 0)), Error);
  Eigen::VectorXd none(0);
  EXPECT_TRUE(RecursiveLeastSquares(0).estimate(none));
}

}  // namespace
}  // namespace proprio
