#pragma once

/// Estimates that noise in the regressor does not bias. In a closed loop the measured motion, and
/// so W, depends on the noise that is also in y - W beta: least squares on it is biased however
/// long the recording is. A motion that does not know the noise is not.
///
///   iv            Z = W(q_s, v_s, a_s) along the noise-free closed loop simulated with the last
///                 estimate (simulated_motion.h);  beta = (Z^T S^-1 W)^-1 Z^T S^-1 y
///   iv-commanded  the same once, with Z along the commanded motion: no servo needed
///   didim         beta = (Z^T S^-1 Z)^-1 Z^T S^-1 y: least squares on the simulated motion; needs
///                 torques and commands only, and the servo as it really is
///   pc-iv pc-iv-commanded pc-didim  the same under physical consistency:
///                 min |Q_Z^T (y - W beta)|^2, Z = Q_Z R_Z
///
/// with S the noise per joint, from the residuals of the round before. Numerically by the factor of
/// [Z W y]: A = Q_Z^T W, b = Q_Z^T y, so that nothing is squared and no non-symmetric matrix
/// appears. Covariance (A^T A)^-1 = (Z^T S^-1 W)^-1 Z^T S^-1 Z (W^T S^-1 Z)^-1, which is
/// (Z^T S^-1 Z)^-1 where W - Z is noise alone; for noise with a memory see robust_covariance.h.
///
/// Rounds of simulate and solve until the norm of the residual changes by less than 2.5 %, or no
/// base parameter moves by 2.5 % of itself or of its standard deviation, at most ten. They start
/// from the prior or from wls (pc-wls), whichever moves more like the recording in simulation: wls
/// may have lost inertia to noise, so that the loop chatters, and a prior may be far off. IV is
/// meant for recordings that are not filtered; filters do no harm.
///
/// Source: Leboutet 2022 eqs. 27-31, 41-42; Ardiani 2023 1.16; Janot 2014; Gautier 2013 (DIDIM).
/// References: L-22, L-26, L-38, L-39, A-31 to A-35.

#include "proprio/identification/method.h"

namespace proprio {

Estimate instrumentalVariables(const IdentificationProblem& problem, const MethodOptions& options);
Estimate commandedInstruments(const IdentificationProblem& problem, const MethodOptions& options);
Estimate directAndInverse(const IdentificationProblem& problem, const MethodOptions& options);
Estimate consistentInstruments(const IdentificationProblem& problem, const MethodOptions& options);
Estimate consistentCommandedInstruments(const IdentificationProblem& problem,
                                        const MethodOptions& options);
Estimate consistentDirectAndInverse(const IdentificationProblem& problem,
                                    const MethodOptions& options);

/// Most rounds of methods that simulate, and the change at which they end (MethodOptions may say
/// otherwise).
constexpr int kSimulationRounds = 10;
constexpr double kSimulationTolerance = 0.025;

/// How the rounds use the simulated motion.
struct SimulatingRule {
  bool instruments = true;  ///< false: direct and inverse identification
  bool consistent = false;
};

/// The rounds, from the best of the given estimates (their chi is simulated, their sigma weights
/// the rows of the first round). Where they do not settle, the one that leaves least of the
/// torques.
Estimate simulateAndSolve(const IdentificationProblem& problem, const MethodOptions& options,
                          const SimulatingRule& rule, std::vector<Estimate> starts);

/// Largest change of a base parameter relative to itself or to its standard deviation.
double largestMove(const Estimate& before, const Estimate& now);

/// What the prior and an estimate by least squares say, as starts of methods that simulate.
std::vector<Estimate> startsFrom(const IdentificationProblem& problem, Estimate least_squares);

/// Adds to the notes which servo gains were not declared, and what went wrong.
/// @param failure  why the robot could not be simulated; empty: it could
void tellRounds(const IdentificationProblem& problem, const std::string& failure, bool converged,
                Estimate* estimate);

/// Q_Z^T [W y] of the weighted rows as one small problem. Directions in which Z is short of rank
/// (1e-10, columns scaled) give no rows.
/// @param instruments  motions for Z, one per recording of the problem, with the same samples
TriangularSystem instrumentSystem(const IdentificationProblem& problem,
                                  const std::vector<MotionData>& instruments,
                                  const Eigen::VectorXd& sigma);

}  // namespace proprio
