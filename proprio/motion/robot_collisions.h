#pragma once

/// Distances between the links of a robot, and between links and boxes around it, with gradients.
/// A link is the collision shapes that its description states: boxes, cylinders, spheres, and
/// meshes as their convex hulls. For the witness points p_A, p_B of a pair at distance d,
///   n = (p_B - p_A) / d,   d d / d q = n^T (J_pB - J_pA);
/// touching pairs have negative distances, along n (minus the penetration depth, or a few per cent
/// more). Gaps are FCL's, to about 1e-6 m, those of spheres and capsules in closed form; where
/// capsules around two parts are farther apart than the caller wants to know, the distance of these
/// capsules is returned, which is not larger.
///
/// Left out: links joined by a joint (they always touch), pairs that the caller names, links
/// without collision shapes (shapelessLinks() lists them). Links are compared with boxes unless
/// they cannot move.
///
/// A hull keeps at most 500 vertices of its mesh, those extreme in evenly spread directions: it
/// may be smaller than the mesh by about a hundredth of its size.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "proprio/dynamics/kinematics.h"

namespace proprio {

/// A box in the world that the robot must not touch.
struct EnvironmentBox {
  std::string name;
  Pose X_WG;                                ///< centre and axes
  Vector3d size = Vector3d::Constant(1.0);  ///< edge lengths
};

struct CollisionOptions {
  bool self = true;
  std::vector<EnvironmentBox> environment;
  std::vector<std::pair<std::string, std::string>> disabled;  ///< links, or a link and a box
};

struct LinkDistance {
  double distance = 0.0;
  Vector3d p_A = Vector3d::Zero(), p_B = Vector3d::Zero();  ///< witness points in the world
  Vector3d n = Vector3d::Zero();  ///< unit vector in the world along which they are (not) apart
};

class RobotCollisions {
 public:
  /// @throws Error for a disabled name that does not exist, a mesh that cannot be read, or boxes
  /// around a robot of which no moving link has a collision shape.
  RobotCollisions(std::shared_ptr<const Tree> tree, const CollisionOptions& options);
  ~RobotCollisions();

  int pairCount() const;
  /// "forearm and table".
  std::string pairName(int pair) const;
  /// Links of a pair; the second is -1 for a box of the environment.
  std::pair<int, int> links(int pair) const;

  /// At the poses in `kinematics`. Above `enough` (m) it may be smaller than the distance, but is
  /// above `enough` too. May be called from several threads at once.
  LinkDistance distance(const Kinematics& kinematics, int pair, double enough = 0.5) const;
  /// Gradient of that distance, velocityCount() entries.
  void gradient(const Kinematics& kinematics, int pair, const LinkDistance& at,
                VectorRef gradient) const;

 private:
  struct Shapes;
  std::unique_ptr<Shapes> shapes_;
};

/// Links that move relative to the base (all of a free base) and have a body, that is mass or
/// something to look at, but no collision shape: nobody notices what they touch.
std::vector<int> shapelessLinks(const Tree& tree);

}  // namespace proprio
