#include "proprio/spatial/motion_types.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

#include "proprio/spatial/se3.h"
#include "proprio/spatial/testing/test_utilities.h"

namespace proprio {
namespace {

using testing::derivative;
using testing::randomPose;
using testing::randomVector;
using testing::randomVector6;

constexpr double kMotionRound = 1e-13;
// First derivatives by differences; second ones lose another factor 1/step.
constexpr double kMotionFirst = 1e-9;
constexpr double kMotionSecond = 1e-7;

// --- a wrong mix does not compile --------------------------------------------------------------

template <class A, class B>
concept Adds = requires(A a, B b) {
  a + b;
};
template <class A, class B>
concept Subtracts = requires(A a, B b) {
  a - b;
};
template <class A, class B>
concept HasPower = requires(A a, B b) {
  power(a, b);
};
template <class A>
concept ConvertsAlone = requires(Pose X, A a) {
  toBody(X, a);
};
template <class A>
concept ConvertsWithTwist = requires(Pose X, BodyTwist V, A a) {
  toBody(X, V, a);
};
template <class V>
concept IsTwistForAcceleration = requires(Pose X, V v, MixedAcceleration a) {
  toBody(X, v, a);
};

// The concepts are alive: right mixes compile.
static_assert(Adds<BodyTwist, BodyTwist> && Subtracts<BodyWrench, BodyWrench>);
static_assert(HasPower<BodyTwist, BodyWrench> && HasPower<SpatialTwist, SpatialWrench> &&
              HasPower<MixedTwist, MixedWrench>);
static_assert(ConvertsAlone<MixedTwist> && ConvertsAlone<SpatialWrench>);
static_assert(ConvertsWithTwist<SensorAcceleration> && ConvertsWithTwist<ProperMixedAcceleration>);
static_assert(IsTwistForAcceleration<BodyTwist>);

// Representations do not add.
static_assert(!Adds<BodyTwist, SpatialTwist> && !Adds<BodyTwist, MixedTwist>);
static_assert(!Adds<SpatialTwist, MixedTwist> && !Subtracts<BodyWrench, MixedWrench>);
static_assert(!Adds<SensorAcceleration, BodyAcceleration>);
// Kinds do not add: velocity, acceleration, proper acceleration, wrench, momentum, bare vector.
static_assert(!Adds<BodyTwist, BodyAcceleration>);
static_assert(!Adds<BodyAcceleration, ProperBodyAcceleration>);
static_assert(!Adds<BodyWrench, BodyMomentum> && !Adds<BodyTwist, BodyWrench>);
static_assert(!Adds<BodyTwist, Vector6d>);
// Power pairs twist and wrench of one representation only.
static_assert(!HasPower<BodyTwist, SpatialWrench> && !HasPower<MixedTwist, BodyWrench>);
static_assert(!HasPower<BodyAcceleration, BodyWrench> && !HasPower<BodyTwist, BodyMomentum>);
// An acceleration does not convert without a body twist, nor a twist or wrench with one.
static_assert(!ConvertsAlone<BodyAcceleration> && !ConvertsAlone<ProperSensorAcceleration>);
static_assert(!ConvertsWithTwist<MixedTwist> && !ConvertsWithTwist<BodyWrench>);
static_assert(!IsTwistForAcceleration<MixedTwist> && !IsTwistForAcceleration<BodyAcceleration>);
// There is no implicit conversion between any of them.
static_assert(!std::is_convertible_v<BodyTwist, SpatialTwist>);
static_assert(!std::is_convertible_v<Vector6d, BodyTwist>);
static_assert(!std::is_convertible_v<BodyWrench, BodyMomentum>);

// --- a motion known by its pose, differentiated numerically -------------------------------------

struct Observed {
  Pose X;
  BodyTwist body;
  SpatialTwist spatial;
  MixedTwist mixed;
};

// The definitions of the three twists, from H and H'.
Observed observe(const testing::SmoothMotion& motion, double t) {
  const Pose X = motion(t);
  const Eigen::Matrix4d H_inverse = X.inverse().matrix();
  const Eigen::Matrix4d H_dot = derivative([&](double s) { return motion(s).matrix(); }, t);
  const Vector6d spatial = twistVee(H_dot * H_inverse);
  return {X, BodyTwist::fromVector(twistVee(H_inverse * H_dot)), SpatialTwist::fromVector(spatial),
          MixedTwist{H_dot.topRightCorner<3, 1>(), spatial.tail<3>()}};
}

template <class A, class B>
double distance(const A& a, const B& b) {
  static_assert(std::is_same_v<A, B>);
  return (a.vector() - b.vector()).norm();
}

// Conversions agree with the definitions of the three twists on a general motion.
TEST(MotionTypes, TwistsAgreeWithDifferences) {
  std::mt19937 rng(1);
  for (int trial = 0; trial < 10; ++trial) {
    const Observed o = observe(testing::SmoothMotion::random(rng), 0.2);
    EXPECT_LT(distance(toSpatial(o.X, o.body), o.spatial), kMotionFirst);
    EXPECT_LT(distance(toMixed(o.X, o.body), o.mixed), kMotionFirst);
    EXPECT_LT(distance(toBody(o.X, o.spatial), o.body), kMotionFirst);
    EXPECT_LT(distance(toMixed(o.X, o.spatial), o.mixed), kMotionFirst);
    EXPECT_LT(distance(toBody(o.X, o.mixed), o.body), kMotionFirst);
    EXPECT_LT(distance(toSpatial(o.X, o.mixed), o.spatial), kMotionFirst);
  }
}

// The four accelerations agree with second differences of a general motion.
TEST(MotionTypes, AccelerationsAgreeWithDifferences) {
  std::mt19937 rng(2);
  for (int trial = 0; trial < 10; ++trial) {
    const auto motion = testing::SmoothMotion::random(rng);
    const double t = 0.15;
    const Observed o = observe(motion, t);
    const auto body = BodyAcceleration::fromVector(
        derivative([&](double s) { return observe(motion, s).body.vector(); }, t, 1e-2));
    const auto spatial = SpatialAcceleration::fromVector(
        derivative([&](double s) { return observe(motion, s).spatial.vector(); }, t, 1e-2));
    const auto mixed = MixedAcceleration::fromVector(
        derivative([&](double s) { return observe(motion, s).mixed.vector(); }, t, 1e-2));
    const SensorAcceleration sensor{o.X.R.transpose() * mixed.linear,
                                    o.X.R.transpose() * mixed.angular};
    const double tolerance = kMotionSecond * (1.0 + body.vector().norm());
    EXPECT_LT(distance(toBody(o.X, o.body, sensor), body), tolerance);
    EXPECT_LT(distance(toBody(o.X, o.body, mixed), body), tolerance);
    EXPECT_LT(distance(toBody(o.X, o.body, spatial), body), tolerance);
    EXPECT_LT(distance(toSpatial(o.X, o.body, body), spatial), tolerance);
    EXPECT_LT(distance(toSpatial(o.X, o.body, sensor), spatial), tolerance);
    EXPECT_LT(distance(toSpatial(o.X, o.body, mixed), spatial), tolerance);
    EXPECT_LT(distance(toMixed(o.X, o.body, body), mixed), tolerance);
    EXPECT_LT(distance(toMixed(o.X, o.body, spatial), mixed), tolerance);
    EXPECT_LT(distance(toMixed(o.X, o.body, sensor), mixed), tolerance);
    EXPECT_LT(distance(toSensor(o.X, o.body, body), sensor), tolerance);
    EXPECT_LT(distance(toSensor(o.X, o.body, spatial), sensor), tolerance);
    EXPECT_LT(distance(toSensor(o.X, o.body, mixed), sensor), tolerance);
  }
}

// Every conversion followed by its way back is the identity, also for proper accelerations.
TEST(MotionTypes, RoundTrips) {
  std::mt19937 rng(3);
  const Pose X = randomPose(rng);
  const auto V = BodyTwist::fromVector(randomVector6(rng));
  EXPECT_LT(distance(toBody(X, toMixed(X, toSpatial(X, V))), V), kMotionRound);
  const auto a = ProperSensorAcceleration::fromVector(randomVector6(rng));
  const auto around = toSensor(X, V, toBody(X, V, toMixed(X, V, toSpatial(X, V, a))));
  EXPECT_LT(distance(around, a), 10 * kMotionRound);
  const auto F = BodyWrench::fromVector(randomVector6(rng));
  EXPECT_LT(distance(toBody(X, toMixed(X, toSpatial(X, F))), F), kMotionRound);
  const auto h = BodyMomentum::fromVector(randomVector6(rng));
  EXPECT_LT(distance(toBody(X, toMixed(X, toSpatial(X, h))), h), kMotionRound);
  EXPECT_EQ(toBody(X, V).vector(), V.vector());
}

// Power is one number in all three representations.
TEST(MotionTypes, PowerIsInvariant) {
  std::mt19937 rng(4);
  for (int trial = 0; trial < 20; ++trial) {
    const Pose X = randomPose(rng);
    const auto V = BodyTwist::fromVector(randomVector6(rng));
    const auto F = BodyWrench::fromVector(randomVector6(rng));
    EXPECT_NEAR(power(toSpatial(X, V), toSpatial(X, F)), power(V, F), 10 * kMotionRound);
    EXPECT_NEAR(power(toMixed(X, V), toMixed(X, F)), power(V, F), 10 * kMotionRound);
  }
}

// The 6x6 transforms are those of the typed conversions, and dual to each other.
TEST(MotionTypes, TransformMatrices) {
  using enum Representation;
  std::mt19937 rng(5);
  const Pose X = randomPose(rng);
  const auto V = BodyTwist::fromVector(randomVector6(rng));
  const auto F = MixedWrench::fromVector(randomVector6(rng));
  EXPECT_LT((motionTransform(kMixed, kBody, X) * V.vector() - toMixed(X, V).vector()).norm(),
            kMotionRound);
  EXPECT_LT((motionTransform(kSpatial, kBody, X) - velocityAdjoint(X)).norm(), kMotionRound);
  EXPECT_LT((forceTransform(kSpatial, kMixed, X) * F.vector() - toSpatial(X, F).vector()).norm(),
            kMotionRound);
  for (auto to : {kBody, kSpatial, kMixed, kSensor}) {
    for (auto from : {kBody, kSpatial, kMixed, kSensor}) {
      const Matrix6d product =
          motionTransform(to, from, X).transpose() * forceTransform(to, from, X);
      EXPECT_LT((product - Matrix6d::Identity()).norm(), kMotionRound);
    }
  }
}

// --- gravity
// --------------------------------------------------------------------------------------

// A body in free fall, tumbling or not, reads zero proper linear acceleration at its centre.
TEST(MotionTypes, FreeFallReadsZero) {
  std::mt19937 rng(6);
  const Vector3d g(0.0, 0.0, -9.81);
  const Pose X = randomPose(rng);
  const auto V = BodyTwist::fromVector(randomVector6(rng));
  const MixedAcceleration fall{g, Vector3d::Zero()};
  const auto proper = toProper(X, g, fall);
  EXPECT_EQ(proper.vector(), Vector6d::Zero());
  EXPECT_LT(toSensor(X, V, proper).vector().norm(), kMotionRound);
  EXPECT_LT(toProper(X, g, toSensor(X, V, fall)).vector().norm(), kMotionRound);
}

// A body at rest reads minus gravity in its own axes: an accelerometer on a table shows +9.81 up.
TEST(MotionTypes, RestReadsMinusGravity) {
  std::mt19937 rng(7);
  const Vector3d g(0.0, 0.0, -9.81);
  const Pose X = randomPose(rng);
  const auto reading = toProper(X, g, SensorAcceleration{});
  EXPECT_LT((reading.linear + X.R.transpose() * g).norm(), kMotionRound);
  EXPECT_EQ(reading.angular, Vector3d::Zero());
}

// Subtracting gravity and changing representation commute, and adding it back undoes it.
TEST(MotionTypes, ProperAccelerationsFollowTheSameTable) {
  std::mt19937 rng(8);
  const Vector3d g = randomVector(rng, 9.81);
  const Pose X = randomPose(rng);
  const auto V = BodyTwist::fromVector(randomVector6(rng));
  const auto a = BodyAcceleration::fromVector(randomVector6(rng));
  const auto proper = toProper(X, g, a);
  const double tolerance = 100 * kMotionRound;
  EXPECT_LT(distance(toSpatial(X, V, proper), toProper(X, g, toSpatial(X, V, a))), tolerance);
  EXPECT_LT(distance(toMixed(X, V, proper), toProper(X, g, toMixed(X, V, a))), tolerance);
  EXPECT_LT(distance(toSensor(X, V, proper), toProper(X, g, toSensor(X, V, a))), tolerance);
  EXPECT_LT(distance(toCoordinate(X, g, proper), a), tolerance);
  const auto mixed = toMixed(X, V, a);
  EXPECT_LT(distance(toCoordinate(X, g, toProper(X, g, mixed)), mixed), tolerance);
}

// --- the spinning wheel
// ---------------------------------------------------------------------------

Vector6d six(double a, double b, double c, double d, double e, double f) {
  return (Vector6d() << a, b, c, d, e, f).finished();
}

// A point on the rim of a wheel about z through o: every representation has a closed form.
TEST(MotionTypes, SpinningWheel) {
  const double r = 0.4, ox = 1.5, oy = -0.7, gravity = 9.81;
  for (double theta : {0.0, 0.5, 2.0, 3.14159265358979, -1.0}) {
    for (const auto& [rate, accel] : {std::array{2.0, 3.0}, std::array{5.0, 0.0}}) {
      const double c = std::cos(theta), s = std::sin(theta);
      const Matrix3d R = rotationExp({0.0, 0.0, theta});
      const Pose X{R, Vector3d(ox, oy, 0.0) + R * Vector3d(0.0, r, 0.0)};
      const auto V = BodyTwist::fromVector(rate * six(-r, 0, 0, 0, 0, 1));
      EXPECT_LT((toSpatial(X, V).vector() - rate * six(oy, -ox, 0, 0, 0, 1)).norm(), kMotionRound);
      EXPECT_LT((toMixed(X, V).vector() - rate * six(-r * c, -r * s, 0, 0, 0, 1)).norm(),
                kMotionRound);

      const auto a = BodyAcceleration::fromVector(accel * six(-r, 0, 0, 0, 0, 1));
      const double spin = r * rate * rate;
      const Vector6d spatial = accel * six(oy, -ox, 0, 0, 0, 1);
      const Vector6d mixed =
          six(-r * c * accel + spin * s, -r * s * accel - spin * c, 0, 0, 0, accel);
      const Vector6d sensor = six(-r * accel, -spin, 0, 0, 0, accel);
      const Vector6d proper = six(-r * accel + gravity * s, -spin + gravity * c, 0, 0, 0, accel);
      EXPECT_LT((toSpatial(X, V, a).vector() - spatial).norm(), kMotionRound);
      EXPECT_LT((toMixed(X, V, a).vector() - mixed).norm(), 10 * kMotionRound);
      EXPECT_LT((toSensor(X, V, a).vector() - sensor).norm(), 10 * kMotionRound);
      const Vector3d g(0.0, -gravity, 0.0);
      EXPECT_LT((toProper(X, g, toSensor(X, V, a)).vector() - proper).norm(), 10 * kMotionRound);
    }
  }
}

// NaN in one component is still there after a conversion.
TEST(MotionTypes, NanIsKept) {
  BodyTwist V;
  V.linear.x() = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(toSpatial(Pose::identity(), V).vector().hasNaN());
}

}  // namespace
}  // namespace proprio
