#include "proprio/dynamics/derivatives.h"

#include <Eigen/Cholesky>
#include <algorithm>

#include "proprio/core/error.h"
#include "proprio/dynamics/coordinates.h"
#include "proprio/dynamics/forward_dynamics.h"
#include "proprio/dynamics/mass_matrix.h"
#include "proprio/dynamics/regressor.h"

namespace proprio {
namespace {

/// free(i, j) += ratio_k ratio_l full(k, l) over the full coordinates of free ones i and j.
void contract(const Tree& tree, const double* full, MatrixRef free) {
  const int nf = tree.fullVelocityCount();
  free.setZero();
  for (int k = 0; k < nf; ++k) {
    for (int l = 0; l < nf; ++l) {
      const auto a = static_cast<size_t>(k), b = static_cast<size_t>(l);
      free(tree.v_source[a], tree.v_source[b]) +=
          tree.v_ratio[a] * tree.v_ratio[b] * full[k + l * nf];
    }
  }
}

void requireSquare(const char* function, const char* name, const MatrixRef& matrix, int size) {
  requireSize(function, name, matrix.size(), Eigen::Index{size} * size);
}

/// Derivatives of the forward dynamics by M^-1 [dtau_dq dtau_dv 1] with the tree's sparsity; the
/// kernels write the right-hand side row by row where the solver wants it.
void solveOnTree(const CompiledParameters& parameters, Workspace& workspace,
                 const internal::Sample& s, const double* wrenches, MatrixRef da_dq,
                 MatrixRef da_dv, MatrixRef da_dtau) {
  const kernels::Tree& t = workspace.kernelTree();
  const Eigen::Index n = t.nv, stride = workspace.solveStride();
  double *M = workspace.fullMatrix(), *rows = workspace.solveRows();
  std::fill_n(rows, n * stride, 0.0);
  for (Eigen::Index i = 0; i < n; ++i) rows[i * stride + 2 * n + i] = 1.0;
  const auto& one = kernels::active().one;
  one.inverse_dynamics_derivatives(t, parameters.bodies.data(), workspace.scratch(),
                                   workspace.rowOf(), s.q, s.v, s.a, wrenches, {rows, stride, 1},
                                   {rows + n, stride, 1});
  one.mass_matrix(t, parameters.bodies.data(), parameters.rotorOrNull(), workspace.scratch(), s.q,
                  {M, n, 1});
  kernels::active().tree_solve(t.nv, workspace.coordinateOrder().data(),
                               workspace.coordinateUp().data(), M, rows, workspace.solveColumns(),
                               stride);
  for (Eigen::Index j = 0; j < n; ++j) {
    for (Eigen::Index i = 0; i < n; ++i) da_dq(i, j) = -rows[i * stride + j];
    for (Eigen::Index i = 0; i < n; ++i) da_dv(i, j) = -rows[i * stride + n + j];
    std::copy_n(rows + j * stride + 2 * n, n, da_dtau.col(j).data());  // symmetric
  }
}

}  // namespace

void inverseDynamicsDerivatives(const Tree& tree, const CompiledParameters& parameters,
                                Workspace& workspace, ConstVectorRef q, ConstVectorRef v,
                                ConstVectorRef a, MatrixRef dtau_dq, MatrixRef dtau_dv,
                                const LinkWrenches* external) {
  constexpr const char* kName = "inverseDynamicsDerivatives";
  const int nv = tree.velocityCount(), nf = tree.fullVelocityCount();
  requireSize(kName, "q", q.size(), tree.positionCount());
  requireSize(kName, "v", v.size(), nv);
  requireSize(kName, "a", a.size(), nv);
  requireSquare(kName, "dtau_dq", dtau_dq, nv);
  requireSquare(kName, "dtau_dv", dtau_dv, nv);
  const double* wrenches = internal::bodyWrenches(tree, workspace, kName, external);
  const internal::Sample s = internal::sample(tree, workspace, q.data(), v.data(), a.data());
  const bool mimic = tree.hasMimic();
  double* full = workspace.fullMatrix();
  const kernels::MatrixView<double> dq =
      mimic ? kernels::MatrixView<double>{full, 1, nf}
            : kernels::MatrixView<double>{dtau_dq.data(), 1, dtau_dq.outerStride()};
  const kernels::MatrixView<double> dv =
      mimic ? kernels::MatrixView<double>{full + nf * nf, 1, nf}
            : kernels::MatrixView<double>{dtau_dv.data(), 1, dtau_dv.outerStride()};
  for (const auto& view : {dq, dv}) internal::storeStructuralZeros(workspace, view, 1);
  kernels::active().one.inverse_dynamics_derivatives(
      workspace.kernelTree(), parameters.bodies.data(), workspace.scratch(), workspace.rowOf(), s.q,
      s.v, s.a, wrenches, dq, dv);
  if (!mimic) return;
  contract(tree, dq.data, dtau_dq);
  contract(tree, dv.data, dtau_dv);
}

void forwardDynamicsDerivatives(const Tree& tree, const CompiledParameters& parameters,
                                Workspace& workspace, ConstVectorRef q, ConstVectorRef v,
                                ConstVectorRef tau, VectorRef a, MatrixRef da_dq, MatrixRef da_dv,
                                MatrixRef da_dtau, const LinkWrenches* external) {
  constexpr const char* kName = "forwardDynamicsDerivatives";
  requireSquare(kName, "da_dq", da_dq, tree.velocityCount());
  requireSquare(kName, "da_dv", da_dv, tree.velocityCount());
  requireSquare(kName, "da_dtau", da_dtau, tree.velocityCount());
  forwardDynamics(tree, parameters, workspace, q, v, tau, a, external);
  if (!tree.hasMimic()) {
    solveOnTree(parameters, workspace,
                internal::sample(tree, workspace, q.data(), v.data(), a.data()),
                internal::bodyWrenches(tree, workspace, kName, external), da_dq, da_dv, da_dtau);
    return;
  }
  inverseDynamicsDerivatives(tree, parameters, workspace, q, v, a, da_dq, da_dv, external);
  massMatrix(tree, parameters, workspace, q, workspace.square());
  const Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>> llt(workspace.square());
  da_dtau.setIdentity();
  for (MatrixRef* matrix : {&da_dq, &da_dv, &da_dtau}) llt.solveInPlace(*matrix);
  da_dq = -da_dq;
  da_dv = -da_dv;
}

void forwardDynamicsParameterDerivatives(const Tree& tree, const CompiledParameters& parameters,
                                         Workspace& workspace, ConstVectorRef q, ConstVectorRef v,
                                         ConstVectorRef tau, VectorRef a, MatrixRef da_dpi,
                                         const LinkWrenches* external) {
  forwardDynamics(tree, parameters, workspace, q, v, tau, a, external);
  torqueRegressor(tree, workspace, q, v, a, da_dpi);
  massMatrix(tree, parameters, workspace, q, workspace.square());
  const Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>> llt(workspace.square());
  // one column at a time: a wide right-hand side would be packed on the heap
  for (Eigen::Index c = 0; c < da_dpi.cols(); ++c) {
    workspace.column() = da_dpi.col(c);
    if (workspace.column().isZero(0.0)) continue;
    llt.solveInPlace(workspace.column());
    da_dpi.col(c) = -workspace.column();
  }
}

void torqueRegressorGradient(const Tree& tree, Workspace& workspace, ConstVectorRef q,
                             ConstVectorRef v, ConstVectorRef a, ConstMatrixRef weights,
                             VectorRef gradient_q, VectorRef gradient_v, VectorRef gradient_a) {
  constexpr const char* kName = "torqueRegressorGradient";
  const int nv = tree.velocityCount(), nf = tree.fullVelocityCount();
  const auto columns = static_cast<Eigen::Index>(10 * tree.model().links.size());
  requireSize(kName, "q", q.size(), tree.positionCount());
  requireSize(kName, "v", v.size(), nv);
  requireSize(kName, "a", a.size(), nv);
  requireSize(kName, "rows of weights", weights.rows(), nv);
  requireSize(kName, "columns of weights", weights.cols(), columns);
  requireSize(kName, "gradient_q", gradient_q.size(), nv);
  requireSize(kName, "gradient_v", gradient_v.size(), nv);
  requireSize(kName, "gradient_a", gradient_a.size(), nv);
  const internal::Sample s = internal::sample(tree, workspace, q.data(), v.data(), a.data());
  const auto& kernel = kernels::active().one.regressor_adjoint;
  if (!tree.hasMimic()) {
    // the kernel only reads the weights
    kernel(workspace.kernelTree(), workspace.scratch(), workspace.rowOf(), s.q, s.v, s.a,
           {const_cast<double*>(weights.data()), 1, weights.outerStride()}, {gradient_q.data(), 1},
           {gradient_v.data(), 1}, {gradient_a.data(), 1});
    return;
  }
  Eigen::Map<Eigen::MatrixXd> full(workspace.fullRegressor(), nf, columns);
  for (Eigen::Index i = 0; i < nf; ++i) {
    const auto k = static_cast<size_t>(i);
    full.row(i) = tree.v_ratio[k] * weights.row(tree.v_source[k]);
  }
  double* out = workspace.fullMatrix();
  for (int i = 0; i < 3 * nf; ++i) out[i] = 0.0;
  kernel(workspace.kernelTree(), workspace.scratch(), workspace.rowOf(), s.q, s.v, s.a,
         {full.data(), 1, nf}, {out, 1}, {out + nf, 1}, {out + 2 * nf, 1});
  internal::contractTorque(tree, out, 1, gradient_q.data(), 1);
  internal::contractTorque(tree, out + nf, 1, gradient_v.data(), 1);
  internal::contractTorque(tree, out + 2 * nf, 1, gradient_a.data(), 1);
}

namespace {

/// Fewer samples than lanes, or mimic joints: weights and gradients go through the workspace in
/// full coordinates, idle lanes repeat the last sample.
void gatheredGradient(const Tree& tree, Workspace& workspace, const internal::Block& b,
                      RegressorBatch& weights, MatrixRef gradient_q, MatrixRef gradient_v,
                      MatrixRef gradient_a) {
  const kernels::Table& table = kernels::active();
  const Eigen::Index lanes = table.lanes, nf = tree.fullVelocityCount();
  const auto columns = static_cast<Eigen::Index>(10 * tree.model().links.size());
  for (Eigen::Index row = 0; row < nf; ++row) {
    const auto k = static_cast<size_t>(row);
    const auto from = weights.rows(tree.v_source[k], b.start + b.count);
    double* to = workspace.fullRegressor() + row * columns * lanes;
    for (Eigen::Index column = 0; column < columns; ++column) {
      for (Eigen::Index lane = 0; lane < lanes; ++lane) {
        to[column * lanes + lane] =
            tree.v_ratio[k] * from(b.start + std::min(lane, b.count - 1), column);
      }
    }
  }
  double* const out[3] = {workspace.fullTorque(), workspace.fullMatrix(),
                          workspace.fullMatrix() + nf * lanes};
  table.pack.regressor_adjoint(workspace.kernelTree(), workspace.scratch(), workspace.rowOf(), b.q,
                               b.v, b.a, {workspace.fullRegressor(), columns * lanes, lanes},
                               {out[0], lanes}, {out[1], lanes}, {out[2], lanes});
  MatrixRef* const gradients[3] = {&gradient_q, &gradient_v, &gradient_a};
  for (int k = 0; k < 3; ++k) {
    for (Eigen::Index lane = 0; lane < b.count; ++lane) {
      internal::contractTorque(tree, out[k] + lane, lanes, gradients[k]->data() + b.start + lane,
                               gradients[k]->outerStride());
    }
  }
}

}  // namespace

void torqueRegressorGradientBatch(const Tree& tree, Workspace& workspace, ConstMatrixRef q,
                                  ConstMatrixRef v, ConstMatrixRef a, RegressorBatch& weights,
                                  MatrixRef gradient_q, MatrixRef gradient_v,
                                  MatrixRef gradient_a) {
  constexpr const char* kName = "torqueRegressorGradientBatch";
  const Eigen::Index samples = q.rows(), nv = tree.velocityCount();
  const kernels::Table& table = kernels::active();
  if (weights.capacity() < samples)
    throw Error(std::string(kName) + ": the weights hold fewer samples than q.");
  requireSize(kName, "columns of q", q.cols(), tree.positionCount());
  for (const ConstMatrixRef* m : {&v, &a}) requireSize(kName, "v or a", m->size(), samples * nv);
  for (const MatrixRef* m : {&gradient_q, &gradient_v, &gradient_a}) {
    requireSize(kName, "a gradient", m->size(), samples * nv);
  }
  const internal::BatchInput input = {&q, &v, &a};
  for (Eigen::Index k = 0; k < internal::blockCount(samples, table.lanes); ++k) {
    const internal::Block b = internal::block(tree, workspace, input, samples, table.lanes, k);
    if (!b.in_place) {
      gatheredGradient(tree, workspace, b, weights, gradient_q, gradient_v, gradient_a);
      continue;
    }
    const auto out = [&](MatrixRef& m) {
      return kernels::MutableView<double>{m.data() + b.start, m.outerStride()};
    };
    table.pack.regressor_adjoint(
        workspace.kernelTree(), workspace.scratch(), workspace.rowOf(), b.q, b.v, b.a,
        {weights.data() + b.start, weights.columns() * weights.capacity(), weights.capacity()},
        out(gradient_q), out(gradient_v), out(gradient_a));
  }
}

}  // namespace proprio
