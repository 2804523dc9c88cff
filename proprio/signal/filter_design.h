#pragma once

/// Low-pass filters as cascades of second-order sections,
///   H(z) = prod_i (b0 + b1 z^-1 + b2 z^-2) / (1 + a1 z^-1 + a2 z^-2),
/// from analog prototypes by the bilinear transform s = (z - 1) / (z + 1), prewarped so that the
/// cut-off is met exactly: K = tan(pi f_c / f_s). An analog pole pair s^2 + c1 s + c0 becomes
///   a1 = 2 (c0 - 1) / D,  a2 = (1 - c1 + c0) / D,  D = 1 + c1 + c0,
/// with both zeros at z = -1. The numerator is taken from the rounded denominator,
/// b0 = (1 + a1 + a2) / 4, so that every section passes a constant exactly, also for cut-offs far
/// below the rate (3.5 Hz at 5 kHz); expanded polynomials of order 8 would have lost it.
///
/// Butterworth: poles on a circle, |H|^2 = 1 / (1 + (tan(pi f / f_s) / K)^(2 n)), half the power at
/// f_c. Chebyshev I: poles on an ellipse, the gain ripples between 1 and 10^(-ripple/20) up to f_c;
/// for even orders the gain at zero frequency is the lower one.
/// Source: Oppenheim and Schafer 2010, chapter 7. References: L-15, L-16, A-22, R-17.

#include <complex>
#include <vector>

namespace proprio {

struct FilterSection {
  double b0 = 1.0, b1 = 0.0, b2 = 0.0, a1 = 0.0, a2 = 0.0;
};

struct DigitalFilter {
  int order = 0;
  std::vector<FilterSection> sections;  ///< poles nearest to the unit circle last
};

/// Highest order accepted: beyond it nothing is gained and transients last for ever.
inline constexpr int kMaxFilterOrder = 30;

/// @pre 1 <= order <= kMaxFilterOrder, 1e-5 rate <= cutoff < rate / 2. @throws Error otherwise.
DigitalFilter butterworthLowpass(int order, double cutoff_hz, double rate_hz);
/// @pre as above, ripple_db > 0. The cut-off is the end of the ripple. @throws Error otherwise.
DigitalFilter chebyshevLowpass(int order, double ripple_db, double cutoff_hz, double rate_hz);

/// H(exp(2 pi i f / f_s)). Applied forth and back, a filter has the gain |H|^2 and no phase.
std::complex<double> frequencyResponse(const DigitalFilter& filter, double frequency_hz,
                                       double rate_hz);
/// Largest magnitude of the poles: transients decay like its powers.
double poleRadius(const DigitalFilter& filter);

}  // namespace proprio
