// report.html: what the motion could tell, tests of the residuals, methods, recordings, sources.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "proprio/core/version.h"
#include "proprio/identification/least_squares.h"
#include "proprio/identification/parameter_words.h"
#include "proprio/report/drawing_internal.h"
#include "proprio/report/identification_sections_internal.h"
#include "proprio/report/identification_tables_internal.h"
#include "proprio/report/report_page_internal.h"

namespace proprio {
namespace {

constexpr Eigen::Index kWeakDirections = 3;
constexpr std::ptrdiff_t kFirstDirections = 6;
constexpr double kSignificant = 0.01;  // p-values below this are coloured
constexpr double kCorrelated = 0.1;    // of the residual with the motion
constexpr double kConditionGood = 100.0;

std::string motionTable(const IdentificationResult& result) {
  const Tree& tree = *result.problem.tree;
  const Model& model = tree.model();
  HtmlTable table;
  table.align = "l";
  table.header = {
      "joint", "from", "to", "limits", "covered", "largest speed", "largest acceleration"};
  for (size_t j = 0; j < model.joints.size(); ++j) {
    const Joint& joint = model.joints[j];
    const int q = tree.positionIndex(static_cast<int>(j)),
              v = tree.velocityIndex(static_cast<int>(j));
    if (q < 0 || positionCount(joint.type) != 1 || joint.mimic) continue;
    double low = INFINITY, high = -INFINITY, speed = 0.0, acceleration = 0.0;
    for (const MotionData& data : result.problem.data) {
      if (data.samples() == 0) continue;
      low = std::min(low, data.q.col(q).minCoeff());
      high = std::max(high, data.q.col(q).maxCoeff());
      speed = std::max(speed, data.v.col(v).cwiseAbs().maxCoeff());
      acceleration = std::max(acceleration, data.a.col(v).cwiseAbs().maxCoeff());
    }
    const JointLimits& limits = joint.limits;
    const bool limited = limits.upper > limits.lower;
    const double covered = (high - low) / (limits.upper - limits.lower);
    const bool slides = joint.type == JointType::kPrismatic;
    const auto unit = [&](const char* turning, const char* sliding) {
      return fmt::format(" <span class=\"muted\">{}</span>", slides ? sliding : turning);
    };
    table.rows.push_back(
        {xmlEscaped(joint.name), htmlNumber(low) + unit("rad", "m"),
         htmlNumber(high) + unit("rad", "m"),
         limited ? htmlNumber(limits.lower) + " … " + htmlNumber(limits.upper) : "–",
         limited ? barCell(fmt::format("{:.0f} %", 100.0 * covered), covered, "bar") : "–",
         htmlNumber(speed) + unit("rad/s", "m/s"),
         htmlNumber(acceleration) + unit("rad/s²", "m/s²")});
  }
  return table.html();
}

/// The combinations of base parameters that the rows see worst, in words.
std::string weakDirections(const IdentificationResult& result) {
  const IdentificationProblem& problem = result.problem;
  const Eigen::VectorXd& sigma = result.best().estimate.sigma;
  if (sigma.size() != problem.stacked.coordinates() || !(sigma.minCoeff() > 0.0)) return {};
  const TriangularSystem system = weightedSystem(problem.stacked, sigma);
  const RankedSolution solution =
      solveRanked(system.A, system.b, Eigen::VectorXd::Zero(system.A.cols()));
  HtmlTable table;
  table.align = "lr";
  table.header = {"worst seen combinations", "seen, relative to the best"};
  const Eigen::Index rank = solution.singular_values.size() - solution.silent.cols();
  for (Eigen::Index k = 0; k < std::min(kWeakDirections, rank); ++k) {
    const Eigen::Index i = rank - 1 - k;
    const Eigen::VectorXd direction =
        solution.directions.col(i).cwiseQuotient(solution.column_scale);
    table.rows.push_back(
        {xmlEscaped(directionText(problem, direction)),
         htmlNumber(solution.singular_values[i] / solution.singular_values[0], 2)});
  }
  return table.rows.empty() ? "" : table.html();
}

std::vector<std::string> withoutRepetition(const std::vector<std::string>& all) {
  std::vector<std::string> once;
  for (const std::string& text : all) {
    if (std::find(once.begin(), once.end(), text) == once.end()) once.push_back(text);
  }
  return once;
}

/// The first few; the others behind a line that opens.
std::string shortList(const std::vector<std::string>& all) {
  if (std::ssize(all) <= kFirstDirections + 2) return bulletList(all);
  const auto rest = all.begin() + kFirstDirections;
  return bulletList({all.begin(), rest}) +
         fmt::format("<details>\n<summary>{} more</summary>\n{}</details>\n", all.end() - rest,
                     bulletList({rest, all.end()}));
}

std::string pValue(double p) {
  if (!std::isfinite(p)) return "–";
  const std::string text = p < 1e-4 ? "&lt; 0.0001" : fmt::format("{:.{}f}", p, p < 0.01 ? 4 : 2);
  return p < kSignificant ? fmt::format("<span class=\"badge warn\">{}</span>", text) : text;
}

const char* severityColour(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "bad";
    case Severity::kWarning:
      return "warn";
    case Severity::kNote:
      break;
  }
  return "plain";
}

std::string recordingInfoText(const RecordingInfo& recording) {
  std::string out = fmt::format(
      "<h3>{} {}</h3>\n<p>{} samples used at {} Hz; recorded at {} Hz.</p>\n",
      xmlEscaped(recording.path),
      recording.validation ? badge("validation", "plain") : badge("training", "plain"),
      recording.samples, htmlNumber(recording.rate_hz), htmlNumber(recording.recorded_rate_hz));
  if (!recording.quality.findings.empty()) {
    out += "<ul class=\"findings\">\n";
    for (const QualityFinding& finding : recording.quality.findings) {
      out += fmt::format("<li>{} {}{}</li>\n",
                         badge(toString(finding.severity), severityColour(finding.severity)),
                         finding.about.empty() ? "" : xmlEscaped(finding.about) + ": ",
                         xmlEscaped(finding.sentence));
    }
    out += "</ul>\n";
  }
  if (!recording.steps.empty()) {
    out += "<ol>\n";
    for (const std::string& step : recording.steps) out += "<li>" + xmlEscaped(step) + "</li>\n";
    out += "</ol>\n";
  }
  return out;
}

}  // namespace

