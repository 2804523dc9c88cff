#include "proprio/simulation/motor_heat.h"

#include <gtest/gtest.h>

#include <cmath>

#include "proprio/core/error.h"

namespace proprio {
namespace {

const MotorHeat kMotor = {0.8, 3.93e-3, 2.0, 150.0, 30.0};

// A constant current leads to the temperature at which losses and cooling balance, and the way
// there is an exponential.
TEST(MotorHeat, SteadyState) {
  const double current = 4.0, loss = 0.8 * 16.0;
  const double rise = loss * 2.0 / (1.0 - 3.93e-3 * loss * 2.0);
  EXPECT_NEAR(steadyTemperature(kMotor, current), 30.0 + rise, 1e-12);
  // losses at that temperature leave through the thermal resistance
  EXPECT_NEAR(loss * (1.0 + 3.93e-3 * rise), rise / 2.0, 1e-12);
  const Eigen::VectorXd time = Eigen::VectorXd::LinSpaced(401, 0.0, 4000.0);
  const Eigen::VectorXd T =
      motorTemperature(kMotor, time, Eigen::VectorXd::Constant(401, current), 30.0);
  const double rate = (0.5 - 3.93e-3 * loss) / 150.0;
  for (Eigen::Index k = 0; k < T.size(); ++k)
    EXPECT_NEAR(T[k], 30.0 + rise * (1.0 - std::exp(-rate * time[k])), 1e-9);
}

// Steps are exact: coarse and fine sampling of the same current give the same temperatures.
TEST(MotorHeat, IndependentOfTheStep) {
  Eigen::VectorXd coarse_time(3), coarse(3), fine_time(201), fine(201);
  coarse_time << 0.0, 100.0, 200.0;
  coarse << 5.0, -2.0, 0.0;
  for (int k = 0; k <= 200; ++k) {
    fine_time[k] = k;
    fine[k] = k < 100 ? 5.0 : -2.0;
  }
  EXPECT_NEAR(motorTemperature(kMotor, coarse_time, coarse, 40.0)[2],
              motorTemperature(kMotor, fine_time, fine, 40.0)[200], 1e-10);
}

// Copper that warms up faster than it cools has no steady state; without current it cools to
// ambient; the rate may be exactly zero.
TEST(MotorHeat, RunawayAndCooling) {
  EXPECT_TRUE(std::isinf(steadyTemperature(kMotor, 20.0)));
  EXPECT_EQ(steadyTemperature(kMotor, 0.0), 30.0);
  const MotorHeat flat = {1.0, 0.25, 1.0, 8.0, 0.0};  // rate 0 at 2 A: x' = 4 / 8
  const Eigen::VectorXd time = Eigen::VectorXd::LinSpaced(2, 0.0, 10.0);
  EXPECT_NEAR(motorTemperature(flat, time, Eigen::VectorXd::Constant(2, 2.0), 1.0)[1], 6.0, 1e-12);
}

TEST(MotorHeat, Refusals) {
  const Eigen::VectorXd two = Eigen::VectorXd::LinSpaced(2, 0.0, 1.0);
  EXPECT_THROW(motorTemperature(kMotor, two, Eigen::VectorXd::Zero(3), 20.0), Error);
  EXPECT_THROW(motorTemperature(kMotor, two.reverse(), two, 20.0), Error);
  MotorHeat broken = kMotor;
  broken.capacity = 0.0;
  EXPECT_THROW(steadyTemperature(broken, 1.0), Error);
  EXPECT_EQ(motorTemperature(kMotor, {}, {}, 20.0).size(), 0);
}

}  // namespace
}  // namespace proprio
