#pragma once

/// The steps of laying out a figure: what range its data have, where a number is in px, what a
/// panel's series look like.

#include <algorithm>
#include <cmath>
#include <limits>

#include "proprio/report/drawing_internal.h"
#include "proprio/report/ticks.h"

namespace proprio {

/// Numbers that can be drawn; the rest are gaps.
inline bool drawable(double value, bool log) {
  constexpr double kLargest = 1e100;
  return std::abs(value) <= kLargest && (!log || value >= 1.0 / kLargest);
}

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  bool empty() const { return low > high; }
  void add(double value, bool log) {
    if (!drawable(value, log)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  void add(const Range& other) {
    low = std::min(low, other.low);
    high = std::max(high, other.high);
  }
};

/// Data along x and y; empty if nothing can be drawn. `x` and `y` are the axes as they will be
/// shown.
Range xRange(const Panel& panel, const Axis& x);
Range yRange(const Panel& panel, const Axis& y);
/// What the axis shows: its own bounds where it has them, otherwise the data with `padding` (of
/// their width) around them; never of zero width.
Range shownRange(const Axis& axis, const Range& data, double padding);

/// From numbers to px: [low, high] to [0, length], or back to front (y grows upwards).
struct Scale {
  double low = 0.0, high = 1.0;
  bool log = false;
  double length = 1.0;
  bool upwards = false;

  double operator()(double value) const {
    if (!drawable(value, log)) return std::numeric_limits<double>::quiet_NaN();
    const double share =
        log ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
    return length * (upwards ? 1.0 - share : share);
  }
};

int toneOf(const Panel& panel, size_t series);
/// As it says, or because its colour is used a second time.
bool isDashed(const Panel& panel, size_t series);

constexpr double kLabelSize = 10.5;  ///< letters of labels and legends, px
constexpr double kLegendRow = 16.0;  ///< height of a row of a legend, px

struct LegendEntry {
  std::string label;
  int tone = kInk;
  Mark mark = Mark::kLine;
  bool dashed = false;
  double width = 0.0;  ///< px that it takes in its row
};
using Legend = std::vector<std::vector<LegendEntry>>;  ///< rows

std::vector<LegendEntry> legendOf(const Panel& panel);
/// One for the figure if several panels have one, each label means the same look in all of them,
/// and the reverse, and one panel has them all; otherwise empty.
std::vector<LegendEntry> commonLegend(const std::vector<std::vector<LegendEntry>>& legends);
/// In as many rows as the width asks for.
Legend legendRows(std::vector<LegendEntry> entries, double width);
void drawLegend(const Legend& rows, double left, double top, std::vector<Item>& items);

/// What is inside the plot, in px from its corner.
void drawSeries(const Panel& panel, const Axis& x_axis, const Scale& x, const Scale& y,
                double columns_per_px, std::vector<Item>& items);
/// Labels of shades and markers, in px of the figure; those without room are left out.
void drawNotes(const Panel& panel, const PlotFrame& frame, const Scale& x, const Scale& y,
               std::vector<Item>& items);

inline Item strokeItem(std::vector<Point> points, int tone, double width) {
  Item item;
  item.points = std::move(points);
  item.tone = tone;
  item.size = width;
  return item;
}

inline Item textItem(std::string text, Point at, double size, int tone = kInk,
                     Anchor anchor = Anchor::kStart, bool bold = false) {
  Item item;
  item.kind = ItemKind::kText;
  item.text = std::move(text);
  item.points = {at};
  item.size = size;
  item.tone = tone;
  item.anchor = anchor;
  item.bold = bold;
  return item;
}

inline Item groupItem(ItemKind kind, const std::string& text = "") {
  Item item;
  item.kind = kind;
  item.text = text;
  return item;
}

}  // namespace proprio
