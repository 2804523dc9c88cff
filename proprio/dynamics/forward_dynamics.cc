#include "proprio/dynamics/forward_dynamics.h"

#include <algorithm>

#include "proprio/dynamics/coordinates.h"
#include "proprio/dynamics/inverse_dynamics.h"
#include "proprio/dynamics/mass_matrix.h"
#include "proprio/dynamics/mass_solver_internal.h"

namespace proprio {
namespace {

/// Wrenches of one sample of a batch, in the workspace; null stays null.
const LinkWrenches* sampleWrenches(Workspace& workspace, const BatchWrenches* external,
                                   Eigen::Index sample) {
  if (external == nullptr) return nullptr;
  LinkWrenches& out = workspace.linkWrenches();
  out.setZero();
  for (size_t i = 0; i < external->links.size(); ++i) {
    out.col(external->links[i]) +=
        external->values.block<1, 6>(sample, 6 * static_cast<Eigen::Index>(i)).transpose();
  }
  return &out;
}

/// Dual numbers through the mass matrix: a = M^-1 (tau - bias) from the values, then its derivative
/// from M da = dtau - dID(q, v, a) with a held, ID = inverse dynamics.
void dualByMassMatrix(const Tree& tree, const CompiledParametersOf<Dual>& parameters,
                      Workspace& workspace, const internal::DualSample& s,
                      const std::vector<Dual>& tau, std::vector<Dual>* a) {
  const int nf = tree.fullVelocityCount();
  Dual* full = reinterpret_cast<Dual*>(workspace.fullMatrix());
  std::fill_n(full, nf * nf, Dual());
  kernels::kDual.mass_matrix(workspace.kernelTree(), parameters.bodies.data(),
                             parameters.rotorOrNull(), s.scratch, {s.q, 1}, {full, 1, nf});
  Eigen::MatrixXd& M = workspace.square();
  internal::contractMatrix(tree, {&full->value, 2, 2 * nf}, {M.data(), 1, M.outerStride()});
  internal::factorizeMassMatrix(tree, workspace);
  for (Dual& x : *a) x.value = 0.0;
  for (double Dual::*part : {&Dual::value, &Dual::derivative}) {
    for (size_t i = 0; i < tree.v_source.size(); ++i)
      s.a[i] = tree.v_ratio[i] * (*a)[static_cast<size_t>(tree.v_source[i])].value;
    kernels::kDual.inverse_dynamics(workspace.kernelTree(), parameters.bodies.data(),
                                    parameters.rotorOrNull(), s.scratch, {s.q, 1}, {s.v, 1},
                                    {s.a, 1}, s.external, {s.tau, 1}, nullptr);
    for (size_t i = 0; i < tau.size(); ++i)
      workspace.column()[static_cast<Eigen::Index>(i)] = tau[i].*part;
    for (size_t i = 0; i < tree.v_source.size(); ++i)
      workspace.column()[tree.v_source[i]] -= tree.v_ratio[i] * (s.tau[i].*part);
    internal::solveMassMatrix(tree, workspace, workspace.column());
    for (size_t i = 0; i < a->size(); ++i)
      (*a)[i].*part = workspace.column()[static_cast<Eigen::Index>(i)];
  }
}

}  // namespace

void forwardDynamics(const Tree& tree, const CompiledParameters& parameters, Workspace& workspace,
                     ConstVectorRef q, ConstVectorRef v, ConstVectorRef tau, VectorRef a,
                     const LinkWrenches* external) {
  constexpr const char* kName = "forwardDynamics";
  requireSize(kName, "q", q.size(), tree.positionCount());
  requireSize(kName, "v", v.size(), tree.velocityCount());
  requireSize(kName, "tau", tau.size(), tree.velocityCount());
  requireSize(kName, "a", a.size(), tree.velocityCount());
  if (tree.hasMimic()) {
    forwardDynamicsByMassMatrix(tree, parameters, workspace, q, v, tau, a, external);
    return;
  }
  const double* wrenches = internal::bodyWrenches(tree, workspace, kName, external);
  kernels::active().one.forward_dynamics(
      workspace.kernelTree(), parameters.bodies.data(), parameters.rotorOrNull(),
      workspace.scratch(), {q.data(), 1}, {v.data(), 1}, {tau.data(), 1}, wrenches, {a.data(), 1});
}

void forwardDynamics(const Tree& tree, const CompiledParametersOf<Dual>& parameters,
                     Workspace& workspace, const std::vector<Dual>& q, const std::vector<Dual>& v,
                     const std::vector<Dual>& tau, std::vector<Dual>* a,
                     const std::vector<Dual>* external) {
  const internal::DualSample s =
      internal::dualSample(tree, workspace, "forwardDynamics", q, v, tau, external);
  a->resize(tau.size());
  if (tree.hasMimic()) {
    dualByMassMatrix(tree, parameters, workspace, s, tau, a);
    return;
  }
  kernels::kDual.forward_dynamics(workspace.kernelTree(), parameters.bodies.data(),
                                  parameters.rotorOrNull(), s.scratch, {s.q, 1}, {s.v, 1}, {s.a, 1},
                                  s.external, {a->data(), 1});
}

void forwardDynamicsByMassMatrix(const Tree& tree, const CompiledParameters& parameters,
                                 Workspace& workspace, ConstVectorRef q, ConstVectorRef v,
                                 ConstVectorRef tau, VectorRef a, const LinkWrenches* external) {
  biasTorque(tree, parameters, workspace, q, v, workspace.column(), external);
  workspace.column() = tau - workspace.column();
  massMatrix(tree, parameters, workspace, q, workspace.square());
  internal::factorizeMassMatrix(tree, workspace);
  a = workspace.column();
  internal::solveMassMatrix(tree, workspace, a);
}

void forwardDynamicsBatch(const Tree& tree, const CompiledParameters& parameters,
                          Workspace& workspace, ConstMatrixRef q, ConstMatrixRef v,
                          ConstMatrixRef tau, MatrixRef a, const BatchWrenches* external) {
  constexpr const char* kName = "forwardDynamicsBatch";
  const Eigen::Index samples = q.rows();
  requireSize(kName, "columns of q", q.cols(), tree.positionCount());
  requireSize(kName, "columns of v", v.cols(), tree.velocityCount());
  requireSize(kName, "columns of tau", tau.cols(), tree.velocityCount());
  requireSize(kName, "columns of a", a.cols(), tree.velocityCount());
  requireSize(kName, "rows of v", v.rows(), samples);
  requireSize(kName, "rows of tau", tau.rows(), samples);
  requireSize(kName, "rows of a", a.rows(), samples);
  internal::requireWrenches(tree, kName, external, samples);
  if (tree.hasMimic()) {
    // the second lane of the workspace holds the sample; the first is for its full coordinates
    using Row = Eigen::Map<Eigen::VectorXd>;
    Row qs(workspace.fullPosition() + tree.fullPositionCount(), tree.positionCount());
    Row vs(workspace.fullVelocity() + tree.fullVelocityCount(), tree.velocityCount());
    Row taus(workspace.fullAcceleration() + tree.fullVelocityCount(), tree.velocityCount());
    Row out(workspace.fullTorque() + tree.fullVelocityCount(), tree.velocityCount());
    for (Eigen::Index s = 0; s < samples; ++s) {
      qs = q.row(s).transpose();
      vs = v.row(s).transpose();
      taus = tau.row(s).transpose();
      forwardDynamicsByMassMatrix(tree, parameters, workspace, qs, vs, taus, out,
                                  sampleWrenches(workspace, external, s));
      a.row(s) = out.transpose();
    }
    return;
  }
  const kernels::Table& table = kernels::active();
  const internal::BatchInput input = {&q, &v, &tau};
  for (Eigen::Index k = 0; k < internal::blockCount(samples, table.lanes); ++k) {
    const internal::Block b = internal::block(tree, workspace, input, samples, table.lanes, k);
    const kernels::MutableView<double> out =
        b.in_place ? kernels::MutableView<double>{a.data() + b.start, a.outerStride()}
                   : kernels::MutableView<double>{workspace.fullTorque(), table.lanes};
    table.pack.forward_dynamics(workspace.kernelTree(), parameters.bodies.data(),
                                parameters.rotorOrNull(), workspace.scratch(), b.q, b.v, b.a,
                                internal::blockWrenches(tree, workspace, external, b, table.lanes),
                                out);
    if (b.in_place) continue;
    for (Eigen::Index lane = 0; lane < b.count; ++lane) {
      internal::contractTorque(tree, out.data + lane, out.stride, a.data() + b.start + lane,
                               a.outerStride());
    }
  }
}

}  // namespace proprio
