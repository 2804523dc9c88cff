#include <fmt/format.h>

#include <memory>

#include "apps/verb.h"
#include "proprio/core/atomic_file.h"
#include "proprio/core/text_table.h"
#include "proprio/model/describe.h"
#include "proprio/model/lint.h"

namespace proprio::apps {
namespace {

struct CheckOptions : RobotOptions {
  bool strict = false;
};

int exitCode(const std::vector<Finding>& findings, bool strict) {
  return countOf(findings, Severity::kError) > 0 ||
                 (strict && countOf(findings, Severity::kWarning) > 0)
             ? 1
             : 0;
}

int report(const CheckOptions& options, const Model& model, const std::vector<Finding>& findings) {
  writeJson(options, findingsJson(model, findings));
  const bool colour = colourWanted();
  std::string heading = inked(model.name, Ink::kBold, colour);
  heading += inked("  " + options.robot, Ink::kDim, colour);
  if (!model.links.empty()) {
    heading += fmt::format("\n  {} links, {} joints, {} kg", model.links.size(),
                           model.joints.size(), readable(totalMass(model)));
  }
  print(heading + "\n\n" + findingsText(findings, colour, terminalWidth()));
  return exitCode(findings, options.strict);
}

int run(const CheckOptions& options) {
  std::vector<ReadNote> notes;
  Model model;
  try {
    model = readRobot(options, /*lump_fixed=*/false, &notes);
  } catch (const Error&) {
    // trouble with names and connections is a finding, all else is unreadable
    const std::vector<Finding> findings = lintUrdfStructure(readFile(options.robot), options.robot);
    if (findings.empty()) throw;
    return report(options, model, findings);
  }
  std::vector<Finding> findings = lint(model);
  for (const ReadNote& note : notes) findings.push_back(asFinding(note));
  return report(options, model, findings);
}

}  // namespace

Run addCheck(CLI::App& verb) {
  const auto options = std::make_shared<CheckOptions>();
  addRobotOptions(verb, *options);
  verb.add_flag("--strict", options->strict, "exit with 1 for warnings too");
  return [options] { return run(*options); };
}

}  // namespace proprio::apps
