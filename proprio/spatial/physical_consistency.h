#pragma once

#include "proprio/spatial/inertial_parameters.h"

/// Can this body exist?
///
///   physical:          m > 0 and I_C positive definite: the 6x6 inertia is invertible, energies
///   are
///                      positive, simulators run.
///   fully consistent:  in addition the triangle inequality of the principal inertias, equivalently
///   a
///                      positive definite pseudo-inertia: some density >= 0 has these parameters.
///
/// The second implies the first, not the other way round. Plates, rods and points are on the
/// boundary (margin zero) and count as not consistent here; compare the margins with a small
/// negative number to accept them.
///
/// Sources: Traversaro 2017, section 6 (strict inequalities); Leboutet 2022, section 2.3.
namespace proprio {

struct ConsistencyMargins {
  double mass = 0.0;             ///< m, kg
  double central_inertia = 0.0;  ///< smallest principal inertia J, kg m^2
  /// Smallest central second moment, kg m^2: min over i of (J_j + J_k - J_i)/2.
  double triangle = 0.0;
  /// Smallest eigenvalue of the pseudo-inertia. Mixed units: only its sign has a meaning of its
  /// own.
  double pseudo_inertia = 0.0;

  bool physical() const { return mass > 0.0 && central_inertia > 0.0; }
  bool fullyConsistent() const { return physical() && triangle > 0.0 && pseudo_inertia > 0.0; }
};

/// All margins; NaN (so inconsistent) where a parameter is not finite.
ConsistencyMargins consistencyMargins(const InertialParameters& body);

/// The largest e with D(body) >= e D(reference), the smallest generalised eigenvalue: a margin that
/// depends on neither frame nor units. Positive exactly for fully consistent bodies, 1 for the
/// reference itself. @throws Error where the reference is not fully consistent.
double relativeMargin(const InertialParameters& body, const InertialParameters& reference);

}  // namespace proprio
