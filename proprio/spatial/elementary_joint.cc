#include "proprio/spatial/elementary_joint.h"

#include <fmt/format.h>

#include <cmath>

#include "proprio/core/error.h"
#include "proprio/spatial/se3.h"

namespace proprio {
namespace {

// What a decimal axis of a description file may be off; more is a mistake of the caller.
constexpr double kUnitTolerance = 1e-9;

// s in J.
Vector6d motionAxis(const ElementaryJoint& joint) {
  using Kind = ElementaryJoint::Kind;
  Vector6d s = Vector6d::Zero();
  if (joint.kind == Kind::kFixed) return s;
  const double norm = joint.axis.norm();
  if (!(std::abs(norm - 1.0) < kUnitTolerance)) {
    throw Error(fmt::format("joint: the axis ({}, {}, {}) has length {}, expected 1; normalise it",
                            joint.axis.x(), joint.axis.y(), joint.axis.z(), norm));
  }
  if (joint.kind == Kind::kRevolute) s.tail<3>() = joint.axis;
  if (joint.kind == Kind::kPrismatic) s.head<3>() = joint.axis;
  return s;
}

}  // namespace

Pose jointPose(const ElementaryJoint& joint, double theta) {
  return joint.X_BJ * poseExp(theta * motionAxis(joint)) * joint.X_KD;
}

BodyTwist bodySubspace(const ElementaryJoint& joint) {
  // exp(theta s^) leaves s where it is, so only the constant transforms act
  return BodyTwist::fromVector(velocityAdjoint(joint.X_KD.inverse()) * motionAxis(joint));
}

SpatialTwist spatialSubspace(const ElementaryJoint& joint) {
  return SpatialTwist::fromVector(velocityAdjoint(joint.X_BJ) * motionAxis(joint));
}

MixedTwist mixedSubspace(const ElementaryJoint& joint, double theta) {
  return toMixed(jointPose(joint, theta), bodySubspace(joint));
}

ElementaryJoint reversed(const ElementaryJoint& joint) {
  return {joint.kind, -joint.axis, joint.X_KD.inverse(), joint.X_BJ.inverse()};
}

}  // namespace proprio
