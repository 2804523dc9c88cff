#pragma once

/// Maximum likelihood with noise in the motion as well as in the torques (L-23, A-28).
///
///   minimise  1/2 sum_k e_k^T C_k^-1 e_k,    e_k = tau_k - Y(s_k) beta,   s = (q, v, a)
///   C_k = D_k S D_k^T + diag(sigma_tau^2),   D_k = d(Y beta)/ds at s_k
///
/// with S the covariance of the noise in q, v and a. Least squares forgets that noise in s makes
/// rows with large D less trustworthy, and that it is correlated with the regressor, which shrinks
/// estimates. Here each sample's motion is moved to where it most likely was, s_k + S D_k^T C_k^-1
/// e_k; with the regressor Z_k there the gradient of the objective is -sum Z_k^T C_k^-1 e_k to
/// first order in the noise, and one step is weighted least squares of e_k + Z_k beta on Z_k.
/// Unlike the published form, nothing is differenced numerically.
///
/// Limits: noise is taken as independent from sample to sample (the covariance is corrected for the
/// memory of residuals like that of every method) and small enough for first order. The noise of
/// the motion is what the encoders' noise leaves after filter and differences
/// (JointSignals::noise); where that is not known the estimate is that of wls, with a note.
/// sigma_tau is what the motion's noise leaves of the residuals of wls. Fixed base, no mimic
/// joints. Source: Olsen and Petersen 2001, Swevers 1997 as in Leboutet 2022 eq. 32.

#include "proprio/identification/method.h"

namespace proprio {

Estimate maximumLikelihood(const IdentificationProblem& problem, const MethodOptions& options);

}  // namespace proprio
