#pragma once

/// Is a series of residuals what a good model leaves: white, normal, of constant variance, and
/// unrelated to the inputs? Each test returns a statistic and the probability of one as large by
/// chance (its p-value). Samples that do not count are gaps.
///
///   whiteness           Ljung-Box: Q = (n + 2) / n sum_k r_k^2 n^2 / n_k over the lags k with n_k
///                       pairs, chi-square; n^2 / n_k = n^2 / (n - k) without gaps
///   normality           Jarque-Bera: n / 6 (skewness^2 + (kurtosis - 3)^2 / 4), chi-square(2)
///   constant variance   Breusch-Pagan in Koenker's form: n R^2 of e^2 on the columns of Z
///   independence        n R^2 of e on the inputs at the lags 1 ... L
///
/// The last three take the residuals as white: give them innovations (autoregression.h) if they are
/// not. Residuals of a regression are slightly nearer to the null than the tests assume.
/// References: A-24; Ljung and Box 1978, Jarque and Bera 1980, Koenker 1981.

#include "proprio/numerics/autoregression.h"

namespace proprio {

struct TestResult {
  double statistic = 0.0;
  double degrees = 0.0;  ///< of freedom; 0: too few samples to say anything
  double p_value = 1.0;

  bool rejects(double level) const { return degrees > 0.0 && p_value < level; }
};

/// @param fitted  parameters of an autoregression behind the series; the degrees of freedom shrink
TestResult whitenessTest(ConstSeries residuals, ConstCounts counts, Eigen::Index lags,
                         Eigen::Index fitted = 0);
TestResult normalityTest(ConstSeries residuals, ConstCounts counts);

/// n R^2 of the regression of y on a constant and the columns of Z, chi-square(rank - 1).
TestResult regressionTest(ConstSeries y, const Eigen::Ref<const Eigen::MatrixXd>& Z,
                          ConstCounts counts);
TestResult constantVarianceTest(ConstSeries residuals, const Eigen::Ref<const Eigen::MatrixXd>& Z,
                                ConstCounts counts);
/// @param inputs  row = sample, column = input
TestResult independenceTest(ConstSeries residuals, const Eigen::Ref<const Eigen::MatrixXd>& inputs,
                            ConstCounts counts, Eigen::Index lags);

/// r_k = correlation of residual t with input t - k, k = 0 ... lags, for pictures; under
/// independence and whiteness within +- 1.96 / sqrt(n) in 95 % of the lags.
Eigen::VectorXd crossCorrelation(ConstSeries residuals, ConstSeries input, ConstCounts counts,
                                 Eigen::Index lags);

}  // namespace proprio
