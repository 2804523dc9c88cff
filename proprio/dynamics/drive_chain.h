#pragma once

/// The rigid chain from motor current to joint: what the drive has to supply, what a torque sensor
/// behind the gear feels, and what turns at the motor's shaft. Reflected to the joint, with rotor
/// inertia I_m (gear ratio squared times that of the motor), friction of motor and joint, gain g
/// (N m at the joint per A: gear ratio times torque constant) and r turns of the motor per turn of
/// the joint,
///
///   g i     = I_m a + M_links(q) a + C v + G + friction         (Ramuzat 2022, eq. 3.1, 3.3)
///   tau_s   = g i - I_m a - friction of the motor               (eq. 3.2: sensor behind the gear)
///   a       = M^-1 (g i - C v - G - friction)                   (eq. 3.4, 3.5: direct model)
///   shaft:    theta' = r v, torque g i / r, so that powers agree
///
/// Friction, springs and couplings as declared (joint_effects.h); a joint's friction terms are the
/// sum of motor and joint, as one current shows them. The offset has the sign of friction: it is a
/// torque that the drive has to supply (the source has both signs). Reference: R-13.

#include "proprio/dynamics/workspace.h"

namespace proprio {

/// Currents (drive units) that move the robot like this. Fixed base; mimic joints act on their
/// leader. Allocates.
/// @param q,v,a    sizes as documented in model/tree.h
/// @throws Error if the base floats, or a gain is zero.
Eigen::VectorXd driveCurrents(const Tree& tree, const Parameters& parameters, ConstVectorRef q,
                              ConstVectorRef v, ConstVectorRef a);

/// Accelerations under these currents: the inverse of driveCurrents() in a. Allocates.
Eigen::VectorXd accelerationsFromCurrents(const Tree& tree, const Parameters& parameters,
                                          ConstVectorRef q, ConstVectorRef v,
                                          ConstVectorRef currents);

/// Torques that sensors between gears and links feel, N m.
/// @param motor_friction  the part of each joint's friction torque that acts before its sensor, N m
Eigen::VectorXd sensorTorques(const Tree& tree, const Parameters& parameters, ConstVectorRef a,
                              ConstVectorRef currents, ConstVectorRef motor_friction);

/// At the shaft of the motor.
struct ShaftState {
  double position = 0.0, velocity = 0.0;  ///< rad, rad/s
  double torque = 0.0;                    ///< N m
};
/// @param q,v,current  of the joint
/// @throws Error if the gear ratio is zero.
ShaftState shaftState(const Drive& drive, double q, double v, double current);

}  // namespace proprio
