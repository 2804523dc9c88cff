#include "proprio/dynamics/inverse_dynamics.h"

#include "proprio/dynamics/coordinates.h"

namespace proprio {
namespace {

constexpr double kNoAcceleration = 0.0;

/// Runs the kernel on prepared coordinates and contracts the torques of mimic joints.
void run(const Tree& tree, const kernels::Tree& kernel_tree, const CompiledParameters& parameters,
         Workspace& workspace, const internal::Sample& s, const double* external, VectorRef tau,
         double* base = nullptr) {
  double* out = tree.hasMimic() ? workspace.fullTorque() : tau.data();
  kernels::active().one.inverse_dynamics(kernel_tree, parameters.bodies.data(),
                                         parameters.rotorOrNull(), workspace.scratch(), s.q, s.v,
                                         s.a, external, {out, 1}, base);
  if (tree.hasMimic()) internal::contractTorque(tree, out, 1, tau.data(), 1);
}

}  // namespace

void inverseDynamics(const Tree& tree, const CompiledParameters& parameters, Workspace& workspace,
                     ConstVectorRef q, ConstVectorRef v, ConstVectorRef a, VectorRef tau,
                     const LinkWrenches* external) {
  constexpr const char* kName = "inverseDynamics";
  requireSize(kName, "q", q.size(), tree.positionCount());
  requireSize(kName, "v", v.size(), tree.velocityCount());
  requireSize(kName, "a", a.size(), tree.velocityCount());
  requireSize(kName, "tau", tau.size(), tree.velocityCount());
  const double* wrenches = internal::bodyWrenches(tree, workspace, kName, external);
  run(tree, workspace.kernelTree(), parameters, workspace,
      internal::sample(tree, workspace, q.data(), v.data(), a.data()), wrenches, tau);
}

void inverseDynamics(const Tree& tree, const CompiledParametersOf<Dual>& parameters,
                     Workspace& workspace, const std::vector<Dual>& q, const std::vector<Dual>& v,
                     const std::vector<Dual>& a, std::vector<Dual>* tau,
                     const std::vector<Dual>* external) {
  const internal::DualSample s =
      internal::dualSample(tree, workspace, "inverseDynamics", q, v, a, external);
  kernels::kDual.inverse_dynamics(workspace.kernelTree(), parameters.bodies.data(),
                                  parameters.rotorOrNull(), s.scratch, {s.q, 1}, {s.v, 1}, {s.a, 1},
                                  s.external, {s.tau, 1}, nullptr);
  tau->assign(static_cast<size_t>(tree.velocityCount()), Dual());
  for (size_t i = 0; i < tree.v_source.size(); ++i)
    (*tau)[static_cast<size_t>(tree.v_source[i])] += s.tau[i] * tree.v_ratio[i];
}

void inverseDynamicsFromImu(const Tree& tree, const CompiledParameters& parameters,
                            Workspace& workspace, const ImuMotion& base, ConstVectorRef s,
                            ConstVectorRef sd, ConstVectorRef sdd, VectorRef tau,
                            const LinkWrenches* external) {
  constexpr const char* kName = "inverseDynamicsFromImu";
  if (!tree.floating())
    throw Error("inverseDynamicsFromImu: the tree must be floating, with the IMU's link as base.");
  const int shape_q = tree.model().position_count, shape_v = tree.model().velocity_count;
  requireSize(kName, "s", s.size(), shape_q);
  requireSize(kName, "sd", sd.size(), shape_v);
  requireSize(kName, "sdd", sdd.size(), shape_v);
  requireSize(kName, "tau", tau.size(), tree.velocityCount());
  const double* wrenches = internal::bodyWrenches(tree, workspace, kName, external);
  // a weightless robot whose base has identity pose, no linear velocity and the proper acceleration
  for (size_t i = 0; i < tree.q_source.size(); ++i) {
    const int source = tree.q_source[i];
    workspace.fullPosition()[i] =
        source < 7 ? (source == 6 ? 1.0 : 0.0) : tree.q_ratio[i] * s[source - 7] + tree.q_offset[i];
  }
  for (size_t i = 0; i < tree.v_source.size(); ++i) {
    const int source = tree.v_source[i];
    double velocity = 0.0, acceleration = 0.0;
    if (source < 3) {
      acceleration = base.proper_acceleration[source];
    } else if (source < 6) {
      velocity = base.angular_velocity[source - 3];
      acceleration = base.angular_acceleration[source - 3];
    } else {
      velocity = sd[source - 6];
      acceleration = sdd[source - 6];
    }
    workspace.fullVelocity()[i] = tree.v_ratio[i] * velocity;
    workspace.fullAcceleration()[i] = tree.v_ratio[i] * acceleration;
  }
  const internal::Sample sample = {{workspace.fullPosition(), 1},
                                   {workspace.fullVelocity(), 1},
                                   {workspace.fullAcceleration(), 1}};
  run(tree, workspace.weightlessTree(), parameters, workspace, sample, wrenches, tau);
}

void gravityTorque(const Tree& tree, const CompiledParameters& parameters, Workspace& workspace,
                   ConstVectorRef q, VectorRef tau) {
  requireSize("gravityTorque", "q", q.size(), tree.positionCount());
  requireSize("gravityTorque", "tau", tau.size(), tree.velocityCount());
  internal::Sample s = internal::sample(tree, workspace, q.data(), nullptr, nullptr);
  s.v = s.a = {&kNoAcceleration, 0};
  run(tree, workspace.kernelTree(), parameters, workspace, s, nullptr, tau);
}

void biasTorque(const Tree& tree, const CompiledParameters& parameters, Workspace& workspace,
                ConstVectorRef q, ConstVectorRef v, VectorRef tau, const LinkWrenches* external) {
  requireSize("biasTorque", "q", q.size(), tree.positionCount());
  requireSize("biasTorque", "v", v.size(), tree.velocityCount());
  requireSize("biasTorque", "tau", tau.size(), tree.velocityCount());
  const double* wrenches = internal::bodyWrenches(tree, workspace, "biasTorque", external);
  internal::Sample s = internal::sample(tree, workspace, q.data(), v.data(), nullptr);
  s.a = {&kNoAcceleration, 0};
  run(tree, workspace.kernelTree(), parameters, workspace, s, wrenches, tau);
}

Vector6d baseReaction(const Tree& tree, const CompiledParameters& parameters, Workspace& workspace,
                      ConstVectorRef q, ConstVectorRef v, ConstVectorRef a,
                      const LinkWrenches* external) {
  if (tree.floating())
    throw Error(
        "baseReaction: the base of this tree floats; its wrench is in tau of inverseDynamics.");
  requireSize("baseReaction", "q", q.size(), tree.positionCount());
  requireSize("baseReaction", "v", v.size(), tree.velocityCount());
  requireSize("baseReaction", "a", a.size(), tree.velocityCount());
  const double* wrenches = internal::bodyWrenches(tree, workspace, "baseReaction", external);
  Vector6d wrench;
  run(tree, workspace.kernelTree(), parameters, workspace,
      internal::sample(tree, workspace, q.data(), v.data(), a.data()), wrenches, workspace.column(),
      wrench.data());
  return wrench;
}

void inverseDynamicsBatch(const Tree& tree, const CompiledParameters& parameters,
                          Workspace& workspace, ConstMatrixRef q, ConstMatrixRef v,
                          ConstMatrixRef a, MatrixRef tau, const BatchWrenches* external) {
  constexpr const char* kName = "inverseDynamicsBatch";
  const Eigen::Index samples = q.rows();
  requireSize(kName, "columns of q", q.cols(), tree.positionCount());
  requireSize(kName, "columns of v", v.cols(), tree.velocityCount());
  requireSize(kName, "columns of a", a.cols(), tree.velocityCount());
  requireSize(kName, "columns of tau", tau.cols(), tree.velocityCount());
  requireSize(kName, "rows of v", v.rows(), samples);
  requireSize(kName, "rows of a", a.rows(), samples);
  requireSize(kName, "rows of tau", tau.rows(), samples);
  internal::requireWrenches(tree, kName, external, samples);
  const kernels::Table& table = kernels::active();
  const internal::BatchInput input = {&q, &v, &a};
  for (Eigen::Index k = 0; k < internal::blockCount(samples, table.lanes); ++k) {
    const internal::Block b = internal::block(tree, workspace, input, samples, table.lanes, k);
    const kernels::MutableView<double> out =
        b.in_place ? kernels::MutableView<double>{tau.data() + b.start, tau.outerStride()}
                   : kernels::MutableView<double>{workspace.fullTorque(), table.lanes};
    table.pack.inverse_dynamics(workspace.kernelTree(), parameters.bodies.data(),
                                parameters.rotorOrNull(), workspace.scratch(), b.q, b.v, b.a,
                                internal::blockWrenches(tree, workspace, external, b, table.lanes),
                                out, nullptr);
    if (b.in_place) continue;
    for (Eigen::Index lane = 0; lane < b.count; ++lane) {
      internal::contractTorque(tree, out.data + lane, out.stride, tau.data() + b.start + lane,
                               tau.outerStride());
    }
  }
}

}  // namespace proprio
