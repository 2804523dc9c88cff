#pragma once

/// Which pairs of links collide whatever the robot does: hulls of hollow parts, or shapes drawn too
/// generously, touch at every posture, and no motion would keep them apart. They are like the
/// "always in collision" pairs that motion planners leave out, and found by sampling too.

#include "proprio/motion/motion_constraints.h"

namespace proprio {

struct PermanentContact {
  int pair = -1;       ///< of RobotCollisions
  double share = 0.0;  ///< of the random postures at which they are nearer than the clearance
};

struct ContactSurvey {
  double least = 0.9;  ///< share of the postures that makes a contact permanent
  int postures = 200;
  uint64_t seed = 1;
};

/// Pairs of links (never of a link and a box) that are nearer than the clearance of `options` at
/// nearly all random postures of its joints, the others being held. @throws Error for joints that
/// the model does not have.
std::vector<PermanentContact> permanentContacts(const Tree& tree, const ConstraintOptions& options,
                                                const ContactSurvey& survey = {});

}  // namespace proprio
