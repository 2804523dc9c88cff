#include "proprio/identification/shape_hull.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <fstream>

#include "proprio/core/testing/temp_folder.h"
#include "proprio/identification/testing/two_arms.h"

namespace proprio {
namespace {

using testing::twoArms;

/// Claim: the support function of each kind of shape is that of its corners.
TEST(ShapeHull, SupportOfShapes) {
  const auto tree = twoArms();
  const Model& model = tree->model();
  Eigen::MatrixX3d normals(2, 3);
  normals << 1, 0, 0, 0, 0.6, -0.8;
  const auto support = [&](const char* link) {
    return supportOfShapes(model, requireLink(model, link), normals);
  };
  EXPECT_NEAR(support("left_upper")[0], 0.05, 1e-12);
  EXPECT_NEAR(support("left_upper")[1], 0.6 * 0.11 + 0.8 * 0.3, 1e-12);
  EXPECT_NEAR(support("left_fore")[0], 0.05, 1e-12);
  EXPECT_NEAR(support("left_fore")[1], 0.6 * 0.05 + 0.8 * 0.27, 1e-12);
  EXPECT_NEAR(support("right_fore")[1], 0.2, 1e-12);
  EXPECT_EQ(support("torso").size(), 0);
}

/// How far a place is outside the half-spaces of a link's hull; negative inside.
double outside(const Model& model, int link, const Vector3d& r) {
  const Eigen::MatrixX3d normals = hullNormals(model, link);
  return (normals * r - supportOfShapes(model, link, normals)).maxCoeff();
}

/// Claim: a box that is turned has its own six faces, and not the larger hull along the axes.
TEST(ShapeHull, IsTheBoxItself) {
  Model model = twoArms()->model();
  const int link = requireLink(model, "left_upper");
  Shape& box = model.links[static_cast<size_t>(link)].shapes.front();
  ASSERT_EQ(box.kind, ShapeKind::kBox);
  box.X_LG.R = Eigen::AngleAxisd(0.3, Vector3d(1.0, 2.0, 3.0).normalized()).toRotationMatrix();
  EXPECT_EQ(hullNormals(model, link).rows(), 6);
  for (int i = 0; i < 27; ++i) {
    const Vector3d corner(i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1);
    if (corner.isZero()) continue;
    const Vector3d half = 0.5 * box.size.cwiseProduct(corner);
    EXPECT_LT(outside(model, link, box.X_LG * Vector3d(0.999 * half)), 0.0) << i;
    EXPECT_GT(outside(model, link, box.X_LG * Vector3d(1.001 * half)), 0.0) << i;
  }
}

/// Claim: a tetrahedron from a mesh file has four faces; a place in its bounding box beside it is
/// outside, its middle inside.
TEST(ShapeHull, IsTheTetrahedronItself) {
  const testing::TempFolder folder;
  const std::string path = folder.file("tetrahedron.obj");
  std::ofstream(path) << "v 0 0 0\nv 0.3 0 0\nv 0 0.2 0\nv 0 0 0.1\n"
                         "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
  Model model = twoArms()->model();
  const int link = requireLink(model, "left_fore");
  Shape mesh;
  mesh.kind = ShapeKind::kMesh;
  mesh.mesh = path;
  model.links[static_cast<size_t>(link)].shapes = {mesh};
  ASSERT_EQ(hullNormals(model, link).rows(), 4);
  EXPECT_LT(outside(model, link, Vector3d(0.07, 0.05, 0.02)), 0.0);
  // beyond the slanted face x / 0.3 + y / 0.2 + z / 0.1 = 1
  EXPECT_GT(outside(model, link, Vector3d(0.11, 0.07, 0.035)), 0.0);
  EXPECT_LT(outside(model, link, Vector3d(0.09, 0.06, 0.03)), 0.0);
}

/// Claim: curved shapes are contained with at most three per cent to spare; a link without shapes
/// has no support.
TEST(ShapeHull, ContainsCurvedShapes) {
  const auto tree = twoArms();
  const Model& model = tree->model();
  const int cylinder = requireLink(model, "left_fore"), sphere = requireLink(model, "right_fore");
  for (int i = 0; i < 24; ++i) {
    const Vector3d rim(std::cos(0.27 * i), std::sin(0.27 * i), 0.0);
    EXPECT_LE(outside(model, cylinder, Vector3d(0.0, 0.0, 0.03) + 0.05 * rim), 1e-12) << i;
    EXPECT_GT(outside(model, cylinder, Vector3d(0.0, 0.0, -0.12) + 0.0515 * rim), 0.0) << i;
    EXPECT_LE(outside(model, sphere, 0.2 * rim), 1e-12) << i;
    EXPECT_GT(outside(model, sphere, 0.23 * rim), 0.0) << i;
  }
  EXPECT_LE(hullNormals(model, sphere).rows(), 64);
  EXPECT_EQ(supportOfShapes(model, requireLink(model, "torso"), hullDirections()).size(), 0);
}

}  // namespace
}  // namespace proprio
