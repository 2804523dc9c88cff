#include "proprio/signal/conditioning.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "proprio/core/error.h"
#include "proprio/signal/testing/reference_signal.h"

namespace proprio {
namespace {

// Single wrong samples are found and replaced, all of them and few others; a clean signal, a
// resting joint and a step stay as they are.
TEST(Conditioning, HampelFindsOutliers) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal(0.0, 1e-3);
  Eigen::MatrixXd clean(2000, 3);
  for (Eigen::Index k = 0; k < 2000; ++k) {
    clean(k, 0) = std::sin(0.01 * static_cast<double>(k)) + normal(random);
    clean(k, 1) = 0.25;                  // at rest
    clean(k, 2) = k < 1000 ? 0.0 : 1.0;  // a step
  }
  Eigen::MatrixXd spoilt = clean;
  for (Eigen::Index k = 3; k < 2000; k += 97) spoilt(k, 0) += k % 2 == 0 ? 0.5 : -0.5;
  const HampelResult result = hampel(spoilt, 11, 5.0);
  Eigen::Index found = 0, wrong = 0;
  for (Eigen::Index k = 0; k < 2000; ++k) {
    const bool outlier = spoilt(k, 0) != clean(k, 0);
    found += outlier && result.outlier(k, 0);
    wrong += !outlier && result.outlier(k, 0);
  }
  EXPECT_EQ(found, 21);
  EXPECT_LT(wrong, 60);  // small windows misjudge their spread in about a percent of cases
  EXPECT_LT((result.values.col(0) - clean.col(0)).cwiseAbs().maxCoeff(), 0.06);
  EXPECT_EQ(result.values.rightCols(2), clean.rightCols(2));
  EXPECT_EQ(result.count, found + wrong);
}

// The numbers of SciPy 1.17.1: detrend(x); and polynomials of higher degree vanish entirely.
TEST(Conditioning, DetrendRemovesPolynomials) {
  expectAt(detrend(referenceSignal()), kReferenceRows,
           {-0.73622095908828644, -0.69259396146662133, -0.69271646933706599, 0.27048070570901617,
            0.27192456017995947, -0.46227363723497078, 0.33565542871940923, 0.43230298241629783},
           1e-12);
  const Eigen::VectorXd s = Eigen::VectorXd::LinSpaced(100, -1.0, 1.0);
  const Eigen::VectorXd cubic = 2.0 + 3.0 * s.array() - s.array().square() + s.array().cube();
  Eigen::MatrixXd coefficients;
  EXPECT_LT(detrend(cubic, 3, &coefficients).cwiseAbs().maxCoeff(), 1e-13);
  EXPECT_NEAR(coefficients(0, 0), 2.0 - 1.0 / 3.0, 1e-12);  // s^2 = (2 P_2 + 1) / 3
  EXPECT_NEAR(detrend(cubic, 0).mean(), 0.0, 1e-13);
  EXPECT_THROW(detrend(cubic, -1), Error);
  EXPECT_THROW(detrend(cubic, 21), Error);
  EXPECT_THROW(detrend(Eigen::MatrixXd(0, 1), 0), Error);
  EXPECT_LT(std::abs(detrend(Eigen::VectorXd::Ones(1), 0)(0, 0)), 1e-15);
}

// Slow samples and both neighbours of a reversal are masked, joint by joint.
TEST(Conditioning, SlowSamplesAreMasked) {
  Eigen::MatrixXd speed(6, 2);
  speed << 0.3, 0.0, 0.2, 0.0, 0.04, 0.1, -0.06, 0.2, -0.3, -0.3, -0.3, -0.3;
  const Mask mask = fastEnough(speed, Eigen::Vector2d(0.05, 0.0));
  const bool expected[] = {true, true, false, false, true, true};
  for (Eigen::Index k = 0; k < 6; ++k) {
    EXPECT_EQ(mask(k, 0), expected[k]) << k;
    EXPECT_TRUE(mask(k, 1));  // no threshold
  }
  EXPECT_THROW(fastEnough(speed, Eigen::VectorXd::Zero(1)), Error);
  EXPECT_THROW(fastEnough(speed, Eigen::Vector2d(NAN, 0.0)), Error);
  EXPECT_EQ(fastEnough(Eigen::MatrixXd(0, 2), Eigen::Vector2d(0.0, 0.0)).rows(), 0);
}

// Borders go on both sides, and never everything.
TEST(Conditioning, TrimsBorders) {
  const Eigen::VectorXd x = Eigen::VectorXd::LinSpaced(10, 0.0, 9.0);
  const Eigen::MatrixXd kept = trimBorders(x, 3);
  EXPECT_EQ(kept.rows(), 4);
  EXPECT_EQ(kept(0, 0), 3.0);
  EXPECT_EQ(trimBorders(x, 0), x);
  EXPECT_THROW(trimBorders(x, 5), Error);
  EXPECT_THROW(trimBorders(x, -1), Error);
}

// Impossible windows and values that are not numbers are refused.
TEST(Conditioning, HampelRefusesBadInput) {
  EXPECT_THROW(hampel(Eigen::MatrixXd::Zero(5, 1), 4), Error);
  EXPECT_THROW(hampel(Eigen::MatrixXd::Zero(5, 1), 1), Error);
  EXPECT_THROW(hampel(Eigen::MatrixXd::Zero(5, 1), 3, 0.0), Error);
  EXPECT_THROW(hampel(Eigen::MatrixXd::Constant(5, 1, NAN)), Error);
  EXPECT_EQ(hampel(Eigen::MatrixXd(0, 2)).count, 0);
  EXPECT_EQ(hampel(Eigen::MatrixXd::Ones(1, 1)).count, 0);
}

}  // namespace
}  // namespace proprio
