#include "proprio/dynamics/momentum_regressor.h"

#include <gtest/gtest.h>

#include <Eigen/Core>

#include "proprio/dynamics/augmented_regressor.h"
#include "proprio/dynamics/joint_effects.h"
#include "proprio/dynamics/mass_matrix.h"
#include "proprio/dynamics/testing/model_zoo.h"
#include "proprio/dynamics/testing/test_robot.h"
#include "proprio/dynamics/wrench_regressor.h"
#include "proprio/numerics/dense.h"
#include "proprio/spatial/newton_euler.h"

namespace proprio {
namespace {

// Rounding of a few thousand operations on numbers of the vector's size.
constexpr double kMomentumTolerance = 1e-11;

struct RobotWithTheta {
  explicit RobotWithTheta(std::shared_ptr<const Model> model)
      : tree(model),
        parameters(declaredParameters(model)),
        compiled(compileParameters(tree, parameters)),
        workspace(tree),
        theta(Eigen::Map<const Eigen::VectorXd>(parameters.values.data(),
                                                parameters.layout->size())) {}
  const ParameterLayout& layout() const { return *parameters.layout; }
  Tree tree;
  Parameters parameters;
  CompiledParameters compiled;
  Workspace workspace;
  Eigen::VectorXd theta;
};

/// A fixed arm with rotors, friction, springs and a symmetric coupling.
std::shared_ptr<const Model> elasticArm() {
  Model model = serialChain(4);
  for (Joint& joint : model.joints) {
    joint.drive = {true, 0.2, 50.0, 1.0, kNotStated};
    joint.friction.smooth_sign = SmoothSign::kTanh;
    joint.friction.smooth_gain = 5.0;
    addFriction(joint, 0.8, 0.5, 0.1);
  }
  model.joints[1].spring = {true, 40.0, 0.3};
  model.couplings = {
      {"Iam",
       "kg m^2",
       0.05,
       {{2, Signal::kAcceleration, {3}, {1.0}}, {3, Signal::kAcceleration, {2}, {1.0}}}},
      {"fvm",
       "N m s/rad",
       0.1,
       {{2, Signal::kVelocity, {3}, {1.0}}, {3, Signal::kVelocity, {2}, {1.0}}}}};
  return std::make_shared<const Model>(finalize(model));
}

// Y_p theta is the mass matrix times the velocity.
TEST(MomentumRegressor, TimesParametersIsMassMatrixTimesVelocity) {
  for (const ZooEntry& entry : wholeZoo()) {
    SCOPED_TRACE(entry.name);
    RobotWithTheta s(entry.model);
    const RandomState x = randomState(s.tree, 5);
    const int nv = s.tree.velocityCount();
    Eigen::MatrixXd M(nv, nv), Y = Eigen::MatrixXd::Constant(nv, s.layout().size(), NAN);
    massMatrix(s.tree, s.compiled, s.workspace, x.q, M);
    generalisedMomentumRegressor(s.tree, s.layout(), s.workspace, x.q, x.v, Y);
    EXPECT_LT(relativeDeviation(Y * s.theta, M * x.v), kMomentumTolerance);
  }
}

// The spatial momentum is the sum of the links' momenta; its base rows in a floating robot are the
// first six of the generalised momentum.
TEST(MomentumRegressor, SpatialMomentumIsTheSumOfTheLinks) {
  for (const ZooEntry& entry : wholeZoo()) {
    SCOPED_TRACE(entry.name);
    RobotWithTheta s(entry.model);
    const RandomState x = randomState(s.tree, 6);
    const int nv = s.tree.velocityCount();
    const Vector3d point(0.3, -0.4, 0.5);
    Eigen::MatrixXd Y = Eigen::MatrixXd::Constant(6, s.layout().inertialSize(), NAN);
    std::vector<LinkMotion> motions;
    linkMotions(s.tree, x.q, x.v, x.a, &motions);
    spatialMomentumRegressor(motions, point, Y);
    const Vector6d h = Y * s.theta.head(Y.cols());
    Vector6d sum = Vector6d::Zero();
    for (size_t l = 0; l < motions.size(); ++l) {
      const Pose X = {motions[l].X_WL.R, motions[l].X_WL.p - point};
      sum += toSpatial(X, momentum(entry.model->links[l].inertia, motions[l].twist)).vector();
    }
    EXPECT_LT(relativeDeviation(h, sum), kMomentumTolerance);
    if (!s.tree.floating()) continue;
    Eigen::MatrixXd Yp(nv, s.layout().size());
    generalisedMomentumRegressor(s.tree, s.layout(), s.workspace, x.q, x.v, Yp);
    const Pose& X_WB = motions[static_cast<size_t>(s.tree.baseLink())].X_WL;
    const Vector6d base = (Yp * s.theta).head<6>();
    EXPECT_LT(relativeDeviation(forceAdjoint({X_WB.R, X_WB.p - point}) * base, h),
              kMomentumTolerance);
  }
}

// Power is the rate of energy plus dissipation: y theta = d/dt (e theta) + d theta, the derivative
// by central differences along the motion.
TEST(EnergyRegressor, PowerIsRateOfEnergyPlusDissipation) {
  std::vector<std::shared_ptr<const Model>> models = {elasticArm()};
  for (const ZooEntry& entry : modelZoo())
    if (!entry.model->floating && entry.model->joints.size() < 20) models.push_back(entry.model);
  for (const auto& model : models) {
    SCOPED_TRACE(model->name);
    RobotWithTheta s(model);
    const RandomState x = randomState(s.tree, 7);
    const double h = 1e-5;
    Eigen::MatrixXd rows = Eigen::MatrixXd::Constant(4, s.layout().size(), NAN);
    const auto energy = [&](double t) {
      const Eigen::VectorXd q = x.q + t * x.v + 0.5 * t * t * x.a, v = x.v + t * x.a;
      kineticEnergyRegressor(s.tree, s.layout(), s.workspace, q, v, rows.row(0));
      potentialEnergyRegressor(s.tree, s.layout(), s.workspace, q, rows.row(1));
      return (rows.topRows(2) * s.theta).sum();
    };
    const double rate = (energy(h) - energy(-h)) / (2.0 * h);
    dissipationRegressor(s.tree, s.layout(), s.workspace, x.q, x.v, rows.row(2));
    powerRegressor(s.tree, s.layout(), s.workspace, x.q, x.v, x.a, rows.row(3));
    const double dissipated = rows.row(2).dot(s.theta), power = rows.row(3).dot(s.theta);
    const double scale = std::abs(power) + std::abs(rate) + std::abs(energy(0.0)) + 1.0;
    EXPECT_NEAR(power, rate + dissipated, 1e-7 * scale);
  }
}

// Work done along a simulated motion equals the energy difference plus what friction took; the
// trapezoidal rule leaves an error that falls fourfold when the step is halved.
TEST(EnergyRegressor, EnergyModelHoldsAlongASimulatedMotion) {
  RobotWithTheta s(elasticArm());
  const int nv = s.tree.velocityCount();
  const auto acceleration = [&](double t, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                                Eigen::VectorXd* tau) {
    *tau = Eigen::VectorXd::NullaryExpr(
        nv, [&](Eigen::Index i) { return 12.0 * std::sin(3.0 * t + static_cast<double>(i)); });
    Eigen::VectorXd bias(nv);
    fullTorque(s.tree, s.parameters, s.compiled, s.workspace, q, v, Eigen::VectorXd::Zero(nv),
               bias);
    Eigen::MatrixXd M(nv, nv);
    massMatrix(s.tree, s.compiled, s.workspace, q, M);
    addCouplingInertia(s.tree, s.parameters, M);
    return Eigen::VectorXd(solveSymmetric(M, *tau - bias));
  };
  double error[2] = {};
  for (int refine = 0; refine < 2; ++refine) {
    const int steps = 200 << refine;
    const double h = 1.0 / steps;
    Eigen::MatrixXd q(steps + 1, nv), v(steps + 1, nv), tau(steps + 1, nv);
    const Eigen::VectorXd time = Eigen::VectorXd::LinSpaced(steps + 1, 0.0, 1.0);
    Eigen::VectorXd qk = Eigen::VectorXd::Constant(nv, 0.2), vk = Eigen::VectorXd::Zero(nv), u(nv);
    for (int k = 0; k <= steps; ++k) {
      // classical Runge-Kutta
      const double t = time[k];
      const Eigen::VectorXd a1 = acceleration(t, qk, vk, &u);
      q.row(k) = qk, v.row(k) = vk, tau.row(k) = u;
      const Eigen::VectorXd v2 = vk + 0.5 * h * a1;
      const Eigen::VectorXd a2 = acceleration(t + 0.5 * h, qk + 0.5 * h * vk, v2, &u);
      const Eigen::VectorXd v3 = vk + 0.5 * h * a2;
      const Eigen::VectorXd a3 = acceleration(t + 0.5 * h, qk + 0.5 * h * v2, v3, &u);
      const Eigen::VectorXd v4 = vk + h * a3;
      const Eigen::VectorXd a4 = acceleration(t + h, qk + h * v3, v4, &u);
      qk += h / 6.0 * (vk + 2.0 * v2 + 2.0 * v3 + v4);
      vk += h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4);
    }
    const EnergyModel model =
        energyModel(s.tree, s.layout(), s.workspace, time, q, v, tau, 40 << refine);
    ASSERT_EQ(model.y.size(), 5);
    error[refine] = (model.W * s.theta - model.y).norm() / model.y.norm();
  }
  EXPECT_LT(error[0], 1e-3);
  EXPECT_LT(error[1], 0.3 * error[0]);
}

// An acceleration coupling in one row only stores no energy and is refused by name.
TEST(EnergyRegressor, AsymmetricCouplingIsRefused) {
  Model model = planar2R();
  model.couplings = {{"odd", "kg m^2", 1.0, {{0, Signal::kAcceleration, {1}, {1.0}}}}};
  RobotWithTheta s(std::make_shared<const Model>(finalize(model)));
  Eigen::RowVectorXd row(s.layout().size());
  try {
    kineticEnergyRegressor(s.tree, s.layout(), s.workspace, Eigen::Vector2d(0, 0),
                           Eigen::Vector2d(1, 1), row);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("coupling 'odd'"), std::string::npos);
  }
}

}  // namespace
}  // namespace proprio
