#pragma once

/// Minimises a function of which nothing is known but its values: covariance matrix adaptation, an
/// evolution strategy. A generation draws lambda points x = mean + sigma B D z around the mean, the
/// better half moves the mean, and step size and covariance C = B D^2 B^T follow the path that the
/// mean takes. Needs no gradient, tolerates kinks, infinities and rugged functions, and costs many
/// evaluations: for starts from which a gradient leads nowhere. Infinite or NaN values rank last.
/// Deterministic: the same seed gives the same points on every machine.
/// Source: Hansen, The CMA evolution strategy: a tutorial, 2016 (default constants).

#include <Eigen/Core>
#include <cstdint>
#include <functional>

namespace proprio {

struct CmaOptions {
  int generations = 200;
  int population = 0;  ///< lambda; 0: 4 + 3 log(size)
  uint64_t seed = 1;
  double target = -1e300;  ///< stops when a value is not above this
};

struct CmaResult {
  Eigen::VectorXd x;  ///< best point seen
  double value = 0.0;
  int generations = 0;
  int evaluations = 0;
};

/// @param step  standard deviation of the first generation, same for all coordinates
/// @param stop  asked after each generation (null: never): true ends the search
/// @throws Error for an empty start or a step that is not positive.
CmaResult minimiseByCma(const std::function<double(const Eigen::VectorXd&)>& value,
                        const Eigen::VectorXd& start, double step, const CmaOptions& options = {},
                        const std::function<bool()>& stop = nullptr);

}  // namespace proprio
