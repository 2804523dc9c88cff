#include "proprio/servo/servo.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numbers>

#include "proprio/core/error.h"
#include "proprio/dynamics/inverse_dynamics.h"
#include "proprio/dynamics/mass_matrix.h"
#include "proprio/model/robot_reader.h"
#include "proprio/servo/computed_torque.h"
#include "proprio/servo/servo_setup.h"

namespace proprio {
namespace {

using Eigen::VectorXd;

struct OneServo {
  Servo servo = idleServo(1);
  ServoState state;
  VectorXd command = VectorXd::Zero(1);
  OneServo() { reset(0.0, 0.0); }
  void reset(double q, double v) {
    resetServo(servo, VectorXd::Constant(1, q), VectorXd::Constant(1, v), &state);
  }
  double step(double q_ref, double v_ref, double y, double a_ref = 0.0, double ff = 0.0) {
    servoStep(servo, {&q_ref, &v_ref, &a_ref, &ff}, VectorXd::Constant(1, y), &state, command);
    return command[0];
  }
};

std::shared_ptr<const Model> tx40() {
  return std::make_shared<const Model>(
      readRobot(std::string(PROPRIO_SOURCE_DIR) + "/examples/robots/tx40.yaml"));
}

// A PD is the drive gain times gains times errors, with the difference quotient of the measured
// position as velocity, plus the feed-forward torque.
TEST(Servo, ProportionalDerivative) {
  OneServo one;
  one.servo.kp[0] = 10.0;
  one.servo.kd[0] = 0.5;
  one.servo.gain[0] = 3.0;
  one.servo.rate = 100.0;
  one.reset(0.2, 0.0);
  EXPECT_NEAR(one.step(0.5, 1.0, 0.21, 0.0, 2.0), 3.0 * (10.0 * 0.29 + 0.5 * (1.0 - 1.0)) + 2.0,
              1e-12);
  EXPECT_NEAR(one.step(0.5, 1.0, 0.21, 0.0, 0.0), 3.0 * (10.0 * 0.29 + 0.5 * 1.0), 1e-12);
  // a start in motion is no jump of the velocity
  one.reset(0.2, 0.7);
  one.step(0.0, 0.0, 0.2);
  EXPECT_NEAR(one.state.velocity[0], 0.7, 1e-12);
}

// The filtered derivative of a ramp approaches its slope like 1 - exp(-2 pi f t).
TEST(Servo, FilteredDerivative) {
  OneServo one;
  one.servo.rate = 1000.0;
  one.servo.velocity_filter = 20.0;
  one.reset(0.0, 0.0);
  for (int k = 1; k <= 25; ++k) one.step(0.0, 0.0, 3.0 * k / 1000.0);
  EXPECT_NEAR(one.state.velocity[0], 3.0 * (1.0 - std::exp(-2.0 * std::numbers::pi * 0.5)), 1e-9);
}

// The integral is the sum of errors times ki and period, within its limit.
TEST(Servo, IntegralAndItsLimit) {
  OneServo one;
  one.servo.ki[0] = 2.0;
  one.servo.rate = 10.0;
  one.servo.integral_limit[0] = 0.5;
  EXPECT_NEAR(one.step(1.0, 0.0, 0.0), 0.2, 1e-12);
  EXPECT_NEAR(one.step(1.0, 0.0, 0.0), 0.4, 1e-12);
  for (int k = 0; k < 5; ++k) one.step(1.0, 0.0, 0.0);
  EXPECT_NEAR(one.step(1.0, 0.0, 0.0), 0.5, 1e-12);
}

// While the torque is saturated the integral rests, so that it leaves saturation at once; without
// that it would have wound up to 20.
TEST(Servo, AntiWindup) {
  OneServo one;
  one.servo.kp[0] = 1.0;
  one.servo.ki[0] = 2.0;
  one.servo.rate = 10.0;
  one.servo.torque_limit[0] = 1.5;
  for (int k = 0; k < 100; ++k) {
    const double torque = one.step(1.0, 0.0, 0.0);
    EXPECT_LE(torque, 1.5);
  }
  EXPECT_LE(one.state.integral[0], 0.5 + 1e-12);
  // the error changes sign: the integral shrinks also while the torque is still saturated
  one.servo.torque_limit[0] = 0.1;
  const double before = one.state.integral[0];
  one.step(0.0, 0.0, 0.05);
  EXPECT_LT(one.state.integral[0], before);
}

// Position and velocity references are saturated at the limits.
TEST(Servo, ReferencesAreSaturated) {
  OneServo one;
  one.servo.kp[0] = one.servo.kd[0] = 1.0;
  one.servo.upper[0] = 0.5;
  one.servo.lower[0] = -0.25;
  one.servo.velocity_limit[0] = 2.0;
  EXPECT_NEAR(one.step(3.0, 5.0, 0.0), 0.5 + 2.0, 1e-12);
  EXPECT_NEAR(one.step(-3.0, -5.0, 0.0), -0.25 - 2.0, 1e-12);
}

// The cascade's position loop commands a velocity, saturated, to the velocity loop.
TEST(Servo, Cascade) {
  OneServo one;
  one.servo.kind = ControlKind::kCascade;
  one.servo.kp[0] = 20.0;
  one.servo.kd[0] = 3.0;
  one.servo.gain[0] = 2.0;
  one.servo.velocity_limit[0] = 1.5;
  EXPECT_NEAR(one.step(0.05, 0.1, 0.0), 2.0 * 3.0 * 1.1, 1e-12);
  EXPECT_NEAR(one.step(0.5, 0.1, 0.0), 2.0 * 3.0 * 1.5, 1e-12);
}

// Computed torque asks for the acceleration a_ref + kp e + kd de.
TEST(Servo, ComputedTorqueAcceleration) {
  OneServo one;
  one.servo.kind = ControlKind::kComputedTorque;
  one.servo.kp[0] = 100.0;
  one.servo.kd[0] = 20.0;
  EXPECT_NEAR(one.step(0.1, 0.5, 0.0, 7.0), 7.0 + 10.0 + 10.0, 1e-12);
}

// Servos side by side give what each gives alone, bit for bit.
TEST(Servo, InterleavedEqualsAlone) {
  const auto model = tx40();
  const Tree tree(model);
  const Parameters parameters = declaredParameters(model);
  Servo first = declaredServo(tree, parameters, model->control, tree.neutralPosition());
  Servo second = first;
  second.kp *= 1.7;
  second.ki.setConstant(3.0);
  const Servo both = interleaved({&first, &second});
  ServoState a, b, ab;
  const VectorXd q = VectorXd::LinSpaced(6, 0.0, 1.0), zero = VectorXd::Zero(6);
  resetServo(first, zero, zero, &a);
  resetServo(second, zero, zero, &b);
  resetServo(both, VectorXd::Zero(12), VectorXd::Zero(12), &ab);
  VectorXd ta(6), tb(6), tab(12), q2(12), y2(12);
  const VectorXd zero2 = VectorXd::Zero(12);
  for (int k = 0; k < 5; ++k) {
    const VectorXd y = 0.1 * k * q;
    for (int i = 0; i < 6; ++i) q2[2 * i] = q2[2 * i + 1] = q[i], y2[2 * i] = y2[2 * i + 1] = y[i];
    servoStep(first, {q.data(), zero.data(), zero.data(), zero.data()}, y, &a, ta);
    servoStep(second, {q.data(), zero.data(), zero.data(), zero.data()}, y, &b, tb);
    servoStep(both, {q2.data(), zero2.data(), zero2.data(), zero2.data()}, y2, &ab, tab);
    for (int i = 0; i < 6; ++i) {
      EXPECT_EQ(tab[2 * i], ta[i]);
      EXPECT_EQ(tab[2 * i + 1], tb[i]);
    }
  }
  second.rate = 1000.0;
  EXPECT_THROW(interleaved({&first, &second}), Error);
}

// The TX40 declares the gains of the published benchmark: Kp = 0.75 (455.8254 ...), and limits.
TEST(ServoSetup, ReadsWhatTheRobotDeclares) {
  const auto model = tx40();
  const Tree tree(model);
  const Servo servo =
      declaredServo(tree, declaredParameters(model), model->control, tree.neutralPosition());
  EXPECT_TRUE(servo.automatic.empty());
  EXPECT_EQ(servo.rate, 5000.0);
  EXPECT_NEAR(servo.kp[0], 0.75 * 455.8254, 1e-9);
  EXPECT_NEAR(servo.kd[5], 0.1954, 1e-12);
  EXPECT_EQ(servo.gain[2], 23.94);
  EXPECT_EQ(servo.torque_limit[5], 12.0);
  EXPECT_EQ(servo.velocity_limit[0], 5.00909);
}

// Automatic gains place both poles of a decoupled joint at -w; gains for another kind of control
// are not used.
TEST(ServoSetup, AutomaticGainsAreCriticallyDamped) {
  const auto model = tx40();
  const Tree tree(model);
  const Parameters parameters = declaredParameters(model);
  Control control = model->control;
  control.kind = ControlKind::kCascade;
  control.bandwidth = 3.0;
  const double w = 6.0 * std::numbers::pi;
  const Servo cascade = declaredServo(tree, parameters, control, tree.neutralPosition());
  EXPECT_EQ(cascade.automatic.size(), 6u);
  Workspace workspace(tree);
  Eigen::MatrixXd M(6, 6);
  massMatrix(tree, compileParameters(tree, parameters), workspace, tree.neutralPosition(), M);
  for (int i = 0; i < 6; ++i) {
    // M s^2 + g kd s + g kd kp has a double root
    const double b = cascade.gain[i] * cascade.kd[i], c = b * cascade.kp[i];
    EXPECT_NEAR(b * b, 4.0 * M(i, i) * c, 1e-9 * b * b);
    EXPECT_NEAR(cascade.kp[i], w, 1e-12);
  }
  control.rate = 0.0;
  EXPECT_THROW(declaredServo(tree, parameters, control, tree.neutralPosition()), Error);
}

// Computed torque is inverse dynamics plus friction of the reference velocity.
TEST(ComputedTorque, IsInverseDynamicsWithFriction) {
  const auto model = tx40();
  const Tree tree(model);
  const Parameters parameters = declaredParameters(model);
  ComputedTorque law(tree, parameters);
  Workspace workspace(tree);
  const VectorXd q = VectorXd::LinSpaced(6, -0.5, 0.7), v = VectorXd::LinSpaced(6, 0.9, -1.1),
                 a = VectorXd::LinSpaced(6, 2.0, 1.0), v_ref = VectorXd::Constant(6, 0.01);
  VectorXd tau(6), expected(6);
  law.torque(q, v, v_ref, a, tau);
  inverseDynamics(tree, compileParameters(tree, parameters), workspace, q, v, a, expected);
  for (int i = 0; i < 6; ++i) {
    const FrictionModel& friction = model->joints[static_cast<size_t>(i)].friction;
    expected[i] += friction.terms[0].coefficient * 0.01 +
                   friction.terms[1].coefficient * std::tanh(100.0 * 0.01);
  }
  EXPECT_LT((tau - expected).cwiseAbs().maxCoeff(), 1e-10);
}

}  // namespace
}  // namespace proprio
