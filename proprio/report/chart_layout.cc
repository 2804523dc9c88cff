#include <fmt/format.h>

#include "proprio/core/error.h"
#include "proprio/report/layout_internal.h"

namespace proprio {
namespace {

// sizes in px
constexpr double kMargin = 14.0;
constexpr double kTitleSize = 15.0, kSubtitleSize = 11.5, kPanelTitleSize = 11.5;
constexpr double kSmallLabelSize = 9.0, kTickSize = 10.0;
constexpr double kTickGap = 5.0;         // between number and plot
constexpr double kAxisLabelRoom = 15.0;  // a line of label beside the numbers
constexpr double kTickRoom = 16.0;       // numbers below the plot
constexpr double kColumnGap = 20.0, kRowGap = 12.0;
constexpr double kDirectRow = 12.0;  // labels at the ends of lines
constexpr double kLongestName = 110.0;
constexpr double kPadding = 0.06;  // of the data above and below

/// A panel with everything that its size depends on.
struct Plan {
  const Panel* panel = nullptr;
  Axis x_axis, y_axis;
  Range x, y;
  bool empty = false;    ///< nothing to draw
  bool x_labels = true;  ///< numbers below; otherwise those of the panel underneath serve
  bool y_label = true;
  bool direct = false;  ///< labels at the ends of the lines instead of a legend
  std::vector<LegendEntry> legend;
  Legend legend_rows;
  Ticks x_ticks, y_ticks;
  PlotFrame frame;
};

void requireSizes(const Panel& panel, size_t number) {
  for (const Series& series : panel.series) {
    const Eigen::Index n = series.x.size();
    const bool has_y = series.mark != Mark::kBand;
    const bool errors = !has_y || series.low.size() != 0 || series.high.size() != 0;
    if ((has_y && series.y.size() != n) ||
        (errors && (series.low.size() != n || series.high.size() != n))) {
      throw Error(fmt::format(
          "panel {} '{}' of a chart, series '{}': {} places on x but {} values, {} lower and {} "
          "upper bounds; expected as many of each",
          number + 1, panel.title, series.label, n, series.y.size(), series.low.size(),
          series.high.size()));
    }
  }
}

int columnsFor(size_t panels) {
  if (panels <= 3) return 1;
  if (panels <= 8) return 2;
  return panels <= 24 ? 3 : 4;
}

// lines run from edge to edge, points have room around them
double xPadding(const Panel& panel) {
  for (const Series& series : panel.series) {
    if (series.mark == Mark::kPoints) return 0.03;
  }
  return 0.0;
}

// "rad/s^2" as it is printed
std::string powers(std::string unit) {
  for (const auto& [plain, printed] : {std::pair{"^2", "²"}, {"^3", "³"}}) {
    for (size_t at = unit.find(plain); at != std::string::npos; at = unit.find(plain))
      unit.replace(at, 2, printed);
  }
  return unit;
}

std::string withUnit(const Axis& axis) {
  if (axis.unit.empty()) return axis.label;
  const std::string unit = powers(axis.unit);
  return axis.label.empty() ? unit : axis.label + " (" + unit + ")";
}

Ticks ticksFor(const Range& range, bool log, int most) {
  return log ? logTicks(range.low, range.high, most) : linearTicks(range.low, range.high, most);
}

double widest(const std::vector<std::string>& labels) {
  double width = 0.0;
  for (const std::string& label : labels) width = std::max(width, textWidth(label, kTickSize));
  return width;
}

// as many as fit beside each other
Ticks xTicksFor(const Range& range, bool log, double width) {
  Ticks ticks;
  for (int most = std::clamp(static_cast<int>(width / 45.0), 2, 10); most >= 2; --most) {
    ticks = ticksFor(range, log, most);
    const auto count = static_cast<double>(std::max<size_t>(ticks.labels.size(), 1));
    if ((widest(ticks.labels) + 8.0) * count <= width) return ticks;
  }
  for (size_t i = 1; i < ticks.labels.size(); i += 2) ticks.labels[i].clear();
  return ticks;
}

/// The figure as a grid: sizes of rows and columns, then everything at its place.
class Grid {
 public:
  Grid(const Figure& figure, double columns_per_px)
      : figure_(figure), columns_per_px_(columns_per_px) {
    planPanels();
    planColumns();
    planRows();
  }

  Drawing drawing() {
    drawHeading();
    for (Plan& plan : plans_) drawPanel(plan);
    return std::move(drawing_);
  }

