#include "proprio/geometry/solid.h"

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <numbers>

#include "proprio/spatial/solids.h"

namespace proprio {
namespace {

// Largest sum of area vectors, relative to the area, of a mesh that counts as closed.
constexpr double kOpenArea = 1e-3;

// about the origin
Matrix3d inertiaOf(const Matrix3d& second_moment) {
  return second_moment.trace() * Matrix3d::Identity() - second_moment;
}

Solid centred(const InertialParameters& unit_density, const Vector3d& half) {
  Solid solid;
  solid.unit_density = unit_density;
  solid.lower = -half;
  solid.upper = half;
  return solid;
}

}  // namespace

Solid boxSolid(const Vector3d& size) { return centred(boxInertia(size.prod(), size), 0.5 * size); }

Solid cylinderSolid(double radius, double length) {
  const double volume = std::numbers::pi * radius * radius * length;
  return centred(cylinderInertia(volume, radius, length), {radius, radius, 0.5 * length});
}

Solid sphereSolid(double radius) {
  const double volume = 4.0 / 3.0 * std::numbers::pi * radius * radius * radius;
  return centred(sphereInertia(volume, radius), Vector3d::Constant(radius));
}

Solid capsuleSolid(double radius, double length) {
  const double volume = std::numbers::pi * radius * radius * (length + 4.0 / 3.0 * radius);
  return centred(capsuleInertia(volume, radius, length), {radius, radius, 0.5 * length + radius});
}

Solid meshSolid(const TriangleMesh& mesh) {
  Solid solid;
  if (mesh.triangles.empty()) {
    solid.closed = false;
    return solid;
  }
  const Vector3d origin = mesh.vertices[static_cast<size_t>(mesh.triangles.front()[0])];
  double volume = 0.0, area = 0.0;
  Vector3d first = Vector3d::Zero(), area_vector = Vector3d::Zero();
  Matrix3d second = Matrix3d::Zero();
  for (const Eigen::Vector3i& triangle : mesh.triangles) {
    Matrix3d corners;
    for (int k = 0; k < 3; ++k) {
      const Vector3d& corner = mesh.vertices[static_cast<size_t>(triangle[k])];
      solid.lower = solid.lower.cwiseMin(corner);
      solid.upper = solid.upper.cwiseMax(corner);
      corners.col(k) = corner - origin;  // near the mesh, so that little cancels
    }
    const Vector3d normal =
        0.5 * (corners.col(1) - corners.col(0)).cross(corners.col(2) - corners.col(0));
    const double tetrahedron = corners.determinant() / 6.0;
    const Vector3d sum = corners.rowwise().sum();
    area_vector += normal;
    area += normal.norm();
    volume += tetrahedron;
    first += tetrahedron / 4.0 * sum;
    second += tetrahedron / 20.0 * (corners * corners.transpose() + sum * sum.transpose());
  }
  const double sign = volume < 0.0 ? -1.0 : 1.0;
  solid.closed = area_vector.norm() <= kOpenArea * area && volume != 0.0;
  const InertialParameters about_origin{sign * volume, sign * first, sign * inertiaOf(second)};
  solid.unit_density = transformed(Pose{Matrix3d::Identity(), origin}, about_origin);
  return solid;
}

Solid transformed(const Pose& X_AB, const Solid& solid_in_B) {
  Solid solid = solid_in_B;
  solid.unit_density = transformed(X_AB, solid_in_B.unit_density);
  if (solid.empty()) return solid;
  const Vector3d centre = X_AB * Vector3d(0.5 * (solid_in_B.lower + solid_in_B.upper));
  const Vector3d half = X_AB.R.cwiseAbs() * (0.5 * solid_in_B.extent());
  solid.lower = centre - half;
  solid.upper = centre + half;
  return solid;
}

Solid operator+(const Solid& a, const Solid& b) {
  return {a.unit_density + b.unit_density, a.lower.cwiseMin(b.lower), a.upper.cwiseMax(b.upper),
          a.closed && b.closed};
}

}  // namespace proprio
