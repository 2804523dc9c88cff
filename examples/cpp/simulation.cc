// A TX40 that follows a motion under its own servos, recorded with noise, and then many times with
// different seeds at once.

#include <iostream>
#include <numbers>

#include "proprio/model/robot_reader.h"
#include "proprio/servo/servo_setup.h"
#include "proprio/simulation/closed_loop.h"

int main() {
  const auto model =
      std::make_shared<const proprio::Model>(proprio::readRobot("examples/robots/tx40.yaml"));
  const proprio::Tree tree(model);

  // every joint swings once, sampled at 100 Hz; between samples the reference is a quintic
  proprio::MotionSamples motion;
  for (const proprio::Joint& joint : model->joints) motion.joints.push_back(joint.name);
  motion.time = Eigen::VectorXd::LinSpaced(101, 0.0, 1.0);
  const Eigen::ArrayXd angle = 2.0 * std::numbers::pi * motion.time.array();
  motion.q = (0.2 * (1.0 - angle.cos())).matrix().replicate(1, 6);
  motion.v = (0.2 * 2.0 * std::numbers::pi * angle.sin()).matrix().replicate(1, 6);
  motion.a =
      (0.2 * 4.0 * std::numbers::pi * std::numbers::pi * angle.cos()).matrix().replicate(1, 6);

  proprio::ClosedLoopRun run;
  run.plant = proprio::declaredParameters(model);
  run.servo = proprio::declaredServo(tree, run.plant, model->control, tree.neutralPosition());
  run.reference = std::make_shared<const proprio::MotionSamples>(motion);
  run.options.encoder_noise = 1e-4 * std::numbers::pi / 180.0;  // rad
  run.options.torque_noise = 0.05;                              // N m
  const proprio::ClosedLoopResult result = proprio::simulateClosedLoop(tree, run);
  for (const proprio::JointSummary& joint : result.joints)
    std::cout << joint.joint << ": follows within " << joint.tracking_peak << " rad\n";

  // the same robot with eight seeds
  std::vector<proprio::ClosedLoopRun> runs(8, run);
  for (size_t r = 0; r < runs.size(); ++r) runs[r].options.seed = r;
  const std::vector<proprio::ClosedLoopResult> results = proprio::simulateClosedLoops(tree, runs);
  const int column = results[0].recording.column("tau_joint_2");
  std::cout << "first torques of joint 2:";
  for (const proprio::ClosedLoopResult& one : results)
    std::cout << ' ' << one.recording.values(0, column);
  std::cout << " N m\n";
}
