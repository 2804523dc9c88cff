#include "proprio/dynamics/mass_matrix.h"

#include "proprio/dynamics/coordinates.h"

namespace proprio {
namespace {

/// free(i, j) = sum over full coordinates of ratio_k ratio_l full(k, l).
void contractMatrix(const Tree& tree, const double* full, ptrdiff_t full_stride, double* free,
                    ptrdiff_t free_stride) {
  const int nv = tree.velocityCount(), nf = tree.fullVelocityCount();
  for (int i = 0; i < nv * nv; ++i) free[i * free_stride] = 0.0;
  for (int k = 0; k < nf; ++k) {
    for (int l = 0; l < nf; ++l) {
      const auto a = static_cast<size_t>(k), b = static_cast<size_t>(l);
      free[(tree.v_source[a] + tree.v_source[b] * nv) * free_stride] +=
          tree.v_ratio[a] * tree.v_ratio[b] * full[(k + l * nf) * full_stride];
    }
  }
}

}  // namespace

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
  if (tree.hasMimic()) {
    contractMatrix(tree, view.data, 1, workspace.square().data(), 1);
    M = workspace.square();
  }
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
      contractMatrix(tree, view.data + lane, table.lanes, out.data() + b.start + lane,
                     out.outerStride());
    }
  }
}

}  // namespace proprio
