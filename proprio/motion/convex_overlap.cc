#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "proprio/motion/convex_overlap_internal.h"

namespace proprio::internal {
namespace {

constexpr int kSpreadDirections = 48;
constexpr int kRefined = 4, kRefinements = 40;
// Steps of the descent, as angles; a step that does not help is made smaller.
constexpr double kFirstStep = 0.2, kSmallestStep = 1e-5;

std::array<Vector3d, kSpreadDirections> spreadDirections() {
  std::array<Vector3d, kSpreadDirections> directions;
  const double turn = std::numbers::pi * (3.0 - std::sqrt(5.0));
  for (int k = 0; k < kSpreadDirections; ++k) {
    const double z = 1.0 - (2.0 * k + 1.0) / kSpreadDirections;
    const double radius = std::sqrt(1.0 - z * z);
    directions[static_cast<size_t>(k)] =
        Vector3d(radius * std::cos(turn * k), radius * std::sin(turn * k), z);
  }
  return directions;
}

double withSign(double size, double sign) { return sign < 0.0 ? -size : size; }

/// Part of the slope a - b of the overlap across the direction n.
Vector3d slopeAcross(const Overlap& at, const Vector3d& n) {
  const Vector3d slope = at.p_A - at.p_B;
  return slope - slope.dot(n) * n;
}

/// The point nearest to zero on the line between two slopes: leads along the ridge between them.
Vector3d nearestToZero(const Vector3d& x, const Vector3d& y) {
  const Vector3d d = y - x;
  const double length = d.squaredNorm();
  if (length == 0.0) return x;
  return x + std::clamp(-x.dot(d) / length, 0.0, 1.0) * d;
}

/// Descent that takes in the slope from the other side of a ridge before it makes its steps
/// smaller.
template <class Along>
Overlap descended(Overlap at, const Along& along) {
  double step = kFirstStep;
  Vector3d slope = slopeAcross(at, at.n);
  for (int i = 0; i < kRefinements && step > kSmallestStep; ++i) {
    const double size = slope.norm();
    if (size == 0.0) break;
    const Overlap next = along((at.n - step / size * slope).normalized());
    if (next.depth < at.depth) {
      at = next;
      slope = slopeAcross(at, at.n);
    } else {
      slope = nearestToZero(slope, slopeAcross(next, at.n));
      step *= 0.6;
    }
  }
  return at;
}

}  // namespace

Vector3d supportPoint(const ConvexBody& body, const Vector3d& direction) {
  const Vector3d& d = direction;
  switch (body.kind) {
    case ShapeKind::kBox:
      return {withSign(0.5 * body.size[0], d[0]), withSign(0.5 * body.size[1], d[1]),
              withSign(0.5 * body.size[2], d[2])};
    case ShapeKind::kCylinder: {
      const double across = std::hypot(d[0], d[1]);
      const double part = across > 0.0 ? body.size[0] / across : 0.0;
      return {part * d[0], part * d[1], withSign(0.5 * body.size[1], d[2])};
    }
    case ShapeKind::kSphere:
      return body.size[0] * d.normalized();
    case ShapeKind::kCapsule:
      return body.size[0] * d.normalized() + Vector3d(0, 0, withSign(0.5 * body.size[1], d[2]));
    case ShapeKind::kMesh: {
      const Vector3d* best = &body.hull->front();
      double farthest = d.dot(*best);
      for (const Vector3d& p : *body.hull) {
        const double along = d.dot(p);
        if (along <= farthest) continue;
        farthest = along;
        best = &p;
      }
      return *best;
    }
  }
  return Vector3d::Zero();
}

Overlap overlapOf(const ConvexBody& a, const Pose& X_WA, const ConvexBody& b, const Pose& X_WB,
                  const Vector3d& centre_to_centre) {
  const auto along = [&](const Vector3d& n) {
    Overlap o;
    o.n = n;
    o.p_A = X_WA * supportPoint(a, X_WA.R.transpose() * n);
    o.p_B = X_WB * supportPoint(b, X_WB.R.transpose() * -n);
    o.depth = n.dot(o.p_A - o.p_B);
    return o;
  };
  static const std::array<Vector3d, kSpreadDirections> kSpread = spreadDirections();
  std::vector<Overlap> tried;
  for (const Vector3d& n : kSpread) tried.push_back(along(n));
  const double between = centre_to_centre.norm();
  if (between > 0.0) tried.push_back(along(centre_to_centre / between));
  for (const Matrix3d& axes : {X_WA.R, X_WB.R}) {
    for (int k = 0; k < 3; ++k) {
      tried.push_back(along(axes.col(k)));
      tried.push_back(along(-axes.col(k)));
    }
  }
  std::partial_sort(tried.begin(), tried.begin() + kRefined, tried.end(),
                    [](const Overlap& x, const Overlap& y) { return x.depth < y.depth; });
  Overlap best = tried.front();
  for (int k = 0; k < kRefined; ++k) {
    const Overlap refined = descended(tried[static_cast<size_t>(k)], along);
    if (refined.depth < best.depth) best = refined;
  }
  return best;
}

}  // namespace proprio::internal
