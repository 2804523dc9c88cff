#include "proprio/report/chart.h"

#include <fmt/format.h>

#include "proprio/core/atomic_file.h"
#include "proprio/core/error.h"
#include "proprio/core/text.h"
#include "proprio/report/drawing_internal.h"

namespace proprio {
namespace {

bool endsWith(const std::string& path, const char* extension) { return path.ends_with(extension); }

// several figures in one document, one below the other
std::string stackedSvg(const std::vector<Figure>& figures) {
  constexpr double kColumnsPerPx = 2.0;
  std::string body;
  double width = 0.0, height = 0.0;
  for (const Figure& figure : figures) {
    const Drawing drawing = layOut(figure, kColumnsPerPx);
    body += fmt::format("<g transform=\"translate(0 {:.0f})\">\n{}</g>\n", height,
                        svgElement(figure, kColumnsPerPx, false));
    width = std::max(width, drawing.width);
    height += drawing.height;
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
      "width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\">\n<style>\n{2}</style>"
      "\n{3}</svg>\n",
      width, height, svgStyle(), body);
}

}  // namespace

Series line(std::string label, const Eigen::VectorXd& x, const Eigen::VectorXd& y) {
  Series series;
  series.label = std::move(label);
  series.x = x;
  series.y = y;
  return series;
}

Series points(std::string label, const Eigen::VectorXd& x, const Eigen::VectorXd& y) {
  Series series = line(std::move(label), x, y);
  series.mark = Mark::kPoints;
  return series;
}

Series band(std::string label, const Eigen::VectorXd& x, const Eigen::VectorXd& low,
            const Eigen::VectorXd& high) {
  Series series;
  series.mark = Mark::kBand;
  series.label = std::move(label);
  series.x = x;
  series.low = low;
  series.high = high;
  return series;
}

Series bars(std::string label, const Eigen::VectorXd& y) {
  Series series;
  series.mark = Mark::kBars;
  series.label = std::move(label);
  series.x.setLinSpaced(y.size(), 0.0, static_cast<double>(y.size() - 1));
  series.y = y;
  return series;
}

void requirePicturePath(const std::string& path) {
  for (const char* extension : {".png", ".svg", ".html"}) {
    if (endsWith(path, extension)) return;
  }
  throw Error(
      fmt::format("{}: a picture is written as .png, .svg or .html, by its name", inQuotes(path)));
}

void writePicture(const std::vector<Figure>& figures, const std::string& path) {
  requirePicturePath(path);
  if (endsWith(path, ".png")) {
    writeFileAtomically(path, png(figures));
  } else if (endsWith(path, ".svg")) {
    writeFileAtomically(path, figures.size() == 1 ? svg(figures[0]) : stackedSvg(figures));
  } else {
    const std::string title = figures.empty() ? "" : figures[0].title;
    writeFileAtomically(path, html(figures, title));
  }
}

}  // namespace proprio
