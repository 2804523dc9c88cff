#pragma once

/// Differentiation with a window that adapts: at every new sample, the longest window of past
/// samples is taken in which a fitted line (or parabola) stays within the noise band of all of
/// them, |x_k - fit_k| <= band; its slope (curvature) is the derivative. Slow motion gets long
/// windows and little noise, fast motion short ones and little lag. Causal; the windows grow from
/// the shortest and stop at the first that fails.
/// Cost per sample: at most the square of the longest window; memory: linear in it.
/// References: T-43; Janabi-Sharifi, Hayward and Chen 2000 (best-fit first-order adaptive
/// windowing).

#include <Eigen/Core>
#include <vector>

#include "proprio/signal/differences.h"

namespace proprio {

struct AdaptiveWindowOptions {
  double band = 0.0;    ///< bound of the noise, unit of the signal: one count of an encoder
  int max_window = 50;  ///< samples in the longest window
  int degree = 1;       ///< 1: line, 2: parabola
};

/// One channel, one sample at a time.
class AdaptiveDifferentiator {
 public:
  struct Result {
    double value = 0.0;   ///< of the fit, at the newest sample
    double first = 0.0;   ///< derivative there
    double second = 0.0;  ///< 0 for a line
    int window = 1;       ///< samples used
  };

  /// @throws Error for a band < 0 or NaN, dt <= 0, degree other than 1 or 2, a longest window that
  /// the degree does not fit into (or above 10 000).
  AdaptiveDifferentiator(double dt, const AdaptiveWindowOptions& options);
  /// Real-time. Derivatives are 0 until degree + 1 samples are there.
  Result step(double x);
  void reset();

 private:
  double dt_;
  AdaptiveWindowOptions options_;
  std::vector<Eigen::Matrix3d> inverse_gram_;  ///< of 1, j, j^2 over j = 0 .. m
  Eigen::VectorXd ring_;
  Eigen::Index newest_ = -1, held_ = 0;
};

/// Columns at once, from the start of each: first from lines, second from parabolas, each with its
/// own windows. options.degree is not used. @throws Error as above, for values that are not finite.
Derivatives adaptiveWindowDerivatives(const SignalColumns& x, double dt,
                                      const AdaptiveWindowOptions& options);

}  // namespace proprio
