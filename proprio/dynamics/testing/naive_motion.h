#pragma once

/// Pose, twist and acceleration of every link, written down motion by motion from the declarations
/// (rooted_model.h): with S the unit twist of a motion in the frame behind it,
///   V_C = Ad(X_CP) V_P + S qd,   A_C = Ad(X_CP) A_P + V_C x S qd + S qdd
/// where V is the body twist (v, w) relative to the world and A its plain time derivative.

#include <Eigen/Geometry>
#include <vector>

#include "proprio/dynamics/testing/rooted_model.h"

namespace proprio {

struct NaiveLinkMotion {
  Pose X_WL;
  Vector6d V = Vector6d::Zero();
  Vector6d A = Vector6d::Zero();
};

inline NaiveLinkMotion naivelyMoved(const NaiveLinkMotion& from, const Pose& X_PC) {
  const Matrix6d Ad = velocityAdjoint(X_PC.inverse());
  return {from.X_WL * X_PC, Ad * from.V, Ad * from.A};
}

inline NaiveLinkMotion naivelyMoved(const NaiveLinkMotion& from, const RootedMotion& motion,
                                    double q, double qd, double qdd) {
  Pose X;
  Vector6d S = Vector6d::Zero();
  if (motion.prismatic) {
    X.p = q * motion.axis;
    S.head<3>() = motion.axis;
  } else {
    X.R = Eigen::AngleAxisd(q, motion.axis).toRotationMatrix();
    S.tail<3>() = motion.axis;
  }
  NaiveLinkMotion to = naivelyMoved(from, X);
  to.V += S * qd;
  Vector6d crossed;
  crossed << to.V.tail<3>().cross(S.head<3>()) + to.V.head<3>().cross(S.tail<3>()),
      to.V.tail<3>().cross(S.tail<3>());
  to.A += crossed * qd + S * qdd;
  return to;
}

/// Motion of every link (by index) when the model's own base moves as q, v, a say (layout of Tree).
inline std::vector<NaiveLinkMotion> naiveMotion(const Model& model, const Eigen::VectorXd& q,
                                                const Eigen::VectorXd& v,
                                                const Eigen::VectorXd& a) {
  std::vector<NaiveLinkMotion> motions(model.links.size());
  const Eigen::Index nq = model.floating ? 7 : 0, nv = model.floating ? 6 : 0;
  for (const RootedLink& link : rootedLinks(model)) {
    NaiveLinkMotion& motion = motions[static_cast<size_t>(link.link)];
    if (link.parent < 0) {
      motion.X_WL = model.X_WB;
      if (model.floating) {
        motion = {{rotationFromQuaternion(q.segment<4>(3)), q.head<3>()}, v.head<6>(), a.head<6>()};
      }
      continue;
    }
    motion = naivelyMoved(motions[static_cast<size_t>(link.parent)], link.X_PM);
    for (const RootedMotion& m : link.motions) {
      motion = naivelyMoved(motion, m, q[nq + m.shape_index], v[nv + m.shape_index],
                            a[nv + m.shape_index]);
    }
    motion = naivelyMoved(motion, link.X_MC);
  }
  return motions;
}

}  // namespace proprio
