#pragma once

/// The triangular factor of a tall matrix that arrives in blocks of rows, in constant memory:
/// W^T W = R^T R, by Householder reflections of [R; block]. Nothing is squared, so that small
/// singular values keep their digits. About 2 n^2 operations per row for n columns, most of them
/// in panels of eight reflectors on SIMD lanes (kernels/fold_rows.inl). Deterministic: the same
/// blocks in the same order give the same bits.
/// Source: Golub and Van Loan 2013, sections 5.2 and 6.5.

#include <Eigen/Core>
#include <memory>

namespace proprio {

class StreamingQr {
 public:
  /// @param block_rows  rows folded at once; a block of rows x columns should fit in the cache
  explicit StreamingQr(Eigen::Index columns, Eigen::Index block_rows = 256);

  /// Folds the rows in. @throws Error for a wrong number of columns.
  void add(const Eigen::Ref<const Eigen::MatrixXd>& rows);

  /// Without a copy: write up to blockRows() rows into the first ones of block(), each column
  /// contiguous, then fold them in. Does not allocate.
  using Block = Eigen::Map<Eigen::MatrixXd, 0, Eigen::OuterStride<>>;
  Block block();
  void fold(Eigen::Index rows);
  Eigen::Index blockRows() const { return block_rows_; }

  /// Upper triangular; signs of the rows are arbitrary.
  const Eigen::MatrixXd& factor() const { return R_; }
  /// Rows folded in so far.
  Eigen::Index rows() const { return rows_; }

 private:
  struct Free {
    void operator()(double* p) const;
  };
  Eigen::MatrixXd R_;
  Eigen::Index block_rows_ = 0, stride_ = 0, rows_ = 0;
  std::unique_ptr<double, Free> block_;
};

}  // namespace proprio
