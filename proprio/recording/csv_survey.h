#pragma once

/// Text tables of any size in constant memory: what `proprio log` tells of a file that is larger
/// than memory, and a stretch cut out of it.
///
/// One pass over the file. Exact: numbers of samples, disorder of stamps, longest and shortest
/// step, smallest, largest, mean and deviation of every channel, missing values, longest
/// standstill. The median step, against which gaps and jitter are judged, is that of the first rows
/// (a few thousand). Not looked for: spikes, saturation, quantisation, delays, where time starts
/// again.

#include <string>

#include "proprio/recording/csv_stream.h"
#include "proprio/recording/quality.h"
#include "proprio/recording/recording.h"

namespace proprio {

struct CsvSurvey {
  Recording preview;  ///< every n-th sample, a few thousand in all
  Quality quality;    ///< of all samples
};

/// @throws Error as streamCsv().
CsvSurvey surveyCsv(const std::string& path, const CsvOptions& options);

/// The samples from `from` to `to`, in s since the first stamp; memory for these only.
/// @throws Error as streamCsv(), or if the table has no time stamps, or none of them is inside.
Recording readCsvStretch(const std::string& path, const CsvOptions& options, double from,
                         double to);

}  // namespace proprio
