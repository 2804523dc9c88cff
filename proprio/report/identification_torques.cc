// report.html: errors beside baselines, and the torques themselves.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "proprio/report/chart.h"
#include "proprio/report/drawing_internal.h"
#include "proprio/report/identification_sections_internal.h"
#include "proprio/report/identification_tables_internal.h"
#include "proprio/report/report_page_internal.h"

namespace proprio {
namespace {

constexpr double kReportColumnsPerPx = 1.5;  // the reader may enlarge, the file stays small

std::string percentCell(const JointError& error, double largest, const char* colour) {
  if (error.rows == 0 || std::isnan(error.percent)) return "–";
  const std::string text = fmt::format("{:.{}f}", error.percent, error.percent < 9.95 ? 2 : 1);
  return barCell(text, error.percent / largest, colour);
}

std::string rmsCell(const JointError& error) {
  return error.rows == 0 ? "–" : htmlNumber(error.rms, 3);
}

std::string errorTable(const IdentificationResult& result) {
  const MethodResult& best = result.best();
  const bool validated = !best.validation.empty();
  const auto& references = validated ? result.validation_baselines : result.training_baselines;
  const Evaluation training = pooled(best.training), validation = pooled(best.validation),
                   given = pooled(references, "as given"),
                   gravity = pooled(references, "gravity only"), zero = pooled(references, "zero");
  const std::vector<std::string> names = coordinateNames(*result.problem.tree);
  const std::vector<std::string> units = coordinateUnits(*result.problem.tree);
  HtmlTable table;
  table.align = "l";
  table.header = {"joint", "training %", "rms"};
  if (validated) {
    table.header.emplace_back("validation %");
    table.header.emplace_back("rms");
    table.header.emplace_back("peak");
  }
  for (const char* name : {"as given %", "gravity only %", "torque rms", "unit"})
    table.header.emplace_back(name);
  const auto row = [&](const std::string& name, const JointError& t, const JointError& v,
                       const JointError& g, const JointError& o, const JointError& z,
                       const std::string& unit) {
    const double largest = std::max({100.0, g.percent, o.percent});
    std::vector<std::string> cells = {xmlEscaped(name), percentCell(t, largest, "bar"), rmsCell(t)};
    if (validated) {
      cells.push_back(percentCell(v, largest, v.percent >= g.percent ? "bad-soft" : "bar"));
      cells.push_back(rmsCell(v));
      cells.push_back(v.rows > 0 ? htmlNumber(v.peak, 3) : "–");
    }
    cells.push_back(percentCell(g, largest, "bar-before"));
    cells.push_back(percentCell(o, largest, "bar-before"));
    cells.push_back(rmsCell(z));
    cells.push_back(xmlEscaped(unit));
    table.rows.push_back(cells);
  };
  const auto of = [](const Evaluation& evaluation, size_t j) {
    return j < evaluation.joints.size() ? evaluation.joints[j] : JointError{};
  };
  for (size_t j = 0; j < names.size(); ++j)
    row(names[j], of(training, j), of(validation, j), of(given, j), of(gravity, j), of(zero, j),
        units[j]);
  table.row_attributes.resize(names.size());
  table.row_attributes.emplace_back(" class=\"total\"");
  row("all joints", training.overall, validation.overall, given.overall, gravity.overall,
      zero.overall, "");
  return table.html() +
         remark(fmt::format(
             "Percent of the norm of the measured torque, so that predicting zero scores 100; rms "
             "and peak of measured minus predicted. The robot as given and its gravity alone are "
             "judged on the {} recordings.",
             validated ? "validation" : "training"));
}

/// Stamps that count from another age (a clock's, in s since 1970) from the first one instead.
Eigen::VectorXd sinceStart(const Eigen::VectorXd& time) {
  constexpr double kFarAway = 1e6;  // s; no recording is eleven days long
  if (time.size() == 0 || std::abs(time[0]) < kFarAway) return time;
  return time.array() - time[0];
}

/// Per joint: measured and predicted, and beside them what is left.
Figure torqueFigure(const IdentificationResult& result, const MotionData& data, bool validation) {
  const Tree& tree = *result.problem.tree;
  const Eigen::MatrixXd predicted =
      predictTorques(tree, *result.problem.layout, result.best().estimate.chi, data);
  const std::vector<std::string> names = coordinateNames(tree), units = coordinateUnits(tree);
  Figure figure;
  figure.title = fmt::format("{}: {}", validation ? "Validation" : "Training", data.name);
  figure.x = {"time", "s"};
  figure.columns = 2;
  figure.width = 1120.0;
  figure.panel_height = 125.0;
  const Eigen::VectorXd time =
      data.time.size() == data.samples()
          ? sinceStart(data.time)
          : Eigen::VectorXd::LinSpaced(data.samples(), 0.0,
                                       static_cast<double>(data.samples() - 1));
  for (Eigen::Index j = 0; j < data.tau.cols(); ++j) {
    if (!data.use.col(j).any()) continue;
    const auto index = static_cast<size_t>(j);
    Panel torque, rest;
    torque.title = names[index];
    torque.y = {"torque", units[index]};
    torque.series = {line("measured", time, data.tau.col(j)),
                     line("predicted", time, predicted.col(j))};
    torque.series[0].colour = 7;
    torque.series[1].colour = 0;
    Eigen::VectorXd difference = data.tau.col(j) - predicted.col(j);
    for (Eigen::Index i = 0; i < difference.size(); ++i) {
      if (!data.use(i, j)) difference[i] = std::numeric_limits<double>::quiet_NaN();
    }
    rest.y = {"residual", units[index]};
    rest.series = {line("", time, difference)};
    rest.series[0].colour = 0;
    figure.panels.push_back(torque);
    figure.panels.push_back(rest);
  }
  return figure;
}

std::string torqueFigures(const IdentificationResult& result, const std::vector<MotionData>& all,
                          bool validation) {
  std::string out;
  for (const MotionData& data : all) {
    const Figure figure = torqueFigure(result, data, validation);
    if (!figure.panels.empty())
      out += "<div class=\"charts\">" + svgElement(figure, kReportColumnsPerPx, false) + "</div>\n";
  }
  return out;
}

}  // namespace

std::string torqueSections(const IdentificationResult& result) {
  return section("torques", "Torques: measured against predicted",
                 errorTable(result) + "<p class=\"hint\"></p>\n" +
                     torqueFigures(result, result.validation, true) +
                     torqueFigures(result, result.problem.data, false));
}

}  // namespace proprio
