#pragma once

/// Round numbers along an axis. Linear: multiples of 1, 2 or 5 times a power of ten. Logarithmic:
/// powers of ten, or 1, 2, 5 times them where the axis spans little.

#include <string>
#include <vector>

namespace proprio {

struct Ticks {
  std::vector<double> values;       ///< ascending, all within the axis
  std::vector<std::string> labels;  ///< one per value, with a real minus sign
  std::vector<double> minor;        ///< without labels, between the values (logarithmic axes)
  /// Common to all labels, empty if none: a factor ("×10⁶") for very large or small numbers, an
  /// offset ("+1600000000") where all of them share their leading digits.
  std::string note;
};

/// At most `most` (>= 2) ticks in [low, high], and at least two (then at most max(most, 6)).
/// @pre low < high, both finite.
Ticks linearTicks(double low, double high, int most);

/// At most `most` (>= 2) ticks in [low, high]. @pre 0 < low < high, both finite.
Ticks logTicks(double low, double high, int most);

}  // namespace proprio
