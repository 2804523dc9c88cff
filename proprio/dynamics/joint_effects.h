#pragma once

/// What acts at the joints besides rigid bodies: friction, springs and declared couplings, linear
/// in their parameters. In the torque row of the joint, with q, v, a of that joint:
///   friction term   coefficient * basis(v)                        model/friction.h
///   spring          stiffness * q + preload                       preload = -stiffness * rest
///   coupling        value * sum over its terms of signal(sum_k weights[k] x[joints[k]])
///   rotor inertia   rotor_inertia * a                             already part of inverseDynamics
/// A mimic joint q = ratio * q_leader + offset acts on the row of its leader, times ratio.
/// These are torques that the drive has to supply: they add to inverse dynamics. Friction with a
/// state (LuGre, Dahl, Leuven) belongs to simulation and is not included.
/// Sources: Ardiani 2023 ch. 1, friction and drives, Leboutet 2022 eq. 155 and 223
/// (L-07).
///
/// Real-time.

#include "proprio/dynamics/workspace.h"

namespace proprio {

/// tau += friction + springs + couplings (without rotor inertia).
/// @param q,v,a,tau  sizes as documented in model/tree.h
void addJointEffects(const Tree& tree, const Parameters& parameters, ConstVectorRef q,
                     ConstVectorRef v, ConstVectorRef a, VectorRef tau);

/// M += the part of the couplings that multiplies accelerations, so that
/// M a holds all torques that are linear in a. Not symmetric if the declared columns are not.
void addCouplingInertia(const Tree& tree, const Parameters& parameters, MatrixRef M);

/// The columns of everything above, rotor inertia included: tau = columns * parameters.
/// @param columns  velocityCount() x (layout.size() - layout.inertialSize()); filled whole.
void jointEffectColumns(const Tree& tree, const ParameterLayout& layout, ConstVectorRef q,
                        ConstVectorRef v, ConstVectorRef a, MatrixRef columns);

}  // namespace proprio
