#include "proprio/spatial/newton_euler.h"

#include <Eigen/Geometry>

#include "proprio/spatial/se3.h"

namespace proprio {
namespace {

// M x = (m a + b x mc, mc x a + I b) for a motion x = (a, b).
Vector6d applyInertia(const InertialParameters& body, const Vector3d& a, const Vector3d& b) {
  Vector6d result;
  result << body.mass * a + b.cross(body.first_moment),
      body.first_moment.cross(a) + body.inertia * b;
  return result;
}

// M a + V x* M V.
Vector6d withTwist(const InertialParameters& body, const Vector6d& V, const Vector6d& a) {
  return applyInertia(body, a.head<3>(), a.tail<3>()) +
         forceCross(V, applyInertia(body, V.head<3>(), V.tail<3>()));
}

// M a + (0, w) x* M (0, w).
Vector6d withAngularVelocity(const InertialParameters& body, const Vector3d& w, const Vector6d& a) {
  Vector6d V;
  V << Vector3d::Zero(), w;
  return withTwist(body, V, a);
}

InertialParameters inAxesOfA(const Pose& X_AB, const InertialParameters& body) {
  return transformed(Pose{X_AB.R, Vector3d::Zero()}, body);
}

}  // namespace

BodyWrench newtonEuler(const InertialParameters& body, const BodyTwist& V,
                       const ProperBodyAcceleration& a) {
  return BodyWrench::fromVector(withTwist(body, V.vector(), a.vector()));
}

SpatialWrench newtonEuler(const Pose& X_AB, const InertialParameters& body, const SpatialTwist& V,
                          const ProperSpatialAcceleration& a) {
  return SpatialWrench::fromVector(withTwist(transformed(X_AB, body), V.vector(), a.vector()));
}

MixedWrench newtonEuler(const Pose& X_AB, const InertialParameters& body, const Vector3d& w_A,
                        const ProperMixedAcceleration& a) {
  return MixedWrench::fromVector(withAngularVelocity(inAxesOfA(X_AB, body), w_A, a.vector()));
}

BodyWrench newtonEuler(const InertialParameters& body, const Vector3d& w_B,
                       const ProperSensorAcceleration& a) {
  return BodyWrench::fromVector(withAngularVelocity(body, w_B, a.vector()));
}

BodyWrench gravityWrench(const Pose& X_AB, const InertialParameters& body,
                         const Vector3d& gravity_A) {
  const Vector3d g_B = X_AB.R.transpose() * gravity_A;
  return {body.mass * g_B, body.first_moment.cross(g_B)};
}

BodyMomentum momentum(const InertialParameters& body, const BodyTwist& V) {
  return BodyMomentum::fromVector(applyInertia(body, V.linear, V.angular));
}

MixedMomentum centroidalMomentum(const Pose& X_AB, const InertialParameters& body,
                                 const BodyTwist& V) {
  const BodyMomentum h = momentum(body, V);
  return {X_AB.R * h.linear, X_AB.R * (h.angular - body.com().cross(h.linear))};
}

SpatialWrench momentumRate(const Pose& X_AB, const InertialParameters& body,
                           const Vector3d& gravity_A, const SpatialWrench& external) {
  return toSpatial(X_AB, gravityWrench(X_AB, body, gravity_A)) + external;
}

MixedWrench centroidalMomentumRate(const Pose& X_AB, const InertialParameters& body,
                                   const Vector3d& gravity_A, const BodyWrench& external) {
  const BodyWrench total = gravityWrench(X_AB, body, gravity_A) + external;
  return {X_AB.R * total.force, X_AB.R * (total.torque - body.com().cross(total.force))};
}

double kineticEnergy(const InertialParameters& body, const BodyTwist& V) {
  const BodyMomentum h = momentum(body, V);
  return 0.5 * (V.linear.dot(h.linear) + V.angular.dot(h.angular));
}

double potentialEnergy(const Pose& X_AB, const InertialParameters& body,
                       const Vector3d& gravity_A) {
  return -gravity_A.dot(body.mass * X_AB.p + X_AB.R * body.first_moment);
}

}  // namespace proprio
