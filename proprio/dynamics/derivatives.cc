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

/// B1 <- M^-1 B1, B2 <- M^-1 B2, B3 <- M^-1 for the mass matrix in workspace.square().
void treeSolve(Workspace& workspace, MatrixRef* B1, MatrixRef* B2, MatrixRef* B3) {
  const std::vector<int>& order = workspace.coordinateOrder();
  const auto n = static_cast<Eigen::Index>(order.size());
  const Eigen::Index columns = workspace.solveColumns();
  double* H = workspace.fullMatrix();
  double* rows = workspace.solveRows();
  for (Eigen::Index i = 0; i < n; ++i) {
    const Eigen::Index from = order[static_cast<size_t>(i)];
    double* row = rows + i * columns;
    for (Eigen::Index j = 0; j < n; ++j) {
      H[i * n + j] = workspace.square()(from, order[static_cast<size_t>(j)]);
      row[j] = (*B1)(from, j);
      row[n + j] = (*B2)(from, j);
      row[2 * n + j] = 0.0;
    }
    row[2 * n + from] = 1.0;
  }
  kernels::active().tree_solve(static_cast<int>(n), workspace.coordinateUp().data(), H, rows,
                               columns);
  for (Eigen::Index i = 0; i < n; ++i) {
    const Eigen::Index to = order[static_cast<size_t>(i)];
    const double* row = rows + i * columns;
    for (Eigen::Index j = 0; j < n; ++j) {
      (*B1)(to, j) = row[j];
      (*B2)(to, j) = row[n + j];
      (*B3)(to, j) = row[2 * n + j];
    }
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
  for (const auto& [name, matrix] :
       {std::pair{"dtau_dq", &dtau_dq}, std::pair{"dtau_dv", &dtau_dv}}) {
    requireSize(kName, name, matrix->size(), Eigen::Index{nv} * nv);
  }
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
  requireSize("forwardDynamicsDerivatives", "da_dtau", da_dtau.size(), da_dq.size());
  forwardDynamics(tree, parameters, workspace, q, v, tau, a, external);
  inverseDynamicsDerivatives(tree, parameters, workspace, q, v, a, da_dq, da_dv, external);
  massMatrix(tree, parameters, workspace, q, workspace.square());
  if (tree.hasMimic()) {
    const Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>> llt(workspace.square());
    da_dtau.setIdentity();
    for (MatrixRef* matrix : {&da_dq, &da_dv, &da_dtau}) llt.solveInPlace(*matrix);
  } else {
    treeSolve(workspace, &da_dq, &da_dv, &da_dtau);
  }
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
