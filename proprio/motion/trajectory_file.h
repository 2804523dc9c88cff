#pragma once

/// Motions in files. The ending decides:
///   .json         type and coefficients; reads back exactly (trajectory_json.h)
///   .csv          samples: time, q_J, v_J, a_J for every joint J, units in brackets allowed as in
///                 "q_J [deg]"; other columns are not looked at
///   .yaml, .yml   samples as a ROS trajectory_msgs/JointTrajectory: what `ros2 topic echo` prints
///                 and `ros2 topic pub` takes; also inside a `trajectory:` or `goal:`, and with the
///                 secs/nsecs of ROS 1. Times are rounded to nanoseconds.
/// docs/motion.md shows one of each.

#include <optional>

#include "proprio/motion/motion_interpolation.h"
#include "proprio/motion/trajectory.h"

namespace proprio {

/// Samples become a motion by `interpolation`, by naturalInterpolation() where none is given.
/// @throws Error with the file and the line, field, column or sample.
JointMotion readMotion(const std::string& path,
                       std::optional<MotionInterpolation> interpolation = std::nullopt);

/// Samples at `rate` (1/s) for .csv and .yaml, and the end of the motion where that is no sample
/// (the last step is then half to one and a half as long as the others). Written whole or not at
/// all. @throws Error for another ending.
void writeMotion(const std::string& path, const JointMotion& motion, double rate = 100.0);
/// What writeMotion would write to a file of that name.
std::string motionText(const std::string& path, const JointMotion& motion, double rate = 100.0);

/// `velocities` and `accelerations` of the samples may be missing (no rows).
MotionSamples motionFromCsv(const std::string& text, const std::string& file_name = "csv");
std::string motionCsv(const MotionSamples& samples);
MotionSamples motionFromRosYaml(const std::string& text, const std::string& file_name = "yaml");
std::string motionRosYaml(const MotionSamples& samples);

}  // namespace proprio
