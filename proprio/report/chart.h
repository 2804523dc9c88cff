#pragma once

/// Charts as values: a Figure is a grid of Panels, a Panel has series of numbers, and the same
/// layout becomes SVG text, a PNG picture or an HTML page that can be zoomed.
///
///   Figure figure;
///   figure.title = "Elbow";
///   figure.x = {"time", "s"};
///   Panel panel;
///   panel.y = {"torque", "N m"};
///   panel.series = {line("measured", time, torque), line("model", time, predicted)};
///   figure.panels = {panel};
///   writePicture({figure}, "elbow.png");
///
/// NaN (and, on a logarithmic axis, numbers that are not positive) leaves a gap, as does whatever
/// is beyond 1e100. Long lines are thinned to the extremes of every half pixel, so that a picture
/// of 1e5 samples is small and shows every spike. Colours are those of Okabe and Ito (2008), which
/// colour-blind readers can tell apart.

#include <Eigen/Core>
#include <limits>
#include <string>
#include <vector>

namespace proprio {

struct Axis {
  std::string label;
  std::string unit = {};  ///< shown as "label (unit)"
  bool log = false;
  double low = std::numeric_limits<double>::quiet_NaN();  ///< NaN: from the data
  double high = std::numeric_limits<double>::quiet_NaN();
  /// Names of the places 0, 1, 2, ... along x, instead of numbers.
  std::vector<std::string> names = {};
};

enum class Mark {
  kLine,    ///< through (x, y)
  kPoints,  ///< at (x, y), with error bars from low to high if there are any
  kBand,    ///< between low and high
  kBars     ///< from 0 to y around x, with error bars from low to high if there are any
};

struct Series {
  Mark mark = Mark::kLine;
  std::string label;  ///< in the legend; empty: none
  Eigen::VectorXd x, y;
  Eigen::VectorXd low, high;
  int colour = -1;  ///< 0 .. 7 of the palette, or -1: its place in the panel
  bool dashed = false;
  double width = 0.0;  ///< of a bar in units of x; 0: a fair share of the place
};

Series line(std::string label, const Eigen::VectorXd& x, const Eigen::VectorXd& y);
Series points(std::string label, const Eigen::VectorXd& x, const Eigen::VectorXd& y);
Series band(std::string label, const Eigen::VectorXd& x, const Eigen::VectorXd& low,
            const Eigen::VectorXd& high);
/// Bars at 0, 1, 2, ...; series of bars in one panel stand side by side.
Series bars(std::string label, const Eigen::VectorXd& y);

/// Shaded part of the panel: what lies between two places on x (masked samples), or on y (allowed
/// values). May be infinite.
struct Shade {
  double from = 0.0, to = 0.0;
  std::string label;
  bool on_y = false;
};

/// Dashed line across the panel at a place on x (an event), or on y (a limit). A limit widens the
/// axis only if it is near the data: at most as far away as the data are wide.
struct Marker {
  double at = 0.0;
  std::string label;
  bool on_y = false;
};

struct Panel {
  std::string title;
  Axis x, y;
  std::vector<Series> series;
  std::vector<Shade> shades;
  std::vector<Marker> markers;
};

enum class Look {
  kAuto,  ///< as the reader's system is set (SVG, HTML); light as PNG
  kLight,
  kDark
};

struct Figure {
  std::string title, subtitle;
  Axis x;  ///< common to all panels, unless shared_x is false
  bool shared_x = true;
  std::vector<Panel> panels;
  int columns = 0;            ///< 0: chosen from the number of panels
  double width = 800.0;       ///< px
  double panel_height = 0.0;  ///< px; 0: chosen from the width
  Look look = Look::kAuto;
};

/// An SVG document. @throws Error that names the panel and series whose sizes differ.
std::string svg(const Figure& figure);

/// The bytes of a PNG file with `scale` pixels per px of the figure; several figures one below the
/// other. @throws Error as svg, and if the picture would be larger than an image can be.
std::string png(const std::vector<Figure>& figures, double scale = 2.0);

/// One file that needs nothing else: the figures as SVG, and a script of its own with which the
/// reader sees values under the pointer, drags over a part of x to enlarge it and double-clicks to
/// see all again. Without scripts the page is complete but still.
std::string html(const std::vector<Figure>& figures, const std::string& title);

/// PNG, SVG or HTML, by the extension of the path; several figures one below the other.
/// @throws Error for another extension (before anything is drawn), or as writeFileAtomically.
void writePicture(const std::vector<Figure>& figures, const std::string& path);
/// @throws Error if the path does not end in .png, .svg or .html: to be asked before long work.
void requirePicturePath(const std::string& path);

}  // namespace proprio
