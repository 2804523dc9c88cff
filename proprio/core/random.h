#pragma once

/// Random numbers without a state: the number of (seed, stream, index) is always the same, whatever
/// was drawn before, on which thread and in which order. Philox4x32-10 (Salmon et al., SC 2011):
/// the counter is (index, stream), the key is the seed.

#include <array>
#include <cstdint>

namespace proprio {

/// The Philox4x32-10 block function.
std::array<std::uint32_t, 4> philox(const std::array<std::uint32_t, 4>& counter,
                                    const std::array<std::uint32_t, 2>& key);

/// Uniform in (0, 1).
double uniformNumber(std::uint64_t seed, std::uint64_t stream, std::uint64_t index);

/// out[i] = standard normal number of index first + i: Box-Muller on pairs of indices, four numbers
/// from a block, so that magnitudes end at 6.8. Cheapest where `first` is a multiple of four.
/// Real-time.
void normalNumbers(std::uint64_t seed, std::uint64_t stream, std::uint64_t first, int count,
                   double* out);

}  // namespace proprio
