#pragma once

/// Gains of signals that are proportional to modelled torques, from rows
///
///   g_j s_j = A_j x + k_j          for every signal j
///
/// with unknown parameters x, a torque k that is known, and noise in s (drive_gains.h says where
/// such rows come from).
///
///   separate  signal by signal, s on the left, where its noise belongs: least squares of s_j on
///             [A_j k_j]; the last coefficient is 1 / g_j.
///   joint     all signals, which share x. First the null vector (x, 1, -g) of [A k diag(s)], total
///             least squares with noise in the signals and none in the model's columns ("mixed"):
///             these are eliminated by QR, and the smallest singular vector of what is left holds
///             the gains. Rows are divided by g_j and the noise of s_j of an estimate before. Then
///             Gauss-Newton on |s_j - (A_j x + k_j) / g_j|^2 / noise_j^2, because total least
///             squares pools the noise of all signals and is not efficient where they differ.
///
/// Noise in every column alike, as published, would not only depend on units: a parameter that
/// hardly shows gives a null vector of its own, and the gains are then anything.
/// Sources: Gautier and Briot 2014; Golub, Hoffman and Stewart 1987 (mixed least squares); Leboutet
/// 2022, 5.3.5; Ramuzat 2022, 3.3 with the inertia that is missing below eq. 3.9. References: L-09,
///

#include <Eigen/Core>
#include <vector>

namespace proprio {

/// Rows of one signal: [columns of unknown parameters, known torque, signal], or a triangular
/// factor of them.
struct SignalRows {
  std::vector<int> columns;  ///< which unknowns; as many as `rows` has columns, less two
  Eigen::MatrixXd rows;
  Eigen::Index equations = 0;  ///< behind them
};

/// Its value at a row: columns . unknowns + known times the known torque.
struct LinearForm {
  Eigen::VectorXd unknowns;
  double known = 0.0;
};

struct GainSolution {
  /// separate: there is a gain; joint: every signal that took part has one.
  bool solved = false;
  Eigen::VectorXd gains;       ///< per signal; not a number where nothing decides it
  Eigen::VectorXd deviations;  ///< standard deviations for white noise
  /// The parameters, and their standard deviations for white noise; only where signals share them.
  Eigen::VectorXd unknowns, unknown_deviations;
  Eigen::VectorXd noise;           ///< standard deviation of each signal, in its unit
  std::vector<LinearForm> fitted;  ///< per signal: what the model says it is
  /// The error of gain i is the sum over the rows of all signals j of (signal - fitted) times
  ///   reach(i, j) influences[i] + echo(i, j) fitted[j].
  std::vector<LinearForm> influences;
  Eigen::MatrixXd reach, echo;
};

/// @param unknowns  how many parameters there are
GainSolution separateGains(const std::vector<SignalRows>& signals, int unknowns);
/// @param first  of separateGains(); signals without a gain there stay out
GainSolution jointGains(const std::vector<SignalRows>& signals, int unknowns,
                        const GainSolution& first);

}  // namespace proprio
