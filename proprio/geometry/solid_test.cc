#include "proprio/geometry/solid.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "proprio/core/error.h"
#include "proprio/spatial/pose.h"

namespace proprio {
namespace {

constexpr double kDigits = 1e-12;

/// The surface of a box with corners a and b, outward triangles.
TriangleMesh boxMesh(const Vector3d& a, const Vector3d& b) {
  TriangleMesh mesh;
  for (int i = 0; i < 8; ++i) {
    mesh.vertices.emplace_back(i & 1 ? b.x() : a.x(), i & 2 ? b.y() : a.y(), i & 4 ? b.z() : a.z());
  }
  const int quads[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                           {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
  for (const auto& quad : quads) {
    mesh.triangles.emplace_back(quad[0], quad[1], quad[2]);
    mesh.triangles.emplace_back(quad[0], quad[2], quad[3]);
  }
  return mesh;
}

/// A sphere of triangles between circles of latitude.
TriangleMesh sphereMesh(double radius, int rings) {
  TriangleMesh mesh;
  const auto point = [&](int i, int k) {
    const double polar = std::numbers::pi * i / rings, azimuth = std::numbers::pi * k / rings;
    return Vector3d(radius * std::sin(polar) * std::cos(azimuth),
                    radius * std::sin(polar) * std::sin(azimuth), radius * std::cos(polar));
  };
  for (int i = 0; i < rings; ++i) {
    for (int k = 0; k < 2 * rings; ++k) {
      const int first = static_cast<int>(mesh.vertices.size());
      for (const Vector3d& p : {point(i, k), point(i + 1, k), point(i + 1, k + 1), point(i, k + 1)})
        mesh.vertices.push_back(p);
      mesh.triangles.emplace_back(first, first + 1, first + 2);
      mesh.triangles.emplace_back(first, first + 2, first + 3);
    }
  }
  return mesh;
}

// The surface of a box integrates to the closed form of the box, wherever it is.
TEST(Solid, MeshOfABoxHasTheBoxInertia) {
  const Vector3d a(0.3, -0.2, 5.0), b(0.5, 0.4, 5.1);
  const Solid mesh = meshSolid(boxMesh(a, b));
  const Pose centre{Matrix3d::Identity(), 0.5 * (a + b)};
  const Solid box = transformed(centre, boxSolid(b - a));
  EXPECT_TRUE(mesh.closed);
  EXPECT_NEAR((mesh.unit_density.vector() - box.unit_density.vector()).norm(), 0.0,
              kDigits * box.unit_density.vector().norm());
  EXPECT_NEAR((mesh.lower - a).norm() + (mesh.upper - b).norm(), 0.0, kDigits);
  EXPECT_NEAR((box.lower - a).norm() + (box.upper - b).norm(), 0.0, 10 * kDigits);
}

// A finely meshed sphere approaches the closed form; the error of a polyhedron is of second order.
TEST(Solid, MeshOfASphereApproachesTheSphere) {
  const Solid sphere = sphereSolid(0.2);
  double error[2];
  for (int k = 0; k < 2; ++k) {
    const Solid mesh = meshSolid(sphereMesh(0.2, k == 0 ? 20 : 40));
    EXPECT_TRUE(mesh.closed);
    error[k] = (mesh.unit_density.inertia - sphere.unit_density.inertia).norm() /
               sphere.unit_density.inertia.norm();
  }
  EXPECT_LT(error[1], 0.01);
  EXPECT_NEAR(error[0] / error[1], 4.0, 0.1);
}

// A mesh that is inside out has a positive volume; one with a hole or without triangles is not
// closed.
TEST(Solid, FaultyMeshes) {
  TriangleMesh mesh = boxMesh({0, 0, 0}, {1, 1, 1});
  for (auto& triangle : mesh.triangles) std::swap(triangle[0], triangle[1]);
  EXPECT_NEAR(meshSolid(mesh).volume(), 1.0, kDigits);
  EXPECT_TRUE(meshSolid(mesh).closed);
  mesh.triangles.pop_back();
  EXPECT_FALSE(meshSolid(mesh).closed);
  EXPECT_FALSE(meshSolid(TriangleMesh{}).closed);
  EXPECT_TRUE(meshSolid(TriangleMesh{}).empty());
}

// Volumes of the primitives, and their bounding boxes after a turn by 90 degrees.
TEST(Solid, Primitives) {
  EXPECT_NEAR(boxSolid({1, 2, 3}).volume(), 6.0, kDigits);
  EXPECT_NEAR(cylinderSolid(0.5, 2.0).volume(), std::numbers::pi / 2.0, kDigits);
  EXPECT_NEAR(sphereSolid(3.0).volume(), 36.0 * std::numbers::pi, 1e-9);
  EXPECT_NEAR(capsuleSolid(0.5, 2.0).volume(),
              cylinderSolid(0.5, 2.0).volume() + sphereSolid(0.5).volume(), kDigits);
  EXPECT_NEAR((capsuleSolid(0.5, 2.0).extent() - Vector3d(1, 1, 3)).norm(), 0.0, kDigits);
  const Pose turn = Pose::fromXyzRpy({0, 0, 0}, {std::numbers::pi / 2.0, 0, 0});
  EXPECT_NEAR((transformed(turn, boxSolid({1, 2, 3})).extent() - Vector3d(1, 3, 2)).norm(), 0.0,
              kDigits);
  EXPECT_THROW(boxSolid({-1, 2, 3}), Error);
  EXPECT_THROW(sphereSolid(std::nan("")), Error);
}

// Nothing plus a solid is the solid: the empty one has no bounding box.
TEST(Solid, SumWithNothing) {
  const Solid box = boxSolid({1, 2, 3});
  const Solid sum = Solid{} + box;
  EXPECT_TRUE(Solid{}.empty());
  EXPECT_EQ(Solid{}.extent(), Vector3d::Zero());
  EXPECT_EQ(sum.volume(), box.volume());
  EXPECT_EQ(sum.extent(), box.extent());
}

}  // namespace
}  // namespace proprio
