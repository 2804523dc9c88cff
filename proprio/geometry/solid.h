#pragma once

/// Volume, centre, inertia and extent of shapes filled homogeneously at density 1 kg/m^3.
///
///   box      a b c            centred at the origin, full side lengths
///   cylinder pi r^2 l         along z
///   sphere   4/3 pi r^3
///   capsule  pi r^2 l + 4/3 pi r^3   along z; l is the length of the cylindrical part
///   mesh     sum over triangles (a, b, c) of the signed tetrahedra (0, a, b, c):
///            V = det[a b c] / 6,  first moment V (a + b + c) / 4,
///            second moment V / 20 (sum_i x_i x_i^T + s s^T) with s = a + b + c
///
/// A mesh must be closed and oriented for that: its area vectors cancel. One that is not (or that
/// is inside out as a whole, whose volume is taken positive) is reported by `closed`. Sources:
/// Mirtich 1996 for polyhedra; closed forms: spatial/solids.h.

#include <string>
#include <vector>

#include "proprio/spatial/inertial_parameters.h"

namespace proprio {

struct Solid {
  InertialParameters unit_density;             ///< mass = volume in m^3
  Vector3d lower = Vector3d::Constant(1e300);  ///< corners of the bounding box
  Vector3d upper = Vector3d::Constant(-1e300);
  bool closed = true;

  double volume() const { return unit_density.mass; }
  bool empty() const { return !(lower.array() <= upper.array()).all(); }
  Vector3d extent() const { return empty() ? Vector3d::Zero().eval() : (upper - lower).eval(); }
};

struct TriangleMesh {
  std::vector<Vector3d> vertices;
  std::vector<Eigen::Vector3i> triangles;
};

/// @throws Error where a length is negative or not finite.
Solid boxSolid(const Vector3d& size);
Solid cylinderSolid(double radius, double length);
Solid sphereSolid(double radius);
Solid capsuleSolid(double radius, double length);
Solid meshSolid(const TriangleMesh& mesh);

/// Moved to another frame: exact but for the bounding box, which encloses the turned box.
Solid transformed(const Pose& X_AB, const Solid& solid_in_B);
/// Side by side: overlaps count twice.
Solid operator+(const Solid& a, const Solid& b);

}  // namespace proprio
