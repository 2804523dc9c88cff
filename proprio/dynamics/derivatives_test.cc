// Analytic derivatives against central differences and dual numbers over every kind of model.

#include "proprio/dynamics/derivatives.h"

#include <gtest/gtest.h>

#include "proprio/dynamics/forward_dynamics.h"
#include "proprio/dynamics/inverse_dynamics.h"
#include "proprio/dynamics/regressor.h"
#include "proprio/dynamics/testing/model_zoo.h"
#include "proprio/dynamics/testing/perturb.h"
#include "proprio/dynamics/testing/test_robot.h"

namespace proprio {
namespace {

// Central differences with step h err by h^2 times third derivatives and by rounding / h: 1e-6
// relative.
constexpr double kDerivativeStep = 1e-5, kDerivativeTolerance = 1e-6;

// d tau / d q, d tau / d v with external wrenches equal central differences.
TEST(Derivatives, InverseDynamics) {
  for (const ZooEntry& entry : modelZoo()) {
    SCOPED_TRACE(entry.name);
    TestRobot r(entry.model);
    const RandomState x = randomState(r.tree, 3, 1.0);
    const int nv = r.tree.velocityCount();
    const LinkWrenches wrenches =
        LinkWrenches::Random(6, static_cast<Eigen::Index>(entry.model->links.size()));
    Eigen::MatrixXd dq = Eigen::MatrixXd::Constant(nv, nv, NAN), dv = dq, dq_fd(nv, nv),
                    dv_fd(nv, nv);
    inverseDynamicsDerivatives(r.tree, r.compiled, r.workspace, x.q, x.v, x.a, dq, dv, &wrenches);
    Eigen::VectorXd up(nv), down(nv);
    for (int j = 0; j < nv; ++j) {
      const Eigen::VectorXd e = kDerivativeStep * Eigen::VectorXd::Unit(nv, j);
      inverseDynamics(r.tree, r.compiled, r.workspace, moved(r.tree, x.q, e), x.v, x.a, up,
                      &wrenches);
      inverseDynamics(r.tree, r.compiled, r.workspace, moved(r.tree, x.q, -e), x.v, x.a, down,
                      &wrenches);
      dq_fd.col(j) = (up - down) / (2 * kDerivativeStep);
      inverseDynamics(r.tree, r.compiled, r.workspace, x.q, x.v + e, x.a, up, &wrenches);
      inverseDynamics(r.tree, r.compiled, r.workspace, x.q, x.v - e, x.a, down, &wrenches);
      dv_fd.col(j) = (up - down) / (2 * kDerivativeStep);
    }
    EXPECT_LT((dq - dq_fd).norm(), kDerivativeTolerance * (1 + dq_fd.norm()));
    EXPECT_LT((dv - dv_fd).norm(), kDerivativeTolerance * (1 + dv_fd.norm()));
  }
}

// The same along one random direction by dual numbers, exact to rounding (fixed bases: joints
// only).
TEST(Derivatives, InverseDynamicsEqualsDualNumbers) {
  for (const ZooEntry& entry : modelZoo()) {
    TestRobot r(entry.model);
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
    TestRobot r(entry.model);
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
      const Eigen::VectorXd e = kDerivativeStep * Eigen::VectorXd::Unit(nv, j);
      const auto column = [&](const Eigen::VectorXd& q1, const Eigen::VectorXd& q2,
                              const Eigen::VectorXd& v1, const Eigen::VectorXd& v2,
                              const Eigen::VectorXd& t1, const Eigen::VectorXd& t2) {
        forwardDynamics(r.tree, r.compiled, r.workspace, q1, v1, t1, up);
        forwardDynamics(r.tree, r.compiled, r.workspace, q2, v2, t2, down);
        return Eigen::VectorXd((up - down) / (2 * kDerivativeStep));
      };
      dq_fd.col(j) = column(moved(r.tree, x.q, e), moved(r.tree, x.q, -e), x.v, x.v, tau, tau);
      dv_fd.col(j) = column(x.q, x.q, x.v + e, x.v - e, tau, tau);
      dtau_fd.col(j) = column(x.q, x.q, x.v, x.v, tau + e, tau - e);
    }
    EXPECT_LT((dq - dq_fd).norm(), 10 * kDerivativeTolerance * (1 + dq_fd.norm()));
    EXPECT_LT((dv - dv_fd).norm(), 10 * kDerivativeTolerance * (1 + dv_fd.norm()));
    EXPECT_LT((dtau - dtau_fd).norm(), 10 * kDerivativeTolerance * (1 + dtau_fd.norm()));
  }
}

// The gradient of a weighted sum of regressor entries equals central differences; the batch form
// agrees.
TEST(Derivatives, RegressorGradient) {
  for (const ZooEntry& entry : modelZoo()) {
    SCOPED_TRACE(entry.name);
    TestRobot r(entry.model);
    const int nv = r.tree.velocityCount();
    const auto columns = static_cast<Eigen::Index>(10 * entry.model->links.size());
    RandomModelSource random(5);
    const Eigen::MatrixXd G =
        Eigen::MatrixXd::NullaryExpr(nv, columns, [&] { return random.uniform(-1.0, 1.0); });
    Eigen::MatrixXd Y(nv, columns);
    const auto value = [&](const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                           const Eigen::VectorXd& a) {
      torqueRegressor(r.tree, r.workspace, q, v, a, Y);
      return G.cwiseProduct(Y).sum();
    };
    constexpr Eigen::Index kSamples = 5;
    Eigen::MatrixXd qs(kSamples, r.tree.positionCount()), vs(kSamples, nv), as(kSamples, nv);
    Eigen::MatrixXd gqs(kSamples, nv), gvs(kSamples, nv), gas(kSamples, nv);
    Eigen::MatrixXd one_q(kSamples, nv), one_v(kSamples, nv), one_a(kSamples, nv);
    RegressorBatch weights(r.tree, kSamples, columns);
    for (Eigen::Index s = 0; s < kSamples; ++s) {
      const RandomState x = randomState(r.tree, 3 + static_cast<unsigned>(s), 1.0);
      qs.row(s) = x.q.transpose();
      vs.row(s) = x.v.transpose();
      as.row(s) = x.a.transpose();
      for (int j = 0; j < nv; ++j) weights.rows(j, kSamples).row(s) = G.row(j);
      Eigen::VectorXd gq = Eigen::VectorXd::Constant(nv, NAN), gv = gq, ga = gq;
      torqueRegressorGradient(r.tree, r.workspace, x.q, x.v, x.a, G, gq, gv, ga);
      one_q.row(s) = gq.transpose();
      one_v.row(s) = gv.transpose();
      one_a.row(s) = ga.transpose();
      if (s > 0) continue;
      Eigen::VectorXd fq(nv), fv(nv), fa(nv);
      for (int j = 0; j < nv; ++j) {
        const Eigen::VectorXd e = kDerivativeStep * Eigen::VectorXd::Unit(nv, j);
        fq[j] = (value(moved(r.tree, x.q, e), x.v, x.a) - value(moved(r.tree, x.q, -e), x.v, x.a)) /
                (2 * kDerivativeStep);
        fv[j] = (value(x.q, x.v + e, x.a) - value(x.q, x.v - e, x.a)) / (2 * kDerivativeStep);
        fa[j] = (value(x.q, x.v, x.a + e) - value(x.q, x.v, x.a - e)) / (2 * kDerivativeStep);
      }
      EXPECT_LT((gq - fq).norm(), kDerivativeTolerance * (1 + fq.norm()));
      EXPECT_LT((gv - fv).norm(), kDerivativeTolerance * (1 + fv.norm()));
      EXPECT_LT((ga - fa).norm(), kDerivativeTolerance * (1 + fa.norm()));
    }
    if (r.tree.hasMimic()) continue;
    torqueRegressorGradientBatch(r.tree, r.workspace, qs, vs, as, weights, gqs, gvs, gas);
    EXPECT_LT((gqs - one_q).norm(), 1e-11 * (1 + one_q.norm()));
    EXPECT_LT((gvs - one_v).norm(), 1e-11 * (1 + one_v.norm()));
    EXPECT_LT((gas - one_a).norm(), 1e-11 * (1 + one_a.norm()));
  }
}

}  // namespace
}  // namespace proprio
