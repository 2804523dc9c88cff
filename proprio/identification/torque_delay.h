#pragma once

/// Do torques and positions belong to the same times? By the fit of the whole robot: recorded
/// torques tau(t + d) are explained by one set of parameters,
///
///   tau_j(t + d) = Y_j(q(t), v(t), a(t)) beta + e_j,
///
/// and d is where the likelihood -sum_j n_j log |e_j(d)| is largest. A shift only changes the
/// right-hand side, so that one triangular factor serves all of them. Between samples torques are
/// interpolated by a windowed sinc of 16 samples, which keeps the noise as strong at every shift.
/// Rows in which a joint turns round do not count: friction is not what the model says there.
///
/// All joints share their parameters and the delay, so that slow motions tell more than joint by
/// joint (recording/quality.h). The standard deviation sums scores over stretches of time (Liang
/// and Zeger 1986).
/// Limits: a delay that differs between joints is not looked for; an elastic joint's torque leads.

#include <cmath>
#include <string>

#include "proprio/identification/method.h"

namespace proprio {

/// s; delays up to this are looked for.
constexpr double kLongestDelay = 0.2;

/// Deviations by which a delay has to differ from zero.
constexpr double kSureShift = 5.0;

struct TorqueDelay {
  double delay = 0.0;           ///< s; > 0: torques come late
  double deviation = INFINITY;  ///< s, standard deviation; infinite if nothing tells it
  double better = 1.0;  ///< errors without over with the delay, geometric mean of the joints
  /// The torques are explained better as if shifted, by many deviations and materially.
  bool shifted() const;
};

TorqueDelay findTorqueDelay(const IdentificationProblem& problem);

/// "torques come 99 ± 2 ms after positions ...".
std::string delayText(const TorqueDelay& found);

}  // namespace proprio
