#include "proprio/simulation/free_motion.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "proprio/core/error.h"
#include "proprio/model/robot_reader.h"
#include "proprio/model/testing/random_model.h"
#include "proprio/simulation/testing/loop_robots.h"

namespace proprio {
namespace {

std::shared_ptr<const Model> bundled(const std::string& name) {
  return std::make_shared<const Model>(
      readRobot(std::string(PROPRIO_SOURCE_DIR) + "/examples/robots/" + name));
}

FreeMotion fromRest(const std::shared_ptr<const Model>& model, const FreeMotionOptions& options) {
  const Tree tree(model);
  return freeMotion(tree, declaredParameters(model), tree.neutralPosition(),
                    Eigen::VectorXd::Zero(tree.velocityCount()), options);
}

// The energy balance of every bundled robot holds to the accuracy of the integration. They start
// with a speed, because dry friction holds the TX40.
TEST(FreeMotion, KeepsTheEnergyBalance) {
  for (const char* name : {"planar_2r.yaml", "tx40.yaml", "humanoid.yaml"}) {
    const auto model = bundled(name);
    const Tree tree(model);
    const FreeMotion motion =
        freeMotion(tree, declaredParameters(model), tree.neutralPosition(),
                   Eigen::VectorXd::Ones(tree.velocityCount()), {0.5, 0.0005, 0.01});
    EXPECT_GT(motion.largest_kinetic, 0.01) << name;
    EXPECT_LT(motion.largest_drift, 1e-6 * motion.largest_kinetic) << name;
    EXPECT_EQ(motion.states.time.size(), 51);
  }
}

// Halving the step divides the error by sixteen: the method has order four.
TEST(FreeMotion, HasOrderFour) {
  const auto model = bundled("planar_2r.yaml");
  const FreeMotion coarse = fromRest(model, {1.0, 0.02, 0.02});
  const FreeMotion middle = fromRest(model, {1.0, 0.01, 0.02});
  const FreeMotion fine = fromRest(model, {1.0, 0.005, 0.02});
  const double first = (coarse.states.q.bottomRows(1) - middle.states.q.bottomRows(1)).norm();
  const double second = (middle.states.q.bottomRows(1) - fine.states.q.bottomRows(1)).norm();
  EXPECT_NEAR(std::log2(first / second), 4.0, 0.5);
}

// A free robot without friction falls like a stone: its centre of mass, and here its base, which is
// all there is, follow s = g t^2 / 2, and a spin about a principal axis stays as it is.
TEST(FreeMotion, StoneFalls) {
  Model model;
  model.links.resize(1);
  model.links[0].name = "stone";
  model.links[0].inertia =
      InertialParameters::fromCom(2.0, Vector3d::Zero(), Vector3d(0.1, 0.2, 0.25).asDiagonal());
  model.floating = true;
  const auto shared = std::make_shared<const Model>(finalize(model));
  const Tree tree(shared);
  Eigen::VectorXd v = Eigen::VectorXd::Zero(6);
  v[5] = 3.0;
  const FreeMotion motion =
      freeMotion(tree, declaredParameters(shared), tree.neutralPosition(), v, {1.0, 0.001, 0.5});
  const Eigen::RowVectorXd end = motion.states.q.row(2);
  EXPECT_NEAR(end[2], -0.5 * 9.81, 1e-9);
  EXPECT_NEAR(end[5], std::sin(1.5), 1e-9);
  EXPECT_NEAR(end[6], std::cos(1.5), 1e-9);
}

// Viscous friction takes the energy that is missing; a spring returns it.
TEST(FreeMotion, FrictionAndSpring) {
  Model model = *bundled("planar_2r.yaml");
  for (Joint& joint : model.joints) {
    joint.friction.terms = {{FrictionTermKind::kViscous, "viscous", 0.5}};
    joint.spring = {true, 10.0, 0.2};
  }
  const FreeMotion motion =
      fromRest(std::make_shared<const Model>(finalize(model)), {1.0, 0.001, 0.01});
  EXPECT_GT(motion.lost[100], 0.1);
  EXPECT_LT(motion.largest_drift, 1e-6 * motion.largest_kinetic);
}

// Mimic joints and planar joints move consistently with their energies.
TEST(FreeMotion, RandomTrees) {
  for (unsigned seed = 0; seed < 5; ++seed) {
    RandomModelOptions options;
    options.joints = 6;
    options.planar = 0.2;
    options.mimic = 0.3;
    options.friction = 0.0;
    options.spring = 0.3;
    options.floating = seed % 2 == 0;
    const auto model = std::make_shared<const Model>(randomModel(seed, options));
    const FreeMotion motion = fromRest(model, {0.2, 0.0005, 0.01});
    EXPECT_LT(motion.largest_drift, 1e-5 * (motion.largest_kinetic + 1e-3)) << seed;
  }
}

TEST(FreeMotion, Refusals) {
  const auto model = bundled("planar_2r.yaml");
  EXPECT_THROW(fromRest(model, {0.0, 0.001, 0.01}), Error);
  EXPECT_THROW(fromRest(model, {1.0, -0.001, 0.01}), Error);
  EXPECT_THROW(fromRest(model, {1.0, 0.001, std::nan("")}), Error);
  EXPECT_THROW(fromRest(model, {1.0, 0.001, 0.01, 0.0}), Error);
  EXPECT_THROW(fromRest(model, {1.0, 0.001, 0.01, 100.0, {{2.0, 1, {}}}}), Error);
}

// The balance counts everything that the plant has: dry friction, bristles, elastic drives,
// couplings, pushes and payloads together, with changes between two steps.
TEST(FreeMotion, BalanceOfEverything) {
  Model model = *bundled("planar_2r.yaml");
  for (Joint& joint : model.joints) {
    joint.friction.terms = {{FrictionTermKind::kViscous, "viscous", 0.1},
                            {FrictionTermKind::kCoulomb, "coulomb", 0.3}};
    joint.drive.declared = true;
    joint.drive.rotor_inertia = 0.05;
    joint.drive.stiffness = 300.0;
    joint.drive.damping = 0.2;
  }
  model.joints[0].friction.dynamic.kind = DynamicFrictionKind::kLuGre;
  model.joints[0].friction.dynamic.sigma0 = 100.0;
  model.joints[0].friction.dynamic.sigma1 = 0.5;
  model.joints[0].friction.dynamic.coulomb = 0.4;
  model.joints[0].friction.dynamic.stiction = 0.5;
  model.joints[0].friction.dynamic.stribeck_velocity = 0.1;
  CouplingColumn coupling;
  coupling.name = "c";
  coupling.value = 0.02;
  // acceleration terms that are no symmetric inertia are work done, too
  coupling.terms = {{0, Signal::kAcceleration, {0, 1}, {1.0, 0.5}},
                    {1, Signal::kVelocity, {0}, {1.0}}};
  model.couplings = {coupling};
  const auto shared = std::make_shared<const Model>(finalize(model));
  const int tip = static_cast<int>(model.links.size()) - 1;
  FreeMotionOptions options{1.0, 0.0005, 0.01};
  options.payloads = {
      {0.2, tip, InertialParameters::fromCom(1.5, {0.3, 0, 0}, 0.01 * Matrix3d::Identity())},
      {0.6123, tip, {}}};
  AppliedWrench push;
  push.start = 0.10007;  // between two steps
  push.end = 0.30003;
  push.link = tip;
  push.p_L = Vector3d(0.2, 0.1, 0.0);
  push.force = Vector3d(20.0, 10.0, -30.0);
  push.moment = Vector3d(1.0, 2.0, 3.0);
  options.surroundings.wrenches = {push};
  const FreeMotion motion = fromRest(shared, options);
  EXPECT_GT(motion.lost[100], 0.01 * motion.largest_kinetic);
  EXPECT_GT(std::abs(motion.outside[100]), 0.01 * motion.largest_kinetic);
  EXPECT_EQ(motion.outside[10], 0.0);
  EXPECT_EQ(motion.outside[31], motion.outside[100]);
  EXPECT_EQ(motion.carried[19], 0.0);
  EXPECT_NE(motion.carried[20], 0.0);
  EXPECT_NE(motion.carried[61], motion.carried[62]);
  EXPECT_LT(motion.largest_drift, 1e-5 * motion.largest_kinetic);
}

// A weight that falls onto a floor comes to rest on it: the floor has taken all of its energy, and
// it lies W / stiffness deep. The damping force begins within a step of size h, which leaves an
// error of at most force times speed times h / 2.
TEST(FreeMotion, FloorStopsTheFall) {
  const auto model = testing_loop::finished(testing_loop::oneJoint(2.0, JointType::kPrismatic));
  const Tree tree(model);
  FreeMotionOptions options{2.0, 1e-5, 0.01};
  options.surroundings.half_spaces.resize(1);
  options.surroundings.half_spaces[0].point.z() = -0.1;
  options.surroundings.points = {{1, Vector3d::Zero()}};
  const FreeMotion motion = fromRest(model, options);
  const double weight = 2.0 * 9.81, depth = weight / 1e5;
  EXPECT_NEAR(motion.states.q(200, 0), -0.1 - depth, 1e-3 * depth);
  const double speed = std::sqrt(2.0 * 9.81 * 0.1), impact = 300.0 * speed * speed * 0.5e-5;
  EXPECT_NEAR(motion.outside[200], -weight * (0.1 + depth), impact);
  EXPECT_LT(motion.largest_drift, impact);
}

// A rotor and a wheel on an elastic drive without friction, pushed by a moment tau while the rotor
// is free: with J wheel and I rotor the twist is x = tau / (J w^2) (1 - cos w t),
// w^2 = K (1/I + 1/J), and both together turn by tau t^2 / (2 (I + J)).
TEST(FreeMotion, ElasticDriveSwingsAsComputed) {
  Model arm = testing_loop::oneJoint(0.5);
  arm.joints[0].drive.declared = true;
  arm.joints[0].drive.rotor_inertia = 0.2;
  arm.joints[0].drive.stiffness = 50.0;
  const auto model = testing_loop::finished(arm);
  FreeMotionOptions options{1.0, 0.0005, 0.1};
  options.surroundings.wrenches.resize(1);
  options.surroundings.wrenches[0].link = 1;
  options.surroundings.wrenches[0].moment = Vector3d(0.0, 0.0, 3.0);
  const FreeMotion motion = fromRest(model, options);
  const double I = 0.2, J = 0.5, w = std::sqrt(50.0 * (1.0 / I + 1.0 / J));
  for (Eigen::Index i = 0; i <= 10; ++i) {
    const double t = 0.1 * static_cast<double>(i);
    const double centre = 3.0 * t * t / (2.0 * (I + J));
    const double twist = 3.0 / (J * w * w) * (1.0 - std::cos(w * t));
    EXPECT_NEAR(motion.states.q(i, 0), centre + I / (I + J) * twist, 1e-9) << t;
    EXPECT_NEAR(motion.outside[i], 3.0 * motion.states.q(i, 0), 1e-9) << t;
  }
}

// Weights that are taken up make a pendulum as slow as one that always had them.
TEST(FreeMotion, PayloadIsThatOfTheModel) {
  const auto model = bundled("planar_2r.yaml");
  Model heavy = *model;
  const InertialParameters load =
      InertialParameters::fromCom(3.0, {0.1, 0.2, 0}, 0.02 * Matrix3d::Identity());
  heavy.links.back().inertia =
      InertialParameters::fromVector(heavy.links.back().inertia.vector() + load.vector());
  FreeMotionOptions options{0.5, 0.001, 0.01};
  const FreeMotion expected = fromRest(std::make_shared<const Model>(finalize(heavy)), options);
  options.payloads = {{0.0, static_cast<int>(model->links.size()) - 1, load}};
  const FreeMotion found = fromRest(model, options);
  EXPECT_LT((found.states.q - expected.states.q).cwiseAbs().maxCoeff(), 1e-9);
}

}  // namespace
}  // namespace proprio
