#pragma once

/// Drive gains: how much torque (N m at the joint) a unit of a recorded drive signal s stands for,
/// mostly a motor current in A. A motion alone cannot tell: torques and parameters that are all
/// twice as large explain the same signals. A payload of known mass can, recorded besides. With
/// Y the regressor of the robot's base parameters, Y_u that of what is not known about the payload
/// and k the torque of what is known about it (both zero in recordings without it),
///
///   g_j s_j = Y_j beta + Y_uj pi_u + k_j          for every joint j
///
/// is solved joint by joint (`separate`, least squares) and for all joints, which share beta
/// (`together`, total least squares): signal_gains.h. Joints that are not revealed by themselves
/// take part where the others reveal them.
///
/// Standard deviations count the memory of residuals (robust_covariance.h).
/// Limits: what the payload changes in friction is taken for its torque; the gain is constant.
/// References: L-09, R-19.

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "proprio/identification/measured_motions.h"
#include "proprio/identification/signal_gains.h"
#include "proprio/identification/stacked_problem.h"

namespace proprio {

struct KnownPayload {
  std::string link;         ///< or frame that carries it
  Pose X_LP;                ///< of the payload's frame
  InertialParameters body;  ///< in that frame
  /// False: only mass and centre are known, and the inertia about it is estimated besides.
  bool inertia_known = true;
};

struct GainProblem {
  std::shared_ptr<const Tree> tree;  ///< with the payload as its last link, framed at its centre
  std::shared_ptr<const ParameterLayout> layout;
  std::vector<MotionData> data;  ///< tau: drive signals
  std::vector<bool> loaded;      ///< per recording
  std::vector<int> unknowns;     ///< parameters of the layout
  Eigen::VectorXd known;         ///< what is known of the payload, in the layout
  std::vector<SignalRows> signals;
};

/// @param free, loaded  recordings without and with the payload, in the coordinates of the model's
///                      own tree
/// @throws Error if one kind is missing, or the payload has no mass or a link that does not exist.
GainProblem gainProblem(const Model& model, const KnownPayload& payload,
                        std::vector<MotionData> free, std::vector<MotionData> loaded);

/// A standard deviation above this part of the gain says that the payload does not reveal it.
constexpr double kRevealedGain = 0.1;

struct DriveGain {
  std::string joint;
  double gain = NAN;            ///< N m (N) at the joint per unit of the signal
  double deviation = NAN;       ///< standard deviation, memory of residuals included
  double noise = NAN;           ///< of the signal, rms of what the model does not explain
  double payload_torque = 0.0;  ///< rms of the known torque where it is carried, N m
  Eigen::Index rows = 0;
  bool revealed() const { return deviation <= kRevealedGain * std::abs(gain); }
};

struct DriveGains {
  std::vector<DriveGain> separate;  ///< every joint with a coordinate of its own
  std::vector<DriveGain> together;  ///< the same joints; not a number where nothing reveals it
  bool solved = false;              ///< of `together`
};
DriveGains driveGains(const GainProblem& problem);

struct GainOptions {
  std::vector<std::string> logs, loaded;  ///< files or folders
  JointSignalOptions signals;
  bool as_declared = false;  ///< else joints without declared friction get it (usual_terms.h)
};

struct GainResult {
  DriveGains gains;
  std::vector<std::string> told;
};

/// Reads the recordings, takes their currents for torques of unknown scale, and finds the gains.
/// @throws Error that names recording, joint or option; if no current is recorded.
GainResult identifyDriveGains(const Model& model, const KnownPayload& payload,
                              const GainOptions& options);

}  // namespace proprio
