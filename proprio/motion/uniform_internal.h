#pragma once

/// Random numbers that are the same on every machine: the distributions of <random> are not. Not a
/// public header.

#include <cstdint>
#include <random>

namespace proprio {

class Uniform {
 public:
  explicit Uniform(uint64_t seed) : engine_(seed) {}
  /// In [low, high).
  double operator()(double low, double high) {
    constexpr double kUnit = 1.0 / 9007199254740992.0;  // 2^-53
    return low + (high - low) * (static_cast<double>(engine_() >> 11) * kUnit);
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace proprio
