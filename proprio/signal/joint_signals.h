#pragma once

/// From a recording to what identification eats: positions, velocities, accelerations and torques
/// of the joints on one uniform time base, and which samples move.
///
///   recording -> [resample] -> [outliers] -> low-pass without phase -> differentiate
///             -> drop borders -> low-speed mask -> keep every n-th sample
///
/// Rows that are in no order of time are taken as they are (`as_recorded`).
/// Every step can be switched off or set; what was done, with which numbers and why, is told in
/// words (`steps`, `cutoffs`). Positions of each joint have the cut-off of that joint. Torques
/// have the highest of all: what a fast joint does shows in the torque of a slow one.
/// References: L-15, L-16 (C7), A-22, A-23 (filter = false), R-17, T-42, T-43.

#include <Eigen/Core>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proprio/recording/recording.h"
#include "proprio/signal/bandwidth.h"
#include "proprio/signal/conditioning.h"
#include "proprio/signal/friction_direction.h"
#include "proprio/signal/sampling.h"

namespace proprio {

enum class DerivativeMethod {
  kCentral,        ///< three neighbours (A-22)
  kCentralTwice,   ///< central difference of the central difference (L-15)
  kBackward,       ///< what an online loop has; delays
  kSavitzkyGolay,  ///< order 3; smooths too, so that positions are not filtered besides (T-42)
  kAdaptive,       ///< adaptive windows on unfiltered positions; delays (T-43)
  kFourier         ///< the recording is whole periods; harmonics up to the cut-off (L-17)
};

enum class VelocitySource { kPositions, kMeasured };

enum class DecimationMode {
  kNone,
  kSubsample,  ///< keep every n-th sample; the low-pass before it prevents aliases
  kParallel    ///< all samples stay; parallel_ratio tells how to decimate W and tau (L-16)
};

struct JointSignalOptions {
  std::vector<std::string> joints;          ///< empty: every joint that has a position channel
  Role role = Role::kMeasured;              ///< or truth of a simulator, or commands
  bool require_torque = true;               ///< otherwise tau is empty where a joint has none
  double rate_hz = 0.0;                     ///< of a recording without time stamps
  std::optional<ResampleOptions> resample;  ///< empty: stamps must be uniform
  int hampel_window = 0;                    ///< samples, odd; 0: outliers are left
  double hampel_deviations = 4.0;
  bool filter = true;   ///< false: differentiate and decimate only ("NF")
  bool causal = false;  ///< forward only: delays and biases, for comparison
  int order = 4;
  std::vector<double> cutoff_hz;  ///< empty: from the joint's spectrum; one for all, or per joint
  bool filter_torque = true;
  /// Further channels, by name: of sensors, say. They are filtered as torques are.
  std::vector<std::string> channels;
  DerivativeMethod derivative = DerivativeMethod::kCentral;
  int window = 0;  ///< samples of Savitzky-Golay (odd) or longest adaptive one; 0: from the cut-off
  double noise_band = 0.0;  ///< of adaptive windows; 0: three deviations of the noise found
  VelocitySource velocity = VelocitySource::kPositions;
  /// Every row is a state of its own, in any order: velocities and accelerations as recorded,
  /// nothing filtered, differentiated, dropped or thinned out.
  bool as_recorded = false;
  /// Every row is a posture in which the robot rests: as before, with velocities and accelerations
  /// of zero whatever is recorded. All rows count; torques show gravity, springs and offsets.
  bool at_rest = false;
  DecimationMode decimation = DecimationMode::kSubsample;
  /// 0: ratio rule; ten times the bandwidth, or the cut-off. Given: cut-offs that are chosen stay
  /// below 0.4 of it.
  double decimated_rate_hz = 0.0;
  Eigen::Index trim = -1;         ///< samples at each border; -1: 2.5 periods of the lowest cut-off
  std::vector<double> low_speed;  ///< empty: 1 % of the joint's speed; one for all, or per joint
};

struct JointSignals {
  std::string source;  ///< of the recording
  std::vector<std::string> joints;
  Eigen::VectorXd time;          ///< s
  Eigen::MatrixXd q, v, a, tau;  ///< row = sample, column = joint; tau without columns if none
  /// sign(v) through the filter of the torques, which turned steps of dry friction into ramps;
  /// without columns if torques were not filtered.
  Eigen::MatrixXd sign;
  /// What `sign` would have besides if friction turned only kPresliding after the joint did.
  Eigen::MatrixXd late;
  /// What `channels` of the options named, one column each, and its derivative in time.
  Eigen::MatrixXd channels, channel_rates;
  /// Standard deviations of q, v and a (columns) per joint (rows) that white noise of the encoders
  /// leaves after filter and differences; without rows if it is not known.
  Eigen::MatrixXd noise;
  /// |v| above low_speed, no reversal beside it, and not `mixed`.
  Mask moving;
  /// Fast samples, but the filter of the torques mixes slow ones into them (friction_direction.h);
  /// without columns as `sign`.
  Mask mixed;
  Eigen::VectorXd low_speed;          ///< thresholds used
  std::vector<CutoffChoice> cutoffs;  ///< per joint, with reasons; cut-off 0 if not filtered
  double recorded_rate_hz = 0.0;
  double rate_hz = 0.0;            ///< of the rows here
  int decimation = 1;              ///< recorded rows per row here
  int parallel_ratio = 1;          ///< what is left to do to W and tau (decimate(), decimation.h)
  std::vector<std::string> steps;  ///< what was done, in order
  /// Options that do the same to another recording of these joints at recorded_rate_hz, before rows
  /// are dropped and thinned out: cut-offs and low speeds as they were chosen. Null where what was
  /// done depends on the recording as a whole (Fourier, adaptive windows, rows as recorded).
  std::shared_ptr<const JointSignalOptions> same;
};

/// @throws Error that names source and channel: channels that are not there or not in SI units,
/// values that are not numbers, time stamps that are not uniform (with the jitter found and what
/// to pass), gaps, too few samples, options that do not fit.
JointSignals jointSignals(const Recording& recording, const JointSignalOptions& options = {});

/// "central", "central twice", ...
const char* toString(DerivativeMethod method);

}  // namespace proprio
