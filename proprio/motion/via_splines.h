#pragma once

/// Motions without stops along given postures, from rest to rest and as fast as velocity and
/// acceleration limits allow:
///   splineThrough   a quintic spline through all of them, with the least jerk for its times
///                   (quintic_spline.h); it may overshoot between them
///   splineAlong     a B-spline of degree five with the postures as control points (b_spline.h),
///                   at equal times; it passes near the inner ones, and no joint leaves the range
///                   of its postures
/// Positions are not compared with limits: whoever gives the postures checks the motion.

#include "proprio/motion/b_spline.h"
#include "proprio/motion/motion_limits.h"
#include "proprio/motion/piecewise_polynomial.h"

namespace proprio {

/// @param points  row = posture, column = joint; at least two
/// @throws Error for sizes that differ, for equal neighbours, and for a joint without velocity or
/// acceleration limit.
PiecewisePolynomial splineThrough(const Eigen::MatrixXd& points, const MotionLimits& limits);
BSpline splineAlong(const Eigen::MatrixXd& points, const MotionLimits& limits);

}  // namespace proprio
