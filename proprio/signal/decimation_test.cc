#include "proprio/signal/decimation.h"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <numbers>

#include "proprio/core/error.h"
#include "proprio/numerics/dense.h"
#include "proprio/signal/testing/reference_signal.h"

namespace proprio {
namespace {

constexpr double kDecimationTolerance = 1e-12;

// The numbers of SciPy 1.17.1: decimate(x, 4) and decimate(x, 7).
TEST(Decimation, IsThatOfSciPy) {
  const Eigen::VectorXd x = referenceSignal();
  expectAt(decimate(x, 4), {0, 1, 7, 15, 28, 29},
           {0.29968059563948041, 0.22880650172595149, 1.3131085863671172, 0.86040544162367827,
            0.67961497832961726, 0.46955808097289214},
           kDecimationTolerance);
  const Eigen::VectorXd y = decimate(x, 7);
  EXPECT_EQ(y.size(), 18);
  expectAt(y, {0, 1, 8, 16, 17},
           {0.26088312276899084, 0.22179460547412796, 0.81052709638441567, 0.58613082114876791,
            0.66025566827264193},
           kDecimationTolerance);
}

// n_d = floor(0.8 f / (2 f_dec)): 1 kHz and 100 Hz give 4, and never less than 1.
TEST(Decimation, RatioFollowsTheRule) {
  EXPECT_EQ(decimationRatio(1000.0, 100.0), 4);
  EXPECT_EQ(decimationRatio(1000.0, 101.0), 3);
  EXPECT_EQ(decimationRatio(5000.0, 20.0), 100);
  EXPECT_EQ(decimationRatio(140.0, 100.0), 1);
  EXPECT_THROW(decimationRatio(1000.0, 0.0), Error);
  EXPECT_THROW(decimationRatio(NAN, 1.0), Error);
}

// A sine above the new half rate would come back as a slow one; the filter leaves less than
// 1 / 10 000 of it, plain subsampling leaves all. Below, gain 1 within the ripple forth and back.
TEST(Decimation, LeavesNoAliases) {
  const int q = 10;
  const Eigen::Index n = 5000;
  Eigen::MatrixXd x(n, 2);
  for (Eigen::Index k = 0; k < n; ++k) {
    x(k, 0) = std::sin(2.0 * std::numbers::pi * 0.095 * static_cast<double>(k));
    x(k, 1) = std::sin(2.0 * std::numbers::pi * 0.02 * static_cast<double>(k));
  }
  const Eigen::MatrixXd y = decimate(x, q).middleRows(50, 400);
  double plain = 0.0;
  for (Eigen::Index k = 0; k < n; k += q) plain = std::max(plain, std::abs(x(k, 0)));
  EXPECT_GT(plain, 0.9);
  EXPECT_LT(y.col(0).cwiseAbs().maxCoeff(), 1e-4);
  EXPECT_NEAR(std::sqrt(2.0 / 400.0) * y.col(1).norm(), 1.0, std::pow(10.0, 0.1 / 20.0) - 1.0);
}

// Constants keep the published 10^(-0.1 / 20), or exactly 1 where asked for.
TEST(Decimation, GainAtZeroFrequency) {
  const Eigen::VectorXd one = Eigen::VectorXd::Ones(200);
  EXPECT_NEAR(decimate(one, 4)(20, 0), std::pow(10.0, -0.1 / 20.0), kDecimationTolerance);
  DecimationOptions options;
  options.unit_gain = true;
  EXPECT_NEAR(decimate(one, 4, options)(20, 0), 1.0, kDecimationTolerance);
  EXPECT_EQ(Eigen::VectorXd(decimate(one, 1)), one);
}

// tau = W beta holds exactly after decimating both sides, and noise of tau above the band is gone:
// the estimate from the decimated rows is as good as theory says for the remaining band.
TEST(Decimation, ParallelDecimationKeepsTheModel) {
  std::srand(7);
  const Eigen::Index n = 4000;
  Eigen::MatrixXd W(n, 5);
  for (Eigen::Index k = 0; k < n; ++k) {
    for (Eigen::Index c = 0; c < 5; ++c) {
      W(k, c) = std::cos(0.003 * static_cast<double>((c + 1) * k)) + (c == 2 ? 0.2 : 0.0) +
                (std::sin(0.01 * static_cast<double>(k)) > 0.0 ? 0.3 : -0.3) * (c == 4 ? 1.0 : 0.0);
    }
  }
  const Eigen::VectorXd beta = Eigen::VectorXd::Random(5);
  const Eigen::MatrixXd Wd = decimate(W, 8), taud = decimate(W * beta, 8);
  EXPECT_LT((Wd * beta - taud).cwiseAbs().maxCoeff(), kDecimationTolerance);
  EXPECT_LT((leastSquares(Wd, taud) - beta).norm(), 1e-10);
}

// Rows that arrive in blocks of any size, first ones shorter than the padding, give the same rows.
TEST(Decimation, StreamingEqualsWhole) {
  std::srand(8);
  for (const int q : {1, 2, 5, 20}) {
    for (const Eigen::Index n : {28, 29, 500, 20011}) {
      const Eigen::MatrixXd x = Eigen::MatrixXd::Random(n, 6);
      const Eigen::MatrixXd expected = decimate(x, q);
      for (const Eigen::Index block : {7, 1000, 30000}) {
        StreamingDecimator decimator(6, q);
        Eigen::MatrixXd y(0, 6);
        const auto append = [&](const Eigen::MatrixXd& rows) {
          const Eigen::Index old = y.rows();
          y.conservativeResize(old + rows.rows(), 6);
          y.bottomRows(rows.rows()) = rows;
        };
        for (Eigen::Index r = 0; r < n; r += block) {
          append(decimator.add(x.middleRows(r, std::min(block, n - r))));
        }
        append(decimator.finish());
        ASSERT_EQ(y.rows(), expected.rows()) << q << " " << n << " " << block;
        EXPECT_LT((y - expected).cwiseAbs().maxCoeff(), kDecimationTolerance)
            << q << " " << n << " " << block;
      }
    }
  }
}

// Too few samples, another number of columns, NaN and impossible ratios are refused.
TEST(Decimation, RefusesBadInput) {
  EXPECT_THROW(decimate(Eigen::MatrixXd::Zero(27, 1), 2), Error);
  EXPECT_THROW(decimate(Eigen::MatrixXd::Zero(100, 1), 0), Error);
  EXPECT_THROW(decimate(Eigen::MatrixXd::Constant(100, 1, NAN), 2), Error);
  StreamingDecimator decimator(2, 4);
  EXPECT_THROW(decimator.add(Eigen::MatrixXd::Zero(3, 3)), Error);
  decimator.add(Eigen::MatrixXd::Zero(20, 2));
  EXPECT_THROW(decimator.finish(), Error);
}

}  // namespace
}  // namespace proprio
