// The motions among which excitation design chooses: each is at rest at both ends, its basis is
// that of the motion itself, and no motion of its kind that rests is missing.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "proprio/core/error.h"
#include "proprio/motion/b_spline.h"
#include "proprio/motion/fourier_series.h"
#include "proprio/motion/point_to_point.h"
#include "proprio/motion/rest_basis_internal.h"
#include "proprio/numerics/dense.h"

namespace proprio::internal {
namespace {

constexpr double kSeconds = 7.0;

Eigen::MatrixXd someUnknowns(const RestBasis& basis, int joints) {
  return Eigen::MatrixXd::NullaryExpr(
      basis.to_full.cols(), joints, [](Eigen::Index i, Eigen::Index j) {
        return std::sin(1.3 * static_cast<double>(i + 1) + 0.7 * static_cast<double>(j));
      });
}

// Whatever the unknowns: the motion starts and ends at the first of them, at rest, and its values
// are those of the basis, on the grid too.
TEST(RestBasis, EveryMotionRestsAtBothEnds) {
  for (const RestBasis& basis : {fourierRest(2, kSeconds), fourierRest(6, kSeconds),
                                 bSplineRest(7, kSeconds), bSplineRest(16, kSeconds)}) {
    const Eigen::MatrixXd z = someUnknowns(basis, 2);
    const auto motion = basis.trajectory(basis.to_full * z);
    ASSERT_EQ(motion->size(), 2);
    EXPECT_EQ(motion->duration(), kSeconds);
    Eigen::VectorXd q(2), v(2), a(2);
    for (const double t : {0.0, kSeconds}) {
      motion->at(t, q, v, a);
      // rounding of sums of terms of size one
      EXPECT_LT((q - z.row(0).transpose()).norm() + v.norm() + a.norm(), 1e-12);
    }
    const RestGrid grid = restGrid(basis, 11);
    const MotionBasis at = basis.at(grid.time);
    for (Eigen::Index k = 0; k < grid.time.size(); ++k) {
      EXPECT_NEAR(grid.time[k], kSeconds * static_cast<double>(k) / 11.0, 1e-15 * kSeconds);
      motion->at(grid.time[k], q, v, a);
      EXPECT_LT((at.q.row(k) * z - q.transpose()).norm(), 1e-12);
      EXPECT_LT((at.v.row(k) * z - v.transpose()).norm(), 1e-12);
      EXPECT_LT((at.a.row(k) * z - a.transpose()).norm(), 1e-11);
      EXPECT_LT((grid.full.a.row(k) * basis.to_full * z - a.transpose()).norm(), 1e-11);
    }
  }
}

// Trapezoids stop at the unknowns' postures in equal times; in between velocity is a trapezoid: it
// grows for a third of the time, stays for a third at 1.5 times the average, and shrinks. The
// motion is that of its basis, and of pointToPoint with limits that ask for the same times.
TEST(RestBasis, TrapezoidsStopAtEveryPosture) {
  constexpr int kPostures = 5;
  const RestBasis basis = trapezoidRest(kPostures, kSeconds);
  ASSERT_EQ(basis.to_full.cols(), kPostures);
  const Eigen::MatrixXd z = someUnknowns(basis, 2), postures = basis.to_full * z;
  const auto motion = basis.trajectory(postures);
  const double step = kSeconds / kPostures;
  Eigen::VectorXd q(2), v(2), a(2), other_q(2), other_v(2), other_a(2);
  EXPECT_LT((postures.row(0) - z.row(0)).norm(), 1e-12);
  for (int k = 0; k <= kPostures; ++k) {
    motion->at(k * step, q, v, a);
    EXPECT_LT((q - postures.row(k % kPostures).transpose()).norm() + v.norm(), 1e-12);
    if (k == kPostures) break;
    const Eigen::VectorXd from = postures.row(k), to = postures.row((k + 1) % kPostures);
    MotionLimits limits;
    limits.joints = {"a", "b"};
    limits.lower = limits.upper = limits.jerk = limits.effort = Eigen::Vector2d::Zero();
    limits.velocity = 1.5 / step * (to - from).cwiseAbs();
    limits.acceleration = 4.5 / (step * step) * (to - from).cwiseAbs();
    const PiecewisePolynomial one = pointToPoint(from, to, limits, Profile::kTrapezoid);
    EXPECT_NEAR(one.duration(), step, 1e-12);
    Eigen::VectorXd times(6);
    for (int i = 0; i < 6; ++i) {  // inside the pieces, where acceleration does not jump
      const double u = (i + 0.5) / 6.0;
      times[i] = (k + u) * step;
      motion->at(times[i], q, v, a);
      one.at(u * step, other_q, other_v, other_a);
      EXPECT_LT((q - other_q).norm() + (v - other_v).norm() + (a - other_a).norm(), 1e-11);
    }
    const MotionBasis at = basis.at(times);
    for (int i = 0; i < 6; ++i) {
      motion->at(times[i], q, v, a);
      EXPECT_LT((at.q.row(i) * z - q.transpose()).norm() +
                    (at.v.row(i) * z - v.transpose()).norm() +
                    (at.a.row(i) * z - a.transpose()).norm(),
                1e-11);
    }
  }
}

// Every closed motion of the kind that rests has unknowns: those of a rest-to-rest spline and of a
// series made to start at rest are found, with nothing left over.
TEST(RestBasis, NoMotionIsMissing) {
  const Eigen::VectorXd start = Eigen::Vector2d(0.4, -1.1);
  const Eigen::MatrixXd inner = Eigen::MatrixXd::NullaryExpr(
      2, 9,
      [](Eigen::Index j, Eigen::Index i) { return std::cos(static_cast<double>(2 * i + j)); });
  const BSpline spline = restToRestSpline(start, inner, start, 5, kSeconds);
  const RestBasis splines = bSplineRest(15, kSeconds);
  const Eigen::MatrixXd points = spline.control_points.transpose();
  EXPECT_LT((splines.to_full * leastSquares(splines.to_full, points) - points).norm(), 1e-12);
  const FourierSeries series = randomFourierSeries(start, 6, kSeconds, 3);
  const RestBasis all = fourierRest(6, kSeconds);
  const Eigen::MatrixXd columns = series.coefficients();
  EXPECT_LT((all.to_full * leastSquares(all.to_full, columns) - columns).norm(), 1e-12);
}

// The unknowns of a spline but the first are alike and independent in what they do to the
// acceleration: integrals of products are those of a harmonic, by a quadrature of their own
// (Simpson's on 200 intervals between two knots, whose error is below 1e-8 of the whole).
TEST(RestBasis, UnknownsOfSplinesAreComparable) {
  constexpr int kPoints = 20, kIntervals = kPoints - 5, kSteps = 200;
  const RestBasis basis = bSplineRest(kPoints, kSeconds);
  const int steps = kIntervals * kSteps;
  const Eigen::VectorXd times = Eigen::VectorXd::LinSpaced(steps + 1, 0.0, kSeconds);
  Eigen::VectorXd weight(steps + 1);
  for (int k = 0; k <= steps; ++k) weight[k] = k == 0 || k == steps ? 1.0 : k % 2 == 1 ? 4.0 : 2.0;
  weight *= kSeconds / steps / 3.0;
  const Eigen::MatrixXd a = basis.at(times).a.rightCols(basis.to_full.cols() - 1);
  const double w = 2.0 * std::numbers::pi / kSeconds, one = 0.5 * w * w * kSeconds;
  const Eigen::MatrixXd gram = a.transpose() * weight.asDiagonal() * a / one;
  // what the maker's own coarser sum leaves: 16 midpoints per interval
  EXPECT_LT((gram - Eigen::MatrixXd::Identity(gram.rows(), gram.cols())).cwiseAbs().maxCoeff(),
            0.01);
}

// Grids follow the shortest wave; sizes that leave nothing to choose are refused.
TEST(RestBasis, SizesMakeSense) {
  EXPECT_EQ(fourierRest(20, 10.0).waves, 20);
  EXPECT_EQ(bSplineRest(44, 10.0).waves, 20);
  EXPECT_EQ(fourierRest(20, 10.0).to_full.cols(), bSplineRest(44, 10.0).to_full.cols());
  EXPECT_EQ(bSplineRest(7, 10.0).to_full.cols(), 2);
  EXPECT_THROW(fourierRest(1, 10.0), Error);
  EXPECT_THROW(bSplineRest(6, 10.0), Error);
  EXPECT_THROW(bSplineRest(-1, 10.0), Error);
  EXPECT_EQ(trapezoidRest(2, 10.0).to_full.cols(), 2);
  EXPECT_THROW(trapezoidRest(1, 10.0), Error);
  for (const double seconds : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    EXPECT_THROW(fourierRest(5, seconds), Error);
    EXPECT_THROW(bSplineRest(9, seconds), Error);
    EXPECT_THROW(trapezoidRest(9, seconds), Error);
  }
}

}  // namespace
}  // namespace proprio::internal
