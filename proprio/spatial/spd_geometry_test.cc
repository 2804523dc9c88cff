#include "proprio/spatial/spd_geometry.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <limits>
#include <random>
#include <unsupported/Eigen/MatrixFunctions>

#include "proprio/core/error.h"

namespace proprio {
namespace {

using Eigen::Matrix4d;
using Eigen::MatrixXd;

constexpr double kRound = 1e-10;

MatrixXd randomMatrix(std::mt19937& rng, Eigen::Index n) {
  std::normal_distribution<double> normal;
  return MatrixXd::NullaryExpr(n, n, [&] { return normal(rng); });
}

MatrixXd randomSpd(std::mt19937& rng, Eigen::Index n) {
  const MatrixXd A = randomMatrix(rng, n);
  return A * A.transpose() + 0.5 * MatrixXd::Identity(n, n);
}

MatrixXd randomSymmetric(std::mt19937& rng, Eigen::Index n) {
  const MatrixXd A = randomMatrix(rng, n);
  return A + A.transpose();
}

// Exp and Log are inverse, and agree with the general matrix functions D exp(D^-1 V), D log(D^-1
// E).
TEST(SpdGeometry, ExpAndLog) {
  std::mt19937 rng(1);
  for (Eigen::Index n : {1, 2, 4, 7}) {
    const MatrixXd D = randomSpd(rng, n), E = randomSpd(rng, n), V = randomSymmetric(rng, n);
    const MatrixXd exp = D * (D.inverse() * V).exp();
    EXPECT_LT((spdExp(D, V) - exp).norm(), kRound * exp.norm());
    const MatrixXd log = D * (D.inverse() * E).log();
    EXPECT_LT((spdLog(D, E) - log).norm(), kRound * log.norm());
    EXPECT_LT((spdExp(D, spdLog(D, E)) - E).norm(), kRound * E.norm());
    EXPECT_LT((spdLog(D, spdExp(D, V)) - V).norm(), 1e3 * kRound * V.norm());
  }
}

// The inner product is tr(D^-1 U D^-1 V), and the distance is the length of the logarithm.
TEST(SpdGeometry, DistanceIsTheLengthOfTheLog) {
  std::mt19937 rng(2);
  const MatrixXd D = randomSpd(rng, 5), E = randomSpd(rng, 5);
  const MatrixXd U = randomSymmetric(rng, 5), V = randomSymmetric(rng, 5);
  const double expected = (D.inverse() * U * D.inverse() * V).trace();
  EXPECT_NEAR(spdInnerProduct(D, U, V), expected, kRound * (1.0 + std::abs(expected)));
  const MatrixXd log = spdLog(D, E);
  EXPECT_NEAR(spdDistance(D, E), std::sqrt(spdInnerProduct(D, log, log)), kRound);
}

// A distance is symmetric, zero only for equals, obeys the triangle inequality; inversion keeps it.
TEST(SpdGeometry, DistanceIsAMetric) {
  std::mt19937 rng(3);
  for (int trial = 0; trial < 20; ++trial) {
    const Matrix4d A = randomSpd(rng, 4), B = randomSpd(rng, 4), C = randomSpd(rng, 4);
    EXPECT_NEAR(spdDistance(A, B), spdDistance(B, A), kRound);
    EXPECT_LE(spdDistance(A, C), spdDistance(A, B) + spdDistance(B, C) + kRound);
    EXPECT_EQ(spdDistance(A, A), 0.0);
    const Matrix4d A_inverse = A.inverse(), B_inverse = B.inverse();
    EXPECT_NEAR(spdDistance(A_inverse, B_inverse), spdDistance(A, B), 1e2 * kRound);
  }
}

// Nothing changes when both matrices undergo the same congruence; matrices move along.
TEST(SpdGeometry, AffineInvariance) {
  std::mt19937 rng(4);
  const Matrix4d D = randomSpd(rng, 4), E = randomSpd(rng, 4), A = randomMatrix(rng, 4);
  const Matrix4d AD = A * D * A.transpose(), AE = A * E * A.transpose();
  EXPECT_NEAR(spdDistance(AD, AE), spdDistance(D, E), 1e2 * kRound);
  EXPECT_NEAR(entropicDivergence(AE, AD), entropicDivergence(E, D), 1e2 * kRound);
  EXPECT_NEAR(smallestRelativeEigenvalue(AD, AE), smallestRelativeEigenvalue(D, E), 1e2 * kRound);
  const Matrix4d middle = A * spdGeodesic(D, E, 0.3) * A.transpose();
  EXPECT_LT((spdGeodesic(AD, AE, 0.3) - middle).norm(), 1e2 * kRound * middle.norm());
}

// The geodesic starts at D, ends at E, has constant speed, and moves det geometrically.
TEST(SpdGeometry, Geodesic) {
  std::mt19937 rng(5);
  const Matrix4d D = randomSpd(rng, 4), E = randomSpd(rng, 4);
  const double d = spdDistance(D, E);
  EXPECT_LT((spdGeodesic(D, E, 0.0) - D).norm(), kRound * D.norm());
  EXPECT_LT((spdGeodesic(D, E, 1.0) - E).norm(), kRound * E.norm());
  for (double t : {0.25, 0.5, 0.9, 1.5}) {
    const Matrix4d G = spdGeodesic(D, E, t);
    EXPECT_NEAR(spdDistance(D, G), t * d, kRound * 10);
    EXPECT_NEAR(std::log(G.determinant()),
                (1.0 - t) * std::log(D.determinant()) + t * std::log(E.determinant()), kRound * 10);
  }
  const Matrix4d expected = D * (D.inverse() * E).pow(0.3);
  EXPECT_LT((spdGeodesic(D, E, 0.3) - expected).norm(), kRound * E.norm());
}

// The divergence is tr(D^-1 E) - log det(D^-1 E) - n, never negative, zero at D.
TEST(SpdGeometry, EntropicDivergence) {
  std::mt19937 rng(6);
  const Matrix4d D = randomSpd(rng, 4), E = randomSpd(rng, 4);
  const Matrix4d ratio = D.inverse() * E;
  EXPECT_NEAR(entropicDivergence(E, D), ratio.trace() - std::log(ratio.determinant()) - 4.0,
              1e2 * kRound);
  EXPECT_GT(entropicDivergence(E, D), 0.0);
  EXPECT_EQ(entropicDivergence(D, D), 0.0);
}

// Close to D: squared distance = <V, V> and divergence = <V, V> / 2, to full relative accuracy even
// for differences of 1e-7.
TEST(SpdGeometry, SecondOrderAgreement) {
  std::mt19937 rng(7);
  const Matrix4d D = randomSpd(rng, 4), V = randomSymmetric(rng, 4);
  for (double h : {1e-3, 1e-5, 1e-7}) {
    const Matrix4d E = D + h * V, step = E - D;
    const double squared = spdInnerProduct(D, step, step);
    EXPECT_NEAR(std::pow(spdDistance(D, E), 2) / squared, 1.0, 1e3 * h);
    EXPECT_NEAR(2.0 * entropicDivergence(E, D) / squared, 1.0, 1e3 * h);
  }
}

// The boundary is infinitely far: the distance grows by log 10 with every decade.
TEST(SpdGeometry, BoundaryIsFar) {
  const Matrix4d D = Matrix4d::Identity();
  double previous = 0.0;
  for (int decade = 1; decade < 12; ++decade) {
    Matrix4d E = D;
    E(0, 0) = std::pow(10.0, -decade);
    const double d = spdDistance(D, E);
    EXPECT_NEAR(d - previous, std::log(10.0), 1e-4);
    previous = d;
  }
}

// The relative eigenvalue is the largest e with E >= e D.
TEST(SpdGeometry, SmallestRelativeEigenvalue) {
  std::mt19937 rng(8);
  const Matrix4d D = randomSpd(rng, 4), E = randomSymmetric(rng, 4);
  const double e = smallestRelativeEigenvalue(D, E);
  const Matrix4d rest = E - e * D;
  EXPECT_NEAR(rest.selfadjointView<Eigen::Lower>().eigenvalues().minCoeff(), 0.0, 1e2 * kRound);
}

// Fixed and dynamic sizes give the same numbers.
TEST(SpdGeometry, FixedAndDynamicAgree) {
  std::mt19937 rng(9);
  const MatrixXd D = randomSpd(rng, 4), E = randomSpd(rng, 4);
  const Matrix4d D4 = D, E4 = E;
  EXPECT_NEAR(spdDistance(D, E), spdDistance(D4, E4), kRound);
  EXPECT_LT((spdLog(D, E) - spdLog(D4, E4)).norm(), kRound);
}

// What is not symmetric positive definite is refused, with the argument named.
TEST(SpdGeometry, BadMatricesAreRefused) {
  std::mt19937 rng(10);
  const MatrixXd D = randomSpd(rng, 3);
  const MatrixXd indefinite = Eigen::Vector3d(1.0, -1.0, 2.0).asDiagonal();
  EXPECT_THROW(spdDistance(indefinite, D), Error);
  EXPECT_THROW(spdDistance(D, indefinite), Error);
  EXPECT_THROW(spdLog(D, MatrixXd(MatrixXd::Zero(3, 3))), Error);
  EXPECT_THROW(spdDistance(D, randomSpd(rng, 4)), Error);
  EXPECT_THROW(spdDistance(MatrixXd(MatrixXd::Ones(2, 3)), D), Error);
  MatrixXd asymmetric = D;
  asymmetric(0, 1) += 1.0;
  EXPECT_THROW(spdExp(D, asymmetric), Error);
  MatrixXd nan = D;
  nan(1, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(spdDistance(nan, D), Error);
  EXPECT_THROW(spdDistance(D, nan), Error);
}

}  // namespace
}  // namespace proprio
