#pragma once

/// What estimate.json, the terminal and the report all say about a result, in one place.

#include <optional>
#include <string>
#include <vector>

#include "proprio/identification/diagnosis.h"
#include "proprio/identification/identification_result.h"

namespace proprio {

/// Unit of the torque of each velocity coordinate (their names: identification/diagnosis.h).
std::vector<std::string> coordinateUnits(const Tree& tree);

/// Standard deviation of every standard parameter that is a base parameter by itself, else NaN.
Eigen::VectorXd standardSigma(const IdentificationProblem& problem, const MethodResult& method);
/// Standard deviations of the base parameters.
Eigen::VectorXd baseSigma(const Estimate& estimate);

/// How many base parameters are known to 10 %: the data have found a value, which is ten standard
/// deviations away from zero. Values that were dropped or held fast have none.
constexpr double kKnownWell = 10.0;
Eigen::Index knownWell(const Estimate& estimate);

/// The body that the parameters give a link.
InertialParameters bodyOf(const ParameterLayout& layout, const Eigen::VectorXd& chi, int link);
/// Links that some joint moves, in the order of the model.
std::vector<int> movedLinks(const Tree& tree);
/// Of a standard parameter; prior where the method does not say.
ParameterOrigin originOf(const MethodResult& method, int parameter);

/// The verdict for a place where "passed" or "failed" stands already.
std::string verdictBeside(const IdentificationResult& result);
/// Passed, except for joints that the verdict names.
bool passedInPart(const IdentificationResult& result);

}  // namespace proprio
