#pragma once

/// Inside the motion room: how deep two convex bodies overlap. With support functions
///   h_A(n) = max over a in A of n . a,
/// A and B overlap along the unit vector n by h_A(n) + h_B(-n); the penetration depth is the least
/// of these over all n, and translating B by depth * n separates them. Looked for from evenly
/// spread directions, the line of centres and the bodies' own axes, the best few refined by descent
/// along the gradient (a - b, the difference of the support points). What is found is never less
/// than the depth, and mostly less than a few per cent more. Unlike the expanding polytope
/// algorithm there is nothing in it that a degenerate pair could break. Not a public header.

#include <memory>
#include <vector>

#include "proprio/model/model.h"
#include "proprio/spatial/pose.h"

namespace proprio::internal {

/// A box, cylinder (radius, length along z), sphere, capsule or the hull of points, about its own
/// frame.
struct ConvexBody {
  ShapeKind kind = ShapeKind::kSphere;
  Vector3d size = Vector3d::Zero();                   ///< as in Shape
  std::shared_ptr<const std::vector<Vector3d>> hull;  ///< of a mesh
};

/// The point of the body that is farthest along `direction`, both in its own frame.
Vector3d supportPoint(const ConvexBody& body, const Vector3d& direction);

struct Overlap {
  double depth = 0.0;                                       ///< negative: they are apart
  Vector3d n = Vector3d::UnitX();                           ///< in the world, from A to B
  Vector3d p_A = Vector3d::Zero(), p_B = Vector3d::Zero();  ///< support points in the world
};
Overlap overlapOf(const ConvexBody& a, const Pose& X_WA, const ConvexBody& b, const Pose& X_WB,
                  const Vector3d& centre_to_centre);

}  // namespace proprio::internal
