#pragma once

/// Positions moved along the velocity coordinates, for finite differences.

#include "proprio/dynamics/position_steps.h"

namespace proprio {

/// q after the step d in velocity coordinates.
inline Eigen::VectorXd moved(const Tree& tree, Eigen::VectorXd q, const Eigen::VectorXd& d) {
  integratePosition(tree, q, d, q);
  return q;
}

}  // namespace proprio
