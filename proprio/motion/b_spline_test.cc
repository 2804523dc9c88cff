#include "proprio/motion/b_spline.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "proprio/motion/testing/motion_checks.h"

namespace proprio {
namespace {

constexpr double kSplineRounding = 1e-11;

BSpline exampleSpline(int degree, bool clamped = true) {
  BSpline spline;
  spline.degree = degree;
  const int points = degree + 6;
  spline.knots = clamped ? clampedKnots(points, degree, 4.0) : uniformKnots(points, degree, 4.0);
  spline.control_points.resize(2, points);
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < points; ++k)
      spline.control_points(i, k) = std::sin(1.7 * k + i) + 0.3 * std::cos(5.1 * k * (i + 1));
  checkSpline(spline);
  return spline;
}

// the recursive definition, without any of the tables of the code
double definition(const std::vector<double>& u, size_t i, int p, double t) {
  if (p == 0) return t >= u[i] && t < u[i + 1] ? 1.0 : 0.0;
  const auto d = static_cast<size_t>(p);
  const double left =
      u[i + d] > u[i] ? (t - u[i]) / (u[i + d] - u[i]) * definition(u, i, p - 1, t) : 0.0;
  const double right = u[i + d + 1] > u[i + 1] ? (u[i + d + 1] - t) / (u[i + d + 1] - u[i + 1]) *
                                                     definition(u, i + 1, p - 1, t)
                                               : 0.0;
  return left + right;
}

// The basis is the recursive definition's and sums to one; its derivatives sum to zero.
TEST(BSpline, BasisEqualsTheDefinition) {
  for (const bool clamped : {true, false}) {
    for (const int degree : {1, 2, 3, 5, 8}) {
      const BSpline spline = exampleSpline(degree, clamped);
      const Eigen::VectorXd times = Eigen::VectorXd::LinSpaced(37, 0.0, 3.999);
      const MotionBasis basis = bSplineBasis(spline.knots, degree, times);
      for (Eigen::Index k = 0; k < times.size(); ++k) {
        for (Eigen::Index i = 0; i < basis.q.cols(); ++i)
          EXPECT_NEAR(basis.q(k, i),
                      definition(spline.knots, static_cast<size_t>(i), degree, times[k]),
                      kSplineRounding);
        EXPECT_NEAR(basis.q.row(k).sum(), 1.0, kSplineRounding);
        EXPECT_NEAR(basis.v.row(k).sum(), 0.0, 1e-9);
        EXPECT_NEAR(basis.a.row(k).sum(), 0.0, 1e-7);
        const StateAt state = stateAt(spline, times[k]);
        EXPECT_LT((spline.control_points * basis.q.row(k).transpose() - state.q).norm(),
                  kSplineRounding);
        EXPECT_LT((spline.control_points * basis.v.row(k).transpose() - state.v).norm(), 1e-9);
        EXPECT_LT((spline.control_points * basis.a.row(k).transpose() - state.a).norm(), 1e-8);
      }
    }
  }
}

// Derivatives are exact, and continuous up to degree - 1 at the knots.
TEST(BSpline, DerivativesAndContinuity) {
  for (const int degree : {2, 3, 4, 5, 9}) {
    for (const bool clamped : {true, false}) {
      const BSpline spline = exampleSpline(degree, clamped);
      expectDerivativesAgree(spline, 1e-5);
      const Jumps jumps = jumpsAtBreaks(spline);
      EXPECT_LT(jumps.q, 1e-9);
      EXPECT_LT(jumps.v, 1e-6);
      if (degree >= 3) {
        EXPECT_LT(jumps.a, 1e-4);
      }
    }
  }
}

// A clamped spline goes from its first to its last control point; it stays within the hull.
TEST(BSpline, EndsAndHull) {
  const BSpline spline = exampleSpline(4);
  EXPECT_LT((stateAt(spline, 0.0).q - spline.control_points.col(0)).norm(), kSplineRounding);
  EXPECT_LT((stateAt(spline, 4.0).q - spline.control_points.rightCols(1)).norm(), kSplineRounding);
  EXPECT_EQ(stateAt(spline, 5.0).v.norm(), 0.0);
  for (double t = 0; t <= 4.0; t += 0.01) {
    const Eigen::VectorXd q = stateAt(spline, t).q;
    for (int i = 0; i < 2; ++i) {
      EXPECT_LE(q[i], spline.control_points.row(i).maxCoeff() + kSplineRounding);
      EXPECT_GE(q[i], spline.control_points.row(i).minCoeff() - kSplineRounding);
    }
  }
}

// From rest to rest for every degree, with inner control points or none.
TEST(BSpline, RestToRest) {
  const Eigen::Vector2d from(0.3, -1.0), to(1.0, 2.0);
  for (const int degree : {3, 4, 5, 7}) {
    const Eigen::MatrixXd inner = Eigen::MatrixXd::Constant(2, 4, 0.7);
    const BSpline spline = restToRestSpline(from, inner, to, degree, 3.0);
    expectRestAtBothEnds(spline);
    EXPECT_LT((stateAt(spline, 0.0).q - from).norm(), kSplineRounding);
    EXPECT_LT((stateAt(spline, 3.0).q - to).norm(), kSplineRounding);
    EXPECT_GT(stateAt(spline, 1.5).v.norm(), 0.0);
  }
  expectRestAtBothEnds(restToRestSpline(from, Eigen::MatrixXd(2, 0), to, 5, 3.0));
}

// A spline fitted to samples of a spline with the same knots is that spline; a polynomial of the
// degree is reproduced.
TEST(BSpline, FitIsExact) {
  const BSpline spline = exampleSpline(4);
  const BSpline fitted = fitBSpline(sample(spline, 20.0, {"a", "b"}), 10, 4);
  EXPECT_LT((fitted.control_points - spline.control_points).norm(), 1e-8);
  MotionSamples cubic;
  cubic.time = Eigen::VectorXd::LinSpaced(50, 0.0, 2.0);
  cubic.q = cubic.time.array().cube().matrix();
  const BSpline polynomial = fitBSpline(cubic, 8, 3);
  EXPECT_NEAR(stateAt(polynomial, 1.23).q[0], std::pow(1.23, 3), 1e-10);
  EXPECT_NEAR(stateAt(polynomial, 1.23).a[0], 6 * 1.23, 1e-8);
}

// Input that is no spline has its own sentence.
TEST(BSpline, BadInput) {
  const auto refused = [](const auto& call, const std::string& part) {
    const std::string message = messageOf(call);
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  refused([] { clampedKnots(3, 3, 1.0); }, "3 control points; expected at least 4");
  refused([] { clampedKnots(9, 0, 1.0); }, "degree 0");
  refused([] { clampedKnots(40, 16, 1.0); }, "degree 16");
  refused([] { uniformKnots(9, 3, 0.0); }, "0 s");
  refused(
      [] {
        restToRestSpline(Eigen::Vector2d::Zero(), Eigen::MatrixXd(2, 2), Eigen::Vector2d::Zero(), 2,
                         1.0);
      },
      "cannot start at rest");
  BSpline spline = exampleSpline(3);
  spline.knots[5] = 9.0;
  refused([&] { checkSpline(spline); }, "do not descend");
  spline = exampleSpline(3);
  spline.knots.pop_back();
  refused([&] { checkSpline(spline); }, "expected 8");
  spline = exampleSpline(3);
  spline.control_points(0, 0) = NAN;
  refused([&] { checkSpline(spline); }, "not a finite number");
  spline = exampleSpline(2);
  spline.knots[4] = spline.knots[5] = spline.knots[3];
  refused([&] { checkSpline(spline); }, "is there 3 times");
  refused([] { bSplineBasis(clampedKnots(6, 3, 1.0), 3, Eigen::VectorXd::Constant(1, 2.0)); },
          "outside the B-spline");
  refused([] { fitBSpline(sample(exampleSpline(4), 1.0, {"a", "b"}), 10, 4); }, "5 samples");
}

}  // namespace
}  // namespace proprio
