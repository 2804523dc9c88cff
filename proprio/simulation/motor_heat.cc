#include "proprio/simulation/motor_heat.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "proprio/core/error.h"

namespace proprio {
namespace {

// x' = heating - rate x
struct Relaxation {
  double heating, rate;
};
Relaxation relaxation(const MotorHeat& motor, double current) {
  const double loss = motor.resistance * current * current;
  return {loss / motor.capacity,
          (1.0 / motor.thermal_resistance - motor.coefficient * loss) / motor.capacity};
}

void check(const MotorHeat& motor) {
  for (double x : {motor.resistance, motor.thermal_resistance, motor.capacity}) {
    if (!(x > 0.0) || !std::isfinite(x))
      throw Error(
          fmt::format("motor heat: a resistance or capacity is {}; give positive numbers", x));
  }
}

}  // namespace

Eigen::VectorXd motorTemperature(const MotorHeat& motor, const Eigen::VectorXd& time,
                                 const Eigen::VectorXd& current, double start) {
  check(motor);
  if (time.size() != current.size()) {
    throw Error(fmt::format("motor heat: {} times but {} currents; give as many of each",
                            time.size(), current.size()));
  }
  Eigen::VectorXd temperature(time.size());
  double x = start - motor.ambient;
  for (Eigen::Index k = 0; k < time.size(); ++k) {
    temperature[k] = motor.ambient + x;
    if (k + 1 == time.size()) break;
    const double h = time[k + 1] - time[k];
    if (!(h > 0.0))
      throw Error(fmt::format("motor heat: time {} is not after time {}", k + 2, k + 1));
    const Relaxation r = relaxation(motor, current[k]);
    // (1 - exp(-rate h)) / rate, also for a rate of zero
    const double share = r.rate == 0.0 ? h : -std::expm1(-r.rate * h) / r.rate;
    x = x * std::exp(-r.rate * h) + r.heating * share;
  }
  return temperature;
}

double steadyTemperature(const MotorHeat& motor, double current) {
  check(motor);
  const Relaxation r = relaxation(motor, current);
  if (!(r.rate > 0.0)) return std::numeric_limits<double>::infinity();
  return motor.ambient + r.heating / r.rate;
}

}  // namespace proprio
