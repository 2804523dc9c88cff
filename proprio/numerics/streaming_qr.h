#pragma once

/// The triangular factor of a tall matrix that arrives in blocks of rows, in constant memory:
/// W^T W = R^T R, by Householder reflections of [R; block]. Nothing is squared, so that small
/// singular values keep their digits. Deterministic: the same blocks in the same order give the
/// same bits. Source: Golub and Van Loan 2013, sections 5.2 and 6.5.

#include <Eigen/Core>

namespace proprio {

class StreamingQr {
 public:
  explicit StreamingQr(Eigen::Index columns);
  /// Folds the rows in. @throws Error for a wrong number of columns.
  void add(const Eigen::Ref<const Eigen::MatrixXd>& rows);
  /// Upper triangular; signs of the rows are arbitrary.
  const Eigen::MatrixXd& factor() const { return R_; }
  /// Rows folded in so far.
  Eigen::Index rows() const { return rows_; }

 private:
  Eigen::MatrixXd R_, block_;
  Eigen::RowVectorXd projection_;
  Eigen::Index rows_ = 0;
};

}  // namespace proprio
