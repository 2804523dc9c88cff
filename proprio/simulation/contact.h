#pragma once

/// What acts on the robot from outside: forces given over time, and collisions of points of its
/// links with half-spaces (floor, wall, table) by a penalty.
///
/// A point at depth d > 0 below the surface with normal n, moving with velocity u, is pushed by
///   f_n = max(0, stiffness d - damping n.u),   f_t = -friction f_n u_t / sqrt(u_t^2 + slip^2)
/// with u_t the sliding velocity and slip = 1 mm/s: a regularised Coulomb cone, so that points
/// creep under load. At rest a weight W on k points sinks by W / (k stiffness).

#include <string>
#include <vector>

#include "proprio/dynamics/kinematics.h"

namespace proprio {

struct HalfSpace {
  Vector3d point = Vector3d::Zero();    ///< on its surface, in the world
  Vector3d normal = Vector3d::UnitZ();  ///< out of it, unit vector
  double stiffness = 1e5;               ///< N/m
  double damping = 300.0;               ///< N s/m
  double friction = 0.0;                ///< Coulomb's coefficient
};

struct ContactPoint {
  int link = -1;
  Vector3d p_L = Vector3d::Zero();  ///< in the link frame
};

/// A force at a point of a link and a moment, from `start` on until `end`, s.
struct AppliedWrench {
  double start = 0.0;
  double end = std::numeric_limits<double>::infinity();
  int link = -1;
  Vector3d p_L = Vector3d::Zero();     ///< where the force acts, in the link frame
  Vector3d force = Vector3d::Zero();   ///< N
  Vector3d moment = Vector3d::Zero();  ///< N m
  bool in_link_axes = false;           ///< else in the axes of the world
};

struct Surroundings {
  std::vector<HalfSpace> half_spaces;
  std::vector<ContactPoint>
      points;  ///< that may touch them; cells of skins are added by themselves
  std::vector<AppliedWrench> wrenches;
};

/// Adds the wrenches of contacts to `wrenches` (see LinkWrenches).
/// @param forces  normal force of each point, N; as many entries as points. Real-time.
void addContactWrenches(const Tree& tree, const Kinematics& kinematics,
                        const std::vector<HalfSpace>& half_spaces,
                        const std::vector<ContactPoint>& points, LinkWrenches* wrenches,
                        Eigen::Ref<Eigen::VectorXd> forces);

/// Adds one applied wrench. Real-time.
void addAppliedWrench(const Kinematics& kinematics, const AppliedWrench& applied,
                      LinkWrenches* wrenches);

}  // namespace proprio
