#pragma once

/// Inside the dynamics room: the conditions of structural_identifiability.h for trees in which
/// joints move together (mimic joints). Exact, without sampled states.
///
/// Coordinates z are the free ones; a joint c that z moves stands at q_c = ratio_c z + offset_c.
/// Lagrange's equations hold in z: row f of the torque vanishes for all z, v, a if and only if
///   M_fk(z) = 0 for all k,   d/dz_f M_kl(z) = 0 for all k, l,   d/dz_f U(z) = 0
/// identically in z, M the mass matrix and U the potential energy. Each of these is a row on the
/// parameters of all links at once ("stacked"), and the base parameters are the span of the rows'
/// values. Links are described in world axes at the reference position, all joints at zero; then
/// joint c acts alike on all links beyond it and on no other:
///   velocities  u -> exp(-q_c ad_S) u        rows  e -> exp(q_c A^T) e,  A of S in R^10
/// A pass along the tree carries the stacked vector (1, u, w, e)_i: u, w the velocities that two
/// coordinates k, l give link i and e the row with u^T M w = e pi; it is linear in itself:
///   joint c moves; then u += ratio S if k moves c, and e += ratio S^T M w, likewise for l.
/// Joints that move alone are independent of all others: the span over their q is the smallest
/// space that is invariant under their generator. Where k and l move one joint each, all links
/// beyond the outer one see the same e until a joint of their own moves them: one row stands for
/// them, and what becomes of it further out is followed in R^10, body by body, for all pairs at
/// once. Only coordinates that move several joints need the stack.
///
/// A coordinate that moves several joints is not. But every row is a sum of z^p exp(i w z) with
/// known p <= 2 (prismatic joints on a path) and w in { sum n_c ratio_c, |n_c| <= 2 } (revolute
/// ones): a space of known dimension d. Functions z^p exp(i w z) are independent on any d equally
/// spaced points whose spacing is below pi / max|w| (their values are a confluent Vandermonde
/// matrix), so that rows at these d positions span what the rows at all positions span. What a
/// link shows depends on the coordinates of its own path only; product grids are needed along
/// paths, not across branches.
///
/// So nothing is sampled and nothing is estimated; what is numerical is the decision that a vector
/// lies in a space (kStructuralRounding), as in the recursion for independent joints. Ratios that
/// differ by less than 1e-9 are taken as equal.

#include <Eigen/Core>
#include <functional>
#include <string>

#include "proprio/dynamics/measurement.h"
#include "proprio/model/parameters.h"

namespace proprio::internal {

/// Empty, or why there are too many positions to compare.
std::string mimicConditionsObstacle(const Tree& tree);

/// All conditions as rows over the layout. Correct for trees without mimic joints, too (a second
/// route to the recursion, but slower).
/// @param progress  told the share that is done; may be empty
/// @throws Error with the obstacle.
Eigen::MatrixXd mimicConditions(const Tree& tree, const ParameterLayout& layout,
                                const MeasuredRows& measured,
                                const std::function<void(double)>& progress = {});

}  // namespace proprio::internal
