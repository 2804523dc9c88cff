#include "proprio/identification/cross_validation.h"

#include <fmt/format.h>

#include "proprio/identification/robust_covariance.h"

namespace proprio {
namespace {

/// One fold: the problem without one block.
IdentificationProblem without(const IdentificationProblem& problem, size_t block) {
  IdentificationProblem rest = problem;
  const StackedBlock& left_out = problem.stacked.blocks[block];
  rest.data[static_cast<size_t>(left_out.recording)]
      .use.middleRows(left_out.start, left_out.count)
      .setConstant(false);
  rest.stacked.blocks.erase(rest.stacked.blocks.begin() + static_cast<std::ptrdiff_t>(block));
  return rest;
}

/// Per coordinate the largest |tau - W beta| of the rows of a block that count; the factors keep
/// only sums of squares.
Eigen::VectorXd largestResiduals(const IdentificationProblem& problem, const StackedBlock& block,
                                 const Eigen::VectorXd& beta) {
  const MotionData data =
      middleSamples(problem.data[static_cast<size_t>(block.recording)], block.start, block.count);
  const Eigen::MatrixXd residuals = torqueResiduals(problem, data, beta);
  return data.use.select(residuals.array().abs(), 0.0).colwise().maxCoeff().transpose();
}

}  // namespace

Evaluation crossValidation(const IdentificationProblem& problem, const Method& method,
                           const MethodOptions& options) {
  const StackedProblem& stacked = problem.stacked;
  const Eigen::VectorXd torques = squaredTorques(stacked);
  Eigen::VectorXd errors = Eigen::VectorXd::Zero(stacked.coordinates()), peaks = errors;
  for (size_t k = 0; k < stacked.blocks.size(); ++k) {
    const Estimate estimate = method.run(without(problem, k), options);
    errors += squaredResiduals(stacked, estimate.beta, {static_cast<int>(k)});
    peaks = peaks.cwiseMax(largestResiduals(problem, stacked.blocks[k], estimate.beta));
  }
  Evaluation evaluation;
  evaluation.model = method.name;
  evaluation.recording = fmt::format("each of {} blocks in turn", stacked.blocks.size());
  evaluation.in_turn = true;
  for (int j = 0; j < stacked.coordinates(); ++j)
    evaluation.joints.push_back(jointError(errors[j], torques[j], peaks[j], stacked.rows(j)));
  evaluation.overall = jointError(errors.sum(), torques.sum(), peaks.maxCoeff(), stacked.rows());
  shareVectorNorms(*problem.tree, &evaluation);
  return evaluation;
}

}  // namespace proprio
