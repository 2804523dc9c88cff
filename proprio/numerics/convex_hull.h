#pragma once

/// The faces of the convex hull of points in space, by adding one point after the other: faces that
/// a new point sees are replaced by those between it and their rim. Coplanar triangles count as one
/// face. Work grows with points times faces.
/// Source: Barber, Dobkin, Huhdanpaa 1996 (Quickhull), here without its order of points.

#include <Eigen/Core>

namespace proprio {

/// n_i^T r <= h_i for every point r, largest face first.
struct HullFaces {
  Eigen::MatrixX3d normals;  ///< outward, of length 1
  Eigen::VectorXd offsets;   ///< h
  Eigen::VectorXd areas;
};

/// No faces where the points do not span space.
/// @param points  one per row
HullFaces convexHull(const Eigen::MatrixX3d& points);

}  // namespace proprio
