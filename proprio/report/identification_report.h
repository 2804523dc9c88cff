#pragma once

/// report.html: one self-contained file about one identification. On top the verdict in plain words
/// and the numbers that matter; then errors beside baselines, measured and predicted torques that
/// can be enlarged, the links in space before and after, parameters with their uncertainty, what
/// the motion could tell, tests of the residuals, the recordings and where everything came from.
/// Light and dark as the reader's system is set; complete without scripts and on paper.

#include <string>

#include "proprio/identification/identification_result.h"

namespace proprio {

std::string identificationReport(const IdentificationResult& result);

}  // namespace proprio
