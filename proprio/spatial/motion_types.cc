#include "proprio/spatial/motion_types.h"

#include <Eigen/Geometry>

namespace proprio {
namespace {

using enum Representation;

// The pose whose adjoint carries the body form to the given one: the frame in which a
// representation is written, seen from the frame it is about.
Pose fromBodyPose(Representation to, const Pose& X_AB) {
  if (to == kSpatial) return X_AB;
  if (to == kMixed) return {X_AB.R, Vector3d::Zero()};
  return Pose::identity();
}

Pose changePose(Representation to, Representation from, const Pose& X_AB) {
  return fromBodyPose(to, X_AB) * fromBodyPose(from, X_AB).inverse();
}

// (a, b) in motion coordinates: (R a + p x R b, R b).
template <class To, class From>
To carryMotion(const Pose& X, const From& m) {
  const Vector3d angular = X.R * m.angular;
  return {X.R * m.linear + X.p.cross(angular), angular};
}

template <Representation To, MotionKind K, Representation From>
Motion<K, To> convertTwist(const Pose& X_AB, const Motion<K, From>& V) {
  if constexpr (To == From) return V;
  return carryMotion<Motion<K, To>>(changePose(To, From, X_AB), V);
}

// k_B = (v_B x w_B, 0) is what body and spatial forms have more than mixed and sensor forms.
constexpr bool rotatesAlong(Representation r) { return r == kBody || r == kSpatial; }

template <Representation To, MotionKind K, Representation From>
Motion<K, To> convertAcceleration(const Pose& X_AB, const BodyTwist& V_AB_B,
                                  const Motion<K, From>& A) {
  if constexpr (To == From) return A;
  auto result = carryMotion<Motion<K, To>>(changePose(To, From, X_AB), A);
  const Vector3d k_B = V_AB_B.linear.cross(V_AB_B.angular);
  // a term of pure linear acceleration has no lever: it only turns with the axes
  const Vector3d k = To == kSpatial || To == kMixed ? Vector3d(X_AB.R * k_B) : k_B;
  if (rotatesAlong(To) && !rotatesAlong(From)) result.linear += k;
  if (!rotatesAlong(To) && rotatesAlong(From)) result.linear -= k;
  return result;
}

template <class To>
To carryForce(const Pose& X, const Vector3d& linear, const Vector3d& angular) {
  const Vector3d turned = X.R * linear;
  return {turned, X.R * angular + X.p.cross(turned)};
}

template <Representation To, Representation From>
Wrench<To> convertWrench(const Pose& X_AB, const Wrench<From>& F) {
  if constexpr (To == From) return F;
  return carryForce<Wrench<To>>(changePose(To, From, X_AB), F.force, F.torque);
}

template <Representation To, Representation From>
Momentum<To> convertMomentum(const Pose& X_AB, const Momentum<From>& h) {
  if constexpr (To == From) return h;
  return carryForce<Momentum<To>>(changePose(To, From, X_AB), h.linear, h.angular);
}

Vector3d gravityIn(Representation r, const Pose& X_AB, const Vector3d& gravity_A) {
  if (r == kSpatial || r == kMixed) return gravity_A;
  return X_AB.R.transpose() * gravity_A;
}

}  // namespace

Matrix6d motionTransform(Representation to, Representation from, const Pose& X_AB) {
  return velocityAdjoint(changePose(to, from, X_AB));
}

Matrix6d forceTransform(Representation to, Representation from, const Pose& X_AB) {
  return forceAdjoint(changePose(to, from, X_AB));
}

template <Representation R>
requires HasDual<R> BodyTwist toBody(const Pose& X_AB, const Motion<MotionKind::kTwist, R>& V_AB) {
  return convertTwist<kBody>(X_AB, V_AB);
}
template <Representation R>
requires HasDual<R> SpatialTwist toSpatial(const Pose& X_AB,
                                           const Motion<MotionKind::kTwist, R>& V_AB) {
  return convertTwist<kSpatial>(X_AB, V_AB);
}
template <Representation R>
requires HasDual<R> MixedTwist toMixed(const Pose& X_AB,
                                       const Motion<MotionKind::kTwist, R>& V_AB) {
  return convertTwist<kMixed>(X_AB, V_AB);
}

template <MotionKind K, Representation R>
requires IsAcceleration<K> Motion<K, kBody> toBody(const Pose& X_AB, const BodyTwist& V_AB_B,
                                                   const Motion<K, R>& A_AB) {
  return convertAcceleration<kBody>(X_AB, V_AB_B, A_AB);
}
template <MotionKind K, Representation R>
requires IsAcceleration<K> Motion<K, kSpatial> toSpatial(const Pose& X_AB, const BodyTwist& V_AB_B,
                                                         const Motion<K, R>& A_AB) {
  return convertAcceleration<kSpatial>(X_AB, V_AB_B, A_AB);
}
template <MotionKind K, Representation R>
requires IsAcceleration<K> Motion<K, kMixed> toMixed(const Pose& X_AB, const BodyTwist& V_AB_B,
                                                     const Motion<K, R>& A_AB) {
  return convertAcceleration<kMixed>(X_AB, V_AB_B, A_AB);
}
template <MotionKind K, Representation R>
requires IsAcceleration<K> Motion<K, kSensor> toSensor(const Pose& X_AB, const BodyTwist& V_AB_B,
                                                       const Motion<K, R>& A_AB) {
  return convertAcceleration<kSensor>(X_AB, V_AB_B, A_AB);
}

template <Representation R>
Motion<MotionKind::kProperAcceleration, R> toProper(
    const Pose& X_AB, const Vector3d& gravity_A, const Motion<MotionKind::kAcceleration, R>& A_AB) {
  return {A_AB.linear - gravityIn(R, X_AB, gravity_A), A_AB.angular};
}
template <Representation R>
Motion<MotionKind::kAcceleration, R> toCoordinate(
    const Pose& X_AB, const Vector3d& gravity_A,
    const Motion<MotionKind::kProperAcceleration, R>& A_AB) {
  return {A_AB.linear + gravityIn(R, X_AB, gravity_A), A_AB.angular};
}

template <Representation R>
requires HasDual<R> BodyWrench toBody(const Pose& X_AB, const Wrench<R>& F) {
  return convertWrench<kBody>(X_AB, F);
}
template <Representation R>
requires HasDual<R> SpatialWrench toSpatial(const Pose& X_AB, const Wrench<R>& F) {
  return convertWrench<kSpatial>(X_AB, F);
}
template <Representation R>
requires HasDual<R> MixedWrench toMixed(const Pose& X_AB, const Wrench<R>& F) {
  return convertWrench<kMixed>(X_AB, F);
}
template <Representation R>
requires HasDual<R> BodyMomentum toBody(const Pose& X_AB, const Momentum<R>& h) {
  return convertMomentum<kBody>(X_AB, h);
}
template <Representation R>
requires HasDual<R> SpatialMomentum toSpatial(const Pose& X_AB, const Momentum<R>& h) {
  return convertMomentum<kSpatial>(X_AB, h);
}
template <Representation R>
requires HasDual<R> MixedMomentum toMixed(const Pose& X_AB, const Momentum<R>& h) {
  return convertMomentum<kMixed>(X_AB, h);
}

// compiled once for every pair of representations
#define PROPRIO_INSTANTIATE_DUALS(R)                                                  \
  template BodyTwist toBody(const Pose&, const Motion<MotionKind::kTwist, R>&);       \
  template SpatialTwist toSpatial(const Pose&, const Motion<MotionKind::kTwist, R>&); \
  template MixedTwist toMixed(const Pose&, const Motion<MotionKind::kTwist, R>&);     \
  template BodyWrench toBody(const Pose&, const Wrench<R>&);                          \
  template SpatialWrench toSpatial(const Pose&, const Wrench<R>&);                    \
  template MixedWrench toMixed(const Pose&, const Wrench<R>&);                        \
  template BodyMomentum toBody(const Pose&, const Momentum<R>&);                      \
  template SpatialMomentum toSpatial(const Pose&, const Momentum<R>&);                \
  template MixedMomentum toMixed(const Pose&, const Momentum<R>&);
PROPRIO_INSTANTIATE_DUALS(kBody)
PROPRIO_INSTANTIATE_DUALS(kSpatial)
PROPRIO_INSTANTIATE_DUALS(kMixed)
#undef PROPRIO_INSTANTIATE_DUALS

#define PROPRIO_INSTANTIATE_ACCELERATIONS(K, R)                                               \
  template Motion<K, kBody> toBody(const Pose&, const BodyTwist&, const Motion<K, R>&);       \
  template Motion<K, kSpatial> toSpatial(const Pose&, const BodyTwist&, const Motion<K, R>&); \
  template Motion<K, kMixed> toMixed(const Pose&, const BodyTwist&, const Motion<K, R>&);     \
  template Motion<K, kSensor> toSensor(const Pose&, const BodyTwist&, const Motion<K, R>&);
#define PROPRIO_INSTANTIATE_GRAVITY(R)                                            \
  PROPRIO_INSTANTIATE_ACCELERATIONS(MotionKind::kAcceleration, R)                 \
  PROPRIO_INSTANTIATE_ACCELERATIONS(MotionKind::kProperAcceleration, R)           \
  template Motion<MotionKind::kProperAcceleration, R> toProper(                   \
      const Pose&, const Vector3d&, const Motion<MotionKind::kAcceleration, R>&); \
  template Motion<MotionKind::kAcceleration, R> toCoordinate(                     \
      const Pose&, const Vector3d&, const Motion<MotionKind::kProperAcceleration, R>&);
PROPRIO_INSTANTIATE_GRAVITY(kBody)
PROPRIO_INSTANTIATE_GRAVITY(kSpatial)
PROPRIO_INSTANTIATE_GRAVITY(kMixed)
PROPRIO_INSTANTIATE_GRAVITY(kSensor)
#undef PROPRIO_INSTANTIATE_GRAVITY
#undef PROPRIO_INSTANTIATE_ACCELERATIONS

}  // namespace proprio
