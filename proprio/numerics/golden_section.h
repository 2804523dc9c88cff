#pragma once

#include <utility>

/// Golden-section search for a maximum of a scalar function that has one in [low, high]; where it
/// has several, one of them. Every section keeps the part 0.618 of the interval and costs one
/// evaluation (Kiefer, Sequential minimax search for a maximum, 1953).

namespace proprio {

/// @return where the larger of the last two values was found, and that value.
template <typename Value>
std::pair<double, double> goldenMaximum(double low, double high, int sections, const Value& value) {
  constexpr double kKept = 0.6180339887498949;
  double left = high - kKept * (high - low), right = low + kKept * (high - low);
  double at_left = value(left), at_right = value(right);
  for (int k = 0; k < sections; ++k) {
    if (at_left > at_right) {
      high = std::exchange(right, left);
      at_right = at_left;
      left = high - kKept * (high - low);
      at_left = value(left);
    } else {
      low = std::exchange(left, right);
      at_left = at_right;
      right = low + kKept * (high - low);
      at_right = value(right);
    }
  }
  if (at_left > at_right) return {left, at_left};
  return {right, at_right};
}

}  // namespace proprio
