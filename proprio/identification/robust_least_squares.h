#pragma once

/// Least squares that survive what least squares does not: gross errors in single rows, and noise
/// in the regressor.
///
///   irls  rows weighted again and again by how far they are from the fit, r = e_j / sigma_j
///         (mixed between joints with MethodOptions::full_covariance), sigma_j = 1.4826 median
///         |e_j|. Huber: w = min(1, 1.345 / |r|), until no parameter moves by 1e-3 of its standard
///         deviation. With MethodOptions::window: w = 0 beyond that many deviations, 1 within, and
///         a row once out stays out (published: 3), until the weights rest.
///         Covariance M^-1 Q M^-1 with M = sum_j mean(psi') W_j^T W_j / sigma_j^2, Q the same with
///         mean(psi^2), psi(r) = w r.
///   pc-irls  the rows and weights of irls at rest, solved once more under physical consistency
///   tls   noise of equal size in every entry of the weighted [W y]: with s, (V_W, V_y) the
///         smallest singular value and its right vector, beta = -V_W / V_y and
///         cov = (1 + |beta|^2) s^2 / rows (W^T W - s^2 I)^-1. V_y = 0 (the smallest direction has
///         no torque in it) has no solution; the estimate of wls is returned as not converged.
///
/// Source: Leboutet 2022 eqs. 18-23; Huber 1981 ch. 7. References: L-20, L-21, A-28.

#include "proprio/identification/method.h"

namespace proprio {

Estimate reweightedLeastSquares(const IdentificationProblem& problem, const MethodOptions& options);
Estimate consistentReweighted(const IdentificationProblem& problem, const MethodOptions& options);
Estimate totalLeastSquares(const IdentificationProblem& problem, const MethodOptions& options);

/// Noise per coordinate that gross errors do not reach, 1.4826 median |e|; infinite where no row is
/// left over.
/// @param residuals  per recording sample x coordinate
Eigen::VectorXd robustNoise(const IdentificationProblem& problem,
                            const std::vector<Eigen::ArrayXXd>& residuals);

struct TotalLeastSquares {
  bool solved = false;  ///< false: V_y = 0, or W^T W - s^2 I is not positive definite
  Eigen::VectorXd x;    ///< empty unless solved
  Eigen::MatrixXd covariance;
  double smallest = 0.0;  ///< s
};
TotalLeastSquares solveTotalLeastSquares(const TriangularSystem& system);

}  // namespace proprio
