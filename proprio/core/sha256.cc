#include "proprio/core/sha256.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

namespace proprio {
namespace {

using Words = std::array<std::uint32_t, 8>;

/// The first 32 bits of the fractional part of x.
std::uint32_t fractionBits(long double x) {
  return static_cast<std::uint32_t>((x - std::floor(x)) * 4294967296.0L);
}

struct ShaConstants {
  Words start;
  std::array<std::uint32_t, 64> rounds;
};

/// Fractions of square roots of the first 8 primes and of cube roots of the first 64.
ShaConstants shaConstants() {
  ShaConstants constants{};
  size_t count = 0;
  for (int candidate = 2; count < 64; ++candidate) {
    bool prime = true;
    for (int d = 2; d * d <= candidate; ++d) prime = prime && candidate % d != 0;
    if (!prime) continue;
    const auto p = static_cast<long double>(candidate);
    if (count < 8) constants.start[count] = fractionBits(std::sqrt(p));
    constants.rounds[count] = fractionBits(std::cbrt(p));
    ++count;
  }
  return constants;
}

void mixChunk(const unsigned char* chunk, const std::array<std::uint32_t, 64>& rounds,
              Words* state) {
  std::array<std::uint32_t, 64> w{};
  for (size_t i = 0; i < 16; ++i) {
    w[i] = static_cast<std::uint32_t>(chunk[4 * i] << 24 | chunk[4 * i + 1] << 16 |
                                      chunk[4 * i + 2] << 8 | chunk[4 * i + 3]);
  }
  for (size_t i = 16; i < 64; ++i) {
    const std::uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
    const std::uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = *state;
  for (size_t i = 0; i < 64; ++i) {
    const std::uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const std::uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + rounds[i] + w[i];
    const std::uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const std::uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  const Words mixed = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < 8; ++i) (*state)[i] += mixed[i];
}

}  // namespace

std::string sha256(std::string_view bytes) {
  static const ShaConstants constants = shaConstants();
  Words state = constants.start;
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  const size_t whole = bytes.size() / 64 * 64;
  for (size_t i = 0; i < whole; i += 64) mixChunk(data + i, constants.rounds, &state);
  std::vector<unsigned char> rest(data + whole, data + bytes.size());
  rest.push_back(0x80);
  while (rest.size() % 64 != 56) rest.push_back(0);
  const std::uint64_t bits = static_cast<std::uint64_t>(bytes.size()) * 8;
  for (int shift = 56; shift >= 0; shift -= 8)
    rest.push_back(static_cast<unsigned char>(bits >> shift & 0xff));
  for (size_t i = 0; i < rest.size(); i += 64) mixChunk(rest.data() + i, constants.rounds, &state);
  std::string text;
  for (const std::uint32_t word : state) text += fmt::format("{:08x}", word);
  return text;
}

}  // namespace proprio
