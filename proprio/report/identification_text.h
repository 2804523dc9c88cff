#pragma once

/// The result of an identification in a terminal: errors per joint beside what the description as
/// given and simpler models achieve, masses and centres of mass before and after, the parameters
/// that are known worst, all methods that ran, and the verdict.

#include <string>

#include "proprio/identification/identification_result.h"

namespace proprio {

std::string identificationText(const IdentificationResult& result, bool colour, int width = 100);

}  // namespace proprio