 private:
  size_t columnOf(size_t i) const { return i % columns_; }
  size_t rowOf(size_t i) const { return i / columns_; }
  bool hasBelow(size_t i) const { return i + columns_ < plans_.size(); }

  void planPanels() {
    const size_t count = figure_.panels.size();
    columns_ = figure_.columns > 0 ? static_cast<size_t>(figure_.columns)
                                   : static_cast<size_t>(columnsFor(count));
    columns_ = std::clamp<size_t>(columns_, 1, std::max<size_t>(count, 1));
    Range shared;
    double shared_padding = 0.0;
    bool one_label = true;
    for (size_t i = 0; i < count; ++i) {
      const Panel& panel = figure_.panels[i];
      requireSizes(panel, i);
      Plan plan;
      plan.panel = &panel;
      plan.x_axis = figure_.shared_x ? figure_.x : panel.x;
      plan.y_axis = panel.y;
      plan.x = xRange(panel, plan.x_axis);
      plan.y = yRange(panel, panel.y);
      plan.empty = plan.x.empty() || plan.y.empty();
      plan.legend = legendOf(panel);
      if (!plan.empty) shared.add(plan.x);
      shared_padding = std::max(shared_padding, xPadding(panel));
      one_label = one_label && withUnit(panel.y) == withUnit(figure_.panels[0].y);
      plans_.push_back(std::move(plan));
    }
    std::vector<std::vector<LegendEntry>> legends;
    for (const Plan& plan : plans_) legends.push_back(plan.legend);
    common_legend_ = legendRows(commonLegend(legends), figure_.width - 2.0 * kMargin);
    for (size_t i = 0; i < count; ++i) {
      Plan& plan = plans_[i];
      plan.x = shownRange(plan.x_axis, figure_.shared_x ? shared : plan.x,
                          figure_.shared_x ? shared_padding : xPadding(*plan.panel));
      plan.y = shownRange(plan.y_axis, plan.y, kPadding);
      if (!common_legend_.empty()) plan.legend.clear();
      plan.x_labels = !figure_.shared_x || !hasBelow(i);
      plan.y_label = !one_label || columnOf(i) == 0;
    }
  }

  double plotHeight() const {
    if (figure_.panel_height > 0.0) return figure_.panel_height;
    const double share = figure_.width / static_cast<double>(columns_);
    if (plans_.size() == 1) return 0.48 * share;
    return columns_ == 1 ? 0.21 * share : std::max(88.0, 0.36 * share);
  }

  // labels at the ends of lines: a column of panels, few lines, short labels
  bool directLabels(const Plan& plan) const {
    if (columns_ > 1 || plan.legend.size() < 2) return false;
    double width = 0.0;
    for (const LegendEntry& entry : plan.legend) {
      if (entry.mark != Mark::kLine || entry.dashed) return false;
      width = std::max(width, textWidth(entry.label, kLabelSize));
    }
    return static_cast<double>(plan.legend.size()) * kDirectRow <= plotHeight() &&
           width <= 0.2 * figure_.width;
  }

  void planColumns() {
    std::vector<double> left(columns_, 0.0), right(columns_, 0.0);
    const double height = plotHeight();
    for (size_t i = 0; i < plans_.size(); ++i) {
      Plan& plan = plans_[i];
      plan.y_ticks = ticksFor(plan.y, plan.y_axis.log, std::clamp(int(height / 26.0), 2, 8));
      double room =
          kTickGap + std::max(widest(plan.y_ticks.labels), textWidth(plan.y_ticks.note, kTickSize));
      if (plan.y_label && !withUnit(plan.y_axis).empty()) room += kAxisLabelRoom;
      left[columnOf(i)] = std::max(left[columnOf(i)], room);
      plan.direct = directLabels(plan);
      // the last number below the plot may reach half its width beyond
      right[columnOf(i)] = std::max(right[columnOf(i)], columnOf(i) + 1 == columns_ ? 10.0 : 0.0);
      for (const LegendEntry& entry : plan.legend) {
        if (plan.direct)
          right[columnOf(i)] =
              std::max(right[columnOf(i)], 8.0 + textWidth(entry.label, kLabelSize));
      }
    }
    double taken = 2.0 * kMargin + kColumnGap * static_cast<double>(columns_ - 1);
    for (size_t c = 0; c < columns_; ++c) taken += left[c] + right[c];
    const double width = std::max(
        40.0, (figure_.width - taken) / static_cast<double>(std::max<size_t>(columns_, 1)));
    std::vector<double> start(columns_);
    double x = kMargin;
    for (size_t c = 0; c < columns_; ++c) {
      start[c] = x + left[c];
      x = start[c] + width + right[c] + kColumnGap;
    }
    drawing_.width = std::max(figure_.width, x - kColumnGap + kMargin);
    for (size_t i = 0; i < plans_.size(); ++i) {
      PlotFrame& frame = plans_[i].frame;
      frame.x = start[columnOf(i)];
      frame.width = width;
      frame.height = height;
      left_edge_.push_back(frame.x - left[columnOf(i)]);
    }
  }

