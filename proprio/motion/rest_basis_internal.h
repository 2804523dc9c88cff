#pragma once

/// Inside the motion room: the motions among which excitation design chooses. They are linear in
/// their coefficients, at rest at both ends, and end where they start, so that they can be
/// repeated. Per joint
///   q(t) = B_q(t) M z,   v(t) = B_v(t) M z,   a(t) = B_a(t) M z
/// with the basis B of all motions of a kind and the matrix M whose columns span those that rest.
/// z_0 is the starting position, which moves the motion as a whole; each of the other z changes the
/// acceleration by about the same amount (2 pi / seconds times the square root of half the time,
/// in the sense of the integral of its square), so that a gradient method sees comparable unknowns.
///   Fourier series   M z = (offset, a, b) of fourier_series.h, 2 L - 1 columns for L harmonics
///   B-spline         M z = the control points of a clamped spline of degree 5 (b_spline.h), of
///                    which the first and last three are z_0; 5 columns less than control points
///   trapezoids       M z = postures at equal times, passed at rest, the first of them z_0; between
///                    two of them each joint accelerates, cruises and decelerates for a third of
///                    the time. Acceleration jumps, at both ends of the motion too; as many columns
///                    as postures
/// Not a public header.

#include <functional>
#include <memory>

#include "proprio/motion/trajectory.h"

namespace proprio::internal {

struct RestBasis {
  double seconds = 0.0;
  int waves = 0;            ///< shortest waves that fit into the motion
  Eigen::MatrixXd to_full;  ///< M
  /// B at times from 0 to `seconds`.
  std::function<MotionBasis(const Eigen::VectorXd& times)> full;
  /// The motion of full coefficients M z, one column per joint.
  std::function<std::shared_ptr<const Trajectory>(const Eigen::MatrixXd& columns)> trajectory;

  /// B M at these times.
  MotionBasis at(const Eigen::VectorXd& times) const;
};

/// The shortest wave is that of the last harmonic. @throws Error for fewer than 2 harmonics or a
/// time that is not positive.
RestBasis fourierRest(int harmonics, double seconds);

/// The shortest wave is two intervals between knots. @throws Error for fewer than 7 control points
/// or a time that is not positive.
RestBasis bSplineRest(int control_points, double seconds);

/// The shortest wave is two ways between postures. @throws Error for fewer than 2 postures or a
/// time that is not positive.
RestBasis trapezoidRest(int postures, double seconds);

/// Samples evenly spaced from 0, without the end, where the motion is again as at 0.
struct RestGrid {
  Eigen::VectorXd time;
  MotionBasis full;  ///< B
};
RestGrid restGrid(const RestBasis& basis, int samples);

}  // namespace proprio::internal
