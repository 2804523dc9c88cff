#include "proprio/motion/quintic_spline.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <cmath>

#include "proprio/core/error.h"

namespace proprio {
namespace {

using Eigen::Index;
using Eigen::Matrix2d;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Matrix6d = Eigen::Matrix<double, 6, 6>;

void checkFinite(const MatrixXd& values, const char* what) {
  for (Index k = 0; k < values.rows(); ++k) {
    if (!values.row(k).allFinite())
      throw Error(fmt::format("point {} has {} that is not a finite number", k + 1, what));
  }
}

// Integral over [0, 1] of the squared third derivative of a quintic as a quadratic form in
// (q0, v0, a0, q1, v1, a1), by its coefficients: third derivative 6 c3 + 24 c4 s + 60 c5 s^2.
Matrix6d jerkEnergy() {
  Eigen::Matrix<double, 3, 6> c;    // c3, c4, c5 of a piece of unit length; see quinticPiece
  c << -10, -6, -1.5, 10, -4, 0.5,  //
      15, 8, 1.5, -15, 7, -1,       //
      -6, -3, -0.5, 6, -3, 0.5;
  const Eigen::Vector3d factor(6.0, 24.0, 60.0);
  Eigen::Matrix3d moments;  // of 1, s, s^2
  moments << 1.0, 1.0 / 2, 1.0 / 3, 1.0 / 2, 1.0 / 3, 1.0 / 4, 1.0 / 3, 1.0 / 4, 1.0 / 5;
  return c.transpose() * factor.asDiagonal() * moments * factor.asDiagonal() * c;
}

PiecewisePolynomial fromStates(const std::vector<double>& knots, const MatrixXd& q,
                               const MatrixXd& v, const MatrixXd& a) {
  PiecewisePolynomial spline;
  spline.degree = 5;
  spline.knots = knots;
  const Index pieces = q.rows() - 1;
  spline.coefficients.resize(q.cols(), 6 * pieces);
  for (Index k = 0; k < pieces; ++k) {
    const auto i = static_cast<size_t>(k);
    spline.coefficients.middleCols(6 * k, 6) = quinticPiece(
        q.row(k).transpose(), v.row(k).transpose(), a.row(k).transpose(), q.row(k + 1).transpose(),
        v.row(k + 1).transpose(), a.row(k + 1).transpose(), knots[i + 1] - knots[i]);
  }
  return spline;
}

}  // namespace

std::vector<double> checkedTimes(const std::vector<double>& times, Index points, const char* what) {
  if (static_cast<Index>(times.size()) != points)
    throw Error(fmt::format("{}: {} times for {} points", what, times.size(), points));
  if (points < 2)
    throw Error(
        fmt::format("{}: {} point{}; expected at least two", what, points, points == 1 ? "" : "s"));
  std::vector<double> knots(times.size());
  for (size_t k = 0; k < times.size(); ++k) {
    if (!std::isfinite(times[k]) || (k > 0 && !(times[k] > times[k - 1]))) {
      throw Error(fmt::format("{}: point {} is at {} s{}; expected ascending times", what, k + 1,
                              times[k],
                              k > 0 ? fmt::format(", the one before at {} s", times[k - 1]) : ""));
    }
    knots[k] = times[k] - times[0];
  }
  return knots;
}

PiecewisePolynomial quinticSpline(const std::vector<double>& times, const MatrixXd& points,
                                  const QuinticSplineOptions& options) {
  const std::vector<double> knots = checkedTimes(times, points.rows(), "quintic spline");
  checkFinite(points, "a position");
  const bool free_start = options.start == SplineEnd::kNatural,
             free_end = options.end == SplineEnd::kNatural;
  if (free_start && free_end && points.rows() < 3)
    throw Error("quintic spline: two points with natural ends; expected at least three points");

  // The energy is sum_k h^-5 z_k^T E z_k, z = (q0, h v0, h^2 a0, q1, h v1, h^2 a1). It is
  // stationary in the unknown x_k = (v_k, a_k): a symmetric positive definite system of 2 x 2
  // blocks on three diagonals, diagonal[k] x_k + upper[k] x_k+1 + upper[k-1]^T x_k-1 = right[k].
  const Index count = points.rows(), joints = points.cols();
  const Matrix6d unit = jerkEnergy();
  std::vector<Matrix2d> diagonal(static_cast<size_t>(count), Matrix2d::Zero());
  std::vector<Matrix2d> upper(static_cast<size_t>(count - 1));
  std::vector<MatrixXd> right(static_cast<size_t>(count), MatrixXd::Zero(2, joints));
  for (Index k = 0; k + 1 < count; ++k) {
    const auto i = static_cast<size_t>(k);
    const double h = knots[i + 1] - knots[i];
    const Eigen::Vector<double, 6> scale = {1.0, h, h * h, 1.0, h, h * h};
    const Matrix6d energy = std::pow(h, -5) * (scale.asDiagonal() * unit * scale.asDiagonal());
    diagonal[i] += energy.block<2, 2>(1, 1);
    diagonal[i + 1] += energy.block<2, 2>(4, 4);
    upper[i] = energy.block<2, 2>(1, 4);
    // a shift of both positions costs nothing: only their difference appears
    const Eigen::RowVectorXd step = points.row(k + 1) - points.row(k);
    right[i] -= energy.block<2, 1>(1, 3) * step;
    right[i + 1] -= energy.block<2, 1>(4, 3) * step;
  }
  // rest at an end: v = a = 0 there
  if (!free_start) {
    diagonal.front().setIdentity();
    upper.front().setZero();
    right.front().setZero();
  }
  if (!free_end) {
    diagonal.back().setIdentity();
    upper.back().setZero();
    right.back().setZero();
  }
  // elimination downwards, substitution upwards
  for (size_t i = 1; i < diagonal.size(); ++i) {
    const Matrix2d factor = diagonal[i - 1].ldlt().solve(upper[i - 1]).transpose();
    diagonal[i] -= factor * upper[i - 1];
    right[i] -= factor * right[i - 1];
  }
  MatrixXd v(count, joints), a(count, joints), x;
  for (size_t i = diagonal.size(); i-- > 0;) {
    if (i + 1 < diagonal.size()) right[i] -= upper[i] * x;
    x = diagonal[i].ldlt().solve(right[i]);
    v.row(static_cast<Index>(i)) = x.row(0);
    a.row(static_cast<Index>(i)) = x.row(1);
  }
  return fromStates(knots, points, v, a);
}

PiecewisePolynomial quinticHermite(const std::vector<double>& times, const MatrixXd& points,
                                   const MatrixXd& velocities, const MatrixXd& accelerations) {
  const std::vector<double> knots = checkedTimes(times, points.rows(), "quintic spline");
  for (const MatrixXd* other : {&velocities, &accelerations}) {
    if (other->rows() != points.rows() || other->cols() != points.cols()) {
      throw Error(
          fmt::format("quintic spline: positions of size {} x {} with velocities or "
                      "accelerations of size {} x {}; expected the same",
                      points.rows(), points.cols(), other->rows(), other->cols()));
    }
  }
  checkFinite(points, "a position");
  checkFinite(velocities, "a velocity");
  checkFinite(accelerations, "an acceleration");
  return fromStates(knots, points, velocities, accelerations);
}

PiecewisePolynomial minimumJerk(const VectorXd& from, const VectorXd& to, double seconds) {
  if (from.size() != to.size())
    throw Error(fmt::format("minimum jerk: from {} to {} joints", from.size(), to.size()));
  if (seconds == 0.0 && from == to) return standstill(from);
  if (!(seconds > 0)) {
    throw Error(
        fmt::format("minimum jerk: a motion of {} s between different postures; expected "
                    "a positive duration",
                    seconds));
  }
  MatrixXd points(2, from.size());
  points << from.transpose(), to.transpose();
  const MatrixXd rest = MatrixXd::Zero(2, from.size());
  return quinticHermite({0.0, seconds}, points, rest, rest);
}

}  // namespace proprio
