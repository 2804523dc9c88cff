#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/progress_bar.h"
#include "apps/signal_options.h"
#include "apps/verb.h"
#include "proprio/core/text_table.h"
#include "proprio/identification/diagnosis.h"
#include "proprio/identification/measured_motions.h"
#include "proprio/identification/plausibility.h"
#include "proprio/identification/sensed_wrenches.h"
#include "proprio/identification/verdict.h"

namespace proprio::apps {
namespace {

struct ValidateOptions : RobotOptions {
  std::vector<std::string> logs;
  SignalFlags signals;
  double limit = NAN;  ///< percent
};

using Json = nlohmann::ordered_json;

using Names = std::vector<std::string>;

Json evaluationJson(const Names& names, const Evaluation& evaluation) {
  const auto number = [](double value) { return std::isfinite(value) ? Json(value) : Json(); };
  Json joints = Json::array();
  for (size_t j = 0; j < names.size(); ++j) {
    const JointError& error = evaluation.joints[j];
    joints.push_back({{"joint", names[j]},
                      {"percent", number(error.percent)},
                      {"rms", number(error.rms)},
                      {"torque_rms", number(error.torque_rms)},
                      {"peak", number(error.peak)},
                      {"rows", error.rows}});
  }
  return {{"model", evaluation.model}, {"recording", evaluation.recording}, {"joints", joints}};
}

/// Joints that the model predicts worse than it has to, in words; what judges identified models
/// (verdict.h) comes first.
std::vector<std::string> shortcomings(const Names& names, const std::vector<Evaluation>& models,
                                      double limit) {
  const Verdict verdict = judge("the model", names, {}, {models[0]}, {});
  std::vector<std::string> sentences(
      verdict.reasons.begin(),
      verdict.reasons.begin() + static_cast<std::ptrdiff_t>(verdict.causes));
  if (!verdict.passed && sentences.empty()) sentences.push_back(verdict.text);
  for (size_t j = 0; j < names.size(); ++j) {
    const double percent = models[0].joints[j].percent;
    if (std::isnan(percent)) continue;
    const Evaluation& gravity = models[1];
    if (clearlyWorse(models[0].joints[j], gravity.joints[j]))
      sentences.push_back(fmt::format(
          "{}: '{}' is off by {:.1f} % of its torque, more than {} ({:.1f} %)", models[0].recording,
          names[j], percent, gravity.model, gravity.joints[j].percent));
    if (percent > limit)
      sentences.push_back(
          fmt::format("{}: '{}' is off by {:.1f} % of its torque; the limit is {:g} %",
                      models[0].recording, names[j], percent, limit));
  }
  return sentences;
}

std::string tableOf(const Names& names, const std::vector<Evaluation>& models) {
  TextTable table;
  table.header = {"joint", "torque rms", "error", "%"};
  for (size_t other = 1; other < models.size(); ++other)
    table.header.push_back(models[other].model + " %");
  for (size_t j = 0; j < names.size(); ++j) {
    const JointError& error = models[0].joints[j];
    std::vector<std::string> row = {names[j]};
    if (error.rows == 0) {
      row.insert(row.end(), {"not measured", "", ""});
    } else {
      row.insert(row.end(),
                 {fmt::format("{:.3g}", error.torque_rms), fmt::format("{:.3g}", error.rms),
                  fmt::format("{:.1f}", error.percent)});
      for (size_t other = 1; other < models.size(); ++other)
        row.push_back(fmt::format("{:.1f}", models[other].joints[j].percent));
    }
    row.resize(table.header.size());
    table.rows.push_back(row);
  }
  table.right.assign(table.header.size(), true);
  table.right[0] = false;
  return table.text(colourWanted());
}

int run(const ValidateOptions& options) {
  const Model whole = readRobot(options);
  const JointSignalOptions signals = jointSignalOptions(options.signals);
  std::vector<Recording> recordings;
  RecordingOptions read;
  read.part = DataPart::kTest;
  auto progress = std::make_unique<ProgressBar>();
  auto tell = [&progress, steps = 0,
               all = 2 * options.logs.size()](const std::string& step) mutable {
    progress->show(step, static_cast<double>(steps++) / static_cast<double>(all));
  };
  for (const std::string& log : options.logs) {
    tell("reading " + log);
    recordings.push_back(readMeasurements(whole, log, read));
  }
  std::vector<std::string> held;
  const Model model =
      withSensedWrenches(withRecordedJoints(whole, recordings, &held), recordings, &held);
  const Tree tree(std::make_shared<const Model>(model));
  const Names names = coordinateNames(tree);
  const ParameterLayout layout(tree.sharedModel());
  const Parameters declared = declaredParameters(tree.sharedModel());
  const Eigen::VectorXd chi =
      Eigen::Map<const Eigen::VectorXd>(declared.values.data(), layout.size());
  std::string text;
  for (const std::string& sentence : held) text += sentence + "\n";
  std::vector<std::string> failures;
  Json evaluations = Json::array();
  for (size_t i = 0; i < recordings.size(); ++i) {
    tell("torques of " + options.logs[i]);
    RecordingInfo info;
    for (const MotionData& motion :
         motionsOf(tree, std::move(recordings[i]), options.logs[i], signals, {}, &info)) {
      for (const std::string& step : info.steps) {
        if (step.find(" spike") != std::string::npos) text += step + "\n";
      }
      const std::vector<Evaluation> models = baselines(tree, layout, chi, motion);
      text += fmt::format("{}: {} samples at {:.4g} Hz\n{}", motion.name, motion.samples(),
                          motion.rate_hz, tableOf(names, models));
      for (const Evaluation& evaluation : models)
        evaluations.push_back(evaluationJson(names, evaluation));
      for (std::string& sentence : shortcomings(names, models, options.limit))
        failures.push_back(std::move(sentence));
      for (const QualityFinding& finding : checkPlausibility(tree, layout, chi, motion).findings) {
        const std::string sentence = fmt::format("{}: {}", motion.name, finding.sentence);
        if (finding.severity == Severity::kError)
          failures.push_back(sentence);
        else
          text += sentence + "\n";
      }
    }
  }
  progress.reset();
  for (const std::string& sentence : failures) text += sentence + "\n";
  text += failures.empty()
              ? "the model predicts no measured torque clearly worse than gravity alone, and every "
                "one better than nothing at all\n"
              : "";
  writeJson(
      options,
      Json{{"passed", failures.empty()}, {"reasons", failures}, {"evaluations", evaluations}}.dump(
          2) +
          "\n");
  print(text);
  return failures.empty() ? 0 : 1;
}

}  // namespace

Run addValidate(CLI::App& verb) {
  const auto options = std::make_shared<ValidateOptions>();
  addRobotOptions(verb, *options);
  verb.add_option("--log", options->logs, "recordings (files or folders); repeat")
      ->required()
      ->type_name("FILE");
  verb.add_option("--limit", options->limit,
                  "exit with 1 also if a joint is off by more than this part of its torque norm")
      ->type_name("PERCENT");
  addSignalOptions(verb, options->signals);
  return [options] { return run(*options); };
}

}  // namespace proprio::apps
