#pragma once

/// The thermal constants of a motor (simulation/motor_heat.h) from recorded currents and
/// temperatures: how fast it warms up under a current and cools without one. With x = T - ambient,
///
///   x' = a i^2 (1 + coefficient x) - b x,     a = resistance / capacity, b = 1 / (R_th capacity)
///
/// Found are a and b, shared by all runs, and of every run the temperature at its start and that of
/// its surroundings, unless it is given. Surroundings of each run are its own because electronics
/// beside a motor that idles may keep it well above the room (43 degrees in a room of 26 in the
/// source, where one ambient for heating and cooling made the fit diverge). Electrical resistance
/// and copper's coefficient are taken as given; a and b alone, the temperatures of any current,
/// do not depend on whether they are right.
///
/// Start: least squares of the integrated equation; then Gauss-Newton on the exact solution with
/// damping (Levenberg, Marquardt). Standard deviations are those of white noise of the temperature.
/// What the runs do not decide is not a number and named: cooling alone says nothing about a, and
/// one constant current cannot tell its heat from warmer surroundings unless these are given.
/// Source: Ramuzat 2022, 3.2.2, resistances kept apart.

#include <cmath>
#include <string>
#include <vector>

#include "proprio/simulation/motor_heat.h"

namespace proprio {

struct HeatRun {
  Eigen::VectorXd time;         ///< s
  Eigen::VectorXd current;      ///< A, from time[k] to time[k + 1]: the rms where it alternates
  Eigen::VectorXd temperature;  ///< degC
  double ambient = NAN;         ///< degC, if it is known
};

struct MotorHeatFit {
  MotorHeat motor;  ///< ambient: of the last run
  double capacity_deviation = NAN, thermal_resistance_deviation = NAN;
  double time_constant = NAN, time_constant_deviation = NAN;  ///< R_th capacity, s
  std::vector<double> ambients, ambient_deviations;           ///< per run; deviation 0: given
  std::vector<double> starts;                                 ///< per run, degC
  double noise = 0.0;                  ///< standard deviation of the temperature, K
  std::vector<std::string> undecided;  ///< in words
  int iterations = 0;
  bool converged = false;
};

/// @param given  resistance and coefficient count
/// @throws Error for no run, sizes that differ, fewer than ten samples, times that do not increase,
/// values that are not numbers.
MotorHeatFit fitMotorHeat(const std::vector<HeatRun>& runs, const MotorHeat& given);

}  // namespace proprio
