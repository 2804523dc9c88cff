#include "proprio/numerics/golden_section.h"

#include <gtest/gtest.h>

#include <cmath>

namespace proprio {
namespace {

/// Claim: the maximum of a curve with one is found to the interval that the sections leave,
/// (high - low) 0.618^(n + 1), with n + 2 evaluations, also at an end of the interval.
TEST(GoldenSection, FindsTheMaximumOfACurveWithOne) {
  for (const double top : {-1.0, 0.3, 2.0}) {
    for (const int sections : {0, 1, 16, 40}) {
      int calls = 0;
      const auto [where, value] = goldenMaximum(-1.0, 2.0, sections, [&](double x) {
        ++calls;
        return -std::abs(x - top);
      });
      EXPECT_EQ(calls, sections + 2);
      EXPECT_LE(std::abs(where - top), 3.0 * std::pow(0.6180339887498949, sections + 1) + 1e-15);
      EXPECT_EQ(value, -std::abs(where - top));
    }
  }
}

}  // namespace
}  // namespace proprio
