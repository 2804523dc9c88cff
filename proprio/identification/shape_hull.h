#pragma once

/// The convex hull of a link's shapes as half-spaces: n^T r <= h(n). Collision shapes if there are
/// any, else visual ones.

#include <Eigen/Core>

#include "proprio/model/model.h"

namespace proprio {

/// Normals of the hull's faces. Boxes and meshes have those of their own hull, and of the hull of
/// all of them together; cylinders, spheres and capsules those of prisms and polyhedra inside them.
/// With the offsets h(n) of supportOfShapes() all shapes are inside, and polyhedra exactly. Of more
/// than 64 faces the largest 38 and the 26 hullDirections() are taken, which contain the hull.
/// Shapes without volume, unreadable or missing ones have hullDirections() only.
Eigen::MatrixX3d hullNormals(const Model& model, int link);

/// 26 directions: towards the faces, edges and corners of a cube.
Eigen::MatrixX3d hullDirections();

/// h(n) = max over the link's shapes of n^T r, per direction (rows of `normals`). Empty if the link
/// has no shapes or one of its meshes cannot be read.
Eigen::VectorXd supportOfShapes(const Model& model, int link, const Eigen::MatrixX3d& normals);

}  // namespace proprio
