#pragma once

/// Splines of degree five through via points, and the minimum-jerk motion between two of them.
///
/// Through positions at given times goes the motion that minimises, joint by joint, the integral of
/// the squared jerk: a polynomial of degree five between the points, with continuous derivatives up
/// to the fourth. Velocities and accelerations at the ends are given (rest by default) or free, in
/// which case jerk and its derivative vanish there ("natural"). Given velocities and accelerations
/// at every point make each piece on its own; then derivatives up to the second are continuous.
/// The minimum-jerk motion from rest to rest in T seconds over the distance D is
///   q = q0 + D (10 s^3 - 15 s^4 + 6 s^5),  s = t / T,
/// with largest velocity 15/8 D/T and largest acceleration 10/sqrt(3) D/T^2.
/// Source: Flash and Hogan 1985; Traversaro 2017 chapter 7 (T-71); Ardiani 2023 section 1.10
///

#include "proprio/motion/piecewise_polynomial.h"

namespace proprio {

enum class SplineEnd { kRest, kNatural };

struct QuinticSplineOptions {
  SplineEnd start = SplineEnd::kRest;
  SplineEnd end = SplineEnd::kRest;
};

/// @param times   ascending, one per point; the motion starts at times[0], which becomes 0
/// @param points  row = point, column = joint
/// @throws Error for fewer than two points (three where both ends are natural), for times that do
/// not ascend, for sizes that differ or numbers that are not finite.
PiecewisePolynomial quinticSpline(const std::vector<double>& times, const Eigen::MatrixXd& points,
                                  const QuinticSplineOptions& options = {});

/// With velocities and accelerations at every point, sizes as `points`.
PiecewisePolynomial quinticHermite(const std::vector<double>& times, const Eigen::MatrixXd& points,
                                   const Eigen::MatrixXd& velocities,
                                   const Eigen::MatrixXd& accelerations);

/// From rest to rest. `seconds` may be 0 where start and end are equal.
PiecewisePolynomial minimumJerk(const Eigen::VectorXd& from, const Eigen::VectorXd& to,
                                double seconds);

/// Shared by everything that takes via points: times from 0, checked. @throws Error as above.
std::vector<double> checkedTimes(const std::vector<double>& times, Eigen::Index points,
                                 const char* what);

}  // namespace proprio
