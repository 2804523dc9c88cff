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

// The energy balance of every bundled robot holds to the accuracy of the integration.
TEST(FreeMotion, KeepsTheEnergyBalance) {
  for (const char* name : {"planar_2r.yaml", "tx40.yaml", "humanoid.yaml"}) {
    const FreeMotion motion = fromRest(bundled(name), {0.5, 0.0005, 0.01});
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
}

// What the model declares and the free motion leaves out is listed.
TEST(FreeMotion, ListsWhatItLeavesOut) {
  Model arm = testing_loop::oneJoint(0.5);
  arm.joints[0].friction.terms = {{FrictionTermKind::kViscous, "viscous", 2.0}};
  EXPECT_TRUE(leftOutOfFreeMotion(arm).empty());
  arm.joints[0].friction.terms.push_back({FrictionTermKind::kCoulomb, "coulomb", 3.0});
  arm.joints[0].drive.stiffness = 500.0;
  arm.joints[0].friction.dynamic.kind = DynamicFrictionKind::kDahl;
  EXPECT_EQ(leftOutOfFreeMotion(arm),
            (std::vector<std::string>{"friction other than viscous of joint",
                                      "bristle friction of joint", "elasticity of joint"}));
}

}  // namespace
}  // namespace proprio
