#include "proprio/spatial/pose.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "proprio/core/error.h"

namespace proprio {
namespace {

// A handful of operations on numbers of order one.
constexpr double kPoseRound = 1e-14;

Vector3d anyVector(std::mt19937& rng, double scale = 1.0) {
  std::normal_distribution<double> normal(0.0, scale);
  return {normal(rng), normal(rng), normal(rng)};
}

Pose anyPose(std::mt19937& rng) { return {rotationExp(anyVector(rng)), anyVector(rng)}; }

// skew() is the matrix of the cross product and unskew() its inverse.
TEST(Pose, SkewIsTheCrossProduct) {
  const Vector3d a(1.0, -2.0, 3.0), b(0.5, 4.0, -1.0);
  EXPECT_EQ(skew(a) * b, a.cross(b));
  EXPECT_EQ(unskew(skew(a)), a);
  EXPECT_EQ(unskew(Matrix3d(b * b.transpose())), Vector3d::Zero());
}

// rotationExp() agrees with Eigen's angle-axis over twelve decades of angles.
TEST(Pose, ExponentialAgreesWithAngleAxis) {
  std::mt19937 rng(1);
  for (double angle : {0.0, 1e-12, 1e-8, 1e-4, 0.3, 1.5, 3.0, std::numbers::pi, 5.0, 100.0}) {
    const Vector3d axis = anyVector(rng).normalized();
    const Matrix3d expected = Eigen::AngleAxisd(angle, axis).toRotationMatrix();
    EXPECT_LT((rotationExp(angle * axis) - expected).norm(), 10 * kPoseRound * (1.0 + angle));
  }
}

// Turns whose square is no number are rotations, too.
TEST(Pose, ExponentialOfHugeAngles) {
  for (const double angle : {1e100, 1e200, 1e300}) {
    const Matrix3d R = rotationExp(angle * Vector3d::UnitZ());
    EXPECT_NEAR(R(0, 0), std::cos(angle), kPoseRound);
    EXPECT_NEAR(R(1, 0), std::sin(angle), kPoseRound);
    EXPECT_LT((R * R.transpose() - Matrix3d::Identity()).norm(), 10 * kPoseRound);
  }
}

// The logarithm undoes the exponential with full relative accuracy from 1e-150 to pi - 1e-15.
TEST(Pose, LogarithmUndoesExponentialEverywhere) {
  std::mt19937 rng(2);
  for (double angle : {1e-150, 1e-12, 1e-8, 1e-3, 1.0, 2.0, 3.0, std::numbers::pi - 1e-6,
                       std::numbers::pi - 1e-9, std::numbers::pi - 1e-15}) {
    for (int trial = 0; trial < 20; ++trial) {
      const Vector3d w = angle * anyVector(rng).normalized();
      const Vector3d log = rotationLog(rotationExp(w));
      // at pi the two signs of the axis are the same rotation up to rounding of the angle
      const double error = std::min((log - w).norm(), angle > 3.14 ? (log + w).norm() : 1.0);
      EXPECT_LT(error, 10 * kPoseRound * angle) << "angle " << angle;
    }
  }
  EXPECT_EQ(rotationLog(Matrix3d::Identity()), Vector3d::Zero());
}

// Half turns about every coordinate axis and a diagonal have an axis of length pi.
TEST(Pose, LogarithmOfHalfTurns) {
  for (const Vector3d& axis : {Vector3d(1, 0, 0), Vector3d(0, 1, 0), Vector3d(0, 0, 1),
                               Vector3d(1, -1, 1).normalized().eval()}) {
    const Matrix3d R = 2.0 * axis * axis.transpose() - Matrix3d::Identity();
    const Vector3d w = rotationLog(R);
    EXPECT_NEAR(w.norm(), std::numbers::pi, kPoseRound);
    EXPECT_NEAR(std::abs(w.dot(axis)), std::numbers::pi, kPoseRound);
  }
}

// Roll, pitch and yaw are the URDF convention: fixed axes x, then y, then z.
TEST(Pose, RpyIsFixedAxesXyz) {
  const Vector3d rpy(0.3, -0.8, 2.1);
  const Matrix3d expected = (Eigen::AngleAxisd(rpy.z(), Vector3d::UnitZ()) *
                             Eigen::AngleAxisd(rpy.y(), Vector3d::UnitY()) *
                             Eigen::AngleAxisd(rpy.x(), Vector3d::UnitX()))
                                .toRotationMatrix();
  EXPECT_LT((rotationFromRpy(rpy) - expected).norm(), kPoseRound);
  EXPECT_LT((rpyFromRotation(expected) - rpy).norm(), kPoseRound);
}

// The angles read back from a matrix rebuild it, also arbitrarily near gimbal lock.
TEST(Pose, RpyRebuildsTheMatrixAtThePole) {
  for (double distance : {0.0, 1e-16, 1e-13, 1e-11, 1e-9, 1e-6, 1e-3}) {
    for (double sign : {-1.0, 1.0}) {
      const Matrix3d R = rotationFromRpy({0.4, sign * (std::numbers::pi / 2 - distance), -1.1});
      const Vector3d rpy = rpyFromRotation(R);
      EXPECT_LE(std::abs(rpy.y()), std::numbers::pi / 2);
      EXPECT_LT((rotationFromRpy(rpy) - R).norm(), 1e-11) << distance;
    }
  }
  EXPECT_EQ(rpyFromRotation(rotationFromRpy({0.4, std::numbers::pi / 2, 0.0})).x(), 0.0);
}

// Quaternions are (x, y, z, w), of unit length with w >= 0, and go to the matrix and back.
TEST(Pose, QuaternionRoundTrip) {
  std::mt19937 rng(3);
  for (int trial = 0; trial < 200; ++trial) {
    const Matrix3d R = rotationExp(anyVector(rng, 2.0));
    const Eigen::Vector4d q = quaternionFromRotation(R);
    EXPECT_NEAR(q.norm(), 1.0, kPoseRound);
    EXPECT_GE(q.w(), 0.0);
    EXPECT_LT((rotationFromQuaternion(-3.0 * q) - R).norm(), kPoseRound);
  }
  const Eigen::Vector4d quarter_turn_z(0, 0, std::sqrt(0.5), std::sqrt(0.5));
  EXPECT_LT((rotationFromQuaternion(quarter_turn_z) * Vector3d::UnitX() - Vector3d::UnitY()).norm(),
            kPoseRound);
}

// A quaternion without direction is refused with a sentence.
TEST(Pose, QuaternionWithoutDirectionIsRefused) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(rotationFromQuaternion(Eigen::Vector4d::Zero()), Error);
  EXPECT_THROW(rotationFromQuaternion({0, 0, 0, nan}), Error);
  EXPECT_THROW(rotationFromQuaternion({0, 0, 0, std::numeric_limits<double>::infinity()}), Error);
  EXPECT_THROW(rotationWithZAlong(Vector3d::Zero()), Error);
  EXPECT_THROW(rotationWithZAlong({nan, 0, 1}), Error);
}

// The frame along an axis is a rotation, and an exact signed permutation for coordinate axes.
TEST(Pose, RotationWithZAlongAnAxis) {
  std::mt19937 rng(4);
  for (int trial = 0; trial < 100; ++trial) {
    const Vector3d axis = anyVector(rng).normalized();
    const Matrix3d R = rotationWithZAlong(axis);
    EXPECT_LT((R.col(2) - axis).norm(), kPoseRound);
    EXPECT_LT((R.transpose() * R - Matrix3d::Identity()).norm(), kPoseRound);
    EXPECT_NEAR(R.determinant(), 1.0, kPoseRound);
  }
  for (Eigen::Index k = 0; k < 3; ++k) {
    for (double sign : {-1.0, 1.0}) {
      const Matrix3d R = rotationWithZAlong(sign * Vector3d::Unit(k));
      EXPECT_EQ(R.col(2), Vector3d(sign * Vector3d::Unit(k)));
      EXPECT_EQ(R * R.transpose(), Matrix3d::Identity());
      EXPECT_EQ(R.determinant(), 1.0);
    }
  }
  EXPECT_EQ(rotationWithZAlong(Vector3d::UnitZ()), Matrix3d::Identity());
}

// Poses compose, invert and act on points as their 4x4 matrices do.
TEST(Pose, CompositionIsMatrixMultiplication) {
  std::mt19937 rng(5);
  const Pose X_AB = anyPose(rng), X_BC = anyPose(rng);
  const Vector3d p_C = anyVector(rng);
  EXPECT_LT(((X_AB * X_BC).matrix() - X_AB.matrix() * X_BC.matrix()).norm(), kPoseRound);
  EXPECT_LT((X_AB.inverse().matrix() - X_AB.matrix().inverse()).norm(), 10 * kPoseRound);
  EXPECT_LT((X_AB * (X_BC * p_C) - (X_AB * X_BC) * p_C).norm(), kPoseRound);
}

// Adjoints are a homomorphism, dual to each other, and keep the power of a wrench on a twist.
TEST(Pose, AdjointsComposeAndKeepPower) {
  std::mt19937 rng(6);
  const Pose X_AB = anyPose(rng), X_BC = anyPose(rng);
  EXPECT_LT((velocityAdjoint(X_AB * X_BC) - velocityAdjoint(X_AB) * velocityAdjoint(X_BC)).norm(),
            10 * kPoseRound);
  EXPECT_LT((forceAdjoint(X_AB) - velocityAdjoint(X_AB.inverse()).transpose()).norm(), kPoseRound);
  Vector6d twist_B, wrench_B;
  twist_B << anyVector(rng), anyVector(rng);
  wrench_B << anyVector(rng), anyVector(rng);
  EXPECT_NEAR((velocityAdjoint(X_AB) * twist_B).dot(forceAdjoint(X_AB) * wrench_B),
              twist_B.dot(wrench_B), 100 * kPoseRound);
}

// NaN in a rotation vector comes out as NaN rather than as some rotation.
TEST(Pose, NanIsKept) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(rotationExp({nan, 0, 0}).hasNaN());
  EXPECT_TRUE(rotationLog(Matrix3d::Constant(nan)).hasNaN());
}

}  // namespace
}  // namespace proprio
