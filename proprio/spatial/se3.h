#pragma once

#include <Eigen/Core>

#include "proprio/spatial/pose.h"

/// The Lie algebra of poses: hat and vee, exponential and logarithm, cross products of 6D vectors.
///
/// 6D vectors are linear first, x = (v, w) for motions and (f, t) for forces.
///   hat      x^ = [w^, v; 0, 0]
///   cross    x x = [w^, v^; 0, w^],  (x x y)^ = x^ y^ - y^ x^,  d/dt A_X_B = A_X_B (V_AB_B x)
///   dual     x x* = -(x x)^T = [w^, 0; v^, w^],  d/dt A_X^B = A_X^B (V_AB_B x*)
///   exp      exp(x^) = (exp(w^), J(w) v),  J(w) = 1 + (1 - cos t)/t^2 w^ + (t - sin t)/t^3 w^ w^
///   log      its inverse with |w| <= pi
/// with t = |w|. The scalar functions of t use series near zero, so that relative accuracy does not
/// depend on the angle. At a half turn the sign of w is arbitrary.
///
/// Source: Traversaro 2017, sections 2.2 to 2.5.
namespace proprio {

/// x^ in se(3), 4x4.
Eigen::Matrix4d twistHat(const Vector6d& x);
/// Inverse of twistHat(); the skew part of the upper left block is taken.
Vector6d twistVee(const Eigen::Matrix4d& X);

/// The pose reached after unit time at the constant body twist x.
Pose poseExp(const Vector6d& x);
/// The constant body twist that reaches X in unit time.
Vector6d poseLog(const Pose& X);

/// Left Jacobian J(w) of the rotation exponential R = exp(w^): R' = (J(w) w')^ R = R (J(w)^T w')^.
Matrix3d rotationExpJacobian(const Vector3d& w);
/// Inverse of rotationExpJacobian() for |w| < 2 pi.
Matrix3d rotationExpJacobianInverse(const Vector3d& w);

/// The matrix x x of the motion cross product.
Matrix6d motionCrossMatrix(const Vector6d& x);
/// The matrix x x* of the force cross product.
Matrix6d forceCrossMatrix(const Vector6d& x);
/// x x m for a motion m = (a, b): (w x a + v x b, w x b).
Vector6d motionCross(const Vector6d& x, const Vector6d& m);
/// x x* f for a force f = (a, b): (w x a, v x a + w x b).
Vector6d forceCross(const Vector6d& x, const Vector6d& f);

}  // namespace proprio
