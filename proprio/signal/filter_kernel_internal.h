#pragma once

/// Four channels side by side through a cascade of sections (direct form II transposed):
///   y = b0 x + s1,  s1 <- b1 x - a1 y + s2,  s2 <- b2 x - a2 y.
/// One channel alone waits for its own last result; four hide that wait and fill SIMD registers.

#include <Eigen/Core>
#include <vector>

#include "proprio/signal/filter_design.h"

namespace proprio::filter_kernel {

inline constexpr int kLanes = 4;
/// Samples that go through all sections before the next ones: 8 KiB, half of a first-level cache.
inline constexpr Eigen::Index kBlock = 256;

/// One sample of four channels; the compiler maps it to whatever registers there are.
typedef double Lanes __attribute__((vector_size(kLanes * sizeof(double)), aligned(16)));

/// The same as an element of containers, which ignore the attributes of bare vector types.
struct Sample {
  Lanes v;
};

struct SectionState {
  Lanes s1, s2;
};

/// `count` samples from `x`, in place, each `step` (+1 or -1) after the one before.
template <int kStep>
inline void runSection(const FilterSection& section, SectionState& state, Sample* x,
                       Eigen::Index count) {
  const double b0 = section.b0, b1 = section.b1, b2 = section.b2, a1 = section.a1, a2 = section.a2;
  Lanes s1 = state.s1, s2 = state.s2;
  for (Eigen::Index k = 0; k < count; ++k) {
    const Lanes in = x->v;
    const Lanes y = b0 * in + s1;
    s1 = (b1 * in + s2) - a1 * y;
    s2 = b2 * in - a2 * y;
    x->v = y;
    x += kStep;
  }
  state.s1 = s1;
  state.s2 = s2;
}

/// The whole cascade over a block.
template <int kStep>
inline void runCascade(const std::vector<FilterSection>& sections, SectionState* states, Sample* x,
                       Eigen::Index count) {
  for (size_t i = 0; i < sections.size(); ++i) runSection<kStep>(sections[i], states[i], x, count);
}

/// States as if the input had been `x` since ever: with the gain g of a section at zero frequency,
/// s2 = (b2 - a2 g) x and s1 = (b1 - a1 g) x + s2; its output g x enters the next one.
template <typename T>
inline void steadyState(const FilterSection& section, T& level, T& s1, T& s2) {
  const double g = (section.b0 + section.b1 + section.b2) / (1.0 + section.a1 + section.a2);
  s2 = (section.b2 - section.a2 * g) * level;
  s1 = (section.b1 - section.a1 * g) * level + s2;
  level = g * level;
}

inline void steadyStates(const std::vector<FilterSection>& sections, const Lanes& x,
                         SectionState* states) {
  Lanes level = x;
  for (size_t i = 0; i < sections.size(); ++i) {
    steadyState(sections[i], level, states[i].s1, states[i].s2);
  }
}

}  // namespace proprio::filter_kernel
