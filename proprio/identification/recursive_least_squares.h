#pragma once

/// Least squares that takes its rows one at a time, while the robot moves.
///
/// Kept is the triangular factor of all rows so far, each divided by its noise,
///
///   [R z; 0 rho],   R^T R = P^-1,   R beta = z
///
/// and every new row [w y] / sigma is rotated into it (Givens): 3 n^2 operations for n unknowns, no
/// inverse, nothing that could lose its sign. In exact arithmetic this is the recursion
///   K = P w^T / (sigma^2 + w P w^T),   beta += K (y - w beta),   P -= K w P
/// (Ardiani 2023 ch. 1, A-30; joint by joint, A-42), of which P0 = infinity is R = 0, and the
/// result after any number of rows is that of all rows at once. Rows may be left out at will: a
/// joint that says nothing, a part that touches something.
///
/// forget() multiplies R by sqrt(factor): older rows count less, parameters may drift.
///
/// Real-time but for construction and covariance(). References, L-78, T-79.

#include <Eigen/Core>

namespace proprio {

class RecursiveLeastSquares {
 public:
  /// Nothing is known before.
  explicit RecursiveLeastSquares(Eigen::Index unknowns);
  /// Known before: values, each with a standard deviation of its own.
  /// @throws Error for sizes that differ, values that are not finite, deviations that are not
  /// positive.
  RecursiveLeastSquares(const Eigen::VectorXd& before, const Eigen::VectorXd& deviations);

  Eigen::Index unknowns() const { return factor_.cols(); }
  Eigen::Index rows() const { return rows_; }

  /// y = row beta + noise of standard deviation sigma. Rows with numbers that are not finite, and
  /// sigmas that are not positive, are left out.
  void add(const Eigen::Ref<const Eigen::RowVectorXd, 0, Eigen::InnerStride<>>& row, double y,
           double sigma = 1.0) noexcept;

  /// @param factor  in (0, 1]: of the information so far that stays
  void forget(double factor) noexcept;

  /// Fills beta; false, and beta untouched, where the rows so far leave a direction open.
  bool estimate(Eigen::Ref<Eigen::VectorXd> beta) const noexcept;
  /// P = (R^T R)^-1. @throws Error where a direction is open.
  Eigen::MatrixXd covariance() const;
  /// Norm of what no beta explains, in units of the noise.
  double residual() const { return residual_; }

 private:
  bool determined() const noexcept;

  Eigen::MatrixXd factor_;  // [R z]^T: a row of R is a column, and contiguous
  Eigen::VectorXd incoming_;
  double residual_ = 0.0;
  Eigen::Index rows_ = 0;
};

}  // namespace proprio
