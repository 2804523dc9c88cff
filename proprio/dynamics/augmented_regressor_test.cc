#include "proprio/dynamics/augmented_regressor.h"

#include <gtest/gtest.h>

#include "proprio/dynamics/inverse_dynamics.h"
#include "proprio/dynamics/joint_effects.h"
#include "proprio/dynamics/kinematics.h"
#include "proprio/dynamics/testing/model_zoo.h"
#include "proprio/dynamics/testing/test_robot.h"

namespace proprio {
namespace {

// Rounding of a few thousand operations on numbers of the vector's size.
constexpr double kColumnTolerance = 1e-11;

/// Everything that can be declared at a joint, on one model: all friction terms, springs, mimic
/// joints, couplings with every signal (two terms of one column in the same row as well).
std::shared_ptr<const Model> richModel(unsigned seed, bool floating) {
  RandomModelOptions options{.joints = 10};
  options.fixed = 0.1;
  options.planar = 0.1;
  options.mimic = 0.3;
  options.rotor = 0.5;
  options.spring = 0.5;
  options.floating = floating;
  Model model = randomModel(seed, options);
  std::vector<int> single;
  for (size_t j = 0; j < model.joints.size(); ++j) {
    Joint& joint = model.joints[j];
    if (velocityCount(joint.type) != 1) continue;
    single.push_back(static_cast<int>(j));
    const SmoothSign smooth[] = {SmoothSign::kSign, SmoothSign::kTanh, SmoothSign::kArctan};
    joint.friction.smooth_sign = smooth[j % 3];
    const FrictionTermKind kinds[] = {
        FrictionTermKind::kViscous,         FrictionTermKind::kCoulomb,
        FrictionTermKind::kOffset,          FrictionTermKind::kViscousPositive,
        FrictionTermKind::kViscousNegative, FrictionTermKind::kCoulombPositive,
        FrictionTermKind::kCoulombNegative, FrictionTermKind::kPower,
        FrictionTermKind::kArctan,          FrictionTermKind::kStribeck};
    int k = 0;
    for (const FrictionTermKind kind : kinds) {
      ++k;
      joint.friction.terms.push_back({kind, "term_" + std::to_string(k), 0.1 * k, 0.3, 3.0});
    }
  }
  const Signal signals[] = {Signal::kAcceleration, Signal::kVelocity, Signal::kSignVelocity,
                            Signal::kPosition, Signal::kOne};
  for (size_t k = 0; k < 5; ++k) {
    CouplingColumn column;
    column.name = "coupling_" + std::to_string(k);
    column.value = 0.3 + 0.1 * static_cast<double>(k);
    const int first = single[k % single.size()], second = single[(k + 3) % single.size()];
    column.terms = {{first, signals[k], {second}, {1.5}},
                    {second, signals[k], {first, second}, {-0.5, 2.0}},
                    {second, signals[(k + 1) % 5], {first}, {0.7}}};
    model.couplings.push_back(column);
  }
  return std::make_shared<const Model>(finalize(model));
}

Eigen::VectorXd values(const Parameters& parameters) {
  return Eigen::Map<const Eigen::VectorXd>(parameters.values.data(), parameters.layout->size());
}

// Y theta is inverse dynamics (with rotors) plus friction, springs and couplings, on every kind of
// model.
TEST(AugmentedRegressor, TimesParametersIsTheFullTorque) {
  std::vector<std::shared_ptr<const Model>> models;
  for (const ZooEntry& entry : wholeZoo()) models.push_back(entry.model);
  for (unsigned seed = 1; seed < 7; ++seed) models.push_back(richModel(seed, seed % 2 == 0));
  for (const auto& model : models) {
    SCOPED_TRACE(model->name);
    TestRobot s(model);
    const RandomState x = randomState(s.tree, 3);
    const ParameterLayout& layout = *s.parameters.layout;
    Eigen::MatrixXd Y = Eigen::MatrixXd::Constant(s.tree.velocityCount(), layout.size(), NAN);
    augmentedRegressor(s.tree, layout, s.workspace, x.q, x.v, x.a, Y);
    Eigen::VectorXd tau = Eigen::VectorXd::Constant(s.tree.velocityCount(), NAN);
    fullTorque(s.tree, s.parameters, s.compiled, s.workspace, x.q, x.v, x.a, tau);
    EXPECT_LT(relativeDeviation(Y * values(s.parameters), tau), kColumnTolerance);
    // a push on the last link takes J^T f off
    const auto last = static_cast<int>(model->links.size()) - 1;
    LinkWrenches push = LinkWrenches::Zero(6, last + 1);
    push.col(last) = Vector6d::LinSpaced(6, -10.0, 20.0);
    Kinematics kinematics(s.tree);
    computeKinematics(s.tree, x.q, kinematics);
    Eigen::Matrix<double, 6, Eigen::Dynamic> J(6, s.tree.velocityCount());
    frameJacobian(s.tree, kinematics, last, {}, Representation::kBody, Representation::kBody, J);
    Eigen::VectorXd pushed(s.tree.velocityCount());
    fullTorque(s.tree, s.parameters, s.compiled, s.workspace, x.q, x.v, x.a, pushed, &push);
    tau -= J.transpose() * push.col(last);
    EXPECT_LT(relativeDeviation(pushed, tau), kColumnTolerance);
  }
}

// Effects at the joints do no work on the base: their columns are zero in the base rows.
TEST(AugmentedRegressor, JointEffectsLeaveTheBaseRowsZero) {
  TestRobot s(richModel(2, true));
  const RandomState x = randomState(s.tree, 3);
  const ParameterLayout& layout = *s.parameters.layout;
  Eigen::MatrixXd columns(s.tree.velocityCount(), layout.size() - layout.inertialSize());
  jointEffectColumns(s.tree, layout, x.q, x.v, x.a, columns);
  EXPECT_EQ(columns.topRows(6).norm(), 0.0);
  EXPECT_GT(columns.norm(), 1.0);
}

// The torque of a mimic joint's friction reaches its leader by the principle of virtual work.
TEST(AugmentedRegressor, MimicJointsActOnTheirLeader) {
  Model model = planar2R();
  model.joints[1].mimic = Mimic{"joint_1", -2.0, 0.3};
  model.joints[1].friction.terms = {{FrictionTermKind::kViscous, "viscous", 5.0}};
  model.joints[1].spring = {true, 7.0, 0.1};
  TestRobot s(std::make_shared<const Model>(finalize(model)));
  const double q = 0.4, v = 1.5;
  Eigen::VectorXd tau = Eigen::VectorXd::Zero(1);
  addJointEffects(s.tree, s.parameters, Eigen::VectorXd::Constant(1, q),
                  Eigen::VectorXd::Constant(1, v), Eigen::VectorXd::Zero(1), tau);
  EXPECT_NEAR(tau[0], -2.0 * (5.0 * (-2.0 * v) + 7.0 * (-2.0 * q + 0.3 - 0.1)), 1e-12);
}

// The coupled TX40 wrist: row 5 holds (a6, v6, s), row 6 holds (a5, v5, s), s = sign(v5 + v6).
TEST(AugmentedRegressor, WristCouplingColumnsAreTheDeclaredFormula) {
  Model model = sixAxisArm();
  model.couplings = {
      {"Iam6",
       "kg m^2",
       0.01,
       {{4, Signal::kAcceleration, {5}, {1.0}}, {5, Signal::kAcceleration, {4}, {1.0}}}},
      {"fvm6",
       "N m s/rad",
       0.6,
       {{4, Signal::kVelocity, {5}, {1.0}}, {5, Signal::kVelocity, {4}, {1.0}}}},
      {"fsm6",
       "N m",
       1.9,
       {{4, Signal::kSignVelocity, {4, 5}, {1.0, 1.0}},
        {5, Signal::kSignVelocity, {4, 5}, {1.0, 1.0}}}}};
  TestRobot s(std::make_shared<const Model>(finalize(model)));
  for (unsigned seed = 0; seed < 8; ++seed) {
    const RandomState x = randomState(s.tree, seed);
    Eigen::MatrixXd columns(6, 3), expected = Eigen::MatrixXd::Zero(6, 3);
    jointEffectColumns(s.tree, *s.parameters.layout, x.q, x.v, x.a, columns);
    const double sign = x.v[4] + x.v[5] > 0.0 ? 1.0 : -1.0;
    expected.row(4) << x.a[5], x.v[5], sign;
    expected.row(5) << x.a[4], x.v[4], sign;
    EXPECT_EQ((columns - expected).norm(), 0.0);
  }
}

// The acceleration part of a coupling belongs to the mass matrix: M_c a is its torque.
TEST(AugmentedRegressor, CouplingInertiaTimesAccelerationIsItsTorque) {
  for (unsigned seed = 1; seed < 7; ++seed) {
    TestRobot s(richModel(seed, seed % 2 == 0));
    const RandomState x = randomState(s.tree, 3), y = randomState(s.tree, 4);
    const int nv = s.tree.velocityCount();
    Eigen::VectorXd one = Eigen::VectorXd::Zero(nv), two = one;
    addJointEffects(s.tree, s.parameters, x.q, x.v, x.a, one);
    addJointEffects(s.tree, s.parameters, x.q, x.v, y.a, two);
    Eigen::MatrixXd M = Eigen::MatrixXd::Zero(nv, nv);
    addCouplingInertia(s.tree, s.parameters, M);
    EXPECT_LT(relativeDeviation(M * (x.a - y.a), one - two), kColumnTolerance);
  }
}

// The batch gives the numbers of the one-sample form, also when its memory is used again.
TEST(AugmentedRegressor, BatchEqualsOneSample) {
  for (unsigned seed = 1; seed < 7; ++seed) {
    SCOPED_TRACE(seed);
    TestRobot s(richModel(seed, seed % 2 == 0));
    const ParameterLayout& layout = *s.parameters.layout;
    const int nv = s.tree.velocityCount();
    RegressorBatch batch(s.tree, 12, layout.size() + 1);
    for (const Eigen::Index samples : {9, 3, 12, 1, 0}) {
      Eigen::MatrixXd q(samples, s.tree.positionCount()), v(samples, nv), a(samples, nv);
      for (Eigen::Index k = 0; k < samples; ++k) {
        const RandomState x = randomState(s.tree, 20 + static_cast<unsigned>(k + samples));
        q.row(k) = x.q.transpose();
        v.row(k) = x.v.transpose();
        a.row(k) = x.a.transpose();
      }
      augmentedRegressorBatch(s.tree, layout, s.workspace, q, v, a, batch);
      Eigen::MatrixXd Y(nv, layout.size()), rows(nv, layout.size());
      for (Eigen::Index k = 0; k < samples; ++k) {
        augmentedRegressor(s.tree, layout, s.workspace, q.row(k).transpose(), v.row(k).transpose(),
                           a.row(k).transpose(), Y);
        for (int j = 0; j < nv; ++j)
          rows.row(j) = batch.rows(j, samples).row(k).head(layout.size());
        EXPECT_LT(relativeDeviation(rows, Y), kColumnTolerance);
      }
    }
  }
}

// Parameters of another model, wrong sizes and too small batches are refused by name.
TEST(AugmentedRegressor, MistakesAreNamed) {
  TestRobot s(std::make_shared<const Model>(sixAxisArm()));
  TestRobot other(std::make_shared<const Model>(planar2R()));
  const RandomState x = randomState(s.tree, 1);
  Eigen::MatrixXd Y(6, s.parameters.layout->size());
  const auto message = [](const auto& call) {
    try {
      call();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(message([&] {
              augmentedRegressor(s.tree, *other.parameters.layout, s.workspace, x.q, x.v, x.a, Y);
            }).find("planar_2r"),
            std::string::npos);
  Eigen::MatrixXd narrow(6, 5);
  EXPECT_NE(message([&] {
              augmentedRegressor(s.tree, *s.parameters.layout, s.workspace, x.q, x.v, x.a, narrow);
            }).find("columns of Y has 5"),
            std::string::npos);
  RegressorBatch batch(s.tree, 1, 10);
  EXPECT_NE(message([&] {
              augmentedRegressorBatch(s.tree, *s.parameters.layout, s.workspace, x.q.transpose(),
                                      x.v.transpose(), x.a.transpose(), batch);
            }).find("70 parameters"),
            std::string::npos);
}

}  // namespace
}  // namespace proprio
