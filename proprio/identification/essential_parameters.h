#pragma once

/// Essential parameters: those that the recordings can tell from zero. The rest is set to zero
/// and the others estimated anew; predictions hardly change, and standard deviations shrink. With
/// %s_i = 100 sigma_i / |beta_i|, the rules are
///
///   kThreshold   drop all with %s > percent (20; 30 is common too), once
///   kTimesBest   drop all with %s > times * min %s (10), once                    (Khalil, Dombre)
///   kRatio       drop the largest %s and estimate anew until max / min <= ratio (10 to 30)
///                                                                              (Gautier 2013)
///   kStepwise    drop the largest %s above `percent` if predictions do not suffer (residual norm,
///                of held-out rows if given, grows by at most `loss`), else keep it, and so on
///                                                                          (Pham, Gautier)
///   kFisher      drop the largest %s until the F-test rejects what was dropped in all:
///                F = (|e_e|^2 - |e|^2) / |e|^2 (r - b) / (b - b_e)                  (Janot)
///   kTriangle    drop the columns that those before them explain: small |R_jj|
///
/// Columns that depend on others exactly go first under every rule. The F-test takes rows as
/// independent; correlated residuals are allowed for by `inflation` (robust_covariance.h).
/// References, T-80.

#include <string>
#include <vector>

#include "proprio/identification/essential_options.h"
#include "proprio/identification/method.h"
#include "proprio/numerics/residual_tests.h"

namespace proprio {

struct EssentialParameters {
  std::vector<int> kept;     ///< columns, ascending
  std::vector<int> dropped;  ///< in the order in which they went
  Eigen::VectorXd x;         ///< zero where dropped
  Eigen::MatrixXd covariance;
  Eigen::VectorXd percent;  ///< relative standard deviations; infinite if dropped
  TestResult test;          ///< F-test of what was dropped
  double norm_before = 0.0, norm_after = 0.0;  ///< of the residual
};

/// @param system  rows divided by their noise (weightedSystem)
/// @throws Error for options out of range or fewer rows than columns.
EssentialParameters essentialParameters(const TriangularSystem& system,
                                        const EssentialOptions& options = {});

/// The F-test of the hypothesis that all columns but `kept` have no part: a small p-value says that
/// something essential was dropped.
TestResult fisherTest(const TriangularSystem& system, const std::vector<int>& kept,
                      double inflation = 1.0);

/// wls with only the essential base parameters by the rule of MethodOptions::essential (residuals'
/// memory allowed for); the method "essential". Its notes say in words what was dropped.
Estimate essentialLeastSquares(const IdentificationProblem& problem, const MethodOptions& options);

}  // namespace proprio