std::string excitationSection(const IdentificationResult& result) {
  const Estimate& estimate = result.best().estimate;
  std::string out = fmt::format(
      "<p>Condition number {}: {}.</p>\n", htmlNumber(estimate.condition),
      estimate.condition <= kConditionGood
          ? estimate.undecided.empty() ? "the motion shows all base parameters well"
                                       : "the motion moves everything, but not all above the noise"
          : "some combinations of parameters are seen much worse than others; a motion from "
            "<code>proprio excite</code> would help");
  if (!estimate.undecided.empty()) {
    out += "<p>These combinations the recordings do not decide; there the prior does:</p>\n" +
           shortList(withoutRepetition(estimate.undecided));
  }
  out += motionTable(result) + weakDirections(result);
  return section("excitation", "Excitation: what the motion could tell", out);
}

namespace {

/// The test of Durbin, Wu and Hausman in a sentence.
std::string noiseBiasText(const IdentificationResult& result) {
  const NoiseBiasTest& test = result.noise_bias;
  if (!(test.result.degrees > 0.0))
    return "<p>Whether noise in the motion biases least squares could not be tested: there are no "
           "instruments that know the motion well enough.</p>\n";
  std::string out = fmt::format(
      "<p>Does noise in the motion bias least squares? Durbin-Wu-Hausman with {} as instruments: "
      "statistic {} with {} degrees of freedom, p = {}",
      xmlEscaped(test.instruments), htmlNumber(test.result.statistic),
      htmlNumber(test.result.degrees), pValue(test.result.p_value));
  if (test.shifted >= 0) {
    const IdentificationProblem& problem = result.problem;
    out += fmt::format(
        "; the {} moves most, by {} standard deviations",
        xmlEscaped(parameterWords(*problem.layout,
                                  problem.base.independent[static_cast<size_t>(test.shifted)])),
        htmlNumber(test.largest_shift, 2));
  }
  return out + (test.biased() ? ": " + badge("it does", "warn") : ": nothing that matters") +
         ".</p>\n";
}

}  // namespace

std::string statisticsSection(const IdentificationResult& result) {
  const MethodResult& best = result.best();
  if (best.joints.empty()) return {};
  const std::vector<std::string> names = coordinateNames(*result.problem.tree);
  HtmlTable table;
  table.align = "l";
  table.header = {"joint",
                  "noise σ",
                  "white in time, p",
                  "normal, p",
                  "even noise, p",
                  "correlation with motion",
                  "variance × by memory",
                  "memory, samples"};
  for (size_t j = 0; j < best.joints.size() && j < names.size(); ++j) {
    const JointDiagnosis& joint = best.joints[j];
    const auto index = static_cast<Eigen::Index>(j);
    const std::string correlation = htmlNumber(joint.input_correlation, 2);
    table.rows.push_back(
        {xmlEscaped(names[j]),
         index < best.estimate.sigma.size() ? htmlNumber(best.estimate.sigma[index]) : "–",
         pValue(joint.ljung_box_p), pValue(joint.jarque_bera_p), pValue(joint.breusch_pagan_p),
         joint.input_correlation > kCorrelated
             ? fmt::format("<span class=\"badge warn\">{}</span>", correlation)
             : correlation,
         htmlNumber(joint.variance_inflation, 2), fmt::to_string(joint.autoregression)});
  }
  return section(
      "statistics", "Statistics: what the residuals say",
      table.html() + noiseBiasText(result) +
          remark(
              "Tests of the training residuals: Ljung-Box (white in time), Jarque-Bera (normal), "
              "Breusch-Pagan (noise that does not depend on speed and torque). A small p says "
              "that the model misses something or that the noise is not as assumed; filtered "
              "recordings always have memory, for which the standard deviations are corrected. A "
              "residual that correlates with the motion means that a term is missing."));
}

