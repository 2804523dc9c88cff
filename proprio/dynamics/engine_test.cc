// The dynamics functions against each other, over every kind of model: each is a second route for
// the others.

#include <gtest/gtest.h>

#include "proprio/dynamics/forward_dynamics.h"
#include "proprio/dynamics/inverse_dynamics.h"
#include "proprio/dynamics/kinematics.h"
#include "proprio/dynamics/mass_matrix.h"
#include "proprio/dynamics/regressor.h"
#include "proprio/dynamics/testing/model_zoo.h"
#include "proprio/dynamics/testing/test_robot.h"

namespace proprio {
namespace {

// Rounding of a few thousand operations on numbers of the vector's size.
constexpr double kEngineTolerance = 1e-11;
// Forward dynamics amplifies rounding by the condition number of M (up to 1e6 in the zoo).
constexpr double kSolveTolerance = 1e-8;

// Column j of M is the torque of a unit acceleration of coordinate j without gravity and velocity.
TEST(Engine, MassMatrixEqualsInverseDynamicsOfUnitAccelerations) {
  for (const ZooEntry& entry : wholeZoo()) {
    SCOPED_TRACE(entry.name);
    TestRobot s(entry.model);
    const RandomState x = randomState(s.tree, 5);
    const int nv = s.tree.velocityCount();
    Eigen::MatrixXd M = Eigen::MatrixXd::Constant(nv, nv, NAN), expected(nv, nv);
    massMatrix(s.tree, s.compiled, s.workspace, x.q, M);
    Eigen::VectorXd gravity(nv), tau(nv);
    gravityTorque(s.tree, s.compiled, s.workspace, x.q, gravity);
    for (int j = 0; j < nv; ++j) {
      inverseDynamics(s.tree, s.compiled, s.workspace, x.q, Eigen::VectorXd::Zero(nv),
                      Eigen::VectorXd::Unit(nv, j), tau);
      expected.col(j) = tau - gravity;
    }
    EXPECT_LT(relativeDeviation(M, expected), 1e-9);
  }
}

// Forward dynamics inverts inverse dynamics, also with external wrenches; both routes agree.
TEST(Engine, ForwardDynamicsInvertsInverseDynamics) {
  for (const ZooEntry& entry : wholeZoo()) {
    SCOPED_TRACE(entry.name);
    TestRobot s(entry.model);
    const RandomState x = randomState(s.tree, 6);
    const int nv = s.tree.velocityCount();
    const LinkWrenches wrenches =
        LinkWrenches::Random(6, static_cast<Eigen::Index>(entry.model->links.size()));
    Eigen::VectorXd tau = Eigen::VectorXd::Constant(nv, NAN), a = tau, a2 = tau;
    inverseDynamics(s.tree, s.compiled, s.workspace, x.q, x.v, x.a, tau, &wrenches);
    forwardDynamics(s.tree, s.compiled, s.workspace, x.q, x.v, tau, a, &wrenches);
    forwardDynamicsByMassMatrix(s.tree, s.compiled, s.workspace, x.q, x.v, tau, a2, &wrenches);
    EXPECT_LT(relativeDeviation(a, x.a), kSolveTolerance);
    EXPECT_LT(relativeDeviation(a2, x.a), kSolveTolerance);
  }
}

// Y pi = tau: the regressor times the parameters is inverse dynamics (rotor part added separately).
TEST(Engine, RegressorTimesParametersIsTorque) {
  for (const ZooEntry& entry : wholeZoo()) {
    SCOPED_TRACE(entry.name);
    TestRobot s(entry.model);
    s.compiled.has_rotor = false;
    const RandomState x = randomState(s.tree, 7);
    const int nv = s.tree.velocityCount();
    const auto columns = static_cast<Eigen::Index>(10 * entry.model->links.size());
    Eigen::VectorXd tau(nv);
    inverseDynamics(s.tree, s.compiled, s.workspace, x.q, x.v, x.a, tau);
    Eigen::MatrixXd Y = Eigen::MatrixXd::Constant(nv, columns, NAN);
    torqueRegressor(s.tree, s.workspace, x.q, x.v, x.a, Y);
    EXPECT_LT(relativeDeviation(
                  Y * Eigen::Map<Eigen::VectorXd>(s.parameters.values.data(), columns), tau),
              kEngineTolerance);
  }
}

// Batch forms give the one-sample numbers for every sample count around the number of lanes,
// whatever the lane.
TEST(Engine, BatchEqualsOneSample) {
  for (const ZooEntry& entry : wholeZoo()) {
    SCOPED_TRACE(entry.name);
    TestRobot s(entry.model);
    const int nv = s.tree.velocityCount();
    const auto columns = static_cast<Eigen::Index>(10 * entry.model->links.size());
    for (const Eigen::Index samples : {0, 1, 3, 4, 5, 9}) {
      Eigen::MatrixXd q(samples, s.tree.positionCount()), v(samples, nv), a(samples, nv);
      Eigen::MatrixXd tau = Eigen::MatrixXd::Constant(samples, nv, NAN), acc = tau;
      Eigen::MatrixXd M = Eigen::MatrixXd::Constant(samples, nv * nv, NAN);
      for (Eigen::Index k = 0; k < samples; ++k) {
        const RandomState x = randomState(s.tree, 20 + static_cast<unsigned>(k));
        q.row(k) = x.q.transpose();
        v.row(k) = x.v.transpose();
        a.row(k) = x.a.transpose();
      }
      RegressorBatch batch(s.tree, samples + 3, columns + 2);
      inverseDynamicsBatch(s.tree, s.compiled, s.workspace, q, v, a, tau);
      massMatrixBatch(s.tree, s.compiled, s.workspace, q, M);
      torqueRegressorBatch(s.tree, s.workspace, q, v, a, batch);
      forwardDynamicsBatch(s.tree, s.compiled, s.workspace, q, v, tau, acc);
      Eigen::VectorXd one(nv);
      Eigen::MatrixXd one_M(nv, nv), one_Y(nv, columns);
      for (Eigen::Index k = 0; k < samples; ++k) {
        const Eigen::VectorXd qk = q.row(k), vk = v.row(k), ak = a.row(k);
        inverseDynamics(s.tree, s.compiled, s.workspace, qk, vk, ak, one);
        EXPECT_LT(relativeDeviation(tau.row(k).transpose(), one), kEngineTolerance);
        massMatrix(s.tree, s.compiled, s.workspace, qk, one_M);
        EXPECT_LT(relativeDeviation(M.row(k).reshaped(nv, nv), one_M), kEngineTolerance);
        torqueRegressor(s.tree, s.workspace, qk, vk, ak, one_Y);
        Eigen::MatrixXd rows(nv, columns);
        for (int j = 0; j < nv; ++j) rows.row(j) = batch.rows(j, samples).row(k).head(columns);
        EXPECT_LT(relativeDeviation(rows, one_Y), kEngineTolerance);
        EXPECT_LT(relativeDeviation(acc.row(k).transpose(), ak), kSolveTolerance);
      }
    }
  }
}

// External wrenches change a batch of torques by -J^T f with the links' Jacobians (virtual work)
// and give the one-sample numbers; forward dynamics with the same wrenches gives the accelerations
// back.
TEST(Engine, ExternalWrenchesInBatches) {
  for (const ZooEntry& entry : wholeZoo()) {
    SCOPED_TRACE(entry.name);
    TestRobot s(entry.model);
    const int nv = s.tree.velocityCount(), tip = static_cast<int>(entry.model->links.size()) - 1;
    const std::vector<int> links = {tip, 0, tip / 2, tip};  // the last one twice
    Kinematics kinematics(s.tree);
    Eigen::Matrix<double, 6, Eigen::Dynamic> J(6, nv);
    for (const Eigen::Index samples : {0, 1, 3, 4, 5, 9}) {
      Eigen::MatrixXd q(samples, s.tree.positionCount()), v(samples, nv), a(samples, nv);
      for (Eigen::Index k = 0; k < samples; ++k) {
        const RandomState x = randomState(s.tree, 40 + static_cast<unsigned>(k));
        q.row(k) = x.q.transpose(), v.row(k) = x.v.transpose(), a.row(k) = x.a.transpose();
      }
      const Eigen::MatrixXd values = 30.0 * Eigen::MatrixXd::Random(samples, 24);
      const BatchWrenches external = {links, values};
      Eigen::MatrixXd free(samples, nv), tau = Eigen::MatrixXd::Constant(samples, nv, NAN),
                                         acc = tau;
      inverseDynamicsBatch(s.tree, s.compiled, s.workspace, q, v, a, free);
      inverseDynamicsBatch(s.tree, s.compiled, s.workspace, q, v, a, tau, &external);
      forwardDynamicsBatch(s.tree, s.compiled, s.workspace, q, v, tau, acc, &external);
      for (Eigen::Index k = 0; k < samples; ++k) {
        const Eigen::VectorXd qk = q.row(k), vk = v.row(k), ak = a.row(k);
        LinkWrenches wrenches = LinkWrenches::Zero(6, tip + 1);
        Eigen::VectorXd work = free.row(k), one(nv);
        computeKinematics(s.tree, qk, kinematics);
        for (size_t i = 0; i < links.size(); ++i) {
          const Vector6d f = values.block<1, 6>(k, 6 * static_cast<Eigen::Index>(i)).transpose();
          wrenches.col(links[i]) += f;
          frameJacobian(s.tree, kinematics, links[i], {}, Representation::kBody,
                        Representation::kBody, J);
          work -= J.transpose() * f;
        }
        inverseDynamics(s.tree, s.compiled, s.workspace, qk, vk, ak, one, &wrenches);
        EXPECT_LT(relativeDeviation(tau.row(k).transpose(), work), kEngineTolerance);
        EXPECT_LT(relativeDeviation(tau.row(k).transpose(), one), kEngineTolerance);
        EXPECT_LT(relativeDeviation(acc.row(k).transpose(), ak), kSolveTolerance);
      }
    }
  }
}

// Wrenches of a batch that do not fit are refused with what is wrong.
TEST(Engine, WrongBatchWrenchesAreNamed) {
  TestRobot s(modelZoo().front().model);
  Eigen::MatrixXd x = Eigen::MatrixXd::Zero(3, s.tree.velocityCount());
  const auto message = [&](const std::vector<int>& links, const Eigen::MatrixXd& values) {
    const BatchWrenches external = {links, values};
    try {
      inverseDynamicsBatch(s.tree, s.compiled, s.workspace, x, x, x, x, &external);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message({0}, Eigen::MatrixXd::Zero(3, 6)), "");
  EXPECT_NE(message({0, 1}, Eigen::MatrixXd::Zero(3, 6)).find("columns of the external wrenches"),
            std::string::npos);
  EXPECT_NE(message({0}, Eigen::MatrixXd::Zero(2, 6)).find("rows of the external wrenches"),
            std::string::npos);
  EXPECT_NE(message({9}, Eigen::MatrixXd::Zero(3, 6)).find("link 9, expected 0 to 1"),
            std::string::npos);
}

// Dual numbers: the derivative along a direction of state, parameters and external wrenches equals
// the central difference, for torques, and forward dynamics gives back what went in.
TEST(Engine, DualNumbersAgreeWithFiniteDifferences) {
  for (const ZooEntry& entry : modelZoo()) {
    SCOPED_TRACE(entry.name);
    TestRobot s(entry.model);
    const RandomState x = randomState(s.tree, 8);
    const int nv = s.tree.velocityCount();
    RandomModelSource random(9);
    const Eigen::VectorXd dv =
        Eigen::VectorXd::NullaryExpr(nv, [&] { return random.uniform(-1, 1); });
    Eigen::VectorXd dq = Eigen::VectorXd::Zero(s.tree.positionCount());
    const int base = s.tree.floating() ? 7 : 0;
    for (Eigen::Index i = base; i < dq.size(); ++i) dq[i] = random.uniform(-1, 1);
    ParametersOf<Dual> parameters;
    parameters.layout = s.parameters.layout;
    for (const double value : s.parameters.values)
      parameters.values.emplace_back(value, 0.1 * value);
    const auto links = static_cast<Eigen::Index>(entry.model->links.size());
    const LinkWrenches f = LinkWrenches::Random(6, links), df = LinkWrenches::Random(6, links);
    std::vector<Dual> q, v, a, tau, acc, external;
    for (Eigen::Index i = 0; i < f.size(); ++i) external.emplace_back(f(i), df(i));
    for (Eigen::Index i = 0; i < dq.size(); ++i) q.emplace_back(x.q[i], dq[i]);
    for (Eigen::Index i = 0; i < nv; ++i)
      v.emplace_back(x.v[i], dv[i]), a.emplace_back(x.a[i], -dv[i]);
    const CompiledParametersOf<Dual> compiled = compileParameters(s.tree, parameters);
    inverseDynamics(s.tree, compiled, s.workspace, q, v, a, &tau, &external);
    forwardDynamics(s.tree, compiled, s.workspace, q, v, tau, &acc, &external);
    const double h = 1e-6;
    Eigen::VectorXd up(nv), down(nv), exact(nv);
    for (const double sign : {1.0, -1.0}) {
      Parameters moved = s.parameters;
      for (double& value : moved.values) value *= 1.0 + 0.1 * sign * h;
      const LinkWrenches moved_f = f + sign * h * df;
      inverseDynamics(s.tree, compileParameters(s.tree, moved), s.workspace, x.q + sign * h * dq,
                      x.v + sign * h * dv, x.a - sign * h * dv, sign > 0 ? up : down, &moved_f);
    }
    for (int i = 0; i < nv; ++i) exact[i] = tau[static_cast<size_t>(i)].derivative;
    EXPECT_LT(relativeDeviation((up - down) / (2 * h), exact), 1e-6);
    // what inverse dynamics has turned into torques comes back, with its derivative
    ASSERT_EQ(acc.size(), a.size());
    for (size_t i = 0; i < acc.size(); ++i) {
      EXPECT_NEAR(acc[i].value, a[i].value, kSolveTolerance * (1.0 + x.a.norm()));
      EXPECT_NEAR(acc[i].derivative, a[i].derivative, kSolveTolerance * (1.0 + exact.norm()));
    }
  }
}

// Gravity alone loads the mount of a fixed base with the robot's weight.
TEST(Engine, BaseReactionCarriesTheWeight) {
  RandomModelOptions options;
  options.joints = 8;
  const auto model = std::make_shared<const Model>(randomModel(3, options));
  TestRobot s(model);
  const int nv = s.tree.velocityCount();
  const RandomState x = randomState(s.tree, 1);
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(nv);
  double mass = 0.0;
  for (const Link& link : model->links) mass += link.inertia.mass;
  const Vector6d wrench = baseReaction(s.tree, s.compiled, s.workspace, x.q, zero, zero);
  EXPECT_LT((wrench.head<3>() + mass * model->gravity).norm(), 1e-10 * mass);
}

// Wrong sizes are refused with the argument's name.
TEST(Engine, WrongSizesAreNamed) {
  TestRobot s(modelZoo().front().model);
  Eigen::VectorXd tau(s.tree.velocityCount());
  try {
    inverseDynamics(s.tree, s.compiled, s.workspace, Eigen::VectorXd::Zero(17), tau, tau, tau);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("q has 17 entries"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace proprio
