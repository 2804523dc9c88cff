#include "proprio/identification/torque_delay.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "proprio/identification/testing/synthetic_data.h"

namespace proprio {
namespace {

/// A smooth motion at 100 Hz whose torques come `late` samples late, with white noise.
IdentificationProblem lateProblem(const std::string& robot, Eigen::Index late, double noise,
                                  unsigned seed) {
  constexpr Eigen::Index kSamples = 2000, kEnds = 40;
  const auto tree = testing::treeOf(robot);
  const MotionData whole = testing::smoothData(*tree, kSamples, seed);
  MotionData data = middleSamples(whole, kEnds, kSamples - 2 * kEnds);
  std::mt19937_64 random(seed + 100);
  std::normal_distribution<double> gaussian(0.0, noise);
  data.tau = whole.tau.middleRows(kEnds - late, kSamples - 2 * kEnds) +
             Eigen::MatrixXd::NullaryExpr(data.tau.rows(), data.tau.cols(),
                                          [&] { return gaussian(random); });
  return identificationProblem(tree, {data});
}

/// Claim: torques that come late or early are found out, to five deviations (over 18 runs a chance
/// of 1e-5) and the interpolation's part of a sample; torques in time are not called late.
TEST(TorqueDelay, FindsTheShift) {
  constexpr double kInterpolation = 2e-4;  // s, a fiftieth of a sample
  for (const char* robot : {"planar_2r", "tx40", "iiwa14"}) {
    for (const Eigen::Index late : {-10, -3, 0, 1, 7, 15}) {
      const TorqueDelay found = findTorqueDelay(lateProblem(robot, late, 0.5, 3));
      const double truth = 0.01 * static_cast<double>(late);
      EXPECT_NEAR(found.delay, truth, 5.0 * found.deviation + kInterpolation) << robot << late;
      EXPECT_LT(found.deviation, 0.01) << robot << late;
      if (late == 0) {
        EXPECT_FALSE(found.shifted()) << robot;
      }
      if (std::abs(late) >= 7) {
        EXPECT_TRUE(found.shifted()) << robot << late;
      }
    }
  }
}

/// Claim: the deviation is that of the delay: over 40 seeds the mean square of delay / deviation is
/// one, within three of its deviations sqrt(2 / 40) and the interpolation.
TEST(TorqueDelay, DeviationsAreRight) {
  constexpr unsigned kSeeds = 40;
  double squares = 0.0;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    const TorqueDelay found = findTorqueDelay(lateProblem("planar_2r", 0, 0.5, seed));
    squares += std::pow(found.delay / found.deviation, 2.0) / kSeeds;
  }
  EXPECT_GT(squares, 1.0 - 3.0 * std::sqrt(2.0 / kSeeds));
  EXPECT_LT(squares, 1.0 + 3.0 * std::sqrt(2.0 / kSeeds));
}

/// Claim: states in no order of time have no delay.
TEST(TorqueDelay, StatesHaveNone) {
  const auto tree = testing::treeOf("planar_2r");
  const MotionData states = testing::noisyData(*tree, 2000, 0.1, 1);
  EXPECT_TRUE(std::isinf(findTorqueDelay(identificationProblem(tree, {states})).deviation));
}

/// Claim: a robot that stands still says nothing about delays.
TEST(TorqueDelay, RestSaysNothing) {
  IdentificationProblem problem = lateProblem("planar_2r", 0, 0.5, 1);
  MotionData& data = problem.data[0];
  for (Eigen::MatrixXd* signal : {&data.q, &data.v, &data.a}) signal->setZero();
  std::mt19937_64 random(7);
  std::normal_distribution<double> gaussian(0.0, 0.5);
  data.tau = Eigen::MatrixXd::NullaryExpr(data.tau.rows(), data.tau.cols(),
                                          [&] { return gaussian(random); });
  EXPECT_FALSE(findTorqueDelay(identificationProblem(problem.tree, {data})).shifted());
}

}  // namespace
}  // namespace proprio
