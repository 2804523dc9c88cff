#include "proprio/spatial/newton_euler.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>

#include "proprio/spatial/se3.h"
#include "proprio/spatial/testing/test_utilities.h"

namespace proprio {
namespace {

using testing::derivative;
using testing::randomBody;
using testing::randomPose;
using testing::randomVector;
using testing::randomVector6;

constexpr double kWrenchRound = 1e-11;  // wrenches of order 100
constexpr double kWrenchDifference = 1e-7;

// The four forms of the Newton-Euler equation give one and the same wrench.
TEST(NewtonEuler, FourFormsAgree) {
  std::mt19937 rng(1);
  const Vector3d g(0.0, 0.0, -9.81);
  for (int trial = 0; trial < 20; ++trial) {
    const auto body = randomBody(rng);
    const Pose X = randomPose(rng);
    const auto V = BodyTwist::fromVector(randomVector6(rng));
    const auto a = toProper(X, g, BodyAcceleration::fromVector(randomVector6(rng)));
    const BodyWrench f = newtonEuler(body, V, a);

    const auto spatial = newtonEuler(X, body, toSpatial(X, V), toSpatial(X, V, a));
    EXPECT_LT((toBody(X, spatial) - f).vector().norm(), kWrenchRound);
    const auto mixed = newtonEuler(X, body, toMixed(X, V).angular, toMixed(X, V, a));
    EXPECT_LT((toBody(X, mixed) - f).vector().norm(), kWrenchRound);
    const auto sensor = newtonEuler(body, V.angular, toSensor(X, V, a));
    EXPECT_LT((sensor - f).vector().norm(), kWrenchRound);
    const Vector6d matrix_form =
        body.matrix() * a.vector() + forceCrossMatrix(V.vector()) * body.matrix() * V.vector();
    EXPECT_LT((f.vector() - matrix_form).norm(), kWrenchRound);
  }
}

// The wrench of a point mass is m (acceleration - gravity), acting at the point.
TEST(NewtonEuler, PointMassObeysNewton) {
  std::mt19937 rng(2);
  const Vector3d g(0.0, 0.0, -9.81), p_B = randomVector(rng);
  const double m = 1.7;
  const auto body = InertialParameters::fromCom(m, p_B, Matrix3d::Zero());
  const auto motion = testing::SmoothMotion::random(rng);
  const double t = 0.1;
  const auto twist = [&](double s) {
    return twistVee(motion(s).inverse().matrix() *
                    derivative([&](double u) { return motion(u).matrix(); }, s));
  };
  const auto velocity = [&](double s) {
    return derivative([&](double u) { return (motion(u) * p_B).eval(); }, s);
  };
  const Vector3d acceleration = derivative(velocity, t, 1e-2);
  const Vector3d force_B = motion(t).R.transpose() * (m * (acceleration - g));

  const auto V = BodyTwist::fromVector(twist(t));
  const auto A = BodyAcceleration::fromVector(derivative(twist, t, 1e-2));
  const auto f = newtonEuler(body, V, toProper(motion(t), g, A));
  EXPECT_LT((f.force - force_B).norm(), kWrenchDifference * (1.0 + force_B.norm()));
  EXPECT_LT((f.torque - skew(p_B) * force_B).norm(), kWrenchDifference * (1.0 + force_B.norm()));
}

// Weight acts at the centre of mass, and a body at rest is held by minus its weight.
TEST(NewtonEuler, RestIsHeldByMinusWeight) {
  std::mt19937 rng(3);
  const Vector3d g(0.0, 0.0, -9.81);
  const auto body = randomBody(rng);
  const Pose X = randomPose(rng);
  const auto f = newtonEuler(body, Vector3d::Zero(), toProper(X, g, SensorAcceleration{}));
  EXPECT_LT((f + gravityWrench(X, body, g)).vector().norm(), kWrenchRound);
  EXPECT_NEAR(f.force.norm(), body.mass * 9.81, kWrenchRound);
  EXPECT_LT((f.torque - skew(body.com()) * f.force).norm(), kWrenchRound);
}

// A massless body needs no wrench, however it moves.
TEST(NewtonEuler, MasslessBodyNeedsNoWrench) {
  std::mt19937 rng(4);
  const auto V = BodyTwist::fromVector(randomVector6(rng));
  const auto a = ProperBodyAcceleration::fromVector(randomVector6(rng));
  EXPECT_EQ(newtonEuler(InertialParameters{}, V, a).vector(), Vector6d::Zero());
  EXPECT_EQ(centroidalMomentum(Pose{}, InertialParameters{}, V).vector(), Vector6d::Zero());
}

struct RigidBodyState {
  Pose X;
  BodyTwist V;
};

// One Runge-Kutta-Munthe-Kaas step of a free body in gravity.
RigidBodyState step(const InertialParameters& body, const RigidBodyState& x, const Vector3d& g,
                    double h) {
  const Matrix6d M_inverse = body.matrix().inverse();
  // local coordinates: X = x.X exp(u), u' = V up to the second bracket, enough for order four
  const auto rate = [&](const Vector6d& u, const Vector6d& V) {
    const Vector6d c = motionCross(u, V);
    const Vector6d u_dot = V + 0.5 * c + motionCross(u, c) / 12.0;
    const auto f = newtonEuler(body, BodyTwist::fromVector(V), ProperBodyAcceleration{}) -
                   gravityWrench(x.X * poseExp(u), body, g);
    Eigen::Matrix<double, 12, 1> result;
    result << u_dot, -M_inverse * f.vector();
    return result;
  };
  using Vector12d = Eigen::Matrix<double, 12, 1>;
  Vector12d y;
  y << Vector6d::Zero(), x.V.vector();
  const auto at = [&](const Vector12d& s) { return rate(s.head<6>(), s.tail<6>()); };
  const Vector12d k1 = at(y), k2 = at(y + 0.5 * h * k1), k3 = at(y + 0.5 * h * k2),
                  k4 = at(y + h * k3);
  y += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
  return {x.X * poseExp(y.head<6>()), BodyTwist::fromVector(y.tail<6>())};
}

// A thrown tumbling body conserves energy and angular momentum about its centre of mass; its linear
// momentum grows by the weight, its momentum about the world origin by weight and lever.
TEST(NewtonEuler, ThrownBodyConservesWhatItShould) {
  std::mt19937 rng(5);
  const auto body = randomBody(rng);
  const Vector3d g(0.0, 0.0, -9.81);
  RigidBodyState x{randomPose(rng), BodyTwist::fromVector(3.0 * randomVector6(rng))};
  const double energy = kineticEnergy(body, x.V) + potentialEnergy(x.X, body, g);
  const auto centroidal = centroidalMomentum(x.X, body, x.V);
  const auto spatial = toSpatial(x.X, momentum(body, x.V));

  const int steps = 2000;
  const double h = 5e-4, duration = steps * h;
  Vector6d impulse = Vector6d::Zero();  // trapezoidal sum of the momentum rate
  for (int k = 0; k < steps; ++k) {
    const auto before = momentumRate(x.X, body, g, SpatialWrench{}).vector();
    x = step(body, x, g, h);
    impulse += 0.5 * h * (before + momentumRate(x.X, body, g, SpatialWrench{}).vector());
  }
  // fourth order: (h |V|)^4 times the duration
  const double integration = 1e-7;
  EXPECT_NEAR(kineticEnergy(body, x.V) + potentialEnergy(x.X, body, g), energy,
              integration * std::abs(energy));
  const auto after = centroidalMomentum(x.X, body, x.V);
  EXPECT_LT((after.angular - centroidal.angular).norm(), integration * centroidal.angular.norm());
  EXPECT_LT((after.linear - centroidal.linear - duration * body.mass * g).norm(),
            integration * 100);
  const auto growth = toSpatial(x.X, momentum(body, x.V)) - spatial;
  // the trapezoidal rule is of second order
  EXPECT_LT((growth.vector() - impulse).norm(), 1e-5 * impulse.norm());
}

// The centroidal momentum changes by the external wrench reduced to the centre of mass.
TEST(NewtonEuler, CentroidalMomentumRate) {
  std::mt19937 rng(6);
  const auto body = randomBody(rng);
  const Vector3d g(0.0, 0.0, -9.81);
  const auto motion = testing::SmoothMotion::random(rng);
  const double t = 0.05;
  const auto twist = [&](double s) {
    return twistVee(motion(s).inverse().matrix() *
                    derivative([&](double u) { return motion(u).matrix(); }, s));
  };
  const auto centroidal = [&](double s) {
    return centroidalMomentum(motion(s), body, BodyTwist::fromVector(twist(s))).vector();
  };
  const auto A = BodyAcceleration::fromVector(derivative(twist, t, 1e-2));
  const auto external =
      newtonEuler(body, BodyTwist::fromVector(twist(t)), toProper(motion(t), g, A));
  const auto rate = centroidalMomentumRate(motion(t), body, g, external);
  EXPECT_LT((derivative(centroidal, t, 1e-2) - rate.vector()).norm(),
            kWrenchDifference * (1.0 + rate.vector().norm()));
}

// Kinetic energy is 1/2 V^T M V and equals the sum over the centre of mass and the rotation.
TEST(NewtonEuler, KineticEnergy) {
  std::mt19937 rng(7);
  const auto body = randomBody(rng);
  const auto V = BodyTwist::fromVector(randomVector6(rng));
  const Vector3d v_C = V.linear + skew(V.angular) * body.com();
  const double expected =
      0.5 * body.mass * v_C.squaredNorm() + 0.5 * V.angular.dot(body.inertiaAtCom() * V.angular);
  EXPECT_NEAR(kineticEnergy(body, V), expected, kWrenchRound);
  EXPECT_NEAR(kineticEnergy(body, V), 0.5 * V.vector().dot(body.matrix() * V.vector()),
              kWrenchRound);
}

}  // namespace
}  // namespace proprio