  // room below the plot for numbers or names, and the label of the axis
  double roomBelow(const Plan& plan) const {
    if (!plan.x_labels) return 0.0;
    double room = kTickRoom;
    if (!plan.x_axis.names.empty() && slanted(plan))
      room = 10.0 + (upright(plan) ? 1.0 : 0.72) *
                        (4.0 + std::min(kLongestName, widest(plan.x_axis.names)));
    return room +
           (withUnit(plan.x_axis).empty() && plan.x_ticks.note.empty() ? 0.0 : kAxisLabelRoom);
  }

  static double placeWidth(const Plan& plan) {
    return plan.frame.width / (plan.x.high - plan.x.low);
  }
  // names that are too wide for their place stand at 45 degrees, or upright where even that
  // overlaps
  static bool upright(const Plan& plan) { return placeWidth(plan) < 1.5 * kTickSize; }
  static bool slanted(const Plan& plan) {
    return widest(plan.x_axis.names) + 6.0 > placeWidth(plan);
  }

  double headingHeight() const {
    double height = kMargin;
    if (!figure_.title.empty()) height += kTitleSize + 6.0;
    if (!figure_.subtitle.empty()) height += kSubtitleSize + 6.0;
    if (!common_legend_.empty())
      height += kLegendRow * static_cast<double>(common_legend_.size()) + 4.0;
    return height;
  }

  void planRows() {
    const size_t rows = (plans_.size() + columns_ - 1) / columns_;
    std::vector<double> above(rows, 6.0), below(rows, 0.0);
    for (size_t i = 0; i < plans_.size(); ++i) {
      Plan& plan = plans_[i];
      plan.x_ticks = xTicksFor(plan.x, plan.x_axis.log, plan.frame.width);
      plan.frame.zoom = plan.x_axis.names.empty() && !plan.empty;
      if (!plan.direct) plan.legend_rows = legendRows(plan.legend, plan.frame.width);
      double room = plan.panel->title.empty() ? 0.0 : kPanelTitleSize + 6.0;
      if (room == 0.0 && !plan.y_ticks.note.empty()) room = kTickSize + 4.0;
      room += kLegendRow * static_cast<double>(plan.legend_rows.size());
      above[rowOf(i)] = std::max(above[rowOf(i)], room);
      // an empty place underneath has room for the numbers
      if (hasBelow(i) || rowOf(i) + 1 == rows)
        below[rowOf(i)] = std::max(below[rowOf(i)], roomBelow(plan));
    }
    double y = headingHeight();
    for (size_t r = 0; r < rows; ++r) {
      y += above[r];
      for (size_t i = r * columns_; i < std::min(plans_.size(), (r + 1) * columns_); ++i) {
        plans_[i].frame.y = y;
        y_end_ = std::max(y_end_, y + plans_[i].frame.height + roomBelow(plans_[i]));
      }
      y += plotHeight() + below[r] + kRowGap;
    }
    drawing_.height = std::ceil(std::max(y_end_, headingHeight()) + kMargin - 4.0);
  }

  void drawHeading() {
    double y = kMargin - 4.0;
    const double width = drawing_.width - 2.0 * kMargin;
    if (!figure_.title.empty()) {
      add(textItem(fitted(figure_.title, kTitleSize, width, true), {kMargin, y + kTitleSize},
                   kTitleSize, kInk, Anchor::kStart, true));
      y += kTitleSize + 6.0;
    }
    if (!figure_.subtitle.empty()) {
      add(textItem(fitted(figure_.subtitle, kSubtitleSize, width), {kMargin, y + kSubtitleSize},
                   kSubtitleSize, kMuted));
      y += kSubtitleSize + 6.0;
    }
    drawLegend(common_legend_, kMargin, y + 1.0, drawing_.items);
  }

  void add(Item item) { drawing_.items.push_back(std::move(item)); }

