#pragma once

/// Drive gains: how much torque (N m at the joint) a unit of a recorded drive signal s stands for,
/// mostly a motor current in A. A motion alone cannot tell: torques and parameters that are all
/// twice as large explain the same signals. A payload of known mass can, recorded besides. With
/// Y the regressor of the robot's base parameters, Y_u that of what is not known about the payload
/// and k the torque of what is known about it (both zero in recordings without it),
///
///   g_j s_j = Y_j beta + Y_uj pi_u + k_j          for every joint j.
///
///   separate  joint by joint, the signal on the left, where its noise belongs: least squares of
///             s_j on [Y_j Y_uj k_j]; the last coefficient is 1 / g_j.
///   together  all joints, which share beta: the null vector (beta, pi_u, 1, -g) of
///             [Y Y_u k diag(s)], total least squares with noise in the signals and none in the
///             model's columns ("mixed"): the columns of the model are eliminated by QR, and the
///             smallest singular vector of what is left holds the gains. Rows are divided by g_j
///             and the noise of s_j, both from `separate`; joints that it does not decide stay out.
///
/// Noise in every column alike, as published, would not only depend on units: a parameter that
/// hardly shows gives a null vector of its own, and the gains are then anything.
/// Standard deviations count the memory of residuals (robust_covariance.h).
/// Limits: what the payload changes in friction is taken for its torque; the gain is constant.
/// Sources: Gautier and Briot 2014; Leboutet 2022, 5.3.5; Ramuzat 2022, 3.3 with the inertia that
/// is missing below eq. 3.9. References: L-09, R-19.

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "proprio/identification/measured_motions.h"
#include "proprio/identification/stacked_problem.h"

namespace proprio {

// ---- the mathematics, for any signals that are proportional to modelled torques ----

/// Rows of one signal: [columns of unknown parameters, known torque, signal], or a triangular
/// factor of them.
struct SignalRows {
  std::vector<int> columns;  ///< which unknowns; as many as `rows` has columns, less two
  Eigen::MatrixXd rows;
  Eigen::Index equations = 0;  ///< behind them
};

/// Its value at a row of signal j: columns . unknowns + known times the known torque + signals[j]
/// times the signal.
struct LinearForm {
  Eigen::VectorXd unknowns;
  double known = 0.0;
  Eigen::VectorXd signals;
};

struct GainSolution {
  bool solved = false;         ///< at least one gain
  Eigen::VectorXd gains;       ///< per signal; not a number where nothing decides it
  Eigen::VectorXd deviations;  ///< standard deviations for white noise
  /// The parameters, and their standard deviations for white noise; only where signals share them.
  Eigen::VectorXd unknowns, unknown_deviations;
  Eigen::VectorXd noise;              ///< standard deviation of each signal, in its unit
  std::vector<LinearForm> residuals;  ///< per signal, in its unit
  /// The error of gain i is the sum over the rows of all signals j of
  /// reach(i, j) times influences[i] times residuals[j].
  std::vector<LinearForm> influences;
  Eigen::MatrixXd reach;
};

/// @param unknowns  how many parameters there are
GainSolution separateGains(const std::vector<SignalRows>& signals, int unknowns);
/// @param first  of separateGains(); signals without a gain there stay out
GainSolution jointGains(const std::vector<SignalRows>& signals, int unknowns,
                        const GainSolution& first);

// ---- a robot and its recordings ----

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
  std::vector<DriveGain> together;  ///< the same joints; those that `separate` reveals
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
