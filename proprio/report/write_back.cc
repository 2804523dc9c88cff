#include "proprio/report/write_back.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/Cholesky>
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
#include "proprio/model/urdf_reader.h"
#include "proprio/model/urdf_writer.h"
#include "proprio/report/inertia_shares.h"
#include "proprio/spatial/physical_consistency.h"
#include "proprio/spatial/pseudo_inertia.h"

namespace proprio {
namespace {

constexpr const char* kUrdfName = "robot.urdf";

/// Names in one sentence, at most.
constexpr std::ptrdiff_t kMostNames = 4;

/// A link of which the recordings say nothing stays as declared while the estimate differs from the
/// declaration by less than this part of the body in every direction: a solver's rounding. More
/// was asked for (a bound, a mirrored link) or needed (the declaration is impossible).
constexpr double kSameBody = 0.01;

bool isSameBody(const InertialParameters& declared, const InertialParameters& estimate) {
  const Eigen::LLT<Eigen::Matrix4d> body(pseudoInertia(declared));
  if (body.info() != Eigen::Success) return false;
  const Eigen::Matrix4d half = body.matrixL().solve(pseudoInertia(estimate - declared));
  const Eigen::Matrix4d difference = body.matrixL().solve(half.transpose());
  return difference.norm() < kSameBody;
}

/// The estimate with the declared values of links that are not its subject: that of a fixed base,
/// and those about which the recordings say nothing.
Parameters withoutTheUnidentified(Parameters estimate,
                                  const std::vector<ParameterOrigin>& origins) {
  const Model& model = estimate.layout->model();
  for (int link = 0; link < static_cast<int>(model.links.size()); ++link) {
    const InertialParameters& declared = model.links[static_cast<size_t>(link)].inertia;
    const auto first = origins.begin() + (origins.empty() ? 0 : estimate.layout->linkOffset(link));
    const bool unknown =
        !origins.empty() && std::all_of(first, first + 10, [](ParameterOrigin origin) {
          return origin == ParameterOrigin::kPrior;
        });
    const bool fixed = link == model.base && !model.floating;
    if (fixed || (unknown && isSameBody(declared, linkInertia(estimate, link))))
      setLinkInertia(estimate, link, declared);
  }
  return estimate;
}

std::vector<Finding> errorsOf(const Model& model) {
  std::vector<Finding> findings = lint(model);
  findings.erase(
      std::remove_if(findings.begin(), findings.end(),
                     [](const Finding& finding) { return finding.severity != Severity::kError; }),
      findings.end());
  return findings;
}

/// All of a few names, some of many.
std::string listed(const std::vector<std::string>& names) {
  if (std::ssize(names) <= kMostNames) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{} and {} more", fmt::join(names.begin(), names.begin() + kMostNames, ", "),
                     std::ssize(names) - kMostNames);
}

/// Names of what is fixed to the link and stays as declared.
std::vector<std::string> partsOf(const Link& link) {
  std::vector<std::string> names;
  for (const LinkPart& part : link.parts) {
    if (part.inertia.mass > 0.0) names.push_back(inQuotes(part.name));
  }
  return names;
}

/// What would make a link possible that is not.
std::string wayOut(const Model& identified, const std::string& link) {
  const int index = identified.linkIndex(link);
  if (index >= 0) {
    const Link& whole = identified.links[static_cast<size_t>(index)];
    const std::vector<std::string> parts = partsOf(whole);
    if (!parts.empty() && consistencyMargins(whole.inertia).fullyConsistent())
      return fmt::format(
          "what was identified, together with {}, is possible, but that part has to stay as "
          "declared: correct its inertia, or add it to that of the link and remove the part, or "
          "force it",
          listed(parts));
  }
  return "choose a physically consistent method, such as pc-wls, or force it";
}

/// What check calls impossible in the new files, apart from what it said before about links and
/// joints that the estimate does not touch (a base without mass).
/// @param identified  links with the sums of all that is fixed to them
std::vector<std::string> refusalsOf(const Model& before, const Model& after,
                                    const Model& identified) {
  const std::vector<Finding> known = errorsOf(before);
  std::vector<std::string> refusals;
  for (const Finding& finding : errorsOf(after)) {
    const std::string link =
        finding.link >= 0 ? after.links[static_cast<size_t>(finding.link)].name : "";
    const int old_link = link.empty() ? -1 : before.linkIndex(link);
    const bool touched =
        old_link >= 0 && before.links[static_cast<size_t>(old_link)].inertia.vector() !=
                             after.links[static_cast<size_t>(finding.link)].inertia.vector();
    const bool old = std::any_of(known.begin(), known.end(), [&](const Finding& other) {
      return other.rule == finding.rule && other.subject == finding.subject;
    });
    if (old && !touched && finding.joint < 0) continue;
    refusals.push_back(
        fmt::format("{}: {}{}; {}", finding.subject, finding.message,
                    std::isnan(finding.margin)
                        ? ""
                        : fmt::format(" (margin {:.3g} {})", finding.margin, finding.unit),
                    wayOut(identified, link)));
  }
  return refusals;
}

/// The identified links divided among themselves and what is fixed to them.
/// @param files     the URDF: links that can be written
/// @param declared  the same links with the declared inertias
Model withDividedLinks(Model model, const Model& files, const Model& declared,
                       std::vector<std::string>* notes) {
  for (Link& link : model.links) {
    const int index = declared.linkIndex(link.name);
    if (link.parts.empty() || index < 0) continue;
    const Link& old = declared.links[static_cast<size_t>(index)];
    if (old.inertia.vector() == link.inertia.vector()) continue;
    std::vector<FixedPart> parts;
    std::vector<std::string> names;  // of what may change
    for (const LinkPart& part : link.parts) {
      parts.push_back({transformed(part.X_LP, part.inertia), files.linkIndex(part.name) >= 0});
      if (parts.back().writable && part.inertia.mass > 0.0) names.push_back(inQuotes(part.name));
    }
    const InertiaShares shares = divideInertia(link.inertia, ownInertia(old), parts);
    if (shares.kept) continue;
    for (size_t k = 0; k < link.parts.size(); ++k) {
      LinkPart& part = link.parts[k];
      if (parts[k].writable && part.inertia.mass > 0.0)
        part.inertia = transformed(part.X_LP.inverse(), shares.parts[k]);
    }
    notes->push_back(fmt::format(
        "{}, fixed to '{}', {} identified together with it; as declared {} would leave the link no "
        "possible share, so link and parts are written with {:.3g} times their declared mass, "
        "moved so that the sum is what was found",
        listed(names), link.name, names.size() == 1 ? "was" : "were",
        names.size() == 1 ? "it" : "they", shares.mass_factor));
  }
  return model;
}

/// For the URDF: joints whose friction is as it was keep what the URDF says, which a robot.yaml may
/// contradict.
Model withUntouchedFriction(Model model, const Model& as_read, const Model& files) {
  for (Joint& joint : model.joints) {
    const int old = as_read.jointIndex(joint.name), file = files.jointIndex(joint.name);
    if (old < 0 || file < 0) continue;
    const std::vector<FrictionTerm>& before =
        as_read.joints[static_cast<size_t>(old)].friction.terms;
    const bool same =
        std::equal(before.begin(), before.end(), joint.friction.terms.begin(),
                   joint.friction.terms.end(), [](const FrictionTerm& a, const FrictionTerm& b) {
                     return a.kind == b.kind && a.coefficient == b.coefficient;
                   });
    if (same) joint.friction = files.joints[static_cast<size_t>(file)].friction;
  }
  return model;
}

bool endsInUrdf(const Model& model) { return model.source == model.urdf && !model.urdf.empty(); }

}  // namespace

