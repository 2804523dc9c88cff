#pragma once

/// Decimal text to the nearest double, fast for the numbers that logs are made of. Exact like
/// strtod: where the digits fit into 53 bits and the power of ten is at most 22 in size, both are
/// doubles and one multiplication or division rounds once (Clinger 1990). Where they fit into 64
/// bits, one 64x128-bit product decides the rounding unless it is too close to call (Eisel and
/// Lemire 2021, with the table limited to the exponents of measurements). Everything else goes to
/// std::from_chars.

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace proprio::csv {

/// Bytes after the end of a text that scanNumber may look at, but never uses.
constexpr size_t kPadding = 8;

inline bool isDigit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

/// The value of eight characters if all are digits, otherwise a number above 99999999.
inline uint32_t eightDigits(const char* text) {
  uint64_t word = 0;
  std::memcpy(&word, text, sizeof word);
  if constexpr (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__) word = __builtin_bswap64(word);
  const uint64_t digits = word - 0x3030303030303030u;
  if ((((word + 0x4646464646464646u) | digits) & 0x8080808080808080u) != 0) return ~uint32_t{0};
  // neighbours are joined: 8 digits -> 4 pairs -> 2 fours -> 1 eight
  uint64_t pairs = digits * 10 + (digits >> 8);
  pairs &= 0x00ff00ff00ff00ffu;
  const uint64_t fours = (pairs * 100 + (pairs >> 16)) & 0x0000ffff0000ffffu;
  return static_cast<uint32_t>(fours * 10000 + (fours >> 32));
}

constexpr std::array<double, 23> kExactPowers = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                 1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/// 10^-k = (mantissa + less than 1) 2^(exponent - 127), the mantissa with 128 bits, the first one
/// set.
struct InversePower {
  uint64_t high, low;
  int exponent;
};
constexpr int kMostDecimals = 27;  // 5^27 < 2^63, so that the division below needs 128 bits only

constexpr InversePower inversePower(int k) {
  uint64_t five = 1;
  for (int i = 0; i < k; ++i) five *= 5;
  // 1 / 5^k bit by bit: long division of a one followed by zeros
  unsigned __int128 mantissa = 0, rest = 1;
  int exponent = 0;
  while (rest < five) {
    rest <<= 1;
    --exponent;
  }
  for (int bit = 0; bit < 128; ++bit) {
    mantissa <<= 1;
    if (rest >= five) {
      mantissa |= 1;
      rest -= five;
    }
    rest <<= 1;
  }
  return {static_cast<uint64_t>(mantissa >> 64), static_cast<uint64_t>(mantissa), exponent - k};
}

constexpr auto kInversePowers = [] {
  std::array<InversePower, kMostDecimals + 1> table{};
  for (int k = 0; k <= kMostDecimals; ++k) table[static_cast<size_t>(k)] = inversePower(k);
  return table;
}();

/// digits * 10^-decimals rounded to the nearest double; false where the product is too close to
/// the middle between two doubles to tell. digits > 0, 0 <= decimals <= kMostDecimals.
inline bool roundedQuotient(uint64_t digits, int decimals, double& value) {
  const InversePower& power = kInversePowers[static_cast<size_t>(decimals)];
  const int shift = __builtin_clzll(digits);
  const uint64_t w = digits << shift;
  // w times the mantissa, cut to its first 128 bits: too small by less than 2 units of the last
  const unsigned __int128 low = static_cast<unsigned __int128>(w) * power.low;
  const unsigned __int128 product =
      static_cast<unsigned __int128>(w) * power.high + static_cast<uint64_t>(low >> 64);
  const auto high = static_cast<uint64_t>(product >> 64), rest = static_cast<uint64_t>(product);
  // normalise so that the first bit is set: value = (high.rest) 2^exponent
  const int carry = static_cast<int>(high >> 63);
  const int dropped = 10 + carry;  // bits of `high` below the 53 of a double
  const uint64_t mantissa = high >> dropped;
  const uint64_t tail = high & ((uint64_t{1} << dropped) - 1), half = uint64_t{1} << (dropped - 1);
  // the true tail lies in [tail.rest, tail.rest + 2 units): on one side of the half, or unknown
  if (rest >= ~uint64_t{0} - 1 || (tail == half && rest == 0)) return false;
  const uint64_t rounded = mantissa + (tail >= half ? 1 : 0);
  // scale: digits = w 2^-shift, mantissa of the power 2^(exponent-127), product cut by 64 bits
  const int exponent = power.exponent - 127 - shift + 128 + dropped;
  const int binary = exponent + 1023;
  value = static_cast<double>(rounded);
  const uint64_t bits = static_cast<uint64_t>(binary) << 52;
  double scale = 0.0;
  std::memcpy(&scale, &bits, sizeof scale);
  value *= scale;
  return true;
}

/// The same for any text that is a number, through std::from_chars; false if it is too large.
bool roundSlowly(std::string_view number, char decimal, double& value);

/// A number that starts at `text`, with `decimal` as its point. Returns the first character behind
/// it, nullptr if there is no number here or it is too large for a double. The text must end with
/// a character that is no part of a number, and kPadding bytes behind it must be readable.
inline const char* scanNumber(const char* text, char decimal, double& value, bool& saw_decimal) {
  const char* p = text;
  const bool negative = *p == '-';
  if (negative || *p == '+') ++p;
  const char* begin = p;
  uint64_t digits = 0;
  while (isDigit(*p)) digits = digits * 10 + static_cast<uint64_t>(*p++ - '0');
  auto count = p - begin;
  int64_t exponent = 0;
  if (*p == decimal) {
    saw_decimal = true;
    const char* fraction = ++p;
    for (uint32_t eight = eightDigits(p); eight <= 99999999; eight = eightDigits(p)) {
      digits = digits * 100000000 + eight;
      p += 8;
    }
    while (isDigit(*p)) digits = digits * 10 + static_cast<uint64_t>(*p++ - '0');
    exponent = fraction - p;
    count += p - fraction;
  }
  if (count == 0) return nullptr;
  if ((*p & ~0x21) == 'D') {  // e, E, and d, D as Fortran writes it
    const char* e = p + 1;
    const bool minus = *e == '-';
    if (minus || *e == '+') ++e;
    if (!isDigit(*e)) return nullptr;
    int64_t power = 0;
    for (; isDigit(*e); ++e) {
      if (power < 100000) power = power * 10 + (*e - '0');
    }
    exponent += minus ? -power : power;
    p = e;
  }
  if (count <= 19) {
    if (digits <= uint64_t{1} << 53 && exponent >= -22 && exponent <= 22) {
      const auto whole = static_cast<double>(digits);
      const double magnitude = exponent < 0 ? whole / kExactPowers[static_cast<size_t>(-exponent)]
                                            : whole * kExactPowers[static_cast<size_t>(exponent)];
      value = negative ? -magnitude : magnitude;
      return p;
    }
    if (digits != 0 && exponent <= 0 && exponent >= -kMostDecimals &&
        roundedQuotient(digits, static_cast<int>(-exponent), value)) {
      if (negative) value = -value;
      return p;
    }
  }
  return roundSlowly({text, static_cast<size_t>(p - text)}, decimal, value) ? p : nullptr;
}

}  // namespace proprio::csv
