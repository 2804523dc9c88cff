#include "proprio/spatial/log_cholesky.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "proprio/core/error.h"
#include "proprio/spatial/physical_consistency.h"
#include "proprio/spatial/testing/test_utilities.h"

namespace proprio {
namespace {

using testing::randomBody;

constexpr double kCholeskyRound = 1e-12;
constexpr double kCholeskyDifference = 1e-9;

// Body to theta and back is the identity in both directions.
TEST(LogCholesky, RoundTrip) {
  std::mt19937 rng(1);
  for (int trial = 0; trial < 20; ++trial) {
    const auto body = randomBody(rng);
    const Vector10d theta = logCholesky(body);
    EXPECT_LT((fromLogCholesky(theta).vector() - body.vector()).norm(), kCholeskyRound);
    const Vector10d any = 1.5 * Vector10d::Random();
    EXPECT_LT((logCholesky(fromLogCholesky(any)) - any).norm(), 1e3 * kCholeskyRound);
  }
}

// The first number is half the logarithm of the mass, the last three are the centre of mass.
TEST(LogCholesky, NumbersHaveMeaning) {
  std::mt19937 rng(2);
  const auto body = randomBody(rng);
  const Vector10d theta = logCholesky(body);
  EXPECT_NEAR(std::exp(2.0 * theta[0]), body.mass, kCholeskyRound);
  EXPECT_LT((theta.tail<3>() - body.com()).norm(), kCholeskyRound);
  const auto heavier = InertialParameters::fromVector(4.0 * body.vector());
  const Vector10d change = logCholesky(heavier) - theta;
  EXPECT_LT((change - std::log(2.0) * Vector10d::Unit(0)).norm(), kCholeskyRound);
}

// Any ten numbers are a fully consistent body.
TEST(LogCholesky, EveryThetaIsPossible) {
  for (int trial = 0; trial < 100; ++trial) {
    const auto body = fromLogCholesky(2.0 * Vector10d::Random());
    EXPECT_TRUE(consistencyMargins(body).fullyConsistent());
  }
}

// The Jacobian agrees with finite differences, and the inverse one is its inverse.
TEST(LogCholesky, Jacobians) {
  for (int trial = 0; trial < 10; ++trial) {
    const Vector10d theta = Vector10d::Random();
    const Matrix10d J = logCholeskyJacobian(theta);
    const auto numeric = testing::jacobian(
        [](const Eigen::VectorXd& x) { return fromLogCholesky(x).vector(); }, theta);
    EXPECT_LT((J - numeric).norm(), kCholeskyDifference * (1.0 + J.norm()));
    EXPECT_LT((logCholeskyInverseJacobian(theta) * J - Matrix10d::Identity()).norm(),
              1e2 * kCholeskyRound);
  }
}

// The inverse Jacobian agrees with finite differences of the factorisation.
TEST(LogCholesky, InverseJacobianAgreesWithDifferences) {
  const auto body = fromLogCholesky(0.5 * Vector10d::Random());
  const auto numeric = testing::jacobian(
      [](const Eigen::VectorXd& x) { return logCholesky(InertialParameters::fromVector(x)); },
      body.vector(), 1e-4);
  const Matrix10d J = logCholeskyInverseJacobian(logCholesky(body));
  EXPECT_LT((J - numeric).norm(), 1e-6 * (1.0 + J.norm()));
}

// Bodies without a factor (massless, flat, impossible, not a number) are refused with a sentence.
TEST(LogCholesky, ImpossibleBodiesAreRefused) {
  EXPECT_THROW(logCholesky(InertialParameters{}), Error);
  const Matrix3d thin = Vector3d(1.0, 1.0, 3.0).asDiagonal();
  EXPECT_THROW(logCholesky(InertialParameters::fromCom(1.0, Vector3d::Zero(), thin)), Error);
  InertialParameters nan;
  nan.mass = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(logCholesky(nan), Error);
}

}  // namespace
}  // namespace proprio
