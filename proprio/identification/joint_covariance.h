#pragma once

/// Torque noise that is correlated between the joints, Omega = cov(e) of one sample.
///
/// Rows of one sample are mixed by the inverse Cholesky factor of Omega, restricted to the joints
/// whose rows count in that sample; then all rows have unit noise and least squares on them is the
/// best linear estimate. Needs another pass over the samples, since rows of different joints meet.
/// Source: Leboutet 2022, 2.2 (off-diagonal joint covariance). References: L-19, A-28.

#include "proprio/identification/method.h"

namespace proprio {

/// y - W beta of every recording, sample x coordinate, times the weight of the recording; zero in
/// rows that do not count.
std::vector<Eigen::ArrayXXd> torqueResiduals(const IdentificationProblem& problem,
                                             const Eigen::VectorXd& beta);

/// Omega with the given standard deviations, and correlations of the residuals in samples where
/// all joints count; joints with infinite sigma (no rows) stay by themselves.
/// @throws Error if fewer than ten samples per joint have all joints.
Eigen::MatrixXd jointCovariance(const IdentificationProblem& problem,
                                const std::vector<Eigen::ArrayXXd>& residuals,
                                const Eigen::VectorXd& sigma);

/// The residuals in units of unit noise, mixed as the rows are.
std::vector<Eigen::ArrayXXd> whitenedResiduals(const IdentificationProblem& problem,
                                               const std::vector<Eigen::ArrayXXd>& residuals,
                                               const Eigen::MatrixXd& covariance);

/// The mixed rows as one small problem.
/// @param row_weights  factors of the mixed rows, as in StackOptions; empty: none
TriangularSystem correlatedSystem(const IdentificationProblem& problem,
                                  const Eigen::MatrixXd& covariance,
                                  const std::vector<Eigen::ArrayXXd>& row_weights = {});

}  // namespace proprio
