#pragma once

/// The sections of report.html, each a piece of HTML; empty where there is nothing to say.

#include <string>

#include "proprio/identification/identification_result.h"

namespace proprio {

// identification_torques.cc
std::string torqueSections(const IdentificationResult& result);
// identification_parameters.cc
std::string linkSection(const IdentificationResult& result);
std::string parameterSection(const IdentificationResult& result);
std::string jointSection(const IdentificationResult& result);
// identification_background.cc
std::string excitationSection(const IdentificationResult& result);
std::string statisticsSection(const IdentificationResult& result);
std::string methodSection(const IdentificationResult& result);
std::string recordingSection(const IdentificationResult& result);
std::string sourceSection(const IdentificationResult& result);

}  // namespace proprio
