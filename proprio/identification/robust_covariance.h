#pragma once

/// The covariance of an estimate when residuals are correlated in time, as those of filtered
/// recordings and of unmodelled friction always are. With rows weighted by 1 / s_j and residuals of
/// coordinate j that have variance sigma_j^2 and autocorrelation matrix Rho_j,
///
///   Cov = P (sum_j W_j^T Rho_j W_j sigma_j^2 / s_j^4) P,    P = (sum_j W_j^T W_j / s_j^2)^-1.
///
/// Rho_j is that of an autoregressive model A(z) of the residual (numerics/autoregression.h), per
/// recording; rows that do not count are gaps. W_j^T Rho_j W_j is then what remains of the columns
/// of W_j after the filter 1 / A(z), squared: one more pass over the samples, and none where the
/// residuals are white, for which the ordinary covariance P comes out exactly.
/// sigma_j^2 is corrected too: parameters explain more of coloured noise than of white noise. And
/// since they explain the slow part of it first, the model is that of the noise behind the
/// residuals (fitNoise): with 52 parameters and 500 rows per joint variances were 17 % too small
/// without.
///
/// `ols` and `wls` (their weights are known) get this covariance, which for `ols` also tells the
/// joints' noise apart. Other methods keep their own covariance, scaled per parameter by the ratio
/// of the deviations of the formula with and without the correction; methods with instruments Z
/// (Estimate::instruments) with Z in place of W, because Z is what multiplies their noise.
/// Limits: the residuals of different joints are taken as independent. What the model lacks is a
/// bias that no covariance shows, such as dry friction while a joint turns round.
/// Sources: Newey and West 1987 (idea), Berk 1974 (autoregressive spectrum and its variance),
/// Satterthwaite 1946.

#include "proprio/identification/method.h"

namespace proprio {

struct CorrectedCovariance {
  Eigen::MatrixXd covariance;  ///< of Estimate::beta
  /// Per coordinate: how many rows in a row tell as much as one (variance of the parameters that
  /// it decides, with over without correlation); 1 for white residuals.
  Eigen::VectorXd inflation;
  std::vector<int> orders;  ///< per coordinate: the longest memory found, samples; 0: white
  /// Per base parameter: degrees of freedom behind its standard deviation (Satterthwaite over the
  /// coordinates, each with the rows that its parameters left, or with rows / (2 order) of the
  /// spectrum where residuals have a memory).
  Eigen::VectorXd degrees;
};

CorrectedCovariance correctedCovariance(const IdentificationProblem& problem,
                                        const Estimate& estimate);

/// Half the width of the interval value +- width that holds the truth with this probability.
/// Student's distribution.
double confidenceHalfWidth(double standard_deviation, double degrees, double level = 0.95);

/// tau - W beta of one recording: row = sample, column = coordinate (rows that do not count too).
Eigen::MatrixXd torqueResiduals(const IdentificationProblem& problem, const MotionData& data,
                                const Eigen::VectorXd& beta);

}  // namespace proprio
