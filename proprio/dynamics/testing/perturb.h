#pragma once

/// Positions moved along the velocity coordinates, for finite differences.

#include "proprio/dynamics/workspace.h"
#include "proprio/spatial/se3.h"

namespace proprio {

/// q after the step d in velocity coordinates: joints add, free poses are multiplied on the right
/// by exp(d).
inline Eigen::VectorXd moved(const Tree& tree, Eigen::VectorXd q, const Eigen::VectorXd& d) {
  const auto free = [&](int iq, int iv) {
    const Pose X = {rotationFromQuaternion(q.segment<4>(iq + 3)), q.segment<3>(iq)};
    const Pose next = X * poseExp(d.segment<6>(iv));
    q.segment<3>(iq) = next.p;
    q.segment<4>(iq + 3) = quaternionFromRotation(next.R);
  };
  if (tree.floating()) free(0, 0);
  for (size_t j = 0; j < tree.model().joints.size(); ++j) {
    const Joint& joint = tree.model().joints[j];
    if (joint.velocity_index < 0 || joint.mimic) continue;
    const int iq = tree.positionIndex(static_cast<int>(j)),
              iv = tree.velocityIndex(static_cast<int>(j));
    if (joint.type == JointType::kFloating) {
      free(iq, iv);
      continue;
    }
    for (int k = 0; k < velocityCount(joint.type); ++k) q[iq + k] += d[iv + k];
  }
  return q;
}

}  // namespace proprio
