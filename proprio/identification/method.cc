#include "proprio/identification/method.h"

#include <algorithm>
#include <chrono>

#include "proprio/core/text.h"
#include "proprio/dynamics/sampled_identifiability.h"
#include "proprio/dynamics/structural_identifiability.h"
#include "proprio/identification/closed_loop_error.h"
#include "proprio/identification/consistent_alternatives.h"
#include "proprio/identification/consistent_least_squares.h"
#include "proprio/identification/essential_parameters.h"
#include "proprio/identification/instrumental_variables.h"
#include "proprio/identification/least_squares.h"
#include "proprio/identification/maximum_likelihood.h"
#include "proprio/identification/prior.h"
#include "proprio/identification/random_sample_consensus.h"
#include "proprio/identification/robust_least_squares.h"
#include "proprio/identification/sensed_wrenches.h"

namespace proprio {

const char* toString(ParameterOrigin origin) {
  switch (origin) {
    case ParameterOrigin::kData:
      return "data";
    case ParameterOrigin::kCombination:
      return "combination";
    case ParameterOrigin::kPrior:
      break;
  }
  return "prior";
}

namespace {

/// Joints whose torque rows count anywhere; none stands for all.
Measurement measuredJoints(const Tree& tree, const std::vector<MotionData>& data) {
  Measurement measurement;
  const Model& model = tree.model();
  for (size_t joint = 0; joint < model.joints.size(); ++joint) {
    const int i = tree.velocityIndex(static_cast<int>(joint));
    if (i < 0 || model.joints[joint].mimic) continue;
    const bool counts = std::any_of(data.begin(), data.end(), [i](const MotionData& motion) {
      return i < motion.use.cols() && motion.use.col(i).any();
    });
    if (counts) measurement.joints.push_back(static_cast<int>(joint));
  }
  return measurement;
}

}  // namespace

IdentificationProblem identificationProblem(const std::shared_ptr<const Tree>& tree,
                                            std::vector<MotionData> data) {
  IdentificationProblem problem;
  problem.tree = tree;
  problem.layout = std::make_shared<const ParameterLayout>(tree->sharedModel());
  const Measurement measurement = measuredJoints(*tree, data);
  problem.base = hasSensedWrenches(tree->model())
                     ? sensedBaseParameters(*tree, problem.layout, data)
                 : structuralAnalysisObstacle(*tree).empty()
                     ? structuralBaseParameters(*tree, problem.layout, measurement)
                     : sampledBaseParameters(*tree, problem.layout, measurement);
  problem.data = std::move(data);
  problem.stacked = stack(*tree, problem.layout, problem.base.independent, problem.data);
  Prior prior = priorParameters(*tree, *problem.layout);
  problem.prior = std::move(prior.chi);
  problem.sizes = parameterSizes(*tree, *problem.layout, problem.prior, problem.data);
  problem.repaired = std::move(prior.repaired);
  problem.guessed = std::move(prior.guessed);
  problem.labels = shortLabels(*tree, *problem.layout).value_or(fullLabels(*problem.layout));
  return problem;
}

const std::vector<Method>& methods() {
  static const std::vector<Method> all = {
      {"ols", "least squares, all joints alike", false, false, ordinaryLeastSquares},
      {"wls", "least squares, each joint weighted by its noise", false, false,
       weightedLeastSquares},
      {"irls", "least squares that gross errors in single rows do not break", false, false,
       reweightedLeastSquares},
      {"ransac", "wls on the largest set of rows that agree with each other", false, false,
       randomSampleConsensus},
      {"tls", "total least squares: noise in the regressor as in the torques", false, false,
       totalLeastSquares},
      {"ml", "maximum likelihood: noise in the motion as well as in the torques", false, false,
       maximumLikelihood},
      {"essential", "wls with only the parameters that data tell from zero", false, false,
       essentialLeastSquares},
      {"iv", "instrumental variables along the simulated closed loop", false, true,
       instrumentalVariables},
      {"iv-commanded", "instrumental variables along the commanded motion", false, true,
       commandedInstruments},
      {"didim", "least squares along the simulated closed loop", false, true, directAndInverse},
      {"cloe", "output error: simulated against recorded positions", false, true,
       closedLoopOutputError},
      {"clie", "input error: simulated against recorded torques", false, true,
       closedLoopInputError},
      {"pc-ols", "ols under physical consistency", true, false, consistentOrdinary},
      {"pc-wls", "wls under physical consistency", true, false, consistentWeighted},
      {"pc-irls", "irls under physical consistency", true, false, consistentReweighted},
      {"projection", "wls, then the nearest possible robot", true, false, projectedLeastSquares},
      {"pc-iv", "iv under physical consistency", true, true, consistentInstruments},
      {"pc-iv-commanded", "iv-commanded under physical consistency", true, true,
       consistentCommandedInstruments},
      {"pc-didim", "didim under physical consistency", true, true, consistentDirectAndInverse},
      {"log-cholesky", "pc-wls in log-Cholesky coordinates", true, false, logCholeskyMethod},
      {"manifold", "pc-wls on masses, centres, axes and second moments", true, false,
       manifoldMethod},
      {"pc-sqp", "pc-wls by quadratic programs on Cholesky entries", true, false, gaussNewtonSqp},
      {"pc-sqp-published", "the same in its published form", true, false, publishedSqp},
      {"polytope", "pc-wls with point masses at fixed places", true, false, polytopeMethod},
  };
  return all;
}

const Method& method(const std::string& name) {
  std::vector<std::string> names;
  for (const Method& candidate : methods()) {
    if (candidate.name == name) return candidate;
    names.emplace_back(candidate.name);
  }
  throw Error("there is no method " + inQuotes(name) + didYouMean(name, names));
}

Estimate identify(const std::string& method_name, const IdentificationProblem& problem,
                  const MethodOptions& options) {
  const Method& chosen = method(method_name);
  const auto start = std::chrono::steady_clock::now();
  Estimate estimate = chosen.run(problem, options);
  estimate.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  estimate.method = chosen.name;
  return estimate;
}

}  // namespace proprio
