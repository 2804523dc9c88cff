#include "proprio/dynamics/forward_dynamics.h"

#include <Eigen/Cholesky>

#include "proprio/dynamics/coordinates.h"
#include "proprio/dynamics/inverse_dynamics.h"
#include "proprio/dynamics/mass_matrix.h"

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
  if (tree.hasMimic()) {
    throw Error(
        "forwardDynamics: dual numbers do not go through trees with mimic joints; use "
        "forwardDynamicsDerivatives.");
  }
  const internal::DualSample s =
      internal::dualSample(tree, workspace, "forwardDynamics", q, v, tau, external);
  a->resize(tau.size());
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
  const Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>> llt(workspace.square());
  a = workspace.column();
  llt.solveInPlace(a);
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
