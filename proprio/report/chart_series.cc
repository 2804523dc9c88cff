#include <fmt/format.h>

#include "proprio/core/text_table.h"
#include "proprio/report/layout_internal.h"

namespace proprio {
namespace {

constexpr double kGap = std::numeric_limits<double>::quiet_NaN();
constexpr double kConstant = 1e-13;  // relative width below which data are one number
constexpr double kLineWidth = 1.25;  // px
constexpr double kCap = 2.5;         // half width of the ends of an error bar, px
constexpr double kBandOpacity = 0.22;
constexpr double kShadeOpacity = 0.13;
constexpr double kBarShare = 0.8;  // of the place of a bar
constexpr double kNoteSize = 9.0;  // letters of shades and markers, px
constexpr Eigen::Index kManyPoints = 400;

// distance between neighbouring bars
double barPlace(const Series& series) {
  double place = std::numeric_limits<double>::infinity();
  for (Eigen::Index i = 1; i < series.x.size(); ++i) {
    const double gap = std::abs(series.x[i] - series.x[i - 1]);
    if (gap > 0.0) place = std::min(place, gap);
  }
  return std::isfinite(place) ? place : 1.0;
}

struct BarShape {
  double width = 1.0, offset = 0.0;  ///< in units of x
};

// series of bars share a place unless they say how wide they are
BarShape barShape(const Panel& panel, const Series& series) {
  if (series.width > 0.0) return {series.width, 0.0};
  double count = 0.0, before = 0.0;
  for (const Series& other : panel.series) {
    if (other.mark != Mark::kBars || other.width > 0.0) continue;
    if (&other < &series) before += 1.0;
    count += 1.0;
  }
  const double width = kBarShare * barPlace(series) / count;
  return {width, (before - 0.5 * (count - 1.0)) * width};
}

std::vector<Point> pointsOf(const Eigen::VectorXd& x, const Eigen::VectorXd& y, const Scale& to_x,
                            const Scale& to_y) {
  std::vector<Point> result(static_cast<size_t>(x.size()));
  for (Eigen::Index i = 0; i < x.size(); ++i)
    result[static_cast<size_t>(i)] = {to_x(x[i]), to_y(y[i])};
  return result;
}

void drawBand(const Series& series, int tone, const Scale& x, const Scale& y, double columns,
              std::vector<Item>& items) {
  Item item;
  item.kind = ItemKind::kArea;
  item.tone = tone;
  item.opacity = kBandOpacity;
  item.text = series.label;
  item.data = true;
  std::vector<Point> upper = pointsOf(series.x, series.high, x, y);
  std::vector<Point> lower = pointsOf(series.x, series.low, x, y);
  for (size_t i = 0; i < upper.size(); ++i) {  // a gap of one is a gap of both
    if (std::isnan(upper[i].x) || std::isnan(upper[i].y) || std::isnan(lower[i].y))
      upper[i] = lower[i] = {kGap, kGap};
  }
  const auto isGap = [](const Point& point) { return std::isnan(point.x); };
  for (auto begin = upper.begin(); begin != upper.end();) {
    begin = std::find_if_not(begin, upper.end(), isGap);
    const auto end = std::find_if(begin, upper.end(), isGap);
    if (begin == end) break;
    const auto low_begin = lower.begin() + (begin - upper.begin());
    const auto above = thinnedLine({begin, end}, 1.0 / columns);
    const auto below = thinnedLine({low_begin, low_begin + (end - begin)}, 1.0 / columns);
    item.points.insert(item.points.end(), above.begin(), above.end());
    item.points.insert(item.points.end(), below.rbegin(), below.rend());
    item.points.push_back({kGap, kGap});
    begin = end;
  }
  items.push_back(std::move(item));
}

// vertical strokes with ends; `offset` in units of x
void drawErrorBars(const Series& series, double offset, int tone, const Scale& x, const Scale& y,
                   std::vector<Item>& items) {
  if (series.low.size() == 0) return;
  std::vector<Point> strokes;
  for (Eigen::Index i = 0; i < series.x.size(); ++i) {
    const double at = x(series.x[i] + offset), top = y(series.high[i]);
    double bottom = y(series.low[i]);
    if (std::isnan(bottom) && y.log) bottom = y.length;  // down to zero and beyond
    if (std::isnan(at) || std::isnan(top) || std::isnan(bottom)) continue;
    for (const Point& point :
         {Point{at - kCap, top}, Point{at + kCap, top}, Point{kGap, kGap}, Point{at, top},
          Point{at, bottom}, Point{kGap, kGap}, Point{at - kCap, bottom}, Point{at + kCap, bottom},
          Point{kGap, kGap}})
      strokes.push_back(point);
  }
  items.push_back(strokeItem(std::move(strokes), tone, 0.9));
}

void drawBars(const Panel& panel, const Series& series, int tone, const Axis& axis, const Scale& x,
              const Scale& y, std::vector<Item>& items) {
  const BarShape shape = barShape(panel, series);
  const double foot = y.log ? y.length : std::clamp(y(0.0), 0.0, y.length);
  const double seam = series.width > 0.0 ? 0.4 : 0.0;  // px, so that touching bars stay bars
  for (Eigen::Index i = 0; i < series.x.size(); ++i) {
    const double centre = series.x[i] + shape.offset;
    const double left = x(centre - 0.5 * shape.width), right = x(centre + 0.5 * shape.width);
    const double top = y(series.y[i]);
    if (std::isnan(left) || std::isnan(right) || std::isnan(top)) continue;
    const auto place = static_cast<size_t>(std::max(0.0, series.x[i]));
    Item item;
    item.kind = ItemKind::kArea;
    item.tone = tone;
    item.text = fmt::format("{}{}{}", series.label, series.label.empty() ? "" : ": ",
                            readable(series.y[i]));
    if (place < axis.names.size()) item.text = axis.names[place] + ", " + item.text;
    item.points = {{left, foot}, {left, top}, {right - seam, top}, {right - seam, foot}};
    items.push_back(std::move(item));
  }
  drawErrorBars(series, shape.offset, kInk, x, y, items);
}

void drawPoints(const Series& series, int tone, const Scale& x, const Scale& y,
                std::vector<Item>& items) {
  drawErrorBars(series, 0.0, tone, x, y, items);
  Item item;
  item.kind = ItemKind::kDots;
  item.tone = tone;
  const bool many = series.x.size() > kManyPoints;
  item.size = many ? 2.0 : 4.0;
  item.opacity = many ? 0.7 : 1.0;
  item.text = series.label;
  item.data = true;
  item.points = thinnedDots(pointsOf(series.x, series.y, x, y), 0.5);
  items.push_back(std::move(item));
}

// samples between two gaps, which a stroke would not show
std::vector<Point> lonelyPoints(const std::vector<Point>& points) {
  std::vector<Point> lonely;
  for (size_t i = 0; i < points.size(); ++i) {
    const bool starts = i == 0 || std::isnan(points[i - 1].x);
    const bool ends = i + 1 == points.size() || std::isnan(points[i + 1].x);
    if (starts && ends && !std::isnan(points[i].x)) lonely.push_back(points[i]);
  }
  return lonely;
}

void drawLine(const Series& series, int tone, bool dashed, const Scale& x, const Scale& y,
              double columns, std::vector<Item>& items) {
  const bool dense = static_cast<double>(series.x.size()) > 4.0 * x.length;
  Item item = strokeItem(thinnedLine(pointsOf(series.x, series.y, x, y), 1.0 / columns), tone,
                         dense ? 1.0 : kLineWidth);
  item.text = series.label;
  item.data = true;
  item.dashed = dashed;
  Item dots = item;
  dots.kind = ItemKind::kDots;
  dots.points = lonelyPoints(item.points);
  dots.size = 3.0;
  items.push_back(std::move(item));
  if (!dots.points.empty()) items.push_back(std::move(dots));
}

// from ... to in px, cut to the plot; infinite ends reach its edges
Range shadeSpan(const Shade& shade, const Scale& scale) {
  const auto place = [&](double value) {
    if (value > scale.high) return scale.upwards ? 0.0 : scale.length;
    if (!(value >= scale.low)) return scale.upwards ? scale.length : 0.0;
    return scale(value);
  };
  const double from = place(shade.from), to = place(shade.to);
  return {std::min(from, to), std::max(from, to)};
}

void drawShade(const Shade& shade, const Scale& x, const Scale& y, std::vector<Item>& items) {
  const Range span = shadeSpan(shade, shade.on_y ? y : x);
  if (!(span.high > span.low)) return;
  Item item;
  item.kind = ItemKind::kArea;
  item.tone = kShadeTone;
  item.opacity = kShadeOpacity;
  if (shade.on_y)
    item.points = {{0.0, span.low}, {x.length, span.low}, {x.length, span.high}, {0.0, span.high}};
  else
    item.points = {{span.low, 0.0}, {span.high, 0.0}, {span.high, y.length}, {span.low, y.length}};
  items.push_back(std::move(item));
}

void drawMarker(const Marker& marker, const Scale& x, const Scale& y, std::vector<Item>& items) {
  const double at = marker.on_y ? y(marker.at) : x(marker.at);
  if (std::isnan(at)) return;
  Item item = marker.on_y ? strokeItem({{0.0, at}, {x.length, at}}, kMuted, 0.8)
                          : strokeItem({{at, 0.0}, {at, y.length}}, kMuted, 0.8);
  item.dashed = true;
  items.push_back(std::move(item));
}

}  // namespace

int toneOf(const Panel& panel, size_t series) {
  const int chosen = panel.series[series].colour;
  return kSeries + (chosen >= 0 ? chosen : static_cast<int>(series)) % kSeriesColours;
}

bool isDashed(const Panel& panel, size_t series) {
  const bool again = panel.series[series].colour < 0 && (series / kSeriesColours) % 2 == 1;
  return panel.series[series].dashed || again;
}

Range xRange(const Panel& panel, const Axis& x) {
  Range range;
  if (!x.names.empty()) return {-0.6, static_cast<double>(x.names.size()) - 0.4};
  for (const Series& series : panel.series) {
    const bool is_bars = series.mark == Mark::kBars;
    const double half = is_bars ? 0.55 * std::max(barPlace(series), series.width) : 0.0;
    for (Eigen::Index i = 0; i < series.x.size(); ++i) {
      range.add(series.x[i] - half, x.log);
      range.add(series.x[i] + half, x.log);
    }
  }
  return range;
}

Range yRange(const Panel& panel, const Axis& y) {
  Range range;
  for (const Series& series : panel.series) {
    for (const Eigen::VectorXd* values : {&series.y, &series.low, &series.high}) {
      for (Eigen::Index i = 0; i < values->size(); ++i) range.add((*values)[i], y.log);
    }
  }
  if (range.empty()) return range;
  const Range data = range;
  const double reach = data.high - data.low;
  for (const Marker& marker : panel.markers) {
    const bool near = marker.at >= data.low - reach && marker.at <= data.high + reach;
    if (marker.on_y && near) range.add(marker.at, y.log);
  }
  for (const Series& series : panel.series) {
    if (series.mark == Mark::kBars && !y.log) range.add(0.0, false);
  }
  return range;
}

Range shownRange(const Axis& axis, const Range& data, double padding) {
  Range range = data.empty() ? Range{axis.log ? 0.1 : 0.0, 1.0} : data;
  const double largest = std::max(std::abs(range.low), std::abs(range.high));
  if (range.high - range.low <= kConstant * largest || range.high - range.low < 1e-100) {
    const double half = largest > 1e-90 ? 0.1 * largest : 1.0;
    range = axis.log ? Range{range.low / 2.0, range.high * 2.0}
                     : Range{range.low - half, range.high + half};
  } else if (axis.log) {
    const double ratio = std::pow(range.high / range.low, padding);
    range = {range.low / ratio, range.high * ratio};
  } else {
    const double pad = padding * (range.high - range.low);
    range = {range.low - pad, range.high + pad};
  }
  if (drawable(axis.low, axis.log)) range.low = axis.low;
  if (drawable(axis.high, axis.log)) range.high = axis.high;
  if (!(range.high > range.low)) range.high = axis.log ? 10.0 * range.low : range.low + 1.0;
  return range;
}

void drawSeries(const Panel& panel, const Axis& x_axis, const Scale& x, const Scale& y,
                double columns_per_px, std::vector<Item>& items) {
  for (const Shade& shade : panel.shades) drawShade(shade, x, y, items);
  for (const Mark mark : {Mark::kBand, Mark::kBars, Mark::kLine, Mark::kPoints}) {
    for (size_t i = 0; i < panel.series.size(); ++i) {
      const Series& series = panel.series[i];
      if (series.mark != mark) continue;
      const int tone = toneOf(panel, i);
      if (mark == Mark::kBand) drawBand(series, tone, x, y, columns_per_px, items);
      if (mark == Mark::kBars) drawBars(panel, series, tone, x_axis, x, y, items);
      if (mark == Mark::kLine)
        drawLine(series, tone, isDashed(panel, i), x, y, columns_per_px, items);
      if (mark == Mark::kPoints) drawPoints(series, tone, x, y, items);
    }
  }
  for (const Marker& marker : panel.markers) drawMarker(marker, x, y, items);
}

void drawNotes(const Panel& panel, const PlotFrame& frame, const Scale& x, const Scale& y,
               std::vector<Item>& items) {
  constexpr double kGap = 3.0, kRow = 11.0;
  std::vector<double> row_ends;  // where the last label of each row ends
  const auto place = [&](const std::string& text, double start) {
    const double width = textWidth(text, kNoteSize);
    if (text.empty() || start < 0.0 || start + width > x.length) return;
    size_t row = 0;
    while (row < row_ends.size() && row_ends[row] > start - kGap) ++row;
    if (static_cast<double>(row + 1) * kRow > 0.5 * y.length) return;
    row_ends.resize(std::max(row_ends.size(), row + 1), -1e9);
    row_ends[row] = start + width;
    items.push_back(textItem(text,
                             {frame.x + start, frame.y + static_cast<double>(row + 1) * kRow - 1.0},
                             kNoteSize, kMuted));
  };
  std::vector<std::pair<double, std::string>> notes;
  for (const Shade& shade : panel.shades) {
    if (!shade.on_y) notes.emplace_back(shadeSpan(shade, x).low + kGap, cleanText(shade.label));
  }
  for (const Marker& marker : panel.markers) {
    if (!marker.on_y) notes.emplace_back(x(marker.at) + kGap, cleanText(marker.label));
  }
  std::stable_sort(notes.begin(), notes.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [start, text] : notes) place(text, start);
  // limits: at the right end, on that side of the line that is inside
  for (const Marker& marker : panel.markers) {
    const double at = y(marker.at);
    const bool inside = at >= 0.0 && at <= y.length;
    if (!marker.on_y || marker.label.empty() || !inside) continue;
    const double base = at > kRow ? at - 2.5 : at + kRow - 2.0;
    items.push_back(textItem(fitted(marker.label, kNoteSize, 0.6 * x.length),
                             {frame.x + x.length - kGap, frame.y + base}, kNoteSize, kMuted,
                             Anchor::kEnd));
    items.back().halo = true;
  }
}

}  // namespace proprio
