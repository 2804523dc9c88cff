#include <cairo.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <numbers>

#include "proprio/core/error.h"
#include "proprio/report/drawing_internal.h"

namespace proprio {
namespace {

constexpr double kLargestSide = 32000.0;  // cairo's images end at 32767 pixels

struct Close {
  void operator()(cairo_t* context) const { cairo_destroy(context); }
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
};

void setTone(cairo_t* context, const Item& item, bool dark) {
  const long rgb = std::strtol(toneColour(item.tone, dark) + 1, nullptr, 16);
  cairo_set_source_rgba(context, static_cast<double>(rgb >> 16) / 255.0,
                        static_cast<double>((rgb >> 8) & 255) / 255.0,
                        static_cast<double>(rgb & 255) / 255.0, item.opacity);
}

void tracePath(cairo_t* context, const std::vector<Point>& points, bool closed) {
  bool open = false;
  for (const Point& point : points) {
    if (std::isnan(point.x)) {
      if (open && closed) cairo_close_path(context);
      open = false;
    } else if (open) {
      cairo_line_to(context, point.x, point.y);
    } else {
      cairo_move_to(context, point.x, point.y);
      open = true;
    }
  }
  if (open && closed) cairo_close_path(context);
}

void drawText(cairo_t* context, const Item& item, bool dark) {
  cairo_save(context);
  cairo_select_font_face(context, "sans", CAIRO_FONT_SLANT_NORMAL,
                         item.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(context, item.size);
  cairo_translate(context, item.points[0].x, item.points[0].y);
  cairo_rotate(context, item.angle * std::numbers::pi / 180.0);
  cairo_text_extents_t extents;
  cairo_text_extents(context, item.text.c_str(), &extents);
  const double share = item.anchor == Anchor::kEnd      ? 1.0
                       : item.anchor == Anchor::kMiddle ? 0.5
                                                        : 0.0;
  cairo_move_to(context, -share * extents.x_advance, 0.0);
  if (item.halo) {
    Item paper;
    paper.tone = kPaper;
    setTone(context, paper, dark);
    cairo_text_path(context, item.text.c_str());
    cairo_set_line_width(context, 3.0);
    cairo_set_line_join(context, CAIRO_LINE_JOIN_ROUND);
    cairo_set_dash(context, nullptr, 0, 0.0);
    cairo_stroke(context);
    setTone(context, item, dark);
    cairo_move_to(context, -share * extents.x_advance, 0.0);
  }
  cairo_show_text(context, item.text.c_str());
  cairo_restore(context);
}

void drawItem(cairo_t* context, const Item& item, bool dark) {
  switch (item.kind) {
    case ItemKind::kLine: {
      const double dash[] = {5.0, 3.0};
      tracePath(context, item.points, false);
      cairo_set_line_width(context, item.size);
      cairo_set_line_cap(context,
                         item.data && !item.dashed ? CAIRO_LINE_CAP_ROUND : CAIRO_LINE_CAP_BUTT);
      cairo_set_dash(context, dash, item.dashed ? 2 : 0, 0.0);
      cairo_stroke(context);
      break;
    }
    case ItemKind::kArea:
      tracePath(context, item.points, true);
      cairo_fill(context);
      break;
    case ItemKind::kDots:
      for (const Point& point : item.points) {
        cairo_new_sub_path(context);
        cairo_arc(context, point.x, point.y, 0.5 * item.size, 0.0, 2.0 * std::numbers::pi);
      }
      cairo_fill(context);
      break;
    case ItemKind::kText:
      drawText(context, item, dark);
      break;
    case ItemKind::kPanel:
    case ItemKind::kTicks:
      cairo_save(context);
      break;
    case ItemKind::kPlot:
      cairo_save(context);
      cairo_rectangle(context, item.frame.x, item.frame.y, item.frame.width, item.frame.height);
      cairo_clip(context);
      cairo_translate(context, item.frame.x, item.frame.y);
      break;
    case ItemKind::kClose:
      cairo_restore(context);
      break;
  }
}

void drawAll(cairo_t* context, const Drawing& drawing, bool dark) {
  Item paper;
  paper.tone = kPaper;
  setTone(context, paper, dark);
  cairo_rectangle(context, 0.0, 0.0, drawing.width, drawing.height);
  cairo_fill(context);
  for (const Item& item : drawing.items) {
    setTone(context, item, dark);
    drawItem(context, item, dark);
  }
}

cairo_status_t append(void* closure, const unsigned char* bytes, unsigned int count) {
  static_cast<std::string*>(closure)->append(reinterpret_cast<const char*>(bytes), count);
  return CAIRO_STATUS_SUCCESS;
}

}  // namespace

std::string png(const std::vector<Figure>& figures, double scale) {
  std::vector<Drawing> drawings;
  double width = 1.0, height = 0.0;
  for (const Figure& figure : figures) {
    drawings.push_back(layOut(figure, 2.0 * scale));
    width = std::max(width, drawings.back().width);
    height += drawings.back().height;
  }
  if (std::max(width, height) * scale > kLargestSide) {
    throw Error(
        fmt::format("a picture of {:.0f} x {:.0f} pixels is larger than PNG pictures can be drawn "
                    "here ({:.0f}); show fewer panels, or write .svg or .html",
                    width * scale, height * scale, kLargestSide));
  }
  const std::unique_ptr<cairo_surface_t, Close> surface(
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(std::lround(width * scale)),
                                 static_cast<int>(std::lround(std::max(height, 1.0) * scale))));
  const std::unique_ptr<cairo_t, Close> context(cairo_create(surface.get()));
  cairo_scale(context.get(), scale, scale);
  for (size_t i = 0; i < drawings.size(); ++i) {
    cairo_save(context.get());
    drawAll(context.get(), drawings[i], figures[i].look == Look::kDark);
    cairo_restore(context.get());
    cairo_translate(context.get(), 0.0, drawings[i].height);
  }
  std::string bytes;
  cairo_status_t status = cairo_status(context.get());
  if (status == CAIRO_STATUS_SUCCESS)
    status = cairo_surface_write_to_png_stream(surface.get(), append, &bytes);
  if (status != CAIRO_STATUS_SUCCESS)
    throw Error(fmt::format("the picture cannot be drawn: {}", cairo_status_to_string(status)));
  return bytes;
}

}  // namespace proprio
