#pragma once

/// Samples of bundled robots at random states with white torque noise: the model's own assumptions
/// fulfilled exactly.

#include <memory>
#include <random>
#include <string>

#include "proprio/identification/stacked_problem.h"
#include "proprio/model/robot_reader.h"

namespace proprio::testing {

inline std::shared_ptr<const Tree> treeOf(const std::string& robot) {
  const std::string path = std::string(PROPRIO_SOURCE_DIR) + "/examples/robots/" + robot + ".yaml";
  return std::make_shared<const Tree>(std::make_shared<const Model>(readRobot(path)));
}

inline Eigen::VectorXd declaredValues(const Tree& tree) {
  const Parameters declared = declaredParameters(tree.sharedModel());
  return Eigen::Map<const Eigen::VectorXd>(declared.values.data(),
                                           static_cast<Eigen::Index>(declared.values.size()));
}

/// @param noise  standard deviation of the torques, N m
inline MotionData noisyData(const Tree& tree, Eigen::Index samples, double noise, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> angle(-2.5, 2.5), speed(-3.0, 3.0),
      acceleration(-10.0, 10.0);
  std::normal_distribution<double> gaussian(0.0, 1.0);
  MotionData data;
  data.name = "synthetic";
  data.rate_hz = 100.0;
  data.time =
      Eigen::VectorXd::LinSpaced(samples, 0.0, static_cast<double>(samples - 1) / data.rate_hz);
  data.q =
      Eigen::MatrixXd::NullaryExpr(samples, tree.positionCount(), [&] { return angle(random); });
  data.v =
      Eigen::MatrixXd::NullaryExpr(samples, tree.velocityCount(), [&] { return speed(random); });
  data.a = Eigen::MatrixXd::NullaryExpr(samples, tree.velocityCount(),
                                        [&] { return acceleration(random); });
  data.tau = Eigen::MatrixXd::Zero(samples, tree.velocityCount());
  data.use = Mask::Constant(samples, tree.velocityCount(), true);
  const ParameterLayout layout(tree.sharedModel());
  data.tau = predictTorques(tree, layout, declaredValues(tree), data);
  data.tau += noise * Eigen::MatrixXd::NullaryExpr(samples, tree.velocityCount(),
                                                   [&] { return gaussian(random); });
  return data;
}

}  // namespace proprio::testing
