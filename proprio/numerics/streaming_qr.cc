#include "proprio/numerics/streaming_qr.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <string>

#include "proprio/core/error.h"
#include "proprio/core/instruction_set.h"
#include "proprio/numerics/kernels/fold_rows.h"

namespace proprio {
namespace {

constexpr Eigen::Index kAlignment = 64;

kernels::FoldRows foldRows() {
#ifdef PROPRIO_HAVE_AVX2_KERNELS
  if (activeInstructionSet() == InstructionSet::kAvx2) return kernels::kFoldRowsAvx2;
#endif
  return kernels::kFoldRowsPortable;
}

Eigen::Index padded(Eigen::Index rows) {
  return (rows + kernels::kFoldRows - 1) / kernels::kFoldRows * kernels::kFoldRows;
}

}  // namespace

void StreamingQr::Free::operator()(double* p) const { std::free(p); }

StreamingQr::StreamingQr(Eigen::Index columns, Eigen::Index block_rows)
    : R_(Eigen::MatrixXd::Zero(columns, columns)),
      block_rows_(std::max<Eigen::Index>(1, block_rows)) {
  // one vector more than the rows: columns a power of two apart would share cache sets
  stride_ = padded(block_rows_) + kernels::kFoldRows;
  const auto bytes = static_cast<size_t>(stride_ * std::max<Eigen::Index>(1, columns)) * 8;
  block_.reset(static_cast<double*>(std::aligned_alloc(kAlignment, bytes)));
  if (!block_) throw std::bad_alloc();
}

StreamingQr::Block StreamingQr::block() {
  return {block_.get(), block_rows_, R_.cols(), Eigen::OuterStride<>(stride_)};
}

void StreamingQr::add(const Eigen::Ref<const Eigen::MatrixXd>& rows) {
  if (rows.cols() != R_.cols()) {
    throw Error("StreamingQr: the block has " + std::to_string(rows.cols()) +
                " columns, expected " + std::to_string(R_.cols()) + ".");
  }
  for (Eigen::Index start = 0; start < rows.rows(); start += block_rows_) {
    const Eigen::Index count = std::min(block_rows_, rows.rows() - start);
    block().topRows(count) = rows.middleRows(start, count);
    fold(count);
  }
}

void StreamingQr::fold(Eigen::Index rows) {
  const Eigen::Index used = padded(rows);
  for (Eigen::Index j = 0; j < R_.cols(); ++j) {
    std::fill(block_.get() + j * stride_ + rows, block_.get() + j * stride_ + used, 0.0);
  }
  foldRows()(R_.data(), R_.outerStride(), block_.get(), stride_, static_cast<int>(used),
             static_cast<int>(R_.cols()));
  rows_ += rows;
}

}  // namespace proprio
