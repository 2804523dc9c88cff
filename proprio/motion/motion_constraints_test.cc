// Usage of limits against direct computations, gradients against differences.

#include "proprio/motion/motion_constraints.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "proprio/dynamics/augmented_regressor.h"
#include "proprio/dynamics/testing/model_zoo.h"
#include "proprio/model/robot_reader.h"
#include "proprio/motion/excitation_criterion.h"

namespace proprio {
namespace {

struct SmoothRobot {
  explicit SmoothRobot(const std::string& name)
      : model(std::make_shared<const Model>(withSmoothSigns(
            readRobot(PROPRIO_SOURCE_DIR "/examples/robots/" + name + ".yaml", ReadOptions{}),
            10.0))),
        tree(std::make_shared<const Tree>(model)),
        parameters(declaredParameters(model)) {}
  std::shared_ptr<const Model> model;
  std::shared_ptr<const Tree> tree;
  Parameters parameters;
};

// Each usage is the quantity over its limit: torques by fullTorque, the flange by its pose.
TEST(MotionConstraints, UsageIsThePartOfTheLimit) {
  const SmoothRobot r("tx40");
  ConstraintOptions options;
  options.workspace = {workspaceLimitOf(*r.model, "flange z > 0.3"),
                       workspaceLimitOf(*r.model, "link_4 x < 0.2")};
  const MotionConstraints constraints(r.tree, r.parameters, options);
  ASSERT_EQ(constraints.list().size(), 26u);
  const RandomState x = randomState(*r.tree, 5);
  const Eigen::MatrixXd usage =
      constraints.usage(x.q.transpose(), x.v.transpose(), x.a.transpose());
  Eigen::VectorXd tau(6);
  Workspace workspace(*r.tree);
  fullTorque(*r.tree, r.parameters, compileParameters(*r.tree, r.parameters), workspace, x.q, x.v,
             x.a, tau);
  Kinematics kinematics(*r.tree);
  computeKinematics(*r.tree, x.q, kinematics);
  for (size_t c = 0; c < constraints.list().size(); ++c) {
    const MotionConstraint& constraint = constraints.list()[c];
    const int j = constraint.index;
    const JointLimits& limits = r.model->joints[static_cast<size_t>(j)].limits;
    double expected = 0.0;
    switch (constraint.kind) {
      case ConstraintKind::kPosition:
        expected = (2.0 * x.q[j] - limits.upper - limits.lower) / (limits.upper - limits.lower);
        break;
      case ConstraintKind::kVelocity:
        expected = x.v[j] / limits.velocity;
        break;
      case ConstraintKind::kAcceleration:
        expected = x.a[j] / limits.acceleration;
        break;
      case ConstraintKind::kEffort:
        expected = tau[j] / limits.effort;
        break;
      case ConstraintKind::kWorkspace:
        expected = j == 0 ? 1.0 - 10.0 * (framePose(kinematics, r.model->frames[0].link,
                                                    r.model->frames[0].X_LF)
                                              .p.z() -
                                          0.3)
                          : 1.0 - 10.0 * (0.2 - framePose(kinematics, 4).p.x());
        break;
      case ConstraintKind::kCollision:
        break;
    }
    EXPECT_NEAR(usage(0, static_cast<Eigen::Index>(c)), expected, 1e-12) << constraint.name;
  }
}

/// A box in the way of robots that have collision shapes; others refuse it.
std::vector<EnvironmentBox> boxInTheWay(const Model& model) {
  if (model.links.back().shapes.empty()) return {};
  return {{"box", {Matrix3d::Identity(), {0.4, 0.1, 0.3}}, {0.2, 0.2, 0.2}}};
}

// Gradients of everything equal central differences; some joints held still, one box in the way.
TEST(MotionConstraints, GradientsEqualDifferences) {
  constexpr double kStep = 1e-5, kTolerance = 1e-5;
  for (const char* name : {"tx40", "tx40_coupled", "humanoid"}) {
    SCOPED_TRACE(name);
    const SmoothRobot r(name);
    ConstraintOptions options;
    options.joints = motionJoints(*r.model);
    options.joints.resize(options.joints.size() - 1);
    options.workspace = {workspaceLimitOf(*r.model, r.model->links.back().name + " y > -0.1")};
    CollisionOptions collision;
    collision.environment = boxInTheWay(*r.model);
    collision.self = false;
    options.collisions = std::make_shared<const RobotCollisions>(r.tree, collision);
    options.posture = r.tree->neutralPosition();
    const MotionConstraints constraints(r.tree, r.parameters, options);
    const auto n = static_cast<Eigen::Index>(options.joints.size());
    RandomModelSource random(8);
    const auto vector = [&] {
      return Eigen::VectorXd(
          Eigen::VectorXd::NullaryExpr(n, [&] { return random.uniform(-1.0, 1.0); }));
    };
    Eigen::VectorXd x[3] = {vector(), vector(), vector()};
    std::vector<int> all;
    for (size_t c = 0; c < constraints.list().size(); ++c) all.push_back(static_cast<int>(c));
    MotionConstraints::Sample sample;
    constraints.linearise(all, x[0], x[1], x[2], 0, &sample);
    // distances have their own test: here only that they arrive, as 1 - (d - clearance) / 0.1 m
    Kinematics kinematics(*r.tree);
    computeKinematics(*r.tree, constraints.fullPositions(x[0].transpose()).transpose(), kinematics);
    Eigen::VectorXd gradient(r.tree->velocityCount());
    for (size_t c = 0; c < constraints.list().size(); ++c) {
      const MotionConstraint& constraint = constraints.list()[c];
      if (constraint.kind != ConstraintKind::kCollision) continue;
      const LinkDistance d = options.collisions->distance(kinematics, constraint.index);
      options.collisions->gradient(kinematics, constraint.index, d, gradient);
      const auto row = static_cast<Eigen::Index>(c);
      EXPECT_NEAR(sample.usage[row], 1.0 - (d.distance - options.clearance) / 0.1, 1e-9);
      for (Eigen::Index j = 0; j < n; ++j) {
        const int k = constraints.coordinates()[static_cast<size_t>(j)];
        EXPECT_NEAR(sample.dq(row, j), -10.0 * gradient[k], 1e-9);
      }
    }
    Eigen::VectorXd up(sample.usage.size()), down(up);
    for (int what = 0; what < 3; ++what) {
      for (Eigen::Index j = 0; j < n; ++j) {
        const double keep = x[what][j];
        x[what][j] = keep + kStep;
        constraints.evaluate(all, x[0], x[1], x[2], 0, up);
        x[what][j] = keep - kStep;
        constraints.evaluate(all, x[0], x[1], x[2], 0, down);
        x[what][j] = keep;
        const Eigen::MatrixXd& slope = what == 0 ? sample.dq : what == 1 ? sample.dv : sample.da;
        for (Eigen::Index c = 0; c < up.size(); ++c) {
          const MotionConstraint& constraint = constraints.list()[static_cast<size_t>(c)];
          if (constraint.kind == ConstraintKind::kCollision) continue;
          EXPECT_NEAR(slope(c, j), (up[c] - down[c]) / (2.0 * kStep),
                      kTolerance * (1.0 + std::abs(slope(c, j))))
              << constraint.name << " by "
              << "qva"[what] << " of joint " << j;
        }
      }
    }
  }
}

// A constraint names the joints that it depends on: no other joint changes it, however far it moves
// (distances to 0.1 mm, since FCL's of curved shapes turn out so when both are turned together;
// overlaps left out, whose depth is known to a few per cent only). Two shanks depend on the joints
// between them.
TEST(MotionConstraints, NamesTheJointsItDependsOn) {
  for (const char* name : {"tx40_coupled", "mobile_manipulator", "humanoid"}) {
    SCOPED_TRACE(name);
    const SmoothRobot r(name);
    ConstraintOptions options;
    options.workspace = {workspaceLimitOf(*r.model, r.model->links.back().name + " y > -0.1")};
    CollisionOptions collision;
    collision.environment = boxInTheWay(*r.model);
    options.collisions = std::make_shared<const RobotCollisions>(r.tree, collision);
    const MotionConstraints constraints(r.tree, r.parameters, options);
    const auto n = static_cast<Eigen::Index>(constraints.joints().size());
    std::vector<int> all;
    for (size_t c = 0; c < constraints.list().size(); ++c) all.push_back(static_cast<int>(c));
    RandomModelSource random(4);
    const auto vector = [&] {
      return Eigen::VectorXd(
          Eigen::VectorXd::NullaryExpr(n, [&] { return random.uniform(-1.0, 1.0); }));
    };
    constexpr double kTolerance = 1e-4 / 0.1, kApart = 1.1;
    Eigen::VectorXd before(static_cast<Eigen::Index>(all.size())), after(before);
    const Eigen::VectorXd q = 0.3 * vector(), v = vector(), a = vector();
    constraints.evaluate(all, q, v, a, 0, before);
    for (int j = 0; j < n; ++j) {
      Eigen::VectorXd x[3] = {q, v, a};
      for (Eigen::VectorXd& moved : x) moved[j] += 0.2;
      constraints.evaluate(all, x[0], x[1], x[2], 0, after);
      for (size_t c = 0; c < all.size(); ++c) {
        const MotionConstraint& constraint = constraints.list()[c];
        const auto row = static_cast<Eigen::Index>(c);
        if (std::count(constraint.joints.begin(), constraint.joints.end(), j) > 0) continue;
        if (constraint.kind == ConstraintKind::kCollision && before[row] > kApart) continue;
        EXPECT_NEAR(after[row], before[row], kTolerance)
            << constraint.name << " by " << constraints.joints()[static_cast<size_t>(j)];
      }
    }
    for (const MotionConstraint& constraint : constraints.list()) {
      if (constraint.name != "left_shank and right_shank") continue;
      EXPECT_EQ(constraint.joints.size(), 8u);
    }
  }
}

// Workspace sentences that say nothing, or name what is not there, get an answer.
TEST(MotionConstraints, WorkspaceSentences) {
  const SmoothRobot r("tx40");
  const WorkspaceLimit limit = workspaceLimitOf(*r.model, "flange y < 0.25");
  EXPECT_EQ(limit.normal, Vector3d(0, -1, 0));
  EXPECT_EQ(limit.offset, -0.25);
  // 3 x + 4 z < 2 is a plane 0.4 m from the origin with normal -(0.6, 0, 0.8)
  const WorkspaceLimit slanted = workspaceLimitOf(*r.model, "flange 3 0 4 < 2");
  EXPECT_LT((slanted.normal - Vector3d(-0.6, 0, -0.8)).norm(), 1e-15);
  EXPECT_NEAR(slanted.offset, -0.4, 1e-15);
  for (const char* text : {"", "flange z >", "flnge z > 0.3", "flange w > 1", "flange z = 1",
                           "flange z > high", "flange z > nan", "flange z > 0.3 m",
                           "flange 0 0 0 > 0.3", "flange 1 0 b > 0.3", "flange 1 0 1 = 0.3"}) {
    EXPECT_THROW(workspaceLimitOf(*r.model, text), Error) << text;
  }
}

}  // namespace
}  // namespace proprio
