// Differences, Savitzky-Golay, adaptive windows and Fourier: every way to differentiate, on signals
// whose derivatives are known.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "proprio/core/error.h"
#include "proprio/signal/adaptive_window.h"
#include "proprio/signal/differences.h"
#include "proprio/signal/fourier.h"
#include "proprio/signal/savitzky_golay.h"
#include "proprio/signal/testing/reference_signal.h"

namespace proprio {
namespace {

/// c0 + c1 t + c2 t^2 + ... and its derivatives.
double polynomial(const std::vector<double>& c, double t, int derivative) {
  double value = 0.0;
  for (size_t i = static_cast<size_t>(derivative); i < c.size(); ++i) {
    double factor = 1.0;
    for (int d = 0; d < derivative; ++d) factor *= static_cast<double>(i) - d;
    value += c[i] * factor * std::pow(t, static_cast<double>(i) - derivative);
  }
  return value;
}

Eigen::VectorXd samplesOf(const std::vector<double>& c, const Eigen::VectorXd& time,
                          int derivative) {
  return time.unaryExpr([&](double t) { return polynomial(c, t, derivative); });
}

Eigen::VectorXd whiteNoise(Eigen::Index n, double sigma) {
  std::mt19937 random(11);
  std::normal_distribution<double> normal(0.0, sigma);
  return Eigen::VectorXd::NullaryExpr(n, [&] { return normal(random); });
}

double deviation(const Eigen::MatrixXd& x) {
  return std::sqrt(x.squaredNorm() / static_cast<double>(x.size()));
}

// Central differences are exact for parabolas everywhere, the ends included, on any time stamps.
TEST(Differences, CentralAreExactForParabolas) {
  const std::vector<double> c = {0.3, -1.2, 0.7};
  std::mt19937 random(2);
  std::uniform_real_distribution<double> step(0.01, 0.2);
  Eigen::VectorXd even = Eigen::VectorXd::LinSpaced(30, 0.0, 2.9), uneven(30);
  uneven[0] = 0.0;
  for (Eigen::Index k = 1; k < 30; ++k) uneven[k] = uneven[k - 1] + step(random);
  const Derivatives by_step = centralDifferences(samplesOf(c, even, 0), 0.1);
  const Derivatives by_time = centralDifferences(samplesOf(c, uneven, 0), uneven);
  EXPECT_LT((by_step.first - samplesOf(c, even, 1)).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((by_step.second - samplesOf(c, even, 2)).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_LT((by_time.first - samplesOf(c, uneven, 1)).cwiseAbs().maxCoeff(), 1e-11);
  EXPECT_LT((by_time.second - samplesOf(c, uneven, 2)).cwiseAbs().maxCoeff(), 1e-9);
}

// Backward differences are the published formulas; their second derivative is exact for parabolas,
// their first one belongs to half a step before (the lag).
TEST(Differences, BackwardLagByHalfAStep) {
  const std::vector<double> c = {0.3, -1.2, 0.7};
  const Eigen::VectorXd time = Eigen::VectorXd::LinSpaced(30, 0.0, 2.9);
  const Derivatives d = backwardDifferences(samplesOf(c, time, 0), 0.1);
  const Eigen::VectorXd before = time.array() - 0.05;
  EXPECT_LT((d.first - samplesOf(c, before, 1)).bottomRows(29).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((d.second - samplesOf(c, time, 2)).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_EQ(d.first(0, 0), d.first(1, 0));
  const Derivatives stamped = backwardDifferences(samplesOf(c, time, 0), time);
  EXPECT_LT((d.first - stamped.first).cwiseAbs().maxCoeff(), 1e-11);
  EXPECT_LT((d.second - stamped.second).cwiseAbs().maxCoeff(), 1e-9);
}

// A sine keeps its phase under central differences and gets the gain sin(w dt) / (w dt).
TEST(Differences, GainOfCentralDifferences) {
  const double w = 2.0 * std::numbers::pi * 5.0, dt = 0.01;
  Eigen::VectorXd x(200);
  for (Eigen::Index k = 0; k < 200; ++k) x[k] = std::sin(w * dt * static_cast<double>(k));
  const Derivatives d = centralDifferences(x, dt);
  for (Eigen::Index k = 1; k < 199; ++k) {
    const double phase = w * dt * static_cast<double>(k);
    EXPECT_NEAR(d.first(k, 0), std::sin(w * dt) / dt * std::cos(phase), 1e-11);
    EXPECT_NEAR(d.second(k, 0), -2.0 * (1.0 - std::cos(w * dt)) / (dt * dt) * std::sin(phase),
                1e-9);
  }
}

// Noise of 1e-4 deg at 1 kHz becomes 1.07 rad/s^2 after two central differences, the published
// figure, and four times that with three neighbours.
TEST(Differences, NoiseOfAccelerationsIsThePublishedOne) {
  const Eigen::VectorXd noise = whiteNoise(100000, 1e-4 * std::numbers::pi / 180.0);
  const Derivatives once = centralDifferences(noise, 1e-3);
  const Derivatives twice = centralDifferences(once.first, 1e-3);
  EXPECT_NEAR(deviation(twice.first), 1.07, 0.02);
  EXPECT_NEAR(deviation(once.second), 4.0 * 1.07, 0.08);
}

// Differences of fewer than three samples, or of time stamps that repeat, are refused.
TEST(Differences, RefuseBadInput) {
  EXPECT_THROW(centralDifferences(Eigen::VectorXd::Zero(2), 0.1), Error);
  EXPECT_THROW(backwardDifferences(Eigen::VectorXd::Zero(0), 0.1), Error);
  EXPECT_THROW(centralDifferences(Eigen::VectorXd::Zero(5), 0.0), Error);
  EXPECT_THROW(centralDifferences(Eigen::VectorXd::Zero(5), NAN), Error);
  Eigen::VectorXd time = Eigen::VectorXd::LinSpaced(5, 0.0, 1.0);
  time[3] = time[2];
  try {
    centralDifferences(Eigen::VectorXd::Zero(5), time);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("row 4"), std::string::npos);
  }
  EXPECT_THROW(backwardDifferences(Eigen::VectorXd::Zero(4), time), Error);
}

// The numbers of SciPy 1.17.1: savgol_filter(x, 11, 3, deriv=0..2, delta=0.5),
// savgol_filter(x, 21, 2), savgol_coeffs(7, 3, deriv=1, delta=0.1, use='dot').
TEST(SavitzkyGolay, IsThatOfSciPy) {
  const Eigen::VectorXd x = referenceSignal();
  const std::vector<double> expected[] = {
      {0.30535639536488834, 0.33347826938034009, 0.32172427222236122, 1.165189036584914,
       0.86012723709467376, -0.14602595292744197, 0.50100996267310438, 0.59977279740697209},
      {0.10501534977052962, 0.011920011574375139, -0.054488134923192877, -0.028377273229000955,
       0.13062056675092193, -0.12410920050603731, 0.13092183795306739, 0.26902519338053932},
      {-0.21287786809089543, -0.1595034846937225, -0.10612910129654958, -0.1254177810822617,
       -0.058948752181965838, 0.10001741623692155, 0.24683255646613728, 0.30558086524375122}};
  for (int d = 0; d < 3; ++d) {
    expectAt(savitzkyGolay(x, 11, 3, d, 0.5), kReferenceRows, expected[d], 1e-12);
  }
  expectAt(savitzkyGolay(x, 21, 2), kReferenceRows,
           {0.20944717050501213, 0.21195355128011398, 0.2202105463096713, 1.0354846529577015,
            0.79689943818682751, -0.04643296492347037, 0.5516879395919484, 0.52043613602528049},
           1e-12);
  expectAt(savitzkyGolayWeights(7, 3, 1, 0.1, 3), {0, 1, 2, 3, 4, 5, 6},
           {0.87301587301587247, -2.6587301587301586, -2.3015873015873027, 0.0, 2.3015873015873027,
            2.6587301587301599, -0.87301587301587336},
           1e-12);
}

// Polynomials up to the order pass unchanged with all derivatives, ends included, for the published
// windows 7 to 499 and orders 2 and 3.
TEST(SavitzkyGolay, PolynomialsAreExact) {
  const Eigen::VectorXd time = Eigen::VectorXd::LinSpaced(600, -1.0, 1.0);
  const double dt = time[1] - time[0];
  for (const int order : {2, 3, 6}) {
    std::vector<double> c = {0.4, -1.0, 0.8, 0.3, -0.5, 0.2, 0.7};
    c.resize(static_cast<size_t>(order) + 1);
    for (const int window : {7, 9, 21, 41, 301, 499}) {
      for (int d = 0; d <= 2; ++d) {
        // noise gain of a narrow window: rounding over dt^d
        const double tolerance = 1e-13 / std::pow(dt * window / 8.0, d) * (order > 3 ? 1e3 : 30.0);
        EXPECT_LT(
            (savitzkyGolay(samplesOf(c, time, 0), window, order, d, dt) - samplesOf(c, time, d))
                .cwiseAbs()
                .maxCoeff(),
            tolerance)
            << order << " " << window << " " << d;
      }
    }
  }
}

// White noise leaves with the standard deviation |weights|, as for every linear filter.
TEST(SavitzkyGolay, NoiseGainIsTheNormOfTheWeights) {
  const Eigen::VectorXd noise = whiteNoise(100000, 1.0);
  for (int d = 0; d < 3; ++d) {
    const double expected = savitzkyGolayWeights(31, 3, d, 0.1, 15).norm();
    EXPECT_NEAR(deviation(savitzkyGolay(noise, 31, 3, d, 0.1)) / expected, 1.0, 0.04);
  }
}

// Windows that are even, too long, or too short for the order are refused.
TEST(SavitzkyGolay, RefusesBadInput) {
  const Eigen::VectorXd x = Eigen::VectorXd::Zero(20);
  EXPECT_THROW(savitzkyGolay(x, 8, 2), Error);
  EXPECT_THROW(savitzkyGolay(x, 21, 2), Error);
  EXPECT_THROW(savitzkyGolay(x, 3, 3), Error);
  EXPECT_THROW(savitzkyGolay(x, 5, -1), Error);
  EXPECT_THROW(savitzkyGolay(x, 5, 2, -1), Error);
  EXPECT_THROW(savitzkyGolay(x, 5, 2, 1, 0.0), Error);
  EXPECT_THROW(savitzkyGolay(Eigen::VectorXd::Constant(20, NAN), 5, 2), Error);
  EXPECT_EQ(savitzkyGolay(x, 5, 2, 3), Eigen::MatrixXd::Zero(20, 1));
}

// A line within the noise band is seen through the longest window, so that its slope is exact and
// noise is as small as the window allows.
TEST(AdaptiveWindow, UsesTheWholeWindowOnALine) {
  AdaptiveWindowOptions options;
  options.band = 1e-3;
  options.max_window = 40;
  for (const int degree : {1, 2}) {
    options.degree = degree;
    AdaptiveDifferentiator differentiator(0.01, options);
    AdaptiveDifferentiator::Result result;
    for (int k = 0; k < 100; ++k) result = differentiator.step(100.0 + 0.02 * k);
    EXPECT_EQ(result.window, 40);
    EXPECT_NEAR(result.value, 100.0 + 0.02 * 99, 1e-10);
    EXPECT_NEAR(result.first, 2.0, 1e-9);
    EXPECT_NEAR(result.second, 0.0, 1e-7);
  }
}

// The fit of each window is the least-squares one: Savitzky-Golay at the last sample.
TEST(AdaptiveWindow, FitsLikeSavitzkyGolay) {
  AdaptiveWindowOptions options;
  options.band = 100.0;  // every window fits
  options.max_window = 25;
  const Eigen::VectorXd x = referenceSignal();
  for (const int degree : {1, 2}) {
    options.degree = degree;
    AdaptiveDifferentiator differentiator(0.1, options);
    AdaptiveDifferentiator::Result result;
    for (Eigen::Index k = 0; k < x.size(); ++k) result = differentiator.step(x[k]);
    for (int d = 0; d <= degree; ++d) {
      const double expected = savitzkyGolayWeights(25, degree, d, 0.1, 24).dot(x.tail(25));
      EXPECT_NEAR(d == 0 ? result.value : d == 1 ? result.first : result.second, expected, 1e-9);
    }
  }
}

// Against an encoder: noise at low speed far below that of backward differences, lag in fast motion
// far below that of a fixed window as long as the longest.
TEST(AdaptiveWindow, TradesNoiseAgainstLag) {
  const double dt = 1e-3, count = 2.0 * std::numbers::pi / 10000.0;
  const Eigen::Index n = 4000;
  Eigen::VectorXd x(n), v(n);
  for (Eigen::Index k = 0; k < n; ++k) {
    const double t = dt * static_cast<double>(k);
    const bool fast = t >= 2.0;
    const double s = t - 2.0;
    x[k] = fast ? 0.1 + 0.3 * (1.0 - std::cos(20.0 * s)) + 0.05 * s : 0.05 * t;
    v[k] = fast ? 6.0 * std::sin(20.0 * s) + 0.05 : 0.05;
    x[k] = count * std::round(x[k] / count);
  }
  AdaptiveWindowOptions options;
  options.band = count;
  options.max_window = 60;
  const Eigen::VectorXd adaptive = adaptiveWindowDerivatives(x, dt, options).first;
  const Eigen::VectorXd backward = backwardDifferences(x, dt).first;
  Eigen::VectorXd fixed = Eigen::VectorXd::Zero(n);
  const Eigen::VectorXd weights = savitzkyGolayWeights(60, 1, 1, dt, 59);
  for (Eigen::Index k = 60; k < n; ++k) fixed[k] = weights.dot(x.segment(k - 59, 60));
  const auto error = [&](const Eigen::VectorXd& y, Eigen::Index from, Eigen::Index count_) {
    return deviation((y - v).segment(from, count_));
  };
  EXPECT_LT(error(adaptive, 200, 1700), 0.1 * error(backward, 200, 1700));
  EXPECT_LT(error(adaptive, 2200, 1700), 0.25 * error(fixed, 2200, 1700));
}

// Before there are enough samples the derivatives are zero; impossible options are refused.
TEST(AdaptiveWindow, EdgesAndBadInput) {
  AdaptiveWindowOptions options;
  AdaptiveDifferentiator differentiator(0.1, options);
  EXPECT_EQ(differentiator.step(3.0).first, 0.0);
  EXPECT_NEAR(differentiator.step(3.5).first, 5.0, 1e-12);
  differentiator.reset();
  EXPECT_EQ(differentiator.step(7.0).first, 0.0);
  EXPECT_EQ(adaptiveWindowDerivatives(Eigen::MatrixXd(0, 2), 0.1, options).first.rows(), 0);
  EXPECT_THROW(AdaptiveDifferentiator(0.0, options), Error);
  options.band = NAN;
  EXPECT_THROW(AdaptiveDifferentiator(0.1, options), Error);
  options = {.band = 0.1, .max_window = 2, .degree = 2};
  EXPECT_THROW(AdaptiveDifferentiator(0.1, options), Error);
  options = {.band = 0.1, .max_window = 20, .degree = 3};
  EXPECT_THROW(AdaptiveDifferentiator(0.1, options), Error);
}

// The transform of every length is the sum that defines it, and its inverse returns.
TEST(Fourier, EveryLengthEqualsTheDefinition) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  for (const size_t n : {1u, 2u, 3u, 4u, 5u, 7u, 8u, 12u, 30u, 31u, 64u, 97u}) {
    std::vector<std::complex<double>> x(n), X(n);
    for (auto& value : x) value = {normal(random), normal(random)};
    X = x;
    fourierTransform(X);
    for (size_t k = 0; k < n; ++k) {
      std::complex<double> expected = 0.0;
      for (size_t j = 0; j < n; ++j) {
        expected +=
            x[j] * std::polar(1.0, -2.0 * std::numbers::pi * static_cast<double>(j * k % n) /
                                       static_cast<double>(n));
      }
      EXPECT_LT(std::abs(X[k] - expected), 1e-12) << n;
    }
    inverseFourierTransform(X);
    for (size_t j = 0; j < n; ++j) EXPECT_LT(std::abs(X[j] - x[j]), 1e-13);
  }
  std::vector<std::complex<double>> nothing;
  fourierTransform(nothing);
  inverseFourierTransform(nothing);
}

// A finite Fourier series has its analytic derivatives to rounding, for even, odd and prime
// lengths, and noise above its highest harmonic leaves no trace.
TEST(Fourier, DerivativesOfPeriodicMotionAreExact) {
  for (const Eigen::Index n : {1000, 1001, 997}) {
    const double rate = static_cast<double>(n) / 10.0;  // a period of 10 s
    Eigen::MatrixXd q(n, 3), v(n, 3), a(n, 3), noise(n, 3);
    for (Eigen::Index k = 0; k < n; ++k) {
      for (Eigen::Index c = 0; c < 3; ++c) {
        q(k, c) = 0.2 * static_cast<double>(c);
        v(k, c) = a(k, c) = 0.0;
        for (int h = 1; h <= 5; ++h) {
          const double w = 2.0 * std::numbers::pi * 0.1 * h, t = static_cast<double>(k) / rate;
          const double phase = w * t + static_cast<double>(c) + h;
          q(k, c) += std::sin(phase) / h;
          v(k, c) += w * std::cos(phase) / h;
          a(k, c) -= w * w * std::sin(phase) / h;
        }
        noise(k, c) = 0.01 * std::cos(2.0 * std::numbers::pi * 3.0 * static_cast<double>(k) / rate);
      }
    }
    const PeriodicDerivatives all = differentiatePeriodic(q, rate);
    EXPECT_LT((all.first - v).cwiseAbs().maxCoeff(), 1e-10);
    EXPECT_LT((all.second - a).cwiseAbs().maxCoeff(), 1e-7);
    const PeriodicDerivatives kept = differentiatePeriodic(q + noise, rate, 0.5);
    EXPECT_LT((kept.value - q).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_LT((kept.first - v).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_LT((kept.second - a).cwiseAbs().maxCoeff(), 1e-11);
  }
}

// A signal that is not a whole period, or too short, is refused.
TEST(Fourier, RefusesWhatIsNotPeriodic) {
  const Eigen::VectorXd ramp = Eigen::VectorXd::LinSpaced(50, 0.0, 1.0);
  try {
    differentiatePeriodic(ramp, 10.0);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("whole periods"), std::string::npos);
  }
  EXPECT_THROW(differentiatePeriodic(Eigen::VectorXd::Zero(2), 10.0), Error);
  EXPECT_THROW(differentiatePeriodic(Eigen::VectorXd::Zero(20), -1.0), Error);
  EXPECT_THROW(differentiatePeriodic(Eigen::VectorXd::Constant(20, NAN), 1.0), Error);
}

}  // namespace
}  // namespace proprio
