#pragma once

/// The recorded motions once more, without noise: the robot with estimated parameters follows the
/// commanded motion under the servo that the model declares. What methods with instruments and
/// methods that compare torques along a simulated motion need.
///
/// Parameters need not be possible. What is simulated is prior + share (chi - prior) with the
/// largest share <= 1 for which the mass matrix along the commanded motion keeps at least 2 % of
/// the prior's in every direction, and with dissipative friction coefficients not below zero; half
/// the share, and again, if the simulated loop runs away.
///
/// Gains: declared ones as they are; of joints without declared gains those of servo_setup.h for
/// the simulated inertia, so that the simulated loop keeps its bandwidth whatever the estimate is.
/// With `rescale` declared ones, too: K_sim,j = K_j M_jj / M_jj,prior at the start of the motion.
/// Source: Ardiani 2023 1.16, Janot 2014 (gain scaling). References: L-22, A-31.

#include <string>
#include <vector>

#include "proprio/identification/method.h"

namespace proprio {

struct SimulatedMotions {
  /// At the time stamps of the recordings, with their torques, and through the filters that the
  /// recordings went through (MotionData::treatment), so that what these do to a motion is on both
  /// sides. Rows of joints whose friction jumps at rest do not count where the simulated joint is
  /// too slow (without filters: for the smooth sign of the simulator).
  std::vector<MotionData> data;
  std::vector<Eigen::MatrixXd> torques;  ///< of the simulated servo, like MotionData::tau
  double share = 1.0;                    ///< of the way from the prior to chi that was simulated
  std::string failure;                   ///< why there is no motion, in a sentence; empty: there is
};

/// All recordings at once, in SIMD lanes and on all cores.
SimulatedMotions simulateMotions(const IdentificationProblem& problem, const Eigen::VectorXd& chi,
                                 bool rescale = false);

/// The same for many robots, each exactly as given: without a share, and with a failure where one
/// cannot be simulated.
std::vector<SimulatedMotions> simulateMotionsOf(const IdentificationProblem& problem,
                                                const std::vector<Eigen::VectorXd>& chis,
                                                bool rescale = false);

/// The commanded motions at the time stamps of the recordings, with their torques and rows.
std::vector<MotionData> commandedMotions(const IdentificationProblem& problem);

/// @throws Error that names the first recording without a complete commanded motion, or with
/// samples outside of it.
void requireReferences(const IdentificationProblem& problem);

/// Joints whose servo gains nobody declared.
std::vector<std::string> jointsWithoutGains(const IdentificationProblem& problem);

}  // namespace proprio
