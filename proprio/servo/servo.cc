#include "proprio/servo/servo.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "proprio/core/error.h"

namespace proprio {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double filterShare(const Servo& servo) {
  if (std::isnan(servo.velocity_filter)) return 1.0;
  return 1.0 - std::exp(-2.0 * std::numbers::pi * servo.velocity_filter / servo.rate);
}

double within(double x, double limit) { return std::min(std::max(x, -limit), limit); }

// x[i] of robot r to i * robots + r
Eigen::VectorXd interleave(const std::vector<const Servo*>& servos,
                           const Eigen::VectorXd Servo::*field) {
  const auto robots = static_cast<Eigen::Index>(servos.size());
  const Eigen::Index entries = (servos[0]->*field).size();
  Eigen::VectorXd all(entries * robots);
  for (Eigen::Index r = 0; r < robots; ++r) {
    for (Eigen::Index i = 0; i < entries; ++i)
      all[i * robots + r] = (servos[static_cast<size_t>(r)]->*field)[i];
  }
  return all;
}

bool sameFilter(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

Servo idleServo(Eigen::Index entries) {
  Servo servo;
  servo.kp = servo.ki = servo.kd = Eigen::VectorXd::Zero(entries);
  servo.gain = Eigen::VectorXd::Ones(entries);
  servo.integral_limit = servo.upper = servo.velocity_limit = servo.torque_limit =
      Eigen::VectorXd::Constant(entries, kInfinity);
  servo.lower = -servo.upper;
  return servo;
}

void resetServo(const Servo& servo, ConstVectorRef position, ConstVectorRef velocity,
                ServoState* state) {
  state->velocity = velocity;
  state->position = position - velocity / servo.rate;
  state->integral.setZero(position.size());
}

void servoStep(const Servo& servo, const ServoReference& reference, ConstVectorRef measured,
               ServoState* state, VectorRef command) {
  const double share = filterShare(servo), period = 1.0 / servo.rate;
  const bool cascade = servo.kind == ControlKind::kCascade;
  const bool accelerates = servo.kind == ControlKind::kComputedTorque;
  for (Eigen::Index i = 0; i < measured.size(); ++i) {
    // what the drive knows
    const double y = measured[i];
    const double slope = (y - state->position[i]) * servo.rate;
    const double v = state->velocity[i] + share * (slope - state->velocity[i]);
    state->position[i] = y;
    state->velocity[i] = v;
    // what it wants
    const double q_ref = std::min(std::max(reference.q[i], servo.lower[i]), servo.upper[i]);
    const double v_ref = within(reference.v[i], servo.velocity_limit[i]);
    const double e = q_ref - y;
    double de = v_ref - v;
    if (cascade) de = within(v_ref + servo.kp[i] * e, servo.velocity_limit[i]) - v;
    const double integrand = cascade ? de : e;
    const double integral =
        within(state->integral[i] + servo.ki[i] * integrand * period, servo.integral_limit[i]);
    const double u = (cascade ? 0.0 : servo.kp[i] * e) + servo.kd[i] * de + integral;
    if (accelerates) {
      command[i] = reference.a[i] + u;
      state->integral[i] = integral;
      continue;
    }
    const double wanted = servo.gain[i] * u + reference.torque[i];
    const double torque = within(wanted, servo.torque_limit[i]);
    command[i] = torque;
    // the integral rests while it would drive a saturated torque further
    if (wanted == torque || servo.gain[i] * integrand * wanted < 0.0) state->integral[i] = integral;
  }
}

Servo interleaved(const std::vector<const Servo*>& servos) {
  if (servos.empty()) throw Error("interleaved: there is no servo; give at least one");
  Servo all = *servos[0];
  for (const Servo* servo : servos) {
    if (servo->kind != all.kind || servo->rate != all.rate ||
        !sameFilter(servo->velocity_filter, all.velocity_filter) ||
        servo->kp.size() != servos[0]->kp.size()) {
      throw Error(
          "interleaved: servos side by side must have the same kind, rate, filter and size");
    }
  }
  for (const auto field :
       {&Servo::kp, &Servo::ki, &Servo::kd, &Servo::gain, &Servo::integral_limit, &Servo::lower,
        &Servo::upper, &Servo::velocity_limit, &Servo::torque_limit}) {
    all.*field = interleave(servos, field);
  }
  return all;
}

}  // namespace proprio
