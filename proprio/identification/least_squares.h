#pragma once

/// Unconstrained least squares on the stacked base regressor, y = W beta + e.
///
///   ols   all rows alike
///   wls   rows of joint j divided by sigma_j, sigma_j^2 = |e_j|^2 / (r_j - b_j) of its own
///   residual
///         e_j of r_j rows, b_j = trace(P W_j^T W_j / sigma_j^2), P = (sum_j W_j^T W_j /
///         sigma_j^2)^-1: the part of the parameters that joint j decides (restricted maximum
///         likelihood, a few rounds from ols)                             (Leboutet 2022 eq. 17,
///         corrected) MethodOptions::full_covariance: noise correlated between joints
///         (joint_covariance.h)
///   ridge either, plus a pull towards the prior's base parameters: MethodOptions::ridge times the
///         distance in units of the prior's size
///
/// Columns are scaled to unit length before the factor is taken apart; directions whose singular
/// value is below 1e-10 of the largest are not decided by the data: there the prior's value stays,
/// and Estimate::undecided says so in words. Covariance (W^T S^-1 W)^-1 on the decided part.
/// References: L-18, L-19, A-27, A-28.

#include "proprio/identification/method.h"

namespace proprio {

Estimate ordinaryLeastSquares(const IdentificationProblem& problem, const MethodOptions& options);
Estimate weightedLeastSquares(const IdentificationProblem& problem, const MethodOptions& options);

/// Noise per coordinate as wls finds it; infinite where a coordinate has no rows left.
Eigen::VectorXd jointNoise(const StackedProblem& problem);
/// ... from the residuals of another estimate.
Eigen::VectorXd jointNoise(const StackedProblem& problem, const Eigen::VectorXd& beta);

/// The estimate of one small problem whose rows have unit noise, with the ridge of the options.
/// @param sigma  what the rows were divided by; kept in the estimate
Estimate solveSystem(const IdentificationProblem& problem, TriangularSystem system,
                     const MethodOptions& options, const Eigen::VectorXd& sigma);

/// Minimum of |A x - b|^2 with the rank of A found out, x nearest to `start` where A is silent.
struct RankedSolution {
  Eigen::VectorXd x;
  Eigen::MatrixXd covariance;       ///< (A^T A)^-1 on the decided part, for unit noise
  double condition = 0.0;           ///< of the decided part, columns scaled to unit length
  Eigen::MatrixXd silent;           ///< columns: directions of x that A does not see, unit length
  Eigen::VectorXd singular_values;  ///< scaled, descending
  Eigen::MatrixXd directions;  ///< right singular vectors in scaled coordinates, one per column
  Eigen::VectorXd column_scale;
};
RankedSolution solveRanked(const Eigen::MatrixXd& A, const Eigen::VectorXd& b,
                           const Eigen::VectorXd& start, double tolerance = 1e-10);

/// solveSystem() in two steps, for those who solve many systems before they want an estimate.
RankedSolution solveRidged(const IdentificationProblem& problem, TriangularSystem system,
                           const MethodOptions& options);
Estimate estimateOf(const IdentificationProblem& problem, const RankedSolution& solution,
                    const Eigen::VectorXd& sigma);

/// The standard parameters with these base parameters that are nearest to the prior, link inertias
/// in the constant pull-back metric, the others relative to their size. Not necessarily possible.
Eigen::VectorXd standardFromBase(const IdentificationProblem& problem, const Eigen::VectorXd& beta);

/// "mass of forearm against first moment x of upper_arm": a direction in base parameters in words,
/// the largest shares first.
std::string directionText(const IdentificationProblem& problem, const Eigen::VectorXd& direction);
/// ... of each column.
std::vector<std::string> directionTexts(const IdentificationProblem& problem,
                                        const Eigen::MatrixXd& directions);

/// Per standard parameter: data, combination or prior. The data decide a base parameter if they
/// bring its standard deviation below half of what the prior believes, or its value farther from
/// the prior's than that deviation (and than two of its own): the prior cannot have said so. Those
/// that they do not decide make the parameters that they stand for prior.
std::vector<ParameterOrigin> parameterOrigins(const IdentificationProblem& problem,
                                              const Estimate& estimate);

}  // namespace proprio
