#include "proprio/simulation/closed_loop.h"

#include <gtest/gtest.h>

#include <cmath>

#include "proprio/core/error.h"
#include "proprio/dynamics/centroidal.h"
#include "proprio/dynamics/inverse_dynamics.h"
#include "proprio/dynamics/joint_effects.h"
#include "proprio/servo/computed_torque.h"
#include "proprio/simulation/testing/loop_robots.h"

namespace proprio {
namespace {

using namespace testing_loop;
using Eigen::VectorXd;

// all joints of a truth quantity, row = sample
Eigen::MatrixXd truth(const ClosedLoopResult& result, const Tree& tree, const std::string& prefix) {
  Eigen::MatrixXd values(result.recording.samples(), tree.velocityCount());
  for (const Joint& joint : tree.model().joints) {
    if (joint.velocity_index >= 0 && !joint.mimic)
      values.col(joint.velocity_index) = column(result, prefix + "true_" + joint.name);
  }
  return values;
}

// A critically damped PD answers a step with 1 - (1 + w t) exp(-w t); the error of the sampled
// control is of the order of its period.
TEST(ClosedLoop, StepResponse) {
  const auto model = finished(oneJoint(0.5));
  const Tree tree(model);
  const double rate = 20000.0, w = 2.0 * std::numbers::pi * 5.0;
  MotionSamples step = restMotion(tree, 1.0, 0.4, rate);
  step.q(0, 0) = 0.0;
  ClosedLoopRun run = runOf(tree, step);
  run.servo.rate = rate;
  run.servo.kp[0] = 0.5 * w * w;
  run.servo.kd[0] = 0.5 * 2.0 * w;
  const ClosedLoopResult result = simulateClosedLoop(tree, run);
  const VectorXd q = column(result, "q_true_joint");
  for (Eigen::Index i = 0; i < q.size(); ++i) {
    const double t = std::max(0.0, result.recording.time[i] - 1.0 / rate);
    EXPECT_NEAR(q[i], 1.0 - (1.0 + w * t) * std::exp(-w * t), 2.0 * w / rate) << i;
  }
}

// Friction that depends on temperature (the time), load and position is what the recording's truth
// shows: the factor times the friction without it, sample by sample; alone and in a batch.
TEST(ClosedLoop, FrictionVariesWithConditions) {
  Model arm = oneJoint(0.5);
  arm.joints[0].friction.terms = {{FrictionTermKind::kViscous, "viscous", 2.0},
                                  {FrictionTermKind::kCoulomb, "coulomb", 3.0}};
  const auto model = finished(arm);
  const Tree tree(model);
  MotionSamples swing = restMotion(tree, 0.0, 2.0, 1000.0);
  for (Eigen::Index i = 0; i < swing.q.rows(); ++i)
    swing.q(i, 0) = 0.5 * std::sin(2.0 * std::numbers::pi * static_cast<double>(i) / 1000.0);
  ClosedLoopRun run = runOf(tree, swing);
  run.options.friction_factor = [](const FrictionConditions& c) {
    return (1.0 - 0.1 * c.time) * (1.0 + 0.2 * c.position) * (1.0 + 0.01 * std::abs(c.load));
  };
  ClosedLoopRun plain = run;
  plain.options.friction_factor = nullptr;
  const ClosedLoopResult result = simulateClosedLoop(tree, run);
  const VectorXd q = column(result, "q_true_joint"), v = column(result, "v_true_joint"),
                 tau = column(result, "tau_true_joint"),
                 friction = column(result, "friction_true_joint");
  for (Eigen::Index i = 0; i < q.size(); ++i) {
    const double still = 2.0 * v[i] + 3.0 * std::tanh(run.options.sign_gain * v[i]);
    const double factor = (1.0 - 0.1 * result.recording.time[i]) * (1.0 + 0.2 * q[i]) *
                          (1.0 + 0.01 * std::abs(tau[i]));
    EXPECT_NEAR(friction[i], factor * still, 1e-9) << i;
  }
  const std::vector<ClosedLoopResult> batch = simulateClosedLoops(tree, {plain, run, plain, run});
  EXPECT_LT((column(batch[1], "friction_true_joint") - friction).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_GT((column(batch[0], "friction_true_joint") - friction).cwiseAbs().maxCoeff(), 0.1);
}

// A PD hangs below its reference by gravity torque over stiffness; an integral removes that.
TEST(ClosedLoop, SteadyStateErrors) {
  Model slide = oneJoint(2.0, JointType::kPrismatic);
  const auto model = finished(slide);
  const Tree tree(model);
  ClosedLoopRun run = runOf(tree, restMotion(tree, 0.3, 3.0, 1000.0));
  const double stiffness = run.servo.kp[0];
  const ClosedLoopResult pd = simulateClosedLoop(tree, run);
  const Eigen::Index last = pd.recording.samples() - 1;
  EXPECT_NEAR(column(pd, "q_true_joint")[last], 0.3 - 2.0 * 9.81 / stiffness, 1e-7);
  run.servo.ki[0] = 10.0 * stiffness;
  const ClosedLoopResult pid = simulateClosedLoop(tree, run);
  EXPECT_NEAR(column(pid, "q_true_joint")[last], 0.3, 1e-7);
  run.servo.ki[0] = 0.0;
  run.servo.feed_forward = FeedForward::kGravity;
  const ClosedLoopResult fed = simulateClosedLoop(tree, run);
  EXPECT_NEAR(column(fed, "q_true_joint")[last], 0.3, 1e-9);
}

// What moves the robot adds up: inverse dynamics, friction, springs and couplings of the recorded
// motion are the recorded torque, for arms with and without couplings and mimic joints.
TEST(ClosedLoop, MotionObeysTheModel) {
  for (const char* name :
       {"tx40.yaml", "rv2sq.yaml", "tx40_coupled.yaml", "planar_2r.yaml", "iiwa14.yaml"}) {
    const auto model = bundled(name);
    const Tree tree(model);
    ClosedLoopRun run = runOf(tree, sineMotion(tree, 0.2, 0.7, 0.5, 1000.0));
    run.options.check_limits = false;
    const ClosedLoopResult result = simulateClosedLoop(tree, run);
    const Eigen::MatrixXd q = truth(result, tree, "q_"), v = truth(result, tree, "v_"),
                          a = truth(result, tree, "a_"), tau = truth(result, tree, "tau_");
    ComputedTorque law(tree, run.plant);
    VectorXd expected(tree.velocityCount());
    int compared = 0;
    for (Eigen::Index i = 0; i < q.rows(); ++i) {
      // the sign of a coupling is smooth in simulation only
      const bool slow = v.row(i).cwiseAbs().minCoeff() < 0.25;
      if (!model->couplings.empty() && slow) continue;
      law.torque(q.row(i).transpose(), v.row(i).transpose(), v.row(i).transpose(),
                 a.row(i).transpose(), expected);
      ASSERT_LT((expected - tau.row(i).transpose()).cwiseAbs().maxCoeff(),
                1e-8 * (1.0 + expected.norm()))
          << name << " " << i;
      ++compared;
    }
    EXPECT_GT(compared, 20) << name;
  }
}

// Work of the drives is the change of energy plus what friction takes: the drive's work in a
// period is exactly torque times way, friction is summed by the trapezoidal rule.
TEST(ClosedLoop, EnergyBalance) {
  const auto model = bundled("tx40.yaml");
  const Tree tree(model);
  ClosedLoopRun run = runOf(tree, sineMotion(tree, 0.4, 0.8, 0.6, 5000.0));
  run.options.sample_rate = 5000.0;
  const ClosedLoopResult result = simulateClosedLoop(tree, run);
  const Eigen::MatrixXd q = truth(result, tree, "q_"), v = truth(result, tree, "v_"),
                        tau = truth(result, tree, "tau_"), f = truth(result, tree, "friction_");
  const CompiledParameters compiled = compileParameters(tree, run.plant);
  Kinematics kinematics(tree);
  const auto energy = [&](Eigen::Index i) {
    computeKinematics(tree, q.row(i).transpose(), v.row(i).transpose(), kinematics);
    return kineticEnergy(tree, compiled, kinematics, v.row(i).transpose()) +
           potentialEnergy(tree, compiled, kinematics);
  };
  const Eigen::Index last = q.rows() - 1;
  double work = 0.0, lost = 0.0;
  for (Eigen::Index i = 0; i < last; ++i) {
    work += tau.row(i).dot(q.row(i + 1) - q.row(i));
    lost += 0.5 * (f.row(i).dot(v.row(i)) + f.row(i + 1).dot(v.row(i + 1))) / 5000.0;
  }
  EXPECT_GT(lost, 1.0);
  EXPECT_NEAR(energy(last) - energy(0), work - lost, 1e-4 * lost);
}

// Halving the step of the physics divides the error by 2, 4 and 16: orders 1, 2 and 4.
TEST(ClosedLoop, OrdersOfConvergence) {
  const auto model = bundled("planar_2r.yaml");
  const Tree tree(model);
  for (const auto& [integrator, order] :
       {std::pair{Integrator::kRk1, 1.0}, std::pair{Integrator::kRk2, 2.0},
        std::pair{Integrator::kRk4, 4.0}}) {
    VectorXd ends[3];
    for (int k = 0; k < 3; ++k) {
      ClosedLoopRun run = runOf(tree, sineMotion(tree, 0.5, 1.0, 0.5, 100.0));
      run.servo.rate = run.options.sample_rate = 100.0;
      run.servo.kp *= 0.05;
      run.servo.kd *= 0.05;
      run.options.integrator = integrator;
      run.options.physics_rate = 400.0 * (1 << k);
      run.options.sign_gain = 1.0;
      const ClosedLoopResult result = simulateClosedLoop(tree, run);
      ends[k] = truth(result, tree, "q_").bottomRows(1).transpose();
    }
    const double ratio = (ends[0] - ends[1]).norm() / (ends[1] - ends[2]).norm();
    EXPECT_NEAR(std::log2(ratio), order, 0.25) << order;
  }
}

// Encoder noise of 1e-4 degrees makes the TX40's servo demand noise torques of 2.0 N m (norm over
// the joints), as in the published tables; with 1e-4 rad it would be 116 N m.
TEST(ClosedLoop, TorqueNoiseOfThePublishedBenchmark) {
  const auto model = bundled("tx40.yaml");
  const Tree tree(model);
  ClosedLoopRun run = runOf(tree, restMotion(tree, 0.0, 1.0, 1000.0));
  run.options.sample_rate = 5000.0;
  const ClosedLoopResult quiet = simulateClosedLoop(tree, run);
  run.options.encoder_noise = 1e-4 * std::numbers::pi / 180.0;
  const ClosedLoopResult noisy = simulateClosedLoop(tree, run);
  double squares = 0.0;
  for (const Joint& joint : model->joints) {
    const VectorXd noise =
        column(noisy, "tau_des_" + joint.name) - column(quiet, "tau_des_" + joint.name);
    squares += noise.squaredNorm() / static_cast<double>(noise.size());
  }
  // closed form: Ktau Kd rate sqrt(2) sigma dominates
  EXPECT_NEAR(std::sqrt(squares), 2.0, 0.06);
}

// Latencies shift exactly: what the servo knows is the encoder of d periods ago, what acts is its
// command of d periods ago.
TEST(ClosedLoop, LatenciesAreExactShifts) {
  const auto model = bundled("planar_2r.yaml");
  const Tree tree(model);
  ClosedLoopRun run = runOf(tree, sineMotion(tree, 0.3, 1.0, 0.2, 1000.0));
  run.servo.rate = run.options.sample_rate = 1000.0;
  run.servo.kp *= 0.1;
  run.servo.kd *= 0.1;
  run.options.measurement_latency = 0.002;
  run.options.command_latency = 0.003;
  const ClosedLoopResult result = simulateClosedLoop(tree, run);
  const VectorXd q = column(result, "q_elbow"), q_true = column(result, "q_true_elbow"),
                 wanted = column(result, "tau_des_elbow"), acts = column(result, "tau_true_elbow");
  for (Eigen::Index i = 3; i < q.size(); ++i) {
    EXPECT_EQ(q[i], q_true[i - 2]);
    EXPECT_EQ(acts[i], wanted[i - 3]);
  }
}

// Quantised positions are multiples of the step and never further away than half of it; slower
// samples are those of the faster ones.
TEST(ClosedLoop, QuantisationAndRates) {
  const auto model = bundled("planar_2r.yaml");
  const Tree tree(model);
  ClosedLoopRun run = runOf(tree, sineMotion(tree, 0.3, 1.0, 0.3, 1000.0));
  run.options.quantisation = 1e-3;
  run.options.sample_rate = 5000.0;
  const ClosedLoopResult fast = simulateClosedLoop(tree, run);
  const VectorXd q = column(fast, "q_elbow"), q_true = column(fast, "q_true_elbow");
  for (Eigen::Index i = 0; i < q.size(); ++i) {
    EXPECT_NEAR(q[i] / 1e-3, std::round(q[i] / 1e-3), 1e-9);
    EXPECT_LE(std::abs(q[i] - q_true[i]), 0.5e-3 + 1e-12);
  }
  run.options.sample_rate = 1000.0;
  const ClosedLoopResult slow = simulateClosedLoop(tree, run);
  const VectorXd few = column(slow, "q_elbow");
  for (Eigen::Index i = 0; i < few.size(); ++i) EXPECT_EQ(few[i], q[5 * i]);
}

// Joints behind a transmission are measured at the motors: what is quantised are multiples of the
// step there, not at the joints.
TEST(ClosedLoop, TransmissionIsMeasuredAtTheMotors) {
  Model arm = *bundled("planar_2r.yaml");
  Transmission transmission;
  transmission.joints = {0, 1};
  transmission.matrix = (Eigen::Matrix2d() << 10.0, 0.0, 4.0, -7.0).finished();
  arm.transmission = transmission;
  const Tree tree(finished(arm));
  ClosedLoopRun run = runOf(tree, sineMotion(tree, 0.3, 1.0, 0.1, 1000.0));
  run.options.quantisation = 1e-3;
  const ClosedLoopResult result = simulateClosedLoop(tree, run);
  const VectorXd shoulder = column(result, "q_shoulder"), elbow = column(result, "q_elbow"),
                 elbow_true = column(result, "q_true_elbow");
  for (Eigen::Index i = 0; i < elbow.size(); ++i) {
    const double second = (4.0 * shoulder[i] - 7.0 * elbow[i]) / 1e-3;
    EXPECT_NEAR(second, std::round(second), 1e-8);
    EXPECT_LE(std::abs(elbow[i] - elbow_true[i]), (0.5 + 0.5 * 0.4) / 7.0 * 1e-3 + 1e-12);
  }
}

// A declared encoder of a joint behind a transmission measures that joint, in steps of its own and
// with its bias; the other joint is still measured at the motors.
TEST(ClosedLoop, DeclaredEncoderBehindATransmission) {
  Model arm = *bundled("planar_2r.yaml");
  Transmission transmission;
  transmission.joints = {0, 1};
  transmission.matrix = (Eigen::Matrix2d() << 10.0, 0.0, 4.0, -7.0).finished();
  arm.transmission = transmission;
  Sensor encoder;
  encoder.name = "encoder";
  encoder.kind = SensorKind::kEncoder;
  encoder.joint = 1;
  encoder.quantisation = 1e-3;
  encoder.bias = {0.02};
  arm.sensors.push_back(encoder);
  const Tree tree(finished(arm));
  const ClosedLoopResult result =
      simulateClosedLoop(tree, runOf(tree, sineMotion(tree, 0.3, 1.0, 0.1, 1000.0)));
  const VectorXd elbow = column(result, "q_elbow"), truth = column(result, "q_true_elbow");
  for (Eigen::Index i = 0; i < elbow.size(); ++i) {
    EXPECT_NEAR(elbow[i] / 1e-3, std::round(elbow[i] / 1e-3), 1e-8);
    EXPECT_NEAR(elbow[i], truth[i] + 0.02, 0.5e-3 + 1e-12);
  }
  EXPECT_LT((column(result, "q_shoulder") - column(result, "q_true_shoulder")).norm(), 1e-12);
}

// A slide at 5 mm/s rubs with all of its Coulomb friction, to tanh(5): 1 - 1e-4.
TEST(ClosedLoop, SlowSlideHasItsFriction) {
  Model slide = oneJoint(2.0, JointType::kPrismatic);
  slide.joints[0].friction.terms = {{FrictionTermKind::kCoulomb, "coulomb", 3.0}};
  const Tree tree(finished(slide));
  MotionSamples motion = restMotion(tree, 0.0, 1.0, 1000.0);
  motion.q.col(0) = 0.005 * motion.time;
  motion.v.setConstant(0.005);
  const ClosedLoopResult result = simulateClosedLoop(tree, runOf(tree, motion));
  const VectorXd friction = column(result, "friction_true_joint");
  EXPECT_NEAR(friction[friction.size() - 1], 3.0, 3e-3);
}

// Noise of the recorded torque has the stated standard deviation and does not move the robot.
TEST(ClosedLoop, TorqueNoiseIsOnTheSampleOnly) {
  const auto model = bundled("planar_2r.yaml");
  const Tree tree(model);
  ClosedLoopRun run = runOf(tree, sineMotion(tree, 0.3, 1.0, 2.0, 1000.0));
  const ClosedLoopResult quiet = simulateClosedLoop(tree, run);
  run.options.torque_noise = 0.3;
  const ClosedLoopResult noisy = simulateClosedLoop(tree, run);
  EXPECT_EQ(column(quiet, "q_elbow"), column(noisy, "q_elbow"));
  const VectorXd noise = column(noisy, "tau_elbow") - column(noisy, "tau_true_elbow");
  // 2001 samples: standard deviation known to 1.6 %, tested at 5 of that
  EXPECT_NEAR(std::sqrt(noise.squaredNorm() / static_cast<double>(noise.size())), 0.3, 0.024);
  EXPECT_NEAR(noisy.joints[1].torque_noise, 0.3, 0.024);
}

// Computed torque with the robot's own model follows to the error of the sampled control, which
// halves with the period; with wrong masses it does not.
TEST(ClosedLoop, ComputedTorqueTracks) {
  const auto model = bundled("tx40.yaml");
  const Tree tree(model);
  Control control;
  control.kind = ControlKind::kComputedTorque;
  double peaks[2];
  for (int k = 0; k < 2; ++k) {
    control.rate = 2000.0 * (k + 1);
    ClosedLoopRun run = runOf(tree, sineMotion(tree, 0.3, 0.5, 1.0, control.rate));
    run.servo = declaredServo(tree, run.plant, control, tree.neutralPosition());
    const ClosedLoopResult result = simulateClosedLoop(tree, run);
    peaks[k] = 0.0;
    for (const JointSummary& joint : result.joints)
      peaks[k] = std::max(peaks[k], joint.tracking_peak);
    if (k == 0) {
      for (double& value : run.servo.model.values) value *= 0.7;
      const ClosedLoopResult wrong = simulateClosedLoop(tree, run);
      EXPECT_GT(wrong.joints[1].tracking_peak, 10.0 * peaks[0]);
    }
  }
  EXPECT_LT(peaks[0], 1e-3);
  EXPECT_NEAR(peaks[0] / peaks[1], 2.0, 0.5);
}

// After it is picked up, a payload is part of its link: the motion obeys the model with the
// heavier link, before that the model without.
TEST(ClosedLoop, PayloadChange) {
  const auto model = bundled("tx40.yaml");
  const Tree tree(model);
  ClosedLoopRun run = runOf(tree, sineMotion(tree, 0.3, 0.7, 0.4, 1000.0));
  PayloadChange change;
  change.time = 0.2;
  change.link = 6;
  change.payload = InertialParameters::fromCom(2.0, Vector3d(0.01, 0.02, 0.1),
                                               Vector3d(0.01, 0.012, 0.008).asDiagonal());
  run.options.payloads = {change};
  const ClosedLoopResult result = simulateClosedLoop(tree, run);
  const Eigen::MatrixXd q = truth(result, tree, "q_"), v = truth(result, tree, "v_"),
                        a = truth(result, tree, "a_"), tau = truth(result, tree, "tau_");
  Parameters heavy = run.plant;
  setLinkInertia(
      heavy, 6,
      InertialParameters::fromVector(linkInertia(run.plant, 6).vector() + change.payload.vector()));
  ComputedTorque before(tree, run.plant), after(tree, heavy);
  VectorXd expected(6);
  for (Eigen::Index i = 0; i < q.rows(); ++i) {
    (i < 200 ? before : after)
        .torque(q.row(i).transpose(), v.row(i).transpose(), v.row(i).transpose(),
                a.row(i).transpose(), expected);
    ASSERT_LT((expected - tau.row(i).transpose()).cwiseAbs().maxCoeff(), 1e-8) << i;
  }
}

// A servo with far too much damping gain for its rate is stopped with joint, time and reason.
TEST(ClosedLoop, UnstableServoIsStopped) {
  const auto model = bundled("tx40.yaml");
  const Tree tree(model);
  ClosedLoopRun run = runOf(tree, sineMotion(tree, 0.2, 0.5, 1.0, 1000.0));
  run.servo.kp *= 100.0;
  run.servo.torque_limit.setConstant(1e6);
  run.options.measurement_latency = 0.01;
  try {
    simulateClosedLoop(tree, run);
    FAIL() << "expected an error";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("stops at"), std::string::npos) << text;
    EXPECT_NE(text.find("joint 'joint_"), std::string::npos) << text;
    EXPECT_NE(text.find("limit"), std::string::npos) << text;
  }
}

// Too much damping gain with a torque limit: the robot stays where it is and the torque swings from
// limit to limit. That is an unstable servo, and stopped with joint, time and reason; a motion that
// asks for too much torque to one side for a while is followed as far as it goes, and the share of
// saturated periods is that of the log.
TEST(ClosedLoop, LimitCycleIsStopped) {
  const auto model = finished(oneJoint(0.5));
  const Tree tree(model);
  ClosedLoopRun run = runOf(tree, restMotion(tree, 0.5, 2.0, 1000.0));
  run.servo.torque_limit.setConstant(20.0);
  run.servo.kd[0] = 4.0 * 0.5 * run.servo.rate;  // twice what the rate can make stable
  run.options.encoder_noise = 1e-9;
  try {
    simulateClosedLoop(tree, run);
    FAIL() << "expected an error";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("stops at 0.5"), std::string::npos) << text;
    EXPECT_NE(text.find("joint 'joint' swings between its torque limits of +-20"),
              std::string::npos)
        << text;
  }
  // asked to be told without being stopped
  run.options.check_limits = false;
  const ClosedLoopResult cycle = simulateClosedLoop(tree, run);
  EXPECT_GT(cycle.joints[0].saturated, 0.5);
  EXPECT_GT(cycle.joints[0].reversals, 1000);
  // a step of 1 rad with a weak drive: half of the way at either limit
  ClosedLoopRun step = runOf(tree, restMotion(tree, 1.0, 2.0, 1000.0));
  MotionSamples motion = *step.reference;
  motion.q(0, 0) = 0.0;
  step.reference = std::make_shared<const MotionSamples>(motion);
  step.servo.torque_limit.setConstant(1.0);
  step.options.sample_rate = step.servo.rate;
  const ClosedLoopResult pushed = simulateClosedLoop(tree, step);
  const VectorXd torque = column(pushed, "tau_true_joint");
  const double share = (torque.array().abs() >= 1.0).cast<double>().mean();
  EXPECT_GT(share, 0.3);
  EXPECT_NEAR(pushed.joints[0].saturated, share, 1e-12);
}

// The noise of positions is what the encoder adds: none without noise, although an elastic joint
// gives and measurements come late; with noise its standard deviation.
TEST(ClosedLoop, PositionNoiseIsTheEncoders) {
  Model arm = oneJoint(0.5);
  arm.joints[0].drive.declared = true;
  arm.joints[0].drive.rotor_inertia = 0.2;
  arm.joints[0].drive.stiffness = 500.0;
  arm.joints[0].drive.damping = 0.5;
  const auto model = finished(arm);
  const Tree tree(model);
  ClosedLoopRun run = runOf(tree, sineMotion(tree, 0.3, 1.0, 1.0, 1000.0));
  run.options.measurement_latency = 0.001;
  EXPECT_EQ(simulateClosedLoop(tree, run).joints[0].position_noise, 0.0);
  run.options.encoder_noise = 1e-6;
  EXPECT_NEAR(simulateClosedLoop(tree, run).joints[0].position_noise, 1e-6, 0.05e-6);
}

// Wrong input is refused before anything moves, with a sentence that says what.
TEST(ClosedLoop, Refusals) {
  const auto model = bundled("tx40.yaml");
  const Tree tree(model);
  const ClosedLoopRun good = runOf(tree, sineMotion(tree, 0.2, 0.5, 0.1, 1000.0));
  const auto refused = [&](const ClosedLoopRun& run, const std::string& part) {
    try {
      simulateClosedLoop(tree, run);
      ADD_FAILURE() << "accepted, expected: " << part;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  const auto with = [&](auto change) {
    ClosedLoopRun run = good;
    MotionSamples motion = *run.reference;
    change(run, motion);
    run.reference = std::make_shared<const MotionSamples>(motion);
    return run;
  };
  refused(with([](ClosedLoopRun&, MotionSamples& m) { m.q(7, 2) = 9.0; }), "beyond its limit");
  refused(with([](ClosedLoopRun&, MotionSamples& m) { m.v(7, 2) = -99.0; }), "velocity of -99");
  refused(with([](ClosedLoopRun&, MotionSamples& m) { m.joints[0] = "joint_7"; }), "did you mean");
  refused(with([](ClosedLoopRun&, MotionSamples& m) { m.q(3, 0) = std::nan(""); }), "not finite");
  refused(with([](ClosedLoopRun&, MotionSamples& m) { m.time[3] = m.time[2]; }), "must increase");
  refused(with([](ClosedLoopRun&, MotionSamples& m) { m.v.resize(3, 3); }), "expected 101 samples");
  refused(with([](ClosedLoopRun& r, MotionSamples&) { r.options.sample_rate = 3000.0; }),
          "whole multiple");
  refused(with([](ClosedLoopRun& r, MotionSamples&) { r.options.physics_rate = 100.0; }),
          "physics rate >= control rate");
  refused(with([](ClosedLoopRun& r, MotionSamples&) { r.options.encoder_noise = -1.0; }),
          "encoder noise is -1");
  refused(with([](ClosedLoopRun& r, MotionSamples&) { r.options.command_latency = -1.0; }),
          "latency is -1");
  refused(with([](ClosedLoopRun& r, MotionSamples&) { r.servo = idleServo(2); }),
          "servo is for 2 coordinates");
  refused(with([](ClosedLoopRun& r, MotionSamples&) {
            r.options.payloads = {{99.0, 6, InertialParameters()}};
          }),
          "begins at 99 s");
  refused(with([](ClosedLoopRun& r, MotionSamples&) {
            r.options.payloads = {{0.0, 0, InertialParameters()}};
          }),
          "fixed to the world");
  const auto push = [&](int link, double start, double end) {
    return with([=](ClosedLoopRun& r, MotionSamples&) {
      AppliedWrench wrench;
      wrench.link = link;
      wrench.start = start;
      wrench.end = end;
      r.options.surroundings.wrenches = {wrench};
    });
  };
  refused(push(6, 0.08, 0.05), "give an end after the start");
  refused(push(0, 0.0, 0.05), "fixed to the world");
  refused(push(6, 3.0, 5.0), "begins at 3 s");
  // the real reason, not a servo that is said to be unstable
  refused(with([](ClosedLoopRun& r, MotionSamples&) {
            HalfSpace floor;
            floor.point.z() = 2.0;
            r.options.surroundings.half_spaces = {floor};
            r.options.surroundings.points = {{6, Vector3d::Zero()}};
          }),
          "inside of a half-space");
  ClosedLoopRun none = good;
  none.reference = nullptr;
  refused(none, "no reference");
}

// A free base without mass cannot be accelerated, and that is what is said.
TEST(ClosedLoop, MasslessFreeBase) {
  Model model = oneJoint(0.5);
  model.floating = true;
  const auto free = finished(model);
  const Tree tree(free, 0, true);
  ClosedLoopRun run = runOf(tree, restMotion(tree, 0.0, 0.2, 1000.0));
  try {
    simulateClosedLoop(tree, run);
    FAIL() << "expected an error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("no mass or inertia"), std::string::npos)
        << error.what();
  }
}

// A reference between control periods is interpolated by quintics: sampled at 100 Hz it moves the
// robot as the one at the control rate does.
TEST(ClosedLoop, CoarseReference) {
  const auto model = bundled("planar_2r.yaml");
  const Tree tree(model);
  const ClosedLoopResult fine =
      simulateClosedLoop(tree, runOf(tree, sineMotion(tree, 0.3, 1.0, 0.5, 5000.0)));
  const ClosedLoopResult coarse =
      simulateClosedLoop(tree, runOf(tree, sineMotion(tree, 0.3, 1.0, 0.5, 100.0)));
  EXPECT_LT((truth(fine, tree, "q_") - truth(coarse, tree, "q_")).cwiseAbs().maxCoeff(), 1e-8);
}

}  // namespace
}  // namespace proprio
