#pragma once

/// Stretches of time in which something pushed the robot: the residuals of several joints are large
/// there at once, and small in the rest of the recording. Friction that changes where a joint turns
/// round concerns one joint and a moment; a poor model all of the time.
///
/// Residuals e_j are those of robust least squares (irls), which such a stretch does not pull, in
/// units of s_j = 1.4826 median |e_j|. A sample is disturbed if in at least two joints the root
/// mean square of a quarter of a second about it is above 5 s_j and above 10 % of the joint's
/// torque; rows before a joint first moves, and after it last does (a third of its root mean square
/// speed), do not count, because many joints that start together stick and slip together. Disturbed
/// samples less than half a second apart are one stretch; it counts if it lasts
/// half a second. More than three stretches, or more than a third of all samples, are no event
/// but a model that does not fit: none is returned.

#include <string>
#include <vector>

#include "proprio/identification/method.h"

namespace proprio {

struct DisturbedStretch {
  int recording = 0;                  ///< place in IdentificationProblem::data
  Eigen::Index start = 0, count = 0;  ///< samples
  std::vector<int> coordinates;       ///< whose residuals are large
};

/// @param robust  estimate of irls
std::vector<DisturbedStretch> disturbedStretches(const IdentificationProblem& problem,
                                                 const Estimate& robust);

/// The problem's samples without those of the stretches.
std::vector<MotionData> undisturbed(const IdentificationProblem& problem,
                                    const std::vector<DisturbedStretch>& stretches);

/// "from 12.1 to 15 s of a.csv (j1, j2, j3)".
std::string stretchText(const IdentificationProblem& problem, const DisturbedStretch& stretch);

}  // namespace proprio
