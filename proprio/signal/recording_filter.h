#pragma once

/// Filters and resampling on the channels of a recording, written as short texts:
///   lowpass             zero-phase Butterworth, cut-off from the joint's spectrum
///   lowpass:20          ... at 20 Hz;  lowpass:20:6  of order 6 (default 4)
///   causal:20:2         forward only (delays)
///   savgol:31:3         Savitzky-Golay smoothing, window and order (default 3)
///   hampel:7:4          outliers: window (default 7), deviations (default 4)
///   detrend:1           without its best polynomial of that degree (default 1; 0: mean)
/// and for a uniform grid
///   500                 Hz; 0 or "auto": the rate of the median step
///   500:linear:split    interpolation (previous nearest linear makima cubic), and split at gaps
///                       (default: makima, gaps are refused)

#include <string>
#include <vector>

#include "proprio/recording/recording.h"
#include "proprio/signal/sampling.h"

namespace proprio {

struct RecordingFilter {
  enum class Kind { kLowpass, kCausal, kSavitzkyGolay, kHampel, kDetrend };
  Kind kind = Kind::kLowpass;
  double cutoff_hz = 0.0;   ///< kLowpass, kCausal; 0: from the joint's spectrum
  int order = 4;            ///< of the filter, or degree of the polynomial
  int window = 0;           ///< kSavitzkyGolay, kHampel
  double deviations = 4.0;  ///< kHampel
};

/// @throws Error that lists the forms above.
RecordingFilter parseRecordingFilter(const std::string& text);
ResampleOptions parseResampling(const std::string& text);

/// Filters these columns (empty: all) in place, whole or not at all; returns what was done, one
/// sentence per channel.
/// @throws Error that names source and channel: missing values, non-uniform time stamps, ...
std::vector<std::string> applyFilter(Recording& recording, const RecordingFilter& filter,
                                     const std::vector<int>& columns = {});

/// The recording on a uniform grid: one, or one per stretch between gaps. Orientations, contacts
/// and other channels that are not numbers in between take the nearest sample.
/// @throws Error that names source and channel.
std::vector<Recording> resampleRecording(const Recording& recording,
                                         const ResampleOptions& options = {});

/// The same for a rate below that of the recording: what is faster than half of the new rate would
/// come back as a slow motion that never was. It is taken away first, on the recording's own
/// uniform grid, by a zero-phase low-pass at 0.4 of the new rate (a quarter octave below half of
/// it), which `told` says. Interpolation by the previous or the nearest sample takes samples as
/// they are, which `told` says, too.
std::vector<Recording> resampleWithoutAliases(const Recording& recording,
                                              const ResampleOptions& options,
                                              std::vector<std::string>& told);

}  // namespace proprio
