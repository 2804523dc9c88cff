#pragma once

/// An identified body divided among a link and what is fixed to it. Torques tell only the sum, so
/// the division is that of the description as far as possible:
///
///   1. What is fixed to the link stays as declared if the rest is a possible body with at least a
///      tenth of the mass that the link itself is declared with.
///   2. Otherwise the mass of all of them is scaled by one factor and moved by one affine map, the
///      one that makes the declared sum the identified one and moves its mass least:
///
///        D_i' = A D_i A^T,   A = sqrt(m'/m) [T, c' - T c; 0, 1],
///        T = S^-1/2 (S^1/2 S' S^1/2)^1/2 S^-1/2
///
///      with D_i the pseudo-inertias, m, c and S mass, centre and central second moment per mass of
///      the declared sum, primes for the identified one. The sum is kept, every possible body stays
///      possible, a body without mass stays without, and where description and estimate agree
///      nothing moves. (T is the optimal transport between normal distributions: Knott, Smith
///      1984.)
///
/// Bodies that are impossible as declared are repaired before they take part in 2.

#include <vector>

#include "proprio/spatial/inertial_parameters.h"

namespace proprio {

/// Something fixed to a link, in the frame of the link.
struct FixedPart {
  InertialParameters inertia;
  bool writable = true;  ///< else it is said elsewhere and has to stay
};

struct InertiaShares {
  std::vector<InertialParameters> parts;  ///< in the frame of the link; the link has the rest
  bool kept = true;                       ///< the parts are as declared
  double mass_factor = 1.0;               ///< of link and parts where they are not
};

/// @param whole  identified: the link and all that is fixed to it
/// @param own    of the link alone, as declared
/// If `whole` is impossible, or neither way leads to possible bodies, the parts are kept.
InertiaShares divideInertia(const InertialParameters& whole, const InertialParameters& own,
                            const std::vector<FixedPart>& parts);

}  // namespace proprio
