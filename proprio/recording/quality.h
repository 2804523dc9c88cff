#pragma once

/// What is wrong, or remarkable, with a recording: time stamps, missing values, channels that stand
/// still or hit a limit, spikes, resolution, and the delay between torques and positions. Findings
/// are values; nothing is ever repaired here.
///
/// Definitions, with dt the median of the positive steps between time stamps:
///   gap          a step above 2.5 dt, so that at least two samples are missing
///   jitter       standard deviation of the steps that are no gaps, divided by dt
///   frozen       the longest run of samples that are exactly equal
///   saturated    samples that equal the largest (smallest) value in runs of 5 or more inside the
///                recording, if they are 5 times as many as those just below (above) it
///   spike        one to three samples off the line through the samples beside them by more than
///                12 robust standard deviations (of single samples from the line through their
///                neighbours), and by four times what that line misses of the next samples on
///                either side; where a channel has some, also those that are so close that one
///                hides the other, and those at its ends; where more than 2 % of the samples are,
///                it is noise
///   step         of quantisation: nearly all differences of the values are multiples of it
///
/// Delay: the recorded torque is tau(t - d) of a motion q(t), d > 0 if torques come late. Positions
/// and torques go through one smooth kernel. For every joint the torques at t + d are fitted by
/// least squares, with the regressor of the robot where one is given and all of its joints are
/// recorded (dynamics/augmented_regressor.h) and [qdd, qd, sign(qd), 1] of its own besides, else
/// with [qdd, sin q, cos q of all joints, qd and sign(qd) of its own, 1]. Joints of a robot whose
/// base floats are not asked: how the base moves is in neither. Rows in which the joint
/// is slow or turns do not count, because friction is not what the model says there, unless d is
/// beyond the range. d minimises the residual over whole samples, refined by a parabola. Its
/// standard error allows for residuals that remember. An estimate is called reliable if the fit
/// explains most of the torque, the minimum is inside the range, the standard error is small and
/// noise is a small part of the smoothed accelerations. One recorder has one delay: the finding is
/// the weighted mean over the joints, with an error that grows with their scatter; where they
/// contradict each other (by more than a fifth and 4 ms), fewer than half of them are reliable, or
/// the delay explains less than a fifth of what is left without it, no delay is claimed, and a note
/// says so. A single joint whose torque belongs to another time than those of the others is an
/// error of its own.

#include <Eigen/Core>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proprio/model/lint.h"
#include "proprio/recording/recording.h"

namespace proprio {

struct TimeStatistics {
  Eigen::Index samples = 0;
  double duration = 0.0;     ///< s, from the first to the last stamp
  double rate_hz = 0.0;      ///< 1 / median step; 0 if there are no time stamps
  double median_step = 0.0;  ///< s
  double shortest_step = 0.0, longest_step = 0.0;
  double jitter = 0.0;  ///< relative to the median step
  Eigen::Index gaps = 0, repeated = 0, reversed = 0;
  Eigen::Index restarts = 0;  ///< of the reversed ones: where another recording begins (cut.h)
  Eigen::Index longest_step_at = 0;                       ///< row before it, from 0
  Eigen::Index first_repeated = -1, first_reversed = -1;  ///< rows, from 0; -1 if there is none
};

struct ChannelStatistics {
  std::string name;
  double smallest = 0.0, largest = 0.0, mean = 0.0, deviation = 0.0;  ///< of the finite values
  Eigen::Index missing = 0, first_missing = -1;                       ///< NaN or infinite
  Eigen::Index beyond = 0;  ///< far beyond the limits of the joint (farLimits)
  double step = 0.0;        ///< quantisation, in the channel's unit; 0 if none was found
  Eigen::Index longest_frozen = 0, frozen_at = 0;  ///< samples; row where that begins
  Eigen::Index at_smallest = 0, at_largest = 0;    ///< samples that look saturated
  Eigen::Index spikes = 0, first_spike = -1;
  std::vector<Eigen::Index> spike_rows;  ///< all of them
};

struct DelayEstimate {
  std::string joint;
  double delay = 0.0;           ///< s; > 0: torques come late
  double standard_error = 0.0;  ///< s
  double explained = 0.0;       ///< share of the torque's variance that the fit explains
  bool reliable = false;
  double gain = 1.0;  ///< what is not explained without a delay, over that with it
};

/// What a finding answers, where other checks depend on it.
enum class FindingKind {
  kOther,
  kDelay,        ///< torques belong to other times than positions
  kJointDelay,   ///< the torque of one joint belongs to another time than the rest
  kSameTimes,    ///< torques and positions belong to the same times
  kDelayUntold,  ///< the joints one by one do not tell
  kSpring,  ///< a joint has a spring that is not declared (identification/undeclared_springs.h)
};

struct QualityFinding {
  Severity severity = Severity::kNote;
  std::string about;     ///< a channel, a joint, or "time"; empty for the whole recording
  std::string sentence;  ///< for people
  FindingKind kind = FindingKind::kOther;
};

struct Quality {
  TimeStatistics time;
  std::vector<ChannelStatistics> channels;
  std::vector<DelayEstimate> delays;
  std::vector<QualityFinding> findings;  ///< errors first
};

/// Errors: the recording cannot be used as it is (stamps that go back, a channel without values).
/// Warnings: look before using it. Notes: good to know. The recording's own notes are among them.
/// @param model    the robot that the recording was mapped through, for better delays; may be left
///                 out
/// @param ordered  false if neighbouring rows are not one step of time apart: stamps, spikes and
///                 delays then mean nothing
Quality assessQuality(const Recording& recording,
                      const std::shared_ptr<const Model>& model = nullptr, bool ordered = true);

/// Positions beyond the limits of their joint by more than the whole range, and by more than a
/// turn, are in another unit, or counts: offsets, overshoot and turns that were counted on stay
/// below that.
struct FarLimits {
  double lower = 0.0, upper = 0.0;
};
/// Empty if the channel is no position, or the model states no limits of its joint.
std::optional<FarLimits> farLimits(const Model& model, const Channel& channel);

/// The same findings from statistics that were made elsewhere (csv_survey.h), but for delays.
/// `model` as above, for statistics that count what is beyond its limits.
Quality qualityOf(const Recording& recording, TimeStatistics time,
                  std::vector<ChannelStatistics> channels, const Model* model = nullptr);

TimeStatistics timeStatistics(const Eigen::VectorXd& time, Eigen::Index samples);
ChannelStatistics channelStatistics(const std::string& name,
                                    const Eigen::Ref<const Eigen::VectorXd>& values);

/// For the joints that have a measured position and torque. Empty without time stamps, or with
/// fewer samples than a fit needs. `range`: largest delay looked for, s; up to five times as much
/// where that halves what is left unexplained.
std::vector<DelayEstimate> estimateDelays(const Recording& recording,
                                          const std::shared_ptr<const Model>& model = nullptr,
                                          double range = 0.05);

}  // namespace proprio
