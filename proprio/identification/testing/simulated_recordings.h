#pragma once

/// Closed-loop recordings of bundled robots for methods that simulate: twins with declared cascade
/// gains, exciting motions, and samples from what only the simulator knows.

#include <cmath>
#include <memory>
#include <numbers>
#include <random>
#include <string>

#include "proprio/identification/motion_data.h"
#include "proprio/identification/testing/synthetic_data.h"
#include "proprio/servo/servo_setup.h"
#include "proprio/simulation/closed_loop.h"

namespace proprio::testing {

/// The robot with the gains of a P-P cascade of that bandwidth (Hz) declared for every joint.
inline std::shared_ptr<const Tree> cascadeTwin(const std::string& robot, double bandwidth) {
  const auto tree = treeOf(robot);
  Control control = tree->model().control;
  control.kind = ControlKind::kCascade;
  control.bandwidth = bandwidth;
  const Servo servo = declaredServo(*tree, declaredParameters(tree->sharedModel()), control,
                                    tree->neutralPosition());
  Model model = tree->model();
  model.control = control;
  for (size_t j = 0; j < model.joints.size(); ++j) {
    const int i = tree->velocityIndex(static_cast<int>(j));
    if (i >= 0) model.joints[j].control = {true, servo.kp[i], 0.0, servo.kd[i]};
  }
  return std::make_shared<const Tree>(std::make_shared<const Model>(std::move(model)));
}

/// The robot as its drawings have it: 20 % heavier, 30 % less friction, the same servo.
inline std::shared_ptr<const Tree> wrongDrawings(const Tree& tree) {
  Parameters parameters = declaredParameters(tree.sharedModel());
  for (int p = 0; p < parameters.layout->size(); ++p) {
    const ParameterKind kind = (*parameters.layout)[p].kind;
    parameters.values[static_cast<size_t>(p)] *= kind == ParameterKind::kFriction ? 0.7 : 1.2;
  }
  return std::make_shared<const Tree>(
      std::make_shared<const Model>(modelWithParameters(parameters)));
}

/// Four harmonics per joint, about 1 rad/s each.
inline std::shared_ptr<const MotionSamples> excitingMotion(const Tree& tree, double seconds,
                                                           double rate, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> size(0.4, 1.0), phase(0.0, 2.0 * std::numbers::pi);
  auto motion = std::make_shared<MotionSamples>();
  for (const Joint& joint : tree.model().joints) {
    if (!joint.mimic && velocityCount(joint.type) == 1) motion->joints.push_back(joint.name);
  }
  const auto rows = static_cast<Eigen::Index>(std::lround(seconds * rate)) + 1;
  const auto joints = static_cast<Eigen::Index>(motion->joints.size());
  motion->time = Eigen::VectorXd::LinSpaced(rows, 0.0, seconds);
  motion->q = motion->v = motion->a = Eigen::MatrixXd::Zero(rows, joints);
  for (Eigen::Index j = 0; j < joints; ++j) {
    for (int k = 1; k <= 4; ++k) {
      const double w = 2.0 * std::numbers::pi * 0.5 * k, amplitude = size(random),
                   start = phase(random);
      const Eigen::ArrayXd angle = w * motion->time.array() + start;
      motion->q.col(j).array() += amplitude / w * angle.sin();
      motion->v.col(j).array() += amplitude * angle.cos();
      motion->a.col(j).array() -= amplitude * w * angle.sin();
    }
  }
  return motion;
}

inline ClosedLoopRun closedLoopOf(const Tree& tree,
                                  const std::shared_ptr<const MotionSamples>& motion,
                                  double sample_rate) {
  ClosedLoopRun run;
  run.plant = declaredParameters(tree.sharedModel());
  run.servo = declaredServo(tree, run.plant, tree.model().control, tree.neutralPosition());
  run.reference = motion;
  run.options.sample_rate = sample_rate;
  run.options.check_limits = false;
  return run;
}

/// True positions, velocities, accelerations and torques. Rows of joints slower than `slow` do not
/// count: there the simulator's smooth sign is not yet one. Nor do the first 0.2 s, in which the
/// servo, which starts without torque, takes up the weight.
inline MotionData truthOf(const Tree& tree, const Recording& recording,
                          const std::shared_ptr<const MotionSamples>& motion, double slow) {
  MotionData data;
  data.name = "truth";
  data.time = recording.time;
  data.rate_hz = 1.0 / (recording.time[1] - recording.time[0]);
  data.reference = motion;
  const Eigen::Index samples = recording.samples();
  data.q = Eigen::MatrixXd::Zero(samples, tree.positionCount());
  data.v = data.a = data.tau = Eigen::MatrixXd::Zero(samples, tree.velocityCount());
  for (size_t j = 0; j < tree.model().joints.size(); ++j) {
    const Joint& joint = tree.model().joints[j];
    const int i = tree.velocityIndex(static_cast<int>(j));
    if (joint.mimic || i < 0) continue;
    const auto column = [&](Quantity quantity) {
      return recording.values.col(recording.column(quantity, Role::kTruth, joint.name));
    };
    data.q.col(tree.positionIndex(static_cast<int>(j))) = column(Quantity::kPosition);
    data.v.col(i) = column(Quantity::kVelocity);
    data.a.col(i) = column(Quantity::kAcceleration);
    data.tau.col(i) = column(Quantity::kTorque);
  }
  data.use = data.v.array().abs() > slow;
  data.use.topRows((data.time.array() < 0.2).count()).setConstant(false);
  return data;
}

}  // namespace proprio::testing
