#include "proprio/report/write_back.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <filesystem>
#include <memory>

#include "proprio/core/atomic_file.h"
#include "proprio/core/text.h"
#include "proprio/identification/sensed_wrenches.h"
#include "proprio/model/lint.h"
#include "proprio/model/robot_reader.h"
#include "proprio/model/robot_yaml_writer.h"
#include "proprio/model/urdf_export.h"
#include "proprio/model/urdf_writer.h"
#include "proprio/spatial/physical_consistency.h"
#include "proprio/spatial/pseudo_inertia.h"

namespace proprio {
namespace {

constexpr const char* kUrdfName = "robot.urdf";

/// Share of the whole that a link keeps for itself.
constexpr double kOwnShare = 1e-4;

bool ownIsPossible(const Link& link) {
  return consistencyMargins(ownInertia(link)).fullyConsistent();
}

std::vector<Finding> errorsOf(const Model& model) {
  std::vector<Finding> findings = lint(model);
  findings.erase(
      std::remove_if(findings.begin(), findings.end(),
                     [](const Finding& finding) { return finding.severity != Severity::kError; }),
      findings.end());
  return findings;
}

/// What check calls impossible in the new files, apart from what it said before about links and
/// joints that the estimate does not touch (a base without mass).
std::vector<std::string> refusalsOf(const Model& before, const Model& after,
                                    const Model& identified) {
  const std::vector<Finding> known = errorsOf(before);
  std::vector<std::string> refusals;
  for (const Finding& finding : errorsOf(after)) {
    const std::string link =
        finding.link >= 0 ? after.links[static_cast<size_t>(finding.link)].name : "";
    const int old_link = link.empty() ? -1 : before.linkIndex(link);
    const bool touched = old_link >= 0 && identified.linkIndex(link) >= 0 &&
                         before.links[static_cast<size_t>(old_link)].inertia.vector() !=
                             after.links[static_cast<size_t>(finding.link)].inertia.vector();
    const bool old = std::any_of(known.begin(), known.end(), [&](const Finding& other) {
      return other.rule == finding.rule && other.subject == finding.subject;
    });
    if (old && !touched && finding.joint < 0) continue;
    refusals.push_back(
        fmt::format("{}: {}{}; choose a physically consistent method, such as pc-wls, or force it",
                    finding.subject, finding.message,
                    std::isnan(finding.margin)
                        ? ""
                        : fmt::format(" (margin {:.3g} {})", finding.margin, finding.unit)));
  }
  return refusals;
}

/// The whole of each link stays as it is; what is fixed to it is made lighter where it leaves the
/// link itself nothing. D >= s parts + eps D: s = (1 - eps) / largest eigenvalue of parts in D.
Model withRoomForParts(Model model, std::vector<std::string>* notes) {
  for (Link& link : model.links) {
    InertialParameters sum;
    std::vector<std::string> names;
    for (const LinkPart& part : link.parts) {
      sum = sum + transformed(part.X_LP, part.inertia);
      names.push_back(inQuotes(part.name));
    }
    const Eigen::LLT<Eigen::Matrix4d> whole(pseudoInertia(link.inertia));
    if (link.parts.empty() || whole.info() != Eigen::Success) continue;
    const Eigen::Matrix4d half = whole.matrixL().solve(pseudoInertia(sum));
    const Eigen::Matrix4d parts = whole.matrixL().solve(half.transpose());
    const double largest =
        Eigen::SelfAdjointEigenSolver<Eigen::Matrix4d>(parts, Eigen::EigenvaluesOnly)
            .eigenvalues()[3];
    const double share = (1.0 - kOwnShare) / largest;
    if (!(share < 1.0) || ownIsPossible(link)) continue;
    for (LinkPart& part : link.parts)
      part.inertia = InertialParameters::fromVector(share * part.inertia.vector());
    notes->push_back(fmt::format(
        "{}, fixed to '{}', {} written with {:.2g} of the declared mass and inertia: together with "
        "the link more was not found",
        fmt::join(names, ", "), link.name, names.size() == 1 ? "is" : "are", share));
  }
  return model;
}

bool endsInUrdf(const Model& model) { return model.source == model.urdf && !model.urdf.empty(); }

}  // namespace

WrittenModel writtenModel(const Model& as_read, const Parameters& estimate, bool force) {
  if (as_read.source.empty())
    throw Error(fmt::format("the robot {} was not read from a file, so there is none to write to",
                            inQuotes(as_read.name)));
  WrittenModel written;
  const Model model = withRoomForParts(
      withoutSensedWrenches(modelWithParameters(estimate), as_read), &written.notes);
  RobotYamlUpdate update;
  update.urdf = kUrdfName;
  if (!as_read.urdf.empty()) {
    written.urdf = updatedUrdf(readFile(as_read.urdf), model, as_read.urdf);
    update.urdf_text = written.urdf;
  }
  const std::string yaml =
      endsInUrdf(as_read) ? robotYamlForUrdf(as_read, kUrdfName) : readFile(as_read.source);
  written.yaml = updatedRobotYaml(yaml, model, as_read.source, update);

  // read again: what a user of the files gets
  ReadOptions options;
  options.lump_fixed = false;
  const Model before = readRobot(as_read.source, options);
  options.urdf_text = update.urdf_text;
  const Model after = readRobotYamlText(written.yaml, as_read.source, options);
  if (as_read.urdf.empty()) written.urdf = exportUrdf(after);
  written.refusals = refusalsOf(before, after, model);
  if (!written.refusals.empty() && !force) written.urdf = written.yaml = {};
  return written;
}

}  // namespace proprio
