// report.html: links in space, base parameters with their uncertainty, friction and drives.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "proprio/report/chart.h"
#include "proprio/report/drawing_internal.h"
#include "proprio/report/identification_sections_internal.h"
#include "proprio/report/identification_tables_internal.h"
#include "proprio/report/link_scene_internal.h"
#include "proprio/report/report_page_internal.h"

namespace proprio {
namespace {

constexpr double kNothing = 1e-6;        // of a standard deviation
constexpr Eigen::Index kPostures = 100;  // per recording, to choose from

/// Before → after, in the manner of its origin.
std::string changeCell(const std::string& before, const std::string& after,
                       ParameterOrigin origin) {
  return fmt::format("<span class=\"before\">{}</span> → <span class=\"{}\">{}</span>", before,
                     toString(origin), after);
}

std::string millimetres(const Vector3d& p) {
  const auto number = [](double x) { return htmlNumber(std::round(1e3 * x) + 0.0, 6); };
  return fmt::format("{}, {}, {}", number(p.x()), number(p.y()), number(p.z()));
}

std::string linkTable(const IdentificationResult& result) {
  const MethodResult& best = result.best();
  const ParameterLayout& layout = *result.problem.layout;
  HtmlTable table;
  table.align = "lrrl";
  table.header = {"link", "mass, kg", "centre of mass, mm", "possible"};
  for (const int link : movedLinks(*result.problem.tree)) {
    const std::string& name = layout.model().links[static_cast<size_t>(link)].name;
    const InertialParameters before = bodyOf(layout, result.declared, link),
                             after = bodyOf(layout, best.estimate.chi, link);
    const int first = layout.linkOffset(link);
    const ParameterOrigin origin =
        std::max({originOf(best, first + 1), originOf(best, first + 2), originOf(best, first + 3)});
    std::string possible;
    for (const LinkConsistency& consistency : best.links) {
      if (consistency.link != link) continue;
      possible = consistency.consistent ? badge("yes", "good") : badge("no", "bad");
      possible += fmt::format(" <span class=\"muted\">{}</span>",
                              htmlNumber(consistency.smallest_eigenvalue, 2));
    }
    table.rows.push_back(
        {xmlEscaped(name),
         changeCell(htmlNumber(before.mass), htmlNumber(after.mass), originOf(best, first)),
         changeCell(millimetres(before.com()), millimetres(after.com()), origin), possible});
    table.row_attributes.push_back(fmt::format(" data-link=\"{}\"", xmlEscaped(name)));
  }
  return table.html();
}

/// Place of a parameter on a line that also shows zero: before as a ring, after with its confidence
/// interval.
std::string spark(double before, double after, double half_width) {
  constexpr double kWidth = 100.0, kEdge = 6.0;
  const double spread = std::isfinite(half_width) ? half_width : 0.0;
  double low = std::min({0.0, before, after - spread}),
         high = std::max({0.0, before, after + spread});
  // an interval far wider than the values would hide them
  const double size = std::max(std::abs(before), std::abs(after));
  if (size > 0.0) {
    low = std::max(low, -4.0 * size);
    high = std::min(high, 4.0 * size);
  }
  if (!(high > low)) return {};
  const auto at = [&](double value) {
    return kEdge + (kWidth - 2.0 * kEdge) * std::clamp((value - low) / (high - low), 0.0, 1.0);
  };
  return fmt::format(
      "<svg class=\"spark\" viewBox=\"0 0 100 16\"><line x1=\"0\" y1=\"8\" x2=\"100\" y2=\"8\"/>"
      "<line x1=\"{0:.1f}\" y1=\"2\" x2=\"{0:.1f}\" y2=\"14\"/>"
      "<line class=\"ci\" x1=\"{1:.1f}\" y1=\"8\" x2=\"{2:.1f}\" y2=\"8\"/>"
      "<circle class=\"old\" cx=\"{3:.1f}\" cy=\"8\" r=\"3.5\"/>"
      "<circle class=\"new\" cx=\"{4:.1f}\" cy=\"8\" r=\"3\"/></svg>",
      at(0.0), at(after - spread), at(after + spread), at(before), at(after));
}

/// Whose parameter it is: a link or a joint.
std::string ownerOf(const ParameterLayout& layout, int parameter) {
  const ParameterInfo& info = layout[parameter];
  const Model& model = layout.model();
  if (info.link >= 0) return model.links[static_cast<size_t>(info.link)].name;
  if (info.joint >= 0) return model.joints[static_cast<size_t>(info.joint)].name;
  return "couplings";
}

std::string baseTables(const IdentificationResult& result) {
  const IdentificationProblem& problem = result.problem;
  const Estimate& estimate = result.best().estimate;
  const Eigen::VectorXd sigma = baseSigma(estimate);
  const Eigen::VectorXd before = baseMatrix(problem.base) * result.declared;
  std::vector<std::string> owners;
  std::map<std::string, HtmlTable> tables;
  for (int i = 0; i < problem.base.count(); ++i) {
    const int parameter = problem.base.independent[static_cast<size_t>(i)];
    const std::string owner = ownerOf(*problem.layout, parameter);
    if (tables.count(owner) == 0) {
      owners.push_back(owner);
      tables[owner].header = {xmlEscaped(owner), "as given", "identified",
                              "95 % interval",   "± %",      ""};
      tables[owner].align = "lrrrrr";
    }
    const double percent = 100.0 * sigma[i] / std::abs(estimate.beta[i]);
    // at a bound, zero up to rounding
    const bool nothing = std::abs(estimate.beta[i]) < kNothing * sigma[i];
    const std::vector<ParameterUncertainty>& all = result.best().base;
    const ParameterUncertainty* interval =
        static_cast<size_t>(i) < all.size() ? &all[static_cast<size_t>(i)] : nullptr;
    const std::string label = groupingText(problem.base, i, problem.labels);
    const std::string unit = (*problem.layout)[parameter].unit;
    // zero up to rounding: what is small beside the deviation of the same parameter
    const bool none = std::abs(before[i]) < kNothing * sigma[i];
    tables[owner].rows.push_back(
        {fmt::format("<span title=\"{0}, {1}\">{0}</span>", xmlEscaped(label), xmlEscaped(unit)),
         htmlNumber(none ? 0.0 : before[i]), htmlNumber(nothing ? 0.0 : estimate.beta[i]),
         fmt::format("<span title=\"σ = {}\">{}</span>", htmlNumber(sigma[i], 3),
                     interval ? htmlNumber(interval->low) + " … " + htmlNumber(interval->high)
                              : "± " + htmlNumber(sigma[i], 2)),
         interval && interval->at_bound ? "<span title=\"it may not be negative\">bound</span>"
         : percent > 999.0              ? "&gt; 999"
                                        : htmlNumber(percent, 2),
         spark(before[i], estimate.beta[i],
               interval ? interval->high - estimate.beta[i] : 2.0 * sigma[i])});
  }
  std::string out = "<div class=\"groups\">\n";
  for (const std::string& owner : owners) out += "<div>" + tables[owner].html() + "</div>\n";
  return out + "</div>\n";
}

std::string standardTable(const IdentificationResult& result) {
  const ParameterLayout& layout = *result.problem.layout;
  const MethodResult& best = result.best();
  HtmlTable table;
  table.align = "l";
  table.header = {"link"};
  for (int k = 0; k < 10; ++k)
    table.header.push_back(fmt::format("{}, {}", kInertialNames[k], layout[k].unit));
  for (const int link : movedLinks(*result.problem.tree)) {
    std::vector<std::string> row = {
        xmlEscaped(layout.model().links[static_cast<size_t>(link)].name)};
    for (int k = 0; k < 10; ++k) {
      const int i = layout.linkOffset(link) + k;
      row.push_back(fmt::format("<span class=\"{0}\" title=\"{0}; as given {1}\">{2}</span>",
                                toString(originOf(best, i)), htmlNumber(result.declared[i]),
                                htmlNumber(best.estimate.chi[i])));
    }
    table.rows.push_back(row);
  }
  return fmt::format(
      "<details>\n<summary>All ten parameters of every link</summary>\n{}{}</details>\n",
      "<p><span class=\"data\">bold</span>: determined by the data; plain: in combination with "
      "others; <span class=\"prior\">italic</span>: kept from the prior. Inertia about the link's "
      "origin.</p>\n",
      table.html());
}

/// Joints below each other, what they have side by side.
std::string jointTable(const IdentificationResult& result) {
  const ParameterLayout& layout = *result.problem.layout;
  const Model& model = layout.model();
  const MethodResult& best = result.best();
  const Eigen::VectorXd sigma = standardSigma(result.problem, best);
  const auto cell = [&](int i) {
    const std::string spread =
        std::isfinite(sigma[i])
            ? fmt::format(" <span class=\"muted\">± {}</span>", htmlNumber(sigma[i], 2))
            : std::string();
    const double value = best.estimate.chi[i];
    return changeCell(htmlNumber(result.declared[i]),
                      htmlNumber(std::abs(value) < kNothing * sigma[i] ? 0.0 : value),
                      originOf(best, i)) +
           spread;
  };
  HtmlTable table;
  table.align = "l";
  table.header = {"joint"};
  std::vector<std::string> kinds;  // "viscous", "rotor_inertia", ...
  const auto kindOf = [&](size_t j, int i) {
    return layout[i].name.substr(std::min(model.joints[j].name.size() + 1, layout[i].name.size()));
  };
  for (int pass = 0; pass < 2; ++pass) {
    for (size_t j = 0; j < model.joints.size(); ++j) {
      const int first = layout.jointOffset(static_cast<int>(j));
      const int count = layout.jointCount(static_cast<int>(j));
      std::vector<std::string> row(kinds.size() + 1, "");
      for (int i = first; i < first + count; ++i) {
        const std::string kind = kindOf(j, i);
        const auto found = std::find(kinds.begin(), kinds.end(), kind);
        if (pass == 1) {
          row[static_cast<size_t>(found - kinds.begin()) + 1] = cell(i);
        } else if (found == kinds.end()) {
          kinds.push_back(kind);
          std::string shown = kind;
          std::replace(shown.begin(), shown.end(), '_', ' ');
          table.header.push_back(xmlEscaped(shown + ", " + layout[i].unit));
        }
      }
      if (pass == 0 || count == 0) continue;
      row[0] = xmlEscaped(model.joints[j].name);
      table.rows.push_back(row);
    }
  }
  HtmlTable couplings;
  couplings.align = "l";
  couplings.header = {"coupling", "unit", "as given → identified"};
  for (int i = layout.couplingOffset(); i < layout.size(); ++i)
    couplings.rows.push_back({xmlEscaped(layout[i].name), xmlEscaped(layout[i].unit), cell(i)});
  return (table.rows.empty() ? "" : table.html()) +
         (couplings.rows.empty() ? "" : couplings.html());
}

/// Friction over speed, as far as the recordings went.
std::string frictionFigure(const IdentificationResult& result) {
  const Tree& tree = *result.problem.tree;
  const Model& model = tree.model();
  const auto with = [&](const Eigen::VectorXd& chi, size_t j, double v) {
    const FrictionModel& friction = model.joints[j].friction;
    double torque = 0.0;
    for (int i = result.problem.layout->jointOffset(static_cast<int>(j));
         i < result.problem.layout->jointOffset(static_cast<int>(j)) +
                 result.problem.layout->jointCount(static_cast<int>(j));
         ++i) {
      const ParameterInfo& info = (*result.problem.layout)[i];
      if (info.kind != ParameterKind::kFriction) continue;
      torque +=
          chi[i] * frictionBasis(friction, friction.terms[static_cast<size_t>(info.component)], v);
    }
    return torque;
  };
  Figure figure;
  figure.shared_x = false;
  figure.width = 1120.0;
  figure.panel_height = 150.0;
  figure.columns = 4;
  for (size_t j = 0; j < model.joints.size(); ++j) {
    const Joint& joint = model.joints[j];
    const int index = tree.velocityIndex(static_cast<int>(j));
    if (joint.friction.terms.empty() || index < 0 || joint.mimic) continue;
    double fastest = 0.0;
    for (const MotionData& data : result.problem.data)
      fastest = std::max(fastest, data.v.col(index).cwiseAbs().maxCoeff());
    if (!(fastest > 0.0)) continue;
    const Eigen::VectorXd v = Eigen::VectorXd::LinSpaced(201, -fastest, fastest);
    Eigen::VectorXd before(v.size()), after(v.size());
    for (Eigen::Index i = 0; i < v.size(); ++i) {
      before[i] = with(result.declared, j, v[i]);
      after[i] = with(result.best().estimate.chi, j, v[i]);
    }
    Panel panel;
    panel.title = joint.name;
    const bool slides = joint.type == JointType::kPrismatic;
    panel.x = {"speed", slides ? "m/s" : "rad/s"};
    panel.y = {"friction", slides ? "N" : "N m"};
    panel.series = {line("as given", v, before), line("identified", v, after)};
    panel.series[0].colour = 4;
    panel.series[0].dashed = true;
    panel.series[1].colour = 0;
    figure.panels.push_back(panel);
  }
  if (figure.panels.empty()) return {};
  return "<div class=\"charts\">" + svgElement(figure, 1.0, false) + "</div>\n";
}

}  // namespace

std::string linkSection(const IdentificationResult& result) {
  std::vector<Eigen::VectorXd> postures;
  for (const MotionData& data : result.problem.data) {
    const Eigen::Index step = std::max<Eigen::Index>(1, data.samples() / kPostures);
    for (Eigen::Index i = 0; i < data.samples(); i += step)
      postures.emplace_back(data.q.row(i).transpose());
  }
  const Scene scene =
      linkScene(*result.problem.tree, postures, result.declared, result.best().estimate.chi);
  return section(
      "links", "Links: before and after",
      remark("Each link as the homogeneous ellipsoid that has its inertia, at a posture of the "
             "recordings; dots are centres of mass, red is physically impossible.") +
          "<div class=\"pair\">\n" + sceneHtml(scene) + "<div>" + linkTable(result) +
          "<p><span class=\"data\">bold</span>: determined by the data; plain: in combination with "
          "other links; <span class=\"prior\">italic</span>: kept from the prior. The last number "
          "is the smallest eigenvalue of the pseudo-inertia.</p></div>\n</div>\n" +
          standardTable(result));
}

std::string parameterSection(const IdentificationResult& result) {
  return section("parameters", "Base parameters: what the torques determine",
                 "<p class=\"muted\"><span class=\"before\">○</span> as given, <span "
                 "class=\"after\">●</span> identified, with a bar for the 95 % interval; "
                 "the tick is zero. Rest on a name to read it whole.</p>\n" +
                     baseTables(result));
}

std::string jointSection(const IdentificationResult& result) {
  const std::string table = jointTable(result);
  if (table.empty()) return {};
  return section("joints", "Joints: friction and drives", frictionFigure(result) + table);
}

}  // namespace proprio
