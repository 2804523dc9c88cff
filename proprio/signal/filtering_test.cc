#include "proprio/signal/filtering.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "proprio/core/error.h"
#include "proprio/signal/testing/reference_signal.h"

namespace proprio {
namespace {

// SciPy and this code round in different places; the signals are of size 1.
constexpr double kFilterTolerance = 1e-12;

Eigen::VectorXd sine(Eigen::Index samples, double frequency, double phase = 0.0) {
  Eigen::VectorXd x(samples);
  for (Eigen::Index k = 0; k < samples; ++k) {
    x[k] = std::sin(2.0 * std::numbers::pi * frequency * static_cast<double>(k) + phase);
  }
  return x;
}

// Zero-phase filtering is that of SciPy 1.17.1: sosfiltfilt(butter(4, 0.2, output='sos'), x),
// filtfilt(*butter(3, 0.1), x), sosfiltfilt(butter(5, 0.15, output='sos'), x, padlen=30).
TEST(Filtering, ZeroPhaseIsThatOfSciPy) {
  const Eigen::VectorXd x = referenceSignal();
  expectAt(filterZeroPhase(butterworthLowpass(4, 0.1, 1.0), x), kReferenceRows,
           {0.29914866054698169, 0.29455835923000673, 0.28174328910336238, 1.1776042893273355,
            0.8655187023045976, -0.15532343651868352, 0.54882499835734078, 0.59599770868528479},
           kFilterTolerance);
  expectAt(filterZeroPhase(butterworthLowpass(3, 0.05, 1.0), x), kReferenceRows,
           {0.28507643998905513, 0.26256685020963483, 0.24390182592374982, 0.9789249080478325,
            0.76470792352576167, -0.0046495246695090441, 0.62960994291484196, 0.62643448732781382},
           kFilterTolerance);
  expectAt(filterZeroPhase(butterworthLowpass(5, 0.075, 1.0), x, 30), kReferenceRows,
           {0.30085493489562332, 0.25845829829672001, 0.21791401145211536, 1.1285789834325535,
            0.84858806679337251, -0.12211322705599825, 0.5849138845389793, 0.59375981919627419},
           kFilterTolerance);
}

// Forward filtering is that of SciPy 1.17.1: sosfilt(butter(4, 0.2, output='sos'), x) from rest,
// and with zi = sosfilt_zi(sos) * x[0] from the steady state.
TEST(Filtering, ForwardIsThatOfSciPy) {
  const Eigen::VectorXd x = referenceSignal();
  const DigitalFilter filter = butterworthLowpass(4, 0.1, 1.0);
  expectAt(filterForward(filter, x, FilterStart::kSteady), kReferenceRows,
           {0.3000000000000001, 0.30017511144609843, 0.30125453488960174, 0.82843909255385606,
            0.60945638818115533, 0.21579686320328137, 0.6177160808858666, 0.55281863846521651},
           kFilterTolerance);
  expectAt(filterForward(filter, x, FilterStart::kRest), kReferenceRows,
           {0.0014473030073148684, 0.010841029783838867, 0.039098857813807106, 0.82898015538354275,
            0.60945649422336967, 0.21579686317684599, 0.61771608088580976, 0.55281863846496659},
           kFilterTolerance);
}

// A sine comes out with the gain |H|^2 and without delay; filtered forward only, with |H| and its
// phase, which is the lag that biases identification.
TEST(Filtering, SinesHaveTheAnalyticGainAndPhase) {
  const double f = 0.02;
  const Eigen::Index n = 4000, from = 1000, count = 2000;  // whole periods, far from the borders
  for (const int order : {1, 2, 4, 5, 8}) {
    const DigitalFilter filter = butterworthLowpass(order, 0.03, 1.0);
    const std::complex<double> H = frequencyResponse(filter, f, 1.0);
    const Eigen::VectorXd x = sine(n, f), quadrature = sine(n, f, 0.5 * std::numbers::pi);
    const auto phasor = [&](const Eigen::VectorXd& y) {
      return 2.0 / static_cast<double>(count) *
             std::complex<double>(y.segment(from, count).dot(x.segment(from, count)),
                                  y.segment(from, count).dot(quadrature.segment(from, count)));
    };
    EXPECT_LT(std::abs(phasor(filterZeroPhase(filter, x)) - std::norm(H)), 1e-10);
    EXPECT_LT(std::abs(phasor(filterForward(filter, x)) - H), 1e-10);
    EXPECT_GT(std::abs(std::arg(H)), 0.1);
  }
}

// Straight lines pass unchanged forth and back, at 3.5 Hz in 5 kHz too, once the transients of the
// borders are gone; with a reflection longer than these, up to the very ends.
TEST(Filtering, ZeroPhaseKeepsStraightLines) {
  const Eigen::VectorXd line = Eigen::VectorXd::LinSpaced(60000, -1.0, 3.0);
  for (const int order : {2, 4, 8}) {
    const Eigen::VectorXd slow = filterZeroPhase(butterworthLowpass(order, 3.5, 5000.0), line);
    EXPECT_LT((slow - line).segment(25000, 10000).cwiseAbs().maxCoeff(), 1e-8) << order;
    const DigitalFilter fast = butterworthLowpass(order, 500.0, 5000.0);
    EXPECT_LT((filterZeroPhase(fast, line, 2000) - line).cwiseAbs().maxCoeff(), 1e-10);
  }
}

// Columns are independent of their neighbours, of their number and of where they lie in memory.
TEST(Filtering, ChannelsDoNotMix) {
  std::srand(3);
  const DigitalFilter filter = butterworthLowpass(5, 0.05, 1.0);
  for (const Eigen::Index columns : {1, 2, 3, 4, 5, 7, 9}) {
    const Eigen::MatrixXd X = Eigen::MatrixXd::Random(700, columns);
    const Eigen::MatrixXd Y = filterZeroPhase(filter, X);
    const Eigen::MatrixXd F = filterForward(filter, X);
    const Eigen::Matrix<double, -1, -1, Eigen::RowMajor> rows = X;
    const Eigen::Map<const Eigen::MatrixXd, 0, Eigen::Stride<-1, -1>> strided(
        rows.data(), 700, columns, Eigen::Stride<-1, -1>(1, columns));
    EXPECT_EQ(filterZeroPhase(filter, strided), Y);
    for (Eigen::Index c = 0; c < columns; ++c) {
      EXPECT_EQ(Eigen::VectorXd(Y.col(c)), Eigen::VectorXd(filterZeroPhase(filter, X.col(c))));
      EXPECT_EQ(Eigen::VectorXd(F.col(c)), Eigen::VectorXd(filterForward(filter, X.col(c))));
    }
    for (const int keep : {2, 7, 300, 699, 1000}) {
      const Eigen::MatrixXd kept = filterZeroPhase(filter, X, -1, keep);
      ASSERT_EQ(kept.rows(), (700 + keep - 1) / keep);
      for (Eigen::Index r = 0; r < kept.rows(); ++r) EXPECT_EQ(kept.row(r), Y.row(r * keep));
    }
  }
}

// White noise leaves with the variance (1/pi) int |H|^4 dw, computed here by a fine sum.
TEST(Filtering, NoiseGainIsTheIntegralOfTheResponse) {
  const DigitalFilter filter = butterworthLowpass(4, 0.1, 1.0);
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  const Eigen::Index n = 200000;
  const Eigen::VectorXd noise = Eigen::VectorXd::NullaryExpr(n, [&] { return normal(random); });
  double expected = 0.0;
  const int steps = 2000;
  for (int i = 0; i < steps; ++i) {
    const double power = std::norm(frequencyResponse(filter, 0.5 * (i + 0.5) / steps, 1.0));
    expected += power * power / steps;
  }
  const double variance = filterZeroPhase(filter, noise).squaredNorm() / static_cast<double>(n);
  // standard deviation of the estimate: about sqrt(2 / (n times the bandwidth)) = 0.7 %
  EXPECT_NEAR(variance / expected, 1.0, 0.03);
}

// The streaming filter gives the forward filtered columns, sample by sample.
TEST(Filtering, StreamingEqualsForward) {
  std::srand(4);
  const Eigen::MatrixXd X = Eigen::MatrixXd::Random(50, 5);
  const DigitalFilter filter = butterworthLowpass(5, 0.1, 1.0);
  const Eigen::MatrixXd expected = filterForward(filter, X);
  StreamingFilter streaming(filter, 5);
  Eigen::VectorXd y(5);
  for (int pass = 0; pass < 2; ++pass) {
    for (Eigen::Index r = 0; r < X.rows(); ++r) {
      const Eigen::VectorXd x = X.row(r);
      streaming.step(x, y);
      EXPECT_LT((y - expected.row(r).transpose()).cwiseAbs().maxCoeff(), 1e-14);
    }
    streaming.reset(X.row(0).transpose());
  }
}

// What cannot be filtered is refused with column and row, or with the samples that are missing.
TEST(Filtering, RefusesBadInput) {
  const DigitalFilter filter = butterworthLowpass(4, 0.1, 1.0);
  Eigen::MatrixXd x = Eigen::MatrixXd::Zero(40, 3);
  x(7, 1) = NAN;
  const auto message = [&](const Eigen::MatrixXd& signal, int keep = 1) -> std::string {
    try {
      filterZeroPhase(filter, signal, -1, keep);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message(x).find("column 2 is nan in row 8"), std::string::npos);
  EXPECT_NE(message(Eigen::MatrixXd::Zero(15, 2))
                .find("there are 15 samples, order 4 needs more "
                      "than 15"),
            std::string::npos);
  EXPECT_NE(message(Eigen::MatrixXd::Zero(0, 2)).find("there are 0 samples"), std::string::npos);
  EXPECT_NE(message(Eigen::MatrixXd::Zero(1, 2)).find("there are 1 samples"), std::string::npos);
  EXPECT_NE(message(Eigen::MatrixXd::Zero(99, 2), 0).find("0th"), std::string::npos);
  EXPECT_EQ(message(Eigen::MatrixXd::Zero(16, 2)), "");
  x(7, 1) = INFINITY;
  EXPECT_THROW(filterForward(filter, x), Error);
  EXPECT_EQ(filterForward(filter, Eigen::MatrixXd::Zero(0, 2)).rows(), 0);
  EXPECT_NEAR(filterForward(filter, Eigen::MatrixXd::Ones(1, 2))(0, 1), 1.0, kFilterTolerance);
  try {
    requireFinite(x, "log", {"a", "elbow", "c"});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("log: 'elbow' is inf in row 8"), std::string::npos);
  }
}

}  // namespace
}  // namespace proprio
