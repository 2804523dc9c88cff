#pragma once

/// Inside the simulation room: the reference of a run at every control period, in the tree's
/// velocity coordinates, with its feed-forward torque.

#include "proprio/simulation/closed_loop.h"

namespace proprio::internal {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct LoopReference {
  RowMatrix q, v, a, torque;  ///< row = control period, column = velocity coordinate
};

/// Coordinates with a servo: single joints that follow no other.
struct Axis {
  int joint = -1;
  Eigen::Index coordinate = -1;
};
std::vector<Axis> servoAxes(const Tree& tree);

/// @throws Error for wrong sizes, unknown joints, times that do not increase, numbers that are not
/// finite, and (if asked) positions or velocities outside the limits.
void checkReference(const Tree& tree, const ClosedLoopRun& run);

/// Of a run that passed the check.
LoopReference loopReference(const Tree& tree, const ClosedLoopRun& run);

}  // namespace proprio::internal
