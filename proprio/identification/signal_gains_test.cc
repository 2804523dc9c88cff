#include "proprio/identification/signal_gains.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace proprio {
namespace {

// Ramuzat's elbow (Table 3.1, R-19): motor current and a torque sensor without calibration, moved
// without and with 34 kg at 5 cm, give inertia, friction of motor and joint and both gains at once.
TEST(SignalGains, ElbowWithTorqueSensor) {
  constexpr double kGravity = 9.81;
  // MX MY, motor: I Fv Fs offset, joint: I Fv Fs offset, unknown of the payload: LX I
  Eigen::VectorXd truth(12);
  truth << -0.11, 1.1, 0.45, 5.1, 4.0, 0.86, 0.33, 0.47, 0.55, -0.27, 0.02, 0.1;
  const double payload_moment = 34.0 * 0.05, motor_gain = 250.0 * 0.05, sensor_gain = 1.08;
  std::mt19937_64 random(6);
  std::normal_distribution<double> gaussian(0.0, 1.0);
  SignalRows motor, sensor;
  constexpr Eigen::Index kSamples = 4000;
  motor.columns = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  sensor.columns = {0, 1, 6, 7, 8, 9, 10, 11};
  motor.rows = Eigen::MatrixXd::Zero(2 * kSamples, 14);
  sensor.rows = Eigen::MatrixXd::Zero(2 * kSamples, 10);
  motor.equations = sensor.equations = 2 * kSamples;
  for (Eigen::Index t = 0; t < 2 * kSamples; ++t) {
    const double load = t < kSamples ? 0.0 : 1.0, time = 0.01 * double(t);
    const double q = -1.2 + std::sin(0.9 * time) + 0.1 * std::sin(5.3 * time);
    const double v = 0.9 * std::cos(0.9 * time) + 0.53 * std::cos(5.3 * time);
    const double a = -0.81 * std::sin(0.9 * time) - 2.809 * std::sin(5.3 * time);
    const double sign = v > 0.0 ? 1.0 : -1.0, mx = kGravity * std::cos(q),
                 my = kGravity * std::sin(q);
    motor.rows.row(t).head(12) << mx, my, a, v, sign, 1.0, a, v, sign, 1.0, load * mx, load * a;
    sensor.rows.row(t).head(8) << mx, my, a, v, sign, 1.0, load * mx, load * a;
    const double known = load * my * payload_moment;
    motor.rows(t, 12) = sensor.rows(t, 8) = known;
    motor.rows(t, 13) =
        (motor.rows.row(t).head(12).dot(truth) + known) / motor_gain + 0.02 * gaussian(random);
    double joint = known;
    for (size_t c = 0; c < sensor.columns.size(); ++c)
      joint += sensor.rows(t, static_cast<Eigen::Index>(c)) * truth[sensor.columns[c]];
    sensor.rows(t, 9) = joint / sensor_gain + 0.1 * gaussian(random);
  }
  const std::vector<SignalRows> signals = {motor, sensor};
  const GainSolution first = separateGains(signals, 12);
  const GainSolution both = jointGains(signals, 12, first);
  ASSERT_TRUE(both.solved);
  for (const GainSolution* solution : {&first, &both}) {
    EXPECT_NEAR(solution->gains[0] / motor_gain, 1.0, 0.01);
    EXPECT_NEAR(solution->gains[1] / sensor_gain, 1.0, 0.01);
    EXPECT_LT(std::abs(solution->gains[0] - motor_gain), 4.0 * solution->deviations[0]);
    EXPECT_LT(std::abs(solution->gains[1] - sensor_gain), 4.0 * solution->deviations[1]);
  }
  for (Eigen::Index p = 0; p < truth.size(); ++p) {
    EXPECT_LT(std::abs(both.unknowns[p] - truth[p]), 4.0 * both.unknown_deviations[p]) << p;
    EXPECT_LT(both.unknown_deviations[p], 0.05 * std::abs(truth[p]) + 0.01) << p;
  }
}

// Nothing in, nothing out; a signal without a known torque has no gain.
TEST(SignalGains, Edges) {
  EXPECT_FALSE(separateGains({}, 3).solved);
  EXPECT_FALSE(jointGains({}, 3, separateGains({}, 3)).solved);
  SignalRows signal;
  signal.columns = {0};
  signal.rows = Eigen::MatrixXd::Random(20, 3);
  signal.rows.col(1).setZero();
  signal.equations = 20;
  EXPECT_TRUE(std::isnan(separateGains({signal}, 1).gains[0]));
  // nor has one whose known torque looks like a column of the model
  signal.rows.col(1) = 2.0 * signal.rows.col(0);
  EXPECT_TRUE(std::isnan(separateGains({signal}, 1).gains[0]));
  EXPECT_FALSE(jointGains({signal}, 1, separateGains({signal}, 1)).solved);
}

// A signal whose gain nothing decides, though a guess of it is given, spoils nothing silently: the
// joint estimate says that it is not solved. Alone, with more parameters than it has columns, the
// other signal has the gain that it has by itself.
TEST(SignalGains, UndecidedGainIsNotSolved) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> gaussian(0.0, 1.0);
  SignalRows good, bad;
  good.columns = {0, 1};
  bad.columns = {2, 3};
  good.rows = Eigen::MatrixXd::NullaryExpr(200, 4, [&] { return gaussian(random); });
  bad.rows = Eigen::MatrixXd::NullaryExpr(200, 4, [&] { return gaussian(random); });
  good.rows.col(3) =
      (good.rows.leftCols(3) * Eigen::Vector3d(2.0, -1.0, 1.0)) / 5.0 + 0.01 * good.rows.col(3);
  bad.rows.col(2).setZero();
  bad.rows.col(3) =
      (bad.rows.leftCols(2) * Eigen::Vector2d(1.0, 3.0)) / 4.0 + 0.01 * bad.rows.col(3);
  good.equations = bad.equations = 200;
  const std::vector<SignalRows> both = {good, bad};
  GainSolution first = separateGains(both, 40);
  EXPECT_TRUE(std::isnan(first.gains[1]));
  const GainSolution alone = jointGains(both, 40, first);
  ASSERT_TRUE(alone.solved);
  EXPECT_NEAR(alone.gains[0], first.gains[0], 1e-9);
  EXPECT_NEAR(alone.deviations[0], first.deviations[0], 1e-9);
  first.gains[1] = 4.0;
  const GainSolution guessed = jointGains(both, 40, first);
  EXPECT_FALSE(guessed.solved);
  EXPECT_TRUE(guessed.gains.array().isNaN().all());
}

}  // namespace
}  // namespace proprio
