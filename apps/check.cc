#include <fmt/format.h>

#include <memory>

#include "apps/verb.h"
#include "proprio/core/atomic_file.h"
#include "proprio/core/text_table.h"
#include "proprio/model/describe.h"
#include "proprio/model/lint.h"
#include "proprio/model/repair.h"

namespace proprio::apps {
namespace {

struct CheckOptions : RobotOptions {
  bool strict = false;
  std::string repair;
  RepairOptions repair_options;
};

int exitCode(const std::vector<Finding>& findings, bool strict) {
  return countOf(findings, Severity::kError) > 0 ||
                 (strict && countOf(findings, Severity::kWarning) > 0)
             ? 1
             : 0;
}

// `shown` is the robot with its fixed joints lumped, so that links are counted as `show` does
std::string heading(const CheckOptions& options, const Model& shown, bool colour) {
  std::string out = inked(shown.name.empty() ? "robot" : shown.name, Ink::kBold, colour);
  out += inked("  " + options.robot, Ink::kDim, colour);
  if (!shown.links.empty()) {
    const size_t links = shown.links.size(), joints = shown.joints.size();
    out += fmt::format("\n  {} link{}, {} joint{}, {} kg", links, links == 1 ? "" : "s", joints,
                       joints == 1 ? "" : "s", readable(totalMass(shown)));
  }
  return out + "\n\n";
}

int report(const CheckOptions& options, const Model& model, const Model& shown,
           const std::vector<Finding>& findings) {
  writeJson(options, findingsJson(model, findings));
  const bool colour = colourWanted();
  print(heading(options, shown, colour) + findingsText(findings, colour, terminalWidth()));
  return exitCode(findings, options.strict);
}

// the findings, what was done about them, and what remains
int repairAndReport(const CheckOptions& options, const Model& model, const Model& shown,
                    const std::vector<Finding>& findings) {
  const Repair repair = repaired(model, options.repair_options);
  const std::string urdf = repairedUrdf(repair);
  const std::vector<Finding> remaining = lint(repair.model);
  const int errors = countOf(remaining, Severity::kError);
  const int warnings = countOf(remaining, Severity::kWarning);
  std::string elsewhere;  // what a copy of the URDF cannot change
  for (const Finding& finding : remaining) {
    if (finding.severity == Severity::kError && finding.location.file != model.urdf)
      elsewhere = fmt::format("; correct those of {} there", finding.location.file);
  }
  writeWithJson(options, options.repair, urdf, findingsJson(model, findings, repairJson(repair)));
  const bool colour = colourWanted();
  print(
      heading(options, shown, colour) + findingsText(findings, colour, terminalWidth()) + "\n" +
      repairText(repair, colour) + "\n" +
      fmt::format("  written to {} with a margin of {} of the reference; it has {} error{} and {} "
                  "warning{}{}\n",
                  options.repair, options.repair_options.margin, errors, errors == 1 ? "" : "s",
                  warnings, warnings == 1 ? "" : "s", elsewhere));
  return exitCode(remaining, options.strict);
}

UrdfStructure structureOf(const std::string& robot) {
  try {
    const std::string urdf = urdfBehind(robot);
    return urdf.empty() ? UrdfStructure{} : lintUrdfStructure(readFile(urdf), urdf);
  } catch (const Error&) {
    return {};  // not even that: the reader's own message says it best
  }
}

int runCheck(const CheckOptions& options) {
  std::vector<ReadNote> notes;
  Model model, shown;
  try {
    model = readRobot(options, /*lump_fixed=*/false, &notes);
    shown = readRobot(options);
  } catch (const Error&) {
    // trouble with names and connections is a finding, all else is unreadable
    const UrdfStructure structure = structureOf(options.robot);
    if (structure.findings.empty() || !options.repair.empty()) throw;
    const Model& rest = structure.rest;
    const int code = report(options, rest, rest.links.empty() ? rest : lumpFixedJoints(rest),
                            structure.findings);
    if (!structure.unreadable.empty()) throw Error(structure.unreadable);
    return code;
  }
  std::vector<Finding> findings = lint(model);
  for (const ReadNote& note : notes) findings.push_back(asFinding(note));
  return options.repair.empty() ? report(options, model, shown, findings)
                                : repairAndReport(options, model, shown, findings);
}

}  // namespace

Run addCheck(CLI::App& verb) {
  const auto options = std::make_shared<CheckOptions>();
  addRobotOptions(verb, *options);
  verb.add_flag("--strict", options->strict, "exit with 1 for warnings too");
  auto* repair = verb.add_option("--repair", options->repair,
                                 "write a copy of the URDF with the nearest possible inertias for "
                                 "links with errors and what simulators refuse (points, lines, "
                                 "flat and massless links); the exit code is then about the copy");
  repair->type_name("OUT.urdf");
  verb.add_option("--margin", options->repair_options.margin,
                  "what repaired inertias keep of the reference, between 0 and 1")
      ->needs(repair)
      ->capture_default_str();
  return [options] { return runCheck(*options); };
}

}  // namespace proprio::apps