  void drawXTicks(const Plan& plan, const Scale& x) {
    const PlotFrame& f = plan.frame;
    const double bottom = f.y + f.height;
    add(groupItem(ItemKind::kTicks, "x"));
    const auto grid = [&](double value, double opacity) {
      const double at = f.x + x(value);
      Item item = strokeItem({{at, f.y}, {at, bottom}}, kGrid, 1.0);
      item.opacity = opacity;
      add(item);
    };
    if (plan.x_axis.names.empty()) {
      for (const double value : plan.x_ticks.minor) grid(value, 0.5);
      for (size_t i = 0; i < plan.x_ticks.values.size(); ++i) {
        grid(plan.x_ticks.values[i], 1.0);
        if (plan.x_labels)
          add(textItem(plan.x_ticks.labels[i],
                       {f.x + x(plan.x_ticks.values[i]), bottom + kTickGap + 9.0}, kTickSize,
                       kMuted, Anchor::kMiddle));
      }
      if (plan.x_labels && !plan.x_ticks.note.empty())
        add(textItem(plan.x_ticks.note, {f.x + f.width, bottom + kTickRoom + 12.0}, kTickSize,
                     kMuted, Anchor::kEnd));
    } else if (plan.x_labels) {
      drawNames(plan, x);
    }
    add(groupItem(ItemKind::kClose));
  }

  void drawNames(const Plan& plan, const Scale& x) {
    const double bottom = plan.frame.y + plan.frame.height;
    const bool slant = slanted(plan);
    const size_t every =
        slant ? static_cast<size_t>(std::ceil((kTickSize + 2.0) / placeWidth(plan))) : 1;
    for (size_t i = 0; i < plan.x_axis.names.size(); i += every) {
      const double at = plan.frame.x + x(static_cast<double>(i));
      Item item = textItem(fitted(plan.x_axis.names[i], kTickSize, kLongestName),
                           {at, bottom + kTickGap + 9.0}, kTickSize, kMuted, Anchor::kMiddle);
      if (slant) {
        item.points = {{at + 3.5, bottom + kTickGap + (upright(plan) ? 2.0 : 6.0)}};
        item.anchor = Anchor::kEnd;
        item.angle = upright(plan) ? -90.0 : -45.0;
      }
      add(item);
    }
  }

  void drawYTicks(const Plan& plan, const Scale& y) {
    const PlotFrame& f = plan.frame;
    add(groupItem(ItemKind::kTicks, "y"));
    for (const double value : plan.y_ticks.minor) {
      Item item = strokeItem({{f.x, f.y + y(value)}, {f.x + f.width, f.y + y(value)}}, kGrid, 1.0);
      item.opacity = 0.5;
      add(item);
    }
    for (size_t i = 0; i < plan.y_ticks.values.size(); ++i) {
      const double value = plan.y_ticks.values[i], at = f.y + y(value);
      const bool zero = value == 0.0 && !plan.y_axis.log;
      add(strokeItem({{f.x, at}, {f.x + f.width, at}}, zero ? kAxis : kGrid, zero ? 0.7 : 1.0));
      add(textItem(plan.y_ticks.labels[i], {f.x - kTickGap, at + 3.5}, kTickSize, kMuted,
                   Anchor::kEnd));
    }
    if (!plan.y_ticks.note.empty())
      add(textItem(plan.y_ticks.note, {f.x - kTickGap, f.y - 6.0}, kTickSize, kMuted,
                   Anchor::kEnd));
    add(groupItem(ItemKind::kClose));
  }

  void drawLabels(const Plan& plan, double left_edge) {
    const PlotFrame& f = plan.frame;
    if (plan.x_labels) {
      const std::string label = fitted(withUnit(plan.x_axis), kLabelSize, f.width);
      const double note = textWidth(plan.x_ticks.note, kTickSize) + 8.0;  // at the right end
      const double room = f.width - textWidth(label, kLabelSize);
      add(textItem(label,
                   {f.x + 0.5 * (f.width - std::max(0.0, 2.0 * note - room)),
                    f.y + f.height + roomBelow(plan) - 3.0},
                   kLabelSize, kInk, Anchor::kMiddle));
    }
    if (plan.y_label) drawYLabel(plan, left_edge);
    double top = f.y - kLegendRow * static_cast<double>(plan.legend_rows.size());
    add(textItem(fitted(plan.panel->title, kPanelTitleSize, f.width, true), {f.x, top - 6.0},
                 kPanelTitleSize, kInk, Anchor::kStart, true));
    drawLegend(plan.legend_rows, f.x, top - 2.0, drawing_.items);
  }

