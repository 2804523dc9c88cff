#include "proprio/identification/recording_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "proprio/core/text.h"
#include "proprio/identification/diagnosis.h"
#include "proprio/identification/joint_gains.h"
#include "proprio/identification/plausibility.h"
#include "proprio/identification/prior.h"
#include "proprio/identification/torque_delay.h"

namespace proprio {
namespace {

/// s; longer delays make the columns useless (recording/quality.cc), and should be seen.
constexpr double kTellableDelay = 0.03;

using Findings = std::vector<QualityFinding>;

/// What to do about torques of another scale.
constexpr char kOtherScale[] =
    "check unit, gear ratios and drive gains; if they are motor currents, declare 'quantity: "
    "current' and each joint's 'drive: {gain: ...}' (N m per ampere) in robot.yaml";

/// Scales beside mistakes of another kind: they are not judged, but they may be the reason.
void tellScales(const Tree& tree, const ScaleSuspects& suspects, Findings* findings) {
  const std::vector<std::string> names = coordinateNames(tree);
  std::vector<std::string> joints;
  for (const auto& [coordinate, gain] : suspects)
    joints.push_back(fmt::format("'{}' {:.2g}", names[static_cast<size_t>(coordinate)], gain));
  if (!joints.empty())
    findings->push_back(
        {Severity::kError, "",
         fmt::format("torques are far from what the description predicts, so many times as "
                     "large: {}; {}",
                     fmt::join(joints, ", "), kOtherScale)});
}

/// Placeholders among the declared inertias, of links and of what is fixed to them.
void checkInertias(const Tree& tree, Findings* findings) {
  const auto check = [&](const std::string& name, const InertialParameters& body) {
    if (!isPlaceholderInertia(body)) return;
    findings->push_back(
        {Severity::kWarning, name,
         fmt::format("link '{}' has the unit matrix as inertia, an exporter's default: it is "
                     "taken for a sphere of its mass before the recordings say more",
                     name)});
  };
  for (size_t k = 0; k < tree.model().links.size(); ++k) {
    const Link& link = tree.model().links[k];
    if (static_cast<int>(k) == tree.baseLink() && !tree.floating()) continue;
    check(link.name, ownInertia(link));
    for (const LinkPart& part : link.parts) check(part.name, part.inertia);
  }
}

}  // namespace

bool hasErrors(const Findings& findings) {
  return std::any_of(findings.begin(), findings.end(), [](const QualityFinding& finding) {
    return finding.severity == Severity::kError;
  });
}

ScaleSuspects checkRecordings(const Tree& tree, const std::vector<MotionData>& data,
                              Findings* findings) {
  const ParameterLayout layout(tree.sharedModel());
  const Prior prior = priorParameters(tree, layout);
  ScaleSuspects suspects;
  bool wrong = false;
  for (const MotionData& motion : data) {
    Plausibility check = checkPlausibility(tree, layout, prior.chi, motion);
    for (QualityFinding& finding : check.findings) {
      wrong = wrong || finding.severity == Severity::kError;
      if (!prior.guessed.empty()) finding.severity = std::min(finding.severity, Severity::kWarning);
      const bool known = std::any_of(findings->begin(), findings->end(), [&](const auto& other) {
        return other.sentence == finding.sentence;
      });
      if (!known) findings->push_back(std::move(finding));
    }
    for (const Suspect& suspect : check.suspects)
      suspects.emplace(suspect.coordinate, suspect.gain);
  }
  if (!prior.guessed.empty()) {
    for (const MotionData& motion : data) {
      for (QualityFinding& finding : checkWeights(tree, layout, prior.chi, motion))
        findings->push_back(std::move(finding));
    }
  } else if (wrong) {
    tellScales(tree, suspects, findings);
  }
  // guessed masses say nothing about the scale, nor do joints that are read wrongly
  if (!prior.guessed.empty() || wrong) suspects.clear();
  checkInertias(tree, findings);
  return suspects;
}

std::vector<int> checkScales(const IdentificationProblem& problem, const ScaleSuspects& suspects,
                             Findings* findings) {
  if (suspects.empty()) return {};
  const std::vector<std::string> names = coordinateNames(*problem.tree);
  std::vector<int> coordinates;
  for (const auto& [coordinate, gain] : suspects) coordinates.push_back(coordinate);
  size_t measured = 0;
  for (int j = 0; j < problem.tree->velocityCount(); ++j) measured += problem.stacked.rows(j) > 0;
  if (coordinates.size() >= measured) {
    findings->push_back(
        {Severity::kError, "",
         fmt::format("all torques are far from what the description predicts (that of '{}' is "
                     "{:.3g} times as large): {}",
                     names[static_cast<size_t>(coordinates.front())], suspects.begin()->second,
                     kOtherScale)});
    return {};
  }
  std::vector<int> wrong = contradicting(problem, coordinates);
  for (const auto& [coordinate, gain] : suspects) {
    const std::string& name = names[static_cast<size_t>(coordinate)];
    const bool believed = std::find(wrong.begin(), wrong.end(), coordinate) == wrong.end();
    findings->push_back(
        {believed ? Severity::kNote : Severity::kError, name,
         fmt::format("the torque of joint '{}' is {:.3g} times what its description predicts{}",
                     name, gain,
                     believed ? "; the other joints do not contradict it, so the description is "
                                "taken to be wrong (a load, a placeholder inertia)"
                              : " and contradicts the other joints: check unit, gear ratio and "
                                "drive gain; its rows are not used")});
  }
  return wrong;
}

void checkDelay(const IdentificationProblem& problem, Findings* findings) {
  if (std::any_of(findings->begin(), findings->end(), [](const QualityFinding& finding) {
        return finding.kind == FindingKind::kDelay || finding.kind == FindingKind::kSameTimes;
      }))
    return;
  const TorqueDelay found = findTorqueDelay(problem);
  const double told = kSureShift * found.deviation;  // shorter delays are not, s
  if (!found.shifted() && !std::isfinite(told)) return;
  std::erase_if(*findings, [](const QualityFinding& finding) {
    return finding.kind == FindingKind::kDelayUntold;
  });
  if (found.shifted()) {
    findings->push_back(
        {std::abs(found.delay) > kTellableDelay ? Severity::kError : Severity::kWarning, "",
         delayText(found), FindingKind::kDelay});
  } else if (told < kTellableDelay) {
    findings->push_back({Severity::kNote, "delay",
                         fmt::format("torques and positions belong to the same times: {:.2g} ± "
                                     "{:.1g} ms apart, by the fit of all joints",
                                     1e3 * found.delay, 1e3 * found.deviation),
                         FindingKind::kSameTimes});
  } else {
    findings->push_back(
        {Severity::kNote, "",
         fmt::format("the motion is too slow to tell a delay of less than {:.0f} ms between "
                     "torques and positions",
                     1e3 * told),
         FindingKind::kDelayUntold});
  }
}

void checkGains(const IdentificationProblem& problem, Findings* findings) {
  if (hasErrors(*findings)) return;
  const JointGains found = findWrongGains(problem);
  const std::vector<std::string> names = coordinateNames(*problem.tree);
  for (const JointGain& gain : found.wrong)
    findings->push_back({contradicts(gain) ? Severity::kError : Severity::kWarning,
                         names[static_cast<size_t>(gain.coordinate)], gainText(problem, gain)});
  std::vector<std::string> untold;
  for (const int j : found.untold) untold.push_back(inQuotes(names[static_cast<size_t>(j)]));
  if (!untold.empty())
    findings->push_back(
        {Severity::kNote, "torque scale",
         fmt::format("the other joints do not tell the torque scale of {}: a wrong gear ratio or "
                     "drive gain would not show",
                     fmt::join(untold, ", "))});
}

}  // namespace proprio
