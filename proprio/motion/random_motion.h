#pragma once

/// Random motions within limits, the same for the same seed on every machine: an alternative to
/// optimised excitation, and motions to validate with.
///   with stops      through random postures, at rest at each (PTP)
///   without stops   through random postures on a minimum-jerk spline (SPL)
///   Fourier         a series with random coefficients, each joint scaled to fill its limits
/// All start and end at rest at `start`. `limits` must state position and velocity limits, and
/// acceleration limits for via points; use withMargin to keep away from them.
/// Source: Ardiani 2023 section 1.10.

#include <cstdint>

#include "proprio/motion/fourier_series.h"
#include "proprio/motion/point_to_point.h"

namespace proprio {

/// `points` random postures (row = point), uniform in the position ranges.
/// @throws Error that names the joint without position limits, or that starts outside of them.
Eigen::MatrixXd randomPostures(const Eigen::VectorXd& start, int points, uint64_t seed,
                               const MotionLimits& limits);

/// From `start` through so many random postures and back to it, with `dwell` seconds at each.
PiecewisePolynomial randomStops(const Eigen::VectorXd& start, int points, uint64_t seed,
                                const MotionLimits& limits, Profile profile = Profile::kDoubleS,
                                double dwell = 0.0);

/// The same without stops. Between the points a spline may overshoot: where a joint would leave its
/// range, its points are drawn inwards until it does not. Times are chosen so that
/// velocity and acceleration limits are kept and the motion is short.
PiecewisePolynomial randomSpline(const Eigen::VectorXd& start, int points, uint64_t seed,
                                 const MotionLimits& limits);

/// A random series scaled joint by joint to the largest one within position, velocity and (where
/// stated) acceleration limits. @throws Error for a joint that starts at one of its limits.
FourierSeries randomFourierWithin(const Eigen::VectorXd& start, int harmonics, double period,
                                  uint64_t seed, const MotionLimits& limits);

}  // namespace proprio
