#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "proprio/core/error.h"
#include "proprio/motion/b_spline.h"
#include "proprio/motion/fourier_series.h"
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

/// Control points of all closed splines at rest: column 0 moves them all, the others the inner ones
/// by G^(-1/2), where G is the integral of products of the accelerations that they cause.
Eigen::MatrixXd restControlPoints(const std::vector<double>& knots, int control_points,
                                  double seconds) {
  const int intervals = control_points - kRestDegree;
  const int samples = kSamplesPerInterval * intervals;
  const Eigen::VectorXd times = Eigen::VectorXd::NullaryExpr(
      samples, [&](Eigen::Index k) { return seconds * (static_cast<double>(k) + 0.5) / samples; });
  const Eigen::Index inner = control_points - 2 * kRestingPoints;
  const Eigen::MatrixXd a =
      bSplineBasis(knots, kRestDegree, times).a.middleCols(kRestingPoints, inner);
  const SymmetricEigen gram = symmetricEigen(a.transpose() * a * (seconds / samples));
  const double size = 2.0 * std::numbers::pi / seconds * std::sqrt(0.5 * seconds);
  const Eigen::VectorXd scale = size * gram.values.cwiseSqrt().cwiseInverse();
  Eigen::MatrixXd map = Eigen::MatrixXd::Zero(control_points, 1 + inner);
  map.col(0).setOnes();
  map.block(kRestingPoints, 1, inner, inner) =
      gram.vectors * scale.asDiagonal() * gram.vectors.transpose();
  return map;
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
  basis.to_full = restControlPoints(knots, control_points, seconds);
  basis.full = [knots](const Eigen::VectorXd& times) {
    return bSplineBasis(knots, kRestDegree, times);
  };
  basis.trajectory = [knots](const Eigen::MatrixXd& columns) {
    auto spline = std::make_shared<BSpline>();
    spline->degree = kRestDegree;
    spline->knots = knots;
    spline->control_points = columns.transpose();
    return spline;
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
