#include "proprio/numerics/streaming_qr.h"

#include <cmath>
#include <string>

#include "proprio/core/error.h"

namespace proprio {

StreamingQr::StreamingQr(Eigen::Index columns)
    : R_(Eigen::MatrixXd::Zero(columns, columns)), projection_(columns) {}

void StreamingQr::add(const Eigen::Ref<const Eigen::MatrixXd>& rows) {
  const Eigen::Index n = R_.cols();
  if (rows.cols() != n) {
    throw Error("StreamingQr: the block has " + std::to_string(rows.cols()) +
                " columns, expected " + std::to_string(n) + ".");
  }
  block_ = rows;
  rows_ += rows.rows();
  for (Eigen::Index k = 0; k < n; ++k) {
    // reflect (R_kk, column k of the block) onto its first entry
    auto tail = block_.col(k);
    const double tail_norm = tail.stableNorm();
    if (tail_norm == 0.0) continue;
    const double head = R_(k, k), norm = std::hypot(head, tail_norm);
    const double diagonal = head > 0.0 ? -norm : norm;
    // reflector (1, u): u = tail / (head - diagonal), scaled by beta = (diagonal - head) / diagonal
    tail /= head - diagonal;
    const double beta = (diagonal - head) / diagonal;
    R_(k, k) = diagonal;
    const Eigen::Index rest = n - k - 1;
    if (rest == 0) break;
    auto w = projection_.head(rest);
    w.noalias() = tail.transpose() * block_.rightCols(rest);
    w += R_.row(k).tail(rest);
    w *= beta;
    R_.row(k).tail(rest) -= w;
    block_.rightCols(rest).noalias() -= tail * w;
  }
}

}  // namespace proprio
