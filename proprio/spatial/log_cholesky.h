#pragma once

#include <Eigen/Core>

#include "proprio/spatial/inertial_parameters.h"

/// Ten unconstrained numbers for a physically possible body: the logarithmic Cholesky factor of its
/// pseudo-inertia D = U U^T with the upper triangular
///
///                [ exp(d1)   s12      s13     t1 ]
///   U = exp(a) * [   0     exp(d2)    s23     t2 ]     theta = (a, d1, d2, d3, s12, s23, s13, t1,
///   t2, t3)
///                [   0        0     exp(d3)   t3 ]
///                [   0        0        0       1 ]
///
/// Every theta is a possible body and every strictly possible body has exactly one theta. Mass is
/// exp(2a) and (t1, t2, t3) is the centre of mass; scaling the density changes only a.
///
/// Source: Rucker and Wensing, Smooth parameterization of rigid-body inertia, 2022.
namespace proprio {

/// @throws Error where the body's pseudo-inertia is not positive definite.
Vector10d logCholesky(const InertialParameters& body);
InertialParameters fromLogCholesky(const Vector10d& theta);

/// d fromLogCholesky(theta).vector() / d theta, never singular.
Matrix10d logCholeskyJacobian(const Vector10d& theta);
/// Its inverse d theta / d body.vector(), from the differential of the factorisation.
Matrix10d logCholeskyInverseJacobian(const Vector10d& theta);

}  // namespace proprio
