#pragma once

/// Modified Denavit-Hartenberg parameters (Khalil and Kleinfinger) of a serial arm of revolute
/// joints, read off its geometry whatever frames its description uses:
///   T_{j-1,j} = Rot(x, alpha_j) Trans(x, d_j) Rot(z, theta_j + q_j) Trans(z, r_j),
/// z_j along joint j, x_j along the common normal of z_j and z_{j+1}; frame 0 is frame 1 at q = 0.
/// Where the convention leaves a choice (sense of x, origin on parallel axes, last frame), the
/// link's own frame decides, so that a description in DH form gets its own numbers back.
/// Links behind fixed joints belong to the link that carries them.
/// Source: Khalil and Dombre 2002; Ardiani 2023 ch. 1.

#include <string>
#include <vector>

#include "proprio/model/tree.h"

namespace proprio {

struct ModifiedDhLink {
  int joint = -1;  ///< model joint
  double alpha = 0, d = 0, theta = 0, r = 0;
  Vector3d gravity_axis = Vector3d::Zero();  ///< gravity at q = 0 in the axes of the frame
  struct Part {
    int link = -1;  ///< model link
    Pose X_ML;      ///< its frame in the DH frame
  };
  std::vector<Part> parts;  ///< all links that move with the joint
};

/// From base to tip. Empty if the tree is not a chain of revolute joints on a fixed base; then
/// `reason` says why.
std::vector<ModifiedDhLink> modifiedDh(const Tree& tree, std::string* reason = nullptr);

/// T_{j-1,j} at q.
Pose modifiedDhPose(const ModifiedDhLink& link, double q);

}  // namespace proprio
