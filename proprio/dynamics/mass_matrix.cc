#include "proprio/dynamics/mass_matrix.h"

#include "proprio/dynamics/coordinates.h"

namespace proprio {

void massMatrix(const Tree& tree, const CompiledParameters& parameters, Workspace& workspace,
                ConstVectorRef q, MatrixRef M) {
  requireSize("massMatrix", "q", q.size(), tree.positionCount());
  requireSize("massMatrix", "rows of M", M.rows(), tree.velocityCount());
  requireSize("massMatrix", "columns of M", M.cols(), tree.velocityCount());
  const internal::Sample s = internal::sample(tree, workspace, q.data(), nullptr, nullptr);
  const int nf = tree.fullVelocityCount();
  const kernels::MatrixView<double> view =
      tree.hasMimic() ? kernels::MatrixView<double>{workspace.fullMatrix(), 1, nf}
                      : kernels::MatrixView<double>{M.data(), 1, M.outerStride()};
  internal::storeStructuralZeros(workspace, view, 1);
  kernels::active().one.mass_matrix(workspace.kernelTree(), parameters.bodies.data(),
                                    parameters.rotorOrNull(), workspace.scratch(), s.q, view);
  if (tree.hasMimic()) internal::contractMatrix(tree, view, {M.data(), 1, M.outerStride()});
}

void massMatrixBatch(const Tree& tree, const CompiledParameters& parameters, Workspace& workspace,
                     ConstMatrixRef q, MatrixRef out) {
  const Eigen::Index samples = q.rows();
  const int nv = tree.velocityCount(), nf = tree.fullVelocityCount();
  requireSize("massMatrixBatch", "columns of q", q.cols(), tree.positionCount());
  requireSize("massMatrixBatch", "columns of out", out.cols(), Eigen::Index{nv} * nv);
  requireSize("massMatrixBatch", "rows of out", out.rows(), samples);
  const kernels::Table& table = kernels::active();
  const internal::BatchInput input = {&q, nullptr, nullptr};
  if (!tree.hasMimic()) {
    internal::storeStructuralZeros(
        workspace, {out.data(), out.outerStride(), nv * out.outerStride()}, samples);
  }
  for (Eigen::Index k = 0; k < internal::blockCount(samples, table.lanes); ++k) {
    const internal::Block b = internal::block(tree, workspace, input, samples, table.lanes, k);
    kernels::MatrixView<double> view = {out.data() + b.start, out.outerStride(),
                                        nv * out.outerStride()};
    if (!b.in_place) {
      view = {workspace.fullMatrix(), table.lanes, Eigen::Index{nf} * table.lanes};
    }
    if (!b.in_place) internal::storeStructuralZeros(workspace, view, table.lanes);
    table.pack.mass_matrix(workspace.kernelTree(), parameters.bodies.data(),
                           parameters.rotorOrNull(), workspace.scratch(), b.q, view);
    for (Eigen::Index lane = 0; !b.in_place && lane < b.count; ++lane) {
      internal::contractMatrix(
          tree, {view.data + lane, view.row_stride, view.column_stride},
          {out.data() + b.start + lane, out.outerStride(), nv * out.outerStride()});
    }
  }
}

}  // namespace proprio
