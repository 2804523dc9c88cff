#pragma once

/// Names of channels from what they are, and back. Per joint J:
///   q_J v_J a_J tau_J i_J temp_J     position, velocity, acceleration, torque, current,
///   temperature q_des_J ..., q_true_J ...        commanded; what only a simulator knows tau_ext_J,
///   f_ext_S_x ...         external: what the surroundings do to the robot
/// and per sensor S, with the component at the end:
///   f_S_x m_S_x                      force and moment
///   acc_S_x gyro_S_x mag_S_x         accelerometer, gyroscope, magnetometer
///   quat_S_x ... quat_S_w            orientation
///   contact_S                        contact, or contact_S_3 of cell 3
/// The names of joint states are those of state_table.h.

#include <string>
#include <vector>

#include "proprio/recording/recording.h"

namespace proprio {

/// The name of such a channel; empty for Quantity::kOther. Followed by channelNamed() it is the
/// identity unless a joint is called des_..., true_... or ext_...
std::string signalName(Quantity quantity, Role role, const std::string& of,
                       const std::string& component = "");

/// A channel of that name, with quantity, role, joint or sensor and component where the name
/// follows the rules above, and of Quantity::kOther where it does not.
Channel channelNamed(const std::string& name);

/// Components of a quantity: none for those of joints, x y z, or x y z w.
std::vector<std::string> componentsOf(Quantity quantity);
/// Does this quantity belong to a joint (not to a sensor)?
bool belongsToJoint(Quantity quantity);

}  // namespace proprio
