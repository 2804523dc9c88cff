#pragma once

/// Motions made of polynomials in time: for knots[k] <= t < knots[k + 1],
///   q(t) = sum_p c_kp (t - knots[k])^p,   p = 0 .. degree,
/// with exact derivatives. Splines, minimum-jerk motions, trapezoidal and jerk-limited profiles and
/// interpolated samples all are of this type; the functions that make them say how smooth they are.

#include "proprio/motion/trajectory.h"

namespace proprio {

struct PiecewisePolynomial final : Trajectory {
  int degree = 0;
  std::vector<double> knots;  ///< s, from 0, strictly ascending
  /// Row = joint; column k (degree + 1) + p holds c_kp.
  Eigen::MatrixXd coefficients;

  int size() const override { return static_cast<int>(coefficients.rows()); }
  int pieces() const { return static_cast<int>(knots.size()) - 1; }
  double duration() const override { return knots.empty() ? 0.0 : knots.back(); }
  void at(double t, Eigen::Ref<Eigen::VectorXd> q, Eigen::Ref<Eigen::VectorXd> v,
          Eigen::Ref<Eigen::VectorXd> a) const override;
  std::vector<double> breaks() const override { return knots; }
};

/// @throws Error that says what is wrong: sizes, knots that do not ascend from 0, numbers that are
/// not finite.
void checkPolynomial(const PiecewisePolynomial& polynomial);

/// A motion that takes no time, at `q`: its only knot is 0.
PiecewisePolynomial standstill(const Eigen::VectorXd& q);
/// The same for some time; `seconds` may be 0.
PiecewisePolynomial standstill(const Eigen::VectorXd& q, double seconds);

/// One piece of degree 5 from (q0, v0, a0) to (q1, v1, a1) in `seconds`: six columns, c_0 .. c_5.
Eigen::MatrixXd quinticPiece(const Eigen::VectorXd& q0, const Eigen::VectorXd& v0,
                             const Eigen::VectorXd& a0, const Eigen::VectorXd& q1,
                             const Eigen::VectorXd& v1, const Eigen::VectorXd& a1, double seconds);

}  // namespace proprio