WrittenModel writtenModel(const Model& as_read, const Parameters& estimate, bool force,
                          const std::vector<ParameterOrigin>& origins) {
  if (as_read.source.empty())
    throw Error(fmt::format("the robot {} was not read from a file, so there is none to write to",
                            inQuotes(as_read.name)));
  if (!origins.empty() && origins.size() != estimate.values.size())
    throw Error(fmt::format("there are origins of {} parameters; the estimate has {}",
                            origins.size(), estimate.values.size()));
  WrittenModel written;
  ReadOptions options;
  options.lump_fixed = false;
  const Model before = readRobot(as_read.source, options);
  const Model files = as_read.urdf.empty() ? Model() : readUrdf(as_read.urdf);
  const Model model = withDividedLinks(
      withoutSensedWrenches(modelWithParameters(withoutTheUnidentified(estimate, origins)),
                            as_read),
      files, withoutSensedWrenches(estimate.layout->model(), as_read), &written.notes);
  RobotYamlUpdate update;
  update.urdf = kUrdfName;
  if (!as_read.urdf.empty()) {
    written.urdf = updatedUrdf(readFile(as_read.urdf), withUntouchedFriction(model, as_read, files),
                               as_read.urdf);
    update.urdf_text = written.urdf;
  }
  const std::string yaml =
      endsInUrdf(as_read) ? robotYamlForUrdf(as_read, kUrdfName) : readFile(as_read.source);
  written.yaml = updatedRobotYaml(yaml, model, as_read.source, update);

  // read again: what a user of the files gets
  options.urdf_text = update.urdf_text;
  const Model after = readRobotYamlText(written.yaml, as_read.source, options);
  if (as_read.urdf.empty()) written.urdf = exportUrdf(after);
  written.refusals = refusalsOf(before, after, model);
  if (!written.refusals.empty() && !force) written.urdf = written.yaml = {};
  return written;
}

std::string withMeshesOf(const std::string& urdf, const std::string& from, const std::string& to) {
  namespace fs = std::filesystem;
  std::string out;
  size_t done = 0;
  for (size_t mesh = urdf.find("<mesh"); mesh != std::string::npos;
       mesh = urdf.find("<mesh", done)) {
    const size_t end = std::min(urdf.find('>', mesh), urdf.size());
    const size_t name = urdf.find("filename", mesh);
    const size_t open = name < end ? urdf.find_first_of("\"'", name) : end;
    const size_t close = open < end ? urdf.find(urdf[open], open + 1) : end;
    if (close >= end) {
      out += urdf.substr(done, end - done);
      done = end;
      continue;
    }
    const std::string path = urdf.substr(open + 1, close - open - 1);
    std::error_code failed;
    const fs::path here = fs::current_path(failed), file = here / from / path;
    const bool moves = path.find("://") == std::string::npos && !fs::path(path).is_absolute() &&
                       fs::is_regular_file(file, failed);
    out += urdf.substr(done, open + 1 - done);
    out += moves ? file.lexically_normal()
                       .lexically_relative((here / to).lexically_normal())
                       .generic_string()
                 : path;
    done = close;
  }
  return out + urdf.substr(done);
}

}  // namespace proprio
