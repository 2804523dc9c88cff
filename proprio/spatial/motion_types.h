#pragma once

#include <Eigen/Core>

#include "proprio/spatial/pose.h"

/// Velocity, acceleration, wrench and momentum of a frame B moving in a frame A, each
/// representation a type of its own: values of different types neither add, nor compare, nor pair
/// to a power.
///
/// With X_AB = (R, p), p' and p'' the derivatives of p, and w the angular velocity:
///
///   representation   twist (v, w)                      acceleration
///   body (left)      (R^T p', w_B),  H' = H v^         d/dt of the body twist
///   spatial (right)  (p' - w_A x p, w_A),  H' = v^ H   d/dt of the spatial twist
///   mixed (hybrid)   (p', w_A)                         (p'', w_A')
///   sensor           -                                 (R^T p'', w_B') = mixed, in B's axes
///
/// Accelerations need the twist to be converted, because body and spatial ones hide the term
/// k = (v x w, 0) of the rotating axes:
///   body = sensor + k_B,  k_B = (R^T p' x w_B, 0);   spatial = A_X_B body;   mixed = R sensor.
///
/// A proper acceleration is what an accelerometer feels: the acceleration minus gravity g, with
/// (R^T g, 0) subtracted in body and sensor form and (g, 0) in spatial and mixed form. It converts
/// by the same table.
///
/// Wrenches (f, t) and momenta (linear, angular) are dual to twists: body = about B's origin in B's
/// axes; spatial = about A's origin in A's axes; mixed = about B's origin in A's axes.
///
/// Source: Traversaro 2017, tables 2.1 and 2.2.
namespace proprio {

enum class Representation { kBody, kSpatial, kMixed, kSensor };
enum class MotionKind { kTwist, kAcceleration, kProperAcceleration };

/// A 6D motion quantity, linear part first. @tparam K what it is, @tparam R how it is written.
template <MotionKind K, Representation R>
struct Motion {
  Vector3d linear = Vector3d::Zero();   ///< m/s or m/s^2
  Vector3d angular = Vector3d::Zero();  ///< rad/s or rad/s^2

  static Motion fromVector(const Vector6d& v) { return {v.head<3>(), v.tail<3>()}; }
  Vector6d vector() const { return (Vector6d() << linear, angular).finished(); }

  friend Motion operator+(const Motion& a, const Motion& b) {
    return {a.linear + b.linear, a.angular + b.angular};
  }
  friend Motion operator-(const Motion& a, const Motion& b) {
    return {a.linear - b.linear, a.angular - b.angular};
  }
  friend Motion operator-(const Motion& a) { return {-a.linear, -a.angular}; }
  friend Motion operator*(double s, const Motion& a) { return {s * a.linear, s * a.angular}; }
};

using BodyTwist = Motion<MotionKind::kTwist, Representation::kBody>;
using SpatialTwist = Motion<MotionKind::kTwist, Representation::kSpatial>;
using MixedTwist = Motion<MotionKind::kTwist, Representation::kMixed>;

using BodyAcceleration = Motion<MotionKind::kAcceleration, Representation::kBody>;
using SpatialAcceleration = Motion<MotionKind::kAcceleration, Representation::kSpatial>;
using MixedAcceleration = Motion<MotionKind::kAcceleration, Representation::kMixed>;
using SensorAcceleration = Motion<MotionKind::kAcceleration, Representation::kSensor>;

using ProperBodyAcceleration = Motion<MotionKind::kProperAcceleration, Representation::kBody>;
using ProperSpatialAcceleration = Motion<MotionKind::kProperAcceleration, Representation::kSpatial>;
using ProperMixedAcceleration = Motion<MotionKind::kProperAcceleration, Representation::kMixed>;
using ProperSensorAcceleration = Motion<MotionKind::kProperAcceleration, Representation::kSensor>;

/// A force and a torque. @tparam R body, spatial or mixed.
template <Representation R>
struct Wrench {
  Vector3d force = Vector3d::Zero();   ///< N
  Vector3d torque = Vector3d::Zero();  ///< N m, about the origin that R names

  static Wrench fromVector(const Vector6d& v) { return {v.head<3>(), v.tail<3>()}; }
  Vector6d vector() const { return (Vector6d() << force, torque).finished(); }

  friend Wrench operator+(const Wrench& a, const Wrench& b) {
    return {a.force + b.force, a.torque + b.torque};
  }
  friend Wrench operator-(const Wrench& a, const Wrench& b) {
    return {a.force - b.force, a.torque - b.torque};
  }
  friend Wrench operator-(const Wrench& a) { return {-a.force, -a.torque}; }
  friend Wrench operator*(double s, const Wrench& a) { return {s * a.force, s * a.torque}; }
};

using BodyWrench = Wrench<Representation::kBody>;
using SpatialWrench = Wrench<Representation::kSpatial>;
using MixedWrench = Wrench<Representation::kMixed>;

/// Linear and angular momentum. @tparam R body, spatial or mixed.
template <Representation R>
struct Momentum {
  Vector3d linear = Vector3d::Zero();   ///< kg m/s
  Vector3d angular = Vector3d::Zero();  ///< kg m^2/s, about the origin that R names

