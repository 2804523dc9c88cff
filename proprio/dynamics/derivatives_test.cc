// Analytic derivatives against central differences and dual numbers over every kind of model.

#include "proprio/dynamics/derivatives.h"

#include <gtest/gtest.h>

#include "proprio/dynamics/forward_dynamics.h"
#include "proprio/dynamics/inverse_dynamics.h"
#include "proprio/dynamics/mass_matrix.h"
#include "proprio/dynamics/regressor.h"
#include "proprio/dynamics/testing/model_zoo.h"
#include "proprio/dynamics/testing/perturb.h"
#include "proprio/dynamics/testing/test_robot.h"

namespace proprio {
namespace {

// Central differences with step h err by h^2 times third derivatives and by rounding / h: 1e-6
// relative.
constexpr double kDerivativeStep = 1e-5, kDerivativeTolerance = 1e-6;
// of parameters, the smallest of which are inertias of 1e-3 kg m^2 of light links
constexpr double kParameterStep = 1e-7;

LinkWrenches randomWrenches(const Model& model) {
  RandomModelSource random(11);
  return LinkWrenches::NullaryExpr(6, static_cast<Eigen::Index>(model.links.size()),
                                   [&] { return random.uniform(-1.0, 1.0); });
}

// d tau / d q, d tau / d v with external wrenches equal central differences.
TEST(Derivatives, InverseDynamics) {
  for (const ZooEntry& entry : wholeZoo()) {
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
  for (const ZooEntry& entry : wholeZoo()) {
    TestRobot r(entry.model);
    if (r.tree.positionCount() != r.tree.velocityCount()) continue;  // free poses
    SCOPED_TRACE(entry.name);
    const RandomState x = randomState(r.tree, 3, 1.0), direction = randomState(r.tree, 4, 1.0);
    const int nv = r.tree.velocityCount();
    Eigen::MatrixXd dq(nv, nv), dv(nv, nv);
    const LinkWrenches wrenches = randomWrenches(*entry.model);
    inverseDynamicsDerivatives(r.tree, r.compiled, r.workspace, x.q, x.v, x.a, dq, dv, &wrenches);
    ParametersOf<Dual> parameters = {r.parameters.layout, {}};
    for (const double value : r.parameters.values) parameters.values.emplace_back(value);
    std::vector<Dual> q, v, a, tau;
    for (int i = 0; i < nv; ++i) {
      q.emplace_back(x.q[i], direction.v[i]);
      v.emplace_back(x.v[i], direction.a[i]);
      a.emplace_back(x.a[i]);
    }
    const std::vector<Dual> external(wrenches.data(), wrenches.data() + wrenches.size());
    inverseDynamics(r.tree, compileParameters(r.tree, parameters), r.workspace, q, v, a, &tau,
                    &external);
    const Eigen::VectorXd analytic = dq * direction.v + dv * direction.a;
    for (int i = 0; i < nv; ++i)
      EXPECT_NEAR(analytic[i], tau[static_cast<size_t>(i)].derivative,
                  1e-10 * (1 + analytic.norm()));
  }
}

// da/dq, da/dv, da/dtau with external wrenches equal central differences of forward dynamics.
TEST(Derivatives, ForwardDynamics) {
  for (const ZooEntry& entry : wholeZoo()) {
    SCOPED_TRACE(entry.name);
    TestRobot r(entry.model);
    const RandomState x = randomState(r.tree, 3, 1.0);
    const int nv = r.tree.velocityCount();
    if (nv > 20) continue;  // long chains of light links lose the digits: the next test has them
    const LinkWrenches wrenches = randomWrenches(*entry.model);
    Eigen::VectorXd a(nv), tau(nv), up(nv), down(nv);
    inverseDynamics(r.tree, r.compiled, r.workspace, x.q, x.v, x.a, tau, &wrenches);
    Eigen::MatrixXd dq(nv, nv), dv(nv, nv), dtau(nv, nv), dq_fd(nv, nv), dv_fd(nv, nv),
        dtau_fd(nv, nv);
    forwardDynamicsDerivatives(r.tree, r.compiled, r.workspace, x.q, x.v, tau, a, dq, dv, dtau,
                               &wrenches);
    EXPECT_LT((a - x.a).norm(), 1e-8 * (1 + x.a.norm()));
    for (int j = 0; j < nv; ++j) {
      const Eigen::VectorXd e = kDerivativeStep * Eigen::VectorXd::Unit(nv, j);
      const auto column = [&](const Eigen::VectorXd& q1, const Eigen::VectorXd& q2,
                              const Eigen::VectorXd& v1, const Eigen::VectorXd& v2,
                              const Eigen::VectorXd& t1, const Eigen::VectorXd& t2) {
        forwardDynamics(r.tree, r.compiled, r.workspace, q1, v1, t1, up, &wrenches);
        forwardDynamics(r.tree, r.compiled, r.workspace, q2, v2, t2, down, &wrenches);
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

// Of every length: the torque stays what it was, to first order, when the state moves and the
// acceleration follows its derivative. Inverse dynamics has no light links to divide by.
TEST(Derivatives, ForwardDynamicsKeepsTheTorque) {
  for (const ZooEntry& entry : wholeZoo()) {
    SCOPED_TRACE(entry.name);
    TestRobot r(entry.model);
    const RandomState x = randomState(r.tree, 3, 1.0), direction = randomState(r.tree, 4, 1.0);
    const int nv = r.tree.velocityCount();
    const LinkWrenches wrenches = randomWrenches(*entry.model);
    Eigen::VectorXd a(nv), tau(nv), up(nv), down(nv);
    inverseDynamics(r.tree, r.compiled, r.workspace, x.q, x.v, x.a, tau, &wrenches);
    Eigen::MatrixXd dq(nv, nv), dv(nv, nv), dtau(nv, nv);
    forwardDynamicsDerivatives(r.tree, r.compiled, r.workspace, x.q, x.v, tau, a, dq, dv, dtau,
                               &wrenches);
    const auto change = [&](const Eigen::VectorXd& d_q, const Eigen::VectorXd& d_v,
                            const Eigen::VectorXd& d_a) {
      // of central differences h^2 |d_a| remains, so the step shrinks with the root of what it
      // causes
      const double h = kDerivativeStep / std::sqrt(1.0 + d_a.norm() / x.a.norm());
      inverseDynamics(r.tree, r.compiled, r.workspace, moved(r.tree, x.q, h * d_q), x.v + h * d_v,
                      a + h * d_a, up, &wrenches);
      inverseDynamics(r.tree, r.compiled, r.workspace, moved(r.tree, x.q, -h * d_q), x.v - h * d_v,
                      a - h * d_a, down, &wrenches);
      return Eigen::VectorXd((up - down) / (2 * h));
    };
    const Eigen::VectorXd zero = Eigen::VectorXd::Zero(nv);
    const double by_q = change(direction.v, zero, zero).norm();
    const double by_v = change(zero, direction.v, zero).norm();
    EXPECT_LT(change(direction.v, zero, dq * direction.v).norm(),
              10 * kDerivativeTolerance * (1 + by_q));
    EXPECT_LT(change(zero, direction.v, dv * direction.v).norm(),
              10 * kDerivativeTolerance * (1 + by_v));
    EXPECT_LT((change(zero, zero, dtau * direction.v) - direction.v).norm(),
              10 * kDerivativeTolerance * (1 + direction.v.norm()));
  }
}

// da/dpi with external wrenches equals central differences of forward dynamics along the columns
// of the last link, and dual numbers say that torques stay when parameters and accelerations change
// together (exact to rounding, every parameter at once).
TEST(Derivatives, ForwardDynamicsWithRespectToParameters) {
  for (const ZooEntry& entry : wholeZoo()) {
    SCOPED_TRACE(entry.name);
    TestRobot r(entry.model);
    const RandomState x = randomState(r.tree, 3, 1.0);
    const int nv = r.tree.velocityCount();
    const auto links = static_cast<int>(entry.model->links.size());
    const LinkWrenches wrenches = randomWrenches(*entry.model);
    Eigen::VectorXd a(nv), tau(nv), up(nv), down(nv);
    inverseDynamics(r.tree, r.compiled, r.workspace, x.q, x.v, x.a, tau, &wrenches);
    Eigen::MatrixXd dpi = Eigen::MatrixXd::Constant(nv, 10 * links, NAN);
    forwardDynamicsParameterDerivatives(r.tree, r.compiled, r.workspace, x.q, x.v, tau, a, dpi,
                                        &wrenches);
    RandomModelSource random(9);
    Eigen::VectorXd d =
        Eigen::VectorXd::NullaryExpr(10 * links, [&] { return random.uniform(-1.0, 1.0); });
    if (nv <= 20) {
      const int link = links - 1;
      Eigen::MatrixXd fd(nv, 10);
      for (int k = 0; k < 10; ++k) {
        for (const double sign : {1.0, -1.0}) {
          Parameters changed = r.parameters;
          changed.values[static_cast<size_t>(10 * link + k)] += sign * kParameterStep;
          forwardDynamics(r.tree, compileParameters(r.tree, changed), r.workspace, x.q, x.v, tau,
                          sign > 0 ? up : down, &wrenches);
        }
        fd.col(k) = (up - down) / (2 * kParameterStep);
      }
      EXPECT_LT((dpi.middleCols(10 * link, 10) - fd).norm(),
                100 * kDerivativeTolerance * (1 + fd.norm()));
    }
    if (r.tree.positionCount() != r.tree.velocityCount()) continue;  // free poses
    ParametersOf<Dual> parameters = {r.parameters.layout, {}};
    for (size_t i = 0; i < r.parameters.values.size(); ++i) {
      const auto k = static_cast<Eigen::Index>(i);
      parameters.values.emplace_back(r.parameters.values[i], k < d.size() ? d[k] : 0.0);
    }
    // external wrenches do not depend on parameters: at the same acceleration they drop out
    const Eigen::VectorXd da = dpi * d;
    std::vector<Dual> q, v, acceleration, torque;
    for (int i = 0; i < nv; ++i) {
      q.emplace_back(x.q[i]);
      v.emplace_back(x.v[i]);
      acceleration.emplace_back(a[i], da[i]);
    }
    inverseDynamics(r.tree, compileParameters(r.tree, parameters), r.workspace, q, v, acceleration,
                    &torque);
    Eigen::MatrixXd Y(nv, 10 * links);
    torqueRegressor(r.tree, r.workspace, x.q, x.v, a, Y);
    for (const Dual& t : torque) EXPECT_NEAR(t.derivative, 0.0, 1e-9 * (1 + (Y * d).norm()));
  }
}

// Parameters that no body has, with a mass matrix that is indefinite: accelerations and derivatives
// are still those of M a + bias = tau, also where joints mimic others.
TEST(Derivatives, ImpossibleParametersAreSolved) {
  for (const bool mimic : {false, true}) {
    SCOPED_TRACE(mimic);
    Model model = serialChain(4);
    if (mimic) model.joints[3].mimic = Mimic{model.joints[1].name, 0.7, 0.1};
    TestRobot r(std::make_shared<const Model>(finalize(model)));
    for (int k = 0; k < 10; ++k) r.parameters.values[static_cast<size_t>(20 + k)] *= -10.0;
    for (int k = 0; k < 10; ++k) r.parameters.values[static_cast<size_t>(40 + k)] *= -10.0;
    r.compiled = compileParameters(r.tree, r.parameters);
    const int nv = r.tree.velocityCount();
    const RandomState x = randomState(r.tree, 3, 1.0);
    Eigen::MatrixXd M(nv, nv), dq(nv, nv), dv(nv, nv), dtau(nv, nv), tau_q(nv, nv), tau_v(nv, nv);
    massMatrix(r.tree, r.compiled, r.workspace, x.q, M);
    ASSERT_LT(Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(M).eigenvalues()[0], 0.0);
    const Eigen::MatrixXd inverse = M.inverse();
    const double tolerance = 1e-12 * M.norm() * inverse.norm();  // rounding times condition
    Eigen::VectorXd tau(nv), a(nv);
    inverseDynamics(r.tree, r.compiled, r.workspace, x.q, x.v, x.a, tau);
    forwardDynamicsByMassMatrix(r.tree, r.compiled, r.workspace, x.q, x.v, tau, a);
    EXPECT_LT((a - x.a).norm(), tolerance * x.a.norm());
    forwardDynamicsDerivatives(r.tree, r.compiled, r.workspace, x.q, x.v, tau, a, dq, dv, dtau);
    EXPECT_LT((a - x.a).norm(), tolerance * x.a.norm());
    EXPECT_LT((dtau - inverse).norm(), tolerance * inverse.norm());
    inverseDynamicsDerivatives(r.tree, r.compiled, r.workspace, x.q, x.v, x.a, tau_q, tau_v);
    EXPECT_LT((dq + inverse * tau_q).norm(), tolerance * (inverse.norm() * tau_q.norm()));
    EXPECT_LT((dv + inverse * tau_v).norm(), tolerance * (inverse.norm() * tau_v.norm()));
    const auto columns = static_cast<Eigen::Index>(10 * r.tree.model().links.size());
    Eigen::MatrixXd Y(nv, columns), dpi(nv, columns);
    torqueRegressor(r.tree, r.workspace, x.q, x.v, x.a, Y);
    forwardDynamicsParameterDerivatives(r.tree, r.compiled, r.workspace, x.q, x.v, tau, a, dpi);
    EXPECT_LT((dpi + inverse * Y).norm(), tolerance * (inverse.norm() * Y.norm()));
  }
}

// As many entries in another shape are refused.
TEST(Derivatives, ShapesAreChecked) {
  TestRobot r(std::make_shared<const Model>(finalize(serialChain(4))));
  const RandomState x = randomState(r.tree, 3, 1.0);
  Eigen::MatrixXd square(4, 4), tall(8, 2);
  Eigen::VectorXd a(4);
  EXPECT_THROW(
      inverseDynamicsDerivatives(r.tree, r.compiled, r.workspace, x.q, x.v, x.a, tall, square),
      Error);
  EXPECT_THROW(
      inverseDynamicsDerivatives(r.tree, r.compiled, r.workspace, x.q, x.v, x.a, square, tall),
      Error);
  EXPECT_THROW(forwardDynamicsDerivatives(r.tree, r.compiled, r.workspace, x.q, x.v, x.a, a, square,
                                          square, tall),
               Error);
  const Eigen::MatrixXd samples = Eigen::MatrixXd::Ones(3, 4);
  Eigen::MatrixXd gradient(3, 4), turned(4, 3);
  RegressorBatch few(r.tree, 3, 10), weights(r.tree, 3, 10 * r.tree.model().links.size());
  EXPECT_THROW(torqueRegressorGradientBatch(r.tree, r.workspace, samples, samples, samples, few,
                                            gradient, gradient, gradient),
               Error);
  EXPECT_THROW(torqueRegressorGradientBatch(r.tree, r.workspace, samples, samples, samples, weights,
                                            gradient, gradient, turned),
               Error);
}

// The gradient of a weighted sum of regressor entries equals central differences; the batch form
// agrees.
TEST(Derivatives, RegressorGradient) {
  for (const ZooEntry& entry : wholeZoo()) {
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
    torqueRegressorGradientBatch(r.tree, r.workspace, qs, vs, as, weights, gqs, gvs, gas);
    EXPECT_LT((gqs - one_q).norm(), 1e-11 * (1 + one_q.norm()));
    EXPECT_LT((gvs - one_v).norm(), 1e-11 * (1 + one_v.norm()));
    EXPECT_LT((gas - one_a).norm(), 1e-11 * (1 + one_a.norm()));
  }
}

}  // namespace
}  // namespace proprio
