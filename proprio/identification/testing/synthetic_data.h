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

/// A smooth motion at 100 Hz, no noise: every joint moves with five harmonics of 0.2 Hz and random
/// phases, speeds up to about 3 rad/s.
inline MotionData smoothData(const Tree& tree, Eigen::Index samples, unsigned seed) {
  MotionData data = noisyData(tree, samples, 0.0, seed);
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> phase(-3.14, 3.14), size(0.3, 0.6);
  data.q.setZero();
  data.v.setZero();
  data.a.setZero();
  for (Eigen::Index j = 0; j < data.q.cols(); ++j) {
    for (int h = 1; h <= 5; ++h) {
      const double w = 2.0 * 3.14159265358979 * 0.2 * h, p = phase(random), s = size(random) / w;
      const Eigen::ArrayXd angle = w * data.time.array() + p;
      data.q.col(j).array() += s * angle.sin();
      data.v.col(j).array() += s * w * angle.cos();
      data.a.col(j).array() -= s * w * w * angle.sin();
    }
  }
  const ParameterLayout layout(tree.sharedModel());
  data.tau = predictTorques(tree, layout, declaredValues(tree), data);
  return data;
}

}  // namespace proprio::testing
