#include "proprio/report/ticks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace proprio {
namespace {

// Any range gets between two and max(most, 6) ascending ticks inside it, at equal distances that
// are 1, 2 or 5 times a power of ten.
TEST(Ticks, LinearTicksAreFewRoundAndInside) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> exponent(-12.0, 12.0), share(-1.0, 1.0);
  for (int trial = 0; trial < 2000; ++trial) {
    const double size = std::pow(10.0, exponent(random));
    const double low = size * share(random), high = low + size * (0.01 + std::abs(share(random)));
    const int most = 2 + trial % 9;
    const Ticks ticks = linearTicks(low, high, most);
    ASSERT_GE(ticks.values.size(), 2u) << low << " " << high << " " << most;
    ASSERT_LE(static_cast<int>(ticks.values.size()), std::max(most, 6));
    ASSERT_EQ(ticks.values.size(), ticks.labels.size());
    EXPECT_GE(ticks.values.front(), low);
    EXPECT_LE(ticks.values.back(), high);
    const double step = ticks.values[1] - ticks.values[0];
    for (size_t i = 1; i < ticks.values.size(); ++i)
      EXPECT_NEAR(ticks.values[i] - ticks.values[i - 1], step, 1e-6 * step);
    const double leading = step / std::pow(10.0, std::floor(std::log10(step * (1.0 + 1e-6))));
    EXPECT_TRUE(std::abs(leading - 1.0) < 1e-5 || std::abs(leading - 2.0) < 1e-5 ||
                std::abs(leading - 5.0) < 1e-5)
        << leading;
  }
}

// Labels differ from each other, so that a reader can tell the ticks apart.
TEST(Ticks, LabelsAreDistinct) {
  for (const auto& [low, high] :
       {std::pair{-1.0, 1.0}, {0.0, 1e-9}, {3e7, 9e7}, {1.6e9, 1.6e9 + 2.0}, {273.15, 273.1501}}) {
    const Ticks ticks = linearTicks(low, high, 6);
    for (size_t i = 1; i < ticks.labels.size(); ++i)
      EXPECT_NE(ticks.labels[i], ticks.labels[i - 1]) << low;
  }
}

// Usual numbers stand as they are; large, small and offset ones are told by the note.
TEST(Ticks, LabelsReadAsExpected) {
  EXPECT_EQ(linearTicks(-1.0, 1.0, 5).labels,
            (std::vector<std::string>{"−1.0", "−0.5", "0.0", "0.5", "1.0"}));
  const Ticks large = linearTicks(0.0, 3e6, 4);
  EXPECT_EQ(large.labels, (std::vector<std::string>{"0", "1", "2", "3"}));
  EXPECT_EQ(large.note, "×10⁶");
  const Ticks small = linearTicks(0.0, 2e-9, 3);
  EXPECT_EQ(small.labels.back(), "2");
  EXPECT_EQ(small.note, "×10⁻⁹");
  const Ticks clock = linearTicks(1600000000.0, 1600000002.0, 3);
  EXPECT_EQ(clock.note, "+1600000000");
  EXPECT_EQ(clock.labels, (std::vector<std::string>{"0", "1", "2"}));
}

// A logarithmic axis shows powers of ten, skips some when there are many, and falls back to
// closer numbers where it spans less than a decade.
TEST(Ticks, LogarithmicTicks) {
  EXPECT_EQ(logTicks(0.1, 100.0, 6).labels, (std::vector<std::string>{"0.1", "1", "10", "100"}));
  EXPECT_EQ(logTicks(1e-9, 1e-3, 4).labels,
            (std::vector<std::string>{"10⁻⁹", "10⁻⁷", "10⁻⁵", "10⁻³"}));
  EXPECT_EQ(logTicks(12.0, 90.0, 6).labels, (std::vector<std::string>{"20", "50"}));
  EXPECT_GE(logTicks(41.0, 44.0, 6).values.size(), 2u);
  for (const double high : {2.0, 30.0, 1e5, 1e40}) {
    const Ticks ticks = logTicks(1.5, high, 5);
    EXPECT_EQ(ticks.values.size(), ticks.labels.size());
    for (const double value : ticks.values) {
      EXPECT_GE(value, 1.5);
      EXPECT_LE(value, high);
    }
  }
}

}  // namespace
}  // namespace proprio
