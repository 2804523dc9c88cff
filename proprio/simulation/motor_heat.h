#pragma once

/// How warm a motor gets: one thermal node, winding and case together. With x = T - ambient,
///   capacity x' = R_el(T) i^2 - x / R_th,   R_el(T) = resistance (1 + coefficient x)
/// R_el is electrical (Ohm), R_th thermal (K/W): two different things. Linear in x for a constant
/// current, so that steps are exact: x relaxes towards
///   x_inf = resistance i^2 R_th / (1 - coefficient resistance i^2 R_th)
/// or runs away where that denominator is not positive. Iron losses and friction are left out.
/// Source: Ramuzat 2022, 3.2.2 with the resistances kept apart.

#include <Eigen/Core>

namespace proprio {

struct MotorHeat {
  double resistance = 1.0;          ///< Ohm at ambient temperature
  double coefficient = 3.93e-3;     ///< 1/K, of copper
  double thermal_resistance = 1.0;  ///< K/W to the surroundings
  double capacity = 100.0;          ///< J/K
  double ambient = 25.0;            ///< degC
};

/// Temperature at the given times, degC; current[k] (A) flows from time[k] to time[k + 1].
/// @param start  temperature at time[0]
/// @throws Error if sizes differ, times do not increase or a constant is not positive.
Eigen::VectorXd motorTemperature(const MotorHeat& motor, const Eigen::VectorXd& time,
                                 const Eigen::VectorXd& current, double start);

/// Where a constant current leads, degC; infinite if it leads to thermal runaway.
double steadyTemperature(const MotorHeat& motor, double current);

}  // namespace proprio
