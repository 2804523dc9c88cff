// Distances against closed forms, gradients against differences.

#include "proprio/motion/robot_collisions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "proprio/core/testing/temp_folder.h"
#include "proprio/dynamics/testing/model_zoo.h"
#include "proprio/dynamics/testing/perturb.h"
#include "proprio/model/robot_reader.h"
#include "proprio/motion/convex_overlap_internal.h"
#include "proprio/motion/uniform_internal.h"

namespace proprio {
namespace {

constexpr double kFclTolerance = 2e-6;  // of FCL's distances, m

Shape sphere(double radius, const Vector3d& at) {
  Shape shape;
  shape.kind = ShapeKind::kSphere;
  shape.size[0] = radius;
  shape.X_LG.p = at;
  return shape;
}

Shape box(const Vector3d& size, const Vector3d& at) {
  Shape shape;
  shape.kind = ShapeKind::kBox;
  shape.size = size;
  shape.X_LG.p = at;
  return shape;
}

/// A chain of links of 1 m along x that turn about z (last joint: slides along y), mounted at 0.
Model chain() {
  Model model;
  model.name = "chain";
  for (const char* name : {"base", "first", "second", "third"}) {
    Link link;
    link.name = name;
    link.inertia =
        InertialParameters::fromCom(1.0, Vector3d(0.5, 0, 0), Vector3d(0.1, 0.1, 0.1).asDiagonal());
    model.links.push_back(link);
  }
  for (int j = 0; j < 3; ++j) {
    Joint joint;
    joint.name = "joint_" + std::to_string(j + 1);
    joint.type = j == 2 ? JointType::kPrismatic : JointType::kRevolute;
    joint.first = j;
    joint.second = j + 1;
    joint.axis = j == 2 ? Vector3d::UnitY() : Vector3d::UnitZ();
    if (j > 0) joint.X_FJ.p = Vector3d(1, 0, 0);
    model.joints.push_back(joint);
  }
  return model;
}

struct CollidingRobot {
  CollidingRobot(Model model, const CollisionOptions& options)
      : tree(std::make_shared<const Tree>(
            std::make_shared<const Model>(finalize(std::move(model))))),
        collisions(tree, options),
        kinematics(*tree) {}
  LinkDistance at(const Eigen::VectorXd& q, int pair) {
    computeKinematics(*tree, q, kinematics);
    return collisions.distance(kinematics, pair);
  }
  std::shared_ptr<const Tree> tree;
  RobotCollisions collisions;
  Kinematics kinematics;
};

// Two spheres are as far apart as their centres less the radii, also when they overlap.
TEST(RobotCollisions, SpheresHaveTheirClosedForm) {
  Model model = chain();
  model.links[0].shapes = {sphere(0.1, {0, 0, 0.2})};
  model.links[2].shapes = {sphere(0.25, {0.4, 0, 0})};
  CollidingRobot r(model, {});
  ASSERT_EQ(r.collisions.pairCount(), 1);
  EXPECT_EQ(r.collisions.pairName(0), "base and second");
  for (const double bend : {0.3, 1.5, 2.6, 3.0, 3.14}) {
    const Vector3d centre(1.0 + 0.4 * std::cos(bend), 0.4 * std::sin(bend), 0.0);
    const double expected = (centre - Vector3d(0, 0, 0.2)).norm() - 0.35;
    EXPECT_NEAR(r.at(Eigen::Vector3d(0.0, bend, 0.0), 0).distance, expected, kFclTolerance);
  }
  Model close = model;
  close.links[0].shapes = {sphere(0.5, {0.5, 0, 0})};
  CollidingRobot touching(close, {});
  const double overlap = std::hypot(0.5 + 0.4 * std::cos(2.0), 0.4 * std::sin(2.0)) - 0.75;
  ASSERT_LT(overlap, 0.0);
  EXPECT_NEAR(touching.at(Eigen::Vector3d(0, 2.0, 0), 0).distance, overlap, 1e-4);
}

// A capsule is as far from a sphere as its segment from the centre, less the radii: beside its
// cylinder and above its end.
TEST(RobotCollisions, CapsulesHaveTheirClosedForm) {
  for (const double height : {0.2, 0.5}) {
    Model model = chain();
    model.links[0].shapes = {sphere(0.1, {0, 0, height})};
    Shape capsule = sphere(0.25, {0.4, 0, 0});
    capsule.kind = ShapeKind::kCapsule;
    capsule.size[1] = 0.6;  // from -0.3 to 0.3 m along z
    model.links[2].shapes = {capsule};
    CollidingRobot r(model, {});
    for (const double bend : {1.5, 2.0, 2.6}) {  // near: far ones are bounded only
      const double beside = std::hypot(1.0 + 0.4 * std::cos(bend), 0.4 * std::sin(bend));
      const double expected = std::hypot(beside, std::max(0.0, height - 0.3)) - 0.35;
      EXPECT_NEAR(r.at(Eigen::Vector3d(0.0, bend, 0.0), 0).distance, expected, kFclTolerance);
    }
  }
}

// Two capsules of any direction, crossing, parallel or in line, are as far apart as the nearest of
// many points on their axes, less the radii. Points every h apart miss the nearest by at most h.
TEST(RobotCollisions, CapsulesOfAnyDirection) {
  constexpr double kLength = 0.6, kRadius = 0.02;
  constexpr int kPoints = 120;
  Uniform random(3);
  for (int k = 0; k < 12; ++k) {
    Model model = chain();
    Shape capsule = sphere(kRadius, Vector3d::Zero());
    capsule.kind = ShapeKind::kCapsule;
    capsule.size[1] = kLength;
    model.links[0].shapes = model.links[2].shapes = {capsule};
    // the first two are parallel, one beside the other and one above the other
    const double turn = k < 2 ? 0.0 : 1.0;
    const Vector3d rpy = turn * Vector3d(random(-3, 3), random(-1, 1), random(-3, 3));
    const Vector3d at(-1.0 + turn * random(0.1, 0.4), k == 1 ? 0.0 : random(0.1, 0.3),
                      k == 1 ? 0.8 : random(-0.3, 0.3));
    model.links[2].shapes[0].X_LG = Pose::fromXyzRpy(at, rpy);
    CollidingRobot r(model, {});
    const LinkDistance found = r.at(Eigen::Vector3d::Zero(), 0);
    double least = 1e300;
    const Pose X = {model.links[2].shapes[0].X_LG.R, at + Vector3d(1, 0, 0)};
    for (int i = 0; i <= kPoints; ++i) {
      for (int j = 0; j <= kPoints; ++j) {
        const Vector3d a(0, 0, kLength * (double(i) / kPoints - 0.5));
        const Vector3d b(0, 0, kLength * (double(j) / kPoints - 0.5));
        least = std::min(least, (X * b - a).norm());
      }
    }
    EXPECT_LE(found.distance, least - 2.0 * kRadius + 1e-12) << k;
    EXPECT_GE(found.distance, least - 2.0 * kRadius - kLength / kPoints) << k;
    if (found.distance > 0.0) {
      EXPECT_NEAR((found.p_B - found.p_A).norm(), found.distance, 1e-12) << k;
    }
  }
}

// What is farther apart than the caller wants to know is answered with less than its distance, but
// with more than that; everything nearer exactly.
TEST(RobotCollisions, FarPairsAreBoundedFromBelow) {
  constexpr double kEnough = 0.03, kEverything = 100.0;
  CollidingRobot r(readRobot(PROPRIO_SOURCE_DIR "/examples/robots/humanoid.yaml", ReadOptions{}),
                   {});
  int near = 0, bounded = 0;
  for (int k = 0; k < 10; ++k) {
    const RandomState x = randomState(*r.tree, k);
    computeKinematics(*r.tree, x.q, r.kinematics);
    for (int pair = 0; pair < r.collisions.pairCount(); ++pair) {
      const double exact = r.collisions.distance(r.kinematics, pair, kEverything).distance;
      const double found = r.collisions.distance(r.kinematics, pair, kEnough).distance;
      const std::string name = r.collisions.pairName(pair);
      if (found <= kEnough) {
        ++near;
        EXPECT_EQ(found, exact) << name;
      } else {
        bounded += found < exact ? 1 : 0;
        EXPECT_GT(exact, kEnough) << name;
        EXPECT_LE(found, exact + kFclTolerance) << name;
      }
    }
  }
  EXPECT_GT(near, 20);
  EXPECT_GT(bounded, 1000);
}

// A box beside a box, and a hull read from a mesh beside the box it describes, keep the distance of
// their faces; neighbours and disabled pairs are left out.
TEST(RobotCollisions, BoxesMeshesAndDisabledPairs) {
  Model model = chain();
  model.links[1].shapes = {box({0.2, 0.2, 0.2}, {0.5, 0, 0})};
  model.links[2].shapes = {box({0.2, 0.2, 0.2}, {0.5, 0, 0})};
  model.links[3].shapes = {box({0.2, 0.2, 0.2}, {0.5, 0, 0})};
  CollisionOptions options;
  options.environment = {{"wall", {Matrix3d::Identity(), {0, 2, 0}}, {10, 1, 10}}};
  {
    CollidingRobot r(model, options);
    ASSERT_EQ(r.collisions.pairCount(), 4);  // first-third, and every link with the wall
    const Eigen::Vector3d q(0.0, 0.0, 0.9);
    computeKinematics(*r.tree, q, r.kinematics);
    for (int pair = 0; pair < 4; ++pair) {
      const double expected = r.collisions.pairName(pair) == "first and third"
                                  ? std::hypot(1.8, 0.7)
                              : r.collisions.pairName(pair) == "third and wall" ? 0.5
                                                                                : 1.4;
      const double found = r.collisions.distance(r.kinematics, pair).distance;
      // far pairs: a lower bound from the spheres around them
      if (expected < 0.6) {
        EXPECT_NEAR(found, expected, kFclTolerance) << r.collisions.pairName(pair);
      } else {
        EXPECT_GT(found, 0.5 - kFclTolerance) << r.collisions.pairName(pair);
        EXPECT_LE(found, expected + kFclTolerance) << r.collisions.pairName(pair);
      }
    }
  }
  options.disabled = {{"wall", "third"}, {"first", "third"}};
  EXPECT_EQ(CollidingRobot(model, options).collisions.pairCount(), 2);
  options.disabled = {{"wal", "third"}};
  EXPECT_THROW(CollidingRobot(model, options), Error);
  options.disabled.clear();
  // the same last box as a mesh
  const testing::TempFolder folder;
  const std::string path = folder.file("box.obj");
  std::ofstream(path) << "v .1 .1 .1\nv .1 .1 -.1\nv .1 -.1 .1\nv .1 -.1 -.1\nv -.1 .1 .1\n"
                         "v -.1 .1 -.1\nv -.1 -.1 .1\nv -.1 -.1 -.1\nf 1 2 3\nf 6 7 8\n";
  Model meshed = model;
  meshed.links[3].shapes[0].kind = ShapeKind::kMesh;
  meshed.links[3].shapes[0].mesh = path;
  CollidingRobot r(meshed, options);
  for (int pair = 0; pair < r.collisions.pairCount(); ++pair) {
    if (r.collisions.pairName(pair) != "third and wall") continue;
    EXPECT_NEAR(r.at(Eigen::Vector3d(0, 0, 0.9), pair).distance, 0.5, kFclTolerance);
  }
  meshed.links[3].shapes[0].mesh = "not_there.stl";
  EXPECT_THROW(CollidingRobot(meshed, options), Error);
}

// A box around a robot without collision shapes protects nothing and is refused; where only some
// links have shapes, the others that move and have a body are listed (not the base, not a frame
// without mass).
TEST(RobotCollisions, LinksWithoutShapes) {
  Model model = chain();
  model.links[0].shapes = {box({1, 1, 1}, {0, 0, 0})};  // the base cannot move
  CollisionOptions options;
  options.environment = {{"cell", {}, {2, 2, 2}}};
  try {
    CollidingRobot r(model, options);
    FAIL() << "a box without effect";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("'cell'"), std::string::npos) << text;
    EXPECT_NE(text.find("collision shape"), std::string::npos) << text;
  }
  model.links[2].shapes = {box({0.2, 0.2, 0.2}, {0.5, 0, 0})};
  model.links[3].inertia = {};
  const CollidingRobot r(model, options);
  EXPECT_EQ(shapelessLinks(*r.tree), std::vector<int>{1});
}

// Overlapping parts: moved apart by the depth along n (and a little) they no longer touch, and no
// direction of a fine grid needs a push that is shorter by more than a tenth. Every pair of
// shapes, deep and shallow, and none ends the program.
TEST(RobotCollisions, OverlapsAreDepths) {
  constexpr double kWorse = 1.1, kPush = 1e-4;
  Uniform random(3);
  const auto hull = std::make_shared<std::vector<Vector3d>>();
  for (int k = 0; k < 40; ++k) {
    hull->push_back(0.3 * Vector3d(random(-1, 1), random(-1, 1), random(-1, 1)));
  }
  const std::vector<internal::ConvexBody> bodies = {{ShapeKind::kBox, {0.3, 0.5, 0.2}, nullptr},
                                                    {ShapeKind::kCylinder, {0.15, 0.6, 0}, nullptr},
                                                    {ShapeKind::kSphere, {0.2, 0, 0}, nullptr},
                                                    {ShapeKind::kMesh, {0, 0, 0}, hull}};
  int touching = 0;
  for (int k = 0; k < 400; ++k) {
    const internal::ConvexBody &a = bodies[static_cast<size_t>(k % 4)],
                               &b = bodies[static_cast<size_t>(k / 4 % 4)];
    const auto pose = [&](double reach) {
      return Pose::fromXyzRpy({random(-reach, reach), random(-reach, reach), random(-reach, reach)},
                              {random(-3, 3), random(-3, 3), random(-3, 3)});
    };
    const Pose X_WA = pose(0.0), X_WB = pose(0.25);
    const internal::Overlap found = internal::overlapOf(a, X_WA, b, X_WB, X_WB.p - X_WA.p);
    EXPECT_NEAR(found.n.norm(), 1.0, 1e-12);
    EXPECT_NEAR(found.depth, found.n.dot(found.p_A - found.p_B), 1e-12);
    double least = 1e300;
    for (int i = 0; i < 4000; ++i) {
      const double z = 1.0 - (2.0 * i + 1.0) / 4000.0, r = std::sqrt(1.0 - z * z);
      const Vector3d n(r * std::cos(2.4 * i), r * std::sin(2.4 * i), z);
      least = std::min(least, n.dot(X_WA * internal::supportPoint(a, X_WA.R.transpose() * n) -
                                    X_WB * internal::supportPoint(b, X_WB.R.transpose() * -n)));
    }
    if (least < 0.0) continue;
    ++touching;
    EXPECT_LT(found.depth, kWorse * least + kPush) << k;
    // pushed by the depth along n, n is an axis that separates them
    Pose apart = X_WB;
    apart.p += (found.depth + kPush) * found.n;
    const Vector3d& n = found.n;
    EXPECT_LT(n.dot(X_WA * internal::supportPoint(a, X_WA.R.transpose() * n)),
              n.dot(apart * internal::supportPoint(b, apart.R.transpose() * -n)))
        << k;
  }
  EXPECT_GT(touching, 200);
}

// Gradients of the distances of a floating humanoid's own links and of an arm to a box equal
// differences; those err by the tolerance of the distance over the step.
TEST(RobotCollisions, GradientsEqualDifferences) {
  constexpr double kStep = 1e-3, kSlope = 2.0 * kFclTolerance / kStep + 1e-3;
  Model arm = chain();
  Shape rod;
  rod.kind = ShapeKind::kCylinder;
  rod.size = Vector3d(0.05, 0.8, 0);
  rod.X_LG = Pose::fromXyzRpy({0.5, 0, 0}, {0.2, 1.3, 0});
  for (size_t k = 1; k < 4; ++k) arm.links[k].shapes = {rod, sphere(0.1, {0.9, 0, 0.05})};
  CollisionOptions options;
  options.environment = {
      {"post", Pose::fromXyzRpy({1.9, 0.9, 0.1}, {0.1, 0.2, 0.3}), {0.3, 0.3, 1}}};
  CollidingRobot robots[] = {
      CollidingRobot(arm, options),
      CollidingRobot(readRobot(PROPRIO_SOURCE_DIR "/examples/robots/humanoid.yaml", ReadOptions{}),
                     {})};
  int checked = 0;
  for (CollidingRobot& r : robots) {
    const int nv = r.tree->velocityCount();
    Eigen::VectorXd gradient(nv);
    for (unsigned seed = 1; seed <= 6; ++seed) {
      Eigen::VectorXd q = randomState(*r.tree, seed).q;
      q.tail(r.tree->model().position_count) *= 0.3;
      for (int pair = 0; pair<r.collisions.pairCount(); pair += nv> 6 ? 41 : 1) {
        const LinkDistance at = r.at(q, pair);
        if (at.distance < 0.02 || at.distance > 0.45) continue;
        r.collisions.gradient(r.kinematics, pair, at, gradient);
        for (int j = 0; j < nv; ++j) {
          const Eigen::VectorXd e = kStep * Eigen::VectorXd::Unit(nv, j);
          const double up = r.at(moved(*r.tree, q, e), pair).distance;
          const double down = r.at(moved(*r.tree, q, -e), pair).distance;
          // where the nearest parts change there is a kink: both one-sided slopes must agree
          if (std::abs(up + down - 2.0 * at.distance) > 20.0 * kFclTolerance) continue;
          EXPECT_NEAR(gradient[j], (up - down) / (2.0 * kStep), kSlope * (1.0 + 0.1 / at.distance))
              << r.collisions.pairName(pair) << " coordinate " << j;
          ++checked;
        }
      }
    }
  }
  EXPECT_GT(checked, 100);
}

}  // namespace
}  // namespace proprio
