#pragma once

/// What a motion uses of its limits between the samples of a grid.
///
/// Usage u(t) of a constraint along a smooth motion is continuous and, but for kinks (another pair
/// of nearest points, dry friction), smooth. Where the samples around a local maximum rise fast
/// enough that the level asked for may be passed between them,
///   u_k + max |u_{i+1} - u_i| > above   over the two intervals on either side,
/// the maximum is looked for by golden sections in [t_{k-1}, t_{k+1}], to 1e-3 of an interval.
/// Limits: two maxima within one interval count as one. Links that are farther apart than 50 mm
/// beyond their clearance at both ends of an interval are not looked at inside: to touch there they
/// would have to approach at 0.1 m per interval, 10 m/s where samples are 10 ms apart.

#include "proprio/motion/motion_constraints.h"
#include "proprio/motion/trajectory.h"

namespace proprio {

struct ConstraintPeak {
  int constraint = 0;  ///< of constraints.list()
  double usage = 0.0;  ///< as MotionConstraint::measure()
  double time = 0.0;   ///< s
};

/// Local maxima of the usage of a motion of constraints.joints() that are above `above`, looked for
/// on a grid of `samples` intervals and between its samples; of one constraint after the other.
/// @param first  only the first of them
std::vector<ConstraintPeak> constraintPeaks(const MotionConstraints& constraints,
                                            const Trajectory& motion, int samples, double above,
                                            bool first = false);

}  // namespace proprio
