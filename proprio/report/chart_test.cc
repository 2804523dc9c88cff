#include "proprio/report/chart.h"

#include <cairo/cairo.h>
#include <expat.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <set>

#include "proprio/core/atomic_file.h"
#include "proprio/core/error.h"
#include "proprio/core/testing/temp_folder.h"
#include "proprio/report/drawing_internal.h"

namespace proprio {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
using Eigen::VectorXd;

Figure figureWith(int panels, int samples = 500) {
  Figure figure;
  figure.title = "Joints";
  figure.subtitle = "as recorded";
  figure.x = {"time", "s"};
  const VectorXd time = VectorXd::LinSpaced(samples, 0.0, 10.0);
  for (int k = 0; k < panels; ++k) {
    Panel panel;
    panel.title = "joint_" + std::to_string(k + 1);
    panel.y = {"torque", "N m"};
    const VectorXd torque = std::pow(10.0, k % 5) * (time.array() * (1.0 + k)).sin();
    panel.series = {line("measured", time, torque), line("model", time, 0.9 * torque)};
    figure.panels.push_back(panel);
  }
  return figure;
}

std::string parseError(const std::string& xml) {
  XML_Parser parser = XML_ParserCreate(nullptr);
  const bool good =
      XML_Parse(parser, xml.data(), static_cast<int>(xml.size()), XML_TRUE) == XML_STATUS_OK;
  const std::string error = good ? "" : XML_ErrorString(XML_GetErrorCode(parser));
  XML_ParserFree(parser);
  return error;
}

struct Picture {
  int width = 0, height = 0;
  std::set<unsigned> colours;
};

Picture decoded(const std::string& bytes) {
  struct Source {
    const std::string& bytes;
    size_t at;
  } source{bytes, 0};
  const auto read = [](void* closure, unsigned char* data, unsigned int length) {
    auto* from = static_cast<Source*>(closure);
    if (from->at + length > from->bytes.size()) return CAIRO_STATUS_READ_ERROR;
    std::memcpy(data, from->bytes.data() + from->at, length);
    from->at += length;
    return CAIRO_STATUS_SUCCESS;
  };
  cairo_surface_t* surface = cairo_image_surface_create_from_png_stream(read, &source);
  Picture picture;
  picture.width = cairo_image_surface_get_width(surface);
  picture.height = cairo_image_surface_get_height(surface);
  const unsigned char* pixels = cairo_image_surface_get_data(surface);
  const int stride = cairo_image_surface_get_stride(surface);
  for (int y = 0; y < picture.height; ++y) {
    for (int x = 0; x < picture.width; ++x) {
      unsigned pixel = 0;
      std::memcpy(&pixel, pixels + y * stride + 4 * x, 4);
      picture.colours.insert(pixel & 0xffffffu);
    }
  }
  cairo_surface_destroy(surface);
  return picture;
}

Figure oddFigure() {
  Figure figure;
  figure.title = "a < b & \"c\" \x01\xff\xc3";
  figure.shared_x = false;
  const VectorXd x = VectorXd::LinSpaced(5, 0.0, 1.0);
  VectorXd holes = x;
  holes[2] = kNaN;
  holes[3] = HUGE_VAL;
  const auto add = [&](const Series& series, bool log = false) {
    Panel panel;
    panel.title = "panel <" + std::to_string(figure.panels.size()) + ">";
    panel.y.log = log;
    panel.series = {series};
    figure.panels.push_back(panel);
  };
  add(line("empty", {}, {}));
  add(line("nothing but NaN", x, VectorXd::Constant(5, kNaN)));
  add(line("holes", x, holes));
  add(line("constant", x, VectorXd::Constant(5, 3.0)));
  add(line("zero", x, VectorXd::Zero(5)));
  add(line("zero, logarithmic", x, VectorXd::Zero(5)), true);
  add(line("one", VectorXd::Ones(1), VectorXd::Ones(1)));
  add(line("huge", 1e300 * x, 1e300 * x));
  add(line("large", 1e90 * x, -1e90 * x));
  add(line("tiny", 1e-300 * x, 1e-90 * x));
  add(points("points", x, holes));
  add(band("band", x, holes.array() - 1.0, holes.array() + 1.0));
  add(bars("bars", holes), false);
  add(bars("no bars", {}));
  add(bars("bars on a logarithmic axis", x), true);
  figure.panels.emplace_back();
  return figure;
}

// Every kind of figure, also with texts and numbers that nobody would draw on purpose, is XML that
// a parser from elsewhere accepts, and has no NaN in it.
TEST(Chart, SvgIsWellFormed) {
  for (const int panels : {0, 1, 2, 6, 7, 12, 30}) {
    const std::string text = svg(figureWith(panels));
    EXPECT_EQ(parseError(text), "") << panels;
    EXPECT_EQ(text.find("nan"), std::string::npos);
  }
  const std::string odd = svg(oddFigure());
  EXPECT_EQ(parseError(odd), "");
  EXPECT_EQ(odd.find("\"nan"), std::string::npos);
  EXPECT_EQ(odd.find("inf"), std::string::npos);
  EXPECT_NE(odd.find("a &lt; b &amp; &quot;c&quot;"), std::string::npos);
  EXPECT_NE(odd.find("no data"), std::string::npos);
}

// Nothing lies outside the figure and panels do not overlap, whatever their number.
TEST(Chart, LayoutStaysInside) {
  for (const int panels : {1, 3, 6, 7, 12, 30}) {
    const Drawing drawing = layOut(figureWith(panels), 2.0);
    std::vector<PlotFrame> frames;
    for (const Item& item : drawing.items) {
      if (item.kind == ItemKind::kPlot) frames.push_back(item.frame);
      if (item.kind != ItemKind::kText || item.angle != 0.0) continue;
      const double width = textWidth(item.text, item.size, item.bold);
      const double left = item.points[0].x - (item.anchor == Anchor::kEnd      ? width
                                              : item.anchor == Anchor::kMiddle ? 0.5 * width
                                                                               : 0.0);
      EXPECT_GE(left, 0.0) << item.text;
      EXPECT_LE(left + width, drawing.width) << item.text;
      EXPECT_LE(item.points[0].y, drawing.height) << item.text;
    }
    ASSERT_EQ(frames.size(), static_cast<size_t>(panels));
    for (size_t i = 0; i < frames.size(); ++i) {
      for (size_t k = 0; k < i; ++k) {
        const PlotFrame &a = frames[i], &b = frames[k];
        const bool apart = a.x >= b.x + b.width || b.x >= a.x + a.width || a.y >= b.y + b.height ||
                           b.y >= a.y + a.height;
        EXPECT_TRUE(apart) << panels;
      }
    }
  }
}

// The coordinates in the SVG are the data: a parabola drawn from 0 to 2 passes its vertex in the
// middle of the plot, 6 % above the lower edge.
TEST(Chart, NumbersAreWhereTheAxisSays) {
  Figure figure;
  const VectorXd x = VectorXd::LinSpaced(201, 0.0, 2.0);
  Panel panel;
  panel.series = {line("", x, (x.array() - 1.0).square())};
  figure.panels = {panel};
  PlotFrame frame;
  Point lowest;
  for (const Item& item : layOut(figure, 2.0).items) {
    if (item.kind == ItemKind::kPlot) frame = item.frame;
    if (!item.data) continue;
    for (const Point& point : item.points) {
      if (point.y > lowest.y) lowest = point;
    }
  }
  EXPECT_EQ(frame.x_low, 0.0);
  EXPECT_EQ(frame.x_high, 2.0);
  EXPECT_NEAR(frame.y_low, -0.06, 1e-12);
  EXPECT_NEAR(lowest.x, 0.5 * frame.width, 1e-9);
  EXPECT_NEAR(lowest.y, frame.height * (1.0 - 0.06 / 1.12), 1e-9);
}

// A line of a hundred thousand samples costs no more text than one with a few per pixel.
TEST(Chart, LongSeriesStaySmall) {
  Figure figure = figureWith(6, 100000);
  for (Panel& panel : figure.panels) {
    for (Series& series : panel.series) series.y += 0.1 * VectorXd::Random(series.y.size());
  }
  EXPECT_LT(svg(figure).size(), 600000u);
}

// PNG: size as asked for, not blank, and its colours are those of the palette on white or on dark.
TEST(Chart, PngShowsTheSeries) {
  Figure figure = figureWith(6);
  const Drawing drawing = layOut(figure, 2.0);
  for (const double scale : {1.0, 2.0}) {
    const Picture picture = decoded(png({figure}, scale));
    EXPECT_EQ(picture.width, std::lround(scale * drawing.width));
    EXPECT_EQ(picture.height, std::lround(scale * drawing.height));
    EXPECT_TRUE(picture.colours.count(0xffffffu));
    EXPECT_TRUE(picture.colours.count(0x0072b2u));
    EXPECT_TRUE(picture.colours.count(0xd55e00u));
  }
  figure.look = Look::kDark;
  const Picture both = decoded(png({figure, oddFigure()}, 1.0));
  EXPECT_TRUE(both.colours.count(0x1b1d1fu));
  EXPECT_EQ(both.height, std::lround(drawing.height + layOut(oddFigure(), 2.0).height));
}

// The page needs nothing from elsewhere and holds every figure; its SVG is well-formed too.
TEST(Chart, HtmlIsSelfContained) {
  const std::string page = html({figureWith(7), oddFigure()}, "Two <figures>");
  for (const char* outside : {"src=", "href=", "@import", "url(", "https:"})
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  EXPECT_NE(page.find("<h1>Two &lt;figures&gt;</h1>"), std::string::npos);
  for (size_t at = page.find("http:"); at != std::string::npos; at = page.find("http:", at + 1))
    EXPECT_EQ(page.compare(at, 26, "http://www.w3.org/2000/svg"), 0);  // a name, not a place
  const size_t first = page.find("<svg xmlns"), last = page.rfind("</svg>") + 6;
  EXPECT_EQ(parseError("<all>" + page.substr(first, last - first) + "</all>"), "");
}

// One legend serves all panels that agree on it; panels that do not have their own.
TEST(Chart, Legends) {
  const auto count = [](const Figure& figure, const std::string& label) {
    int found = 0;
    for (const Item& item : layOut(figure, 2.0).items)
      found += item.kind == ItemKind::kText && item.text == label ? 1 : 0;
    return found;
  };
  Figure figure = figureWith(6);
  EXPECT_EQ(count(figure, "measured"), 1);
  std::swap(figure.panels[2].series[0], figure.panels[2].series[1]);  // other colours
  EXPECT_EQ(count(figure, "measured"), 6);
  EXPECT_EQ(count(figureWith(1), "measured"), 1);
}

// Series whose sizes differ, pictures that are too large and files of an unknown kind are refused
// in words.
TEST(Chart, Refusals) {
  Figure figure = figureWith(2);
  figure.panels[1].series[0].y.conservativeResize(3);
  try {
    svg(figure);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("panel 2 'joint_2'"), std::string::npos);
  }
  EXPECT_THROW(png({figureWith(800, 2)}), Error);
  EXPECT_THROW(writePicture({figureWith(1)}, "picture.jpg"), Error);
  EXPECT_THROW(requirePicturePath("picture"), Error);
}

// Files are written by their extension, several figures one below the other.
TEST(Chart, Files) {
  const testing::TempFolder folder;
  const std::vector<Figure> figures = {figureWith(1), figureWith(2)};
  for (const char* name : {"a.png", "a.svg", "a.html"}) {
    const std::string path = folder.file(name);
    writePicture(figures, path);
    const std::string bytes = readFile(path);
    EXPECT_EQ(bytes.compare(0, 3, name[2] == 'p' ? "\x89PN" : name[2] == 's' ? "<?x" : "<!D"), 0);
    EXPECT_EQ(name[2] == 's' ? parseError(bytes) : "", "");
  }
}

}  // namespace
}  // namespace proprio
