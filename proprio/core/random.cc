#include "proprio/core/random.h"

#include <bit>
#include <cmath>
#include <numbers>

namespace proprio {
namespace {

constexpr std::uint32_t kMultiplier[2] = {0xD2511F53U, 0xCD9E8D57U};
constexpr std::uint32_t kWeyl[2] = {0x9E3779B9U, 0xBB67AE85U};

std::array<std::uint32_t, 4> bits(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); };
  return philox({low(index), high(index), low(stream), high(stream)}, {low(seed), high(seed)});
}

// 53 bits, moved to the middle of their interval: never 0 nor 1
double unit(std::uint32_t a, std::uint32_t b) {
  const std::uint64_t both = (static_cast<std::uint64_t>(a) << 32) | b;
  return (static_cast<double>(both >> 12) + 0.5) * 0x1p-52;
}

// two numbers side by side, which every processor of interest does at once
using Two = double __attribute__((vector_size(16)));
using TwoBits = std::int64_t __attribute__((vector_size(16)));

template <size_t N>
Two polynomial(const double (&coefficients)[N], Two x) {
  Two sum = coefficients[0] - Two{};
#pragma GCC unroll 16
  for (size_t k = 1; k < N; ++k) sum = sum * x + coefficients[k];
  return sum;
}

// sqrt(-2 ln u): ln(2^e m) = e ln 2 + 2 atanh((m - 1) / (m + 1)), m within a factor sqrt(2) of 1
Two radii(Two u) {
  constexpr double kSeries[] = {1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11,
                                1.0 / 9,  1.0 / 7,  1.0 / 5,  1.0 / 3,  1.0};
  constexpr std::int64_t kHalfRoot = 0x3fe6a09e667f3bcdLL;  // the bits of sqrt(1/2)
  const auto bits = std::bit_cast<TwoBits>(u);
  const std::int64_t first = (bits[0] - kHalfRoot) >> 52, second = (bits[1] - kHalfRoot) >> 52;
  const TwoBits exponent = {first, second};
  const Two e = {static_cast<double>(first), static_cast<double>(second)};
  const Two m = std::bit_cast<Two>(bits - (exponent << 52));
  const Two z = (m - 1.0) / (m + 1.0);
  const Two square = -2.0 * (e * std::numbers::ln2 + 2.0 * z * polynomial(kSeries, z * z));
  return Two{std::sqrt(square[0]), std::sqrt(square[1])};
}

// The four numbers of a block: Box-Muller on (x0, x1) and (x2, x3). Of the word for the direction
// the two highest bits choose the quarter, the others the angle within pi / 4 of its middle, whose
// sine and cosine are Taylor series.
void normalBlock(const std::array<std::uint32_t, 4>& x, double out[4]) {
  constexpr double kSine[] = {1.0 / 355687428096000,
                              -1.0 / 1307674368000,
                              1.0 / 6227020800,
                              -1.0 / 39916800,
                              1.0 / 362880,
                              -1.0 / 5040,
                              1.0 / 120,
                              -1.0 / 6,
                              1.0};
  constexpr double kCosine[] = {1.0 / 20922789888000,
                                -1.0 / 87178291200,
                                1.0 / 479001600,
                                -1.0 / 3628800,
                                1.0 / 40320,
                                -1.0 / 720,
                                1.0 / 24,
                                -1.0 / 2,
                                1.0};
  const auto low = [](std::uint32_t word) { return static_cast<double>(word & 0x3fffffffU); };
  const Two u = (Two{static_cast<double>(x[0]), static_cast<double>(x[2])} + 0.5) * 0x1p-32;
  const Two fraction = (Two{low(x[1]), low(x[3])} + 0.5) * 0x1p-30 - 0.5;
  const Two angle = fraction * (0.5 * std::numbers::pi);
  const Two radius = radii(u);
  const Two sine = radius * angle * polynomial(kSine, angle * angle);
  const Two cosine = radius * polynomial(kCosine, angle * angle);
  for (size_t pair = 0; pair < 2; ++pair) {
    const std::uint32_t quarter = x[2 * pair + 1] >> 30;
    const double a = (quarter & 1U) != 0U ? -sine[pair] : cosine[pair];
    const double b = (quarter & 1U) != 0U ? cosine[pair] : sine[pair];
    out[2 * pair] = quarter >= 2U ? -a : a;
    out[2 * pair + 1] = quarter >= 2U ? -b : b;
  }
}

}  // namespace

std::array<std::uint32_t, 4> philox(const std::array<std::uint32_t, 4>& counter,
                                    const std::array<std::uint32_t, 2>& key) {
  std::array<std::uint32_t, 4> x = counter;
  std::array<std::uint32_t, 2> k = key;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = static_cast<std::uint64_t>(kMultiplier[0]) * x[0];
    const std::uint64_t b = static_cast<std::uint64_t>(kMultiplier[1]) * x[2];
    x = {static_cast<std::uint32_t>(b >> 32) ^ x[1] ^ k[0], static_cast<std::uint32_t>(b),
         static_cast<std::uint32_t>(a >> 32) ^ x[3] ^ k[1], static_cast<std::uint32_t>(a)};
    k = {k[0] + kWeyl[0], k[1] + kWeyl[1]};
  }
  return x;
}

double uniformNumber(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  const std::array<std::uint32_t, 4> x = bits(seed, stream, index);
  return unit(x[0], x[1]);
}

void normalNumbers(std::uint64_t seed, std::uint64_t stream, std::uint64_t first, int count,
                   double* out) {
  const std::uint64_t end = first + static_cast<std::uint64_t>(count);
  for (std::uint64_t block = first / 4; 4 * block < end; ++block) {
    double four[4];
    normalBlock(bits(seed, stream, block), four);
    for (std::uint64_t k = 0; k < 4; ++k) {
      const std::uint64_t index = 4 * block + k;
      if (index >= first && index < end) out[index - first] = four[k];
    }
  }
}

}  // namespace proprio
