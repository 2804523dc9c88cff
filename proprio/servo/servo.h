#pragma once

/// Joint servos: torque commands from a reference and a measured position.
///
/// The velocity is the discrete derivative of the measured (noisy, quantised, late) position y,
///   v_k = v_{k-1} + alpha ((y_k - y_{k-1}) rate - v_{k-1}),  alpha = 1 - exp(-2 pi filter / rate)
/// with alpha = 1 where there is no filter. With e = q_ref - y:
///   pid              u = kp e + kd (v_ref - v) + I,             I' = ki e
///   cascade          w = sat(v_ref + kp e),  u = kd (w - v) + I, I' = ki (w - v)
///   computed torque  acceleration  a_ref + kp e + kd (v_ref - v) + I, I' = ki e, which
///                    computed_torque.h turns into a torque
/// and for the first two tau = gain u + tau_ff, with gain the drive's N m per unit. References are
/// saturated at the position and velocity limits, torques at the torque limit. Anti-windup:
/// |I| <= integral_limit, and I rests while the torque is saturated and would grow further.
/// Source: Leboutet 2022 eq. 12 and 5.3.5 (L-08); Ardiani 2023 App. D (cascade).
///
/// Everything is elementwise: an entry is a joint of one robot, or a joint of one of several robots
/// that are simulated side by side. Real-time.

#include "proprio/dynamics/workspace.h"

namespace proprio {

/// Gains and limits, one entry per velocity coordinate; coordinates without a drive have zeros.
struct Servo {
  ControlKind kind = ControlKind::kPid;
  FeedForward feed_forward = FeedForward::kNone;
  double rate = 5000.0;                          ///< Hz
  double velocity_filter = kNotStated;           ///< Hz
  Eigen::VectorXd kp, ki, kd;                    ///< units: see robot.yaml, joint_control
  Eigen::VectorXd gain;                          ///< N m per drive unit
  Eigen::VectorXd integral_limit;                ///< infinite where there is none, as below
  Eigen::VectorXd lower, upper, velocity_limit;  ///< of the reference
  Eigen::VectorXd torque_limit;
  std::vector<std::string> automatic;  ///< joints whose gains nobody declared
  Parameters model;  ///< of feed-forward and computed torque; may differ from the robot's
};

/// All entries with zero gains and without limits.
Servo idleServo(Eigen::Index entries);

struct ServoState {
  Eigen::VectorXd position, velocity, integral;
};

/// As if the joints had arrived at `position` with `velocity`.
void resetServo(const Servo& servo, ConstVectorRef position, ConstVectorRef velocity,
                ServoState* state);

struct ServoReference {
  const double* q;
  const double* v;
  const double* a;
  const double* torque;  ///< feed-forward, N m
};

/// One control period. @param command  torque, N m; for computed torque: acceleration.
void servoStep(const Servo& servo, const ServoReference& reference, ConstVectorRef measured,
               ServoState* state, VectorRef command);

/// The servos of several robots, entry i of robot r at i * robots + r. They share kind, rate and
/// filter. @throws Error if they do not.
Servo interleaved(const std::vector<const Servo*>& servos);

}  // namespace proprio
