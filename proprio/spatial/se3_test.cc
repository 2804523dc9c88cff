#include "proprio/spatial/se3.h"

#include <gtest/gtest.h>

#include <limits>
#include <numbers>

#include "proprio/spatial/testing/test_utilities.h"

namespace proprio {
namespace {

using testing::derivative;
using testing::randomPose;
using testing::randomVector;
using testing::randomVector6;

constexpr double kSe3Round = 1e-13;
// Sixth-order differences with step 5e-3 of functions of order one to ten.
constexpr double kSe3Difference = 1e-10;

/// exp(A) by its series: of A / 2^6, squared six times; the terms left out are below 1e-20 for |A|
/// below 7.
Eigen::Matrix4d matrixExponential(const Eigen::Matrix4d& A) {
  Eigen::Matrix4d sum = Eigen::Matrix4d::Identity(), term = sum;
  for (int k = 1; k <= 14; ++k) {
    term = term * A / (64.0 * k);
    sum += term;
  }
  for (int k = 0; k < 6; ++k) sum = (sum * sum).eval();
  return sum;
}

// Hat and vee are inverse, and the exponential is that of the 4x4 matrix.
TEST(Se3, ExponentialIsTheMatrixExponential) {
  std::mt19937 rng(1);
  for (double scale : {0.0, 1e-9, 1e-4, 0.1, 0.2, 0.3, 1.0, 3.0}) {
    const Vector6d x = scale * randomVector6(rng);
    EXPECT_EQ(twistVee(twistHat(x)), x);
    const Eigen::Matrix4d expected = matrixExponential(twistHat(x));
    EXPECT_LT((poseExp(x).matrix() - expected).norm(), kSe3Round * (1.0 + scale * scale));
  }
}

// The logarithm undoes the exponential for angles from 0 to almost pi.
TEST(Se3, LogarithmUndoesExponential) {
  std::mt19937 rng(2);
  for (double angle : {0.0, 1e-12, 1e-6, 0.01, 0.2499, 0.2501, 1.0, 3.0, std::numbers::pi - 1e-4,
                       std::numbers::pi - 1e-8}) {
    for (int trial = 0; trial < 10; ++trial) {
      Vector6d x = randomVector6(rng);
      x.tail<3>() = angle * x.tail<3>().normalized();
      EXPECT_LT((poseLog(poseExp(x)) - x).norm(), kSe3Round) << "angle " << angle;
    }
  }
}

// At exactly half a turn the logarithm still reproduces the pose, whichever sign it chose.
TEST(Se3, LogarithmOfHalfTurn) {
  for (const Vector3d& axis : {Vector3d(1, 0, 0), Vector3d(0, 0, 1), Vector3d(0.6, 0.0, -0.8)}) {
    const Pose X{2.0 * axis * axis.transpose() - Matrix3d::Identity(), {0.3, -1.0, 2.0}};
    const Vector6d x = poseLog(X);
    EXPECT_NEAR(x.tail<3>().norm(), std::numbers::pi, kSe3Round);
    EXPECT_LT((poseExp(x).matrix() - X.matrix()).norm(), kSe3Round);
  }
}

// The exponential integrates a constant body twist: d/dt exp(t x) = exp(t x) x^.
TEST(Se3, ExponentialSolvesItsDifferentialEquation) {
  std::mt19937 rng(3);
  const Vector6d x = randomVector6(rng);
  const auto pose = [&](double t) { return poseExp(t * x).matrix(); };
  EXPECT_LT((derivative(pose, 0.7) - pose(0.7) * twistHat(x)).norm(), kSe3Difference);
}

// The Jacobian of the rotation exponential agrees with differences and with its inverse, on both
// sides of the switch to series.
TEST(Se3, RotationExpJacobian) {
  std::mt19937 rng(4);
  for (double angle : {0.0, 1e-6, 0.2499, 0.2501, 1.0, 3.0}) {
    const Vector3d w = angle * randomVector(rng).normalized(), w_dot = randomVector(rng);
    const auto R = [&](double t) { return rotationExp(w + t * w_dot); };
    const Matrix3d R_dot = derivative(R, 0.0);
    const Matrix3d J = rotationExpJacobian(w);
    EXPECT_LT((R_dot - skew(J * w_dot) * R(0.0)).norm(), kSe3Difference);
    EXPECT_LT((R_dot - R(0.0) * skew(J.transpose() * w_dot)).norm(), kSe3Difference);
    EXPECT_LT((J * rotationExpJacobianInverse(w) - Matrix3d::Identity()).norm(), kSe3Round);
  }
}

// The 6D cross product is the commutator of se(3), anticommutes, and satisfies Jacobi's identity.
TEST(Se3, MotionCrossIsTheCommutator) {
  std::mt19937 rng(5);
  const Vector6d x = randomVector6(rng), y = randomVector6(rng), z = randomVector6(rng);
  const Eigen::Matrix4d commutator = twistHat(x) * twistHat(y) - twistHat(y) * twistHat(x);
  EXPECT_LT((twistHat(motionCross(x, y)) - commutator).norm(), kSe3Round);
  EXPECT_LT((motionCross(x, y) - motionCrossMatrix(x) * y).norm(), kSe3Round);
  EXPECT_LT((motionCross(x, y) + motionCross(y, x)).norm(), kSe3Round);
  EXPECT_LT(motionCross(x, x).norm(), kSe3Round);
  const Vector6d jacobi = motionCross(x, motionCross(y, z)) + motionCross(y, motionCross(z, x)) +
                          motionCross(z, motionCross(x, y));
  EXPECT_LT(jacobi.norm(), 10 * kSe3Round);
}

// The dual cross product is minus the transpose, and both commute with the change of frame.
TEST(Se3, ForceCrossIsDual) {
  std::mt19937 rng(6);
  const Vector6d x = randomVector6(rng), f = randomVector6(rng);
  EXPECT_LT((forceCrossMatrix(x) + motionCrossMatrix(x).transpose()).norm(), kSe3Round);
  EXPECT_LT((forceCross(x, f) - forceCrossMatrix(x) * f).norm(), kSe3Round);
  const Pose X_AB = randomPose(rng);
  const Vector6d x_A = velocityAdjoint(X_AB) * x;
  EXPECT_LT((velocityAdjoint(X_AB) * motionCrossMatrix(x) -
             motionCrossMatrix(x_A) * velocityAdjoint(X_AB))
                .norm(),
            10 * kSe3Round);
  EXPECT_LT((forceAdjoint(X_AB) * forceCrossMatrix(x) - forceCrossMatrix(x_A) * forceAdjoint(X_AB))
                .norm(),
            10 * kSe3Round);
}

// Adjoints of a moving frame change by the cross products: X' = X (V x), and the dual.
TEST(Se3, AdjointRates) {
  std::mt19937 rng(7);
  const auto motion = testing::SmoothMotion::random(rng);
  const double t = 0.3;
  const Eigen::Matrix4d H_dot = derivative([&](double s) { return motion(s).matrix(); }, t);
  const Vector6d V = twistVee(motion(t).inverse().matrix() * H_dot);
  const Matrix6d X_dot = derivative([&](double s) { return velocityAdjoint(motion(s)); }, t);
  const Matrix6d F_dot = derivative([&](double s) { return forceAdjoint(motion(s)); }, t);
  EXPECT_LT((X_dot - velocityAdjoint(motion(t)) * motionCrossMatrix(V)).norm(),
            1e2 * kSe3Difference);
  EXPECT_LT((F_dot - forceAdjoint(motion(t)) * forceCrossMatrix(V)).norm(), 1e2 * kSe3Difference);
}

// NaN goes through instead of turning into a pose.
TEST(Se3, NanIsKept) {
  Vector6d x = Vector6d::Zero();
  x[4] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(poseExp(x).R.hasNaN());
  EXPECT_TRUE(poseLog(poseExp(x)).hasNaN());
}

}  // namespace
}  // namespace proprio
