// A friction sweep and a random Fourier motion for the TX40, checked against its limits and saved.

#include <filesystem>
#include <iostream>

#include "proprio/model/robot_reader.h"
#include "proprio/motion/single_joint.h"
#include "proprio/motion/trajectory_file.h"

int main() {
  const auto model =
      std::make_shared<const proprio::Model>(proprio::readRobot("examples/robots/tx40.yaml"));
  const std::vector<std::string> joints = proprio::motionJoints(*model);

  // nine tenths of what the robot states; full acceleration within 0.1 s
  proprio::MotionLimits limits = proprio::withMargin(proprio::limitsOf(*model, joints), 0.9);
  limits.jerk = limits.acceleration / 0.1;
  const Eigen::VectorXd start = Eigen::VectorXd::Zero(limits.size());

  // one joint after the other at constant speeds, each in both directions
  const proprio::FrictionSweep sweep = proprio::frictionSweep(start, limits);
  const proprio::Plateau& slowest = sweep.plateaus.front();
  std::cout << sweep.plateaus.size() << " plateaus in " << sweep.motion.duration()
            << " s, the first at " << slowest.speed << " rad/s from " << slowest.begin << " to "
            << slowest.end << " s\n";

  // all joints together: five harmonics over 10 s, at rest at both ends
  const proprio::JointMotion motion{
      joints, std::make_shared<proprio::FourierSeries>(
                  proprio::randomFourierWithin(start, 5, 10.0, /*seed=*/1, limits))};

  // the extremes between samples too, and the torques that the motion asks for
  const proprio::Tree tree(model);
  const proprio::MotionCheck check =
      proprio::checkMotion(tree, proprio::declaredParameters(model), motion);
  for (const proprio::Violation& violation : check.violations)
    std::cout << sentence(violation) << '\n';
  std::cout << "largest torques " << check.effort.transpose() << " N m\n";

  // exact as JSON; samples for a robot as CSV or ROS JointTrajectory (.yaml)
  const std::string file = std::filesystem::temp_directory_path() / "proprio_motion.json";
  proprio::writeMotion(file, motion);
  const proprio::MotionSamples samples = proprio::sample(proprio::readMotion(file), 500.0);
  std::cout << samples.samples() << " samples of " << samples.joints.size() << " joints\n";
  std::filesystem::remove(file);
  return check.violations.empty() ? 0 : 1;
}
