#pragma once

/// What the residuals of an estimate tell: per joint whether they are white, normal, of constant
/// size and unrelated to the motion; per parameter how well it is known; and all of it in words.
/// Normality and constant size are judged on innovations, the residuals with their memory taken
/// out, because correlated samples would pretend to be more evidence than they are. Of several
/// recordings the least likely counts, its probability times their number.
/// References.

#include "proprio/identification/identification_result.h"
#include "proprio/identification/robust_covariance.h"

namespace proprio {

/// Per velocity coordinate; p-values of coordinates without rows are 1.
std::vector<JointDiagnosis> diagnoseResiduals(const IdentificationProblem& problem,
                                              const Estimate& estimate,
                                              const CorrectedCovariance& covariance);

/// Intervals of parameters that may not be negative and are at this bound (Estimate::at_zero) begin
/// at zero.
/// @param level  of the confidence intervals
std::vector<ParameterUncertainty> parameterUncertainties(const IdentificationProblem& problem,
                                                         const Estimate& estimate,
                                                         const CorrectedCovariance& covariance,
                                                         double level = 0.95);
std::vector<ParameterUncertainty> parameterUncertainties(const Estimate& estimate,
                                                         const CorrectedCovariance& covariance,
                                                         double level = 0.95);

/// What an engineer should know, one sentence each, the most important first: directions that the
/// data leave open, bias by noise, memory of the residuals, joints whose residuals depend on the
/// motion. Empty if there is nothing to say.
/// @param delayed  torques belong to other times than positions, which explains bias and residuals
/// that follow the motion
std::vector<std::string> remarks(const IdentificationProblem& problem, const Estimate& estimate,
                                 const std::vector<JointDiagnosis>& joints,
                                 const NoiseBiasTest& noise_bias, bool delayed = false);

/// Names of the joints in the order of the velocity coordinates: "arm", or "arm_1", ... where a
/// joint has several.
std::vector<std::string> coordinateNames(const Tree& tree);
/// Is this an axis of a force-torque sensor or of a free base, as coordinateNames() calls it?
bool isWrenchAxis(const std::string& name);

}  // namespace proprio
