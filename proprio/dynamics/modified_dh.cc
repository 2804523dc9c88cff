#include "proprio/dynamics/modified_dh.h"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <cmath>

namespace proprio {
namespace {

/// Sines of angles and offsets (in m) below this are zero.
constexpr double kParallel = 1e-9;

using RowMajor3 = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;

struct Axis {
  int joint = -1;
  int body = -1;
  Vector3d origin, z;  ///< in the world at q = 0
  Vector3d link_origin, link_x;
};

/// Body frames in the world at q = 0.
std::vector<Pose> bodyPoses(const Tree& tree) {
  std::vector<Pose> poses;
  for (const TreeBody& body : tree.bodies()) {
    const Pose X_PB = {RowMajor3::Map(body.R_PJ), Vector3d::Map(body.p_PJ)};
    poses.push_back(body.parent < 0 ? X_PB : poses[static_cast<size_t>(body.parent)] * X_PB);
  }
  return poses;
}

Pose linkPose(const TreeBody& body, const Pose& X_WB) {
  return X_WB * Pose{RowMajor3::Map(body.R_BL), Vector3d::Map(body.p_BL)};
}

/// Why the tree is not a chain of revolute joints; empty if it is one.
std::string obstacle(const Tree& tree) {
  if (tree.floating()) return "the base floats";
  const Model& model = tree.model();
  int moving = -1;
  for (const TreeBody& body : tree.bodies()) {
    if (body.joint == BodyJoint::kFixed) continue;
    if (body.joint != BodyJoint::kRevolute || body.link < 0) return "not all joints are revolute";
    // the moving joint before this one must be the last one met
    int parent = body.parent;
    while (parent >= 0 && tree.bodies()[static_cast<size_t>(parent)].joint == BodyJoint::kFixed) {
      parent = tree.bodies()[static_cast<size_t>(parent)].parent;
    }
    if (parent != moving) return "the joints branch";
    moving = static_cast<int>(&body - tree.bodies().data());
  }
  for (const Joint& joint : model.joints) {
    if (joint.mimic) return fmt::format("joint '{}' is a mimic joint", joint.name);
  }
  return moving < 0 ? "there is no moving joint" : "";
}

std::vector<Axis> jointAxes(const Tree& tree, const std::vector<Pose>& poses) {
  std::vector<int> joint_of(static_cast<size_t>(tree.fullVelocityCount()), -1);
  for (int j = 0; j < static_cast<int>(tree.model().joints.size()); ++j) {
    if (const int v = tree.fullVelocityIndex(j); v >= 0) joint_of[static_cast<size_t>(v)] = j;
  }
  std::vector<Axis> axes;
  for (size_t b = 0; b < poses.size(); ++b) {
    const TreeBody& body = tree.bodies()[b];
    if (body.joint != BodyJoint::kRevolute) continue;
    const Pose X_WL = linkPose(body, poses[b]);
    axes.push_back({joint_of[static_cast<size_t>(body.v)], static_cast<int>(b), poses[b].p,
                    poses[b].R.col(2), X_WL.p, X_WL.R.col(0)});
  }
  return axes;
}

/// The link's own origin if it lies on the joint axis, else the body's.
Vector3d preferredOrigin(const Axis& axis) {
  const Vector3d offset = axis.link_origin - axis.origin;
  return offset.cross(axis.z).norm() < kParallel ? axis.link_origin : axis.origin;
}

Vector3d perpendicular(const Vector3d& x, const Vector3d& z) { return x - x.dot(z) * z; }

/// x turned to the side of the link's own x axis where that one is parallel to it.
Vector3d withSense(const Vector3d& x, const Axis& axis) {
  return x.dot(axis.link_x) < -0.5 ? Vector3d(-x) : x;
}

/// A unit vector across z, the link's own x where possible.
Vector3d anyNormal(const Axis& axis) {
  Vector3d x = perpendicular(axis.link_x, axis.z);
  if (x.norm() < 0.5) x = perpendicular(rotationWithZAlong(axis.z).col(0), axis.z);
  return x.normalized();
}

/// Frame of joint j, whose x axis is the common normal with the next axis.
Pose frameBetween(const Axis& axis, const Axis& next) {
  const Vector3d normal = axis.z.cross(next.z), offset = next.origin - axis.origin;
  Vector3d origin, x;
  if (normal.norm() < kParallel) {
    origin = preferredOrigin(axis);
    x = perpendicular(next.origin - origin, axis.z);
    x = x.norm() < kParallel ? anyNormal(axis) : withSense(x.normalized(), axis);
  } else {
    // foot of the common normal: (origin + t z - next) perpendicular to normal x next.z
    const double t = offset.cross(next.z).dot(normal) / normal.squaredNorm();
    origin = axis.origin + t * axis.z;
    x = withSense(normal.normalized(), axis);
  }
  Pose X;
  X.p = origin;
  X.R << x, axis.z.cross(x), axis.z;
  return X;
}

Pose lastFrame(const Axis& axis) {
  Pose X;
  X.p = preferredOrigin(axis);
  const Vector3d x = anyNormal(axis);
  X.R << x, axis.z.cross(x), axis.z;
  return X;
}

}  // namespace

std::vector<ModifiedDhLink> modifiedDh(const Tree& tree, std::string* reason) {
  const std::string why = obstacle(tree);
  if (reason != nullptr) *reason = why;
  if (!why.empty()) return {};
  const std::vector<Pose> poses = bodyPoses(tree);
  const std::vector<Axis> axes = jointAxes(tree, poses);
  std::vector<ModifiedDhLink> links;
  Pose before;
  for (size_t j = 0; j < axes.size(); ++j) {
    const Pose X = j + 1 < axes.size() ? frameBetween(axes[j], axes[j + 1]) : lastFrame(axes[j]);
    if (j == 0) before = X;
    const Pose T = before.inverse() * X;
    ModifiedDhLink link;
    link.joint = axes[j].joint;
    // T = [c, -s, 0, d; ca s, ca c, -sa, -r sa; sa s, sa c, ca, r ca]
    link.alpha = std::atan2(-T.R(1, 2), T.R(2, 2));
    link.theta = std::atan2(-T.R(0, 1), T.R(0, 0));
    link.d = T.p[0];
    link.r = -std::sin(link.alpha) * T.p[1] + std::cos(link.alpha) * T.p[2];
    link.gravity_axis = X.R.transpose() * tree.model().gravity;
    const auto end = static_cast<size_t>(
        j + 1 < axes.size() ? axes[j + 1].body
                            : tree.bodies()[static_cast<size_t>(axes[j].body)].subtree_end);
    for (auto b = static_cast<size_t>(axes[j].body); b < tree.bodies().size(); ++b) {
      // bodies that hang on this joint and not on the next one
      const bool on_this =
          b < static_cast<size_t>(tree.bodies()[static_cast<size_t>(axes[j].body)].subtree_end);
      const bool on_next =
          j + 1 < axes.size() && b >= end &&
          b < static_cast<size_t>(tree.bodies()[static_cast<size_t>(axes[j + 1].body)].subtree_end);
      const TreeBody& body = tree.bodies()[b];
      if (!on_this || on_next || body.link < 0) continue;
      link.parts.push_back({body.link, X.inverse() * linkPose(body, poses[b])});
    }
    links.push_back(link);
    before = X;
  }
  return links;
}

Pose modifiedDhPose(const ModifiedDhLink& link, double q) {
  const double ca = std::cos(link.alpha), sa = std::sin(link.alpha);
  const double c = std::cos(link.theta + q), s = std::sin(link.theta + q);
  Pose X;
  X.R << c, -s, 0, ca * s, ca * c, -sa, sa * s, sa * c, ca;
  X.p << link.d, -link.r * sa, link.r * ca;
  return X;
}

}  // namespace proprio
