#include "proprio/dynamics/link_motion.h"

#include <Eigen/Geometry>

#include "proprio/spatial/motion_composition.h"

namespace proprio {
namespace {

using RowMajor3 = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;

/// Motion of a body relative to its parent: placement, twist and acceleration in body axes.
struct RelativeMotion {
  Pose X_PB;
  BodyTwist twist;
  SensorAcceleration acceleration;
};

/// Full coordinates, read through the mimic expansion of the tree; `base` coordinates are skipped
/// when the vectors hold shape coordinates only.
struct Coordinates {
  const Tree& tree;
  const double* q;
  const double* v;
  const double* a;
  int base_q, base_v;
  double position(int i) const {
    const auto k = static_cast<size_t>(i);
    return tree.q_ratio[k] * q[tree.q_source[k] - base_q] + tree.q_offset[k];
  }
  double velocity(int i) const {
    const auto k = static_cast<size_t>(i);
    return tree.v_ratio[k] * v[tree.v_source[k] - base_v];
  }
  double acceleration(int i) const {
    const auto k = static_cast<size_t>(i);
    return tree.v_ratio[k] * a[tree.v_source[k] - base_v];
  }
};

RelativeMotion floatingMotion(const TreeBody& body, const Coordinates& x) {
  RelativeMotion r;
  for (int k = 0; k < 3; ++k) {
    r.X_PB.p[k] = x.position(body.q + k);
    r.twist.linear[k] = x.velocity(body.v + k);
    r.twist.angular[k] = x.velocity(body.v + 3 + k);
    r.acceleration.linear[k] = x.acceleration(body.v + k);
    r.acceleration.angular[k] = x.acceleration(body.v + 3 + k);
  }
  r.X_PB.R = rotationFromQuaternion({x.position(body.q + 3), x.position(body.q + 4),
                                     x.position(body.q + 5), x.position(body.q + 6)});
  // the coordinates are derivatives of the body twist
  r.acceleration.linear += r.twist.angular.cross(r.twist.linear);
  return r;
}

RelativeMotion relativeMotion(const TreeBody& body, const Coordinates& x) {
  const Pose X_PJ = {RowMajor3::Map(body.R_PJ), Vector3d::Map(body.p_PJ)};
  RelativeMotion r;
  const Vector3d z = Vector3d::UnitZ();
  switch (body.joint) {
    case BodyJoint::kFixed:
      break;
    case BodyJoint::kRevolute:
      r.X_PB.R = rotationExp(x.position(body.q) * z);
      r.twist.angular = x.velocity(body.v) * z;
      r.acceleration.angular = x.acceleration(body.v) * z;
      break;
    case BodyJoint::kPrismatic:
      r.X_PB.p = x.position(body.q) * z;
      r.twist.linear = x.velocity(body.v) * z;
      r.acceleration.linear = x.acceleration(body.v) * z;
      break;
    case BodyJoint::kFloating:
      r = floatingMotion(body, x);
      break;
  }
  r.X_PB = X_PJ * r.X_PB;
  return r;
}

LinkMotion compose(const LinkMotion& parent, const RelativeMotion& r) {
  LinkMotion out;
  out.X_WL = parent.X_WL * r.X_PB;
  out.twist = composeBody(r.X_PB, parent.twist, r.twist);
  out.acceleration = composeSensor(r.X_PB, parent.twist.angular, toMixed(r.X_PB, r.twist),
                                   parent.acceleration, r.acceleration);
  return out;
}

/// @param root  motion of the frame in which the root's joint stands, or of the root itself
void propagate(const Tree& tree, const Coordinates& x, const LinkMotion& root, bool root_is_given,
               std::vector<LinkMotion>* motions) {
  motions->resize(tree.model().links.size());
  // the motion of a body is kept in the frame of its link; helpers without a link are passed on
  // through `pending`, because they are directly followed by their only child
  LinkMotion pending = root;
  for (int i = 0; i < tree.bodyCount(); ++i) {
    const TreeBody& body = tree.bodies()[static_cast<size_t>(i)];
    LinkMotion parent = pending;
    if (body.parent >= 0) {
      const TreeBody& up = tree.bodies()[static_cast<size_t>(body.parent)];
      if (up.link >= 0) {
        const Pose X_BL = {RowMajor3::Map(up.R_BL), Vector3d::Map(up.p_BL)};
        parent = compose((*motions)[static_cast<size_t>(up.link)], {X_BL.inverse(), {}, {}});
      }
    }
    const bool given = body.parent < 0 && root_is_given;
    const LinkMotion motion = given ? root : compose(parent, relativeMotion(body, x));
    if (body.link < 0) {
      pending = motion;
      continue;
    }
    const Pose X_BL = {RowMajor3::Map(body.R_BL), Vector3d::Map(body.p_BL)};
    (*motions)[static_cast<size_t>(body.link)] = compose(motion, {X_BL, {}, {}});
  }
}

}  // namespace

void linkMotions(const Tree& tree, ConstVectorRef q, ConstVectorRef v, ConstVectorRef a,
                 std::vector<LinkMotion>* motions) {
  constexpr const char* kName = "linkMotions";
  requireSize(kName, "q", q.size(), tree.positionCount());
  requireSize(kName, "v", v.size(), tree.velocityCount());
  requireSize(kName, "a", a.size(), tree.velocityCount());
  LinkMotion world;
  world.acceleration.linear = -tree.model().gravity;
  propagate(tree, {tree, q.data(), v.data(), a.data(), 0, 0}, world, false, motions);
}

void linkMotionsFromImu(const Tree& tree, const ImuMotion& base, ConstVectorRef s,
                        ConstVectorRef sd, ConstVectorRef sdd, std::vector<LinkMotion>* motions) {
  constexpr const char* kName = "linkMotionsFromImu";
  if (!tree.floating()) {
    throw Error("linkMotionsFromImu: the base '" +
                tree.model().links[static_cast<size_t>(tree.baseLink())].name +
                "' is fixed; build a floating tree with the IMU's link as base.");
  }
  requireSize(kName, "s", s.size(), tree.positionCount() - 7);
  requireSize(kName, "sd", sd.size(), tree.velocityCount() - 6);
  requireSize(kName, "sdd", sdd.size(), tree.velocityCount() - 6);
  LinkMotion root;
  root.twist.angular = base.angular_velocity;
  root.acceleration = {base.proper_acceleration, base.angular_acceleration};
  propagate(tree, {tree, s.data(), sd.data(), sdd.data(), 7, 6}, root, true, motions);
}

}  // namespace proprio
