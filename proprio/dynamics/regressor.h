#pragma once

/// Torque regressor of the rigid bodies: tau = Y(q, v, a) pi with pi the stacked ten inertial
/// parameters of every link (layout order, see model/parameters.h), in link frames. Includes the
/// base rows of a floating base (T-72). Drive, friction and coupling columns:
/// augmented_regressor.h. Sources: Traversaro 2017 ch. 7 (T-62, T-72, T-74), Leboutet 2022 App. A.3
/// (L-03, L-04).
///
/// Real-time. The ancestors' joint axes are carried down the tree and dotted with the body
/// regressor.

#include "proprio/dynamics/workspace.h"

namespace proprio {

/// @param Y  velocityCount() x 10 * links; filled whole.
void torqueRegressor(const Tree& tree, Workspace& workspace, ConstVectorRef q, ConstVectorRef v,
                     ConstVectorRef a, MatrixRef Y);

/// Regressor rows of many samples: for every velocity coordinate j a column-major block of samples
/// x columns. Entries that the structure makes zero (links beyond the coordinate's subtree) are
/// zeroed once here and never written again, so a block is reused for the next batch at no cost.
class RegressorBatch {
 public:
  RegressorBatch(const Tree& tree, Eigen::Index max_samples, Eigen::Index columns);
  /// A number of samples whose rows stay in the cache.
  static Eigen::Index recommendedSamples(const Tree& tree);
  Eigen::Index capacity() const { return max_samples_; }
  Eigen::Index columns() const { return columns_; }
  /// Rows of coordinate j for the first `samples` samples.
  Eigen::Map<Eigen::MatrixXd, 0, Eigen::OuterStride<>> rows(Eigen::Index j, Eigen::Index samples) {
    return {data_.data() + j * columns_ * max_samples_, samples, columns_,
            Eigen::OuterStride<>(max_samples_)};
  }
  double* data() { return data_.data(); }

 private:
  Eigen::Index max_samples_, columns_;
  AlignedBuffer data_;
};

/// @param batch  at least 10 * links columns and q.rows() samples of capacity; only the inertial
/// columns are written.
void torqueRegressorBatch(const Tree& tree, Workspace& workspace, ConstMatrixRef q,
                          ConstMatrixRef v, ConstMatrixRef a, RegressorBatch& batch);

}  // namespace proprio
