#pragma once

/// What the layout of a chart hands to the writers of SVG and PNG: a flat list of strokes, areas,
/// dots and texts in px, x to the right and y down, in the order of drawing.

#include <string>
#include <vector>

#include "proprio/report/chart.h"
#include "proprio/report/thin.h"

namespace proprio {

/// Colours by what they are for; numbers from kSeries on are those of the series.
enum Tone : int { kPaper, kInk, kMuted, kGrid, kAxis, kShadeTone, kSeries };
constexpr int kSeriesColours = 8;
constexpr int kTones = kSeries + kSeriesColours;

/// "#rrggbb" of a tone.
const char* toneColour(int tone, bool dark);

enum class ItemKind {
  kLine,   ///< through the points; NaN separates strokes
  kArea,   ///< filled polygons; NaN separates them
  kDots,   ///< round, `size` is the diameter
  kText,   ///< points[0] is the anchor on the base line
  kPanel,  ///< opens a group: ticks and plot of one panel
  kTicks,  ///< opens a group: the ticks of one axis (text "x" or "y"), in px of the figure
  kPlot,   ///< opens a clipped group whose coordinates start at the corner of the plot
  kClose   ///< closes the last group
};
enum class Anchor { kStart, kMiddle, kEnd };

/// Place of a plot and the data that its edges stand for, for scripts.
struct PlotFrame {
  double x = 0.0, y = 0.0, width = 0.0, height = 0.0;
  double x_low = 0.0, x_high = 1.0, y_low = 0.0, y_high = 1.0;
  bool x_log = false, y_log = false;
  bool x_labels = true;  ///< numbers are written below
  bool zoom = true;
};

struct Item {
  ItemKind kind = ItemKind::kLine;
  int tone = kInk;
  double opacity = 1.0;
  double size = 1.0;  ///< width of a line, diameter of a dot, size of a letter
  bool dashed = false, bold = false;
  bool data = false;  ///< shows numbers of a series
  bool halo = false;  ///< of a text: paper around the letters
  Anchor anchor = Anchor::kStart;
  double angle = 0.0;  ///< of a text, degrees, clockwise
  std::string text;    ///< of a text; name of a series
  std::vector<Point> points;
  PlotFrame frame;
};

struct Drawing {
  double width = 0.0, height = 0.0;
  std::vector<Item> items;
};

/// `columns_per_px` is the fineness of thinned lines: more for pictures that can be enlarged.
Drawing layOut(const Figure& figure, double columns_per_px);

/// Width in px of UTF-8 text in letters of that size, not less than in the usual sans-serif fonts.
double textWidth(const std::string& text, double size, bool bold = false);
/// The text, cut with "…" where it is wider than that.
std::string fitted(const std::string& text, double size, double width, bool bold = false);
/// Valid UTF-8 without control characters: what is neither becomes "�" or a space.
std::string cleanText(const std::string& text);

/// The figure as an <svg> element; with `alone`, as a document with its own style.
std::string svgElement(const Figure& figure, double columns_per_px, bool alone);
/// Style rules for every look, for a page with several figures.
std::string svgStyle();
/// The script that enlarges the figures of a page and shows their values; it also fills elements of
/// class "hint".
const char* chartScript();
std::string xmlEscaped(const std::string& text);

}  // namespace proprio
