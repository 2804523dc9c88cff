#pragma once

/// What the verb `excite` keeps apart: its options about links and boxes around the robot.

#include "apps/verb.h"
#include "proprio/motion/motion_constraints.h"

namespace proprio::apps {

struct CollisionArguments {
  std::vector<std::string> environment;  ///< boxes, as "NAME: x y z  length width height [r p y]"
  std::vector<std::string> disabled;     ///< pairs, as "A:B"
  bool no_self_collision = false;
  double clearance = 0.01;  ///< m
};

/// What a design does not look at.
struct Unwatched {
  std::vector<std::string> pairs;  ///< of links that collide at nearly every posture
  std::vector<std::string> links;  ///< that move and have no collision shape
  bool any_shape = false;          ///< some link has one
};

void addCollisionOptions(CLI::App& verb, CollisionArguments& arguments);

/// Distances of links and boxes become constraints of a design; pairs that collide at nearly every
/// posture are left out. @throws Error for a box around a robot without collision shapes.
Unwatched addCollisions(const CollisionArguments& arguments,
                        const std::shared_ptr<const Tree>& tree, ConstraintOptions* constraints);

/// The same in lines of text; empty if everything is looked at.
std::string unwatchedText(const CollisionArguments& arguments, const Unwatched& unwatched);

}  // namespace proprio::apps
