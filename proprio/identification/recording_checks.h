#pragma once

/// What is said about recordings before anything is learnt from them: do they look like this robot
/// (plausibility.h), do their torques have the scale that the description and the other joints
/// imply (joint_gains.h), and belong to the same times as positions (torque_delay.h)? Each adds
/// findings; errors fail the identification.

#include <map>
#include <vector>

#include "proprio/identification/method.h"
#include "proprio/recording/quality.h"

namespace proprio {

/// Velocity coordinates whose torques are many times what the description predicts; how many.
using ScaleSuspects = std::map<int, double>;

/// Compares the recordings with the description, and looks for placeholders in it.
ScaleSuspects checkRecordings(const Tree& tree, const std::vector<MotionData>& data,
                              std::vector<QualityFinding>* findings);

/// Suspects are believed unless they contradict the other joints; returns those that do.
std::vector<int> checkScales(const IdentificationProblem& problem, const ScaleSuspects& suspects,
                             std::vector<QualityFinding>* findings);

/// Do torques and positions belong to the same times (torque_delay.h)? Asked where the joints one
/// by one do not tell (recording/quality.h); delays of several logs are taken as one.
void checkDelay(const IdentificationProblem& problem, std::vector<QualityFinding>* findings);

/// Torques whose scale contradicts the other joints. Nothing is said beside errors: a recording
/// that is read wrongly contradicts itself anyway.
void checkGains(const IdentificationProblem& problem, std::vector<QualityFinding>* findings);

/// Is there a mistake among them that fails the identification?
bool hasErrors(const std::vector<QualityFinding>& findings);

}  // namespace proprio