std::string methodSection(const IdentificationResult& result) {
  if (result.methods.size() < 2) return {};
  const std::vector<std::string> names = coordinateNames(*result.problem.tree);
  const bool validated = !result.best().validation.empty();
  HtmlTable table;
  table.align = "l";
  table.header = {"method"};
  for (const std::string& name : names) table.header.push_back(xmlEscaped(name));
  for (const char* name : {"all", "possible", "condition", "iterations", "seconds"})
    table.header.emplace_back(name);
  std::vector<double> smallest(names.size() + 1, INFINITY);
  std::vector<Evaluation> evaluations;
  for (const MethodResult& method : result.methods) {
    evaluations.push_back(pooled(validated ? method.validation : method.training));
    for (size_t j = 0; j < evaluations.back().joints.size() && j < names.size(); ++j)
      smallest[j] = std::fmin(smallest[j], evaluations.back().joints[j].percent);
    smallest.back() = std::fmin(smallest.back(), evaluations.back().overall.percent);
  }
  const auto percent = [](double value, double best) {
    const std::string text = htmlNumber(value, 3);
    return value <= best * 1.001 ? "<b>" + text + "</b>" : text;
  };
  for (size_t m = 0; m < result.methods.size(); ++m) {
    const MethodResult& method = result.methods[m];
    std::vector<std::string> row = {xmlEscaped(method.estimate.method) +
                                    (m == result.chosen ? " " + badge("chosen", "good") : "")};
    for (size_t j = 0; j < names.size(); ++j)
      row.push_back(j < evaluations[m].joints.size()
                        ? percent(evaluations[m].joints[j].percent, smallest[j])
                        : "–");
    row.push_back(percent(evaluations[m].overall.percent, smallest.back()));
    row.push_back(method.consistent ? badge("yes", "good") : badge("no", "warn"));
    row.push_back(htmlNumber(method.estimate.condition));
    row.push_back(fmt::to_string(method.estimate.iterations) +
                  (method.estimate.converged ? "" : " " + badge("not converged", "bad")));
    row.push_back(htmlNumber(method.estimate.seconds, 2));
    table.rows.push_back(row);
  }
  return section(
      "methods", "Methods compared",
      remark(fmt::format("Torque error in percent on the {} recordings; the best of each "
                         "joint in bold.",
                         validated ? "validation" : "training")) +
          table.html());
}

std::string recordingSection(const IdentificationResult& result) {
  if (result.recordings.empty()) return {};
  std::string out = "<div class=\"pair\">\n";
  for (const RecordingInfo& recording : result.recordings)
    out += "<div>" + recordingInfoText(recording) + "</div>\n";
  return section("recordings", "Recordings: quality, and what was done to them", out + "</div>\n");
}

std::string sourceSection(const IdentificationResult& result) {
  HtmlTable files;
  files.align = "lll";
  files.header = {"input", "file", "SHA-256"};
  for (const InputFile& file : result.robot_files)
    files.rows.push_back(
        {"robot", xmlEscaped(file.path), "<code>" + xmlEscaped(file.sha256) + "</code>"});
  for (const RecordingInfo& recording : result.recordings) {
    files.rows.push_back({recording.validation ? "validation" : "training",
                          xmlEscaped(recording.path),
                          "<code>" + xmlEscaped(recording.sha256) + "</code>"});
  }
  HtmlTable stages;
  stages.align = "l";
  stages.header = {"stage", "seconds"};
  double total = 0.0;
  for (const Stage& stage : result.stages) total += stage.seconds;
  for (const Stage& stage : result.stages) {
    stages.rows.push_back(
        {xmlEscaped(stage.name),
         barCell(htmlNumber(stage.seconds, 3), total > 0.0 ? stage.seconds / total : 0.0, "bar")});
  }
  std::string out = files.html();
  if (!stages.rows.empty()) out += stages.html();
  out += remark(fmt::format("Made with proprio {} ({}, Eigen {}), seed {}.", libraryVersion(),
                            compilerVersion(), eigenVersion(), result.seed));
  const std::vector<std::string>& notes = result.best().estimate.notes;
  return section("sources", "Sources", out + bulletList(notes));
}

}  // namespace proprio
