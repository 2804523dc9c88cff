#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "apps/progress_bar.h"
#include "apps/signal_options.h"
#include "apps/verb.h"
#include "proprio/core/atomic_file.h"
#include "proprio/core/text.h"
#include "proprio/identification/identify_recordings.h"
#include "proprio/report/estimate_json.h"
#include "proprio/report/identification_report.h"
#include "proprio/report/identification_text.h"
#include "proprio/report/write_back.h"

namespace proprio::apps {
namespace {

struct IdentifyVerbOptions : RobotOptions {
  IdentifyOptions identify;
  SignalFlags signals;
  std::string out, prior = "pullback", prior_weight = "1", total_mass;
  std::string friction_constants = "keep", essential_rule;
  std::string recording_noise = "auto";
  std::vector<std::string> masses, symmetric;
  bool force = false;
};

/// "forearm:1:3" or "1:3": what is before the numbers, and the two of them; either may be missing.
struct Bounds {
  std::string name;
  double lower = 0.0, upper = kNotStated;
};

Bounds boundsOf(const std::string& option, const std::string& text, bool named) {
  std::vector<std::string> parts = splitAt(text, ':');
  Bounds bounds;
  if (named && parts.size() > 1) {
    bounds.name = parts.front();
    parts.erase(parts.begin());
  }
  const auto number = [&](const std::string& part, double missing) {
    if (part.empty()) return missing;
    const std::optional<double> value = parseNumber(part);
    if (!value) throw Error(fmt::format("{}: {} is not a number", option, inQuotes(part)));
    return *value;
  };
  if (parts.size() != 2 || (named && bounds.name.empty()))
    throw Error(fmt::format("{}: expected {}LOWER:UPPER in kg, found {}", option,
                            named ? "LINK:" : "", inQuotes(text)));
  bounds.lower = number(parts[0], 0.0);
  bounds.upper = number(parts[1], kNotStated);
  return bounds;
}

void setConstraints(const IdentifyVerbOptions& options, MethodOptions* method) {
  method->prior.kind = priorKind(options.prior);
  if (options.prior_weight == "auto") {
    method->prior.automatic = true;
  } else {
    const std::optional<double> weight = parseNumber(options.prior_weight);
    if (!weight || !(*weight > 0.0))
      throw Error(fmt::format("--prior-weight is {}; expected a positive number or auto",
                              inQuotes(options.prior_weight)));
    method->prior.weight = *weight;
  }
  for (const std::string& text : options.masses) {
    const Bounds bounds = boundsOf("--mass", text, true);
    method->constraints.masses.push_back({bounds.name, bounds.lower, bounds.upper});
  }
  if (!options.total_mass.empty()) {
    const Bounds bounds = boundsOf("--total-mass", options.total_mass, false);
    method->constraints.total_mass_lower = bounds.lower;
    method->constraints.total_mass_upper = bounds.upper;
  }
  for (const std::string& text : options.symmetric) {
    const size_t colon = text.find(':');
    if (colon == std::string::npos)
      throw Error(fmt::format("--symmetric: expected LINK:LINK, found {}", inQuotes(text)));
    method->constraints.symmetric.push_back({text.substr(0, colon), text.substr(colon + 1)});
  }
}

/// Options that none of the methods reads are refused: they would be ignored.
void requireUsed(const IdentifyVerbOptions& options) {
  const std::vector<std::string>& names = options.identify.methods;
  if (names == std::vector<std::string>{"all"}) return;
  const ConsistencyOptions& constraints = options.identify.method.constraints;
  struct Given {
    const char* option;
    bool given;
  };
  const auto require = [&](const std::vector<Given>& all, const char* whom, auto uses) {
    if (std::any_of(names.begin(), names.end(), [&](const auto& n) { return uses(method(n)); }))
      return;
    for (const auto& [option, given] : all) {
      if (given)
        throw Error(
            fmt::format("{} is for {}; {} would ignore it", option, whom, fmt::join(names, ", ")));
    }
  };
  require({{"--mass", !options.masses.empty()},
           {"--total-mass", !options.total_mass.empty()},
           {"--freeze", !constraints.frozen.empty()},
           {"--symmetric", !options.symmetric.empty()},
           {"--com-in-shapes", constraints.com_in_shapes},
           {"--mass-in-ellipsoid", constraints.mass_in_ellipsoid},
           {"--offset-below-coulomb", constraints.offset_below_coulomb},
           {"--prior", options.prior != "pullback"},
           {"--prior-weight", options.prior_weight != "1"}},
          "physically consistent methods, such as pc-wls",
          [](const Method& one) { return one.consistent; });
  require({{"--ridge", options.identify.method.ridge > 0.0}},
          "unconstrained methods, such as wls (pc-wls has --prior-weight)",
          [](const Method& one) { return !one.consistent; });
  require({{"--rescale-gains", options.identify.method.rescale_gains}},
          "methods that simulate, such as iv", [](const Method& one) { return one.simulates; });
}

void setEssentialRule(const std::string& text, IdentifyOptions* identify) {
  if (text.empty()) return;
  identify->method.essential = essentialOptions(text);
  const std::vector<std::string>& names = identify->methods;
  const bool used = std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return name == "essential" || name == "all";
  });
  if (!used) throw Error("--essential-rule is for the method essential; add --method essential");
}

