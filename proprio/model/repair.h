#pragma once

/// The nearest physically possible inertias, for links whose own are impossible.
///
/// With the pseudo-inertia D = [S, m c; m c^T, m] (spatial/pseudo_inertia.h) and a positive
/// definite reference D_r of the same mass, the change is measured in the constant pull-back metric
///   |dD|^2 = tr(D_r^-1 dD D_r^-1 dD)                        (spatial/inertia_metric.h)
/// and the result must keep the margin D >= eps D_r. Mass m and centre c are kept, so only S
/// changes, and with it the central second moment Sigma = S - m c c^T. Then
///  - the upper left block of D_r^-1 is Sigma_r^-1, the inverse Schur complement, so that
///    |dD|^2 = tr(Sigma_r^-1 dSigma Sigma_r^-1 dSigma);
///  - the Schur complement of D - eps D_r with respect to its last entry m (1 - eps) turns the
///  margin
///    into Sigma >= B,  B = eps (Sigma_r + m / (1 - eps) (c - c_r)(c - c_r)^T).
/// With Sigma_r = L L^T and X = L^-1 (Sigma - B) L^-T the problem is the projection of a symmetric
/// matrix on the positive semidefinite ones in the Frobenius norm: its negative eigenvalues become
/// zero. Exact, no iteration. The result does not depend on the frame.
///
/// The written body must stay possible when its numbers are rounded, and simulators compare with
/// absolute bounds. Eigenvalues of the projected Sigma below 1e-5 of its largest one (an inertia in
/// wrong units, far above the reference) or below 5e-13 kg m^2 (next to no mass) are raised to
/// that, so that every principal inertia is at least 1e-12 kg m^2.
///
/// Reference: the link's shapes filled homogeneously with its mass, else a sphere of 1000 kg/m^3
/// around its centre of mass.
/// A mass that is not positive cannot be kept: it becomes that of the shapes at the median density
/// of the other links (1000 kg/m^3 without), or without shapes its absolute value. A link of mass
/// zero without shapes is a mere frame: it gets 1/100 of the lightest body among those that the
/// fewest joints separate from it (10 g in a robot without any mass), small enough not to matter
/// beside it. A link that states no inertia, or one for no mass and no shapes, gets its reference.
///
/// Repaired are links with errors, and those of which simulators refuse the file although they are
/// possible: inertia-flat (rounding decides about the triangle inequality), points and lines of
/// mass, and moving links without mass. Negative velocity and effort limits become positive,
/// reversed position limits are swapped. Products of inertia that the file leaves out are written.
/// What robot.yaml states is not in the URDF: it stays, and its findings remain.

#include <string>
#include <vector>

#include "proprio/model/model.h"

namespace proprio {

struct RepairOptions {
  double margin = 0.05;  ///< eps, in (0, 1)
};

struct LinkRepair {
  int link = -1;
  InertialParameters before, after, reference;
  bool from_shapes = false;  ///< the reference
  bool mass_kept = true, com_kept = true;
  double margin_before = 0.0;  ///< smallest eigenvalue of D_r^-1 D
  double margin_after = 0.0;
  double change = 0.0;  ///< |dD|
};

/// Limits that were the wrong way round, or negative magnitudes.
struct LimitRepair {
  int joint = -1;
  JointLimits before, after;
};

struct Repair {
  Model model;  ///< repaired
  std::vector<LinkRepair> links;
  std::vector<LimitRepair> joints;
  std::vector<int> completed;  ///< links whose <inertia> left out products, which are zero
};

/// The body nearest to `body` with its mass and centre of mass and D >= margin D_reference.
/// @throws Error unless mass > 0, the reference is consistent with the same mass, 0 < margin < 1.
InertialParameters nearestPossible(const InertialParameters& body,
                                   const InertialParameters& reference, double margin);

/// Repairs the links and limits about which lint() reports errors, points, lines, flat and massless
/// moving links, and no others. The model is as read with lump_fixed = false. @throws Error with
/// file, line and link for a mass so small, large or far away that rounding hides its inertia.
Repair repaired(const Model& model, const RepairOptions& options = {});

/// The bytes of the model's URDF with the repaired values in place. @throws Error if the model does
/// not come from a URDF, or a repaired link is not in it.
std::string repairedUrdf(const Repair& repair);

/// What changed, before and after, as a table.
std::string repairText(const Repair& repair, bool colour);
/// The same for programs: a JSON list of links (before, after, reference: ten numbers each).
std::string repairJson(const Repair& repair);

}  // namespace proprio
