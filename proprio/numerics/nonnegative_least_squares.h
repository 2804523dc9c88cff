#pragma once

/// min |A x - b|^2 with x_i >= 0 for i >= free: the active-set method of Lawson and Hanson (Solving
/// Least Squares Problems, 1974, ch. 23). Made for many more columns than rows, of which few end up
/// positive: each step solves only those by QR.

#include <Eigen/Core>

namespace proprio {

struct NonnegativeSolution {
  Eigen::VectorXd x;
  int iterations = 0;
  bool converged = true;  ///< false: out of iterations; x is feasible all the same
};

/// @param free  the first columns, which may have any sign
/// @throws Error for sizes that do not fit or numbers that are not finite.
NonnegativeSolution nonnegativeLeastSquares(const Eigen::MatrixXd& A, const Eigen::VectorXd& b,
                                            int free = 0, int max_iterations = 3000);

}  // namespace proprio
