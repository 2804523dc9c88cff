#include <fmt/format.h>

#include <cmath>

#include "proprio/report/drawing_internal.h"

namespace proprio {
namespace {

// px with two decimals and nothing superfluous
std::string px(double value) {
  std::string text = fmt::format("{:.2f}", value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

// absolute start, then steps in 1/100 px: short, and without an error that grows
std::string pathData(const std::vector<Point>& points, bool closed, bool dots) {
  std::string data;
  bool open = false;
  long long at_x = 0, at_y = 0;  // 1/100 px
  const auto number = [](long long hundredths) {
    return px(static_cast<double>(hundredths) / 100);
  };
  for (const Point& point : points) {
    if (std::isnan(point.x)) {
      if (open && closed) data += 'z';
      open = false;
      continue;
    }
    const long long x = std::llround(point.x * 100.0), y = std::llround(point.y * 100.0);
    if (!open || dots) {
      data += "M" + number(x) + " " + number(y) + (dots ? "h0" : "");
    } else {
      const std::string dy = number(y - at_y);
      data += "l" + number(x - at_x) + (dy[0] == '-' ? "" : " ") + dy;
    }
    open = true;
    at_x = x;
    at_y = y;
  }
  if (open && closed) data += 'z';
  return data;
}

std::string opacity(const Item& item) {
  return item.opacity == 1.0 ? "" : fmt::format(" opacity=\"{}\"", px(item.opacity));
}

// the name of a series, which browsers show under a resting pointer even without a script
std::string named(const Item& item) {
  if (item.text.empty()) return "/>\n";
  return fmt::format("><title>{}</title></path>\n", xmlEscaped(item.text));
}

std::string shape(const Item& item) {
  const bool dots = item.kind == ItemKind::kDots, area = item.kind == ItemKind::kArea;
  std::string style = fmt::format(" class=\"{}{}{}\"", area ? "f" : "s", item.tone,
                                  item.data ? (dots   ? " d dot"
                                               : area ? " d"
                                                      : " d line")
                                            : "");
  if (!area && item.size != 1.0) style += fmt::format(" stroke-width=\"{}\"", px(item.size));
  if (item.dashed) style += " stroke-dasharray=\"5 3\"";
  return fmt::format("<path{}{} d=\"{}\"{}", style, opacity(item),
                     pathData(item.points, area, dots), named(item));
}

std::string text(const Item& item) {
  const Point& at = item.points[0];
  std::string attributes = fmt::format(" class=\"f{}{}\" font-size=\"{}\"", item.tone,
                                       item.halo ? " s0 halo" : "", px(item.size));
  if (item.anchor != Anchor::kStart)
    attributes += item.anchor == Anchor::kEnd ? " text-anchor=\"end\"" : " text-anchor=\"middle\"";
  if (item.bold) attributes += " font-weight=\"600\"";
  if (item.angle != 0.0)
    attributes +=
        fmt::format(" transform=\"rotate({} {} {})\"", px(item.angle), px(at.x), px(at.y));
  return fmt::format("<text x=\"{}\" y=\"{}\"{}>{}</text>\n", px(at.x), px(at.y), attributes,
                     xmlEscaped(item.text));
}

std::string openPlot(const PlotFrame& frame) {
  return fmt::format(
      "<svg class=\"plot\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" viewBox=\"0 0 {} {}\" "
      "preserveAspectRatio=\"none\" data-x=\"{} {}\" data-y=\"{} {}\" data-log=\"{}{}\"{}{}>\n"
      "<rect class=\"f{}\" width=\"100%\" height=\"100%\" opacity=\"0\"/>\n",
      px(frame.x), px(frame.y), px(frame.width), px(frame.height), px(frame.width),
      px(frame.height), frame.x_low, frame.x_high, frame.y_low, frame.y_high,
      frame.x_log ? "x" : "", frame.y_log ? "y" : "", frame.x_labels ? "" : " data-quiet=\"\"",
      frame.zoom ? " data-zoom=\"\"" : "", static_cast<int>(kPaper));
}

std::string rules(const std::string& prefix, bool dark) {
  std::string text;
  for (int tone = 0; tone < kTones; ++tone) {
    text += fmt::format("{0}.s{1}{{stroke:{2}}}{0}.f{1}{{fill:{2}}}\n", prefix, tone,
                        toneColour(tone, dark));
  }
  return text;
}

constexpr const char* kShapes =
    ".chart path{fill:none;vector-effect:non-scaling-stroke;stroke-linejoin:round}\n"
    ".chart path.line,.chart path.dot{stroke-linecap:round}\n"
    ".chart .halo{paint-order:stroke;stroke-width:3;stroke-linejoin:round}\n";

}  // namespace

std::string xmlEscaped(const std::string& text) {
  std::string escaped;
  for (const char letter : cleanText(text)) {
    switch (letter) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += letter;
    }
  }
  return escaped;
}

std::string svgStyle() {
  return kShapes + rules(".chart ", false) + "@media (prefers-color-scheme:dark){\n" +
         rules(".chart.auto ", true) + "}\n" + rules(".chart.dark ", true);
}

std::string svgElement(const Figure& figure, double columns_per_px, bool alone) {
  const Drawing drawing = layOut(figure, columns_per_px);
  const std::string width = px(drawing.width), height = px(drawing.height);
  const char* look = figure.look == Look::kDark    ? "dark"
                     : figure.look == Look::kLight ? "light"
                                                   : "auto";
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart {}\"{} viewBox=\"0 0 {} {}\" "
      "width=\"{}\" height=\"{}\" font-family=\"sans-serif\" role=\"img\">\n<title>{}</title>\n",
      look, figure.shared_x ? " data-shared=\"\"" : "", width, height, width, height,
      xmlEscaped(figure.title.empty() ? "chart" : figure.title));
  if (alone) {
    out += "<style>\n" + (kShapes + rules(".chart ", figure.look == Look::kDark));
    if (figure.look == Look::kAuto)
      out += "@media (prefers-color-scheme:dark){\n" + rules(".chart ", true) + "}\n";
    out += "</style>\n";
  }
  out += fmt::format("<rect class=\"f{}\" width=\"{}\" height=\"{}\"/>\n", static_cast<int>(kPaper),
                     width, height);
  std::vector<const char*> ends;
  for (const Item& item : drawing.items) {
    switch (item.kind) {
      case ItemKind::kLine:
      case ItemKind::kArea:
      case ItemKind::kDots:
        if (!item.points.empty()) out += shape(item);
        break;
      case ItemKind::kText:
        if (!item.text.empty()) out += text(item);
        break;
      case ItemKind::kPanel:
        out += "<g class=\"panel\">\n";
        ends.push_back("</g>\n");
        break;
      case ItemKind::kTicks:
        out += fmt::format("<g class=\"ticks-{}\">\n", item.text);
        ends.push_back("</g>\n");
        break;
      case ItemKind::kPlot:
        out += openPlot(item.frame);
        ends.push_back("</svg>\n");
        break;
      case ItemKind::kClose:
        out += ends.back();
        ends.pop_back();
        break;
    }
  }
  return out + "</svg>\n";
}

std::string svg(const Figure& figure) {
  constexpr double kColumnsPerPx = 2.0;
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + svgElement(figure, kColumnsPerPx, true);
}

}  // namespace proprio
