// Torques, mass matrix, regressor and base parameters of a robot: quickstart ROBOT
// [README:begin]
#include <iostream>

#include "proprio/dynamics/augmented_regressor.h"
#include "proprio/dynamics/mass_matrix.h"
#include "proprio/dynamics/structural_identifiability.h"
#include "proprio/model/robot_reader.h"
using namespace proprio;

int main(int, char** argv) {
  const auto model = std::make_shared<const Model>(readRobot(argv[1]));  // URDF or robot.yaml
  const Tree tree(model);                                                // for its own base
  const Parameters theta = declaredParameters(model);                    // named values
  const CompiledParameters compiled = compileParameters(tree, theta);    // swappable at any time
  Workspace workspace(tree);                                             // all memory, once
  const int n = tree.velocityCount();
  const Eigen::VectorXd q = tree.neutralPosition();
  const Eigen::VectorXd v = Eigen::VectorXd::Constant(n, 0.5), a = 2 * v;

  Eigen::VectorXd tau(n);
  Eigen::MatrixXd M(n, n), Y(n, theta.layout->size());
  fullTorque(tree, theta, compiled, workspace, q, v, a, tau);  // with rotors and friction
  massMatrix(tree, compiled, workspace, q, M);
  augmentedRegressor(tree, *theta.layout, workspace, q, v, a, Y);            // tau = Y theta
  const BaseParameters base = structuralBaseParameters(tree, theta.layout);  // exact, no samples
  std::cout << tau.transpose() << "\n" << base.count() << " of " << Y.cols() << " parameters\n";
}
// [README:end]
