#include "proprio/report/identification_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "proprio/core/text_table.h"
#include "proprio/report/identification_tables_internal.h"

namespace proprio {
namespace {

constexpr size_t kWorstParameters = 5;  // that are shown

std::string percentText(const JointError& error) {
  if (error.rows == 0 || std::isnan(error.percent)) return "-";
  return fmt::format("{:.{}f}", error.percent, error.percent < 9.95 ? 2 : 1);
}

std::string rmsText(const JointError& error) {
  return error.rows == 0 ? "-" : readable(error.rms, 3);
}

std::string recordingNames(const std::vector<MotionData>& data) {
  std::vector<std::string> names;
  for (const MotionData& motion : data) {
    const double rate = motion.rate_hz;
    names.push_back(
        fmt::format("{} ({} samples at {} Hz)", motion.name, motion.samples(), readable(rate)));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string headingText(const IdentificationResult& result, bool colour, int width) {
  std::string text = inked(result.problem.tree->model().name, Ink::kBold, colour) +
                     ": identified with " + result.best().estimate.method + " from " +
                     recordingNames(result.problem.data);
  if (!result.validation.empty()) {
    text += ", validated on " + recordingNames(result.validation);
  } else if (!result.best().validation.empty()) {
    text += ", validated on " + result.best().validation.front().recording;
  } else {
    text += ", not validated";
  }
  return wrapped(text, width, 2) + "\n";
}

std::string errorsText(const IdentificationResult& result, bool colour) {
  const MethodResult& best = result.best();
  const bool validated = !best.validation.empty();
  const Evaluation training = pooled(best.training), validation = pooled(best.validation);
  const auto& references = validated ? result.validation_baselines : result.training_baselines;
  const Evaluation given = pooled(references, "as given"),
                   gravity = pooled(references, "gravity only"), zero = pooled(references, "zero");
  const auto of = [](const Evaluation& evaluation, size_t j) {
    return j < evaluation.joints.size() ? evaluation.joints[j] : JointError{};
  };
  const std::vector<std::string> names = coordinateNames(*result.problem.tree);
  const std::vector<std::string> units = coordinateUnits(*result.problem.tree);
  TextTable table;
  table.header = {"joint", "training %", "rms",       "validation %", "rms",
                  "",      "as given %", "gravity %", "zero",         "unit"};
  table.right = {false, true, true, true, true, false, true, true, true, false};
  const auto row = [&](const std::string& name, const JointError& t, const JointError& v,
                       const JointError& g, const JointError& gravity_only, const JointError& z,
                       const std::string& unit) {
    const JointError& judged = validated ? v : t;
    const bool worse = judged.percent >= g.percent;
    table.rows.push_back({name, percentText(t), rmsText(t), validated ? percentText(v) : "",
                          validated ? rmsText(v) : "",
                          worse ? inked("worse than", Ink::kRed, colour) : "", percentText(g),
                          percentText(gravity_only), rmsText(z), unit});
  };
  for (size_t j = 0; j < names.size(); ++j)
    row(names[j], of(training, j), of(validation, j), of(given, j), of(gravity, j), of(zero, j),
        units[j]);
  const bool one_unit =
      std::adjacent_find(units.begin(), units.end(), std::not_equal_to<>()) == units.end();
  row("all", training.overall, validation.overall, given.overall, gravity.overall, zero.overall,
      one_unit && !units.empty() ? units.front() : "");
  return inked("\nTorque errors", Ink::kBold, colour) +
         inked(fmt::format("  % of the measured torque, rms; at the right what to beat, on {} "
                           "data\n",
                           validated ? "validation" : "training"),
               Ink::kDim, colour) +
         table.text(colour);
}

/// In mm, without "-0".
std::string positionText(const Vector3d& p) {
  return fmt::format("{} {} {}", std::lround(1e3 * p.x()), std::lround(1e3 * p.y()),
                     std::lround(1e3 * p.z()));
}

std::string relativeText(double percent) {
  if (!(percent < 1e4)) return std::isnan(percent) ? "-" : "> 10000";
  return fmt::format("{:.{}f}", percent, percent < 9.95 ? 1 : 0);
}

std::string linksText(const IdentificationResult& result, bool colour) {
  const MethodResult& best = result.best();
  const ParameterLayout& layout = *result.problem.layout;
  TextTable table;
  table.header = {"link", "mass kg", "", "by", "centre of mass mm", "", "by", ""};
  table.right = {false, true, false, false, true, false, false, false};
  for (const int link : movedLinks(*result.problem.tree)) {
    const InertialParameters before = bodyOf(layout, result.declared, link),
                             after = bodyOf(layout, best.estimate.chi, link);
    std::string possible;
    for (const LinkConsistency& consistency : best.links) {
      if (consistency.link == link && !consistency.consistent)
        possible = inked("impossible", Ink::kRed, colour);
    }
    const int first = layout.linkOffset(link);
    // three numbers: the word for the one that is known worst
    const auto origin =
        std::max({originOf(best, first + 1), originOf(best, first + 2), originOf(best, first + 3)});
    table.rows.push_back({layout.model().links[static_cast<size_t>(link)].name,
                          readable(before.mass, 3), "→ " + readable(after.mass, 3),
                          toString(originOf(best, first)), positionText(before.com()),
                          "→ " + positionText(after.com()), toString(origin), possible});
  }
  return inked("\nLinks", Ink::kBold, colour) +
         inked(
             "  before → after, and what decided it: data, a combination with other links, or the "
             "prior\n",
             Ink::kDim, colour) +
         table.text(colour);
}

std::string worstText(const IdentificationResult& result, bool colour, int width) {
  const IdentificationProblem& problem = result.problem;
  const Estimate& estimate = result.best().estimate;
  const Eigen::VectorXd sigma = baseSigma(estimate);
  const Eigen::VectorXd relative =
      100.0 * sigma.cwiseQuotient(estimate.beta.cwiseAbs().cwiseMax(1e-300));
  const std::vector<ParameterUncertainty>& base = result.best().base;
  std::vector<int> order;
  size_t at_bound = 0;
  for (int i = 0; i < static_cast<int>(estimate.beta.size()); ++i) {
    const auto place = static_cast<size_t>(i);
    const bool bound = place < base.size() && base[place].at_bound;
    at_bound += bound ? 1 : 0;
    // neither a bound nor what was dropped or held fast is badly known
    if (!bound && sigma[i] != 0.0) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return relative[a] > relative[b]; });
  order.resize(std::min(order.size(), kWorstParameters));
  TextTable table;
  table.header = {"base parameter", "value", "± sigma", "%", "unit"};
  table.right = {false, true, true, true, false};
  constexpr int kNumbers = 44;  // columns that the numbers need
  for (const int i : order) {
    std::string name = groupingText(problem.base, i, problem.labels);
    const auto most = static_cast<size_t>(std::max(20, width - kNumbers));
    if (name.size() > most) name = name.substr(0, most - 3) + "...";
    table.rows.push_back(
        {name, readable(estimate.beta[i], 3), readable(sigma[i], 2), relativeText(relative[i]),
         (*problem.layout)[problem.base.independent[static_cast<size_t>(i)]].unit});
  }
  return inked("\nBase parameters", Ink::kBold, colour) +
         inked(fmt::format("  {} of {} are known to {:.0f} %{}, condition number {}; the worst:\n",
                           knownWell(estimate), estimate.beta.size(), kKnownWell,
                           at_bound > 0 ? fmt::format(", {} are at their bound", at_bound) : "",
                           readable(estimate.condition, 3)),
               Ink::kDim, colour) +
         table.text(colour);
}

std::string methodsText(const IdentificationResult& result, bool colour) {
  if (result.methods.size() < 2) return {};
  const bool validated = !result.best().validation.empty();
  TextTable table;
  table.header = {"",         "method",     "training %", "validation %", "worst joint %",
                  "possible", "iterations", "seconds"};
  table.right = {false, false, true, true, true, false, true, true};
  for (size_t m = 0; m < result.methods.size(); ++m) {
    const MethodResult& method = result.methods[m];
    const Evaluation training = pooled(method.training), validation = pooled(method.validation);
    double worst = 0.0;
    for (const JointError& joint : (validated ? validation : training).joints)
      worst = std::fmax(worst, joint.percent);
    table.rows.push_back({m == result.chosen ? "▸" : "", method.estimate.method,
                          percentText(training.overall),
                          validated ? percentText(validation.overall) : "", readable(worst, 3),
                          method.consistent ? "yes" : inked("no", Ink::kYellow, colour),
                          fmt::to_string(method.estimate.iterations) +
                              (method.estimate.converged ? "" : " (not converged)"),
                          readable(method.estimate.seconds, 2)});
  }
  return inked("\nMethods", Ink::kBold, colour) +
         inked("  ▸ the one whose values are shown and written\n", Ink::kDim, colour) +
         table.text(colour);
}

std::string verdictText(const IdentificationResult& result, bool colour, int width) {
  const bool validated = !result.best().validation.empty();
  std::string text = "\n" +
                     inked(!result.passed ? "FAILED"
                           : validated    ? "PASSED"
                                          : "NOT VALIDATED",
                           !result.passed         ? Ink::kRed
                           : passedInPart(result) ? Ink::kYellow
                                                  : Ink::kGreen,
                           colour) +
                     "  " + wrapped(verdictBeside(result), width - 8, 8) + "\n";
  for (size_t i = 0; i < result.reasons.size(); ++i)
    text += fmt::format("  {} {}\n", i < result.causes ? "▲" : "•",
                        wrapped(result.reasons[i], width - 4, 4));
  if (!result.advice.empty()) text += fmt::format("  • {}\n", wrapped(result.advice, width - 4, 4));
  return text;
}

}  // namespace

std::string identificationText(const IdentificationResult& result, bool colour, int width) {
  return headingText(result, colour, width) + errorsText(result, colour) +
         linksText(result, colour) + worstText(result, colour, width) +
         methodsText(result, colour) + verdictText(result, colour, width);
}

}  // namespace proprio
