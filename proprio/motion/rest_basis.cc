#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "proprio/core/error.h"
#include "proprio/motion/b_spline.h"
#include "proprio/motion/fourier_series.h"
#include "proprio/motion/piecewise_polynomial.h"
#include "proprio/motion/rest_basis_internal.h"
#include "proprio/numerics/dense.h"

namespace proprio::internal {
namespace {

// Continuous up to the fourth derivative: nothing in the drives is asked to jump.
constexpr int kRestDegree = 5;
// Control points at either end that are equal where a clamped spline rests.
constexpr int kRestingPoints = 3;
// Samples of the acceleration per interval between knots, to make the unknowns comparable.
constexpr int kSamplesPerInterval = 16;

void checkSeconds(double seconds) {
  if (!(seconds > 0.0) || !std::isfinite(seconds)) {
    throw Error(fmt::format("a motion of {} s; expected a positive number", seconds));
  }
}

/// Orthonormal columns that span what is orthogonal to w.
Eigen::MatrixXd complementOf(const Eigen::VectorXd& w) { return nullBasis(w.transpose(), 0.0); }

/// All series at rest at both ends (fourier_series.h): column 0 is the start, the others change
/// harmonic l in proportion to 1 / l, as equal accelerations do.
Eigen::MatrixXd restCoefficients(double period, int harmonics) {
  const double w = 2.0 * M_PI / period;
  const Eigen::VectorXd l = Eigen::VectorXd::LinSpaced(harmonics, 1.0, harmonics);
  const Eigen::VectorXd decay = l.cwiseInverse();
  // sum a_l = 0 with a = decay * u, and sum l b_l = 0 with b = decay * u
  const Eigen::MatrixXd a = decay.asDiagonal() * complementOf(decay);
  const Eigen::MatrixXd b = decay.asDiagonal() * complementOf(Eigen::VectorXd::Ones(harmonics));
  const Eigen::Index free = harmonics - 1;
  Eigen::MatrixXd map = Eigen::MatrixXd::Zero(2 * harmonics + 1, 1 + 2 * free);
  map(0, 0) = 1.0;
  map.row(0).tail(free) = (l * w).cwiseInverse().transpose() * b;
  map.block(1, 1, harmonics, free) = a;
  map.block(1 + harmonics, 1 + free, harmonics, free) = b;
  return map;
}

/// All closed motions through points of which `first` at the beginning and `last` at the end are
/// the start: column 0 moves all points, the others the inner ones by G^(-1/2), where G is the
/// integral of products of the accelerations that they cause, from midpoints of each interval.
Eigen::MatrixXd restPoints(const RestBasis& basis, int intervals, int first, int last) {
  const int samples = kSamplesPerInterval * intervals;
  const Eigen::VectorXd times = Eigen::VectorXd::NullaryExpr(samples, [&](Eigen::Index k) {
    return basis.seconds * (static_cast<double>(k) + 0.5) / samples;
  });
  const Eigen::MatrixXd all = basis.full(times).a;
  const Eigen::Index inner = all.cols() - first - last;
  const auto a = all.middleCols(first, inner);
  const SymmetricEigen gram = symmetricEigen(a.transpose() * a * (basis.seconds / samples));
  const double size = 2.0 * std::numbers::pi / basis.seconds * std::sqrt(0.5 * basis.seconds);
  const Eigen::VectorXd scale = size * gram.values.cwiseSqrt().cwiseInverse();
  Eigen::MatrixXd map = Eigen::MatrixXd::Zero(all.cols(), 1 + inner);
  map.col(0).setOnes();
  map.block(first, 1, inner, inner) = gram.vectors * scale.asDiagonal() * gram.vectors.transpose();
  return map;
}

/// Position, velocity and acceleration of a trapezoid from 0 to 1 in one second, a third each of
/// acceleration, cruise and deceleration, at u from 0 to 1.
Eigen::Vector3d trapezoidAt(double u) {
  constexpr double kSpeed = 1.5, kAcceleration = 4.5;
  if (u < 1.0 / 3.0) return {0.5 * kAcceleration * u * u, kAcceleration * u, kAcceleration};
  if (u < 2.0 / 3.0) return {0.25 + kSpeed * (u - 1.0 / 3.0), kSpeed, 0.0};
  const double left = 1.0 - u;
  return {1.0 - 0.5 * kAcceleration * left * left, kAcceleration * left, -kAcceleration};
}

/// The posture after k of so many, around.
Eigen::Index after(Eigen::Index k, Eigen::Index postures) { return k + 1 < postures ? k + 1 : 0; }

/// Motions through so many postures and back to the first, in equal times, at rest at each.
MotionBasis trapezoidBasis(int postures, double seconds, const Eigen::VectorXd& times) {
  const double step = seconds / postures;
  MotionBasis basis;
  for (Eigen::MatrixXd* m : {&basis.q, &basis.v, &basis.a}) m->setZero(times.size(), postures);
  for (Eigen::Index i = 0; i < times.size(); ++i) {
    const Eigen::Index k =
        std::min(static_cast<Eigen::Index>(times[i] / step), Eigen::Index{postures} - 1);
    const Eigen::Vector3d s = trapezoidAt(times[i] / step - static_cast<double>(k));
    const Eigen::Index next = after(k, postures);
    basis.q(i, k) = 1.0 - s[0];
    basis.q(i, next) = s[0];
    basis.v(i, next) = s[1] / step;
    basis.v(i, k) = -basis.v(i, next);
    basis.a(i, next) = s[2] / (step * step);
    basis.a(i, k) = -basis.a(i, next);
  }
  return basis;
}

/// The same as a motion: three pieces from each posture (row of `postures`, column = joint).
std::shared_ptr<const Trajectory> trapezoidsThrough(const Eigen::MatrixXd& postures,
                                                    double seconds) {
  const Eigen::Index count = postures.rows();
  const double step = seconds / static_cast<double>(count);
  auto motion = std::make_shared<PiecewisePolynomial>();
  motion->degree = 2;
  motion->coefficients.resize(postures.cols(), 9 * count);
  for (Eigen::Index k = 0; k < count; ++k) {
    const Eigen::VectorXd from = postures.row(k),
                          way = postures.row(after(k, count)) - postures.row(k);
    for (int third = 0; third < 3; ++third) {
      // a little inside the piece: at its very beginning rounding may give the one before
      const Eigen::Vector3d s = trapezoidAt(third / 3.0), inside = trapezoidAt((third + 0.5) / 3.0);
      motion->knots.push_back(step * (static_cast<double>(k) + third / 3.0));
      auto c = motion->coefficients.middleCols(9 * k + 3 * third, 3);
      c.col(0) = from + s[0] * way;
      c.col(1) = s[1] / step * way;
      c.col(2) = 0.5 * inside[2] / (step * step) * way;
    }
  }
  motion->knots.push_back(seconds);
  return motion;
}

}  // namespace

MotionBasis RestBasis::at(const Eigen::VectorXd& times) const {
  const MotionBasis all = full(times);
  return {all.q * to_full, all.v * to_full, all.a * to_full};
}

RestBasis fourierRest(int harmonics, double seconds) {
  if (harmonics < 2) {
    throw Error(
        fmt::format("{} harmonics; a motion that starts at rest needs at least 2", harmonics));
  }
  checkSeconds(seconds);
  RestBasis basis;
  basis.seconds = seconds;
  basis.waves = harmonics;
  basis.to_full = restCoefficients(seconds, harmonics);
  basis.full = [=](const Eigen::VectorXd& times) {
    return fourierBasis(seconds, harmonics, times);
  };
  basis.trajectory = [=](const Eigen::MatrixXd& columns) {
    return std::make_shared<const FourierSeries>(FourierSeries::fromCoefficients(columns, seconds));
  };
  return basis;
}

RestBasis bSplineRest(int control_points, double seconds) {
  if (control_points <= 2 * kRestingPoints) {
    throw Error(
        fmt::format("{} control points; a B-spline that rests at both ends needs at least "
                    "{}",
                    control_points, 2 * kRestingPoints + 1));
  }
  checkSeconds(seconds);
  const std::vector<double> knots = clampedKnots(control_points, kRestDegree, seconds);
  RestBasis basis;
  basis.seconds = seconds;
  basis.waves = (control_points - kRestDegree + 1) / 2;
  basis.full = [knots](const Eigen::VectorXd& times) {
    return bSplineBasis(knots, kRestDegree, times);
  };
  basis.to_full = restPoints(basis, control_points - kRestDegree, kRestingPoints, kRestingPoints);
  basis.trajectory = [knots](const Eigen::MatrixXd& columns) {
    auto spline = std::make_shared<BSpline>();
    spline->degree = kRestDegree;
    spline->knots = knots;
    spline->control_points = columns.transpose();
    return spline;
  };
  return basis;
}

RestBasis trapezoidRest(int postures, double seconds) {
  if (postures < 2) {
    throw Error(fmt::format("{} postures; a motion needs at least 2 to move between", postures));
  }
  checkSeconds(seconds);
  RestBasis basis;
  basis.seconds = seconds;
  basis.waves = (postures + 1) / 2;
  basis.full = [=](const Eigen::VectorXd& times) {
    return trapezoidBasis(postures, seconds, times);
  };
  basis.to_full = restPoints(basis, postures, 1, 0);
  basis.trajectory = [=](const Eigen::MatrixXd& columns) {
    return trapezoidsThrough(columns, seconds);
  };
  return basis;
}

RestGrid restGrid(const RestBasis& basis, int samples) {
  RestGrid grid;
  grid.time = Eigen::VectorXd::NullaryExpr(samples, [&](Eigen::Index k) {
    return basis.seconds * static_cast<double>(k) / static_cast<double>(samples);
  });
  grid.full = basis.full(grid.time);
  return grid;
}

}  // namespace proprio::internal
