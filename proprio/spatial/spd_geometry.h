#pragma once

#include <Eigen/Core>

/// Geometry of symmetric positive definite (SPD) matrices with the affine-invariant metric.
///
///   <U, V>_D      = tr(D^-1 U D^-1 V)                       inner product of tangents at D
///   Exp_D(V)      = L exp(L^-1 V L^-T) L^T                  with D = L L^T
///   Log_D(E)      = L log(L^-1 E L^-T) L^T
///   d(D, E)       = sqrt(sum_i log^2 lambda_i)              lambda_i = eig(D^-1 E)
///   geodesic(t)   = D (D^-1 E)^t                            t = 0 at D, t = 1 at E
///   divergence(E, D) = tr(D^-1 E) - log det(D^-1 E) - n     entropic, log-det Bregman; convex in E
///
/// All but the matrices themselves are unchanged when D, E become A D A^T, A E A^T. The boundary is
/// infinitely far. Near D: d^2 = <V, V>_D + O(V^3), divergence = <V, V>_D / 2 + O(V^3), V = E - D.
/// (Some authors put the factor 1/2 into the metric; here it is in the divergence only.)
/// A geodesic filter step with weight a in [0, 1] is geodesic(D_f, D, 1 - a): it stays SPD and
/// moves det geometrically, where the Euclidean average swells it.
///
/// For 4x4 matrices, the size of pseudo-inertias. Cost: one Cholesky factor and one symmetric
/// eigenproblem, on the stack. @throws Error where a matrix that must be SPD is not (asymmetric,
/// not finite, indefinite) or sizes differ; the message names the argument.
///
/// Source: Leboutet 2022, section 6.2 with errata; Pennec, Fillard, Ayache 2006.
namespace proprio {

using Eigen::Matrix4d;

double spdInnerProduct(const Matrix4d& D, const Matrix4d& U, const Matrix4d& V);
Matrix4d spdExp(const Matrix4d& D, const Matrix4d& V);
Matrix4d spdLog(const Matrix4d& D, const Matrix4d& E);
double spdDistance(const Matrix4d& D, const Matrix4d& E);
/// Any real t; t outside [0, 1] extrapolates.
Matrix4d spdGeodesic(const Matrix4d& D, const Matrix4d& E, double t);
/// Of E relative to D: >= 0, zero only for E = D; not symmetric in its arguments.
double entropicDivergence(const Matrix4d& E, const Matrix4d& D);
/// The largest e with E >= e D. D is SPD, E symmetric.
double smallestRelativeEigenvalue(const Matrix4d& D, const Matrix4d& E);

}  // namespace proprio
