#pragma once

/// Inside the motion room: the timing of splines through postures.

#include <functional>

#include "proprio/motion/motion_limits.h"
#include "proprio/motion/piecewise_polynomial.h"

namespace proprio::internal {

/// splineThrough() of points that `adapt` may move first, once the times of a round are known.
PiecewisePolynomial timedSpline(
    const Eigen::MatrixXd& points, const MotionLimits& limits,
    const std::function<void(Eigen::MatrixXd&, const std::vector<double>&)>& adapt);

}  // namespace proprio::internal
