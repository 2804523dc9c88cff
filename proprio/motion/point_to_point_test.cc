#include "proprio/motion/point_to_point.h"

#include <gtest/gtest.h>

#include <limits>

#include "proprio/motion/sequence.h"
#include "proprio/motion/testing/motion_checks.h"
#include "proprio/motion/testing/motion_limits_for_test.h"

namespace proprio {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr Profile kProfiles[] = {Profile::kTrapezoid, Profile::kDoubleS, Profile::kMinimumJerk};

// Distance, from the times by the areas under the velocity: v (acceleration + cruise), and the
// limits that each case says it reaches.
TEST(PointToPoint, TimesOfEveryCase) {
  struct Case {
    const char* what;
    double distance, v, a, j;
    bool cruise, flat;  ///< reaches the velocity, the acceleration limit
  };
  const Case cases[] = {
      {"long, both limits reached", 10.0, 2.0, 4.0, 20.0, true, true},
      {"long, acceleration limit not reached", 10.0, 1.0, 10.0, 20.0, true, false},
      {"short, velocity limit not reached", 1.0, 10.0, 4.0, 40.0, false, true},
      {"very short, neither reached", 0.01, 10.0, 4.0, 20.0, false, false},
      {"trapezoid", 10.0, 2.0, 4.0, kInfinite, true, true},
      {"triangle", 0.5, 2.0, 4.0, kInfinite, false, true},
  };
  for (const Case& c : cases) {
    const RestToRestTimes times = restToRestTimes(c.distance, c.v, c.a, c.j);
    const double tj = times.jerk_phase, ta = times.acceleration;
    const double peak_v = c.distance / (ta + times.cruise), peak_a = peak_v / (ta - tj);
    EXPECT_EQ(times.cruise > 0.0, c.cruise) << c.what;
    EXPECT_EQ(ta - 2 * tj > 1e-9, c.flat) << c.what;
    EXPECT_LE(peak_v, c.v * (1 + 1e-12)) << c.what;
    EXPECT_LE(peak_a, c.a * (1 + 1e-12)) << c.what;
    if (c.cruise) {
      EXPECT_NEAR(peak_v, c.v, 1e-12) << c.what;
    }
    if (c.flat) {
      EXPECT_NEAR(peak_a, c.a, 1e-12) << c.what;
    }
    if (c.j < kInfinite) {
      EXPECT_NEAR(peak_a / tj, c.j, 1e-9) << c.what;
    }
  }
  EXPECT_EQ(restToRestTimes(0.0, 1, 1, 1).duration(), 0.0);
  EXPECT_NE(messageOf([] { restToRestTimes(1.0, 0.0, 1, 1); }).find("velocity 0"),
            std::string::npos);
}

// The times are continuous in the distance: no jump where one case hands over to the next.
TEST(PointToPoint, CasesMeet) {
  double before = restToRestTimes(1e-9, 2.0, 4.0, 20.0).duration();
  for (double distance = 1e-4; distance < 3.0; distance += 1e-4) {
    const double now = restToRestTimes(distance, 2.0, 4.0, 20.0).duration();
    EXPECT_GT(now, before);
    EXPECT_LT(now - before, 0.07) << distance;  // cube root at the start: 2 * 2 (1e-4 / 40)^(1/3)
    before = now;
  }
}

// Every profile keeps every limit for short and long ways, reaches the end exactly, rests there,
// and the joint with the least room uses one of its limits fully.
TEST(PointToPoint, KeepsLimitsAndUsesThem) {
  const MotionLimits limits = threeJoints();
  const Eigen::Vector3d from(0.1, -0.2, 0.3);
  for (const Profile profile : kProfiles) {
    for (const double scale : {1e-6, 1e-3, 0.05, 0.3, 1.0, 20.0}) {
      const Eigen::Vector3d to = from + scale * Eigen::Vector3d(0.8, -1.1, 0.4);
      const PiecewisePolynomial motion = pointToPoint(from, to, limits, profile);
      checkPolynomial(motion);
      expectDerivativesAgree(motion, 1e-5);
      EXPECT_LT((stateAt(motion, 0.0).q - from).norm(), 1e-15);
      EXPECT_LT((stateAt(motion, motion.duration()).q - to).norm(), 1e-13 * (1 + scale));
      EXPECT_LT(stateAt(motion, motion.duration()).v.norm(), 1e-12);
      const MotionExtremes found = extremes(motion);
      EXPECT_LT((found.velocity.array() / limits.velocity.array()).maxCoeff(), 1 + 1e-9);
      EXPECT_LT((found.acceleration.array() / limits.acceleration.array()).maxCoeff(), 1 + 1e-9);
      const Jumps jumps = jumpsAtBreaks(motion);
      EXPECT_LT(jumps.q, 1e-12);
      EXPECT_LT(jumps.v, 1e-9);
      if (profile != Profile::kTrapezoid) {
        EXPECT_LT(jumps.a, 1e-6);
        EXPECT_LT(stateAt(motion, 0.0).a.norm(), 1e-12);
        EXPECT_LT(stateAt(motion, motion.duration()).a.norm(), 1e-9);
      }
      const double used =
          std::max({(found.velocity.array() / limits.velocity.array()).maxCoeff(),
                    (found.acceleration.array() / limits.acceleration.array()).maxCoeff()});
      if (profile == Profile::kTrapezoid) {
        EXPECT_NEAR(used, 1.0, 1e-9);
      }
    }
  }
}

// The double-S keeps the jerk limit of every joint.
TEST(PointToPoint, DoubleSKeepsJerk) {
  const MotionLimits limits = threeJoints();
  for (const double scale : {1e-3, 0.3, 5.0}) {
    const PiecewisePolynomial motion =
        pointToPoint(Eigen::Vector3d::Zero(), scale * Eigen::Vector3d(1, 1, 1), limits);
    for (int k = 0; k < motion.pieces(); ++k) {
      const Eigen::Vector3d jerk = 6.0 * motion.coefficients.col(4 * k + 3);
      EXPECT_LT((jerk.array().abs() / limits.jerk.array()).maxCoeff(), 1 + 1e-9);
    }
  }
}

// Without jerk limit the double-S becomes the trapezoid; with a short way it takes longer.
TEST(PointToPoint, DoubleSTendsToTheTrapezoid) {
  MotionLimits limits = threeJoints();
  limits.jerk.setConstant(1e9);
  const Eigen::Vector3d to(1, 0.5, -1);
  const double smooth = pointToPoint(Eigen::Vector3d::Zero(), to, limits).duration();
  const double sharp =
      pointToPoint(Eigen::Vector3d::Zero(), to, limits, Profile::kTrapezoid).duration();
  EXPECT_NEAR(smooth, sharp, 1e-6);
  EXPECT_GT(pointToPoint(Eigen::Vector3d::Zero(), to, threeJoints()).duration(), sharp);
}

// Joints that do not move need no limits; those that do are named when a limit is missing.
TEST(PointToPoint, MissingLimits) {
  MotionLimits limits = threeJoints();
  limits.acceleration[1] = NAN;
  limits.velocity[2] = 0.0;
  const Eigen::Vector3d zero = Eigen::Vector3d::Zero();
  EXPECT_GT(pointToPoint(zero, Eigen::Vector3d(1, 0, 0), limits).duration(), 0.0);
  EXPECT_NE(messageOf([&] {
              pointToPoint(zero, Eigen::Vector3d(0, 1, 0), limits);
            }).find("joint 'two' states no acceleration limit"),
            std::string::npos);
  EXPECT_NE(messageOf([&] {
              pointToPoint(zero, Eigen::Vector3d(0, 0, 1), limits);
            }).find("joint 'three' has the velocity limit 0"),
            std::string::npos);
  EXPECT_NE(messageOf([&] {
              pointToPoint(zero, Eigen::Vector3d(NAN, 0, 1), limits);
            }).find("joint 'one' shall move from 0 to nan"),
            std::string::npos);
  EXPECT_NE(messageOf([&] { pointToPoint(zero, Eigen::Vector2d(1, 0), limits); }).find("2 joints"),
            std::string::npos);
}

// The same place takes no time; one point is a standstill of the dwell.
TEST(PointToPoint, NoDistance) {
  const MotionLimits limits = threeJoints();
  const Eigen::Vector3d here(0.1, 0.2, 0.3);
  for (const Profile profile : kProfiles) {
    const PiecewisePolynomial motion = pointToPoint(here, here, limits, profile);
    EXPECT_EQ(motion.duration(), 0.0);
    EXPECT_EQ(stateAt(motion, 0.0).q, here);
  }
  const PiecewisePolynomial one = alongPoints(here.transpose(), limits, Profile::kDoubleS, 0.5);
  EXPECT_EQ(one.duration(), 0.5);
  EXPECT_EQ(stateAt(one, 0.3).q, here);
  const PiecewisePolynomial none = alongPoints(here.transpose().replicate(3, 1), limits);
  EXPECT_EQ(none.duration(), 0.0);
  EXPECT_EQ(stateAt(none, 0.0).q, here);
  EXPECT_NE(messageOf([&] { alongPoints(Eigen::MatrixXd(0, 3), limits); }).find("no points"),
            std::string::npos);
}

// Through points it rests at each of them for the dwell.
TEST(PointToPoint, StopsAtEveryPoint) {
  const MotionLimits limits = threeJoints();
  Eigen::MatrixXd points(3, 3);
  points << 0, 0, 0, 1, -1, 0.5, 0.2, 0.1, 0;
  const PiecewisePolynomial motion = alongPoints(points, limits, Profile::kMinimumJerk, 0.25);
  const double first = pointToPoint(points.row(0).transpose(), points.row(1).transpose(), limits,
                                    Profile::kMinimumJerk)
                           .duration();
  const StateAt stop = stateAt(motion, 0.25 + first + 0.125);
  EXPECT_LT((stop.q.transpose() - points.row(1)).norm(), 1e-12);
  EXPECT_EQ(stop.v.norm(), 0.0);
  EXPECT_LT(jumpsAtBreaks(motion).v, 1e-9);
  EXPECT_LT((stateAt(motion, motion.duration()).q.transpose() - points.row(2)).norm(), 1e-12);
}

// A sequence plays its parts one after the other, and says where they do not meet.
TEST(Sequence, PartsFollowEachOther) {
  const MotionLimits limits = threeJoints();
  const Eigen::Vector3d zero = Eigen::Vector3d::Zero(), there(0.5, 0.2, 1.0);
  const auto out = std::make_shared<PiecewisePolynomial>(pointToPoint(zero, there, limits));
  const auto back =
      std::make_shared<PiecewisePolynomial>(pointToPoint(there, zero, limits, Profile::kTrapezoid));
  const auto wait = std::make_shared<PiecewisePolynomial>(standstill(there));
  const Sequence both = inSequence({out, wait, back});
  EXPECT_EQ(both.duration(), out->duration() + back->duration());
  expectDerivativesAgree(both, 1e-5);
  EXPECT_LT(
      (stateAt(both, 0.3 * out->duration()).v - stateAt(*out, 0.3 * out->duration()).v).norm(),
      1e-12);
  EXPECT_LT((stateAt(both, out->duration() + 0.1).v - stateAt(*back, 0.1).v).norm(), 1e-12);
  EXPECT_EQ(stateAt(both, 99.0).v.norm(), 0.0);
  EXPECT_EQ(stateAt(both, -1.0).a.norm(), 0.0);
  EXPECT_LT(stateAt(both, 99.0).q.norm(), 1e-12);
  EXPECT_NE(messageOf([&] {
              inSequence({out, out});
            }).find("part 2 of a sequence starts joint 1 with position 0, part 1 ends with 0.5"),
            std::string::npos);
  EXPECT_NE(messageOf([] { inSequence({}); }).find("without parts"), std::string::npos);
  EXPECT_NE(messageOf([&] {
              inSequence({out, std::make_shared<PiecewisePolynomial>(
                                   standstill(Eigen::Vector2d::Zero()))});
            }).find("has 2 joints"),
            std::string::npos);
}

// Half the speed doubles the time, halves velocities, quarters accelerations.
TEST(Sequence, SpeedScales) {
  const auto motion = std::make_shared<PiecewisePolynomial>(
      pointToPoint(Eigen::Vector3d::Zero(), Eigen::Vector3d(1, 1, 1), threeJoints()));
  const TimeScaled slow = atSpeed(motion, 0.5);
  EXPECT_EQ(slow.duration(), 2 * motion->duration());
  expectDerivativesAgree(slow, 1e-5);
  const StateAt one = stateAt(*motion, 0.4), half = stateAt(slow, 0.8);
  EXPECT_LT((one.q - half.q).norm(), 1e-14);
  EXPECT_LT((one.v - 2 * half.v).norm(), 1e-14);
  EXPECT_LT((one.a - 4 * half.a).norm(), 1e-13);
  for (const double speed : {0.0, -1.0, static_cast<double>(NAN)})
    EXPECT_NE(messageOf([&] { atSpeed(motion, speed); }).find("expected a positive number"),
              std::string::npos);
}

// Approach and return start and end at the posture and keep the limits.
TEST(Sequence, ApproachAndReturn) {
  const MotionLimits limits = threeJoints();
  const Eigen::Vector3d home(0.5, 1.0, 2.0);
  const auto motion = std::make_shared<PiecewisePolynomial>(
      pointToPoint(Eigen::Vector3d::Zero(), Eigen::Vector3d(1, 1, 1), limits));
  const Sequence whole = withApproachAndReturn(motion, home, limits);
  EXPECT_LT((stateAt(whole, 0.0).q - home).norm(), 1e-14);
  EXPECT_LT((stateAt(whole, whole.duration()).q - home).norm(), 1e-12);
  EXPECT_TRUE(violations(extremes(whole), limits).empty());
  // from where it already is, nothing is added
  EXPECT_EQ(withApproachAndReturn(motion, Eigen::Vector3d::Zero(), limits).starts[1], 0.0);
  PiecewisePolynomial moving = *motion;
  moving.coefficients.col(1) += Eigen::Vector3d(0.1, 0, 0);
  EXPECT_NE(messageOf([&] {
              withApproachAndReturn(std::make_shared<PiecewisePolynomial>(moving), home, limits);
            }).find("starts with velocity 0.1"),
            std::string::npos);
}

}  // namespace
}  // namespace proprio
