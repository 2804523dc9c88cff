// A TX40 recorded once (here: simulated with noise) and identified with a physically consistent
// method: from signals to parameters in four calls.

#include <iostream>
#include <numbers>

#include "proprio/identification/evaluation.h"
#include "proprio/identification/method.h"
#include "proprio/model/robot_reader.h"
#include "proprio/servo/servo_setup.h"
#include "proprio/simulation/closed_loop.h"

int main() {
  using namespace proprio;
  const auto model = std::make_shared<const Model>(readRobot("examples/robots/tx40.yaml"));
  const auto tree = std::make_shared<const Tree>(model);

  // a motion with several frequencies per joint, and what the robot records on it
  MotionSamples motion;
  for (const Joint& joint : model->joints) motion.joints.push_back(joint.name);
  motion.time = Eigen::VectorXd::LinSpaced(1001, 0.0, 10.0);
  motion.q = motion.v = motion.a = Eigen::MatrixXd::Zero(1001, 6);
  for (int j = 0; j < 6; ++j) {
    for (int h = 1; h <= 4; ++h) {
      const double w = 2.0 * std::numbers::pi * (0.1 * h + 0.03 * j), size = 0.3 / h;
      const Eigen::ArrayXd angle = w * motion.time.array();
      motion.q.col(j).array() += size * (1.0 - angle.cos());
      motion.v.col(j).array() += size * w * angle.sin();
      motion.a.col(j).array() += size * w * w * angle.cos();
    }
  }
  ClosedLoopRun run;
  run.plant = declaredParameters(model);
  run.servo = declaredServo(*tree, run.plant, model->control, tree->neutralPosition());
  run.reference = std::make_shared<const MotionSamples>(motion);
  run.options.encoder_noise = 1e-5;  // rad
  run.options.torque_noise = 0.2;    // N m
  const Recording recording = simulateClosedLoop(*tree, run).recording;

  // signals -> samples -> problem -> estimate
  JointSignalOptions signals;
  signals.joints = motion.joints;
  const MotionData data = motionData(*tree, jointSignals(recording, signals));
  const IdentificationProblem problem = identificationProblem(tree, {data});
  const Estimate estimate = identify("pc-wls", problem);
  const Evaluation error = evaluate("pc-wls", *tree, *problem.layout, estimate.chi, data);

  std::cout << problem.base.count() << " base parameters, condition " << estimate.condition << '\n';
  for (size_t j = 0; j < error.joints.size(); ++j)
    std::cout << motion.joints[j] << ": " << error.joints[j].percent
              << " % of its torque unexplained, " << error.joints[j].rms << " N m\n";
}
