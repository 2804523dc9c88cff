#include "proprio/identification/motor_heat_fit.h"

#include <gtest/gtest.h>

#include <random>

#include "proprio/core/error.h"

namespace proprio {
namespace {

const MotorHeat kWarmMotor = {0.6, 3.93e-3, 1.8, 220.0, 43.0};  // time constant 396 s

/// Sampled every 5 s. Heating: bursts of two currents; cooling: none, other surroundings.
HeatRun heatingRun(const MotorHeat& motor, double noise, std::uint64_t seed) {
  HeatRun run;
  run.time = Eigen::VectorXd::LinSpaced(361, 0.0, 1800.0);
  run.current = Eigen::VectorXd::NullaryExpr(
      361, [](Eigen::Index k) { return k < 200 ? 5.0 : (k < 260 ? 2.0 : 6.0); });
  run.temperature = motorTemperature(motor, run.time, run.current, 45.0);
  std::mt19937_64 random(seed);
  std::normal_distribution<double> gaussian(0.0, 1.0);
  for (double& T : run.temperature) T += noise * gaussian(random);
  return run;
}

HeatRun coolingRun(MotorHeat motor, double ambient, double noise, std::uint64_t seed) {
  motor.ambient = ambient;
  HeatRun run;
  run.time = Eigen::VectorXd::LinSpaced(301, 0.0, 1500.0);
  run.current = Eigen::VectorXd::Zero(301);
  run.temperature = motorTemperature(motor, run.time, run.current, 75.0);
  std::mt19937_64 random(seed);
  std::normal_distribution<double> gaussian(0.0, 1.0);
  for (double& T : run.temperature) T += noise * gaussian(random);
  return run;
}

// Without noise heating and cooling give all constants, and the surroundings of each run.
TEST(MotorHeatFit, ExactWithoutNoise) {
  const MotorHeatFit fit = fitMotorHeat(
      {heatingRun(kWarmMotor, 0.0, 1), coolingRun(kWarmMotor, 26.0, 0.0, 2)}, kWarmMotor);
  EXPECT_TRUE(fit.converged);
  EXPECT_NEAR(fit.motor.capacity, 220.0, 1e-4);
  EXPECT_NEAR(fit.motor.thermal_resistance, 1.8, 1e-6);
  EXPECT_NEAR(fit.ambients[0], 43.0, 1e-4);
  EXPECT_NEAR(fit.ambients[1], 26.0, 1e-4);
  EXPECT_TRUE(fit.undecided.empty());
}

// With a sensor noise of half a kelvin the errors over many runs are what the standard deviations
// say, and a few per cent.
TEST(MotorHeatFit, StandardDeviationsAreTrue) {
  constexpr int kRuns = 60;
  double capacity = 0.0, resistance = 0.0, constant = 0.0, surroundings = 0.0;
  for (std::uint64_t run = 0; run < kRuns; ++run) {
    const MotorHeatFit fit = fitMotorHeat(
        {heatingRun(kWarmMotor, 0.5, 10 + run), coolingRun(kWarmMotor, 26.0, 0.5, 500 + run)},
        kWarmMotor);
    const auto square = [](double error, double deviation) {
      return error * error / (deviation * deviation) / kRuns;
    };
    capacity += square(fit.motor.capacity - 220.0, fit.capacity_deviation);
    resistance += square(fit.motor.thermal_resistance - 1.8, fit.thermal_resistance_deviation);
    constant += square(fit.time_constant - 396.0, fit.time_constant_deviation);
    surroundings += square(fit.ambients[0] - 43.0, fit.ambient_deviations[0]);
    EXPECT_NEAR(fit.noise, 0.5, 0.1);
    EXPECT_LT(fit.capacity_deviation, 0.03 * 220.0);
    EXPECT_LT(fit.thermal_resistance_deviation, 0.03 * 1.8);
  }
  // four deviations of the mean of 60 squared standard normal numbers
  const double margin = 4.0 * std::sqrt(2.0 / kRuns);
  for (const double mean : {capacity, resistance, constant, surroundings})
    EXPECT_NEAR(mean, 1.0, margin);
}

// One ambient temperature for heating in warm electronics and cooling without them, as in the
// source, gives wrong constants; one for each run does not.
TEST(MotorHeatFit, SurroundingsOfTheirOwnMatter) {
  std::vector<HeatRun> runs = {heatingRun(kWarmMotor, 0.0, 1),
                               coolingRun(kWarmMotor, 26.0, 0.0, 2)};
  runs[0].ambient = runs[1].ambient = 26.0;
  const MotorHeatFit wrong = fitMotorHeat(runs, kWarmMotor);
  EXPECT_GT(std::abs(wrong.motor.thermal_resistance - 1.8), 0.2);
  EXPECT_GT(wrong.noise, 1.0);
}

// What the runs cannot tell is named: cooling alone gives the time constant only; one constant
// current gives constants only if the ambient temperature is known.
TEST(MotorHeatFit, NamesWhatIsNotDecided) {
  const MotorHeatFit cooling = fitMotorHeat({coolingRun(kWarmMotor, 26.0, 0.0, 1)}, kWarmMotor);
  EXPECT_NEAR(cooling.time_constant, 396.0, 0.01);
  EXPECT_TRUE(std::isnan(cooling.motor.capacity));
  EXPECT_TRUE(std::isnan(cooling.motor.thermal_resistance));
  ASSERT_EQ(cooling.undecided.size(), 1u);

  HeatRun constant;
  constant.time = Eigen::VectorXd::LinSpaced(301, 0.0, 1500.0);
  constant.current = Eigen::VectorXd::Constant(301, 4.0);
  constant.temperature = motorTemperature(kWarmMotor, constant.time, constant.current, 43.0);
  EXPECT_FALSE(fitMotorHeat({constant}, kWarmMotor).undecided.empty());
  constant.ambient = 43.0;
  const MotorHeatFit known = fitMotorHeat({constant}, kWarmMotor);
  EXPECT_TRUE(known.undecided.empty());
  EXPECT_NEAR(known.motor.capacity, 220.0, 1e-3);
}

// Mistakes are refused with a sentence.
TEST(MotorHeatFit, Refusals) {
  EXPECT_THROW(fitMotorHeat({}, kWarmMotor), Error);
  HeatRun run = coolingRun(kWarmMotor, 26.0, 0.0, 1);
  run.current.conservativeResize(3);
  EXPECT_THROW(fitMotorHeat({run}, kWarmMotor), Error);
  run = coolingRun(kWarmMotor, 26.0, 0.0, 1);
  run.time[4] = run.time[3];
  EXPECT_THROW(fitMotorHeat({run}, kWarmMotor), Error);
  run = coolingRun(kWarmMotor, 26.0, 0.0, 1);
  run.temperature[7] = NAN;
  EXPECT_THROW(fitMotorHeat({run}, kWarmMotor), Error);
  MotorHeat shorted = kWarmMotor;
  shorted.resistance = 0.0;
  EXPECT_THROW(fitMotorHeat({coolingRun(kWarmMotor, 26.0, 0.0, 1)}, shorted), Error);
}

}  // namespace
}  // namespace proprio
