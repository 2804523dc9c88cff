#pragma once

/// Regressor of one rigid body: its net wrench (the sum of all wrenches on it but gravity), linear
/// in its ten parameters pi = [m, mc, I about the origin of B],
///   sensor form  phi = Y(alpha, w) pi,  Y = D(alpha) + (0, w) x* D(0, w)
///   body form    phi = Y(V, a) pi,      Y = D(a) + V x* D(V)
/// with alpha, a the proper acceleration in sensor and in body form, w the angular velocity, V the
/// body twist, and M u = D(u) pi for any 6D motion u = (v, w):
///   D(v, w) = [v, w^, 0; 0, -v^, w.],  w. the 3x6 matrix with I w = w. (Ixx, Ixy, ..., Izz).
/// Both are the same wrench; the sensor form needs no linear velocity.
/// Source: Traversaro 2017 section 6.2 and eq. 6.5 (T-62), Traversaro et al. 2016. Real-time.

#include "proprio/spatial/inertial_parameters.h"
#include "proprio/spatial/motion_types.h"

namespace proprio {

using Matrix36d = Eigen::Matrix<double, 3, 6>;
using Matrix6x10d = Eigen::Matrix<double, 6, 10>;

/// I w = inertiaTimes(w) (Ixx, Ixy, Ixz, Iyy, Iyz, Izz).
Matrix36d inertiaTimes(const Vector3d& w);
/// D(u) with M u = D(u) pi: for a twist u the momentum of the body.
Matrix6x10d inertiaRegressor(const Vector6d& u);
Matrix6x10d bodyRegressor(const ProperSensorAcceleration& acceleration, const Vector3d& w_B);
Matrix6x10d bodyRegressor(const BodyTwist& V, const ProperBodyAcceleration& acceleration);

/// Kinetic energy of the body: 1/2 V^T M V = row * pi.
Eigen::Matrix<double, 1, 10> kineticEnergyRow(const BodyTwist& V);
/// Potential energy -g^T (m p + R m c) = row * pi.
Eigen::Matrix<double, 1, 10> potentialEnergyRow(const Pose& X_WB, const Vector3d& gravity_W);

}  // namespace proprio
