#pragma once

/// What a recording holds and how good it is, for people and for programs.

#include <string>
#include <vector>

#include "proprio/recording/quality.h"
#include "proprio/recording/recording.h"

namespace proprio {

/// Source, samples and timing; a table of the channels with unit and range; the findings.
std::string recordingText(const Recording& recording, const Quality& quality, bool colour,
                          int width = 100);

/// An object with source, topic, samples, time (duration, rate_hz, jitter, ...), channels, delays
/// and findings; numbers that are not finite are null.
std::string recordingJson(const Recording& recording, const Quality& quality);

int countOf(const std::vector<QualityFinding>& findings, Severity severity);

}  // namespace proprio
