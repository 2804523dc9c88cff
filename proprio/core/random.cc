#include "proprio/core/random.h"

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
  constexpr double kStep = 0x1p-32;
  const std::uint64_t end = first + static_cast<std::uint64_t>(count);
  std::array<std::uint32_t, 4> x{};
  for (std::uint64_t pair = first / 2; 2 * pair < end; ++pair) {
    // a block of 128 bits serves two pairs
    if (pair % 2 == 0 || pair == first / 2) x = bits(seed, stream, pair / 2);
    const size_t half = pair % 2 == 0 ? 0 : 2;
    const double radius = std::sqrt(-2.0 * std::log((x[half] + 0.5) * kStep));
    const double angle = 2.0 * std::numbers::pi * kStep * x[half + 1];
    const double cosine = radius * std::cos(angle), sine = radius * std::sin(angle);
    if (2 * pair >= first) out[2 * pair - first] = cosine;
    if (2 * pair + 1 < end) out[2 * pair + 1 - first] = sine;
  }
}

}  // namespace proprio
