#include "proprio/spatial/motion_composition.h"

#include <gtest/gtest.h>

#include "proprio/spatial/se3.h"
#include "proprio/spatial/testing/test_utilities.h"

namespace proprio {
namespace {

using testing::derivative;
using testing::SmoothMotion;

constexpr double kCompositionFirst = 1e-8;
constexpr double kCompositionSecond = 1e-6;
constexpr double kCompositionRound = 1e-12;

struct State {
  Pose X;
  BodyTwist V;
  BodyAcceleration A;
};

template <class MotionOfTime>
Vector6d bodyTwistOf(const MotionOfTime& motion, double t) {
  const Eigen::Matrix4d H_dot = derivative([&](double s) { return motion(s).matrix(); }, t);
  return twistVee(motion(t).inverse().matrix() * H_dot);
}

template <class MotionOfTime>
State stateOf(const MotionOfTime& motion, double t) {
  const auto twist = [&](double s) { return bodyTwistOf(motion, s); };
  return {motion(t), BodyTwist::fromVector(twist(t)),
          BodyAcceleration::fromVector(derivative(twist, t, 1e-2))};
}

class Composition : public ::testing::Test {
 protected:
  void SetUp() override {
    std::mt19937 rng(seed_);
    const auto first = SmoothMotion::random(rng), second = SmoothMotion::random(rng);
    AB = stateOf(first, t_);
    BD = stateOf(second, t_);
    AD = stateOf([&](double s) { return first(s) * second(s); }, t_);
    second_tolerance = kCompositionSecond * (1.0 + AD.A.vector().norm());
  }
  const unsigned seed_ = 11;
  const double t_ = 0.1;
  State AB, BD, AD;
  double second_tolerance = 0.0;
};

template <class A>
double composedDistance(const A& a, const A& b) {
  return (a.vector() - b.vector()).norm();
}

// Body twists and accelerations of a composed motion obey the left law.
TEST_F(Composition, Body) {
  EXPECT_LT(composedDistance(composeBody(BD.X, AB.V, BD.V), AD.V), kCompositionFirst);
  EXPECT_LT(composedDistance(composeBody(BD.X, AB.V, BD.V, AB.A, BD.A), AD.A), second_tolerance);
}

// Spatial twists and accelerations obey the right law.
TEST_F(Composition, Spatial) {
  const auto V_AB = toSpatial(AB.X, AB.V), V_BD = toSpatial(BD.X, BD.V);
  EXPECT_LT(composedDistance(composeSpatial(AB.X, V_AB, V_BD), toSpatial(AD.X, AD.V)),
            kCompositionFirst);
  const auto A =
      composeSpatial(AB.X, V_AB, V_BD, toSpatial(AB.X, AB.V, AB.A), toSpatial(BD.X, BD.V, BD.A));
  EXPECT_LT(composedDistance(A, toSpatial(AD.X, AD.V, AD.A)), second_tolerance);
}

// Mixed twists and accelerations obey the law with centripetal and Coriolis terms.
TEST_F(Composition, Mixed) {
  const auto V_AB = toMixed(AB.X, AB.V), V_BD = toMixed(BD.X, BD.V);
  EXPECT_LT(composedDistance(composeMixed(AB.X, BD.X, V_AB, V_BD), toMixed(AD.X, AD.V)),
            kCompositionFirst);
  const auto A =
      composeMixed(AB.X, BD.X, V_AB, V_BD, toMixed(AB.X, AB.V, AB.A), toMixed(BD.X, BD.V, BD.A));
  EXPECT_LT(composedDistance(A, toMixed(AD.X, AD.V, AD.A)), second_tolerance);
}

// Sensor accelerations compose from angular velocity alone, without pose or speed of B in A.
TEST_F(Composition, Sensor) {
  const auto V_BD = toMixed(BD.X, BD.V);
  const auto A = composeSensor(BD.X, AB.V.angular, V_BD, toSensor(AB.X, AB.V, AB.A),
                               toSensor(BD.X, BD.V, BD.A));
  EXPECT_LT(composedDistance(A, toSensor(AD.X, AD.V, AD.A)), second_tolerance);
  EXPECT_LT((composeAngularVelocity(BD.X, AB.V.angular, V_BD.angular) - AD.V.angular).norm(),
            kCompositionFirst);
}

// Proper accelerations compose by the same four laws: subtracting gravity before or after agrees.
TEST_F(Composition, ProperInAllForms) {
  const Vector3d g(1.0, -2.0, -9.0);
  const auto V_AB_s = toSpatial(AB.X, AB.V), V_BD_s = toSpatial(BD.X, BD.V);
  const auto V_AB_m = toMixed(AB.X, AB.V), V_BD_m = toMixed(BD.X, BD.V);
  const Pose X_AD = AB.X * BD.X;
  const auto check = [&](const auto& compose, const auto& A_AB) {
    EXPECT_LT(composedDistance(compose(toProper(AB.X, g, A_AB)), toProper(X_AD, g, compose(A_AB))),
              100 * kCompositionRound);
  };
  check([&](const auto& A) { return composeBody(BD.X, AB.V, BD.V, A, BD.A); }, AB.A);
  check(
      [&](const auto& A) {
        return composeSpatial(AB.X, V_AB_s, V_BD_s, A, toSpatial(BD.X, BD.V, BD.A));
      },
      toSpatial(AB.X, AB.V, AB.A));
  check(
      [&](const auto& A) {
        return composeMixed(AB.X, BD.X, V_AB_m, V_BD_m, A, toMixed(BD.X, BD.V, BD.A));
      },
      toMixed(AB.X, AB.V, AB.A));
  check(
      [&](const auto& A) {
        return composeSensor(BD.X, AB.V.angular, V_BD_m, A, toSensor(BD.X, BD.V, BD.A));
      },
      toSensor(AB.X, AB.V, AB.A));
}

// Composition with a frame that does not move relative to B is a change of frame by the adjoint.
TEST_F(Composition, RigidlyAttachedFrame) {
  const auto V = composeBody(BD.X, AB.V, BodyTwist{});
  EXPECT_LT((V.vector() - velocityAdjoint(BD.X.inverse()) * AB.V.vector()).norm(),
            kCompositionRound);
  // pure spin: an accelerometer off the axis feels the pull towards it, -w x (w x p) from B's side
  const Pose offset{Matrix3d::Identity(), {0.3, 0.0, 0.0}};
  const auto a = composeSensor(offset, {0.0, 0.0, 2.0}, MixedTwist{}, SensorAcceleration{},
                               SensorAcceleration{});
  EXPECT_LT((a.linear - Vector3d(-0.3 * 4.0, 0.0, 0.0)).norm(), kCompositionRound);
}

}  // namespace
}  // namespace proprio
