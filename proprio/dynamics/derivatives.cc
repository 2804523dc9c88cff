#include "proprio/dynamics/derivatives.h"

#include <algorithm>

#include "proprio/core/error.h"
#include "proprio/dynamics/coordinates.h"
#include "proprio/dynamics/forward_dynamics.h"
#include "proprio/dynamics/mass_matrix.h"
#include "proprio/dynamics/mass_solver_internal.h"
#include "proprio/dynamics/regressor.h"

namespace proprio {
namespace {

using Out = kernels::MatrixView<double>;

void requireShape(const char* function, const char* name, const ConstMatrixRef& matrix,
                  Eigen::Index rows, Eigen::Index columns) {
  if (matrix.rows() != rows)
    sizeError(function, (std::string("a column of ") + name).c_str(), matrix.rows(), rows);
  if (matrix.cols() != columns)
    sizeError(function, (std::string("a row of ") + name).c_str(), matrix.cols(), columns);
}

/// Derivatives of inverse dynamics into dq and dv, which hold structural zeros already.
void derivativesInto(const Tree& tree, const CompiledParameters& parameters, Workspace& workspace,
                     ConstVectorRef q, ConstVectorRef v, ConstVectorRef a, const double* wrenches,
                     const Out& dq, const Out& dv) {
  const internal::Sample s = internal::sample(tree, workspace, q.data(), v.data(), a.data());
  const int nf = tree.fullVelocityCount();
  double* full = workspace.fullMatrix();
  const bool mimic = tree.hasMimic();
  const Out to_dq = mimic ? Out{full, 1, nf} : dq;
  const Out to_dv = mimic ? Out{full + nf * nf, 1, nf} : dv;
  for (const Out& out : {to_dq, to_dv}) {
    if (mimic) internal::storeStructuralZeros(workspace, out, 1);
  }
  kernels::active().one.inverse_dynamics_derivatives(
      workspace.kernelTree(), parameters.bodies.data(), workspace.scratch(), workspace.rowOf(), s.q,
      s.v, s.a, wrenches, to_dq, to_dv);
  if (!mimic) return;
  internal::contractMatrix(tree, to_dq, dq);
  internal::contractMatrix(tree, to_dv, dv);
}

}  // namespace

void inverseDynamicsDerivatives(const Tree& tree, const CompiledParameters& parameters,
                                Workspace& workspace, ConstVectorRef q, ConstVectorRef v,
                                ConstVectorRef a, MatrixRef dtau_dq, MatrixRef dtau_dv,
                                const LinkWrenches* external) {
  constexpr const char* kName = "inverseDynamicsDerivatives";
  const int nv = tree.velocityCount();
  requireSize(kName, "q", q.size(), tree.positionCount());
  requireSize(kName, "v", v.size(), nv);
  requireSize(kName, "a", a.size(), nv);
  requireShape(kName, "dtau_dq", dtau_dq, nv, nv);
  requireShape(kName, "dtau_dv", dtau_dv, nv, nv);
  const Out dq = {dtau_dq.data(), 1, dtau_dq.outerStride()};
  const Out dv = {dtau_dv.data(), 1, dtau_dv.outerStride()};
  for (const Out& out : {dq, dv}) {
    if (!tree.hasMimic()) internal::storeStructuralZeros(workspace, out, 1);
  }
  derivativesInto(tree, parameters, workspace, q, v, a,
                  internal::bodyWrenches(tree, workspace, kName, external), dq, dv);
}

// M^-1 [dtau_dq dtau_dv 1]: the kernels write the right-hand side where the solver wants it, row by
// row.
void forwardDynamicsDerivatives(const Tree& tree, const CompiledParameters& parameters,
                                Workspace& workspace, ConstVectorRef q, ConstVectorRef v,
                                ConstVectorRef tau, VectorRef a, MatrixRef da_dq, MatrixRef da_dv,
                                MatrixRef da_dtau, const LinkWrenches* external) {
  constexpr const char* kName = "forwardDynamicsDerivatives";
  const Eigen::Index n = tree.velocityCount(), stride = workspace.solveStride();
  requireShape(kName, "da_dq", da_dq, n, n);
  requireShape(kName, "da_dv", da_dv, n, n);
  requireShape(kName, "da_dtau", da_dtau, n, n);
  forwardDynamics(tree, parameters, workspace, q, v, tau, a, external);
  massMatrix(tree, parameters, workspace, q, workspace.square());
  internal::factorizeMassMatrix(tree, workspace);
  double* rows = workspace.solveRows();
  std::fill_n(rows, n * stride, 0.0);
  derivativesInto(tree, parameters, workspace, q, v, a,
                  internal::bodyWrenches(tree, workspace, kName, external), {rows, stride, 1},
                  {rows + n, stride, 1});
  for (Eigen::Index i = 0; i < n; ++i) rows[i * stride + 2 * n + i] = 1.0;
  internal::solveMassMatrix(tree, workspace, 3 * n);
  for (Eigen::Index j = 0; j < n; ++j) {
    for (Eigen::Index i = 0; i < n; ++i) da_dq(i, j) = -rows[i * stride + j];
    for (Eigen::Index i = 0; i < n; ++i) da_dv(i, j) = -rows[i * stride + n + j];
    std::copy_n(rows + j * stride + 2 * n, n, da_dtau.col(j).data());  // symmetric
  }
}

void forwardDynamicsParameterDerivatives(const Tree& tree, const CompiledParameters& parameters,
                                         Workspace& workspace, ConstVectorRef q, ConstVectorRef v,
                                         ConstVectorRef tau, VectorRef a, MatrixRef da_dpi,
                                         const LinkWrenches* external) {
  forwardDynamics(tree, parameters, workspace, q, v, tau, a, external);
  torqueRegressor(tree, workspace, q, v, a, da_dpi);
  massMatrix(tree, parameters, workspace, q, workspace.square());
  internal::factorizeMassMatrix(tree, workspace);
  const Eigen::Index n = tree.velocityCount(), stride = workspace.solveStride();
  double* rows = workspace.solveRows();
  for (Eigen::Index first = 0; first < da_dpi.cols(); first += workspace.solveColumns()) {
    const Eigen::Index count = std::min(workspace.solveColumns(), da_dpi.cols() - first);
    for (Eigen::Index i = 0; i < n; ++i)
      for (Eigen::Index c = 0; c < count; ++c) rows[i * stride + c] = da_dpi(i, first + c);
    internal::solveMassMatrix(tree, workspace, count);
    for (Eigen::Index c = 0; c < count; ++c)
      for (Eigen::Index i = 0; i < n; ++i) da_dpi(i, first + c) = -rows[i * stride + c];
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
  const auto inertial = static_cast<Eigen::Index>(10 * tree.model().links.size());
  if (weights.columns() < inertial)
    sizeError(kName, "a row of the weights", weights.columns(), inertial);
  for (const ConstMatrixRef* m : {&v, &a}) requireShape(kName, "v or a", *m, samples, nv);
  for (const MatrixRef* m : {&gradient_q, &gradient_v, &gradient_a}) {
    requireShape(kName, "a gradient", *m, samples, nv);
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
