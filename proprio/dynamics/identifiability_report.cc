#include "proprio/dynamics/identifiability_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "proprio/core/text_table.h"
#include "proprio/dynamics/regrouping_rules.h"
#include "proprio/dynamics/sampled_identifiability.h"
#include "proprio/dynamics/structural_identifiability.h"
#include "proprio/dynamics/structural_spaces_internal.h"

namespace proprio {
namespace {

using Json = nlohmann::ordered_json;

/// Groupings of two routes that differ by less are the same (rounding of the sampled one), with
/// lengths in metres or, of larger robots, in their size; where coefficients are larger than one
/// their rounding is, too.
constexpr double kSameGrouping = 1e-6;
/// A sum smaller than this part of its terms is zero.
constexpr double kCancelled = 1e-13;

bool isDefault(const Measurement& m) {
  return m.joint_torques && m.joints.empty() && !m.base_wrench && !m.force_torque_sensors;
}

Json groupingJson(const IdentifiabilityReport& report, int i) {
  const BaseParameters& base = report.base;
  const ParameterLayout& layout = *base.layout;
  const int first = base.independent[static_cast<size_t>(i)];
  Json terms = Json::array({{{"parameter", layout[first].name}, {"coefficient", 1.0}}});
  for (size_t d = 0; d < base.dependent.size(); ++d) {
    const double k = base.K(i, static_cast<Eigen::Index>(d));
    if (k == 0.0) continue;
    terms.push_back({{"parameter", layout[base.dependent[d]].name}, {"coefficient", k}});
  }
  return {{"name", layout[first].name},
          {"text", groupingText(base, i, report.labels)},
          {"value", report.beta[i]},
          {"unit", layout[first].unit},
          {"terms", terms}};
}

/// One letter-sized mark per status.
std::string mark(ParameterStatus status) {
  switch (status) {
    case ParameterStatus::kIdentifiable:
      return "●";
    case ParameterStatus::kCombined:
      return "○";
    case ParameterStatus::kWithoutEffect:
      break;
  }
  return "·";
}

std::string heading(const IdentifiabilityReport& report, bool colour, int width) {
  std::string text = inked(report.model->name, Ink::kBold, colour);
  text += fmt::format("\n  {} standard parameters, {} base parameters\n",
                      report.base.layout->size(), report.base.count());
  const auto route = [&](const char* name, std::optional<int> rank, const std::string& why) {
    text +=
        fmt::format("  {:<22}{}\n", name, rank ? std::to_string(*rank) : "does not apply: " + why);
  };
  route("sampled regressor", report.rank_sampled, "");
  route("exact structure", report.rank_exact, report.exact_obstacle);
  route("rules of serial arms", report.rank_rules, report.rules_obstacle);
  if (!report.snapped_joints.empty()) {
    const std::string joints = fmt::format("{}", fmt::join(report.snapped_joints, ", "));
    text += "  " +
            wrapped(
                "Angles within 1e-5 rad of a multiple of 15 degrees, and offsets below 1e-7 m, are "
                "taken as "
                "meant: " +
                    joints,
                width - 2, 2) +
            "\n";
  }
  if (!report.agree) {
    text += inked(
        "  The routes do not agree: the geometry is close to a special one (parallel or "
        "intersecting axes); see the gap in the JSON file.\n",
        Ink::kRed, colour);
  }
  return text;
}

/// Combinations line by line, then those that stand alone in one paragraph.
std::string groupingsText(const IdentifiabilityReport& report, bool colour, int width) {
  const BaseParameters& base = report.base;
  constexpr int kIndent = 16;
  std::string combined, alone;
  int combined_count = 0, alone_count = 0;
  for (int i = 0; i < base.count(); ++i) {
    const std::string text = groupingText(base, i, report.labels);
    if (base.K.row(i).isZero(0.0)) {
      alone += (alone_count++ > 0 ? ", " : "") + text;
      continue;
    }
    ++combined_count;
    combined += fmt::format("  {:>12}  {}\n", readable(report.beta[i]),
                            wrapped(text, width - kIndent, kIndent));
  }
  std::string out;
  if (combined_count > 0) {
    out += inked(fmt::format("\nIn combination: {}", combined_count), Ink::kBold, colour) +
           inked("  (declared value, grouping)\n", Ink::kDim, colour) + combined;
  }
  if (alone_count > 0) {
    out += inked(fmt::format("\nAlone: {}\n", alone_count), Ink::kBold, colour) + "  " +
           wrapped(alone, width - 2, 2) + "\n";
  }
  return out;
}

std::string statusText(const IdentifiabilityReport& report, bool colour, int width) {
  const ParameterLayout& layout = *report.base.layout;
  const std::vector<ParameterStatus> statuses = parameterStatuses(report.base);
  const Model& model = layout.model();
  TextTable links;
  links.header = {"link"};
  for (const char* name : kInertialNames) links.header.emplace_back(name);
  for (int l = 0; l < static_cast<int>(model.links.size()); ++l) {
    std::vector<std::string> row = {model.links[static_cast<size_t>(l)].name};
    for (int k = 0; k < 10; ++k) {
      row.push_back(mark(statuses[static_cast<size_t>(layout.linkOffset(l) + k)]));
    }
    links.rows.push_back(row);
  }
  std::string out =
      inked("\nStandard parameters", Ink::kBold, colour) +
      inked("  ● identifiable  ○ only in combination  · without effect\n", Ink::kDim, colour) +
      links.text(colour);
  // at the joints nearly everything is identifiable: only the others are named
  std::string others;
  int rest = 0;
  for (int i = layout.inertialSize(); i < layout.size(); ++i) {
    const ParameterStatus status = statuses[static_cast<size_t>(i)];
    if (status == ParameterStatus::kIdentifiable) continue;
    others += fmt::format("{}{} {}", rest++ > 0 ? ", " : "", layout[i].name, mark(status));
  }
  const int count = layout.size() - layout.inertialSize();
  if (count > 0) {
    const std::string text = fmt::format("{} of {} parameters at the joints are identifiable{}{}",
                                         count - rest, count, rest > 0 ? ", not: " : "", others);
    out += "\n  " + wrapped(text, width - 2, 2) + "\n";
  }
  return out;
}

}  // namespace

IdentifiabilityReport analyseIdentifiability(const Model& model, const Measurement& measurement,
                                             unsigned seed, bool short_labels,
                                             const AnalysisProgress& progress) {
  IdentifiabilityReport report;
  report.model = std::make_shared<const Model>(withSnappedGeometry(model));
  report.snapped_joints = snappedJoints(model, *report.model);
  const Tree tree(report.model);
  const Parameters declared = declaredParameters(report.model);
  const auto& layout = declared.layout;
  if (layout->size() > kMostAnalysedParameters) {
    throw Error(fmt::format(
        "{}: the robot has {} standard parameters, expected at most {} to be analysed; freeze "
        "joints (exclude in robot.yaml) and analyse it in parts",
        model.source.empty() ? model.name : model.source, layout->size(), kMostAnalysedParameters));
  }
  // from `begin` to `end` of the whole
  const auto step = [&](const char* name, double begin, double end) {
    return [&progress, name, begin, end](double done) {
      if (progress) progress(name, begin + (end - begin) * done);
    };
  };
  SamplingOptions sampling;
  sampling.seed = seed;
  sampling.progress = step("sampled regressor", 0.0, 0.5);
  const BaseParameters sampled = sampledBaseParameters(tree, layout, measurement, sampling);
  report.rank_sampled = sampled.count();
  report.smallest_kept = sampled.smallest_kept;
  report.largest_dropped = sampled.largest_dropped;
  report.base = sampled;
  const double length = std::max(1.0, internal::robotSize(tree));
  BaseParameters alone = sampled;
  alone.K.setZero();
  const double largest = std::max(1.0, groupingDistance(sampled, alone, length));
  const auto compare = [&](const BaseParameters& other) {
    const double distance = groupingDistance(sampled, other, length);
    if (!(distance < kSameGrouping * largest)) report.agree = false;
  };
  report.exact_obstacle = structuralAnalysisObstacle(tree);
  if (report.exact_obstacle.empty()) {
    ReductionOptions exact;
    exact.progress = step("exact structure", 0.5, 1.0);
    exact.progress(0.0);
    report.base = structuralBaseParameters(tree, layout, measurement, exact);
    report.rank_exact = report.base.count();
    compare(report.base);
  }
  if (!isDefault(measurement)) {
    report.rules_obstacle = "they are for all joint torques and nothing else";
  } else if (const auto rules = regroupedBaseParameters(tree, layout, {}, &report.rules_obstacle)) {
    report.rank_rules = rules->count();
    compare(*rules);
  }
  const auto labels = short_labels ? shortLabels(tree, *layout) : std::nullopt;
  report.labels = labels ? *labels : fullLabels(*layout);
  const Eigen::Map<const Eigen::VectorXd> chi(declared.values.data(), layout->size());
  report.beta = splitParameters(report.base, chi).beta;
  // terms that cancel leave rounding
  const Eigen::VectorXd sizes = baseMatrix(report.base).cwiseAbs() * chi.cwiseAbs();
  for (Eigen::Index i = 0; i < sizes.size(); ++i) {
    if (std::abs(report.beta[i]) < kCancelled * sizes[i]) report.beta[i] = 0.0;
  }
  return report;
}

std::string identifiabilityJson(const IdentifiabilityReport& report) {
  const ParameterLayout& layout = *report.base.layout;
  const auto rank = [](const std::optional<int>& value) { return value ? Json(*value) : Json(); };
  Json out = {
      {"robot", report.model->name},
      {"standard_count", layout.size()},
      {"count", report.base.count()},
      {"rank_qr", report.rank_sampled},
      {"rank_exact", rank(report.rank_exact)},
      {"rank_rules", rank(report.rank_rules)},
      {"agree", report.agree},
      {"gap",
       {{"smallest_kept", report.smallest_kept}, {"largest_dropped", report.largest_dropped}}},
      {"snapped_joints", report.snapped_joints}};
  out["groupings"] = Json::array();
  for (int i = 0; i < report.base.count(); ++i) out["groupings"].push_back(groupingJson(report, i));
  out["statuses"] = Json::object();
  const std::vector<ParameterStatus> statuses = parameterStatuses(report.base);
  for (int i = 0; i < layout.size(); ++i) {
    out["statuses"][layout[i].name] = toString(statuses[static_cast<size_t>(i)]);
  }
  return out.dump(2) + "\n";
}

std::string identifiabilityText(const IdentifiabilityReport& report, bool colour, int width) {
  return heading(report, colour, width) + groupingsText(report, colour, width) +
         statusText(report, colour, width);
}

}  // namespace proprio
