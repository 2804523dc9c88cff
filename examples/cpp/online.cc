// A TX40 whose description is 30 % wrong learns its base parameters while it moves: one row per
// joint and sample, no memory of the past but a triangle.

#include <iostream>
#include <random>

#include "proprio/dynamics/augmented_regressor.h"
#include "proprio/dynamics/structural_identifiability.h"
#include "proprio/identification/recursive_least_squares.h"
#include "proprio/model/robot_reader.h"

int main() {
  using namespace proprio;
  const auto model = std::make_shared<const Model>(readRobot("examples/robots/tx40.yaml"));
  const Tree tree(model);
  const Parameters truth = declaredParameters(model);
  const BaseParameters base = structuralBaseParameters(tree, truth.layout);
  const Eigen::VectorXd beta = splitParameters(base, Eigen::Map<const Eigen::VectorXd>(
                                                         truth.values.data(), truth.layout->size()))
                                   .beta;

  // what is believed before, and how much it may be wrong
  RecursiveLeastSquares online(0.7 * beta, 0.3 * beta.cwiseAbs().array() + 0.01);

  Workspace workspace(tree);
  Eigen::MatrixXd Y(6, truth.layout->size());
  Eigen::VectorXd q(6), v(6), a(6), found(base.count());
  std::mt19937_64 random(1);
  std::normal_distribution<double> noise(0.0, 0.5);  // N m
  for (int k = 0; k <= 1000; ++k) {                  // 10 s at 100 Hz
    const double t = 0.01 * k;
    for (int j = 0; j < 6; ++j) {
      const double w = 1.0 + 0.4 * j;
      q[j] = std::sin(w * t), v[j] = w * std::cos(w * t), a[j] = -w * w * std::sin(w * t);
    }
    augmentedRegressor(tree, *truth.layout, workspace, q, v, a, Y);
    const Eigen::MatrixXd rows = Y(Eigen::all, base.independent);
    for (int j = 0; j < 6; ++j) online.add(rows.row(j), rows.row(j) * beta + noise(random), 0.5);
    if (k % 250 != 0 || !online.estimate(found)) continue;
    std::cout << t << " s: torques off by " << (rows * (found - beta)).norm() << " of "
              << (rows * beta).norm() << " N m\n";
  }
}
