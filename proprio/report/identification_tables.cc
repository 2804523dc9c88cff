#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

#include "proprio/report/identification_tables_internal.h"

namespace proprio {

std::vector<std::string> coordinateUnits(const Tree& tree) {
  std::vector<std::string> units(static_cast<size_t>(tree.velocityCount()), "N m");
  const Model& model = tree.model();
  for (size_t k = 0; tree.floating() && k < 3; ++k) units[k] = "N";
  for (size_t j = 0; j < model.joints.size(); ++j) {
    const int first = tree.velocityIndex(static_cast<int>(j));
    if (first < 0) continue;
    if (model.joints[j].type == JointType::kPrismatic) units[static_cast<size_t>(first)] = "N";
    if (model.joints[j].type == JointType::kPlanar)
      units[static_cast<size_t>(first)] = units[static_cast<size_t>(first + 1)] = "N";
    if (model.joints[j].type == JointType::kFloating) std::fill_n(units.begin() + first, 3, "N");
  }
  return units;
}

Eigen::VectorXd baseSigma(const Estimate& estimate) {
  if (estimate.covariance.rows() != estimate.beta.size())
    return Eigen::VectorXd::Constant(estimate.beta.size(),
                                     std::numeric_limits<double>::quiet_NaN());
  return estimate.covariance.diagonal().cwiseMax(0.0).cwiseSqrt();
}

Eigen::Index knownWell(const Estimate& estimate) {
  const Eigen::ArrayXd sigma = baseSigma(estimate).array();
  return (sigma > 0.0 && 100.0 * sigma < kKnownWell * estimate.beta.array().abs()).count();
}

Eigen::VectorXd standardSigma(const IdentificationProblem& problem, const MethodResult& method) {
  Eigen::VectorXd sigma =
      Eigen::VectorXd::Constant(problem.layout->size(), std::numeric_limits<double>::quiet_NaN());
  const Eigen::VectorXd base = baseSigma(method.estimate);
  const std::vector<ParameterStatus> statuses = parameterStatuses(problem.base);
  for (size_t i = 0; i < problem.base.independent.size(); ++i) {
    const int parameter = problem.base.independent[i];
    if (statuses[static_cast<size_t>(parameter)] != ParameterStatus::kIdentifiable) continue;
    if (originOf(method, parameter) != ParameterOrigin::kData) continue;
    sigma[parameter] = base[static_cast<Eigen::Index>(i)];
  }
  return sigma;
}

InertialParameters bodyOf(const ParameterLayout& layout, const Eigen::VectorXd& chi, int link) {
  return InertialParameters::fromVector(Vector10d(chi.segment<10>(layout.linkOffset(link))));
}

std::vector<int> movedLinks(const Tree& tree) {
  std::vector<int> links;
  const std::vector<TreeBody>& bodies = tree.bodies();
  std::vector<bool> moves(bodies.size(), false);
  for (size_t b = 0; b < bodies.size(); ++b) {
    const int parent = bodies[b].parent;
    moves[b] =
        bodies[b].joint != BodyJoint::kFixed || (parent >= 0 && moves[static_cast<size_t>(parent)]);
    if (moves[b] && bodies[b].link >= 0) links.push_back(bodies[b].link);
  }
  std::sort(links.begin(), links.end());
  return links;
}

ParameterOrigin originOf(const MethodResult& method, int parameter) {
  const auto index = static_cast<size_t>(parameter);
  return index < method.origins.size() ? method.origins[index] : ParameterOrigin::kPrior;
}

std::string verdictBeside(const IdentificationResult& result) {
  const std::string& verdict = result.verdict;
  if (passedInPart(result)) return verdict.substr(std::string("Passed ").size());
  for (const std::string word : {"Passed: ", "Failed: ", "Not validated: "}) {
    if (!verdict.starts_with(word) || verdict.size() == word.size()) continue;
    std::string text = verdict.substr(word.size());
    // words begin large, names of channels and joints stay as they are
    const size_t end = text.find_first_of(" ,");
    if (std::all_of(text.begin(),
                    text.begin() +
                        static_cast<std::ptrdiff_t>(end == std::string::npos ? text.size() : end),
                    [](unsigned char c) { return std::isalpha(c) != 0; }))
      text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    return text;
  }
  return verdict;
}

bool passedInPart(const IdentificationResult& result) {
  return result.passed && result.verdict.starts_with("Passed except ");
}

}  // namespace proprio
