#pragma once

/// How a robot moves when nobody drives it: gravity, viscous friction and springs as declared, zero
/// torque otherwise; a free base falls. Joint limits, contacts, Coulomb friction, couplings,
/// elastic drives and bristles are left out (closed_loop.h has them all but the first).
///
///   M(q) a = -C(q, v) v - G(q) - tau_viscous(v) - tau_spring(q)
///
/// integrated with the classical Runge-Kutta method of order 4; quaternions are normalised after
/// each step. Beside it runs the energy balance: kinetic + potential + spring energy + dissipated
/// work is constant, so its drift measures the error of integration and dynamics together
/// (O(step^4)).

#include <string>
#include <vector>

#include "proprio/model/parameters.h"
#include "proprio/recording/state_table.h"

namespace proprio {

struct FreeMotionOptions {
  double seconds = 2.0;
  double step = 0.001;     ///< s
  double interval = 0.01;  ///< s between the samples that are kept
};

struct FreeMotion {
  StateTable states;           ///< time, q, v, a
  Eigen::VectorXd energy;      ///< J per sample: kinetic + potential + springs
  Eigen::VectorXd lost;        ///< J per sample: work done against viscous friction so far
  double largest_drift = 0;    ///< J: largest |energy + lost - energy at the start|
  double largest_kinetic = 0;  ///< J: what the drift is compared with
};

/// @param q,v  the start. @throws Error if a time is not positive, or the motion is no longer
/// finite (then says when).
FreeMotion freeMotion(const Tree& tree, const Parameters& parameters, const Eigen::VectorXd& q,
                      const Eigen::VectorXd& v, const FreeMotionOptions& options = {});

/// What this model declares and freeMotion() leaves out, such as "elasticity of elbow, wrist".
std::vector<std::string> leftOutOfFreeMotion(const Model& model);

/// Time derivative of the positions q for velocities v (quaternions included).
Eigen::VectorXd positionRate(const Tree& tree, const Eigen::VectorXd& q, const Eigen::VectorXd& v);

}  // namespace proprio
