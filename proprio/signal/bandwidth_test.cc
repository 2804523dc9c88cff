#include "proprio/signal/bandwidth.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "proprio/core/error.h"
#include "proprio/signal/differences.h"

namespace proprio {
namespace {

struct Motion {
  Eigen::VectorXd q, a;
};

/// Sum of sines up to `top` Hz with random phases, speeds of about 1 rad/s.
Motion sines(double top, double rate, double duration, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> phase(0.0, 2.0 * std::numbers::pi);
  const Eigen::Index n = static_cast<Eigen::Index>(rate * duration);
  Motion motion{Eigen::VectorXd::Constant(n, 0.4), Eigen::VectorXd::Zero(n)};
  for (int h = 1; h <= 6; ++h) {
    const double w = 2.0 * std::numbers::pi * top * h / 6.0, p = phase(random);
    for (Eigen::Index k = 0; k < n; ++k) {
      const double angle = w * static_cast<double>(k) / rate + p;
      motion.q[k] += 0.5 / w * std::sin(angle);
      motion.a[k] -= 0.5 * w * std::sin(angle);
    }
  }
  return motion;
}

Eigen::VectorXd noise(Eigen::Index n, double sigma, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0.0, sigma);
  return Eigen::VectorXd::NullaryExpr(n, [&] { return normal(random); });
}

/// Error of the acceleration in the middle of the recording, relative to it.
double accelerationError(const Motion& motion, const Eigen::VectorXd& measured, double cutoff,
                         double rate) {
  const Eigen::VectorXd a =
      centralDifferences(filterZeroPhase(butterworthLowpass(4, cutoff, rate), measured), 1.0 / rate)
          .second;
  const Eigen::Index border = a.size() / 10, count = a.size() - 2 * border;
  return (a - motion.a).segment(border, count).norm() / motion.a.segment(border, count).norm();
}

// The bandwidth of a motion is found within a quarter, whatever rate, length and noise; the noise
// is found within a third, never below.
TEST(Bandwidth, FindsBandwidthAndNoise) {
  for (const double top : {0.5, 2.0, 8.0}) {
    for (const double rate : {100.0, 1000.0, 4000.0}) {
      for (const double sigma : {1e-6, 1e-5, 1e-4}) {
        const Motion motion = sines(top, rate, 12.0, 1);
        const Eigen::VectorXd q = motion.q + noise(motion.q.size(), sigma, 2);
        const CutoffChoice choice = chooseCutoffs(q, rate)[0];
        EXPECT_TRUE(choice.moves);
        // half a resolution of the spectrum (1 / 6 s, twice that for the window) more
        EXPECT_NEAR(choice.bandwidth_hz, top, 0.25 * top + 0.35)
            << top << " " << rate << " " << sigma;
        if (top < 0.05 * rate) {
          EXPECT_NEAR(choice.noise / sigma, 1.1, 0.2) << top << " " << rate;
        }
      }
    }
  }
}

// The accelerations that the chosen cut-off gives are at most half as wrong again as those of the
// best cut-off in hindsight, over bandwidths, rates and noise.
TEST(Bandwidth, CutoffIsNearlyTheBest) {
  for (const double top : {0.5, 2.0, 8.0}) {
    for (const double rate : {200.0, 2000.0}) {
      for (const double sigma : {1e-6, 1e-5, 1e-4}) {
        const Motion motion = sines(top, rate, 12.0, 3);
        const Eigen::VectorXd q = motion.q + noise(motion.q.size(), sigma, 4);
        const CutoffChoice choice = chooseCutoffs(q, rate)[0];
        double best = INFINITY;
        for (double cutoff = 0.5 * top; cutoff < 0.45 * rate; cutoff *= 1.3) {
          best = std::min(best, accelerationError(motion, q, cutoff, rate));
        }
        const double error = accelerationError(motion, q, choice.cutoff_hz, rate);
        EXPECT_LT(error, 1.5 * best + 1e-3) << top << " " << rate << " " << sigma << ": "
                                            << choice.cutoff_hz << " " << choice.reason;
      }
    }
  }
}

// Clean data gets ten times the bandwidth, noisy data less, and the reason says so.
TEST(Bandwidth, NoiseLowersTheCutoff) {
  const Motion motion = sines(2.0, 1000.0, 10.0, 5);
  double before = INFINITY;
  for (const double sigma : {1e-9, 1e-5, 1e-4, 1e-3}) {
    const CutoffChoice choice =
        chooseCutoffs(motion.q + noise(motion.q.size(), sigma, 6), 1000.0)[0];
    EXPECT_LT(choice.cutoff_hz, before + 1e-9);
    EXPECT_GE(choice.cutoff_hz, 1.5 * choice.bandwidth_hz * (1.0 - 1e-9));
    EXPECT_LE(choice.cutoff_hz, 10.0 * choice.bandwidth_hz * (1.0 + 1e-9));
    if (sigma == 1e-9) {
      EXPECT_NE(choice.reason.find("10 times that"), std::string::npos) << choice.reason;
    }
    if (sigma == 1e-3) {
      EXPECT_NE(choice.reason.find("because noise"), std::string::npos) << choice.reason;
    }
    before = choice.cutoff_hz;
  }
}

// Vibration at 150 Hz, encoder counts and a slow drift do not fool the choice.
TEST(Bandwidth, SurvivesVibrationCountsAndDrift) {
  const Motion motion = sines(1.0, 1000.0, 15.0, 7);
  Eigen::VectorXd q = motion.q;
  const double count = 2.0 * std::numbers::pi / 65536.0;
  for (Eigen::Index k = 0; k < q.size(); ++k) {
    const double t = 1e-3 * static_cast<double>(k);
    q[k] += 0.05 * t + 2e-6 * std::sin(2.0 * std::numbers::pi * 150.0 * t);
    q[k] = count * std::round(q[k] / count);
  }
  const CutoffChoice choice = chooseCutoffs(q, 1000.0)[0];
  EXPECT_NEAR(choice.bandwidth_hz, 1.0, 0.4) << choice.reason;
  EXPECT_LT(choice.cutoff_hz, 15.0) << choice.reason;
  EXPECT_GT(choice.cutoff_hz, 1.5);
}

// Joints at rest, exactly or but for noise or one flickering count, borrow the cut-off of the ones
// that move.
TEST(Bandwidth, JointsAtRestBorrow) {
  const Motion motion = sines(2.0, 1000.0, 10.0, 8);
  Eigen::MatrixXd q(motion.q.size(), 4);
  q.col(0) = motion.q;
  q.col(1).setConstant(0.3);
  q.col(2) = 0.3 + noise(q.rows(), 1e-5, 9).array();
  q.col(3) = noise(q.rows(), 1.0, 10).unaryExpr([](double x) { return x > 0.5 ? 1e-4 : 0.0; });
  const std::vector<CutoffChoice> choices = chooseCutoffs(q, 1000.0);
  EXPECT_TRUE(choices[0].moves);
  for (size_t j = 1; j < 4; ++j) {
    EXPECT_FALSE(choices[j].moves) << j << choices[j].reason;
    EXPECT_EQ(choices[j].cutoff_hz, choices[0].cutoff_hz);
    EXPECT_NE(choices[j].reason.find("does not move"), std::string::npos);
  }
  const std::vector<CutoffChoice> none = chooseCutoffs(q.col(1), 1000.0);
  EXPECT_EQ(none[0].cutoff_hz, 5.0);
}

// A recording slower than the rule wants gets what the rate allows.
TEST(Bandwidth, LimitedByTheRate) {
  const Motion motion = sines(3.0, 20.0, 60.0, 11);
  const CutoffChoice choice = chooseCutoffs(motion.q, 20.0)[0];
  EXPECT_LE(choice.cutoff_hz, 8.0 + 1e-9);
  EXPECT_GT(choice.cutoff_hz, 4.0);
}

// Too few samples for a spectrum, and values that are no numbers, are refused.
TEST(Bandwidth, RefusesBadInput) {
  try {
    chooseCutoffs(Eigen::VectorXd::Zero(63), 100.0);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("give the cut-off"), std::string::npos);
  }
  EXPECT_THROW(chooseCutoffs(Eigen::VectorXd::Constant(100, NAN), 100.0), Error);
  EXPECT_THROW(chooseCutoffs(Eigen::VectorXd::Zero(100), 0.0), Error);
  EXPECT_THROW(chooseCutoffs(Eigen::VectorXd::Zero(100), 100.0, 0), Error);
}

}  // namespace
}  // namespace proprio
