#pragma once

#include <Eigen/Core>

#include "proprio/spatial/inertial_parameters.h"

/// The 4x4 pseudo-inertia of a rigid body, the second moment of its mass in homogeneous
/// coordinates:
///
///   D = integral of [r; 1] [r; 1]^T dm = [S, mc; mc^T, m],   S = tr(I)/2 1 - I,   I = tr(S) 1 - S
///
/// with I about the frame origin. D is linear in the ten inertial parameters; it is positive
/// definite exactly for bodies that a density >= 0 can produce (not in a plane). It transforms as
/// D_A = H D_B H^T with the 4x4 pose H of B in A. Its Schur complement with respect to m is the
/// central second moment S_C = S - mc mc^T / m = tr(I_C)/2 1 - I_C.
///
/// Sources: Traversaro 2017, section 6; Leboutet 2022, (59) and (60); Wensing, Kim, Slotine 2018.
namespace proprio {

Eigen::Matrix4d pseudoInertia(const InertialParameters& body);
/// Inverse of pseudoInertia(); only the lower triangle of D is read.
InertialParameters fromPseudoInertia(const Eigen::Matrix4d& D);

/// Its ten entries in the order D11, D21, D22, D31, D32, D33, D41, D42, D43, D44.
Vector10d lowerTriangle(const Eigen::Matrix4d& D);
/// The symmetric matrix with these entries.
Eigen::Matrix4d symmetricFromLowerTriangle(const Vector10d& entries);

/// Constant J with lowerTriangle(pseudoInertia(b)) = J b.vector().
Matrix10d pseudoInertiaJacobian();
/// Its inverse, with b.vector() = J^-1 lowerTriangle(D).
Matrix10d pseudoInertiaInverseJacobian();

/// S_C = integral of (r - c)(r - c)^T dm; for a massless body about the origin.
Matrix3d centralSecondMoment(const InertialParameters& body);

}  // namespace proprio
