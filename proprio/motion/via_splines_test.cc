#include "proprio/motion/via_splines.h"

#include <gtest/gtest.h>

#include "proprio/core/error.h"
#include "proprio/motion/testing/motion_limits_for_test.h"

namespace proprio {
namespace {

Eigen::MatrixXd fourPostures() {
  Eigen::MatrixXd points(4, 2);
  points << 0.0, 0.5, 1.0, -0.5, 0.3, 0.2, -0.8, 0.9;
  return points;
}

MotionLimits viaLimits() {
  MotionLimits limits;
  limits.joints = {"a", "b"};
  for (Eigen::VectorXd* x : {&limits.lower, &limits.upper, &limits.velocity, &limits.acceleration,
                             &limits.jerk, &limits.effort})
    x->setConstant(2, NAN);
  limits.velocity << 2.0, 3.0;
  limits.acceleration << 8.0, 5.0;
  return limits;
}

/// At rest at both ends, within the limits, and one of them is reached: it could not be faster.
void expectFastFromRestToRest(const Trajectory& motion, const Eigen::MatrixXd& points,
                              const MotionLimits& limits) {
  Eigen::VectorXd q(2), v(2), a(2);
  for (const bool end : {false, true}) {
    motion.at(end ? motion.duration() : 0.0, q, v, a);
    EXPECT_LT((q - points.row(end ? points.rows() - 1 : 0).transpose()).norm(), 1e-9);
    EXPECT_LT(v.norm() + a.norm(), 1e-8);
  }
  const MotionExtremes found = extremes(motion);
  const Eigen::ArrayXd fast = found.velocity.array() / limits.velocity.array();
  const Eigen::ArrayXd hard = found.acceleration.array() / limits.acceleration.array();
  EXPECT_NEAR(std::max(fast.maxCoeff(), hard.maxCoeff()), 1.0, 1e-6);
}

// The quintic spline passes every posture: at the times between its pieces it is there.
TEST(ViaSplines, QuinticPassesThePostures) {
  const Eigen::MatrixXd points = fourPostures();
  const PiecewisePolynomial motion = splineThrough(points, viaLimits());
  expectFastFromRestToRest(motion, points, viaLimits());
  const std::vector<double> breaks = motion.breaks();
  ASSERT_EQ(breaks.size(), 4u);
  Eigen::VectorXd q(2), v(2), a(2);
  for (size_t k = 0; k < 4; ++k) {
    motion.at(breaks[k], q, v, a);
    EXPECT_LT((q - points.row(static_cast<Eigen::Index>(k)).transpose()).norm(), 1e-9) << k;
  }
}

// The B-spline has the postures as control points, and every joint stays between its own.
TEST(ViaSplines, BSplineStaysBetweenThePostures) {
  const Eigen::MatrixXd points = fourPostures();
  const BSpline motion = splineAlong(points, viaLimits());
  expectFastFromRestToRest(motion, points, viaLimits());
  const MotionExtremes found = extremes(motion);
  for (int i = 0; i < 2; ++i) {
    EXPECT_GE(found.lowest[i], points.col(i).minCoeff() - 1e-9);
    EXPECT_LE(found.highest[i], points.col(i).maxCoeff() + 1e-9);
  }
}

TEST(ViaSplines, Refusals) {
  Eigen::MatrixXd points = fourPostures();
  EXPECT_THROW(splineThrough(points.topRows(1), viaLimits()), Error);
  EXPECT_THROW(splineAlong(points.leftCols(1), viaLimits()), Error);
  points.row(2) = points.row(1);
  EXPECT_THROW(splineThrough(points, viaLimits()), Error);
  MotionLimits limits = viaLimits();
  limits.acceleration[1] = NAN;
  EXPECT_THROW(splineAlong(fourPostures(), limits), Error);
}

}  // namespace
}  // namespace proprio
