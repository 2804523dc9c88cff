// A motor that warms up under a changing current and cools in a cooler room: its thermal constants
// with their uncertainty, and the current that it bears for ever.

#include <iostream>
#include <random>

#include "proprio/identification/motor_heat_fit.h"

int main() {
  const proprio::MotorHeat truth{0.6, 3.93e-3, 1.8, 220.0, 43.0};  // Ohm, 1/K, K/W, J/K, degC
  std::mt19937_64 random(1);
  std::normal_distribution<double> noise(0.0, 0.5);  // K

  proprio::HeatRun heating;
  heating.time = Eigen::VectorXd::LinSpaced(361, 0.0, 1800.0);
  heating.current = Eigen::VectorXd::Constant(361, 5.0);
  heating.current.tail(180).setConstant(2.0);
  heating.temperature = proprio::motorTemperature(truth, heating.time, heating.current, 45.0);

  proprio::MotorHeat switched_off = truth;
  switched_off.ambient = 26.0;
  proprio::HeatRun cooling;
  cooling.time = heating.time;
  cooling.current = Eigen::VectorXd::Zero(361);
  cooling.temperature =
      proprio::motorTemperature(switched_off, cooling.time, cooling.current, 80.0);
  for (auto* run : {&heating, &cooling}) {
    for (double& temperature : run->temperature) temperature += noise(random);
  }

  proprio::MotorHeat data_sheet;
  data_sheet.resistance = 0.6;
  const proprio::MotorHeatFit fit = proprio::fitMotorHeat({heating, cooling}, data_sheet);
  std::cout << "capacity " << fit.motor.capacity << " +- " << fit.capacity_deviation << " J/K\n"
            << "thermal resistance " << fit.motor.thermal_resistance << " +- "
            << fit.thermal_resistance_deviation << " K/W\n"
            << "time constant " << fit.time_constant << " +- " << fit.time_constant_deviation
            << " s\n";
  double current = 0.0;
  while (proprio::steadyTemperature(fit.motor, current + 0.1) < 120.0) current += 0.1;
  std::cout << "bears " << current << " A in a room of " << fit.motor.ambient << " degC\n";
  return std::abs(fit.motor.capacity - 220.0) < 5.0 * fit.capacity_deviation ? 0 : 1;
}
