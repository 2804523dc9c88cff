#include "proprio/motion/robot_collisions.h"

#include <fcl/geometry/shape/box.h>
#include <fcl/geometry/shape/convex.h>
#include <fcl/geometry/shape/cylinder.h>
#include <fcl/geometry/shape/sphere.h>
#include <fcl/narrowphase/distance.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <set>

#include "proprio/core/text.h"
#include "proprio/geometry/mesh_file.h"
#include "proprio/model/mesh_path.h"
#include "proprio/motion/convex_overlap_internal.h"

namespace proprio {
namespace {

constexpr double kDistanceTolerance = 1e-6;  // m
constexpr size_t kHullVertices = 500;
fcl::Transform3d transformOf(const Pose& X) {
  fcl::Transform3d T = fcl::Transform3d::Identity();
  T.linear() = X.R;
  T.translation() = X.p;
  return T;
}

struct Segment {
  Vector3d from = Vector3d::Zero(), to = Vector3d::Zero();
  Vector3d middle() const { return 0.5 * (from + to); }
};

Segment moved(const Pose& X, const Segment& s) { return {X * s.from, X * s.to}; }

/// Nearest points of two segments, either of which may be a point: the parts s, t in [0, 1] of
/// the way along a and b that minimise |a(s) - b(t)|. Source: Ericson 2005, section 5.1.9.
std::pair<Vector3d, Vector3d> nearestPoints(const Segment& a, const Segment& b) {
  const Vector3d u = a.to - a.from, v = b.to - b.from, r = a.from - b.from;
  const double uu = u.squaredNorm(), vv = v.squaredNorm(), uv = u.dot(v);
  const double ur = u.dot(r), vr = v.dot(r), cross = uu * vv - uv * uv;
  const auto part = [](double above, double below) {
    return below > 0.0 ? std::clamp(above / below, 0.0, 1.0) : 0.0;
  };
  // nearest to the line of b, then on b nearest to that, then on a again where b has ended
  double s = part(uv * vr - ur * vv, cross);
  const double t = part(uv * s + vr, vv);
  s = part(uv * t - ur, uu);
  return {a.from + s * u, b.from + t * v};
}

/// At most kHullVertices points: those extreme in evenly spread (Fibonacci) directions.
std::vector<Vector3d> hullPoints(const std::vector<Vector3d>& points) {
  if (points.size() <= kHullVertices) return points;
  std::set<size_t> chosen;
  const double turn = std::numbers::pi * (3.0 - std::sqrt(5.0));
  for (size_t k = 0; k < kHullVertices; ++k) {
    const double z =
        1.0 - (2.0 * static_cast<double>(k) + 1.0) / static_cast<double>(kHullVertices);
    const double radius = std::sqrt(1.0 - z * z), angle = turn * static_cast<double>(k);
    const Vector3d direction(radius * std::cos(angle), radius * std::sin(angle), z);
    size_t best = 0;
    for (size_t i = 1; i < points.size(); ++i) {
      if (direction.dot(points[i]) > direction.dot(points[best])) best = i;
    }
    chosen.insert(best);
  }
  std::vector<Vector3d> hull;
  for (const size_t i : chosen) hull.push_back(points[i]);
  return hull;
}

/// A convex shape of a link and a capsule around it: everything within `radius` of the segment.
struct Part {
  std::shared_ptr<fcl::CollisionGeometryd> shape;
  internal::ConvexBody body;
  Pose X_LG;
  Segment axis;  ///< of the capsule, in the link frame
  double radius = 0.0;
  bool is_capsule = false;  ///< the shape is that capsule, or a sphere
};

Part finished(std::shared_ptr<fcl::CollisionGeometryd> shape, internal::ConvexBody body,
              const Pose& X_LG) {
  shape->computeLocalAABB();
  const Vector3d centre = shape->aabb_local.center();
  Vector3d half = 0.5 * (shape->aabb_local.max_ - shape->aabb_local.min_);
  int along = 2;
  Part part;
  part.shape = std::move(shape);
  part.body = std::move(body);
  part.X_LG = X_LG;
  switch (part.body.kind) {
    case ShapeKind::kSphere:
    case ShapeKind::kCapsule:
    case ShapeKind::kCylinder:
      part.is_capsule = part.body.kind != ShapeKind::kCylinder;
      part.radius = part.body.size[0];
      half[2] = part.body.kind == ShapeKind::kSphere ? 0.0 : 0.5 * part.body.size[1];
      break;
    case ShapeKind::kBox:
    case ShapeKind::kMesh:
      half.maxCoeff(&along);
      part.radius = std::hypot(half[(along + 1) % 3], half[(along + 2) % 3]);
      break;
  }
  const Vector3d reach = half[along] * Vector3d::Unit(along);
  part.axis = {X_LG * (centre - reach), X_LG * (centre + reach)};
  return part;
}

Part meshHull(const Model& model, const Link& link, const Shape& shape) {
  const std::string path = findMesh(model, shape.mesh);
  if (path.empty()) {
    throw Error(
        fmt::format("link {}: the collision mesh {} is not there; put it there, or leave out pairs "
                    "of links (--no-self-collision) and boxes of the environment",
                    inQuotes(link.name), inQuotes(shape.mesh)));
  }
  const TriangleMesh mesh = readMesh(path);
  std::vector<Vector3d> points;
  for (const Vector3d& p : mesh.vertices) points.push_back(shape.mesh_scale.cwiseProduct(p));
  auto vertices = std::make_shared<std::vector<fcl::Vector3d>>(hullPoints(points));
  // one face only: FCL then looks for extreme vertices among all of them, whatever the faces
  auto faces = std::make_shared<std::vector<int>>(std::vector<int>{3, 0, 1, 2});
  return finished(std::make_shared<fcl::Convexd>(vertices, 1, faces, false),
                  {ShapeKind::kMesh, shape.size, vertices}, shape.X_LG);
}

Part partOf(const Model& model, const Link& link, const Shape& shape) {
  const internal::ConvexBody body = {shape.kind, shape.size, nullptr};
  switch (shape.kind) {
    case ShapeKind::kBox:
      return finished(std::make_shared<fcl::Boxd>(shape.size), body, shape.X_LG);
    case ShapeKind::kCylinder:
      return finished(std::make_shared<fcl::Cylinderd>(shape.size[0], shape.size[1]), body,
                      shape.X_LG);
    case ShapeKind::kSphere:
      return finished(std::make_shared<fcl::Sphered>(shape.size[0]), body, shape.X_LG);
    case ShapeKind::kCapsule:
      return finished(std::make_shared<fcl::Capsuled>(shape.size[0], shape.size[1]), body,
                      shape.X_LG);
    case ShapeKind::kMesh:
      return meshHull(model, link, shape);
  }
  return {};
}

/// Of parts that are apart; nothing if they touch, or nearly so. FCL's own answer for overlapping
/// parts (an expanding polytope) ends the program on some degenerate pairs and is not asked for.
std::optional<LinkDistance> gapOf(const Part& a, const Pose& X_WA, const Part& b,
                                  const Pose& X_WB) {
  fcl::DistanceRequestd request;
  request.enable_nearest_points = true;
  request.enable_signed_distance = false;
  request.distance_tolerance = kDistanceTolerance;
  request.gjk_solver_type = fcl::GST_LIBCCD;
  fcl::DistanceResultd result;
  try {
    fcl::distance(a.shape.get(), transformOf(X_WA * a.X_LG), b.shape.get(),
                  transformOf(X_WB * b.X_LG), request, result);
  } catch (const std::exception&) {
    return std::nullopt;
  }
  if (!(result.min_distance > kDistanceTolerance)) return std::nullopt;
  const Vector3d p_A = result.nearest_points[0], p_B = result.nearest_points[1];
  return LinkDistance{result.min_distance, p_A, p_B, (p_B - p_A) / result.min_distance};
}

LinkDistance distanceOf(const Part& a, const Pose& X_WA, const Part& b, const Pose& X_WB) {
  if (const auto gap = gapOf(a, X_WA, b, X_WB)) return *gap;
  const Vector3d between = X_WB * b.axis.middle() - X_WA * a.axis.middle();
  const internal::Overlap overlap =
      internal::overlapOf(a.body, X_WA * a.X_LG, b.body, X_WB * b.X_LG, between);
  return {-overlap.depth, overlap.p_A, overlap.p_B, overlap.n};
}

bool hasCollisionShape(const Link& link) {
  return std::any_of(link.shapes.begin(), link.shapes.end(),
                     [](const Shape& shape) { return shape.collision; });
}

/// Relative to the base; every link of a free one.
std::vector<bool> movingLinks(const Tree& tree) {
  const Traversal traversal = traverse(tree.model(), tree.baseLink());
  std::vector<bool> moving(tree.model().links.size(), tree.floating());
  for (const int link : traversal.order) {
    const auto l = static_cast<size_t>(link);
    if (traversal.parent[l] < 0) continue;
    const Joint& joint = tree.model().joints[static_cast<size_t>(traversal.parent_joint[l])];
    moving[l] = moving[static_cast<size_t>(traversal.parent[l])] || velocityCount(joint.type) > 0;
  }
  return moving;
}

/// A box that nothing can be kept away from would be no protection at all.
void requireShapes(const Tree& tree, const EnvironmentBox& box) {
  const std::vector<bool> moving = movingLinks(tree);
  for (size_t l = 0; l < moving.size(); ++l) {
    if (moving[l] && hasCollisionShape(tree.model().links[l])) return;
  }
  throw Error(
      fmt::format("box {}: no moving link of {} has a collision shape, so nothing can be kept away "
                  "from it; add <collision> shapes to the URDF, or keep frames beyond planes "
                  "(--workspace) instead of the box",
                  inQuotes(box.name), inQuotes(tree.model().name)));
}

}  // namespace

std::vector<int> shapelessLinks(const Tree& tree) {
  const std::vector<bool> moving = movingLinks(tree);
  std::vector<int> links;
  for (size_t l = 0; l < moving.size(); ++l) {
    const Link& link = tree.model().links[l];
    const bool body = link.inertia.mass > 0.0 || !link.shapes.empty();
    if (moving[l] && body && !hasCollisionShape(link)) links.push_back(static_cast<int>(l));
  }
  return links;
}

struct RobotCollisions::Shapes {
  std::shared_ptr<const Tree> tree;
  std::vector<std::vector<Part>> links;
  std::vector<Part> boxes;  ///< X_LG is the pose in the world
  std::vector<std::string> box_names;
  struct Pair {
    int first = -1;
    int second = -1;  ///< -1: a box
    int box = -1;
  };
  std::vector<Pair> pairs;