void setRecordingNoise(const std::string& text, IdentifyOptions* identify) {
  identify->estimate_recording_noise = text == "auto";
  if (text == "auto" || text == "alike") return;
  for (const std::string& part : splitAt(text, ',')) {
    const std::optional<double> value = parseNumber(part);
    if (!value || !(*value > 0.0) || !std::isfinite(*value))
      throw Error(
          fmt::format("--recording-noise is {}; expected auto, alike, or one positive number per "
                      "recording with commas",
                      inQuotes(text)));
    identify->recording_noise.push_back(*value);
  }
}

const auto kRobotFiles = {"/robot.urdf", "/robot.yaml"};

/// robot.urdf and robot.yaml of an earlier result in the folder, which a result that has none would
/// stand beside.
std::vector<std::string> staleFiles(const std::string& folder) {
  std::vector<std::string> stale;
  if (!std::filesystem::exists(folder + "/estimate.json")) return stale;
  for (const char* name : kRobotFiles) {
    if (std::filesystem::exists(folder + name)) stale.push_back(folder + name);
  }
  return stale;
}

/// The files that belong together: all of them, or none.
void writeAll(const IdentifyVerbOptions& options, const Model& model,
              const IdentificationResult& result) {
  std::vector<FileContent> files;
  if (!options.json.empty()) files.push_back({options.json, estimateJson(result)});
  if (options.out.empty()) {
    writeFilesTogether(files);
    return;
  }
  Parameters estimate;
  estimate.layout = result.problem.layout;
  const Eigen::VectorXd& chi = result.best().estimate.chi;
  estimate.values.assign(chi.data(), chi.data() + chi.size());
  const WrittenModel written = writtenModel(model, estimate, options.force, result.best().origins);
  std::error_code failed;
  std::filesystem::create_directories(options.out, failed);
  if (failed) throw Error(fmt::format("{}: {}", options.out, failed.message()));
  std::vector<std::string> stale;
  if (written.urdf.empty()) {
    stale = staleFiles(options.out);
  } else {
    const std::string folder = std::filesystem::path(model.urdf).parent_path().string();
    files.push_back(
        {options.out + "/robot.urdf",
         model.urdf.empty() ? written.urdf : withMeshesOf(written.urdf, folder, options.out)});
    files.push_back({options.out + "/robot.yaml", written.yaml});
  }
  files.push_back({options.out + "/report.html", identificationReport(result)});
  files.push_back({options.out + "/estimate.json", estimateJson(result)});
  writeFilesTogether(files, stale);
  if (!result.passed && !written.urdf.empty())
    fmt::print(stderr, "proprio: {}/robot.urdf did not pass: do not use it before you know why\n",
               options.out);
  for (const std::string& note : written.notes)
    fmt::print(stderr, "proprio: {}/robot.urdf: {}\n", options.out, note);
  for (const std::string& refusal : written.refusals)
    fmt::print(stderr, "proprio: {}: {}{}\n", options.out, refusal,
               options.force ? "" : " (--force); robot.urdf is not written");
  for (const std::string& path : stale)
    fmt::print(stderr, "proprio: {} was of an earlier result and is removed\n", path);
}

int run(IdentifyVerbOptions options) {
  const Model model = readRobot(options);
  options.identify.signals = jointSignalOptions(options.signals);
  requireUsed(options);
  setConstraints(options, &options.identify.method);
  setEssentialRule(options.essential_rule, &options.identify);
  setRecordingNoise(options.recording_noise, &options.identify);
  options.identify.friction_constants = frictionConstantsNamed(options.friction_constants);
  auto progress = std::make_unique<ProgressBar>();
  options.identify.progress = [&progress](const std::string& step, double done) {
    progress->show(step, done);
  };
  const IdentificationResult result = identifyRecordings(model, options.robot, options.identify);
  progress.reset();
  writeAll(options, model, result);
  print(identificationText(result, colourWanted(), terminalWidth()));
  return result.passed ? 0 : 1;
}

