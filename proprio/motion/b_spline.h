#pragma once

/// Motions as B-splines: q(t) = sum_i N_i(t) P_i, with basis functions N_i of a degree over a knot
/// vector and control points P_i. A joint stays between the smallest and the largest of its control
/// points, which makes position limits simple bounds on them; moving one of them changes degree + 1
/// knot intervals only.
///   clamped   knots repeated at the ends: the motion starts at the first and ends at the last
///             control point; it rests there (v = a = 0) exactly if the first three control points
///             are equal, and the last three
///   uniform   equally spaced knots without repetition; it rests at an end where the `degree`
///             control points there are equal
/// Derivatives up to degree - 1 are continuous.
/// Source: Piegl and Tiller 1997 chapter 2; Leboutet 2022 section 5.2.2 (L-14), Ardiani 2023
/// section 1.10.

#include "proprio/motion/trajectory.h"

namespace proprio {

struct BSpline final : Trajectory {
  int degree = 5;
  std::vector<double> knots;       ///< s, not descending; control points + degree + 1 of them
  Eigen::MatrixXd control_points;  ///< row = joint, column = control point

  int size() const override { return static_cast<int>(control_points.rows()); }
  /// From knots[degree], which is 0, to knots[control points].
  double duration() const override;
  void at(double t, Eigen::Ref<Eigen::VectorXd> q, Eigen::Ref<Eigen::VectorXd> v,
          Eigen::Ref<Eigen::VectorXd> a) const override;
  std::vector<double> breaks() const override;
};

/// Largest degree that is supported.
constexpr int kLargestSplineDegree = 15;

/// @throws Error that says what is wrong: degree, number and order of knots, numbers that are not
/// finite, a duration that is not positive.
void checkSpline(const BSpline& spline);

/// Knots of `control_points` basis functions over [0, seconds] with equal spacing inside.
std::vector<double> clampedKnots(int control_points, int degree, double seconds);
std::vector<double> uniformKnots(int control_points, int degree, double seconds);

/// q, v and a of one joint at the times (within the duration) as matrices times its control points.
MotionBasis bSplineBasis(const std::vector<double>& knots, int degree,
                         const Eigen::VectorXd& times);

/// Clamped spline from `start` to `end` at rest at both ends; `inner` (row = joint) holds the
/// control points in between. @throws Error for a degree below 3, where acceleration could not be
/// continuous.
BSpline restToRestSpline(const Eigen::VectorXd& start, const Eigen::MatrixXd& inner,
                         const Eigen::VectorXd& end, int degree, double seconds);

/// The clamped spline of so many control points that is nearest to samples in the sense of least
/// squares, position only. @throws Error for fewer samples than control points or samples that
/// leave a control point undetermined.
BSpline fitBSpline(const MotionSamples& samples, int control_points, int degree);

}  // namespace proprio
