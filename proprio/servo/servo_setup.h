#pragma once

/// The servo that a model declares. Joints without gains get automatic ones, critically damped at
/// the bandwidth f of Control with the diagonal of the mass matrix (rotors included) at the start:
///   pid              kp = M_ii w^2 / gain, kd = 2 M_ii w / gain,  w = 2 pi f
///   cascade          kp = w, kd = 4 M_ii w / gain   (velocity loop four times as fast)
///   computed torque  kp = w^2, kd = 2 w
/// Limits: positions and velocities of the joint; torque: the smaller of effort and torque_limit.

#include "proprio/servo/servo.h"

namespace proprio {

/// @param model  parameters for automatic gains, feed-forward and computed torque
/// @param q      start of the motion, tree.positionCount()
/// @throws Error if control or a limit makes no sense; it names the joint.
Servo declaredServo(const Tree& tree, const Parameters& model, const Control& control,
                    ConstVectorRef q);

}  // namespace proprio
