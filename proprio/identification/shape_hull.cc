#include "proprio/identification/shape_hull.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "proprio/core/error.h"
#include "proprio/geometry/mesh_file.h"
#include "proprio/model/mesh_path.h"
#include "proprio/numerics/convex_hull.h"

namespace proprio {
namespace {

constexpr Eigen::Index kMostFaces = 64;
/// Of larger meshes only the vertices that are outermost in so many directions are looked at.
constexpr size_t kMostVertices = 1000;
constexpr int kOutermost = 500;
/// Corners of the prism in a cylinder, and points on a sphere.
constexpr int kPrismCorners = 16, kSpherePoints = 40;

/// A shape with its triangles, if it is a mesh.
struct ReadShape {
  Shape shape;
  TriangleMesh mesh;
};

/// Empty if there are no shapes, or a mesh cannot be read: that is what check reports on.
std::vector<ReadShape> readShapes(const Model& model, int link) {
  const std::vector<Shape>& shapes = model.links[static_cast<size_t>(link)].shapes;
  const bool collision =
      std::any_of(shapes.begin(), shapes.end(), [](const Shape& s) { return s.collision; });
  std::vector<ReadShape> all;
  for (const Shape& shape : shapes) {
    if (shape.collision != collision) continue;
    ReadShape read{shape, {}};
    if (shape.kind == ShapeKind::kMesh) {
      const std::string path = findMesh(model, shape.mesh);
      try {
        if (!path.empty()) read.mesh = readMesh(path);
      } catch (const Error&) {
        return {};
      }
      if (read.mesh.vertices.empty()) return {};
    }
    all.push_back(std::move(read));
  }
  return all;
}

/// Evenly spread directions: Fibonacci's spiral.
Vector3d spiralDirection(int i, int count) {
  const double golden = M_PI * (3.0 - std::sqrt(5.0)), z = 1.0 - (2.0 * i + 1.0) / count;
  const double ring = std::sqrt(1.0 - z * z);
  return {ring * std::cos(golden * i), ring * std::sin(golden * i), z};
}

std::vector<Vector3d> outermost(const std::vector<Vector3d>& points) {
  if (points.size() <= kMostVertices) return points;
  std::vector<Vector3d> kept;
  for (int i = 0; i < kOutermost; ++i) {
    const Vector3d n = spiralDirection(i, kOutermost);
    kept.push_back(*std::max_element(
        points.begin(), points.end(),
        [&](const Vector3d& a, const Vector3d& b) { return n.dot(a) < n.dot(b); }));
  }
  return kept;
}

/// Points in the shape's own frame whose hull has its normals.
std::vector<Vector3d> hullPoints(const ReadShape& read) {
  const Vector3d& size = read.shape.size;
  std::vector<Vector3d> points;
  switch (read.shape.kind) {
    case ShapeKind::kBox:
      for (int i = 0; i < 8; ++i)
        points.push_back(
            0.5 * size.cwiseProduct(Vector3d(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1)));
      break;
    case ShapeKind::kCylinder:
      for (int i = 0; i < kPrismCorners; ++i) {
        const double angle = 2.0 * M_PI * i / kPrismCorners;
        for (const double z : {-0.5, 0.5})
          points.emplace_back(size[0] * std::cos(angle), size[0] * std::sin(angle), z * size[1]);
      }
      break;
    case ShapeKind::kSphere:
      for (int i = 0; i < kSpherePoints; ++i)
        points.push_back(size[0] * spiralDirection(i, kSpherePoints));
      break;
    case ShapeKind::kCapsule:
      for (int i = 0; i < kSpherePoints; ++i) {
        const Vector3d direction = spiralDirection(i, kSpherePoints);
        points.push_back(size[0] * direction +
                         Vector3d(0, 0, std::copysign(0.5 * size[1], direction[2])));
      }
      break;
    case ShapeKind::kMesh:
      for (const Vector3d& vertex : read.mesh.vertices)
        points.push_back(vertex.cwiseProduct(read.shape.mesh_scale));
      return outermost(points);
  }
  return points;
}

/// The shape's support function in its own frame.
double supportOfShape(const Shape& shape, const TriangleMesh& mesh, const Vector3d& n) {
  switch (shape.kind) {
    case ShapeKind::kBox:
      return 0.5 * n.cwiseAbs().dot(shape.size.cwiseAbs());
    case ShapeKind::kCylinder:
      return std::abs(shape.size[0]) * n.head<2>().norm() + 0.5 * std::abs(shape.size[1] * n[2]);
    case ShapeKind::kSphere:
      return std::abs(shape.size[0]) * n.norm();
    case ShapeKind::kCapsule:
      return std::abs(shape.size[0]) * n.norm() + 0.5 * std::abs(shape.size[1] * n[2]);
    case ShapeKind::kMesh:
      break;
  }
  double largest = -1e300;
  for (const Vector3d& vertex : mesh.vertices)
    largest = std::max(largest, n.dot(vertex.cwiseProduct(shape.mesh_scale)));
  return largest;
}

}  // namespace

Eigen::MatrixX3d hullDirections() {
  Eigen::MatrixX3d normals(26, 3);
  Eigen::Index row = 0;
  for (int x = -1; x <= 1; ++x) {
    for (int y = -1; y <= 1; ++y) {
      for (int z = -1; z <= 1; ++z) {
        if (x == 0 && y == 0 && z == 0) continue;
        normals.row(row++) = Vector3d(x, y, z).normalized();
      }
    }
  }
  return normals;
}

Eigen::MatrixX3d hullNormals(const Model& model, int link) {
  std::vector<Vector3d> points;
  for (const ReadShape& read : readShapes(model, link)) {
    for (const Vector3d& point : hullPoints(read)) points.push_back(read.shape.X_LG * point);
  }
  Eigen::MatrixX3d rows(static_cast<Eigen::Index>(points.size()), 3);
  for (size_t i = 0; i < points.size(); ++i)
    rows.row(static_cast<Eigen::Index>(i)) = points[i].transpose();
  Eigen::MatrixX3d faces = convexHull(rows).normals, directions = hullDirections();
  if (faces.rows() == 0) return directions;
  if (faces.rows() <= kMostFaces) return faces;
  Eigen::MatrixX3d some(kMostFaces, 3);
  some << faces.topRows(kMostFaces - directions.rows()), directions;
  return some;
}

Eigen::VectorXd supportOfShapes(const Model& model, int link, const Eigen::MatrixX3d& normals) {
  const std::vector<ReadShape> shapes = readShapes(model, link);
  if (shapes.empty()) return {};
  Eigen::VectorXd support = Eigen::VectorXd::Constant(normals.rows(), -1e300);
  for (const ReadShape& read : shapes) {
    const Pose& X = read.shape.X_LG;
    for (Eigen::Index i = 0; i < normals.rows(); ++i) {
      const Vector3d n = normals.row(i);
      support[i] = std::max(
          support[i], n.dot(X.p) + supportOfShape(read.shape, read.mesh, X.R.transpose() * n));
    }
  }
  return support;
}

}  // namespace proprio
