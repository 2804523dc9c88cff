#pragma once

/// Fewer samples without aliases: a zero-phase Chebyshev I low-pass (order 8, 0.05 dB, cut-off
/// 0.8 / q of half the rate), then every q-th sample. As SciPy's and MATLAB's decimate.
///
/// Parallel decimation (Gautier): torques and every column of the regressor go through the same
/// linear filter before rows are dropped, tau = W beta stays true for the filtered signals,
/// whatever the filter does to gain and phase. Noise above the band, and with it most of the
/// correlation between errors of tau and W, is gone.
/// The gain at zero frequency of an even order is 10^(-2 ripple / 20) = 0.9885, which cancels when
/// both sides are decimated; `unit_gain` removes it for signals that are looked at alone.
/// References: L-16, A-22.

#include <Eigen/Core>
#include <memory>

#include "proprio/signal/filtering.h"

namespace proprio {

struct DecimationOptions {
  int order = 8;
  double ripple_db = 0.05;
  bool unit_gain = false;  ///< gain exactly 1 at zero frequency, instead of SciPy's 0.9885
};

/// n_d = floor(0.8 f / (2 f_dec)), at least 1; f_dec is about ten times the bandwidth of the joint.
/// @throws Error unless both are positive.
int decimationRatio(double rate_hz, double decimation_hz);

/// The low-pass that goes with a ratio, in units where the sampling rate is 1.
DigitalFilter decimationFilter(int ratio, const DecimationOptions& options = {});

/// Rows 0, q, 2q, ... of the zero-phase filtered columns; q = 1 leaves x as it is.
/// @throws Error for fewer samples than the filter needs, for values that are not finite.
Eigen::MatrixXd decimate(const SignalColumns& x, int ratio, const DecimationOptions& options = {});

/// The same for columns that arrive in blocks of rows, in constant memory: what the backward pass
/// at a sample owes to samples far behind it decays with the poles, so it starts a finite way
/// ahead. The result agrees with decimate() to rounding (1e-12 of the column's size).
class StreamingDecimator {
 public:
  StreamingDecimator(Eigen::Index columns, int ratio, const DecimationOptions& options = {});
  ~StreamingDecimator();
  StreamingDecimator(StreamingDecimator&&) noexcept;
  StreamingDecimator& operator=(StreamingDecimator&&) noexcept;

  /// Takes the next rows, returns the decimated rows that are final (often none).
  /// @throws Error for another number of columns, for values that are not finite.
  Eigen::MatrixXd add(const SignalColumns& rows);
  /// The remaining decimated rows. @throws Error if there were too few samples at all.
  Eigen::MatrixXd finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace proprio
