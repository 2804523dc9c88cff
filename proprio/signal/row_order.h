#pragma once

/// Are the rows of a table without time stamps one step of time apart? Data sets for learning leave
/// rows out, or shuffle them; differences between neighbours are then no velocities.
///
///   s_k = sum_j w_j dq_jk v_jk / sum_j w_j v_jk^2,   dq_jk = q_j,k+1 - q_jk,
///   v_jk the mean velocity of both rows, w_j = 1 / (median |dq_j - s v_j|)^2
///
/// is the step of time that all joints imply between rows k and k + 1, and s its median, weighted
/// by the sum that s_k is divided by: rows at rest tell nothing. Rows whose s_k is known to a tenth
/// of s (by the residuals of all) are judged.

#include <Eigen/Core>

namespace proprio {

struct RowOrder {
  bool shuffled = false;     ///< neighbours are as different as any two rows
  Eigen::Index judged = 0;   ///< steps known to a tenth; 0 without velocities
  Eigen::Index unequal = 0;  ///< of these, longer or shorter than the median by half of it

  /// Rows are missing: more than one step in a hundred of at least a hundred is unequal.
  bool gaps() const { return judged >= 100 && 100 * unequal > judged; }
};

/// @param q  positions, row = sample
/// @param v  velocities, or without columns
/// @throws Error if sizes differ.
RowOrder rowOrder(const Eigen::MatrixXd& q, const Eigen::MatrixXd& v);

}  // namespace proprio
