#pragma once

/// A model written out from its base as other libraries want it: every link with its parent, and
/// between them a chain of one-degree-of-freedom motions. Read off the Model's declarations
/// directly, without Tree, so that comparisons with other libraries also cover Tree.

#include <string>
#include <vector>

#include "proprio/model/model.h"
#include "proprio/model/tree.h"

namespace proprio {

/// Rotation by q about `axis`, or translation by q along it.
struct RootedMotion {
  bool prismatic = false;
  Vector3d axis = Vector3d::UnitZ();  ///< in the motion frame M
  int shape_index = -1;               ///< into the shape velocities
  double rotor_inertia = 0.0;
  bool ball = false;  ///< any rotation, after three translations: a floating joint
};

/// X_PC(q) = X_PM * motion_1(q) * motion_2(q) ... * X_MC, P the parent link and C this one.
struct RootedLink {
  int link = -1;
  int parent = -1;  ///< link index; -1 for the base
  Pose X_PM;
  Pose X_MC;
  std::vector<RootedMotion> motions;  ///< none for fixed joints
};

/// Motions of a joint from `first` to `second`; the inverse order and axes the other way.
inline std::vector<RootedMotion> rootedMotions(const Joint& joint, bool reversed) {
  std::vector<RootedMotion> motions;
  const int i = joint.velocity_index;
  if (joint.type == JointType::kPlanar) {
    const Matrix3d A = rotationWithZAlong(joint.axis);
    motions = {
        {true, A.col(0), i, 0.0}, {true, A.col(1), i + 1, 0.0}, {false, joint.axis, i + 2, 0.0}};
  } else if (joint.type == JointType::kFloating) {
    for (int k = 0; k < 3; ++k) motions.push_back({true, Vector3d::Unit(k), i + k, 0.0});
    motions.push_back({false, Vector3d::UnitZ(), i + 3, 0.0, true});
  } else if (joint.type != JointType::kFixed) {
    motions = {{joint.type == JointType::kPrismatic, joint.axis, i, 0.0}};
  }
  if (joint.drive.declared && !motions.empty())
    motions[0].rotor_inertia = joint.drive.rotor_inertia;
  if (reversed) {
    motions = {motions.rbegin(), motions.rend()};
    for (RootedMotion& motion : motions) motion.axis = -motion.axis;
  }
  return motions;
}

/// Appends the links behind `link`, each followed by its own (depth first).
inline void addLinksBehind(const Model& model, int link, int parent,
                           std::vector<RootedLink>& links) {
  for (const int j : model.joints_of_link[static_cast<size_t>(link)]) {
    const Joint& joint = model.joints[static_cast<size_t>(j)];
    const bool reversed = joint.second == link;
    const int child = reversed ? joint.first : joint.second;
    if (child == parent) continue;
    const Pose X_PM = reversed ? joint.X_JS.inverse() : joint.X_FJ;
    const Pose X_MC = reversed ? joint.X_FJ.inverse() : joint.X_JS;
    links.push_back({child, link, X_PM, X_MC, rootedMotions(joint, reversed)});
    addLinksBehind(model, child, link, links);
  }
}

/// Links in depth-first order (Pinocchio's mass matrix is wrong for any other). @pre no mimic
/// joints; floating ones only for MuJoCo, and with X_JS = 1.
inline std::vector<RootedLink> rootedLinks(const Model& model) {
  std::vector<RootedLink> links = {{model.base, -1, {}, {}, {}}};
  addLinksBehind(model, model.base, -1, links);
  return links;
}

}  // namespace proprio
