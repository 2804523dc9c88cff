#pragma once

/// From a log to the samples that identification and validation use: read, mapped, looked at, and
/// cleaned of what a recorder, not a robot, has put there. What was done is told.

#include <string>
#include <vector>

#include "proprio/identification/identification_result.h"
#include "proprio/recording/read_recording.h"
#include "proprio/signal/joint_signals.h"

namespace proprio {

struct MeasurementOptions {
  bool keep_spikes = false;  ///< else one to three samples far off are replaced, and counted
  /// Links that touch something, with force-torque sensors (sensed_wrenches.h).
  std::vector<std::string> touching;
};

/// A log mapped through the robot, with angles that were kept within one turn made continuous
/// (turns.h), without measured channels of joints that have no value at all and without rows in
/// which a measured position or torque is missing; commanded torques where none are measured; its
/// notes tell all of it.
/// @throws Error if fewer than ten rows are left, or joints have currents and no declared gain.
Recording readMeasurements(const Model& model, const std::string& path,
                           const RecordingOptions& options);

/// The robot with joints that no recording has a position of held still, at zero or the nearest
/// position within their limits, and joints of several coordinates, which no recording states,
/// where they are neutral; `told` gets a sentence for each. A gripper, say, or a mobile base.
Model withRecordedJoints(const Model& model, const std::vector<Recording>& recordings,
                         std::vector<std::string>* told);

/// A recording (mapped through the robot) in the coordinates of the tree; several where gaps or
/// jumps of positions split it. Stamps that jitter or repeat are resampled at the rate of their
/// median step; torques at the end of their range do not count. Rows that are not one step of time
/// apart are states of their own if velocities and accelerations are recorded (row_order.h). All of
/// it is told in `info`.
/// @param path         that it was read from
/// @param signals      of all moving joints unless it names some
std::vector<MotionData> motionsOf(const Tree& tree, Recording recording, const std::string& path,
                                  JointSignalOptions signals, const MeasurementOptions& options,
                                  RecordingInfo* info);

/// SHA-256 of a file; of a folder that of the lines "HASH  NAME" of its files, in order of names.
std::string fingerprint(const std::string& path);

}  // namespace proprio
