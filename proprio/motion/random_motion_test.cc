#include "proprio/motion/random_motion.h"

#include <gtest/gtest.h>

#include <limits>

#include "proprio/motion/single_joint.h"
#include "proprio/motion/testing/motion_checks.h"
#include "proprio/motion/testing/motion_limits_for_test.h"

namespace proprio {
namespace {

void expectWithin(const Trajectory& motion, const MotionLimits& limits) {
  for (const Violation& violation : violations(extremes(motion), limits))
    ADD_FAILURE() << sentence(violation);
}

const Eigen::Vector3d kStart(0.2, -0.5, 1.0);

// Random motions of every kind and many seeds stay within the limits and start and end at rest.
TEST(RandomMotion, KeepsLimits) {
  const MotionLimits limits = threeJoints();
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const PiecewisePolynomial stops = randomStops(kStart, 10, seed, limits);
    const PiecewisePolynomial spline = randomSpline(kStart, 10, seed, limits);
    const FourierSeries series = randomFourierWithin(kStart, 5, 8.0, seed, limits);
    for (const Trajectory* motion :
         {static_cast<const Trajectory*>(&stops), static_cast<const Trajectory*>(&spline),
          static_cast<const Trajectory*>(&series)}) {
      expectWithin(*motion, limits);
      expectRestAtBothEnds(*motion, 1e-8);
      EXPECT_LT((stateAt(*motion, 0.0).q - kStart).norm(), 1e-12);
      EXPECT_LT((stateAt(*motion, motion->duration()).q - kStart).norm(), 1e-9);
    }
    EXPECT_LT(jumpsAtBreaks(spline).a, 1e-4);
    // the spline covers more than half of every range, and uses at least one limit to the full
    const MotionExtremes found = extremes(spline);
    EXPECT_GT(
        ((found.highest - found.lowest).array() / (limits.upper - limits.lower).array()).minCoeff(),
        0.5);
    EXPECT_LT(spline.duration(), 2.0 * stops.duration());
    EXPECT_NEAR(std::max((found.velocity.array() / limits.velocity.array()).maxCoeff(),
                         (found.acceleration.array() / limits.acceleration.array()).maxCoeff()),
                1.0, 1e-6);
  }
}

// Each joint of a Fourier series touches at least one of its limits.
TEST(RandomMotion, FourierFillsTheLimits) {
  const MotionLimits limits = threeJoints();
  const MotionExtremes found = extremes(randomFourierWithin(kStart, 5, 8.0, 3, limits));
  for (int i = 0; i < 3; ++i) {
    const double room = std::min(
        {limits.upper[i] - found.highest[i], found.lowest[i] - limits.lower[i],
         limits.velocity[i] - found.velocity[i], limits.acceleration[i] - found.acceleration[i]});
    EXPECT_NEAR(room, 0.0, 1e-9);
  }
}

// The same seed gives the same points; postures fill the range.
TEST(RandomMotion, PosturesFillTheRange) {
  const MotionLimits limits = threeJoints();
  const Eigen::MatrixXd points = randomPostures(kStart, 2000, 7, limits);
  EXPECT_EQ(points, randomPostures(kStart, 2000, 7, limits));
  for (int i = 0; i < 3; ++i) {
    const double range = limits.upper[i] - limits.lower[i];
    EXPECT_GE(points.col(i).minCoeff(), limits.lower[i]);
    EXPECT_LE(points.col(i).maxCoeff(), limits.upper[i]);
    EXPECT_LT(points.col(i).minCoeff(), limits.lower[i] + 0.01 * range);
    // mean of a uniform variable, four standard deviations of the mean of 2000
    EXPECT_NEAR(points.col(i).mean(), limits.lower[i] + range / 2,
                4 * range / std::sqrt(12.0 * 2000));
  }
}

// A continuous joint turns at most half a turn to either side.
TEST(RandomMotion, ContinuousJoints) {
  MotionLimits limits = threeJoints();
  limits.lower[0] = -std::numeric_limits<double>::infinity();
  limits.upper[0] = std::numeric_limits<double>::infinity();
  const Eigen::MatrixXd points = randomPostures(kStart, 500, 7, limits);
  EXPECT_GT(points.col(0).maxCoeff(), 0.2 + 3.0);
  EXPECT_LT(points.col(0).maxCoeff(), 0.2 + 3.1416);
  expectWithin(randomSpline(kStart, 4, 1, limits), limits);
}

// Missing limits and impossible starts name the joint.
TEST(RandomMotion, BadInput) {
  const auto refused = [](const auto& call, const std::string& part) {
    const std::string message = messageOf(call);
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  MotionLimits limits = threeJoints();
  refused([&] { randomStops(kStart, 0, 1, limits); }, "0 random postures");
  refused([&] { randomStops(Eigen::Vector2d::Zero(), 3, 1, limits); }, "2 joints");
  refused([&] { randomStops(Eigen::Vector3d(0, -9, 0), 3, 1, limits); },
          "joint 'two' starts at -9, outside its range -2 .. 2");
  refused([&] { randomFourierWithin(Eigen::Vector3d(0, 2, 0), 4, 1.0, 1, limits); },
          "joint 'two' starts at its position limit 2");
  limits.upper[2] = NAN;
  refused([&] { randomSpline(kStart, 3, 1, limits); }, "joint 'three' states no position limits");
  limits = threeJoints();
  limits.acceleration[0] = NAN;
  refused([&] { randomSpline(kStart, 3, 1, limits); }, "joint 'one' states no acceleration limit");
}

// A friction sweep moves one joint at a time; on every plateau its speed is the reported one and
// its acceleration zero, and the plateaus cover what they promise of the range in both directions.
TEST(SingleJoint, FrictionSweepHasItsPlateaus) {
  const MotionLimits limits = threeJoints();
  for (const Profile profile : {Profile::kTrapezoid, Profile::kDoubleS}) {
    FrictionSweepOptions options;
    options.profile = profile;
    const FrictionSweep sweep = frictionSweep(kStart, limits, options);
    ASSERT_EQ(sweep.plateaus.size(), 3u * 6u * 2u);
    expectWithin(sweep.motion, limits);
    EXPECT_LT((stateAt(sweep.motion, sweep.motion.duration()).q - kStart).norm(), 1e-9);
    for (const Plateau& plateau : sweep.plateaus) {
      const int i = plateau.joint;
      for (const double share : {0.001, 0.5, 0.999}) {
        const double t = plateau.begin + share * (plateau.end - plateau.begin);
        const StateAt state = stateAt(sweep.motion, t);
        EXPECT_NEAR(state.v[i], plateau.speed, 1e-9);
        EXPECT_NEAR(state.a[i], 0.0, 1e-9);
        EXPECT_NEAR(state.q[i], plateau.from + share * (plateau.until - plateau.from), 1e-9);
        for (int other = 0; other < 3; ++other) {
          if (other != i) {
            EXPECT_NEAR(state.q[other], kStart[other], 1e-12);
          }
        }
      }
      EXPECT_GE(std::abs(plateau.until - plateau.from),
                0.5 * (limits.upper[i] - limits.lower[i]) * (1 - 1e-9));
    }
    // speeds in both directions, from slow to as fast as the range allows
    EXPECT_NEAR(sweep.plateaus[0].speed, 0.05 * limits.velocity[0], 1e-12);
    EXPECT_NEAR(sweep.plateaus[1].speed, -0.05 * limits.velocity[0], 1e-12);
    EXPECT_GT(sweep.plateaus[10].speed, 0.4 * limits.velocity[0]);
  }
}

// Speeds that cannot be are refused with the fastest that can.
TEST(SingleJoint, FrictionSweepRefusesImpossibleSpeeds) {
  const MotionLimits limits = threeJoints();
  const auto refused = [&](const FrictionSweepOptions& options, const std::string& part) {
    const std::string message = messageOf([&] { frictionSweep(kStart, limits, options); });
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  FrictionSweepOptions options;
  options.speeds = {0.1, 1.5};
  refused(options, "joint 'two' cannot be swept at 1.5");
  options.speeds = {-0.1};
  refused(options, "joint 'one' cannot be swept at -0.1");
  options = {};
  options.profile = Profile::kMinimumJerk;
  refused(options, "no plateau");
  options = {};
  options.joints = {7};
  refused(options, "no joint 7");
  options = {};
  options.speed_count = 0;
  refused(options, "0 speeds");
  options = {};
  options.joints = {1};
  options.speeds = {0.5};
  EXPECT_EQ(frictionSweep(kStart, limits, options).plateaus.size(), 2u);
}

// Inertia strokes accelerate all the time, reach the acceleration limit, move one joint at a time.
TEST(SingleJoint, InertiaStrokesAccelerate) {
  const MotionLimits limits = threeJoints();
  InertiaStrokesOptions options;
  options.profile = Profile::kTrapezoid;
  const PiecewisePolynomial motion = inertiaStrokes(kStart, limits, options);
  expectWithin(motion, limits);
  EXPECT_LT((stateAt(motion, motion.duration()).q - kStart).norm(), 1e-9);
  const MotionSamples samples = sample(motion, 997.0, {"one", "two", "three"});
  int accelerating = 0;
  for (Eigen::Index k = 0; k < samples.samples(); ++k) {
    const int moving = static_cast<int>((samples.v.row(k).array().abs() > 1e-12).count());
    EXPECT_LE(moving, 1);
    if ((samples.a.row(k).array().abs() > 0.99 * limits.acceleration.transpose().array()).any())
      ++accelerating;
  }
  EXPECT_GT(accelerating, 0.9 * static_cast<double>(samples.samples()));
  expectWithin(inertiaStrokes(kStart, limits), limits);
  options.lengths = {2.0};
  EXPECT_NE(messageOf([&] { inertiaStrokes(kStart, limits, options); }).find("of the longest"),
            std::string::npos);
}

// One Fourier series after the other, each of one joint.
TEST(SingleJoint, FourierOneAfterTheOther) {
  const MotionLimits limits = threeJoints();
  const Sequence motion = singleJointFourier(kStart, 4, 5.0, 2, limits);
  EXPECT_EQ(motion.duration(), 15.0);
  expectWithin(motion, limits);
  expectRestAtBothEnds(motion, 1e-9);
  for (int i = 0; i < 3; ++i) {
    const StateAt state = stateAt(motion, 5.0 * i + 1.3);
    for (int other = 0; other < 3; ++other) EXPECT_EQ(std::abs(state.v[other]) > 1e-9, other == i);
  }
  EXPECT_EQ(singleJointFourier(kStart, 4, 5.0, 2, limits, {2, 0}).duration(), 10.0);
}

}  // namespace
}  // namespace proprio
