#pragma once

#include "proprio/spatial/motion_types.h"

/// Absolute motion of a frame D from that of a frame B and the motion of D relative to B, in each
/// representation. Frames: A observes, B moves in A, D moves in B.
///
///   body     V_AD = D_X_B V_AB + V_BD,       A_AD = D_X_B A_AB + A_BD + (D_X_B V_AB) x V_BD
///   spatial  V_AD = V_AB + A_X_B V_BD,       A_AD = A_AB + A_X_B A_BD + V_AB x (A_X_B V_BD)
///   mixed    p_AD' = p_AB' + w x p + q,      w_AD = w + R w_BD
///            p_AD'' = p_AB'' + w' x p + w x (w x p) + 2 w x q + R p_BD''
///            w_AD' = w' + R w_BD' + w x R w_BD,  with p = R p_BD, q = R p_BD', w of B in A
///   sensor   the mixed law in the axes of D; it needs neither pose nor linear velocity of B in A,
///            so it carries accelerometer and gyroscope readings along a mechanism.
///
/// The acceleration of B may be coordinate or proper; the result is of the same kind (the relative
/// acceleration is a coordinate one: gravity is counted once).
///
/// Source: Traversaro 2017, section 3.1.
namespace proprio {

BodyTwist composeBody(const Pose& X_BD, const BodyTwist& V_AB, const BodyTwist& V_BD);
SpatialTwist composeSpatial(const Pose& X_AB, const SpatialTwist& V_AB, const SpatialTwist& V_BD);
MixedTwist composeMixed(const Pose& X_AB, const Pose& X_BD, const MixedTwist& V_AB,
                        const MixedTwist& V_BD);
/// w_AD in D's axes from w_AB in B's axes and w_BD in B's axes: R_DB (w_AB + w_BD).
Vector3d composeAngularVelocity(const Pose& X_BD, const Vector3d& w_AB_B, const Vector3d& w_BD_B);

template <MotionKind K>
requires IsAcceleration<K> Motion<K, Representation::kBody> composeBody(
    const Pose& X_BD, const BodyTwist& V_AB, const BodyTwist& V_BD,
    const Motion<K, Representation::kBody>& A_AB, const BodyAcceleration& A_BD);
template <MotionKind K>
requires IsAcceleration<K> Motion<K, Representation::kSpatial> composeSpatial(
    const Pose& X_AB, const SpatialTwist& V_AB, const SpatialTwist& V_BD,
    const Motion<K, Representation::kSpatial>& A_AB, const SpatialAcceleration& A_BD);
/// Of V_AB only the angular part is used.
template <MotionKind K>
requires IsAcceleration<K> Motion<K, Representation::kMixed> composeMixed(
    const Pose& X_AB, const Pose& X_BD, const MixedTwist& V_AB, const MixedTwist& V_BD,
    const Motion<K, Representation::kMixed>& A_AB, const MixedAcceleration& A_BD);
/// w_AB_B is what a gyroscope on B reads; A_AB in the axes of B, A_BD in those of D.
template <MotionKind K>
requires IsAcceleration<K> Motion<K, Representation::kSensor> composeSensor(
    const Pose& X_BD, const Vector3d& w_AB_B, const MixedTwist& V_BD,
    const Motion<K, Representation::kSensor>& A_AB, const SensorAcceleration& A_BD);

}  // namespace proprio
