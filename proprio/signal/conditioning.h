#pragma once

/// Small repairs of signals, each only when asked for: outliers, drift, borders, and the mask of
/// samples that move fast enough for friction models that jump at zero speed. References: A-22.

#include <Eigen/Core>
#include <vector>

#include "proprio/signal/filtering.h"

namespace proprio {

using Mask = Eigen::Array<bool, Eigen::Dynamic, Eigen::Dynamic>;

struct HampelResult {
  Eigen::MatrixXd values;  ///< outliers replaced by the median of their window
  Mask outlier;            ///< same size
  Eigen::Index count = 0;
};

/// Hampel filter: a sample farther than `deviations` robust standard deviations (1.4826 times the
/// median distance from the median) from the median of the `window` samples around it is an
/// outlier. Windows are shorter at the ends. Where more than half of a window is constant, nothing
/// is (a resting joint has no scale to judge by), so that encoder counts are never "repaired".
/// @throws Error for an even window or one below 3, deviations <= 0, values that are not finite.
HampelResult hampel(const SignalColumns& x, int window = 7, double deviations = 4.0);

/// Columns minus the polynomial of that degree that fits them best (0: the mean, 1: the line).
/// `coefficients`, if wanted: of the Legendre polynomials P_i(s), s = -1 .. 1 over the rows, that
/// were removed.
/// @throws Error for a degree < 0 or > 20, or not below the number of samples.
Eigen::MatrixXd detrend(const SignalColumns& x, int degree = 1,
                        Eigen::MatrixXd* coefficients = nullptr);

/// Rows [border, rows - border). @throws Error if nothing is left.
Eigen::MatrixXd trimBorders(const SignalColumns& x, Eigen::Index border);

/// True where |speed| >= threshold of its column. A sample beside one of the other sign is slow,
/// too: its speed went through zero. @throws Error for another number of thresholds, or NaN.
Mask fastEnough(const SignalColumns& speed, const Eigen::VectorXd& thresholds);

}  // namespace proprio
