#pragma once

#include "proprio/spatial/motion_types.h"

/// A joint of zero or one degree of freedom between frames B and D, with constant transforms before
/// and after the motion: X_BD(theta) = X_BJ exp(theta s^) X_KD, where J and K coincide at theta = 0
/// and s = (0, a) for a revolute, (a, 0) for a prismatic joint, a the unit axis in J.
///
/// Its motion subspace is the twist of D in B per unit rate. In body and spatial form it does not
/// depend on theta, so that the relative acceleration is subspace * theta'' there; in mixed form it
/// does, as soon as a revolute joint has a translation after it.
///
/// Multi-degree joints are built from these; mimic joints and couplings belong to the model.
/// Source: Traversaro 2017, section 3.2.
namespace proprio {

struct ElementaryJoint {
  enum class Kind { kFixed, kRevolute, kPrismatic };

  Kind kind = Kind::kFixed;
  Vector3d axis = Vector3d::UnitZ();  ///< unit vector in J; unused for a fixed joint
  Pose X_BJ;                          ///< before the motion
  Pose X_KD;                          ///< after the motion
};

/// X_BD at the position theta (rad or m). @throws Error where the axis is not a unit vector; so do
/// the subspaces.
Pose jointPose(const ElementaryJoint& joint, double theta);
/// Twist of D relative to B per unit rate, in D: (X^-1 dX/dtheta)^vee.
BodyTwist bodySubspace(const ElementaryJoint& joint);
/// The same in B: (dX/dtheta X^-1)^vee.
SpatialTwist spatialSubspace(const ElementaryJoint& joint);
/// The same with the velocity of D's origin, in the axes of B.
MixedTwist mixedSubspace(const ElementaryJoint& joint, double theta);
/// The joint seen from the other side, from D to B with the same theta: X_DB = X_BD^-1. A subspace
/// written in one frame changes its sign: in D, s_DB = -s_BD.
ElementaryJoint reversed(const ElementaryJoint& joint);

}  // namespace proprio
