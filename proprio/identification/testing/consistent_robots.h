#pragma once

/// Problems with a known possible robot behind them and a prior that is another one.

#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "proprio/identification/method.h"
#include "proprio/identification/testing/synthetic_data.h"
#include "proprio/spatial/log_cholesky.h"
#include "proprio/spatial/physical_consistency.h"

namespace proprio::testing {

/// Every moving link moved by `size` times normal numbers in log-Cholesky coordinates, the other
/// parameters by that part of themselves; all stays possible.
inline Eigen::VectorXd anotherRobot(const Tree& tree, const ParameterLayout& layout,
                                    Eigen::VectorXd chi, double size, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> gaussian(0.0, 1.0);
  for (int link = 0; link < layout.inertialSize() / 10; ++link) {
    const auto body = InertialParameters::fromVector(chi.segment<10>(10 * link));
    if (link == tree.baseLink() || !consistencyMargins(body).fullyConsistent()) continue;
    Vector10d theta = logCholesky(body);
    // lengths move by a part of the body's own size
    const double length = std::exp(theta[1]) + std::exp(theta[2]) + std::exp(theta[3]);
    for (int i = 0; i < 4; ++i) theta[i] += size * gaussian(random);
    for (int i = 4; i < 10; ++i) theta[i] += size * length / 3.0 * gaussian(random);
    chi.segment<10>(10 * link) = fromLogCholesky(theta).vector();
  }
  for (Eigen::Index i = layout.inertialSize(); i < chi.size(); ++i) {
    chi[i] *= std::exp(size * gaussian(random));
  }
  return chi;
}

struct KnownProblem {
  IdentificationProblem problem;
  Eigen::VectorXd truth;       // standard parameters
  Eigen::VectorXd truth_beta;  // base parameters
};

struct KnownProblemOptions {
  Eigen::Index samples = 1000;
  double noise = 0.0;       // N m
  double difference = 0.3;  // between truth and prior
  double motion = 1.0;      // part of the full motion
  unsigned seed = 1;
};

inline KnownProblem knownProblem(const std::shared_ptr<const Tree>& tree,
                                 const KnownProblemOptions& options) {
  KnownProblem known;
  MotionData data = noisyData(*tree, options.samples, 0.0, options.seed);
  data.q *= options.motion;
  data.v *= options.motion;
  data.a *= options.motion;
  known.problem = identificationProblem(tree, {data});
  const ParameterLayout& layout = *known.problem.layout;
  known.truth =
      anotherRobot(*tree, layout, known.problem.prior, options.difference, options.seed + 1000);
  std::mt19937_64 random(options.seed + 2000);
  std::normal_distribution<double> gaussian(0.0, 1.0);
  data.tau = predictTorques(*tree, layout, known.truth, data);
  if (options.noise > 0.0) {
    data.tau += Eigen::MatrixXd::NullaryExpr(data.tau.rows(), data.tau.cols(),
                                             [&] { return options.noise * gaussian(random); });
  }
  known.problem.data = {data};
  known.problem.stacked =
      stack(*tree, known.problem.layout, known.problem.base.independent, known.problem.data);
  known.truth_beta = baseMatrix(known.problem.base) * known.truth;
  return known;
}

/// The smallest relative margin of the links that move, against the prior.
inline double smallestMargin(const IdentificationProblem& problem, const Eigen::VectorXd& chi) {
  double smallest = 1e300;
  for (int link = 0; link < problem.layout->inertialSize() / 10; ++link) {
    const auto prior = InertialParameters::fromVector(problem.prior.segment<10>(10 * link));
    if (link == problem.tree->baseLink() && !problem.tree->floating()) continue;
    const auto body = InertialParameters::fromVector(chi.segment<10>(10 * link));
    smallest = std::min(smallest, relativeMargin(body, prior));
  }
  return smallest;
}

}  // namespace proprio::testing
