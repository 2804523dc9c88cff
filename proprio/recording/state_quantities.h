#pragma once

/// Everything that a model says about given states, as columns of a table: the way to compare it
/// with anything else. J, K are joints (coordinates as in state_table.h), L links and frames:
///   tau           tau_J, base_fx ...   torque that the drive supplies: rigid bodies, rotors,
///                                      friction, springs, couplings, less `external`
///   rigid         rigid_J              rigid bodies and rotors only
///   effects       effects_J            friction, springs and couplings only
///   external      external_J           J^T f: what the external wrenches of the table exert
///   gravity       gravity_J            G(q)
///   bias          bias_J               C(q, v) v + G(q)
///   M             M_J_K                mass matrix with rotors and what couplings declare to
///                                      multiply accelerations, row J, column K
///   C             C_J_K                Coriolis matrix: C v + G = bias, dM/dt - 2 C skew-symmetric
///   acceleration  acceleration_J       forward dynamics of the torques tau_J and the external
///                                      wrenches of the table
///   poses         L_x ... L_qw         links and frames in the world
///   com           com_x com_y com_z    centre of mass in the world
///   momentum      momentum_x ... z,    linear momentum, and angular momentum about the centre of
///                 spin_x ... z         mass, in world axes
///   energy        kinetic, potential   J, potential zero at the world origin
///   regressor     Y_J_P                torque per unit of parameter P (model/parameters.h)
/// tau = M a + bias + effects at zero acceleration - external.
/// In the names of rigid, effects, external, gravity, bias, acceleration, M, C and Y a free base's
/// coordinates are base_fx base_fy base_fz base_tx base_ty base_tz.

#include <string>
#include <vector>

#include "proprio/model/parameters.h"
#include "proprio/recording/state_table.h"

namespace proprio {

/// All names above, in this order.
const std::vector<std::string>& quantityNames();

/// A table with `time` if the states have it, then the quantities in the order given.
/// @throws Error for an unknown quantity, for accelerations without torques and `external` without
/// wrenches in the states, or where the mass matrix is singular (massless links at the end of a
/// chain).
CsvTable stateQuantities(const Tree& tree, const Parameters& parameters, const StateTable& states,
                         const std::vector<std::string>& quantities);

}  // namespace proprio