  // upright; smaller, or only the unit, where the plot is low
  void drawYLabel(const Plan& plan, double left_edge) {
    const PlotFrame& f = plan.frame;
    const double room = f.height + 20.0;
    std::string label = withUnit(plan.y_axis);
    const double size = textWidth(label, kLabelSize) <= room ? kLabelSize : kSmallLabelSize;
    if (textWidth(label, size) > room && !plan.y_axis.unit.empty())
      label = powers(plan.y_axis.unit);
    Item item = textItem(fitted(label, size, room), {left_edge + 9.0, f.y + 0.5 * f.height}, size,
                         kInk, Anchor::kMiddle);
    item.angle = -90.0;
    add(item);
  }

  // at the height of each line's last number, pushed apart
  void drawDirectLabels(const Plan& plan, const Scale& y) {
    struct Label {
      double at;
      std::string text;
      int tone;
    };
    std::vector<Label> labels;
    for (size_t i = 0; i < plan.panel->series.size(); ++i) {
      const Series& series = plan.panel->series[i];
      double at = 0.5 * y.length;
      for (Eigen::Index k = series.y.size(); k-- > 0;) {
        if (std::isnan(y(series.y[k]))) continue;
        at = std::clamp(y(series.y[k]), 0.0, y.length);
        break;
      }
      if (!series.label.empty())
        labels.push_back({at, cleanText(series.label), toneOf(*plan.panel, i)});
    }
    std::stable_sort(labels.begin(), labels.end(),
                     [](const Label& a, const Label& b) { return a.at < b.at; });
    for (size_t i = 1; i < labels.size(); ++i)
      labels[i].at = std::max(labels[i].at, labels[i - 1].at + kDirectRow);
    double bound = y.length;
    for (size_t i = labels.size(); i-- > 0; bound = labels[i].at - kDirectRow)
      labels[i].at = std::min(labels[i].at, bound);
    for (const Label& label : labels)
      add(textItem(label.text,
                   {plan.frame.x + plan.frame.width + 6.0, plan.frame.y + label.at + 3.5},
                   kLabelSize, label.tone));
  }

  void drawPanel(Plan& plan) {
    PlotFrame& f = plan.frame;
    const Scale x{plan.x.low, plan.x.high, plan.x_axis.log, f.width, false};
    const Scale y{plan.y.low, plan.y.high, plan.y_axis.log, f.height, true};
    f.x_low = plan.x.low;
    f.x_high = plan.x.high;
    f.y_low = plan.y.low;
    f.y_high = plan.y.high;
    f.x_log = plan.x_axis.log;
    f.y_log = plan.y_axis.log;
    f.x_labels = plan.x_labels;
    add(groupItem(ItemKind::kPanel));
    drawXTicks(plan, x);
    if (!plan.empty) drawYTicks(plan, y);
    Item plot = groupItem(ItemKind::kPlot);
    plot.frame = f;
    add(plot);
    if (!plan.empty) drawSeries(*plan.panel, plan.x_axis, x, y, columns_per_px_, drawing_.items);
    add(groupItem(ItemKind::kClose));
    const double bottom = f.y + f.height;
    add(strokeItem({{f.x, bottom}, {f.x + f.width, bottom}}, kAxis, 1.0));
    if (plan.empty)
      add(textItem("no data", {f.x + 0.5 * f.width, f.y + 0.5 * f.height + 3.5}, kLabelSize, kMuted,
                   Anchor::kMiddle));
    add(groupItem(ItemKind::kTicks, "notes"));
    drawNotes(*plan.panel, f, x, y, drawing_.items);
    add(groupItem(ItemKind::kClose));
    drawLabels(plan, left_edge_[static_cast<size_t>(&plan - plans_.data())]);
    if (plan.direct) drawDirectLabels(plan, y);
    add(groupItem(ItemKind::kClose));
  }

  const Figure& figure_;
  double columns_per_px_;
  size_t columns_ = 1;
  std::vector<Plan> plans_;
  Legend common_legend_;
  std::vector<double> left_edge_;
  double y_end_ = 0.0;
  Drawing drawing_;
};

}  // namespace

Drawing layOut(const Figure& figure, double columns_per_px) {
  return Grid(figure, columns_per_px).drawing();
}

}  // namespace proprio
