#pragma once

/// Robots and motions of the closed-loop tests.

#include <cmath>
#include <memory>
#include <numbers>
#include <string>

#include "proprio/model/robot_reader.h"
#include "proprio/servo/servo_setup.h"
#include "proprio/simulation/closed_loop.h"

namespace proprio::testing_loop {

inline std::shared_ptr<const Model> bundled(const std::string& name) {
  return std::make_shared<const Model>(
      readRobot(std::string(PROPRIO_SOURCE_DIR) + "/examples/robots/" + name));
}

/// A body on one joint along z: a wheel of inertia `inertia` that gravity does not turn, or a
/// slide of that mass.
inline Model oneJoint(double inertia, JointType type = JointType::kContinuous) {
  Model model;
  model.name = "one joint";
  model.links.resize(2);
  model.links[0].name = "base";
  model.links[1].name = "body";
  model.links[1].has_inertial = true;
  const double mass = type == JointType::kPrismatic ? inertia : 1.0;
  model.links[1].inertia = InertialParameters::fromCom(
      mass, Vector3d::Zero(), Vector3d(inertia, inertia, inertia).asDiagonal());
  model.joints.resize(1);
  Joint& joint = model.joints[0];
  joint.name = "joint";
  joint.type = type;
  joint.first = 0;
  joint.second = 1;
  joint.axis = Vector3d::UnitZ();
  return model;
}
inline std::shared_ptr<const Model> finished(Model model) {
  return std::make_shared<const Model>(finalize(std::move(model)));
}

/// q_j = amplitude (1 - cos(w_j t)) for every joint, w_j a little different from joint to joint.
inline MotionSamples sineMotion(const Tree& tree, double amplitude, double hertz, double seconds,
                                double rate) {
  MotionSamples motion;
  for (const Joint& joint : tree.model().joints) {
    if (!joint.mimic && velocityCount(joint.type) == 1) motion.joints.push_back(joint.name);
  }
  const auto rows = static_cast<Eigen::Index>(std::lround(seconds * rate)) + 1;
  const auto columns = static_cast<Eigen::Index>(motion.joints.size());
  motion.time.resize(rows);
  for (Eigen::MatrixXd* x : {&motion.q, &motion.v, &motion.a}) x->resize(rows, columns);
  for (Eigen::Index i = 0; i < rows; ++i) {
    const double t = static_cast<double>(i) / rate;
    motion.time[i] = t;
    for (Eigen::Index j = 0; j < columns; ++j) {
      const double w = 2.0 * std::numbers::pi * hertz * (1.0 + 0.13 * static_cast<double>(j));
      motion.q(i, j) = amplitude * (1.0 - std::cos(w * t));
      motion.v(i, j) = amplitude * w * std::sin(w * t);
      motion.a(i, j) = amplitude * w * w * std::cos(w * t);
    }
  }
  return motion;
}

/// Rest at `position`.
inline MotionSamples restMotion(const Tree& tree, double position, double seconds, double rate) {
  MotionSamples motion = sineMotion(tree, 0.0, 1.0, seconds, rate);
  motion.q.setConstant(position);
  return motion;
}

inline ClosedLoopRun runOf(const Tree& tree, MotionSamples motion) {
  ClosedLoopRun run;
  run.plant = declaredParameters(tree.sharedModel());
  run.servo = declaredServo(tree, run.plant, tree.model().control, tree.neutralPosition());
  run.reference = std::make_shared<const MotionSamples>(std::move(motion));
  return run;
}

/// A run without any drive torque.
inline ClosedLoopRun idleRun(const Tree& tree, MotionSamples motion, double rate) {
  ClosedLoopRun run = runOf(tree, std::move(motion));
  run.servo = idleServo(tree.velocityCount());
  run.servo.rate = run.options.sample_rate = rate;
  return run;
}

inline Eigen::VectorXd column(const ClosedLoopResult& result, const std::string& name) {
  const int c = result.recording.column(name);
  if (c < 0) throw Error("no channel " + name);
  return result.recording.values.col(c);
}

}  // namespace proprio::testing_loop