void addConstraintOptions(CLI::App& verb, IdentifyVerbOptions& options) {
  ConsistencyOptions& constraints = options.identify.method.constraints;
  const char* group = "Constraints and prior";
  verb.add_option("--prior", options.prior,
                  "what decides where the data are silent: pullback, entropic, euclidean or none")
      ->capture_default_str()
      ->type_name("NAME")
      ->group(group);
  verb.add_option(
          "--prior-weight", options.prior_weight,
          "1: the description may be wrong by 100 %; 100: by 10 %; auto: by cross-validation")
      ->capture_default_str()
      ->type_name("W")
      ->group(group);
  verb.add_option("--mass", options.masses,
                  "bounds of a link's mass in kg, LINK:LOWER:UPPER; repeat")
      ->type_name("TEXT")
      ->group(group);
  verb.add_option("--total-mass", options.total_mass, "bounds of all that moves, LOWER:UPPER")
      ->type_name("TEXT")
      ->group(group);
  verb.add_option("--freeze", constraints.frozen, "links that keep their declared inertia")
      ->delimiter(',')
      ->type_name("LIST")
      ->group(group);
  verb.add_option("--symmetric", options.symmetric,
                  "links that mirror each other, ONE:OTHER; repeat")
      ->type_name("TEXT")
      ->group(group);
  verb.add_flag("--com-in-shapes", constraints.com_in_shapes,
                "centres of mass inside the links' shapes")
      ->group(group);
  verb.add_flag("--mass-in-ellipsoid", constraints.mass_in_ellipsoid,
                "all mass inside the ellipsoid around the links' shapes")
      ->group(group);
  verb.add_flag("--offset-below-coulomb", constraints.offset_below_coulomb,
                "friction offsets no larger than Coulomb friction")
      ->group(group);
}

}  // namespace

Run addIdentify(CLI::App& verb) {
  const auto options = std::make_shared<IdentifyVerbOptions>();
  addRobotOptions(verb, *options);
  IdentifyOptions& identify = options->identify;
  verb.add_option("--log", identify.logs, "recordings (files or folders) to identify from; repeat")
      ->required()
      ->type_name("FILE");
  verb.add_option("--validate", identify.validate, "recordings that only validate; repeat")
      ->type_name("FILE");
  verb.add_option("--split", identify.split,
                  "without other recordings: this share of the time identifies, the rest validates "
                  "(0.7); default: blocks are left out in turn")
      ->type_name("SHARE");
  verb.add_option("--method", identify.methods,
                  "how: see docs/identification.md; several with commas, the first is written; "
                  "all: every one that the recordings allow")
      ->delimiter(',')
      ->capture_default_str()
      ->type_name("NAME");
  verb.add_option("--friction-constants", options->friction_constants,
                  "scales and exponents inside friction terms: keep, fit (each joint's own), grid "
                  "(one for all), sweeps (from stretches at constant speed)")
      ->capture_default_str()
      ->type_name("NAME")
      ->group("Methods");
  verb.add_option("--essential-rule", options->essential_rule,
                  "essential: fisher (default), threshold, times-best, ratio, stepwise or "
                  "triangle; with another number than the usual one, fisher:0.01")
      ->type_name("RULE[:NUMBER]")
      ->group("Methods");
  verb.add_option("--recording-noise", options->recording_noise,
                  "several recordings: auto weighs the joints of each by their own noise, alike "
                  "all the same, 1,10: the second --log has ten times the noise")
      ->capture_default_str()
      ->type_name("NOISE")
      ->group("Methods");
  verb.add_option("--ridge", identify.method.ridge,
                  "unconstrained methods: pull towards the description, relative to the data")
      ->check(CLI::NonNegativeNumber)
      ->group("Methods");
  verb.add_flag("--full-covariance", identify.method.full_covariance,
                "wls, irls, pc-irls: torque noise of the joints is correlated")
      ->group("Methods");
  verb.add_flag("--rescale-gains", identify.method.rescale_gains,
                "iv, didim, cloe, clie: declared servo gains grow with the estimated inertia")
      ->group("Methods");
  verb.add_option("--iterations", identify.method.max_iterations, "of iterative methods, at most")
      ->check(CLI::PositiveNumber)
      ->group("Methods");
  verb.add_option("--tolerance", identify.method.tolerance, "at which iterative methods stop")
      ->check(CLI::PositiveNumber)
      ->group("Methods");
  addConstraintOptions(verb, *options);
  addSignalOptions(verb, options->signals);
  verb.add_flag("--as-declared", identify.as_declared,
                "only the friction and rotor inertias that the robot declares");
  verb.add_flag("--keep-spikes", identify.measurement.keep_spikes,
                "one to three samples that are far off stay as they are");
  verb.add_option("--touching", identify.measurement.touching,
                  "links that touch something, with recorded force-torque sensors: what is between "
                  "the sensors around them does not count; default: feet")
      ->delimiter(',')
      ->type_name("LIST");
  verb.add_option("--out", options->out,
                  "folder for estimate.json, robot.urdf, robot.yaml and report.html")
      ->type_name("DIR");
  verb.add_flag("--force", options->force,
                "write robot.urdf even if it is not physically possible");
  return [options] { return run(*options); };
}

}  // namespace proprio::apps
