#pragma once

/// Where a joint turns round its dry friction does not turn at once: contacts and gears bend first,
/// and friction follows after some tenths of a milliradian (presliding; Dahl 1968). In torques that
/// were filtered this is a pulse at each reversal with the sign of the acceleration, so that a fit
/// takes it for inertia. How late friction turns is found from the training data, joint by joint:
///
///   tau_j = W beta + F_c s + c l,    s: the filtered sign of the velocity (MotionData::sign),
///                                    l: what it would have besides if friction turned after the
///                                       travel kPresliding (MotionData::late)
///
/// by least squares over the rows that count, and those beside reversals that do not because the
/// direction of friction is not known well enough there (MotionData::mixed). A pulse shorter than
/// the filter shows by its area alone, which grows with the root of the travel, so that s + (c /
/// F_c) l stands for friction that turns after (c / F_c)^2 kPresliding. Believed only if c is
/// positive by kSureDeviations of its standard deviation, which allows for residuals that remember
/// (sums over stretches of time, Liang and Zeger 1986); friction that turns at once stays as it is.
/// The deviations of the parameters take the travel as known.

#include <string>
#include <vector>

#include "proprio/identification/motion_data.h"

namespace proprio {

struct LateReversal {
  int coordinate = 0;   ///< velocity coordinate
  double share = 0.0;   ///< c / F_c, at most kMostShare
  double travel = 0.0;  ///< rad, m
};

/// Of the joints whose declared friction jumps at rest, in data that were filtered.
std::vector<LateReversal> findLateReversals(const Tree& tree, const std::vector<MotionData>& data);

/// Lets friction turn late in the data; MotionData::late has then done its work and is emptied.
void turnLate(const std::vector<LateReversal>& found, std::vector<MotionData>* data);

/// A sentence about those that are worth one; empty if there are none.
std::string lateReversalText(const Tree& tree, const std::vector<LateReversal>& found);

}  // namespace proprio
