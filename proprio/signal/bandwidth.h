#pragma once

/// The cut-off of the low-pass for a joint, chosen from the joint's own recording.
///
/// From the spectrum S_q of the positions (of their differences, divided by what differencing
/// multiplies with: no trend leaks; Hann windows, averaged over overlapping segments and bands of a
/// tenth of an octave):
/// 1. The noise has the density N, the median from 10 B (or 10 Hz) to five times that (peaks of
/// vibration do not move
///    a median; noise that fades towards high frequencies is met where it matters).
/// 2. The bandwidth B holds 99 % of the speed's energy, int w^2 S_q df, that rises above 3 N. The
///    search starts from, and is limited to ten times, the band that holds 99.9 % of the energy of
///    the positions: encoders and jitter of time stamps put broad noise into speeds, which hardly
///    counts in positions.
/// 3. Filtered forth and back with |H|^2 = G and differentiated, the acceleration is expected to be
///    wrong by   E(f_c) = int w^4 ((1 - G)^2 max(S_q - N, 0) + G^2 N) df,
///    distortion of the motion plus noise that passes. f_c is where E is least, between 1.5 B and
///    10 B, but up to 10 Hz also for slow motions (reversals with friction are faster than the
///    motion; farther out is vibration to a rigid model), and at most 0.4 f_s.
/// Clean recordings so get the 5 to 10 times the bandwidth of the literature (A 1.12), noisy ones
/// less, and the reason is told. A joint at rest has no bandwidth: `moves` is false.

#include <Eigen/Core>
#include <string>
#include <vector>

#include "proprio/signal/filtering.h"

namespace proprio {

struct CutoffChoice {
  double cutoff_hz = 0.0;
  double bandwidth_hz = 0.0;  ///< 0 if the joint does not move
  double noise = 0.0;         ///< standard deviation in the positions of white noise of density N
  bool moves = false;
  std::string reason;  ///< half a sentence
};

/// For a zero-phase Butterworth filter of that order on each column of positions. Joints at rest
/// get the lowest cut-off of the others. @throws Error for fewer than 64 samples, a rate that is
/// not positive, values that are not finite.
std::vector<CutoffChoice> chooseCutoffs(const SignalColumns& positions, double rate_hz,
                                        int order = 4);

}  // namespace proprio
