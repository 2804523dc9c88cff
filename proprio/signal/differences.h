#pragma once

/// Derivatives from neighbouring samples; rows are samples, columns are channels.
///   central:  f' = (f+ - f-) / 2 dt,   f'' = (f+ - 2 f + f-) / dt^2      no phase
///   backward: f' = (f - f-) / dt,      f'' = (f - 2 f- + f--) / dt^2      for online use; delays
/// and their forms for given time stamps, from the parabola through three neighbours (exact for
/// parabolas; backward f' is the slope of the last step). Central: at the two ends the parabola of
/// the nearest three samples is differentiated. Backward: the first rows repeat the first value
/// that exists. White noise of standard deviation s becomes s / (sqrt(2) dt) in the central f',
/// sqrt(6) s / dt^2 in f''. The published double central difference, (f++ - 2 f + f--) / (2 dt)^2,
/// is centralDifferences applied twice and leaves a quarter of that (1.07 rad/s^2 for 1e-4 deg at
/// 1 kHz). References: L-15, A-22, R-17.

#include <Eigen/Core>

#include "proprio/signal/filtering.h"

namespace proprio {

struct Derivatives {
  Eigen::MatrixXd first, second;  ///< the size of the signals
};

/// @throws Error for fewer than three samples, a step that is not positive.
Derivatives centralDifferences(const SignalColumns& x, double dt);
Derivatives backwardDifferences(const SignalColumns& x, double dt);

/// Time stamps of each row. @throws Error (row named) unless they increase.
Derivatives centralDifferences(const SignalColumns& x, const Eigen::VectorXd& time);
Derivatives backwardDifferences(const SignalColumns& x, const Eigen::VectorXd& time);

}  // namespace proprio
