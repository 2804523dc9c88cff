#pragma once

/// How a robot moves when nobody drives it: gravity, friction, springs, couplings and elastic
/// drives as declared (the plant of closed_loop.h with drive torques of zero), payloads, pushes and
/// half-spaces as given; a free base falls. Rotors of flexible joints start with their links and a
/// relaxed elasticity. Joint limits are left out.
///
/// Classical Runge-Kutta method of order 4; quaternions are normalised after each step, and steps
/// end where a payload or push begins or ends. Beside it runs the energy balance
///   energy + lost = energy at the start + outside + carried
/// whose drift measures the error of integration and dynamics together (O(step^4); O(step) where a
/// contact begins). A payload is
/// taken with the velocity of its link and left with it; the energy that comes and goes with it is
/// `carried`. Bristles and half-spaces count what they store as lost or as negative work until they
/// give it back.

#include <string>
#include <vector>

#include "proprio/recording/state_table.h"
#include "proprio/simulation/closed_loop.h"

namespace proprio {

struct FreeMotionOptions {
  double seconds = 2.0;
  double step = 0.001;       ///< s; less where friction, drives or contacts need it at the start
  double interval = 0.01;    ///< s between the samples that are kept
  double sign_gain = 100.0;  ///< s/rad; sign(v) is tanh(signGain() v)
  std::vector<PayloadChange> payloads = {};  ///< those of one time in this order
  Surroundings surroundings = {};
};

struct FreeMotion {
  StateTable states;         ///< time, q, v, a
  Eigen::VectorXd energy;    ///< J per sample: kinetic + potential + springs + elastic drives
  Eigen::VectorXd lost;      ///< J per sample: to friction, couplings and damping of drives so far
  Eigen::VectorXd outside;   ///< J per sample: work of pushes and contacts so far
  Eigen::VectorXd carried;   ///< J per sample: energy that came with payloads so far
  double largest_drift = 0;  ///< J: largest error of the balance
  double largest_kinetic = 0;  ///< J: what the drift is compared with
  double step = 0;             ///< s: the longest that was taken
};

/// @param q,v  the start. @throws Error if a time is not positive, payloads and surroundings do not
/// fit, or the motion is no longer finite (then says when).
FreeMotion freeMotion(const Tree& tree, const Parameters& parameters, const Eigen::VectorXd& q,
                      const Eigen::VectorXd& v, const FreeMotionOptions& options = {});

}  // namespace proprio
