#pragma once

/// Base parameters of the structure itself: exact, without any sampled state.
///
/// A change of parameters is invisible in a torque row if the row vanishes for all q, v, a. By
/// Lagrange's equations the row of joint j vanishes identically if and only if the kinetic energy T
/// of the links beyond it depends neither on v_j nor on q_j, and their potential energy not on q_j.
/// Both can be decided link by link, because all that matters of the rest of the robot is a few
/// small linear spaces, which are carried along the tree:
///
///   V  span of the velocities that a body can have                     (subspace of R^6)
///   P  span of the rows e(u), u such a velocity, with u^T M u = e(u) pi  (subspace of R^10)
///   G  span of the directions that gravity can have in body axes       (subspace of R^3)
///
/// Moving through a joint with twist S multiplies them by exp(q S); the span over all q is the
/// smallest space that contains them and is invariant under the generator of S: "Krylov space".
/// The rows D that joint j's torque can show on the inertia of the body behind it are
///   D = { S^T M u : u in V } + { row of P times generator } + { S^T M (g, 0) : g in G },
/// and what is left of a row further out, behind joint c, is what changes with q_c and v_c.
/// All links are referred to one pose, so that each condition is a row on "composite" parameters.
/// Rotor inertias, offsets and couplings share the features a_k and 1 with the rigid bodies and are
/// treated jointly with them; all other friction features are compared symbolically.
///
/// Supports trees with revolute, prismatic, planar, fixed and floating joints, fixed and floating
/// base, any choice of measured torques and wrenches. Joints that mimic others are not independent
/// of them; trees that have any are analysed in the free coordinates, with the rows of all links at
/// once, in mimic_conditions_internal.h. Not supported: mimic joints in numbers and ratios that
/// need more than 2000 positions to be told apart (four followers of one leader on one path, with
/// ratios that have nothing in common): use sampled_identifiability.h.
///
/// Source: Wensing, Niemeyer and Slotine 2024, "A geometric characterization of observability in
/// inertial parameter identification"; extended here to chosen rows, wrenches and the exact product
/// space P. Counts: Traversaro 2017 section 7 (T-75 to T-77).

#include "proprio/dynamics/base_parameters.h"
#include "proprio/dynamics/measurement.h"

namespace proprio {

/// Empty if the method applies to this model, else the reason why not.
std::string structuralAnalysisObstacle(const Tree& tree);

/// @throws Error with that reason.
BaseParameters structuralBaseParameters(const Tree& tree,
                                        std::shared_ptr<const ParameterLayout> layout,
                                        const Measurement& measurement = {},
                                        const ReductionOptions& options = {});

}  // namespace proprio