  static Momentum fromVector(const Vector6d& v) { return {v.head<3>(), v.tail<3>()}; }
  Vector6d vector() const { return (Vector6d() << linear, angular).finished(); }

  friend Momentum operator+(const Momentum& a, const Momentum& b) {
    return {a.linear + b.linear, a.angular + b.angular};
  }
  friend Momentum operator-(const Momentum& a, const Momentum& b) {
    return {a.linear - b.linear, a.angular - b.angular};
  }
};

using BodyMomentum = Momentum<Representation::kBody>;
using SpatialMomentum = Momentum<Representation::kSpatial>;
using MixedMomentum = Momentum<Representation::kMixed>;

/// The adjoint that carries motions from representation `from` to `to` for a frame at X_AB, e.g.
/// spatial from body: [R, p^ R; 0, R]. kSensor has the axes and origin of kBody.
Matrix6d motionTransform(Representation to, Representation from, const Pose& X_AB);
/// Its dual for wrenches and momenta: the inverse transpose.
Matrix6d forceTransform(Representation to, Representation from, const Pose& X_AB);

/// A kind of acceleration, coordinate or proper.
template <MotionKind K>
concept IsAcceleration = K == MotionKind::kAcceleration || K == MotionKind::kProperAcceleration;
/// Twists, wrenches and momenta have no sensor form.
template <Representation R>
concept HasDual = R != Representation::kSensor;

/// @name Twists: any to any
/// @{
template <Representation R>
requires HasDual<R> BodyTwist toBody(const Pose& X_AB, const Motion<MotionKind::kTwist, R>& V_AB);
template <Representation R>
requires HasDual<R> SpatialTwist toSpatial(const Pose& X_AB,
                                           const Motion<MotionKind::kTwist, R>& V_AB);
template <Representation R>
requires HasDual<R> MixedTwist toMixed(const Pose& X_AB, const Motion<MotionKind::kTwist, R>& V_AB);
/// @}

/// @name Accelerations, coordinate or proper: any to any, with the twist of the same motion
/// @{
template <MotionKind K, Representation R>
requires IsAcceleration<K> Motion<K, Representation::kBody> toBody(const Pose& X_AB,
                                                                   const BodyTwist& V_AB_B,
                                                                   const Motion<K, R>& A_AB);
template <MotionKind K, Representation R>
requires IsAcceleration<K> Motion<K, Representation::kSpatial> toSpatial(const Pose& X_AB,
                                                                         const BodyTwist& V_AB_B,
                                                                         const Motion<K, R>& A_AB);
template <MotionKind K, Representation R>
requires IsAcceleration<K> Motion<K, Representation::kMixed> toMixed(const Pose& X_AB,
                                                                     const BodyTwist& V_AB_B,
                                                                     const Motion<K, R>& A_AB);
template <MotionKind K, Representation R>
requires IsAcceleration<K> Motion<K, Representation::kSensor> toSensor(const Pose& X_AB,
                                                                       const BodyTwist& V_AB_B,
                                                                       const Motion<K, R>& A_AB);
/// @}

/// Acceleration minus gravity, in the same representation. gravity_A is the acceleration of free
/// fall in A, e.g. (0, 0, -9.81).
template <Representation R>
Motion<MotionKind::kProperAcceleration, R> toProper(
    const Pose& X_AB, const Vector3d& gravity_A, const Motion<MotionKind::kAcceleration, R>& A_AB);
/// Inverse of toProper().
template <Representation R>
Motion<MotionKind::kAcceleration, R> toCoordinate(
    const Pose& X_AB, const Vector3d& gravity_A,
    const Motion<MotionKind::kProperAcceleration, R>& A_AB);

/// @name Wrenches and momenta: any to any
/// @{
template <Representation R>
requires HasDual<R> BodyWrench toBody(const Pose& X_AB, const Wrench<R>& F);
template <Representation R>
requires HasDual<R> SpatialWrench toSpatial(const Pose& X_AB, const Wrench<R>& F);
template <Representation R>
requires HasDual<R> MixedWrench toMixed(const Pose& X_AB, const Wrench<R>& F);
template <Representation R>
requires HasDual<R> BodyMomentum toBody(const Pose& X_AB, const Momentum<R>& h);
template <Representation R>
requires HasDual<R> SpatialMomentum toSpatial(const Pose& X_AB, const Momentum<R>& h);
template <Representation R>
requires HasDual<R> MixedMomentum toMixed(const Pose& X_AB, const Momentum<R>& h);
/// @}

/// Power in W of a wrench on a twist, defined only for equal representations; the same number in
/// all of them.
template <Representation R>
requires HasDual<R>
double power(const Motion<MotionKind::kTwist, R>& V, const Wrench<R>& F) {
  return V.linear.dot(F.force) + V.angular.dot(F.torque);
}

}  // namespace proprio
