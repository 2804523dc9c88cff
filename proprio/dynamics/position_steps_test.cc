// Steps on the manifold of positions: undone by differences, along the velocities of the tree, and
// continuous in the quaternion.

#include "proprio/dynamics/position_steps.h"

#include <gtest/gtest.h>

#include <cmath>

#include "proprio/core/error.h"
#include "proprio/dynamics/testing/test_robot.h"
#include "proprio/spatial/se3.h"

namespace proprio {
namespace {

// A difference undoes a step, and the step to a random position arrives there: 1e-12 is the
// rounding of an exponential and a logarithm of numbers of size one. A step of zero stays where it
// is.
TEST(PositionSteps, DifferenceUndoesStep) {
  for (const ZooEntry& entry : wholeZoo()) {
    SCOPED_TRACE(entry.name);
    const Tree tree(entry.model);
    const RandomState x = randomState(tree, 1), other = randomState(tree, 2);
    Eigen::VectorXd q(tree.positionCount()), step(tree.velocityCount());
    integratePosition(tree, x.q, 0.3 * x.v, q);
    positionDifference(tree, x.q, q, step);
    EXPECT_LT((step - 0.3 * x.v).norm(), 1e-12 * (1.0 + x.v.norm()));
    positionDifference(tree, x.q, other.q, step);
    integratePosition(tree, x.q, step, q);
    Eigen::VectorXd rest(tree.velocityCount());
    positionDifference(tree, q, other.q, rest);
    EXPECT_LT(rest.norm(), 1e-12 * (1.0 + step.norm()));
    integratePosition(tree, x.q, Eigen::VectorXd::Zero(tree.velocityCount()), q);
    EXPECT_LT((q - x.q).norm(), 1e-15 * x.q.norm());
  }
}

// A free base moves as the matrix exponential says, position and rotation, from 1e-9 rad to 3 rad;
// and two whole turns in 0.1 rad change no sign between neighbours and end at the same quaternion.
TEST(PositionSteps, FreePoseFollowsItsTwist) {
  const Tree tree(std::make_shared<const Model>(randomModel(5, {.joints = 3, .floating = true})));
  ASSERT_TRUE(tree.floating());
  Eigen::VectorXd q = randomState(tree, 3).q, next = q;
  Eigen::VectorXd step = Eigen::VectorXd::Zero(tree.velocityCount());
  for (const double angle : {1e-9, 1e-7, 1e-5, 1e-3, 0.5, 3.0}) {
    step.head<3>() = Vector3d(0.4, -1.0, 0.2);
    step.segment<3>(3) = angle * Vector3d(2.0, -1.0, 2.0) / 3.0;
    integratePosition(tree, q, step, next);
    const Pose X = {rotationFromQuaternion(q.segment<4>(3)), q.head<3>()};
    const Pose expected = X * poseExp(step.head<6>());
    EXPECT_LT((next.head<3>() - expected.p).norm(), 1e-14 * (1.0 + expected.p.norm()));
    EXPECT_LT((rotationFromQuaternion(next.segment<4>(3)) - expected.R).norm(), 1e-14);
  }
  step.head<3>().setZero();
  step.segment<3>(3) = 4.0 * M_PI / 126.0 * Vector3d(0.0, 0.6, 0.8);
  const Eigen::Vector4d start = q.segment<4>(3);
  for (int k = 0; k < 126; ++k) {
    const Eigen::Vector4d before = q.segment<4>(3);
    integratePosition(tree, q, step, q);
    EXPECT_GT(before.dot(q.segment<4>(3)), 0.99);
  }
  EXPECT_LT((q.segment<4>(3) - start).norm(), 1e-13);
}

// The rate is the derivative of steps along the velocity: central differences over h are off by
// h^2 / 6 |v|^3 (1e-10 here) and by rounding, eps |q| / h (1e-11 of positions).
TEST(PositionSteps, RateIsTheDerivative) {
  constexpr double kStep = 1e-5;
  for (const ZooEntry& entry : wholeZoo()) {
    SCOPED_TRACE(entry.name);
    const Tree tree(entry.model);
    const RandomState x = randomState(tree, 4);
    Eigen::VectorXd ahead(tree.positionCount()), behind = ahead, rate = ahead;
    integratePosition(tree, x.q, kStep * x.v, ahead);
    integratePosition(tree, x.q, -kStep * x.v, behind);
    positionRate(tree, x.q, x.v, rate);
    const double size = 1.0 + std::pow(x.v.norm(), 3.0) + x.q.norm();
    EXPECT_LT((rate - (ahead - behind) / (2.0 * kStep)).norm(), 1e-10 * size);
  }
}

// Other sizes and a quaternion of zeros are refused.
TEST(PositionSteps, RefusesWhatIsNoPosition) {
  const Tree tree(std::make_shared<const Model>(randomModel(5, {.joints = 3, .floating = true})));
  const Eigen::VectorXd q = tree.neutralPosition(), v = Eigen::VectorXd::Ones(tree.velocityCount());
  Eigen::VectorXd out = q, step = v;
  EXPECT_THROW(integratePosition(tree, q, q, out), Error);
  EXPECT_THROW(integratePosition(tree, v, v, out), Error);
  EXPECT_THROW(positionRate(tree, q, q, out), Error);
  EXPECT_THROW(positionDifference(tree, q, q, out), Error);
  EXPECT_THROW(integratePosition(tree, Eigen::VectorXd::Zero(q.size()), v, out), Error);
  EXPECT_THROW(positionDifference(tree, q, Eigen::VectorXd::Zero(q.size()), step), Error);
}

}  // namespace
}  // namespace proprio
