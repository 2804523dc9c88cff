#include "proprio/numerics/streaming_qr.h"

#include <gtest/gtest.h>

#include <Eigen/QR>

#include "proprio/core/error.h"
#include "proprio/core/instruction_set.h"
#include "proprio/numerics/dense.h"

namespace proprio {
namespace {

// Backward error of Householder QR: a few units of rounding times the number of columns.
constexpr double kTolerance = 1e-13;

Eigen::MatrixXd positiveRows(Eigen::MatrixXd R) {
  for (Eigen::Index k = 0; k < R.rows(); ++k) {
    if (R(k, k) < 0.0) R.row(k) *= -1.0;
  }
  return R;
}

// Blocks of any size give the factor of the whole matrix, computed by another QR.
TEST(StreamingQr, EqualsTheFactorOfTheWholeMatrix) {
  std::srand(1);
  const Eigen::MatrixXd W = Eigen::MatrixXd::Random(53, 7);
  const Eigen::MatrixXd whole =
      Eigen::HouseholderQR<Eigen::MatrixXd>(W).matrixQR().topRows(7).triangularView<Eigen::Upper>();
  for (const Eigen::Index block : {1, 3, 7, 20, 53}) {
    StreamingQr qr(7);
    for (Eigen::Index start = 0; start < W.rows(); start += block) {
      qr.add(W.middleRows(start, std::min(block, W.rows() - start)));
    }
    EXPECT_EQ(qr.rows(), 53);
    EXPECT_LT((positiveRows(qr.factor()) - positiveRows(whole)).norm(), kTolerance * whole.norm());
    EXPECT_EQ(Eigen::MatrixXd(qr.factor().triangularView<Eigen::StrictlyLower>()).norm(), 0.0);
  }
}

// The panels and tiles of the kernels, whatever the widths: every remainder of columns and rows
// gives the same R^T R as the data, on both instruction sets.
TEST(StreamingQr, EveryRemainder) {
  std::srand(3);
  for (const char* set : {"portable", "avx2"}) {
    if (!forceInstructionSet(set)) continue;
    for (Eigen::Index columns = 1; columns <= 30; ++columns) {
      const Eigen::MatrixXd W = Eigen::MatrixXd::Random(61, columns);
      StreamingQr qr(columns, 20 + columns % 7);
      qr.add(W.topRows(7));
      qr.add(W.bottomRows(54));
      const Eigen::MatrixXd R = qr.factor();
      EXPECT_LT((R.transpose() * R - W.transpose() * W).norm(), 1e-12 * W.squaredNorm())
          << set << ", " << columns << " columns";
    }
  }
  forceInstructionSet(nullptr);
}

// Rows written in place are folded like rows that are copied.
TEST(StreamingQr, BlocksInPlace) {
  std::srand(4);
  const Eigen::MatrixXd W = Eigen::MatrixXd::Random(100, 11);
  StreamingQr copied(11, 64), in_place(11, 64);
  copied.add(W);
  in_place.block().topRows(64) = W.topRows(64);
  in_place.fold(64);
  in_place.block().topRows(36) = W.bottomRows(36);
  in_place.fold(36);
  EXPECT_EQ(in_place.rows(), 100);
  EXPECT_EQ((in_place.factor() - copied.factor()).norm(), 0.0);
}

// Columns that differ by 1e-10 stay distinguishable: forming W^T W would lose them.
TEST(StreamingQr, KeepsTheDigitsOfSmallSingularValues) {
  std::srand(2);
  Eigen::MatrixXd W = Eigen::MatrixXd::Random(40, 3);
  const Eigen::VectorXd difference = W.col(2);
  W.col(2) = W.col(0) + 1e-10 * difference;
  StreamingQr qr(3);
  qr.add(W.topRows(11));
  qr.add(W.bottomRows(29));
  const Eigen::MatrixXd two = W.leftCols(2);
  const Eigen::VectorXd rest = difference - two * leastSquares(two, difference);
  EXPECT_NEAR(std::abs(qr.factor()(2, 2)), 1e-10 * rest.norm(), 1e-15);
}

// Empty blocks, zero columns and huge numbers are harmless; a wrong width is refused.
TEST(StreamingQr, EdgesAreHandled) {
  StreamingQr qr(3);
  qr.add(Eigen::MatrixXd(0, 3));
  EXPECT_EQ(qr.factor().norm(), 0.0);
  Eigen::MatrixXd huge(2, 3);
  huge << 1e200, 0, 1, 1e200, 0, 2;
  qr.add(huge);
  EXPECT_TRUE(qr.factor().allFinite());
  EXPECT_NEAR(std::abs(qr.factor()(0, 0)), std::sqrt(2.0) * 1e200, 1e186);
  EXPECT_EQ(qr.factor().col(1).norm(), 0.0);
  EXPECT_THROW(qr.add(Eigen::MatrixXd(1, 4)), Error);
  StreamingQr none(0);
  none.add(Eigen::MatrixXd(5, 0));
  EXPECT_EQ(none.rows(), 5);
}

}  // namespace
}  // namespace proprio
