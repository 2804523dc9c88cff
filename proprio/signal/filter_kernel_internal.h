#pragma once

/// Eight channels side by side through a cascade of sections (direct form II transposed):
///   y = b0 x + s1,  s1 <- b1 x - a1 y + s2,  s2 <- b2 x - a2 y.
/// One channel alone waits for its own last result; four packs of two hide that wait (measured: a
/// third of the time of a single pack).

#include <Eigen/Core>
#include <vector>

#include "proprio/signal/filter_design.h"

namespace proprio::filter_kernel {

/// Two channels: the width of a register that every 64-bit processor has.
typedef double Pack __attribute__((vector_size(2 * sizeof(double))));

inline constexpr int kPacks = 4;
inline constexpr int kLanes = 2 * kPacks;
/// Samples that go through all sections before the next ones: 8 KiB, a quarter of a first-level
/// cache.
inline constexpr Eigen::Index kBlock = 128;

/// One sample of eight channels.
struct Sample {
  Pack pack[kPacks];
  double& operator[](Eigen::Index lane) { return reinterpret_cast<double*>(pack)[lane]; }
  double operator[](Eigen::Index lane) const { return reinterpret_cast<const double*>(pack)[lane]; }
};

struct SectionState {
  Sample s1, s2;
};

/// `count` samples from `x`, in place, each `Step` (+1 or -1) after the one before.
template <int Step>
inline void runSection(const FilterSection& section, SectionState& state, Sample* x,
                       Eigen::Index count) {
  const double b0 = section.b0, b1 = section.b1, b2 = section.b2, a1 = section.a1, a2 = section.a2;
  Sample s1 = state.s1, s2 = state.s2;
  const auto advance = [&](int p) {
    const Pack in = x->pack[p];
    const Pack y = b0 * in + s1.pack[p];
    s1.pack[p] = (b1 * in + s2.pack[p]) - a1 * y;
    s2.pack[p] = b2 * in - a2 * y;
    x->pack[p] = y;
  };
  static_assert(kPacks == 4);
  for (Eigen::Index k = 0; k < count; ++k) {
    // written out, so that the states stay in registers
    advance(0);
    advance(1);
    advance(2);
    advance(3);
    x += Step;
  }
  state.s1 = s1;
  state.s2 = s2;
}

/// The whole cascade over a block.
template <int Step>
inline void runCascade(const std::vector<FilterSection>& sections, SectionState* states, Sample* x,
                       Eigen::Index count) {
  for (size_t i = 0; i < sections.size(); ++i) runSection<Step>(sections[i], states[i], x, count);
}

/// State as if the input had been `level` since ever: with the gain g of a section at zero
/// frequency, s2 = (b2 - a2 g) level and s1 = (b1 - a1 g) level + s2; g level enters the next one.
inline void steadyState(const FilterSection& section, double& level, double& s1, double& s2) {
  const double g = (section.b0 + section.b1 + section.b2) / (1.0 + section.a1 + section.a2);
  s2 = (section.b2 - section.a2 * g) * level;
  s1 = (section.b1 - section.a1 * g) * level + s2;
  level = g * level;
}

inline void steadyStates(const std::vector<FilterSection>& sections, const Sample& x,
                         SectionState* states) {
  for (Eigen::Index c = 0; c < kLanes; ++c) {
    double level = x[c];
    for (size_t i = 0; i < sections.size(); ++i) {
      steadyState(sections[i], level, states[i].s1[c], states[i].s2[c]);
    }
  }
}

/// 2 edge - inside: the odd reflection at an end.
inline Sample reflected(const Sample& edge, const Sample& inside) {
  Sample sample;
  for (int p = 0; p < kPacks; ++p) sample.pack[p] = 2.0 * edge.pack[p] - inside.pack[p];
  return sample;
}

}  // namespace proprio::filter_kernel
