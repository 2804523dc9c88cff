#pragma once

#include <Eigen/Core>
#include <optional>

#include "proprio/spatial/inertial_parameters.h"

/// A rigid body by mass, centre of mass, principal axes and central second moments:
///
///   I_C = Q diag(J) Q^T,   J = P L = (L2 + L3, L1 + L3, L1 + L2),   L_i = integral of x_i^2 dm >=
///   0 I = I_C - m c^ c^
///
/// with x_i the distance from the centre along principal axis i. All L_i >= 0 and m > 0 says
/// exactly that a density >= 0 exists; one such body is the homogeneous cuboid of
/// equivalentBoxSize().
///
/// Local coordinates z = (dm, dc, phi, dL) around a body: (m + dm, c + dc, Q exp(phi^), L + dL).
///
/// Sources: Traversaro 2017, section 6 (the density of his cuboid corrected to mass / volume).
namespace proprio {

struct PrincipalInertia {
  double mass = 0.0;                           ///< kg
  Vector3d com = Vector3d::Zero();             ///< m
  Matrix3d rotation = Matrix3d::Identity();    ///< Q, principal axes as columns
  Vector3d second_moments = Vector3d::Zero();  ///< L, kg m^2
};

InertialParameters fromPrincipal(const PrincipalInertia& body);
/// The inverse, defined for every body, also impossible ones (with some L_i < 0). L ascending,
/// det Q = +1, and the largest component of the first two axes positive, so that equal bodies give
/// equal answers as long as the L_i differ.
PrincipalInertia principalInertia(const InertialParameters& body);

/// The body at local coordinates z.
PrincipalInertia moved(const PrincipalInertia& body, const Vector10d& z);
/// d fromPrincipal(moved(body, z)).vector() / dz at z = 0. Singular where two L_i are equal (their
/// axes may turn freely) or the mass is zero.
Matrix10d principalJacobian(const PrincipalInertia& body);
/// The inverse dz / d parameters, or nothing where it does not exist.
std::optional<Matrix10d> principalInverseJacobian(const PrincipalInertia& body);

/// Full side lengths 2 sqrt(3 L_i / m) of the homogeneous cuboid with this inertia, in m.
/// @throws Error where mass <= 0 or some L_i < 0.
Vector3d equivalentBoxSize(const PrincipalInertia& body);

}  // namespace proprio
