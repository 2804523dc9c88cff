#pragma once

#include <span>

#include "proprio/spatial/inertial_parameters.h"

/// How far apart two bodies are, in ways that depend on neither frame nor units: the geometry of
/// spd_geometry.h on pseudo-inertias D (linear in the parameters x with basis V_i = dD/dx_i).
///
///   distance      d(D1, D2), affine-invariant; infinite at impossible bodies
///   divergence    tr(D0^-1 D) - log det(D0^-1 D) - 4, convex in the parameters
///   pull-back     (x - x0)^T G (x - x0) with G_ik = tr(D0^-1 V_i D0^-1 V_k), quadratic
///
/// All three agree to second order: distance^2 = dx^T G dx = 2 divergence, up to third order.
/// (Leboutet's (167) is half of dx^T G dx: there the 1/2 belongs to the metric.)
/// The divergence acts as barrier and prior, the pull-back metric keeps a problem quadratic.
///
/// @throws Error where a body is not fully consistent (the moving body may be anything for the
/// pull-back metric).
/// Sources: Leboutet 2022, sections 2.3 and 6.2; Lee, Wensing, Park 2020.
namespace proprio {

double inertiaDistance(const InertialParameters& a, const InertialParameters& b);
/// Of whole robots, link by link: the root of the sum of squared distances. @throws Error where the
/// numbers of links differ.
double inertiaDistance(std::span<const InertialParameters> a,
                       std::span<const InertialParameters> b);

double inertiaDivergence(const InertialParameters& body, const InertialParameters& reference);
/// d divergence / d body.vector(): tr(V_i (D0^-1 - D^-1)). Its Hessian is pullbackMetric(body).
Vector10d inertiaDivergenceGradient(const InertialParameters& body,
                                    const InertialParameters& reference);

/// G, symmetric positive definite, constant for a constant reference.
Matrix10d pullbackMetric(const InertialParameters& reference);

}  // namespace proprio
