#include "proprio/identification/undeclared_springs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "proprio/identification/least_squares.h"
#include "proprio/identification/robust_covariance.h"

namespace proprio {
namespace {

using Eigen::Index;

constexpr Index kEnoughSamples = 2000;

/// Joints that could have a spring, as places in Model::joints.
std::vector<size_t> jointsWithoutSpring(const IdentificationProblem& problem) {
  const Tree& tree = *problem.tree;
  std::vector<size_t> found;
  for (size_t k = 0; k < tree.model().joints.size(); ++k) {
    const Joint& joint = tree.model().joints[k];
    if (joint.velocity_index < 0 || velocityCount(joint.type) != 1 || joint.mimic || joint.sensed ||
        joint.spring.declared)
      continue;
    if (problem.stacked.rows(tree.velocityIndex(static_cast<int>(k))) > 0) found.push_back(k);
  }
  return found;
}

/// Every n-th sample: a spring that is worth telling shows in kEnoughSamples.
std::vector<MotionData> thinned(const std::vector<MotionData>& all) {
  Index samples = 0;
  for (const MotionData& data : all) samples += data.samples();
  std::vector<MotionData> fewer;
  for (const MotionData& data : all) fewer.push_back(everyNth(data, 1 + samples / kEnoughSamples));
  return fewer;
}

/// Root mean square of a position about its mean, of the rows that count.
double deviationOfPosition(const IdentificationProblem& problem, int q, int v) {
  double count = 0.0, sum = 0.0, squares = 0.0;
  for (const MotionData& data : problem.data) {
    for (Index i = 0; i < data.samples(); ++i) {
      if (!data.use(i, v)) continue;
      count += 1.0;
      sum += data.q(i, q);
      squares += data.q(i, q) * data.q(i, q);
    }
  }
  return std::sqrt(std::max(0.0, squares / count - std::pow(sum / count, 2.0)));
}

}  // namespace

std::vector<UndeclaredSpring> findSprings(const IdentificationProblem& problem,
                                          const Estimate& estimate) {
  const std::vector<size_t> candidates = jointsWithoutSpring(problem);
  std::vector<UndeclaredSpring> found;
  if (candidates.empty()) return found;
  Model sprung = problem.tree->model();
  for (const size_t k : candidates) sprung.joints[k].spring = {true, 0.0, 0.0};
  const auto tree = std::make_shared<const Tree>(std::make_shared<const Model>(std::move(sprung)));
  const IdentificationProblem with = identificationProblem(tree, thinned(problem.data));
  const Estimate fit = weightedLeastSquares(with, {});
  const CorrectedCovariance corrected = correctedCovariance(with, fit);
  const Eigen::VectorXd torques = squaredTorques(problem.stacked);
  for (const size_t k : candidates) {
    const Joint& joint = tree->model().joints[k];
    const int column = with.layout->index(joint.name + ".spring_stiffness");
    const std::vector<int>& kept = with.base.independent;
    const auto place = std::find(kept.begin(), kept.end(), column);
    if (place == kept.end()) continue;
    const auto i = static_cast<Index>(place - kept.begin());
    const int v = tree->velocityIndex(static_cast<int>(k)),
              q = tree->positionIndex(static_cast<int>(k));
    UndeclaredSpring spring{static_cast<int>(k), fit.beta[i], std::sqrt(corrected.covariance(i, i)),
                            estimate.sigma[v] / fit.sigma[v]};
    const double torque = std::sqrt(torques[v] / static_cast<double>(problem.stacked.rows(v)));
    const bool sure =
        spring.stiffness > confidenceHalfWidth(spring.deviation, corrected.degrees[i], kSureSpring);
    const bool large =
        spring.stiffness * deviationOfPosition(problem, q, v) > kSpringShare * torque;
    if (sure && large && spring.better > kSpringBetter) found.push_back(spring);
  }
  return found;
}

std::string springText(const Model& model, const UndeclaredSpring& spring) {
  const Joint& joint = model.joints[static_cast<size_t>(spring.joint)];
  return fmt::format(
      "the torque of joint '{0}' looks like a spring (a gravity compensator, hoses) of {1:.3g} ± "
      "{2:.2g} {3} (with it {4:.0f} % "
      "less of the torque remain): declare it in robot.yaml, 'joints: {{{0}: {{spring: "
      "{{stiffness: {1:.3g}}}}}}}'; stiffness and rest are then identified",
      joint.name, spring.stiffness, spring.deviation,
      joint.type == JointType::kPrismatic ? "N/m" : "N m/rad", 100.0 * (1.0 - 1.0 / spring.better));
}

}  // namespace proprio