  const std::vector<Part>* partsOf(int link) const { return &links[static_cast<size_t>(link)]; }
};

RobotCollisions::RobotCollisions(std::shared_ptr<const Tree> tree, const CollisionOptions& options)
    : shapes_(std::make_unique<Shapes>()) {
  Shapes& s = *shapes_;
  s.tree = std::move(tree);
  const Model& model = s.tree->model();
  if (!options.environment.empty()) requireShapes(*s.tree, options.environment.front());
  std::vector<std::string> names;
  for (const Link& link : model.links) {
    names.push_back(link.name);
    s.links.emplace_back();
    // nothing to look at: no mesh is read
    if (!options.self && options.environment.empty()) continue;
    for (const Shape& shape : link.shapes) {
      if (shape.collision) s.links.back().push_back(partOf(model, link, shape));
    }
  }
  for (const EnvironmentBox& box : options.environment) {
    if (!(box.size.array() > 0.0).all()) {
      throw Error(fmt::format("box {}: edge lengths must be positive", inQuotes(box.name)));
    }
    s.boxes.push_back(finished(std::make_shared<fcl::Boxd>(box.size),
                               {ShapeKind::kBox, box.size, nullptr}, box.X_WG));
    s.box_names.push_back(box.name);
    names.push_back(box.name);
  }
  std::set<std::pair<std::string, std::string>> disabled;
  for (const auto& [a, b] : options.disabled) {
    for (const std::string& name : {a, b}) {
      if (std::find(names.begin(), names.end(), name) == names.end()) {
        throw Error(fmt::format("disabled collision: there is no link or box {}{}", inQuotes(name),
                                didYouMean(name, names)));
      }
    }
    disabled.insert({a, b});
    disabled.insert({b, a});
  }
  const auto count = static_cast<int>(model.links.size());
  for (int a = 0; a < count; ++a) {
    if (s.partsOf(a)->empty()) continue;
    const std::vector<int> near = neighbours(model, a);
    for (int b = a + 1; options.self && b < count; ++b) {
      if (s.partsOf(b)->empty() || std::find(near.begin(), near.end(), b) != near.end()) continue;
      if (disabled.count({model.links[static_cast<size_t>(a)].name,
                          model.links[static_cast<size_t>(b)].name}) > 0) {
        continue;
      }
      s.pairs.push_back({a, b, -1});
    }
    if (a == s.tree->baseLink() && !s.tree->floating()) continue;
    for (size_t box = 0; box < s.boxes.size(); ++box) {
      if (disabled.count({model.links[static_cast<size_t>(a)].name, s.box_names[box]}) > 0) {
        continue;
      }
      s.pairs.push_back({a, -1, static_cast<int>(box)});
    }
  }
}

RobotCollisions::~RobotCollisions() = default;

int RobotCollisions::pairCount() const { return static_cast<int>(shapes_->pairs.size()); }

std::pair<int, int> RobotCollisions::links(int pair) const {
  const Shapes::Pair& p = shapes_->pairs[static_cast<size_t>(pair)];
  return {p.first, p.second};
}

std::string RobotCollisions::pairName(int pair) const {
  const Shapes::Pair& p = shapes_->pairs[static_cast<size_t>(pair)];
  const std::vector<Link>& all = shapes_->tree->model().links;
  return all[static_cast<size_t>(p.first)].name + " and " +
         (p.second >= 0 ? all[static_cast<size_t>(p.second)].name
                        : shapes_->box_names[static_cast<size_t>(p.box)]);
}

LinkDistance RobotCollisions::distance(const Kinematics& kinematics, int pair,
                                       double enough) const {
  const Shapes& s = *shapes_;
  const Shapes::Pair& p = s.pairs[static_cast<size_t>(pair)];
  const Pose X_WA = kinematics.X_WL[static_cast<size_t>(p.first)];
  const Pose X_WB = p.second >= 0 ? kinematics.X_WL[static_cast<size_t>(p.second)] : Pose{};
  const Part* first_b =
      p.second >= 0 ? s.partsOf(p.second)->data() : &s.boxes[static_cast<size_t>(p.box)];
  const Part* last_b = first_b + (p.second >= 0 ? s.partsOf(p.second)->size() : 1);
  LinkDistance nearest;
  nearest.distance = 1e300;
  for (const Part& a : *s.partsOf(p.first)) {
    const Segment axis = moved(X_WA, a.axis);
    for (const Part* b = first_b; b != last_b; ++b) {
      // capsules around the parts: far pairs, and parts that are capsules, need no more
      const auto [on_a, on_b] = nearestPoints(axis, moved(X_WB, b->axis));
      const double between = (on_b - on_a).norm(), gap = between - a.radius - b->radius;
      if (gap > nearest.distance) continue;
      if (gap > enough || (a.is_capsule && b->is_capsule && between > 0.0)) {
        const Vector3d n = (on_b - on_a) / between;
        nearest = {gap, on_a + a.radius * n, on_b - b->radius * n, n};
        continue;
      }
      const LinkDistance found = distanceOf(a, X_WA, *b, X_WB);
      if (found.distance < nearest.distance) nearest = found;
    }
  }
  return nearest;
}

void RobotCollisions::gradient(const Kinematics& kinematics, int pair, const LinkDistance& at,
                               VectorRef gradient) const {
  const Shapes& s = *shapes_;
  const Shapes::Pair& p = s.pairs[static_cast<size_t>(pair)];
  gradient.setZero();
  Eigen::Matrix<double, 6, Eigen::Dynamic> J(6, s.tree->velocityCount());
  const auto add = [&](int link, const Vector3d& point, double sign) {
    const Pose X_LP = {Matrix3d::Identity(),
                       kinematics.X_WL[static_cast<size_t>(link)].inverse() * point};
    frameJacobian(*s.tree, kinematics, link, X_LP, Representation::kMixed, Representation::kBody,
                  J);
    gradient.noalias() += sign * J.topRows<3>().transpose() * at.n;
  };
  add(p.first, at.p_A, -1.0);
  if (p.second >= 0) add(p.second, at.p_B, 1.0);
}

}  // namespace proprio
