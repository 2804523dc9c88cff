#include "proprio/core/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace proprio {
namespace {

// The block function gives the known answers published with Random123 1.14 (kat_vectors,
// philox4x32 10).
TEST(Random, PhiloxKnownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
            (std::array<std::uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const std::uint32_t f = 0xffffffff;
  EXPECT_EQ(philox({f, f, f, f}, {f, f}),
            (std::array<std::uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (std::array<std::uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// A number depends on seed, stream and index only, not on how many are drawn with it.
TEST(Random, IndependentOfTheOrder) {
  std::vector<double> all(101);
  normalNumbers(7, 3, 10, 101, all.data());
  for (int i = 0; i < 101; ++i) {
    double one = 0.0;
    normalNumbers(7, 3, static_cast<std::uint64_t>(10 + i), 1, &one);
    EXPECT_EQ(one, all[static_cast<size_t>(i)]);
  }
  double other = 0.0;
  normalNumbers(8, 3, 10, 1, &other);
  EXPECT_NE(other, all[0]);
  normalNumbers(7, 4, 10, 1, &other);
  EXPECT_NE(other, all[0]);
}

// Box-Muller on the words of a block, computed here with the functions of the library: radius
// sqrt(-2 ln u), angle from the second word, whose two highest bits are the quarter.
TEST(Random, NormalIsBoxMuller) {
  for (std::uint32_t index = 0; index < 4000; index += 4) {
    double normal[4];
    normalNumbers(11, 5, index, 4, normal);
    const auto x = philox({index / 4, 0, 5, 0}, {11, 0});
    for (size_t pair = 0; pair < 2; ++pair) {
      const double radius = std::sqrt(-2.0 * std::log((x[2 * pair] + 0.5) / 4294967296.0));
      const std::uint32_t word = x[2 * pair + 1];
      const double turn = (word >> 30) + ((word & 0x3fffffffU) + 0.5) / 1073741824.0 - 0.5;
      const double angle = turn * std::numbers::pi / 2.0;
      EXPECT_NEAR(normal[2 * pair], radius * std::cos(angle), 1e-14);
      EXPECT_NEAR(normal[2 * pair + 1], radius * std::sin(angle), 1e-14);
    }
  }
}

// Mean, variance, fourth moment and the correlation of neighbours, streams and seeds are those of
// independent normal numbers, within 5 standard deviations of their estimates.
TEST(Random, NormalMoments) {
  const int n = 200000;
  std::vector<double> x(n), stream(n), seed(n);
  normalNumbers(1, 1, 0, n, x.data());
  normalNumbers(1, 2, 0, n, stream.data());
  normalNumbers(2, 1, 0, n, seed.data());
  double mean = 0, second = 0, fourth = 0, neighbour = 0, streams = 0, seeds = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    mean += x[i] / n;
    second += x[i] * x[i] / n;
    fourth += x[i] * x[i] * x[i] * x[i] / n;
    neighbour += i > 0 ? x[i] * x[i - 1] / n : 0.0;
    streams += x[i] * stream[i] / n;
    seeds += x[i] * seed[i] / n;
  }
  const double sd = 1.0 / std::sqrt(n);
  EXPECT_NEAR(mean, 0.0, 5 * sd);
  EXPECT_NEAR(second, 1.0, 5 * std::sqrt(2.0) * sd);
  EXPECT_NEAR(fourth, 3.0, 5 * std::sqrt(96.0) * sd);
  EXPECT_NEAR(neighbour, 0.0, 5 * sd);
  EXPECT_NEAR(streams, 0.0, 5 * sd);
  EXPECT_NEAR(seeds, 0.0, 5 * sd);
}

// Uniform numbers fill (0, 1) evenly: chi-square of 16 bins below its 1e-6 quantile (56.5).
TEST(Random, Uniform) {
  const int n = 16000;
  std::array<int, 16> bins{};
  for (int i = 0; i < n; ++i) {
    const double u = uniformNumber(5, 0, static_cast<std::uint64_t>(i));
    ASSERT_GT(u, 0.0);
    ASSERT_LT(u, 1.0);
    ++bins[static_cast<size_t>(16 * u)];
  }
  double chi = 0.0;
  for (int count : bins) chi += (count - n / 16.0) * (count - n / 16.0) / (n / 16.0);
  EXPECT_LT(chi, 56.5);
}

}  // namespace
}  // namespace proprio
