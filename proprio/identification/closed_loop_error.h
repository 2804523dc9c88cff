#pragma once

/// Estimates by comparing the simulated closed loop with the recorded one.
///
///   cloe  output error: min over beta of  sum_j |q_j - q_s,j(beta)|^2 / s_j^2
///   clie  input error:  the same with torques, tau_j - tau_s,j(beta)
///
/// q_s, tau_s: position and servo torque of the robot with base parameters beta, without noise, on
/// the commanded motion under the declared servo (simulated_motion.h); s_j: rms of joint j's
/// residual. In a stiff loop positions say little about beta (every robot follows its command);
/// torques say the same as positions seen through the servo, which is why clie is the better of the
/// two. Both believe the declared gains. Neither differentiates what was measured. Recorded torques
/// are compared as they are: a low-pass far below the servo's bandwidth biases clie.
///
/// Levenberg-Marquardt: with residuals r and sensitivities Phi = d x_s / d beta, columns scaled,
///   min |Phi d - r|^2 + lambda sum_k |Phi_k|^2 d_k^2,   lambda up or down by ten.
/// Phi by forward differences, one simulation per base parameter, all in SIMD lanes and on all
/// cores; the step changes the torques by 1e-4 of their norm. Covariance (Phi^T S^-1 Phi)^-1.
/// Ends like iv: the cost or no parameter changes by more than 2.5 %, at most ten iterations.
///
/// Source: Leboutet 2022 eqs. 33-40; Gautier 2013. References: L-24, L-25, A-35.

#include "proprio/identification/method.h"

namespace proprio {

Estimate closedLoopOutputError(const IdentificationProblem& problem, const MethodOptions& options);
Estimate closedLoopInputError(const IdentificationProblem& problem, const MethodOptions& options);

/// What of the loop is compared.
enum class LoopSignal { kPosition, kTorque };

/// The iterations from the base parameters of the best of the given estimates, of which there is at
/// least one; the first of them is returned where none can be simulated.
Estimate fitClosedLoop(const IdentificationProblem& problem, const MethodOptions& options,
                       LoopSignal signal, const std::vector<Estimate>& starts);

}  // namespace proprio
