// Analytic derivatives against central differences and dual numbers over every kind of model.

#include "proprio/dynamics/derivatives.h"

#include <gtest/gtest.h>

#include "proprio/dynamics/forward_dynamics.h"
#include "proprio/dynamics/inverse_dynamics.h"
#include "proprio/dynamics/testing/model_zoo.h"
#include "proprio/dynamics/testing/perturb.h"

namespace proprio {
namespace {

// Central differences with step h err by h^2 times third derivatives and by rounding / h: 1e-6
// relative.
constexpr double kStep = 1e-5, kTolerance = 1e-6;

struct Robot {
  explicit Robot(std::shared_ptr<const Model> model)
      : tree(model),
        parameters(declaredParameters(model)),
        compiled(compileParameters(tree, parameters)),
        workspace(tree) {}
  Tree tree;
  Parameters parameters;
  CompiledParameters compiled;
  Workspace workspace;
};

// d tau / d q, d tau / d v with external wrenches equal central differences.
TEST(Derivatives, InverseDynamics) {
  for (const ZooEntry& entry : modelZoo()) {
    SCOPED_TRACE(entry.name);
    Robot r(entry.model);
    const RandomState x = randomState(r.tree, 3, 1.0);
    const int nv = r.tree.velocityCount();
    const LinkWrenches wrenches =
        LinkWrenches::Random(6, static_cast<Eigen::Index>(entry.model->links.size()));
    Eigen::MatrixXd dq = Eigen::MatrixXd::Constant(nv, nv, NAN), dv = dq, dq_fd(nv, nv),
                    dv_fd(nv, nv);
    inverseDynamicsDerivatives(r.tree, r.compiled, r.workspace, x.q, x.v, x.a, dq, dv, &wrenches);
    Eigen::VectorXd up(nv), down(nv);
    for (int j = 0; j < nv; ++j) {
      const Eigen::VectorXd e = kStep * Eigen::VectorXd::Unit(nv, j);
      inverseDynamics(r.tree, r.compiled, r.workspace, moved(r.tree, x.q, e), x.v, x.a, up,
                      &wrenches);
      inverseDynamics(r.tree, r.compiled, r.workspace, moved(r.tree, x.q, -e), x.v, x.a, down,
                      &wrenches);
      dq_fd.col(j) = (up - down) / (2 * kStep);
      inverseDynamics(r.tree, r.compiled, r.workspace, x.q, x.v + e, x.a, up, &wrenches);
      inverseDynamics(r.tree, r.compiled, r.workspace, x.q, x.v - e, x.a, down, &wrenches);
      dv_fd.col(j) = (up - down) / (2 * kStep);
    }
    EXPECT_LT((dq - dq_fd).norm(), kTolerance * (1 + dq_fd.norm()));
    EXPECT_LT((dv - dv_fd).norm(), kTolerance * (1 + dv_fd.norm()));
  }
}

// The same along one random direction by dual numbers, exact to rounding (fixed bases: joints
// only).
TEST(Derivatives, InverseDynamicsEqualsDualNumbers) {
  for (const ZooEntry& entry : modelZoo()) {
    Robot r(entry.model);
    if (r.tree.floating()) continue;
    SCOPED_TRACE(entry.name);
    const RandomState x = randomState(r.tree, 3, 1.0), direction = randomState(r.tree, 4, 1.0);
    const int nv = r.tree.velocityCount();
    Eigen::MatrixXd dq(nv, nv), dv(nv, nv);
    inverseDynamicsDerivatives(r.tree, r.compiled, r.workspace, x.q, x.v, x.a, dq, dv);
    ParametersOf<Dual> parameters = {r.parameters.layout, {}};
    for (const double value : r.parameters.values) parameters.values.emplace_back(value);
    std::vector<Dual> q, v, a, tau;
    for (int i = 0; i < nv; ++i) {
      q.emplace_back(x.q[i], direction.v[i]);
      v.emplace_back(x.v[i], direction.a[i]);
      a.emplace_back(x.a[i]);
    }
    inverseDynamics(r.tree, compileParameters(r.tree, parameters), r.workspace, q, v, a, &tau);
    const Eigen::VectorXd analytic = dq * direction.v + dv * direction.a;
    for (int i = 0; i < nv; ++i)
      EXPECT_NEAR(analytic[i], tau[static_cast<size_t>(i)].derivative,
                  1e-10 * (1 + analytic.norm()));
  }
}

// da/dq, da/dv, da/dtau equal central differences of forward dynamics.
TEST(Derivatives, ForwardDynamics) {
  for (const ZooEntry& entry : modelZoo()) {
    SCOPED_TRACE(entry.name);
    Robot r(entry.model);
    const RandomState x = randomState(r.tree, 3, 1.0);
    const int nv = r.tree.velocityCount();
    if (nv > 20)
      continue;  // the finite differences of long chains of light links lose their digits
    Eigen::VectorXd a(nv), tau(nv), up(nv), down(nv);
    inverseDynamics(r.tree, r.compiled, r.workspace, x.q, x.v, x.a, tau);
    Eigen::MatrixXd dq(nv, nv), dv(nv, nv), dtau(nv, nv), dq_fd(nv, nv), dv_fd(nv, nv),
        dtau_fd(nv, nv);
    forwardDynamicsDerivatives(r.tree, r.compiled, r.workspace, x.q, x.v, tau, a, dq, dv, dtau);
    EXPECT_LT((a - x.a).norm(), 1e-8 * (1 + x.a.norm()));
    for (int j = 0; j < nv; ++j) {
      const Eigen::VectorXd e = kStep * Eigen::VectorXd::Unit(nv, j);
      const auto column = [&](const Eigen::VectorXd& q1, const Eigen::VectorXd& q2,
                              const Eigen::VectorXd& v1, const Eigen::VectorXd& v2,
                              const Eigen::VectorXd& t1, const Eigen::VectorXd& t2) {
        forwardDynamics(r.tree, r.compiled, r.workspace, q1, v1, t1, up);
        forwardDynamics(r.tree, r.compiled, r.workspace, q2, v2, t2, down);
        return Eigen::VectorXd((up - down) / (2 * kStep));
      };
      dq_fd.col(j) = column(moved(r.tree, x.q, e), moved(r.tree, x.q, -e), x.v, x.v, tau, tau);
      dv_fd.col(j) = column(x.q, x.q, x.v + e, x.v - e, tau, tau);
      dtau_fd.col(j) = column(x.q, x.q, x.v, x.v, tau + e, tau - e);
    }
    EXPECT_LT((dq - dq_fd).norm(), 10 * kTolerance * (1 + dq_fd.norm()));
    EXPECT_LT((dv - dv_fd).norm(), 10 * kTolerance * (1 + dv_fd.norm()));
    EXPECT_LT((dtau - dtau_fd).norm(), 10 * kTolerance * (1 + dtau_fd.norm()));
  }
}

}  // namespace
}  // namespace proprio
