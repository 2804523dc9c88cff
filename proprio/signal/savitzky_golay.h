#pragma once

/// Savitzky-Golay: at every sample the derivative (0: the value) of the polynomial that fits the
/// `window` samples around it best. Linear, no phase; polynomials up to the order pass unchanged.
/// Near the ends, the polynomial of the first or last whole window is evaluated where needed, as
/// SciPy's savgol_filter does with mode='interp'. Cost: window x samples.
/// The fit is solved on abscissas scaled to [-1, 1], so that windows of 499 samples lose no digits.
/// References: T-42 (orders 2 and 3, windows 7 to 499); Savitzky and Golay 1964.

#include <Eigen/Core>

#include "proprio/signal/filtering.h"

namespace proprio {

/// Weights of the samples of a window: the derivative at sample `position` (0 = first of the
/// window) of the fitted polynomial, times dt^-derivative.
/// @throws Error unless 0 <= order < window, 0 <= derivative, 0 <= position < window, dt > 0.
Eigen::VectorXd savitzkyGolayWeights(int window, int order, int derivative, double dt,
                                     int position);

/// Smoothed (derivative 0) or differentiated columns. @throws Error for an even window, fewer
/// samples than the window, orders as above, values that are not finite.
Eigen::MatrixXd savitzkyGolay(const SignalColumns& x, int window, int order, int derivative = 0,
                              double dt = 1.0);

}  // namespace proprio
