#pragma once

/// The cut-off of the low-pass for a joint, chosen from the joint's own recording.
///
/// From the spectrum S_v of the speed (differences of the positions, Hann windows, averaged over
/// overlapping segments and over bands of a tenth of an octave):
/// 1. White noise of the positions has the density N, which the median of the upper half of the
///    band shows (peaks of vibration do not move a median); in S_v it is N (2 f_s sin(pi f/f_s))^2.
/// 2. The bandwidth B holds 99 % of the speed's energy that rises above three times that floor.
/// 3. Filtered forth and back with |H|^2 = G and differentiated, the acceleration is expected to be
///    wrong by   E(f_c) = int w^2 ((1 - G)^2 (S_v - N_v) + G^2 N_v) df,
///    distortion of the motion plus noise that passes. f_c is where E is least, between 1.5 B and
///    10 B (what is farther out is vibration or noise to a rigid model) and at most 0.4 f_s.
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
  double noise = 0.0;         ///< standard deviation of white noise in the positions
  bool moves = false;
  std::string reason;  ///< half a sentence
};

/// For a zero-phase Butterworth filter of that order on each column of positions. Joints at rest
/// get the lowest cut-off of the others. @throws Error for fewer than 64 samples, a rate that is
/// not positive, values that are not finite.
std::vector<CutoffChoice> chooseCutoffs(const SignalColumns& positions, double rate_hz,
                                        int order = 4);

}  // namespace proprio
