#include "proprio/numerics/convex_hull.h"

#include <gtest/gtest.h>

#include <random>

namespace proprio {
namespace {

/// Claim: a box with points inside has its six faces with their areas, whatever the order.
TEST(ConvexHull, OfABox) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  Eigen::MatrixX3d points(208, 3);
  points.topRows(200) = Eigen::MatrixX3d::NullaryExpr(200, 3, [&] { return uniform(random); });
  for (int i = 0; i < 8; ++i)
    points.row(200 + i) = Eigen::RowVector3d(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1);
  points.col(0) *= 2.0;
  points.col(2) *= 0.5;
  const HullFaces faces = convexHull(points);
  ASSERT_EQ(faces.areas.size(), 6);
  EXPECT_NEAR(faces.areas.sum(), 2.0 * (4.0 * 2.0 + 4.0 * 1.0 + 2.0 * 1.0), 1e-12);
  EXPECT_NEAR(faces.areas[0], 8.0, 1e-12);
  EXPECT_NEAR(std::abs(faces.normals(0, 2)), 1.0, 1e-12);
  EXPECT_NEAR(faces.offsets[0], 0.5, 1e-12);
}

/// Claim: all points of a cloud lie below all faces, each face touches one, and the surface is
/// closed; a tetrahedron has four faces.
TEST(ConvexHull, OfRandomPoints) {
  std::mt19937 random(2);
  std::normal_distribution<double> normal;
  for (const int count : {4, 5, 30, 500}) {
    const Eigen::MatrixX3d points =
        Eigen::MatrixX3d::NullaryExpr(count, 3, [&] { return normal(random); });
    const HullFaces faces = convexHull(points);
    ASSERT_GE(faces.areas.size(), 4);
    if (count == 4) {
      EXPECT_EQ(faces.areas.size(), 4);
    }
    const Eigen::MatrixXd heights =
        (points * faces.normals.transpose()).rowwise() - faces.offsets.transpose();
    EXPECT_LT(heights.maxCoeff(), 1e-9);
    EXPECT_LT(heights.colwise().maxCoeff().cwiseAbs().maxCoeff(), 1e-9);
    // a closed surface has no net area vector
    EXPECT_LT((faces.normals.transpose() * faces.areas).norm(), 1e-9);
  }
}

/// Claim: points in a plane, on a line or too few of them have no faces.
TEST(ConvexHull, NeedsPointsInSpace) {
  Eigen::MatrixX3d points = Eigen::MatrixX3d::Random(20, 3);
  points.col(1) = 0.3 * points.col(0) - points.col(2);
  EXPECT_EQ(convexHull(points).areas.size(), 0);
  points.col(2).setZero();
  points.col(1).setZero();
  EXPECT_EQ(convexHull(points).areas.size(), 0);
  EXPECT_EQ(convexHull(points.topRows(3)).areas.size(), 0);
}

}  // namespace
}  // namespace proprio
