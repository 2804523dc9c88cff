#include "proprio/signal/joint_signals.h"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>

#include "proprio/core/testing/message_of.h"
#include "proprio/numerics/dense.h"
#include "proprio/recording/signal_names.h"
#include "proprio/signal/decimation.h"
#include "proprio/signal/differences.h"

namespace proprio {
namespace {

struct Truth {
  Recording recording;
  Eigen::MatrixXd q, v, a, tau;
};

/// Two joints in periodic motion (period 10 s), tau = 2 a + 0.5 v + 1, with noise.
Truth twoJoints(double rate, double sigma_q, double sigma_tau, unsigned seed = 1) {
  const Eigen::Index n = static_cast<Eigen::Index>(10.0 * rate);
  Truth truth;
  truth.q = truth.v = truth.a = Eigen::MatrixXd::Zero(n, 2);
  Recording& recording = truth.recording;
  recording.source = "run.csv";
  recording.time.resize(n);
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  for (Eigen::Index k = 0; k < n; ++k) {
    const double t = static_cast<double>(k) / rate;
    recording.time[k] = 100.0 + t;
    for (Eigen::Index j = 0; j < 2; ++j) {
      for (int h = 1; h <= 5; ++h) {
        const double w = 2.0 * std::numbers::pi * 0.1 * (h + 3.0 * static_cast<double>(j)),
                     p = w * t + h + static_cast<double>(j);
        truth.q(k, j) += 0.3 / w * std::sin(p);
        truth.v(k, j) += 0.3 * std::cos(p);
        truth.a(k, j) -= 0.3 * w * std::sin(p);
      }
    }
  }
  truth.tau = (2.0 * truth.a + 0.5 * truth.v).array() + 1.0;
  recording.values.resize(n, 6);
  for (const char* name : {"tau_elbow", "q_elbow", "q_wrist", "tau_wrist", "v_elbow", "v_wrist"}) {
    recording.channels.push_back(channelNamed(name));
  }
  const auto noise = [&](double sigma) {
    return Eigen::VectorXd::NullaryExpr(n, [&] { return sigma * normal(random); }).eval();
  };
  recording.values << truth.tau.col(0) + noise(sigma_tau), truth.q.col(0) + noise(sigma_q),
      truth.q.col(1) + noise(sigma_q), truth.tau.col(1) + noise(sigma_tau),
      truth.v.col(0) + noise(1e-3), truth.v.col(1) + noise(1e-3);
  return truth;
}

/// Relative error of what came out, against the truth at the same times.
double relativeError(const JointSignals& signals, const Eigen::MatrixXd& out,
                     const Eigen::MatrixXd& truth, double rate) {
  Eigen::MatrixXd expected(out.rows(), out.cols());
  for (Eigen::Index k = 0; k < out.rows(); ++k) {
    expected.row(k) = truth.row(std::lround((signals.time[k] - 100.0) * rate));
  }
  return (out - expected).norm() / expected.norm();
}

// By default the motion comes out of noisy positions, with joints in the order of the recording,
// fewer samples, and every step told.
TEST(JointSignals, DefaultsRecoverTheMotion) {
  const Truth truth = twoJoints(1000.0, 2e-5, 0.05);
  const JointSignals signals = jointSignals(truth.recording);
  EXPECT_EQ(signals.joints, (std::vector<std::string>{"elbow", "wrist"}));
  EXPECT_LT(relativeError(signals, signals.q, truth.q, 1000.0), 1e-3);
  EXPECT_LT(relativeError(signals, signals.v, truth.v, 1000.0), 3e-3);
  EXPECT_LT(relativeError(signals, signals.a, truth.a, 1000.0), 3e-2);
  EXPECT_LT(relativeError(signals, signals.tau, truth.tau, 1000.0), 1e-2);
  EXPECT_GT(signals.decimation, 1);
  EXPECT_NEAR(signals.rate_hz * signals.decimation, signals.recorded_rate_hz, 1e-6);
  EXPECT_EQ(signals.moving.rows(), signals.time.size());
  ASSERT_EQ(signals.cutoffs.size(), 2u);
  EXPECT_GT(signals.cutoffs[1].bandwidth_hz, signals.cutoffs[0].bandwidth_hz);
  ASSERT_GE(signals.steps.size(), 5u);
  EXPECT_NE(signals.steps[0].find("cut-off of 'elbow'"), std::string::npos) << signals.steps[0];
}

// With given numbers the result is exactly filter, differences and subsampling of the columns.
TEST(JointSignals, IsTheCompositionOfItsParts) {
  const Truth truth = twoJoints(1000.0, 2e-5, 0.05);
  JointSignalOptions options;
  options.joints = {"wrist"};
  options.cutoff_hz = {20.0};
  options.order = 3;
  options.trim = 40;
  options.decimated_rate_hz = 50.0;
  options.low_speed = {0.1};
  const JointSignals signals = jointSignals(truth.recording, options);
  const DigitalFilter filter = butterworthLowpass(3, 20.0, signals.recorded_rate_hz);
  const Eigen::MatrixXd q = filterZeroPhase(filter, truth.recording.values.col(2));
  const Eigen::MatrixXd tau = filterZeroPhase(filter, truth.recording.values.col(3));
  const Derivatives d = centralDifferences(q, 1.0 / signals.recorded_rate_hz);
  EXPECT_EQ(signals.decimation, 20);
  ASSERT_EQ(signals.time.size(), (10000 - 80 + 19) / 20);
  for (Eigen::Index k = 0; k < signals.time.size(); ++k) {
    const Eigen::Index row = 40 + 20 * k;
    EXPECT_EQ(signals.q(k, 0), q(row, 0));
    EXPECT_EQ(signals.v(k, 0), d.first(row, 0));
    EXPECT_EQ(signals.a(k, 0), d.second(row, 0));
    EXPECT_EQ(signals.tau(k, 0), tau(row, 0));
    EXPECT_EQ(signals.time[k], truth.recording.time[row]);
    if (std::abs(signals.v(k, 0)) < 0.1) {
      EXPECT_FALSE(signals.moving(k, 0));
    }
  }
}

// Claim: the sign of the velocity goes through the filter of the torques, so that dry friction is
// explained where a joint turns round: torques of a sign are that sign, to rounding, where the
// positions determine it; noise at rest does not turn it.
TEST(JointSignals, SignsAreFilteredLikeTorques) {
  Truth truth = twoJoints(1000.0, 0.0, 0.0);
  truth.recording.values.col(0) = truth.v.col(0).array().sign();
  JointSignalOptions options;
  options.joints = {"elbow"};
  options.cutoff_hz = {10.0};
  options.low_speed = {1e-9};
  const JointSignals signals = jointSignals(truth.recording, options);
  ASSERT_EQ(signals.sign.rows(), signals.tau.rows());
  // where the filtered position turns a sample earlier or later: one sample of the step response
  EXPECT_LT((signals.sign - signals.tau).cwiseAbs().maxCoeff(), 2.0 * 10.0 * 2.0 * 1e-3 * 2.0);
  EXPECT_GT((signals.v.array().sign().matrix() - signals.tau).cwiseAbs().maxCoeff(), 0.5);
  options.filter_torque = false;
  EXPECT_EQ(jointSignals(truth.recording, options).sign.cols(), 0);

  truth.recording.values.col(1).tail(5000).setConstant(truth.q(5000, 0));
  for (Eigen::Index k = 5000; k < 10000; ++k) truth.recording.values(k, 1) += k % 7 == 0 ? 1e-9 : 0;
  options = {};
  options.joints = {"elbow"};
  options.cutoff_hz = {10.0};
  const Eigen::VectorXd rest = jointSignals(truth.recording, options).sign.col(0).tail(100);
  EXPECT_NEAR(rest.cwiseAbs().minCoeff(), 1.0, 1e-3);
}

// Claim: friction's sign turns where the velocity does, however high the speed below which samples
// do not count; torques of the true sign are that sign to one sample of the step response. A joint
// that slows down and goes on keeps it.
TEST(JointSignals, SignsTurnWhereTheVelocityDoes) {
  Truth truth = twoJoints(1000.0, 0.0, 0.0);
  for (Eigen::Index k = 0; k < truth.q.rows(); ++k) {
    const double angle = 3.0e-3 * static_cast<double>(k);
    truth.recording.values(k, 1) = std::sin(angle) / 3.0;
    truth.recording.values(k, 0) = std::copysign(1.0, std::cos(angle));
  }
  JointSignalOptions options;
  options.joints = {"elbow"};
  options.cutoff_hz = {10.0};
  options.low_speed = {0.3};
  const JointSignals signals = jointSignals(truth.recording, options);
  EXPECT_LT((signals.sign - signals.tau).cwiseAbs().maxCoeff(), 2.0 * 10.0 * 2.0 * 1e-3 * 2.0);

  for (Eigen::Index k = 0; k < truth.q.rows(); ++k) {
    const double t = 1e-3 * static_cast<double>(k);
    truth.recording.values(k, 1) = t + 0.999 / 3.0 * std::sin(3.0 * t);
  }
  options.low_speed = {0.01};
  EXPECT_NEAR(jointSignals(truth.recording, options).sign.col(0).minCoeff(), 1.0, 1e-3);
}

// Claim: `late` is what the sign has besides if friction turns after a travel x: a torque that
// turns as long after each reversal of a sine as it takes to come back by x is sign + late.
TEST(JointSignals, LateSignsTurnAfterATravel) {
  Truth truth = twoJoints(1000.0, 0.0, 0.0);
  const double w = 2.0 * std::numbers::pi * 0.5, wait = std::acos(1.0 - kPresliding / 0.1) / w;
  for (Eigen::Index k = 0; k < truth.q.rows(); ++k) {
    const double t = 1e-3 * static_cast<double>(k);
    truth.recording.values(k, 1) = -0.1 * std::cos(w * t);
    truth.recording.values(k, 0) = std::copysign(1.0, std::sin(w * (t - wait)));
  }
  JointSignalOptions options;
  options.joints = {"elbow"};
  options.cutoff_hz = {10.0};
  const JointSignals signals = jointSignals(truth.recording, options);
  EXPECT_GT(signals.late.cwiseAbs().maxCoeff(), 0.5);
  EXPECT_LT((signals.sign + signals.late - signals.tau).cwiseAbs().maxCoeff(),
            2.0 * 10.0 * 2.0 * 1e-3 * 2.0);
}

// Claim: where a joint sticks before it turns round, rows that count hardly tell what friction was
// meanwhile (a tenth of the two F_c by which it may differ), rows beside them do; reversals that
// are quick cost no rows.
TEST(JointSignals, RowsBesideAStickingJointDoNotCount) {
  Truth truth = twoJoints(1000.0, 0.0, 0.0);
  const auto record = [&](double stuck, double friction) {
    for (Eigen::Index k = 0; k < truth.q.rows(); ++k) {
      const double t = std::fmod(1e-3 * static_cast<double>(k), 2.0 + 2.0 * stuck);
      const double half = std::fmod(t, 1.0 + stuck), way = t < 1.0 + stuck ? 1.0 : -1.0;
      const double angle = std::numbers::pi * std::min(half, 1.0);
      truth.recording.values(k, 1) = -0.5 * way * std::cos(angle);
      truth.recording.values(k, 0) = half < 1.0 ? way : friction;
    }
    JointSignalOptions options;
    options.joints = {"elbow"};
    options.cutoff_hz = {10.0};
    return jointSignals(truth.recording, options);
  };
  const JointSignals low = record(0.1, -1.0), high = record(0.1, 1.0);
  ASSERT_TRUE((low.moving == high.moving).all());
  const Eigen::ArrayXd differ = (high.tau - low.tau).array().abs().col(0);
  EXPECT_GT(low.moving.count(), 0.7 * static_cast<double>(low.moving.size()));
  EXPECT_LE((differ * low.moving.col(0).cast<double>()).maxCoeff(), 2.0 * 0.1 + 1e-9);
  EXPECT_GT((differ * low.mixed.col(0).cast<double>()).maxCoeff(), 2.0 * 0.1);
  EXPECT_FALSE(record(0.0, 0.0).mixed.any());
}

// Without filter ("NF") the samples are the recorded ones and accelerations carry the noise that
// three neighbours give, sqrt(6) sigma / dt^2; the torque stays as it was.
TEST(JointSignals, WithoutFilter) {
  const Truth truth = twoJoints(1000.0, 1e-5, 0.05);
  JointSignalOptions options;
  options.filter = false;
  options.decimation = DecimationMode::kNone;
  const JointSignals signals = jointSignals(truth.recording, options);
  EXPECT_EQ(signals.q.col(0), truth.recording.values.col(1).segment(2, 9996));
  EXPECT_EQ(signals.tau.col(0), truth.recording.values.col(0).segment(2, 9996));
  const Eigen::MatrixXd error = signals.a - truth.a.middleRows(2, 9996);
  EXPECT_NEAR(
      error.norm() / std::sqrt(static_cast<double>(error.size())) / (std::sqrt(6.0) * 1e-5 * 1e6),
      1.0, 0.03);
  EXPECT_EQ(signals.cutoffs[0].cutoff_hz, 0.0);
}

// Least squares of tau on (a, v, 1): unfiltered noise of the accelerations shrinks the inertia, the
// pipeline with a filter does not, a causal filter delays and biases (the published ordering).
TEST(JointSignals, FiltersRemoveTheBiasOfNoise) {
  const Truth truth = twoJoints(1000.0, 3e-5, 0.02);
  const auto inertia = [&](bool filter, bool causal) {
    JointSignalOptions options;
    options.filter = filter;
    options.causal = causal;
    options.filter_torque = false;
    options.cutoff_hz = {15.0};
    const JointSignals s = jointSignals(truth.recording, options);
    Eigen::MatrixXd W(s.time.size(), 3);
    W << s.a.col(1), s.v.col(1), Eigen::VectorXd::Ones(s.time.size());
    return Eigen::VectorXd(leastSquares(W, s.tau.col(1)));
  };
  const double unfiltered = std::abs(inertia(false, false)[0] - 2.0);
  const double filtered = std::abs(inertia(true, false)[0] - 2.0);
  const double delayed = std::abs(inertia(true, true)[1] - 0.5);
  EXPECT_LT(filtered, 0.01);
  EXPECT_GT(unfiltered, 50.0 * filtered);
  EXPECT_GT(delayed, 10.0 * std::abs(inertia(true, false)[1] - 0.5));
}

// Every way to differentiate recovers the same motion, each within what its lag or noise allows.
TEST(JointSignals, EveryDerivative) {
  const Truth truth = twoJoints(500.0, 1e-5, 0.05);
  const std::pair<DerivativeMethod, double> limits[] = {
      {DerivativeMethod::kCentral, 0.03},  {DerivativeMethod::kCentralTwice, 0.03},
      {DerivativeMethod::kBackward, 0.04}, {DerivativeMethod::kSavitzkyGolay, 0.05},
      {DerivativeMethod::kAdaptive, 0.6},  {DerivativeMethod::kFourier, 0.03}};
  for (const auto& [method, limit] : limits) {
    JointSignalOptions options;
    options.derivative = method;
    const JointSignals signals = jointSignals(truth.recording, options);
    EXPECT_LT(relativeError(signals, signals.a, truth.a, 500.0), limit) << toString(method);
    EXPECT_LT(relativeError(signals, signals.v, truth.v, 500.0), 0.1 * limit + 0.005)
        << toString(method);
  }
  JointSignalOptions options;
  options.velocity = VelocitySource::kMeasured;
  const JointSignals signals = jointSignals(truth.recording, options);
  EXPECT_LT(relativeError(signals, signals.a, truth.a, 500.0), 0.05);
  EXPECT_LT(relativeError(signals, signals.v, truth.v, 500.0), 0.01);
}

// Parallel decimation leaves all samples and names the ratio for regressor and torques.
TEST(JointSignals, ParallelDecimation) {
  const Truth truth = twoJoints(1000.0, 1e-5, 0.05);
  JointSignalOptions options;
  options.decimation = DecimationMode::kParallel;
  options.cutoff_hz = {50.0};
  options.filter_torque = false;
  const JointSignals signals = jointSignals(truth.recording, options);
  EXPECT_EQ(signals.decimation, 1);
  EXPECT_EQ(signals.parallel_ratio, decimationRatio(1000.0, 50.0));
  EXPECT_EQ(signals.time.size(), 10000 - 2 * 50);  // the published border of 50 samples
}

// Jittery stamps are refused with the jitter and the way out; resampled, they give the motion.
TEST(JointSignals, JitterIsRefusedOrResampled) {
  Truth truth = twoJoints(1000.0, 0.0, 0.0);
  Recording& recording = truth.recording;
  std::vector<Eigen::Index> kept;
  for (Eigen::Index k = 0; k < 10000; k += 2 + k % 3) kept.push_back(k);
  recording.time = recording.time(kept).eval();
  recording.values = recording.values(kept, Eigen::all).eval();
  const std::string message = messageOf([&] { jointSignals(recording); });
  EXPECT_NE(message.find("run.csv: the time stamps are not uniform"), std::string::npos) << message;
  EXPECT_NE(message.find("--resample"), std::string::npos);
  JointSignalOptions options;
  options.resample = ResampleOptions{.rate_hz = 500.0, .interpolation = Interpolation::kCubic};
  const JointSignals signals = jointSignals(recording, options);
  EXPECT_NE(signals.steps[0].find("resampled from"), std::string::npos);
  EXPECT_LT(relativeError(signals, signals.a, truth.a, 1000.0), 0.01);
}

// What cannot be used is refused in one sentence with file and channel.
TEST(JointSignals, RefusesBadInput) {
  const Truth truth = twoJoints(200.0, 1e-5, 0.05);
  const auto message = [&](const std::function<void(Recording&, JointSignalOptions&)>& change) {
    Recording recording = truth.recording;
    JointSignalOptions options;
    change(recording, options);
    return messageOf([&] { jointSignals(recording, options); });
  };
  const auto expectFound = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  expectFound(message([](Recording&, JointSignalOptions& o) { o.joints = {"elbw"}; }),
              "did you mean 'elbow'");
  expectFound(message([](Recording& r, JointSignalOptions&) { r.values(7, 1) = NAN; }),
              "'q_elbow' is nan in row 8");
  expectFound(message([](Recording& r, JointSignalOptions&) { r.channels[1].unit = "deg"; }),
              "is in deg, expected rad");
  expectFound(message([](Recording& r, JointSignalOptions&) { r.channels[1].side = Side::kMotor; }),
              "motor's side");
  expectFound(message([](Recording& r, JointSignalOptions&) { r.channels[0].role = Role::kTruth; }),
              "no measured torque channel of joint 'elbow'");
  expectFound(message([](Recording& r, JointSignalOptions&) { r.time.resize(0); }),
              "give the sampling rate");
  expectFound(message([](Recording&, JointSignalOptions& o) {
                o.cutoff_hz = {1, 2, 3};
              }),
              "3 values for 2 joints");
  expectFound(message([](Recording&, JointSignalOptions& o) { o.cutoff_hz = {100.0}; }),
              "half the sampling rate");
  expectFound(message([](Recording&, JointSignalOptions& o) { o.order = 0; }), "order 0");
  expectFound(message([](Recording&, JointSignalOptions& o) { o.trim = 5000; }), "do not survive");
  expectFound(message([](Recording& r, JointSignalOptions&) {
                r.values.conservativeResize(0, Eigen::NoChange);
                r.time.resize(0);
              }),
              "no samples");
  expectFound(message([](Recording& r, JointSignalOptions& o) {
                r.values.conservativeResize(1, Eigen::NoChange);
                r.time.conservativeResize(1);
                o.cutoff_hz = {5.0};
              }),
              "1 time stamps");
  expectFound(message([](Recording& r, JointSignalOptions&) {
                r.channels.resize(1);
                r.values.conservativeResize(Eigen::NoChange, 1);
              }),
              "no channel is the measured position");
  // without torques, where they are not needed
  Recording recording = truth.recording;
  recording.channels[0].quantity = Quantity::kOther;
  JointSignalOptions options;
  options.require_torque = false;
  EXPECT_EQ(jointSignals(recording, options).tau.cols(), 0);
}

/// Claim: rows as recorded come out as they went in, in any order and without time stamps;
/// accelerations that are not there are asked for.
TEST(JointSignals, StatesAsRecorded) {
  Truth truth = twoJoints(100.0, 1e-5, 0.01);
  Recording& recording = truth.recording;
  recording.values = recording.values.colwise().reverse().eval();
  recording.time.resize(0);
  JointSignalOptions options;
  options.as_recorded = true;
  EXPECT_NE(messageOf([&] { jointSignals(recording, options); }).find("acceleration"),
            std::string::npos);
  recording.values.conservativeResize(Eigen::NoChange, 8);
  recording.values.rightCols(2) = truth.a;
  recording.channels.push_back(channelNamed("a_elbow"));
  recording.channels.push_back(channelNamed("a_wrist"));
  const JointSignals signals = jointSignals(recording, options);
  EXPECT_EQ(signals.q.col(0), recording.values.col(1));
  EXPECT_EQ(signals.v.col(1), recording.values.col(5));
  EXPECT_EQ(signals.a, truth.a);
  EXPECT_EQ(signals.tau.col(1), recording.values.col(3));
  EXPECT_EQ(signals.sign.cols(), 0);
  EXPECT_EQ(signals.time.size(), recording.samples());
  EXPECT_GT(signals.moving.count(), recording.samples());
  for (Eigen::Index j = 0; j < 2; ++j)
    EXPECT_EQ(signals.moving.col(j).count(),
              (signals.v.col(j).array().abs() > signals.low_speed[j]).count());
}

/// Claim: postures at rest need neither velocities nor time; all of them count, with zero speed.
TEST(JointSignals, PosturesAtRest) {
  Truth truth = twoJoints(100.0, 1e-5, 0.01);
  Recording& recording = truth.recording;
  recording.time.resize(0);
  recording.channels.resize(4);
  recording.values.conservativeResize(Eigen::NoChange, 4);
  JointSignalOptions options;
  options.at_rest = true;
  const JointSignals signals = jointSignals(recording, options);
  EXPECT_EQ(signals.q.col(0), recording.values.col(1));
  EXPECT_EQ(signals.tau.col(1), recording.values.col(3));
  EXPECT_TRUE(signals.v.isZero(0.0) && signals.a.isZero(0.0));
  EXPECT_EQ(signals.a.rows(), recording.samples());
  EXPECT_TRUE(signals.moving.all());
}

// Outliers can be repaired before anything else, and the count is told.
TEST(JointSignals, RepairsOutliersIfAsked) {
  Truth truth = twoJoints(200.0, 1e-5, 0.05);
  truth.recording.values(1000, 1) += 1.0;
  JointSignalOptions options;
  options.hampel_window = 7;
  options.hampel_deviations = 10.0;
  options.cutoff_hz = {10.0};
  const JointSignals signals = jointSignals(truth.recording, options);
  EXPECT_NE(signals.steps[0].find("outliers replaced"), std::string::npos);
  EXPECT_LT(relativeError(signals, signals.v, truth.v, 200.0), 0.05);
}

}  // namespace
}  // namespace proprio
