#pragma once

/// Physically consistent least squares: the convex problem of constraints.h solved to its optimum.
///
///   pc-ols      rows of all joints alike, divided by their common noise
///   pc-wls      rows of joint j divided by its noise sigma_j (from ols, as in wls)
///   projection  two steps: wls with the pull of the prior, then the possible robot whose base
///               parameters are nearest, each in units of its standard deviation (at least 0.1 % of
///               its prior size). Never fits better than pc-wls (Leboutet 2022 eq. 62)
///
/// The answer is that of unconstrained least squares with the prior where that is possible, and
/// then found without iteration. Else the interior-point solver runs, once more around its own
/// solution if the gap is not yet small against the objective.
///
/// Covariance of beta: inverse of data plus prior information. A direction of base parameters that
/// the data know no better than half of what the prior does counts as undecided.
/// References: L-35 to L-37, L-41, A-29; T-81.

#include "proprio/identification/constraints.h"
#include "proprio/identification/method.h"

namespace proprio {

Estimate consistentOrdinary(const IdentificationProblem& problem, const MethodOptions& options);
Estimate consistentWeighted(const IdentificationProblem& problem, const MethodOptions& options);
Estimate projectedLeastSquares(const IdentificationProblem& problem, const MethodOptions& options);

/// The consistent estimate for any triangular system in the base parameters whose rows have unit
/// noise. Estimate::sigma is left to the caller; PriorOptions::automatic is not looked at.
/// Constraints from shapes that contradict the rest are dropped, with a note.
/// @throws Error where the other constraints contradict each other.
Estimate solveConsistent(const IdentificationProblem& problem, const TriangularSystem& system,
                         const MethodOptions& options);

/// Is there any possible robot with these base parameters?
///   distance = min |W (beta - B chi)|  over chi whose links are possible and whose friction and
///   rotors are not negative; where only infinite masses come near, by a faint pull to the prior
struct BaseFeasibility {
  bool possible = false;
  double distance = 0.0;    ///< in standard deviations where W is the whitening of beta
  Eigen::VectorXd nearest;  ///< its base parameters
  std::vector<int> links;   ///< whose pseudo-inertia there is singular
};
/// @param problem  of which layout, base parameters and prior are read
/// @param W        rows x base parameters
/// @throws Error for sizes that do not fit.
BaseFeasibility baseFeasibility(const IdentificationProblem& problem, const Eigen::VectorXd& beta,
                                const Eigen::MatrixXd& W);

/// A body ten times as heavy as described, with a load that nobody declared, is not "100 % wrong"
/// but another body: believing its description as much as the others' would pull the estimate away
/// from what the data say, by many of its standard deviations. So where the estimate of a link is
/// farther from its description than four of the prior's standard deviations (norm over its ten
/// parameters and its mass), the description counts less by the square of half that distance, and
/// again, until nothing changes. What agrees with its description is not touched.
PriorOptions doubtingPrior(const IdentificationProblem& problem, const TriangularSystem& system,
                           const MethodOptions& options);

/// Weight among 1e-3 ... 1e3 whose estimates predict left-out blocks best. No other pass over the
/// samples.
/// @param sigma  noise per coordinate
double automaticPriorWeight(const IdentificationProblem& problem, const Eigen::VectorXd& sigma,
                            const MethodOptions& options);

/// The options with the weight that `automatic` asks for, from the noise of pc-wls; the same
/// options where it is given. tellWeight() adds to the notes what was found.
MethodOptions withKnownWeight(const IdentificationProblem& problem, const MethodOptions& options);
void tellWeight(const MethodOptions& asked, const MethodOptions& used,
                std::vector<std::string>* notes);

/// Noise per coordinate from the residuals of unconstrained least squares, with what consistent
/// methods need besides: at least 1e-6 of the joint's torque where data are exact, a tenth of it
/// where there are too few rows to tell.
Eigen::VectorXd consistentNoise(const IdentificationProblem& problem);
/// The same for noise that was found in another way; infinite where there are too few rows.
Eigen::VectorXd consistentNoise(const StackedProblem& stacked, Eigen::VectorXd sigma);
/// The same number for all coordinates.
Eigen::VectorXd commonNoise(const IdentificationProblem& problem);

/// Minimum of |A x - b|^2 of a problem with triangular rows; not a number where A is singular.
Eigen::VectorXd unconstrainedPoint(const LmiProblem& triangular);

/// xi moved towards `inside` as little as consistency and bounds of single unknowns ask for, which
/// is nothing for the solution of a solver that did its work.
Eigen::VectorXd keptInside(const ConsistentProblem& consistent, Eigen::VectorXd xi);

/// Adds the links whose description was doubted to the notes.
void tellDoubts(const IdentificationProblem& problem, const PriorOptions& prior,
                Estimate* estimate);

/// Everything of the estimate that follows from the point xi.
Estimate estimateAt(const IdentificationProblem& problem, const TriangularSystem& system,
                    const ConsistentProblem& consistent, const Eigen::VectorXd& xi,
                    const PriorOptions& prior);

}  // namespace proprio
