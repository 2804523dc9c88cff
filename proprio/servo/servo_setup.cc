#include "proprio/servo/servo_setup.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "proprio/core/error.h"
#include "proprio/dynamics/mass_matrix.h"

namespace proprio {
namespace {

void requirePositive(const char* what, double value) {
  if (value > 0.0 && std::isfinite(value)) return;
  throw Error(fmt::format("control: the {} is {} Hz; give a positive number of Hz", what, value));
}

JointControl automaticGains(ControlKind kind, double inertia, double gain, double w) {
  switch (kind) {
    case ControlKind::kPid:
      return {true, inertia * w * w / gain, 0.0, 2.0 * inertia * w / gain};
    case ControlKind::kCascade:
      return {true, w, 0.0, 4.0 * inertia * w / gain};
    case ControlKind::kComputedTorque:
      return {true, w * w, 0.0, 2.0 * w};
  }
  return {};
}

// gains declared for one kind of control mean nothing to another
bool declaresGains(const Model& model, const Joint& joint, const Control& control) {
  return joint.control.declared && control.kind == model.control.kind;
}

double smaller(double a, double b) {
  if (std::isnan(a)) return b;
  return std::isnan(b) ? a : std::min(a, b);
}

void setLimits(const Joint& joint, Eigen::Index i, Servo* servo) {
  const double torque = smaller(joint.limits.effort, joint.drive.torque_limit);
  const auto set = [](double value, double& entry) {
    if (!std::isnan(value)) entry = value;
  };
  set(joint.limits.lower, servo->lower[i]);
  set(joint.limits.upper, servo->upper[i]);
  set(joint.limits.velocity, servo->velocity_limit[i]);
  set(torque, servo->torque_limit[i]);
  set(joint.control.integral_limit, servo->integral_limit[i]);
}

}  // namespace

Servo declaredServo(const Tree& tree, const Parameters& parameters, const Control& control,
                    ConstVectorRef q) {
  requirePositive("rate", control.rate);
  requirePositive("bandwidth", control.bandwidth);
  if (!std::isnan(control.velocity_filter))
    requirePositive("velocity filter", control.velocity_filter);
  const Model& model = tree.model();
  Servo servo = idleServo(tree.velocityCount());
  servo.kind = control.kind;
  servo.feed_forward = control.feed_forward;
  servo.rate = control.rate;
  servo.velocity_filter = control.velocity_filter;
  servo.model = parameters;

  Workspace workspace(tree);
  Eigen::MatrixXd M(tree.velocityCount(), tree.velocityCount());
  massMatrix(tree, compileParameters(tree, parameters), workspace, q, M);
  for (int j = 0; j < static_cast<int>(model.joints.size()); ++j) {
    const Joint& joint = model.joints[static_cast<size_t>(j)];
    if (joint.mimic || velocityCount(joint.type) != 1) continue;
    const Eigen::Index i = tree.velocityIndex(j);
    const double gain = joint.drive.gain;
    if (gain == 0.0) {
      throw Error(fmt::format(
          "joint '{}': its drive gain is 0, so that its servo cannot move it; correct drive.gain",
          joint.name));
    }
    JointControl gains = joint.control;
    if (!declaresGains(model, joint, control)) {
      gains =
          automaticGains(control.kind, M(i, i), gain, 2.0 * std::numbers::pi * control.bandwidth);
      servo.automatic.push_back(joint.name);
    }
    servo.kp[i] = gains.kp;
    servo.ki[i] = gains.ki;
    servo.kd[i] = gains.kd;
    servo.gain[i] = gain;
    setLimits(joint, i, &servo);
  }
  return servo;
}

}  // namespace proprio
