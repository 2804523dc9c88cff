#include "proprio/motion/quintic_spline.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <random>

#include "proprio/motion/testing/motion_checks.h"

namespace proprio {
namespace {

constexpr double kQuinticRounding = 1e-10;

const std::vector<double> kTimes = {1.0, 1.4, 2.5, 3.0, 5.0, 5.2};

Eigen::MatrixXd somePoints() {
  Eigen::MatrixXd points(6, 2);
  points << 0, 1, 0.5, -1, 0.2, 0.3, -1, 0.3, 2, 0.1, 2.2, -0.4;
  return points;
}

// third derivative of the piece k at its local time s, from the coefficients
Eigen::VectorXd jerk(const PiecewisePolynomial& spline, int k, double s) {
  const auto c = spline.coefficients.middleCols(6 * k, 6);
  return 6 * c.col(3) + 24 * s * c.col(4) + 60 * s * s * c.col(5);
}
Eigen::VectorXd snap(const PiecewisePolynomial& spline, int k, double s) {
  const auto c = spline.coefficients.middleCols(6 * k, 6);
  return 24 * c.col(4) + 120 * s * c.col(5);
}

// Through all points, smooth to the fourth derivative, at rest or natural at the ends.
TEST(QuinticSpline, PassesThroughPointsWithFourContinuousDerivatives) {
  const Eigen::MatrixXd points = somePoints();
  for (const SplineEnd end : {SplineEnd::kRest, SplineEnd::kNatural}) {
    const PiecewisePolynomial spline = quinticSpline(kTimes, points, {end, end});
    checkPolynomial(spline);
    for (size_t k = 0; k < kTimes.size(); ++k)
      EXPECT_LT((stateAt(spline, kTimes[k] - 1.0).q.transpose() -
                 points.row(static_cast<Eigen::Index>(k)))
                    .norm(),
                kQuinticRounding);
    expectDerivativesAgree(spline);
    const Jumps jumps = jumpsAtBreaks(spline);
    EXPECT_LT(jumps.q, 1e-9);
    EXPECT_LT(jumps.v, 1e-8);
    EXPECT_LT(jumps.a, 1e-7);
    for (int k = 0; k + 1 < spline.pieces(); ++k) {
      const auto i = static_cast<size_t>(k);
      const double h = spline.knots[i + 1] - spline.knots[i];
      EXPECT_LT((jerk(spline, k, h) - jerk(spline, k + 1, 0)).norm(),
                1e-9 * (1 + jerk(spline, k, h).norm()));
      EXPECT_LT((snap(spline, k, h) - snap(spline, k + 1, 0)).norm(),
                1e-8 * (1 + snap(spline, k, h).norm()));
    }
    if (end == SplineEnd::kRest) {
      expectRestAtBothEnds(spline);
    } else {
      EXPECT_LT(jerk(spline, 0, 0).norm(), 1e-8);
      EXPECT_LT(snap(spline, 0, 0).norm(), 1e-7);
    }
  }
}

// No other curve through the points has less squared jerk: random changes of the inner velocities
// and accelerations only raise it (by another route: numerical integration).
TEST(QuinticSpline, HasTheLeastJerk) {
  const Eigen::MatrixXd points = somePoints();
  const PiecewisePolynomial best = quinticSpline(kTimes, points);
  Eigen::MatrixXd v(6, 2), a(6, 2);
  for (Eigen::Index k = 0; k < 6; ++k) {
    const StateAt state = stateAt(best, kTimes[static_cast<size_t>(k)] - 1.0);
    v.row(k) = state.v.transpose();
    a.row(k) = state.a.transpose();
  }
  const auto energy = [](const PiecewisePolynomial& spline) {
    double sum = 0;
    for (int k = 0; k < spline.pieces(); ++k) {
      const auto i = static_cast<size_t>(k);
      const double h = spline.knots[i + 1] - spline.knots[i];
      const int n = 200;
      for (int j = 0; j < n; ++j) sum += jerk(spline, k, h * (j + 0.5) / n).squaredNorm() * h / n;
    }
    return sum;
  };
  const double least = energy(best);
  EXPECT_NEAR(energy(quinticHermite(kTimes, points, v, a)), least, 1e-6 * least);
  std::mt19937 rng(3);
  std::normal_distribution<double> normal(0.0, 0.3);
  for (int trial = 0; trial < 20; ++trial) {
    Eigen::MatrixXd v2 = v, a2 = a;
    for (Eigen::Index k = 1; k < 5; ++k)
      for (Eigen::Index i = 0; i < 2; ++i) {
        v2(k, i) += normal(rng);
        a2(k, i) += normal(rng);
      }
    EXPECT_GT(energy(quinticHermite(kTimes, points, v2, a2)), least);
  }
}

// Polynomials that the ends allow are reproduced: quadratics by natural splines, any of fifth
// degree with given derivatives.
TEST(QuinticSpline, ReproducesPolynomials) {
  const auto quadratic = [](double t) { return 1 - 2 * t + 3 * t * t; };
  const auto quintic = [](double t) { return 1 - 2 * t + std::pow(t, 3) - 0.2 * std::pow(t, 5); };
  const auto quintic_v = [](double t) { return -2 + 3 * t * t - std::pow(t, 4); };
  const auto quintic_a = [](double t) { return 6 * t - 4 * std::pow(t, 3); };
  Eigen::MatrixXd p2(6, 1), p5(6, 1), v5(6, 1), a5(6, 1);
  for (Eigen::Index k = 0; k < 6; ++k) {
    const double t = kTimes[static_cast<size_t>(k)] - 1.0;
    p2(k, 0) = quadratic(t);
    p5(k, 0) = quintic(t);
    v5(k, 0) = quintic_v(t);
    a5(k, 0) = quintic_a(t);
  }
  const PiecewisePolynomial two =
      quinticSpline(kTimes, p2, {SplineEnd::kNatural, SplineEnd::kNatural});
  const PiecewisePolynomial five = quinticHermite(kTimes, p5, v5, a5);
  for (double t = 0.0; t <= 4.2; t += 0.1) {
    EXPECT_NEAR(stateAt(two, t).q[0], quadratic(t), 1e-9);
    EXPECT_NEAR(stateAt(two, t).a[0], 6.0, 1e-7);
    EXPECT_NEAR(stateAt(five, t).q[0], quintic(t), 1e-9);
    EXPECT_NEAR(stateAt(five, t).v[0], quintic_v(t), 1e-9);
    EXPECT_NEAR(stateAt(five, t).a[0], quintic_a(t), 1e-8);
  }
}

// The minimum-jerk motion has the profile of the closed form and its largest velocity and
// acceleration.
TEST(QuinticSpline, MinimumJerkProfile) {
  const PiecewisePolynomial motion =
      minimumJerk(Eigen::Vector2d(1.0, 0.0), Eigen::Vector2d(3.0, -0.5), 4.0);
  expectRestAtBothEnds(motion);
  for (double t = 0.0; t <= 4.0; t += 0.25) {
    const double s = t / 4.0;
    EXPECT_NEAR(stateAt(motion, t).q[0],
                1.0 + 2.0 * (10 * s * s * s - 15 * std::pow(s, 4) + 6 * std::pow(s, 5)), 1e-12);
  }
  EXPECT_NEAR(stateAt(motion, 2.0).v[0], 15.0 / 8.0 * 2.0 / 4.0, 1e-12);
  const double peak = 2.0 - 2.0 / std::sqrt(3.0);  // time of the largest acceleration
  EXPECT_NEAR(stateAt(motion, peak).a[0], 10.0 / std::sqrt(3.0) * 2.0 / 16.0, 1e-12);
  EXPECT_EQ(stateAt(motion, 99.0).q[0], stateAt(motion, 4.0).q[0]);
  EXPECT_EQ(stateAt(motion, 99.0).v[0], 0.0);
}

// A thousand points cost no accuracy.
TEST(QuinticSpline, LongSplineStaysAccurate) {
  std::vector<double> times;
  Eigen::MatrixXd points(1000, 1);
  for (Eigen::Index k = 0; k < 1000; ++k) {
    times.push_back(0.01 * static_cast<double>(k));
    points(k, 0) = std::sin(times.back());
  }
  const PiecewisePolynomial spline =
      quinticSpline(times, points, {SplineEnd::kNatural, SplineEnd::kNatural});
  for (double t = 1.0; t < 9.0; t += 0.137) {
    EXPECT_NEAR(stateAt(spline, t).q[0], std::sin(t), 1e-12);
    EXPECT_NEAR(stateAt(spline, t).a[0], -std::sin(t), 1e-6);
  }
}

// A motion without time or distance, and input that cannot be.
TEST(QuinticSpline, Edges) {
  const Eigen::VectorXd here = Eigen::Vector2d(0.1, 0.2);
  const PiecewisePolynomial nothing = minimumJerk(here, here, 0.0);
  EXPECT_EQ(nothing.duration(), 0.0);
  EXPECT_EQ(stateAt(nothing, 0.0).q, here);
  EXPECT_EQ(sample(nothing, 100.0, {"a", "b"}).samples(), 1);
  EXPECT_EQ(stateAt(minimumJerk(here, here, 2.0), 1.0).q, here);
  const auto refused = [](const auto& call, const std::string& part) {
    const std::string message = messageOf(call);
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  const Eigen::MatrixXd points = somePoints();
  refused([&] { minimumJerk(here, 2 * here, 0.0); }, "a motion of 0 s");
  refused([&] { minimumJerk(here, Eigen::Vector3d::Zero(), 1.0); }, "from 2 to 3 joints");
  refused([&] { quinticSpline({0.0}, points.topRows(1)); }, "1 point; expected at least two");
  refused([&] { quinticSpline({0.0, 1.0}, points); }, "2 times for 6 points");
  refused(
      [&] {
        quinticSpline({0, 1, 1, 2, 3, 4}, points);
      },
      "point 3 is at 1 s, the one before at 1 s");
  refused([&] { quinticSpline({0, 1, NAN, 2, 3, 4}, points); }, "point 3 is at nan s");
  refused(
      [&] {
        quinticSpline({0, 1}, points.topRows(2), {SplineEnd::kNatural, SplineEnd::kNatural});
      },
      "at least three points");
  Eigen::MatrixXd broken = points;
  broken(2, 1) = NAN;
  refused([&] { quinticSpline(kTimes, broken); }, "point 3 has a position");
  refused([&] { quinticHermite(kTimes, points, points, broken); }, "point 3 has an acceleration");
  refused([&] { quinticHermite(kTimes, points, points.topRows(3), points); }, "6 x 2 with");
}

}  // namespace
}  // namespace proprio
