#pragma once

/// Matrices of independent standard normal numbers.

#include <Eigen/Core>
#include <random>

namespace proprio::testing {

inline Eigen::MatrixXd normalMatrix(std::mt19937& random, Eigen::Index rows, Eigen::Index columns) {
  std::normal_distribution<double> normal;
  return Eigen::MatrixXd::NullaryExpr(rows, columns, [&] { return normal(random); });
}

}  // namespace proprio::testing
