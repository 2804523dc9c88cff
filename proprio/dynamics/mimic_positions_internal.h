#pragma once

/// Inside the dynamics room: a tree at its reference position (all joints at zero) in world axes,
/// from the origin of its root, lengths in units of its reach, by free coordinates; and the
/// positions of mimicked coordinates at which rows have to be compared
/// (mimic_conditions_internal.h says why these suffice).

#include <vector>

#include "proprio/dynamics/structural_spaces_internal.h"

namespace proprio::internal {

/// More positions than this are not compared: it would take minutes.
inline constexpr size_t kMostPositions = 2000;

/// A twist at a body, in world axes at the reference position, and how fast a coordinate drives it.
struct DrivenTwist {
  int body = -1;
  Vector6d S;
  double ratio = 1.0, offset = 0.0;
};

struct FreeCoordinate {
  std::vector<DrivenTwist> drives;
  int joint = -1;     ///< the free joint, if it is one of a joint
  bool moves = true;  ///< false: a wrench is measured there, but nothing moves
  bool measured = false;
  double scale = 1.0;  ///< sliding coordinates are in units of the robot's reach
  bool led() const { return drives.size() > 1; }
};

class ReferenceTree {
 public:
  explicit ReferenceTree(const Tree& tree);

  const Tree& tree() const { return tree_; }
  double size() const { return size_; }
  const Pose& pose(int body) const { return poses_[static_cast<size_t>(body)]; }
  std::vector<FreeCoordinate>& coordinates() { return coordinates_; }
  const std::vector<FreeCoordinate>& coordinates() const { return coordinates_; }
  bool beyond(int inner, int body) const {
    return inner <= body && body < tree_.bodies()[static_cast<size_t>(inner)].subtree_end;
  }

 private:
  void addTwists(int body);

  const Tree& tree_;
  double size_;
  std::vector<Pose> poses_;
  std::vector<FreeCoordinate> coordinates_;
};

/// Of all coordinates; those that move one joint alone are at zero.
using Positions = std::vector<double>;
/// Empty: more than kMostPositions.
std::vector<Positions> comparedPositions(const ReferenceTree& reference);

}  // namespace proprio::internal
