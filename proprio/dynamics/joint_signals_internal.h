#pragma once

/// Inside the dynamics room: position, velocity and acceleration of single joints, mimic joints
/// included, out of the coordinates of a tree.

#include "proprio/dynamics/workspace.h"

namespace proprio::internal {

/// Zero at zero; a NaN stays a NaN.
inline double signOf(double x) { return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x; }

/// One sample of the free coordinates.
struct JointSignals {
  const double* q;
  const double* v;
  const double* a;
  double position(const Tree& tree, int j) const {
    const Joint& joint = tree.model().joints[static_cast<size_t>(j)];
    return joint.mimic_ratio * q[tree.positionIndex(j)] + joint.mimic_offset;
  }
  double velocity(const Tree& tree, int j) const {
    return tree.model().joints[static_cast<size_t>(j)].mimic_ratio * v[tree.velocityIndex(j)];
  }
  double acceleration(const Tree& tree, int j) const {
    return tree.model().joints[static_cast<size_t>(j)].mimic_ratio * a[tree.velocityIndex(j)];
  }
};

/// @throws Error if the layout cannot be one of the tree's model.
void requireSameModel(const char* function, const Tree& tree, const ParameterLayout& layout);

}  // namespace proprio::internal
