#include "proprio/report/thin.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <random>

namespace proprio {
namespace {

constexpr double kHole = std::numeric_limits<double>::quiet_NaN();

std::vector<Point> noise(int count, double width) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  std::vector<Point> points;
  for (int i = 0; i < count; ++i) points.push_back({width * i / count, normal(random)});
  return points;
}

// In every column of pixels the thinned line has the smallest and the largest value of the whole
// one, and enters and leaves it at the same points.
TEST(Thin, KeepsTheExtremesOfEveryColumn) {
  const std::vector<Point> all = noise(100000, 300.0);
  const std::vector<Point> kept = thinnedLine(all, 0.5);
  EXPECT_LE(kept.size(), 4u * 600u);
  struct Column {
    double low = 1e9, high = -1e9, first = kHole, last = kHole;
  };
  const auto columns = [](const std::vector<Point>& points) {
    std::map<int, Column> result;
    for (const Point& p : points) {
      Column& c = result[static_cast<int>(std::floor(p.x / 0.5))];
      c.low = std::min(c.low, p.y);
      c.high = std::max(c.high, p.y);
      if (std::isnan(c.first)) c.first = p.y;
      c.last = p.y;
    }
    return result;
  };
  const auto expected = columns(all), found = columns(kept);
  ASSERT_EQ(expected.size(), found.size());
  for (const auto& [place, column] : expected) {
    EXPECT_EQ(column.low, found.at(place).low);
    EXPECT_EQ(column.high, found.at(place).high);
    EXPECT_EQ(column.first, found.at(place).first);
    EXPECT_EQ(column.last, found.at(place).last);
  }
  for (size_t i = 1; i < kept.size(); ++i) EXPECT_GE(kept[i].x, kept[i - 1].x);
}

// Gaps stay gaps, whatever is around them; lines of gaps only vanish.
TEST(Thin, GapsSurvive) {
  std::vector<Point> points = noise(1000, 10.0);
  for (int i = 400; i < 500; ++i) points[static_cast<size_t>(i)].y = kHole;
  points.front().y = points.back().x = kHole;
  const std::vector<Point> kept = thinnedLine(points, 0.5);
  int gaps = 0;
  for (const Point& p : kept) gaps += std::isnan(p.x) ? 1 : 0;
  EXPECT_EQ(gaps, 1);
  EXPECT_FALSE(std::isnan(kept.front().x) || std::isnan(kept.back().x));
  EXPECT_TRUE(thinnedLine({{kHole, 1.0}, {0.0, kHole}}, 1.0).empty());
  EXPECT_TRUE(thinnedLine({}, 1.0).empty());
  EXPECT_EQ(thinnedLine({{1.0, 2.0}}, 1.0).size(), 1u);
}

// A curve that turns back keeps its shape: no point of it is farther than half a column from one
// that is kept.
TEST(Thin, ClosedCurve) {
  std::vector<Point> circle;
  for (int i = 0; i <= 20000; ++i)
    circle.push_back(
        {50.0 * std::cos(i * 6.283185307 / 20000.0), 50.0 * std::sin(i * 6.283185307 / 20000.0)});
  const std::vector<Point> kept = thinnedLine(circle, 1.0);
  EXPECT_LT(kept.size(), 800u);
  for (size_t i = 0; i < circle.size(); i += 97) {
    double nearest = 1e9;
    for (const Point& p : kept)
      nearest = std::min(nearest, std::hypot(p.x - circle[i].x, p.y - circle[i].y));
    EXPECT_LE(nearest, 0.5);
  }
}

// Of dots in the same place one is drawn.
TEST(Thin, Dots) {
  EXPECT_EQ(
      thinnedDots({{0.1, 0.1}, {0.2, 0.2}, {5.0, 0.1}, {kHole, 0.0}, {-0.1, 0.1}}, 0.5).size(), 3u);
}

}  // namespace
}  // namespace proprio
