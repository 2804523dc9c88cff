#pragma once

/// Does noise in positions, velocities and accelerations bias least squares? Durbin, Wu and
/// Hausman compare the estimate with one by instruments Z: rows of the regressor that know the
/// motion but not the noise of the sample. If the regressor W has no noise both estimate the same,
/// and the part of Z that W does not explain is unrelated to the residual e:
///
///   g = (M_W Z)^T e,  M_W = 1 - W W^+,   statistic g^T Cov(g)^-1 g,
///
/// Fisher-distributed; Cov(g) takes the residuals' memory into account (robust_covariance.h).
/// Instruments need no simulation here: the commanded motion where it was recorded, otherwise the
/// mean of the motion some samples before and after, farther away than the noise remembers.
/// A difference can also come from delays or from dynamics that the model lacks; it is a difference
/// all the same, and the size of it is told beside the probability.
/// Instruments that hardly know the motion give an estimate so uncertain that no bias would show,
/// and a regressor that is mostly noise has no such instruments. Therefore the smallest bias that
/// would be noticed is told as well, and where it is more than five standard deviations of least
/// squares for more than a quarter of the base parameters, nothing found means nothing known. At
/// most about 2000 samples of each recording are looked at. References: A-31, A-32 (what to do
/// about it); Hausman 1978.

#include <limits>
#include <string>

#include "proprio/identification/method.h"
#include "proprio/numerics/residual_tests.h"

namespace proprio {

struct NoiseBiasTest {
  TestResult result;
  std::string instruments;  ///< where they come from, in words
  /// How far the instrumental estimate is from least squares: the largest of all base parameters
  /// in standard deviations of the latter (memory included), and which one it is.
  double largest_shift = 0.0;
  int shifted = -1;
  /// Root mean square of the predicted torques' change in units of the noise.
  double torque_shift = 0.0;
  /// How well the instruments know the motion: 1 as well as the signals, 0 not at all. Below 0.1
  /// nothing can be said and result.degrees is 0.
  double relevance = 0.0;

  /// The smallest bias that would be noticed (at 1 %, in nine of ten cases), in standard deviations
  /// of least squares: three quarters of the base parameters need no larger one.
  double detectable = std::numeric_limits<double>::infinity();

  /// Unlikely to be chance, and large enough to matter.
  bool biased() const { return result.rejects(0.01) && largest_shift > 3.0; }
  /// Whether there is an answer: "not biased" is one only if a bias would have been noticed.
  bool decided() const { return result.degrees > 0.0 && (biased() || detectable <= kSmallEnough); }
  static constexpr double kSmallEnough = 5.0;
};

/// @param estimate  of wls (or another with weights per joint); values and noise are used
NoiseBiasTest testNoiseBias(const IdentificationProblem& problem, const Estimate& estimate);

}  // namespace proprio
