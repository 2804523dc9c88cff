#pragma once

/// The discrete Fourier transform of any length, and derivatives of periodic signals from it.
/// Lengths that are powers of two: radix 2; others: as a convolution of such a length (Bluestein
/// 1970). O(n log n) for every n.
///
/// A signal sampled over whole periods is x(t) = sum_k c_k exp(i w_k t); its derivatives are exact
/// up to the highest harmonic kept: x' = sum_k i w_k c_k exp(i w_k t). Everything above
/// `max_frequency_hz` is noise to a designed periodic motion and is dropped, which is a filter
/// with neither phase nor ripple. References: L-17.

#include <Eigen/Core>
#include <complex>
#include <vector>

#include "proprio/signal/filtering.h"

namespace proprio {

/// X_k = sum_j x_j exp(-2 pi i j k / n), in place.
void fourierTransform(std::vector<std::complex<double>>& x);
/// x_j = (1/n) sum_k X_k exp(2 pi i j k / n), in place.
void inverseFourierTransform(std::vector<std::complex<double>>& x);

struct PeriodicDerivatives {
  Eigen::MatrixXd value, first, second;
};

/// @param x whole periods: the row after the last would be the first again.
/// @param max_frequency_hz harmonics above are dropped; 0 keeps all below half the rate.
/// @throws Error for fewer than three samples, values that are not finite, or a signal that jumps
/// from its last row to its first by more than between any others (not a whole period).
PeriodicDerivatives differentiatePeriodic(const SignalColumns& x, double rate_hz,
                                          double max_frequency_hz = 0.0);

}  // namespace proprio
