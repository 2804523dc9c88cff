#include "proprio/dynamics/regressor.h"

#include <algorithm>

#include "proprio/core/error.h"
#include "proprio/dynamics/coordinates.h"

namespace proprio {

void torqueRegressor(const Tree& tree, Workspace& workspace, ConstVectorRef q, ConstVectorRef v,
                     ConstVectorRef a, MatrixRef Y) {
  constexpr const char* kName = "torqueRegressor";
  const auto columns = static_cast<Eigen::Index>(10 * tree.model().links.size());
  requireSize(kName, "q", q.size(), tree.positionCount());
  requireSize(kName, "v", v.size(), tree.velocityCount());
  requireSize(kName, "a", a.size(), tree.velocityCount());
  requireSize(kName, "rows of Y", Y.rows(), tree.velocityCount());
  requireSize(kName, "columns of Y", Y.cols(), columns);
  const internal::Sample s = internal::sample(tree, workspace, q.data(), v.data(), a.data());
  if (Y.outerStride() == Y.rows()) {
    std::fill_n(Y.data(), Y.size(), 0.0);
  } else {
    Y.setZero();
  }
  const auto& kernel = kernels::active().one.regressor;
  if (!tree.hasMimic()) {
    kernel(workspace.kernelTree(), workspace.scratch(), workspace.rowOf(), s.q, s.v, s.a,
           {Y.data(), 1, Y.outerStride()});
    return;
  }
  double* full = workspace.fullRegressor();
  const Eigen::Index nf = tree.fullVelocityCount();
  Eigen::Map<Eigen::MatrixXd> rows(full, nf, columns);
  rows.setZero();
  kernel(workspace.kernelTree(), workspace.scratch(), workspace.rowOf(), s.q, s.v, s.a,
         {full, 1, nf});
  for (Eigen::Index i = 0; i < nf; ++i) {
    const auto k = static_cast<size_t>(i);
    Y.row(tree.v_source[k]) += tree.v_ratio[k] * rows.row(i);
  }
}

RegressorBatch::RegressorBatch(const Tree& tree, Eigen::Index max_samples, Eigen::Index columns)
    : max_samples_(max_samples),
      columns_(columns),
      data_(static_cast<size_t>(max_samples * columns * tree.velocityCount())) {}

Eigen::Index RegressorBatch::recommendedSamples(const Tree& tree) {
  // entries that are not structurally zero, in a cache of half a megabyte
  constexpr Eigen::Index kBytes = 512 * 1024, kMost = 256, kLeast = 16;
  Eigen::Index blocks = 0;
  for (const TreeBody& body : tree.bodies()) {
    constexpr Eigen::Index kCoordinates[4] = {0, 1, 1, 6};
    if (body.link < 0) continue;
    for (const TreeBody* b = &body;; b = &tree.bodies()[static_cast<size_t>(b->parent)]) {
      blocks += kCoordinates[static_cast<int>(b->joint)];
      if (b->parent < 0) break;
    }
  }
  const Eigen::Index samples = kBytes / (80 * std::max<Eigen::Index>(1, blocks));
  return std::clamp(samples / kLeast * kLeast, kLeast, kMost);
}

void torqueRegressorBatch(const Tree& tree, Workspace& workspace, ConstMatrixRef q,
                          ConstMatrixRef v, ConstMatrixRef a, RegressorBatch& batch) {
  constexpr const char* kName = "torqueRegressorBatch";
  const Eigen::Index samples = q.rows();
  const auto columns = static_cast<Eigen::Index>(10 * tree.model().links.size());
  requireSize(kName, "columns of q", q.cols(), tree.positionCount());
  requireSize(kName, "columns of v", v.cols(), tree.velocityCount());
  requireSize(kName, "columns of a", a.cols(), tree.velocityCount());
  requireSize(kName, "rows of v", v.rows(), samples);
  requireSize(kName, "rows of a", a.rows(), samples);
  if (batch.columns() < columns || batch.capacity() < samples) {
    throw Error("torqueRegressorBatch: the batch is too small for these samples or this tree.");
  }
  const kernels::Table& table = kernels::active();
  const internal::BatchInput input = {&q, &v, &a};
  const Eigen::Index column_stride = batch.capacity(),
                     row_stride = batch.columns() * batch.capacity();
  const Eigen::Index nf = tree.fullVelocityCount();
  if (tree.hasMimic() || samples < table.lanes) {
    std::fill_n(workspace.fullRegressor(), nf * columns * table.lanes, 0.0);
  }
  for (Eigen::Index k = 0; k < internal::blockCount(samples, table.lanes); ++k) {
    const internal::Block b = internal::block(tree, workspace, input, samples, table.lanes, k);
    kernels::MatrixView<double> view = {batch.data() + b.start, row_stride, column_stride};
    if (!b.in_place) view = {workspace.fullRegressor(), columns * table.lanes, table.lanes};
    table.pack.regressor(workspace.kernelTree(), workspace.scratch(), workspace.rowOf(), b.q, b.v,
                         b.a, view);
    if (b.in_place) continue;
    for (Eigen::Index j = 0; j < tree.velocityCount(); ++j)
      batch.rows(j, samples).block(b.start, 0, b.count, columns).setZero();
    for (Eigen::Index i = 0; i < nf; ++i) {
      const auto source = static_cast<size_t>(i);
      auto rows = batch.rows(tree.v_source[source], samples);
      for (Eigen::Index c = 0; c < columns; ++c) {
        const double* from = view.data + i * view.row_stride + c * view.column_stride;
        for (Eigen::Index lane = 0; lane < b.count; ++lane)
          rows(b.start + lane, c) += tree.v_ratio[source] * from[lane];
      }
    }
  }
}

}  // namespace proprio
