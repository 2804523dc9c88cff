#include "proprio/report/thin.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>

namespace proprio {
namespace {

constexpr double kEmpty = std::numeric_limits<double>::quiet_NaN();

bool isGap(const Point& point) { return std::isnan(point.x) || std::isnan(point.y); }

// first, smallest, largest and last of [begin, end), in their order, each once
void keepExtremes(const std::vector<Point>& points, size_t begin, size_t end,
                  std::vector<Point>& kept) {
  size_t low = begin, high = begin;
  for (size_t i = begin; i < end; ++i) {
    if (points[i].y < points[low].y) low = i;
    if (points[i].y > points[high].y) high = i;
  }
  size_t last = end;
  for (const size_t i : {begin, std::min(low, high), std::max(low, high), end - 1}) {
    if (i != last) kept.push_back(points[i]);
    last = i;
  }
}

void thinByColumns(const std::vector<Point>& points, size_t begin, size_t end, double column,
                   std::vector<Point>& kept) {
  for (size_t i = begin; i < end;) {
    const double place = std::floor(points[i].x / column);
    size_t next = i + 1;
    while (next < end && std::floor(points[next].x / column) == place) ++next;
    keepExtremes(points, i, next, kept);
    i = next;
  }
}

void thinByDistance(const std::vector<Point>& points, size_t begin, size_t end, double distance,
                    std::vector<Point>& kept) {
  for (size_t i = begin; i < end; ++i) {
    const bool edge = i == begin || i + 1 == end;
    if (edge || std::hypot(points[i].x - kept.back().x, points[i].y - kept.back().y) >= distance)
      kept.push_back(points[i]);
  }
}

}  // namespace

std::vector<Point> thinnedLine(const std::vector<Point>& points, double column) {
  std::vector<Point> kept;
  for (size_t i = 0; i < points.size();) {
    if (isGap(points[i])) {
      if (!kept.empty() && !isGap(kept.back())) kept.push_back({kEmpty, kEmpty});
      ++i;
      continue;
    }
    size_t end = i + 1;
    bool forward = true;
    for (; end < points.size() && !isGap(points[end]); ++end)
      forward = forward && points[end].x >= points[end - 1].x;
    if (forward)
      thinByColumns(points, i, end, column, kept);
    else
      thinByDistance(points, i, end, 0.5 * column, kept);
    i = end;
  }
  if (!kept.empty() && isGap(kept.back())) kept.pop_back();
  return kept;
}

std::vector<Point> thinnedDots(const std::vector<Point>& points, double cell) {
  std::vector<Point> kept;
  std::unordered_set<long long> taken;
  for (const Point& point : points) {
    if (isGap(point)) continue;
    const auto column = static_cast<long long>(std::floor(point.x / cell));
    const auto row = static_cast<long long>(std::floor(point.y / cell));
    if (taken.insert(column * (1LL << 32) + row).second) kept.push_back(point);
  }
  return kept;
}

}  // namespace proprio
