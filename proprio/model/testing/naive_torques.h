#pragma once

/// Inverse dynamics of a fixed-base tree of revolute and fixed joints, written down in world axes
/// without spatial vectors: motion of every link outwards, force and moment about every link's
/// origin inwards. Joint torques without drive and friction; the oracle for small comparisons.

#include <Eigen/Geometry>
#include <vector>

#include "proprio/model/testing/naive_kinematics.h"
#include "proprio/model/tree.h"

namespace proprio {

inline Eigen::VectorXd naiveTorques(const Model& model, const Eigen::VectorXd& q,
                                    const Eigen::VectorXd& v, const Eigen::VectorXd& a) {
  const Traversal order = traverse(model, model.base);
  const std::vector<Pose> X = naiveLinkPoses(model, model.base, model.X_WB, q);
  const size_t n = model.links.size();
  const auto zeros = [n] { return std::vector<Vector3d>(n, Vector3d::Zero()); };
  std::vector<Vector3d> w = zeros(), wd = zeros(), acc = zeros(), force = zeros(), moment = zeros();
  Eigen::VectorXd tau = Eigen::VectorXd::Zero(model.velocity_count);

  acc[static_cast<size_t>(model.base)] = -model.gravity;
  for (const int link : order.order) {
    const size_t i = static_cast<size_t>(link);
    if (link != model.base) {
      const size_t p = static_cast<size_t>(order.parent[i]);
      const Joint& joint = model.joints[static_cast<size_t>(order.parent_joint[i])];
      const Vector3d r = X[i].p - X[p].p;
      w[i] = w[p];
      wd[i] = wd[p];
      acc[i] = acc[p] + wd[p].cross(r) + w[p].cross(w[p].cross(r));
      if (joint.velocity_index >= 0) {
        const Vector3d axis = X[i].R * joint.axis;  // second's frame is the joint frame
        w[i] += axis * v[joint.velocity_index];
        wd[i] += axis * a[joint.velocity_index] + w[p].cross(axis * v[joint.velocity_index]);
      }
    }
    const InertialParameters& body = model.links[i].inertia;
    const Vector3d mc = X[i].R * body.first_moment;
    const Matrix3d I = X[i].R * body.inertia * X[i].R.transpose();
    force[i] = body.mass * acc[i] + wd[i].cross(mc) + w[i].cross(w[i].cross(mc));
    moment[i] = I * wd[i] + w[i].cross(I * w[i]) + mc.cross(acc[i]);
  }
  for (auto it = order.order.rbegin(); it != order.order.rend(); ++it) {
    const size_t i = static_cast<size_t>(*it);
    if (*it == model.base) continue;
    const size_t p = static_cast<size_t>(order.parent[i]);
    const Joint& joint = model.joints[static_cast<size_t>(order.parent_joint[i])];
    if (joint.velocity_index >= 0) {
      tau[joint.velocity_index] += (X[i].R * joint.axis).dot(moment[i]);
    }
    force[p] += force[i];
    moment[p] += moment[i] + (X[i].p - X[p].p).cross(force[i]);
  }
  return tau;
}

}  // namespace proprio
