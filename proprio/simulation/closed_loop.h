#pragma once

/// A robot under its joint servos, as a recording would show it.
///
/// Three rates: physics >= control >= samples. In every control period the encoders are read
/// (noise, quantisation, latency), the servo (servo/servo.h) computes torques from what it was
/// told, these reach the drives (latency, saturation) and stay constant while the equations of
/// motion are integrated by a Runge-Kutta method of order 1, 2 or 4 with fixed step. Noise of the
/// recorded torque is added to the sample only. Plant: rigid or flexible joints, rotors, every
/// friction model of model/friction.h (sign(v) is tanh(signGain() v), as in the published
/// benchmark), springs, couplings, payloads that change, wrenches and contacts.
///
/// Step size: explicit methods need h * (fastest rate) below about 2.5 (RK4). Unless the physics
/// rate is given, it is the smallest multiple of the control rate that respects this for smooth
/// signs, bristles, drive elasticity and contacts at the start of the motion.
///
/// Random numbers depend on seed, joint and sample only, so that a run is the same alone, in any
/// batch, lane and thread. Source: Leboutet 2022, 5.2.3 (L-10); errata: noise in degrees there.

#include <cstdint>
#include <functional>
#include <memory>

#include "proprio/motion/trajectory.h"
#include "proprio/recording/recording.h"
#include "proprio/servo/servo.h"
#include "proprio/simulation/contact.h"

namespace proprio {

enum class Integrator { kRk1, kRk2, kRk4 };

/// From `time` on the link carries this besides itself; replaces what it carried before.
struct PayloadChange {
  double time = 0.0;
  int link = -1;
  InertialParameters payload;  ///< in the link frame; zero: set down
};

/// What friction may depend on besides the velocity: temperature as a function of the time,
/// load, position.
struct FrictionConditions {
  int coordinate = 0;                     ///< velocity index of the joint
  double time = 0.0;                      ///< s, of the control period
  double position = 0.0, velocity = 0.0;  ///< rad, rad/s (m, m/s)
  double load = 0.0;                      ///< torque of the drive (of the elasticity), N m (N)
};

struct ClosedLoopOptions {
  double physics_rate = 0.0;    ///< Hz, a multiple of the servo's rate; 0: see above
  double sample_rate = 1000.0;  ///< Hz, a divisor of the servo's rate
  Integrator integrator = Integrator::kRk4;
  /// Of encoders, rad (m): standard deviation and step. Joints of a declared transmission without
  /// a declared encoder are measured at its motors, q_motor = T q, and these numbers are then the
  /// motors'.
  double encoder_noise = 0.0;        ///< standard deviation, rad (m)
  double quantisation = 0.0;         ///< step of the encoders, rad (m)
  double torque_noise = 0.0;         ///< standard deviation of the recorded torque, N m (N)
  double measurement_latency = 0.0;  ///< s until a position is known; rounded to control periods
  double command_latency = 0.0;      ///< s until a torque acts; rounded to control periods
  bool encoders_on_links = false;    ///< of flexible joints; else on their motors
  double sign_gain = 100.0;          ///< s/rad; ten times as many s/m (servo/computed_torque.h)
  std::uint64_t seed = 1;
  std::vector<PayloadChange> payloads;
  /// All friction of a joint is multiplied by this; none: 1. Called at every evaluation, from one
  /// thread per run. Steps are chosen for a factor of 1, so it should be of that order.
  std::function<double(const FrictionConditions&)> friction_factor;
  Surroundings surroundings;
  Vector3d magnetic_field = Vector3d(2.0e-5, 0.0, -4.4e-5);  ///< T, in the world
  bool sensors = true;                                       ///< record the sensors of the model
  bool truth = true;                                         ///< record what only a simulator knows
  bool check_limits = true;  ///< refuse references outside the limits, stop unstable runs
};

/// One run. Joints that the reference does not name hold still at zero (or at their nearest
/// position limit).
struct ClosedLoopRun {
  Parameters plant;
  Servo servo;
  std::shared_ptr<const MotionSamples> reference;  ///< at any rate; between samples quintic
  ClosedLoopOptions options;
};

struct JointSummary {
  std::string joint;
  double tracking_rms = 0.0, tracking_peak = 0.0;  ///< of the true position, rad
  double torque_rms = 0.0, torque_peak = 0.0;      ///< that acted, N m
  /// rms of what the encoder adds (noise, steps, bias), not of elasticity and latency, rad
  double position_noise = 0.0;
  double torque_noise = 0.0;  ///< rms of recorded minus true torque
  double saturated = 0.0;     ///< share of the control periods with the torque at its limit
  int reversals = 0;          ///< changes from one torque limit to the other
};

/// Channels are named as in recording/signal_names.h. Per joint J:
///   q_J v_J tau_J                 measured: encoder, its derivative in the drive, torque
///   q_des_J v_des_J tau_des_J     commanded
///   q_true_J v_true_J a_true_J tau_true_J friction_true_J, motor_true_J where flexible
/// (true_base_x ... of a free base), and what the sensors of the model read.
struct ClosedLoopResult {
  Recording recording;
  std::vector<JointSummary> joints;
  double physics_rate = 0.0;  ///< Hz
  std::string failure;        ///< why the run stopped, with joint and time; empty: it did not
};

/// @throws Error if something does not fit together, the reference leaves the limits, the robot
/// does while it moves or swings between its torque limits (unstable servo; see
/// saturation_watch_internal.h): then it names joint, time and reason.
ClosedLoopResult simulateClosedLoop(const Tree& tree, const ClosedLoopRun& run);

/// Many runs of one robot, in SIMD lanes (mimic joints, free bases, couplings of accelerations and
/// surroundings: one by one) and on all cores. Runs that stop say so in `failure`; bad input
/// throws. Each result is the same, bit for bit, whatever else runs with it.
std::vector<ClosedLoopResult> simulateClosedLoops(const Tree& tree,
                                                  const std::vector<ClosedLoopRun>& runs);

}  // namespace proprio
