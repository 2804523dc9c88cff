#pragma once

/// Steps on the manifold of positions. Joint coordinates add; the pose of a floating base, or of a
/// floating joint, moves along its body twist x = (v, w):
///   q + d:   X' = X exp(x^), the quaternion by a product, so that its sign does not jump
///   b - a:   the step d of smallest turn with a + d = b, x = log(X_a^-1 X_b)^vee
/// so that q(t + h) = q(t) + h v + O(h^2) with the velocities v of model/tree.h, and d/dt of
/// (q(t) - q(0)) is v at t = 0. Continuous joints count their turns: their angles are plain
/// numbers. At half a turn between a and b the sign of w is arbitrary. Source: Ramuzat 2022
/// section 2.1; Traversaro 2017 section 2.3.

#include "proprio/dynamics/workspace.h"

namespace proprio {

/// Real-time: q + step into `out`, which may be q itself. @throws Error for other sizes and for a
/// quaternion that is zero or not finite.
void integratePosition(const Tree& tree, const ConstVectorRef& q, const ConstVectorRef& step,
                       VectorRef out);

/// Real-time: dq/dt into `out` for an integrator of plain numbers: p' = R v and, for the quaternion
/// (u, s), u' = (s w + u x w)/2, s' = -u.w/2 (its norm stays). Coordinates of mimic joints are not
/// positions. @throws Error for other sizes and for a quaternion that is zero or not finite.
void positionRate(const Tree& tree, const ConstVectorRef& q, const ConstVectorRef& v,
                  VectorRef out);

/// Real-time: to - from into `step` (velocity coordinates). @throws Error as above.
void positionDifference(const Tree& tree, const ConstVectorRef& from, const ConstVectorRef& to,
                        VectorRef step);

}  // namespace proprio
