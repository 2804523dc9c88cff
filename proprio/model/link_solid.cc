#include "proprio/model/link_solid.h"

#include <fmt/format.h>

#include <algorithm>

#include "proprio/core/text.h"
#include "proprio/geometry/mesh_file.h"
#include "proprio/model/mesh_path.h"

namespace proprio {
namespace {

Solid bounds(const Solid& solid) {
  const Pose centre{Matrix3d::Identity(), 0.5 * (solid.lower + solid.upper)};
  return transformed(centre, boxSolid(solid.extent()));
}

Solid solidOfMesh(const Model& model, const Shape& shape, LinkSolid& link) {
  const std::string path = findMesh(model, shape.mesh);
  std::string trouble;
  if (path.empty()) trouble = fmt::format("the mesh {} is not found", inQuotes(shape.mesh));
  Solid solid;
  try {
    TriangleMesh mesh = path.empty() ? TriangleMesh{} : readMesh(path);
    for (Vector3d& vertex : mesh.vertices) vertex = vertex.cwiseProduct(shape.mesh_scale);
    solid = meshSolid(mesh);
    if (!path.empty() && solid.empty()) trouble = fmt::format("{}: it has no triangles", path);
  } catch (const Error& error) {
    trouble = error.what();
  }
  if (!trouble.empty()) {
    link.complete = false;
    link.notes.push_back(trouble);
    return {};
  }
  if (solid.closed) return solid;
  link.notes.push_back(fmt::format("the mesh {} is not closed and counts as its bounding box",
                                   inQuotes(shape.mesh)));
  return bounds(solid);
}

Solid solidOf(const Model& model, const Shape& shape, LinkSolid& link) {
  switch (shape.kind) {
    case ShapeKind::kBox:
      return boxSolid(shape.size.cwiseAbs());
    case ShapeKind::kCylinder:
      return cylinderSolid(std::abs(shape.size[0]), std::abs(shape.size[1]));
    case ShapeKind::kSphere:
      return sphereSolid(std::abs(shape.size[0]));
    case ShapeKind::kCapsule:
      return capsuleSolid(std::abs(shape.size[0]), std::abs(shape.size[1]));
    case ShapeKind::kMesh:
      return solidOfMesh(model, shape, link);
  }
  return {};
}

}  // namespace

LinkSolid linkSolid(const Model& model, int link) {
  const std::vector<Shape>& shapes = model.links[static_cast<size_t>(link)].shapes;
  const bool collision =
      std::any_of(shapes.begin(), shapes.end(), [](const Shape& s) { return s.collision; });
  LinkSolid out;
  for (const Shape& shape : shapes) {
    if (shape.collision == collision)
      out.solid = out.solid + transformed(shape.X_LG, solidOf(model, shape, out));
  }
  std::sort(out.notes.begin(), out.notes.end());
  out.notes.erase(std::unique(out.notes.begin(), out.notes.end()), out.notes.end());
  return out;
}

}  // namespace proprio
