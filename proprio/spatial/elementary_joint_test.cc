#include "proprio/spatial/elementary_joint.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "proprio/core/error.h"
#include "proprio/spatial/se3.h"
#include "proprio/spatial/testing/test_utilities.h"

namespace proprio {
namespace {

using Kind = ElementaryJoint::Kind;
using testing::derivative;
using testing::randomPose;
using testing::randomVector;

constexpr double kJointRound = 1e-13;
constexpr double kJointDifference = 1e-10;

std::vector<ElementaryJoint> randomJoints() {
  std::mt19937 rng(1);
  std::vector<ElementaryJoint> joints;
  for (Kind kind : {Kind::kFixed, Kind::kRevolute, Kind::kPrismatic}) {
    const Vector3d axis = randomVector(rng).normalized();
    const Pose before = randomPose(rng);
    joints.push_back({kind, axis, before, randomPose(rng)});
  }
  return joints;
}

// The three motion subspaces are the derivatives of the pose with respect to the joint position.
TEST(ElementaryJoint, SubspacesAreDerivatives) {
  for (const auto& joint : randomJoints()) {
    for (double theta : {-2.0, 0.0, 0.7, 3.0}) {
      const Pose X = jointPose(joint, theta);
      const Eigen::Matrix4d dH =
          derivative([&](double s) { return jointPose(joint, s).matrix(); }, theta);
      const Vector6d body = twistVee(X.inverse().matrix() * dH);
      const Vector6d spatial = twistVee(dH * X.inverse().matrix());
      EXPECT_LT((bodySubspace(joint).vector() - body).norm(), kJointDifference);
      EXPECT_LT((spatialSubspace(joint).vector() - spatial).norm(), kJointDifference);
      const auto mixed = mixedSubspace(joint, theta);
      EXPECT_LT((mixed.linear - dH.topRightCorner<3, 1>()).norm(), kJointDifference);
      EXPECT_LT((mixed.angular - spatial.tail<3>()).norm(), kJointDifference);
    }
  }
}

// A revolute joint without offsets follows Rodrigues, a prismatic one slides, a fixed one stays.
TEST(ElementaryJoint, ElementaryMotions) {
  const Vector3d axis = Vector3d(1.0, 2.0, -2.0) / 3.0;
  const Matrix3d a = skew(axis);
  const Pose turned = jointPose({Kind::kRevolute, axis, {}, {}}, 0.8);
  const Matrix3d rodrigues =
      Matrix3d::Identity() + std::sin(0.8) * a + (1.0 - std::cos(0.8)) * a * a;
  EXPECT_LT((turned.R - rodrigues).norm(), kJointRound);
  EXPECT_EQ(turned.p, Vector3d::Zero());
  const Pose moved = jointPose({Kind::kPrismatic, axis, {}, {}}, 0.8);
  EXPECT_EQ(moved.R, Matrix3d::Identity());
  EXPECT_LT((moved.p - 0.8 * axis).norm(), kJointRound);
  EXPECT_EQ(jointPose({}, 0.8).matrix(), Pose{}.matrix());
  EXPECT_EQ(bodySubspace({}).vector(), Vector6d::Zero());
}

// Seen from the other side the pose is the inverse, and in one frame the subspace is the negative.
TEST(ElementaryJoint, ReversedJoint) {
  for (const auto& joint : randomJoints()) {
    const auto back = reversed(joint);
    const Pose loop = jointPose(joint, 0.6) * jointPose(back, 0.6);
    EXPECT_LT((loop.matrix() - Eigen::Matrix4d::Identity()).norm(), 10 * kJointRound);
    EXPECT_LT((spatialSubspace(back).vector() + bodySubspace(joint).vector()).norm(), kJointRound);
    EXPECT_LT((bodySubspace(back).vector() + spatialSubspace(joint).vector()).norm(), kJointRound);
  }
}

// The mixed subspace of a revolute joint with a translation after it turns with the joint.
TEST(ElementaryJoint, MixedSubspaceIsNotConstant) {
  const ElementaryJoint joint{
      Kind::kRevolute, Vector3d::UnitZ(), {}, {Matrix3d::Identity(), {1.0, 0.0, 0.0}}};
  EXPECT_LT((mixedSubspace(joint, 0.0).linear - Vector3d::UnitY()).norm(), kJointRound);
  EXPECT_LT((mixedSubspace(joint, std::acos(0.0)).linear + Vector3d::UnitX()).norm(), kJointRound);
}

// An axis that is not a unit vector, or not a number, is refused with a sentence.
TEST(ElementaryJoint, BadAxisIsRefused) {
  ElementaryJoint joint{Kind::kRevolute, {0.0, 0.0, 2.0}, {}, {}};
  EXPECT_THROW(jointPose(joint, 0.1), Error);
  joint.axis = Vector3d::Zero();
  EXPECT_THROW(bodySubspace(joint), Error);
  joint.axis = Vector3d::Constant(std::numeric_limits<double>::quiet_NaN());
  EXPECT_THROW(spatialSubspace(joint), Error);
}

}  // namespace
}  // namespace proprio
