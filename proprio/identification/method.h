#pragma once

/// Methods of identification, by name. All take the same problem and return the same Estimate.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proprio/identification/constraints.h"
#include "proprio/identification/essential_options.h"
#include "proprio/identification/estimate.h"
#include "proprio/identification/stacked_problem.h"
#include "proprio/model/repair.h"

namespace proprio {

/// Everything that methods read. Made by identificationProblem().
struct IdentificationProblem {
  std::shared_ptr<const Tree> tree;
  std::shared_ptr<const ParameterLayout> layout;
  BaseParameters base;
  std::vector<MotionData> data;
  StackedProblem stacked;     ///< columns: base.independent
  Eigen::VectorXd prior;      ///< standard parameters: declared ones, impossible links repaired
  Eigen::VectorXd sizes;      ///< of the parameters after the links (prior.h)
  std::vector<int> repaired;  ///< links whose declared inertia was impossible
  std::vector<int> guessed;   ///< links without a declared mass
  std::vector<std::string> labels;  ///< names of the standard parameters, as people write them
};

/// Base parameters of the tree by the exact route where it applies (else sampled), the stacked
/// rows, and the prior.
IdentificationProblem identificationProblem(const std::shared_ptr<const Tree>& tree,
                                            std::vector<MotionData> data);

struct MethodOptions {
  int max_iterations = 0;  ///< 0: the method's own
  double tolerance = 0.0;  ///< 0: the method's own
  double ridge = 0.0;      ///< of unconstrained methods: weight of the pull towards the prior
  double window = 0.0;  ///< irls: rows beyond so many deviations are left out; 0: Huber's weights
  bool rescale_gains =
      false;  ///< methods that simulate: declared servo gains grow with the estimated inertia
  bool full_covariance = false;  ///< wls, irls: torque noise correlated between the joints
  EssentialOptions essential;    ///< essential: the rule
  // of physically consistent methods
  ConsistencyOptions constraints;
  PriorOptions prior;
};

struct Method {
  const char* name;
  const char* summary;      ///< one line
  bool consistent = false;  ///< every result is physically possible
  bool simulates = false;   ///< needs the commanded motion and the robot's servo
  Estimate (*run)(const IdentificationProblem& problem, const MethodOptions& options);
};

const std::vector<Method>& methods();
/// @throws Error with the nearest names.
const Method& method(const std::string& name);

/// Runs it and measures the time.
Estimate identify(const std::string& method_name, const IdentificationProblem& problem,
                  const MethodOptions& options = {});

}  // namespace proprio
