#pragma once

/// The memory of a series that may have gaps: autocovariances, and the autoregressive model
///
///   x_t = a_1 x_(t-1) + ... + a_p x_(t-p) + u_t,   u white
///
/// fitted to them (Yule-Walker by the Levinson-Durbin recursion; the order with the least BIC).
/// Only pairs of samples that both count enter an autocovariance; the k-th is tapered by 1 - k/n,
/// which without gaps is the usual biased estimate and keeps the model stable.
///
/// Residuals of a fit y = W x + e remember less than the noise e does: what slow columns of W can
/// explain is gone from them. With the hat matrix H = W (W^T W)^-1 W^T and noise whose density is
/// s^2 where these columns live,
///
///   E r_t r_(t+k) = E e_t e_(t+k) - s^2 H(t, t+k),
///
/// so that sums of H along its diagonals (`leverages`) give back what is missing. s^2 over the
/// variance of the noise is sum_k rho_k h_k / h_0 over all lags k of both signs, with the rho_k of
/// the model itself: a few rounds.
/// Sources: Brockwell and Davis 1991, ch. 8; Parzen 1963 (gaps); Cook and Weisberg 1982 (H).

#include <Eigen/Core>
#include <vector>

namespace proprio {

using Counts = Eigen::Array<bool, Eigen::Dynamic, 1>;
using ConstCounts = Eigen::Ref<const Counts>;
using ConstSeries = Eigen::Ref<const Eigen::VectorXd>;

struct Autocovariance {
  Eigen::VectorXd values;  ///< c_0 ... c_lags about the mean, c_k = (1 - k/n) mean of x_t x_(t+k)
  std::vector<Eigen::Index> pairs;  ///< behind each
  double mean = 0.0;
};

/// @param counts  samples that count; same size as the series
/// @throws Error for different sizes or values that count and are not numbers.
Autocovariance autocovariance(ConstSeries series, ConstCounts counts, Eigen::Index lags);

struct Autoregression {
  Eigen::VectorXd coefficients;   ///< a_1 ... a_p; empty: white
  double variance = 0.0;          ///< of x
  double innovation_share = 1.0;  ///< variance of u / variance of x

  Eigen::Index order() const { return coefficients.size(); }
  /// Sum of all autocorrelations: by how much slow averages vary more than those of white noise.
  double longRunRatio() const;
};

/// @param max_order  0: by the length of the series, at most 64
/// A series that is too short (fewer than 16 samples) or constant is taken as white.
Autoregression fitAutoregression(ConstSeries series, ConstCounts counts,
                                 Eigen::Index max_order = 0);

/// Lags that fitAutoregression() looks at for so many samples that count.
Eigen::Index highestOrder(Eigen::Index used);

/// The model of the noise behind residuals of a fit.
/// @param leverages  h_0 ... h_K: sums of H(t, t+k) over the pairs of samples that both count, of
///                   the lags that highestOrder() names
Autoregression fitNoise(ConstSeries residual, ConstCounts counts, ConstSeries leverages);

/// Adds to sums[k] the products of A with what is in B k rows earlier, k = 0 ... lags:
///   sum_t,c A(t, c) B(lags + t - k, c).
/// @param B  has `lags` rows more than A: those before
void addLaggedProducts(const Eigen::Ref<const Eigen::MatrixXd>& A,
                       const Eigen::Ref<const Eigen::MatrixXd>& B,
                       Eigen::Ref<Eigen::VectorXd> sums);

/// u_t / sqrt(innovation_share): the series with its memory taken out, of the same variance.
/// @param counts  becomes false where a sample or one of the p before it does not count
Eigen::VectorXd innovations(const Autoregression& model, ConstSeries series, Counts* counts);

}  // namespace proprio
