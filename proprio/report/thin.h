#pragma once

/// Fewer points, same picture. A line drawn with far more samples than pixels covers, in every
/// column of pixels, the stretch between its smallest and largest value; so the first, smallest,
/// largest and last point of each column are all that can be seen (M4: Jugel, Jerzak, Hackenbroich,
/// Markl, "M4: A visualization-oriented time series data aggregation", PVLDB 7(10), 2014).

#include <vector>

namespace proprio {

struct Point {
  double x = 0.0, y = 0.0;
};

/// The points to draw, in their order; a NaN in x or y is a gap and stays one (as one NaN point).
/// `column` is the width of a column in units of x. A stretch whose x goes back and forth keeps
/// every point that is at least half a column from the last one kept.
std::vector<Point> thinnedLine(const std::vector<Point>& points, double column);

/// One point of those that fall into the same square of side `cell`.
std::vector<Point> thinnedDots(const std::vector<Point>& points, double cell);

}  // namespace proprio
