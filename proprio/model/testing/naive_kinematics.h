#pragma once

/// Kinematics written down directly from the definition of joints, without trees, relabelled axes
/// or resolved mimic chains: the oracle for everything that is compiled from a Model.

#include <Eigen/Geometry>
#include <vector>

#include "proprio/model/model.h"

namespace proprio {

/// Position of a one-dof joint from the shape positions s, following mimic declarations by name.
inline double naiveJointPosition(const Model& model, const Joint& joint, const Eigen::VectorXd& s) {
  if (!joint.mimic) return s[joint.position_index];
  for (const Joint& leader : model.joints) {
    if (leader.name == joint.mimic->leader) {
      return joint.mimic->ratio * naiveJointPosition(model, leader, s) + joint.mimic->offset;
    }
  }
  return 0.0;
}

/// X_first_second at the shape positions s, as the comment of Joint defines it.
inline Pose naiveJointPose(const Model& model, const Joint& joint, const Eigen::VectorXd& s) {
  Pose motion;
  switch (joint.type) {
    case JointType::kFixed:
      break;
    case JointType::kRevolute:
    case JointType::kContinuous: {
      const double angle = naiveJointPosition(model, joint, s);
      motion.R = Eigen::AngleAxisd(angle, joint.axis).toRotationMatrix();
      break;
    }
    case JointType::kPrismatic:
      motion.p = naiveJointPosition(model, joint, s) * joint.axis;
      break;
    case JointType::kPlanar: {
      const Matrix3d A = rotationWithZAlong(joint.axis);
      const Eigen::Index i = joint.position_index;
      motion.p = s[i] * A.col(0) + s[i + 1] * A.col(1);
      motion.R = Eigen::AngleAxisd(s[i + 2], joint.axis).toRotationMatrix();
      break;
    }
    case JointType::kFloating: {
      const Eigen::Index i = joint.position_index;
      motion.p = s.segment<3>(i);
      motion.R = Eigen::Quaterniond(s[i + 6], s[i + 3], s[i + 4], s[i + 5])
                     .normalized()
                     .toRotationMatrix();
      break;
    }
  }
  return joint.X_FJ * motion * joint.X_JS;
}

/// Poses X_WL of every link when link `base` is at X_WB and the shape positions are s.
inline std::vector<Pose> naiveLinkPoses(const Model& model, int base, const Pose& X_WB,
                                        const Eigen::VectorXd& s) {
  std::vector<Pose> X_WL(model.links.size());
  std::vector<bool> known(model.links.size(), false);
  X_WL[base] = X_WB;
  known[base] = true;
  // sweep over the joints until nothing new becomes known
  for (bool changed = true; changed;) {
    changed = false;
    for (const Joint& joint : model.joints) {
      if (known[joint.first] == known[joint.second]) continue;
      const Pose X_FS = naiveJointPose(model, joint, s);
      if (known[joint.first]) {
        X_WL[joint.second] = X_WL[joint.first] * X_FS;
      } else {
        X_WL[joint.first] = X_WL[joint.second] * X_FS.inverse();
      }
      known[joint.first] = known[joint.second] = true;
      changed = true;
    }
  }
  return X_WL;
}

}  // namespace proprio
