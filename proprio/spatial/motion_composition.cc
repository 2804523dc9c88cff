#include "proprio/spatial/motion_composition.h"

#include <Eigen/Geometry>

#include "proprio/spatial/se3.h"

namespace proprio {
namespace {

using enum Representation;

// What the mixed law adds to the linear and angular acceleration of B and of D relative to B, all
// in one set of axes: p and q are position and velocity of D relative to B.
Vector6d mixedTerms(const Vector3d& w, const Vector3d& w_dot, const Vector3d& p, const Vector3d& q,
                    const Vector3d& w_relative) {
  Vector6d terms;
  terms << w_dot.cross(p) + w.cross(w.cross(p)) + 2.0 * w.cross(q), w.cross(w_relative);
  return terms;
}

}  // namespace

BodyTwist composeBody(const Pose& X_BD, const BodyTwist& V_AB, const BodyTwist& V_BD) {
  return BodyTwist::fromVector(velocityAdjoint(X_BD.inverse()) * V_AB.vector()) + V_BD;
}

SpatialTwist composeSpatial(const Pose& X_AB, const SpatialTwist& V_AB, const SpatialTwist& V_BD) {
  return V_AB + SpatialTwist::fromVector(velocityAdjoint(X_AB) * V_BD.vector());
}

MixedTwist composeMixed(const Pose& X_AB, const Pose& X_BD, const MixedTwist& V_AB,
                        const MixedTwist& V_BD) {
  const Vector3d p = X_AB.R * X_BD.p;
  return {V_AB.linear + V_AB.angular.cross(p) + X_AB.R * V_BD.linear,
          V_AB.angular + X_AB.R * V_BD.angular};
}

Vector3d composeAngularVelocity(const Pose& X_BD, const Vector3d& w_AB_B, const Vector3d& w_BD_B) {
  return X_BD.R.transpose() * (w_AB_B + w_BD_B);
}

template <MotionKind K>
requires IsAcceleration<K> Motion<K, kBody> composeBody(const Pose& X_BD, const BodyTwist& V_AB,
                                                        const BodyTwist& V_BD,
                                                        const Motion<K, kBody>& A_AB,
                                                        const BodyAcceleration& A_BD) {
  const Matrix6d X_DB = velocityAdjoint(X_BD.inverse());
  const Vector6d V_AB_D = X_DB * V_AB.vector();
  return Motion<K, kBody>::fromVector(X_DB * A_AB.vector() + A_BD.vector() +
                                      motionCross(V_AB_D, V_BD.vector()));
}

template <MotionKind K>
requires IsAcceleration<K> Motion<K, kSpatial> composeSpatial(const Pose& X_AB,
                                                              const SpatialTwist& V_AB,
                                                              const SpatialTwist& V_BD,
                                                              const Motion<K, kSpatial>& A_AB,
                                                              const SpatialAcceleration& A_BD) {
  const Matrix6d X = velocityAdjoint(X_AB);
  const Vector6d V_BD_A = X * V_BD.vector();
  return Motion<K, kSpatial>::fromVector(A_AB.vector() + X * A_BD.vector() +
                                         motionCross(V_AB.vector(), V_BD_A));
}

template <MotionKind K>
requires IsAcceleration<K> Motion<K, kMixed> composeMixed(const Pose& X_AB, const Pose& X_BD,
                                                          const MixedTwist& V_AB,
                                                          const MixedTwist& V_BD,
                                                          const Motion<K, kMixed>& A_AB,
                                                          const MixedAcceleration& A_BD) {
  const Matrix3d& R = X_AB.R;
  const Vector6d terms =
      mixedTerms(V_AB.angular, A_AB.angular, R * X_BD.p, R * V_BD.linear, R * V_BD.angular);
  return {A_AB.linear + R * A_BD.linear + terms.head<3>(),
          A_AB.angular + R * A_BD.angular + terms.tail<3>()};
}

template <MotionKind K>
requires IsAcceleration<K> Motion<K, kSensor> composeSensor(const Pose& X_BD,
                                                            const Vector3d& w_AB_B,
                                                            const MixedTwist& V_BD,
                                                            const Motion<K, kSensor>& A_AB,
                                                            const SensorAcceleration& A_BD) {
  const Matrix3d R_DB = X_BD.R.transpose();
  const Vector6d terms = mixedTerms(w_AB_B, A_AB.angular, X_BD.p, V_BD.linear, V_BD.angular);
  return {R_DB * (A_AB.linear + terms.head<3>()) + A_BD.linear,
          R_DB * (A_AB.angular + terms.tail<3>()) + A_BD.angular};
}

// compiled once for both kinds of acceleration
#define PROPRIO_INSTANTIATE(K)                                                                 \
  template Motion<K, kBody> composeBody(const Pose&, const BodyTwist&, const BodyTwist&,       \
                                        const Motion<K, kBody>&, const BodyAcceleration&);     \
  template Motion<K, kSpatial> composeSpatial(const Pose&, const SpatialTwist&,                \
                                              const SpatialTwist&, const Motion<K, kSpatial>&, \
                                              const SpatialAcceleration&);                     \
  template Motion<K, kMixed> composeMixed(const Pose&, const Pose&, const MixedTwist&,         \
                                          const MixedTwist&, const Motion<K, kMixed>&,         \
                                          const MixedAcceleration&);                           \
  template Motion<K, kSensor> composeSensor(const Pose&, const Vector3d&, const MixedTwist&,   \
                                            const Motion<K, kSensor>&, const SensorAcceleration&);
PROPRIO_INSTANTIATE(MotionKind::kAcceleration)
PROPRIO_INSTANTIATE(MotionKind::kProperAcceleration)
#undef PROPRIO_INSTANTIATE

}  // namespace proprio
