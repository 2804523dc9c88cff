#pragma once

/// From posture to posture, at rest at both, as fast as the limits of every joint allow. All joints
/// move together along the straight line q = from + s(t) (to - from): they start, cruise and stop
/// at the same times, and the joint with the least room sets the pace,
///   velocity of s <= min_i velocity_i / |to_i - from_i|,   and so for acceleration and jerk.
/// Profiles of s over [0, 1]:
///   trapezoid      constant acceleration, constant velocity, constant deceleration; without the
///                  middle part where the distance is short. Acceleration jumps.
///   double-S       the same with ramps of the acceleration (constant jerk): seven phases, of which
///                  those not needed vanish when the velocity or the acceleration limit is not
///                  reached. Acceleration is continuous.
///   minimum jerk   one polynomial of degree five (quintic_spline.h). Acceleration is continuous.
/// Source: Biagiotti and Melchiorri 2008 chapters 3 and 5; Leboutet 2022 (L-14), Ramuzat 2022
/// section 3.3, Ardiani 2023 section 1.10.

#include <optional>

#include "proprio/motion/motion_limits.h"
#include "proprio/motion/piecewise_polynomial.h"

namespace proprio {

enum class Profile { kTrapezoid, kDoubleS, kMinimumJerk };
const char* toString(Profile profile);
/// "trapezoid", "double-s", "min-jerk". Empty for anything else.
std::optional<Profile> profileNamed(const std::string& name);

/// The time law of one coordinate from rest to rest over a distance.
struct RestToRestTimes {
  double jerk_phase = 0.0;    ///< each of the four phases of constant jerk; 0 for a trapezoid
  double acceleration = 0.0;  ///< from rest to the largest velocity, jerk phases included
  double cruise = 0.0;        ///< at constant velocity
  double duration() const { return 2.0 * acceleration + cruise; }
};
/// Fastest within velocity v, acceleration a and jerk j (infinite: a trapezoid), all positive.
RestToRestTimes restToRestTimes(double distance, double v, double a, double j);

/// `limits` needs velocity and acceleration of the joints that move, jerk too for kDoubleS, and
/// heeds jerk where it is stated for kMinimumJerk. Takes no time where both postures are the same.
/// @throws Error that names the joint whose limit is missing or zero; for sizes that differ or
/// numbers that are not finite. Position limits are not looked at: see checkMotion.
PiecewisePolynomial pointToPoint(const Eigen::VectorXd& from, const Eigen::VectorXd& to,
                                 const MotionLimits& limits, Profile profile = Profile::kDoubleS);

/// Through postures (row = point, column = joint), at rest at each for `dwell` seconds.
/// @throws Error as above, and for no point.
PiecewisePolynomial alongPoints(const Eigen::MatrixXd& points, const MotionLimits& limits,
                                Profile profile = Profile::kDoubleS, double dwell = 0.0);

/// One after the other; each starts where the one before ended (not checked here).
PiecewisePolynomial joined(const std::vector<PiecewisePolynomial>& parts);

}  // namespace proprio
