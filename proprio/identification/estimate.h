#pragma once

/// What a method returns: values, their uncertainty, and where each number comes from.

#include <Eigen/Core>
#include <memory>
#include <string>
#include <vector>

namespace proprio {

enum class ParameterOrigin {
  kData,         ///< the recordings determine it by itself
  kCombination,  ///< they determine a sum that it is part of; its share comes from the prior
  kPrior         ///< they say nothing about it
};
const char* toString(ParameterOrigin origin);

struct MotionData;

struct Estimate {
  std::string method;
  Eigen::VectorXd beta;        ///< base parameters, order of BaseParameters::independent
  Eigen::MatrixXd covariance;  ///< of beta
  Eigen::VectorXd chi;         ///< all standard parameters, order of the layout
  Eigen::VectorXd sigma;       ///< torque noise per velocity coordinate that the weights used
  /// Motions whose regressor rows multiply the noise, one per recording; null: the recorded ones.
  std::shared_ptr<const std::vector<MotionData>> instruments;
  /// Part of each direction that the data do not decide: a truncated or prior-decided combination
  /// of base parameters, in words.
  std::vector<std::string> undecided;
  std::vector<int> at_zero;       ///< standard parameters that may not be negative, at this bound
  std::vector<int> active_links;  ///< links whose consistency constraint holds with equality
  double condition = 0.0;         ///< of the weighted, column-scaled base regressor
  double gap = 0.0;               ///< duality gap relative to the objective, where there is one
  int iterations = 1;
  int simulations = 0;
  bool converged = true;
  double seconds = 0.0;
  std::vector<std::string> notes;
};

}  // namespace proprio
