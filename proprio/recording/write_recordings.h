#pragma once

/// Several recordings under one name.

#include <string>
#include <vector>

#include "proprio/recording/recording.h"

namespace proprio {

/// Whole or not at all, in the format of the extension as writeRecording(). Archives and MCAP hold
/// all of them under their topics; those with the same topic become TOPIC/part_1, TOPIC/part_2, ...
/// Text tables hold one each: run.csv becomes run_1.csv, run_2.csv, ...
void writeRecordings(std::vector<Recording> recordings, const std::string& path);

/// The files that this writes.
std::vector<std::string> writtenPaths(const std::string& path, size_t recordings);

}  // namespace proprio
