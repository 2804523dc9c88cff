#include "proprio/motion/motion_interpolation.h"

#include <gtest/gtest.h>

#include "proprio/motion/point_to_point.h"
#include "proprio/motion/testing/motion_checks.h"

namespace proprio {
namespace {

MotionSamples polynomialMotion(int degree, bool derivatives) {
  MotionSamples samples;
  samples.joints = {"a"};
  samples.time.resize(7);
  samples.time << 0.0, 0.3, 0.5, 1.1, 1.2, 2.0, 2.1;
  const Eigen::ArrayXd t = samples.time.array();
  const double p = degree;
  samples.q = (1.0 + t.pow(p)).matrix();
  if (derivatives) {
    samples.v = (p * t.pow(p - 1)).matrix();
    samples.a = (p * (p - 1) * t.pow(std::max(p - 2, 0.0))).matrix();
  }
  return samples;
}

double value(const MotionSamples& samples, MotionInterpolation kind, double t) {
  return stateAt(interpolated(samples, kind), t).q[0];
}

// Each interpolation is exact on the polynomials it promises.
TEST(MotionInterpolation, ExactOnPolynomials) {
  for (double t = 0.0; t <= 2.1; t += 0.07) {
    EXPECT_NEAR(value(polynomialMotion(1, false), MotionInterpolation::kLinear, t), 1 + t, 1e-13);
    EXPECT_NEAR(value(polynomialMotion(1, false), MotionInterpolation::kCubic, t), 1 + t, 1e-13);
    EXPECT_NEAR(value(polynomialMotion(3, true), MotionInterpolation::kCubic, t), 1 + t * t * t,
                1e-12);
    EXPECT_NEAR(value(polynomialMotion(2, false), MotionInterpolation::kQuintic, t), 1 + t * t,
                1e-9);
    EXPECT_NEAR(value(polynomialMotion(5, true), MotionInterpolation::kQuintic, t),
                1 + std::pow(t, 5), 1e-11);
  }
}

// Two joints with trapezoids of velocity that turn between the samples, at the same and at other
// times: their samples give the motion back, to rounding of the double difference of positions
// (1e-16 / h^2), so that no acceleration is larger than it was; a smooth motion stays a quintic.
TEST(MotionInterpolation, JumpsOfAccelerationBetweenSamples) {
  constexpr double kRounding = 1e-10;
  constexpr double kLimit = 3.0;  // rad/s^2
  MotionLimits limits;
  limits.joints = {"a", "b"};
  limits.velocity = Eigen::Vector2d(1.3, 0.9);
  limits.acceleration = Eigen::Vector2d::Constant(kLimit);
  limits.jerk = Eigen::Vector2d::Constant(kNotStated);
  const PiecewisePolynomial motion = pointToPoint(
      Eigen::Vector2d(0.0, 1.0), Eigen::Vector2d(2.0, -0.3), limits, Profile::kTrapezoid);
  const MotionSamples samples = sample(motion, 100.0, limits.joints);
  const PiecewisePolynomial again = interpolated(samples, MotionInterpolation::kQuintic);
  checkPolynomial(again);
  for (double t = 0.0; t < samples.time.tail(1)[0]; t += 0.00137) {
    EXPECT_LT((stateAt(again, t).q - stateAt(motion, t).q).norm(), kRounding) << t;
    EXPECT_LT(stateAt(again, t).a.cwiseAbs().maxCoeff(), kLimit * (1.0 + 1e-6)) << t;
  }
  EXPECT_LT(jumpsAtBreaks(again).v, kRounding);
  EXPECT_EQ(interpolated(polynomialMotion(5, true), MotionInterpolation::kQuintic).pieces(), 6);
}

// All pass through the samples; each is as smooth as promised.
TEST(MotionInterpolation, SamplesAndSmoothness) {
  MotionSamples samples = polynomialMotion(2, false);
  samples.q << 0, 1, 1, 1, -2, 0.5, 3;
  for (const MotionInterpolation kind :
       {MotionInterpolation::kPrevious, MotionInterpolation::kNearest, MotionInterpolation::kLinear,
        MotionInterpolation::kCubic, MotionInterpolation::kQuintic}) {
    EXPECT_EQ(motionInterpolationNamed(toString(kind)), kind);
    const PiecewisePolynomial motion = interpolated(samples, kind);
    checkPolynomial(motion);
    EXPECT_NEAR(motion.duration(), 2.1, 1e-15);
    const Eigen::Index last = kind == MotionInterpolation::kPrevious ? 6 : 7;
    for (Eigen::Index k = 0; k < last; ++k)
      EXPECT_NEAR(stateAt(motion, samples.time[k]).q[0], samples.q(k, 0), 1e-9) << toString(kind);
    expectDerivativesAgree(motion, 1e-5);
    const Jumps jumps = jumpsAtBreaks(motion);
    if (kind >= MotionInterpolation::kLinear) {
      EXPECT_LT(jumps.q, 1e-9);
    }
    if (kind >= MotionInterpolation::kCubic) {
      EXPECT_LT(jumps.v, 1e-8);
    }
    if (kind >= MotionInterpolation::kQuintic) {
      EXPECT_LT(jumps.a, 1e-5);
    }
  }
  EXPECT_FALSE(motionInterpolationNamed("spline"));
  // where the samples are flat, the modified Akima curve is flat
  EXPECT_NEAR(value(samples, MotionInterpolation::kCubic, 0.4), 1.0, 1e-12);
  EXPECT_NEAR(value(samples, MotionInterpolation::kCubic, 0.8), 1.0, 1e-12);
}

// Slopes as MATLAB's documentation defines makima, computed by hand for an inner sample.
TEST(MotionInterpolation, ModifiedAkimaSlope) {
  MotionSamples samples;
  samples.time = Eigen::VectorXd::LinSpaced(5, 0.0, 4.0);
  samples.q.resize(5, 1);
  samples.q << 0, 1, 3, 2, 2;  // slopes 1, 2, -1, 0
  const double before = std::abs(0.0 + 1.0) + 0.5 * std::abs(-1.0), after = 1.0 + 1.5;
  const double expected = (before * 2.0 + after * -1.0) / (before + after);
  EXPECT_NEAR(stateAt(interpolated(samples, MotionInterpolation::kCubic), 2.0).v[0], expected,
              1e-14);
}

// Previous and nearest hold what they say.
TEST(MotionInterpolation, Steps) {
  const MotionSamples samples = polynomialMotion(1, false);
  EXPECT_EQ(value(samples, MotionInterpolation::kPrevious, 0.49), 1.3);
  EXPECT_EQ(value(samples, MotionInterpolation::kPrevious, 0.5), 1.5);
  EXPECT_EQ(value(samples, MotionInterpolation::kNearest, 0.79), 1.5);
  EXPECT_EQ(value(samples, MotionInterpolation::kNearest, 0.81), 2.1);
}

// One and two samples, and samples that cannot be.
TEST(MotionInterpolation, Edges) {
  MotionSamples one;
  one.time = Eigen::VectorXd::Constant(1, 3.0);
  one.q = Eigen::MatrixXd::Constant(1, 1, 0.7);
  for (const MotionInterpolation kind :
       {MotionInterpolation::kPrevious, MotionInterpolation::kNearest, MotionInterpolation::kLinear,
        MotionInterpolation::kCubic, MotionInterpolation::kQuintic}) {
    EXPECT_EQ(interpolated(one, kind).duration(), 0.0);
    EXPECT_EQ(value(one, kind, 0.0), 0.7);
    MotionSamples two = one;
    two.time = Eigen::Vector2d(1.0, 3.0);
    two.q = Eigen::Vector2d(0.0, 1.0);
    EXPECT_EQ(interpolated(two, kind).duration(), 2.0);
    if (kind >= MotionInterpolation::kLinear) {
      EXPECT_NEAR(value(two, kind, 1.0), 0.5, 1e-12);
    }
  }
  const auto refused = [](MotionSamples samples, const std::string& part) {
    const std::string message =
        messageOf([&] { interpolated(samples, MotionInterpolation::kLinear); });
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  MotionSamples bad = polynomialMotion(1, true);
  bad.time[3] = bad.time[2];
  refused(bad, "point 4 is at 0.5 s, the one before at 0.5 s");
  bad = polynomialMotion(1, true);
  bad.q(2, 0) = NAN;
  refused(bad, "sample 3 has a number");
  bad = polynomialMotion(1, true);
  bad.v.conservativeResize(3, 1);
  refused(bad, "size 3 x 1");
  bad = polynomialMotion(1, true);
  bad.time.conservativeResize(3);
  refused(bad, "3 times for 7 samples");
  refused({}, "without samples");
}

}  // namespace
}  // namespace proprio
