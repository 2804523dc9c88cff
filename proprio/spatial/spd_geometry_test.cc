#include "proprio/spatial/spd_geometry.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <cmath>
#include <limits>
#include <random>

#include "proprio/core/error.h"

namespace proprio {
namespace {

constexpr double kSpdRound = 1e-10;

Matrix4d randomMatrix(std::mt19937& rng) {
  std::normal_distribution<double> normal;
  return Matrix4d::NullaryExpr([&] { return normal(rng); });
}

Matrix4d randomSpd(std::mt19937& rng) {
  const Matrix4d A = randomMatrix(rng);
  return A * A.transpose() + 0.5 * Matrix4d::Identity();
}

Matrix4d randomSymmetric(std::mt19937& rng) {
  const Matrix4d A = randomMatrix(rng);
  return A + A.transpose();
}

// exp(A) by its power series, of A / 2^10 squared ten times: a route without eigenvalues.
Matrix4d seriesExp(const Matrix4d& A) {
  constexpr int kHalvings = 10;
  const Matrix4d small = A / std::pow(2.0, kHalvings);
  Matrix4d sum = Matrix4d::Identity(), term = sum;
  for (int k = 1; k < 20; ++k) {
    term = term * small / k;
    sum += term;
  }
  for (int k = 0; k < kHalvings; ++k) sum = sum * sum;
  return sum;
}

// Exp is D exp(D^-1 V), Log solves D exp(D^-1 Log) = E, and they are inverse.
TEST(SpdGeometry, ExpAndLog) {
  std::mt19937 rng(1);
  for (int trial = 0; trial < 4; ++trial) {
    const Matrix4d D = randomSpd(rng), E = randomSpd(rng), V = randomSymmetric(rng);
    const Matrix4d exp = D * seriesExp(D.inverse() * V);
    EXPECT_LT((spdExp(D, V) - exp).norm(), kSpdRound * exp.norm());
    const Matrix4d back = D * seriesExp(D.inverse() * spdLog(D, E));
    EXPECT_LT((back - E).norm(), kSpdRound * E.norm());
    EXPECT_LT((spdExp(D, spdLog(D, E)) - E).norm(), kSpdRound * E.norm());
    EXPECT_LT((spdLog(D, spdExp(D, V)) - V).norm(), 1e3 * kSpdRound * V.norm());
  }
}

// The inner product is tr(D^-1 U D^-1 V), and the distance is the length of the logarithm.
TEST(SpdGeometry, DistanceIsTheLengthOfTheLog) {
  std::mt19937 rng(2);
  const Matrix4d D = randomSpd(rng), E = randomSpd(rng);
  const Matrix4d U = randomSymmetric(rng), V = randomSymmetric(rng);
  const double expected = (D.inverse() * U * D.inverse() * V).trace();
  EXPECT_NEAR(spdInnerProduct(D, U, V), expected, kSpdRound * (1.0 + std::abs(expected)));
  const Matrix4d log = spdLog(D, E);
  EXPECT_NEAR(spdDistance(D, E), std::sqrt(spdInnerProduct(D, log, log)), kSpdRound);
}

// A distance is symmetric, zero only for equals, obeys the triangle inequality; inversion keeps it.
TEST(SpdGeometry, DistanceIsAMetric) {
  std::mt19937 rng(3);
  for (int trial = 0; trial < 20; ++trial) {
    const Matrix4d A = randomSpd(rng), B = randomSpd(rng), C = randomSpd(rng);
    EXPECT_NEAR(spdDistance(A, B), spdDistance(B, A), kSpdRound);
    EXPECT_LE(spdDistance(A, C), spdDistance(A, B) + spdDistance(B, C) + kSpdRound);
    EXPECT_EQ(spdDistance(A, A), 0.0);
    const Matrix4d A_inverse = A.inverse(), B_inverse = B.inverse();
    EXPECT_NEAR(spdDistance(A_inverse, B_inverse), spdDistance(A, B), 1e2 * kSpdRound);
  }
}

// Nothing changes when both matrices undergo the same congruence; matrices move along.
TEST(SpdGeometry, AffineInvariance) {
  std::mt19937 rng(4);
  const Matrix4d D = randomSpd(rng), E = randomSpd(rng), A = randomMatrix(rng);
  const Matrix4d AD = A * D * A.transpose(), AE = A * E * A.transpose();
  EXPECT_NEAR(spdDistance(AD, AE), spdDistance(D, E), 1e2 * kSpdRound);
  EXPECT_NEAR(entropicDivergence(AE, AD), entropicDivergence(E, D), 1e2 * kSpdRound);
  EXPECT_NEAR(smallestRelativeEigenvalue(AD, AE), smallestRelativeEigenvalue(D, E),
              1e2 * kSpdRound);
  const Matrix4d middle = A * spdGeodesic(D, E, 0.3) * A.transpose();
  EXPECT_LT((spdGeodesic(AD, AE, 0.3) - middle).norm(), 1e2 * kSpdRound * middle.norm());
}

// The geodesic starts at D, ends at E, has constant speed, and moves det geometrically.
TEST(SpdGeometry, Geodesic) {
  std::mt19937 rng(5);
  const Matrix4d D = randomSpd(rng), E = randomSpd(rng);
  const double d = spdDistance(D, E);
  EXPECT_LT((spdGeodesic(D, E, 0.0) - D).norm(), kSpdRound * D.norm());
  EXPECT_LT((spdGeodesic(D, E, 1.0) - E).norm(), kSpdRound * E.norm());
  for (double t : {0.25, 0.5, 0.9, 1.5}) {
    const Matrix4d G = spdGeodesic(D, E, t);
    EXPECT_NEAR(spdDistance(D, G), t * d, kSpdRound * 10);
    EXPECT_NEAR(std::log(G.determinant()),
                (1.0 - t) * std::log(D.determinant()) + t * std::log(E.determinant()),
                kSpdRound * 10);
  }
  const Matrix4d expected = D * seriesExp(0.3 * (D.inverse() * spdLog(D, E)));
  EXPECT_LT((spdGeodesic(D, E, 0.3) - expected).norm(), kSpdRound * E.norm());
}

// The divergence is tr(D^-1 E) - log det(D^-1 E) - n, never negative, zero at D.
TEST(SpdGeometry, EntropicDivergence) {
  std::mt19937 rng(6);
  const Matrix4d D = randomSpd(rng), E = randomSpd(rng);
  const Matrix4d ratio = D.inverse() * E;
  EXPECT_NEAR(entropicDivergence(E, D), ratio.trace() - std::log(ratio.determinant()) - 4.0,
              1e2 * kSpdRound);
  EXPECT_GT(entropicDivergence(E, D), 0.0);
  EXPECT_EQ(entropicDivergence(D, D), 0.0);
}

// Close to D: squared distance = <V, V> and divergence = <V, V> / 2, to full relative accuracy even
// for differences of 1e-7.
TEST(SpdGeometry, SecondOrderAgreement) {
  std::mt19937 rng(7);
  const Matrix4d D = randomSpd(rng), V = randomSymmetric(rng);
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
  const Matrix4d D = randomSpd(rng), E = randomSymmetric(rng);
  const double e = smallestRelativeEigenvalue(D, E);
  const Matrix4d rest = E - e * D;
  EXPECT_NEAR(rest.selfadjointView<Eigen::Lower>().eigenvalues().minCoeff(), 0.0, 1e2 * kSpdRound);
}

// What is not symmetric positive definite is refused, with the argument named.
TEST(SpdGeometry, BadMatricesAreRefused) {
  std::mt19937 rng(10);
  const Matrix4d D = randomSpd(rng);
  const Matrix4d indefinite = Eigen::Vector4d(1.0, -1.0, 2.0, 3.0).asDiagonal();
  EXPECT_THROW(spdDistance(indefinite, D), Error);
  EXPECT_THROW(spdDistance(D, indefinite), Error);
  EXPECT_THROW(spdLog(D, Matrix4d(Matrix4d::Zero())), Error);
  Matrix4d asymmetric = D;
  asymmetric(0, 1) += 1.0;
  EXPECT_THROW(spdExp(D, asymmetric), Error);
  Matrix4d nan = D;
  nan(1, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(spdDistance(nan, D), Error);
  EXPECT_THROW(spdDistance(D, nan), Error);
}

}  // namespace
}  // namespace proprio
