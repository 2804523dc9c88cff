#pragma once

/// MCAP, the log format of ROS 2 and Foxglove. Read: files with and without chunks (uncompressed,
/// lz4, zstd), checksums verified where they are; messages in CDR (cdr.h) and JSON, where numbers
/// and flags become channels with dotted names ("arm.load[2]") and an object with name, position,
/// velocity, effort is a JointState. One Recording per topic. Other messages are noted.
///
/// Written: a topic of sensor_msgs/JointState per recording with joint positions, velocities or
/// torques, sensor_msgs/Imu and geometry_msgs/WrenchStamped per sensor, and JSON for every channel
/// that none of them can hold. Topics are TOPIC, TOPIC/commanded, TOPIC/truth, TOPIC/SENSOR/imu,
/// TOPIC/SENSOR/wrench and TOPIC/other, where TOPIC is the recording's own or /joint_states. ROS
/// messages are in SI units on the joint side, so channels in other units or on the motor side go
/// to TOPIC/other. Time stamps are whole nanoseconds since 1970 or since the start of the
/// recording.
///
/// Source: the MCAP specification, mcap.dev/spec.

#include <string>
#include <string_view>
#include <vector>

#include "proprio/recording/recording.h"

namespace proprio {

struct McapOptions {
  /// Read what is whole of a file that was cut off (a crashed recorder), and leave out messages
  /// that cannot be decoded; the loss is noted.
  bool recover = false;
};

/// @param notes if given, receives a sentence for everything in the file that was not read
/// @throws Error that names the file and the byte offset, or the topic and the message.
std::vector<Recording> readMcap(const std::string& path, const McapOptions& options = {},
                                std::vector<std::string>* notes = nullptr);
std::vector<Recording> readMcapBytes(std::string_view bytes, const std::string& file,
                                     const McapOptions& options = {},
                                     std::vector<std::string>* notes = nullptr);

enum class McapCompression { kNone, kLz4, kZstd };

/// @throws Error and writes nothing if a recording is not valid or has no time stamps.
void writeMcap(const std::string& path, const std::vector<Recording>& recordings,
               McapCompression compression = McapCompression::kZstd);
std::string mcapBytes(const std::vector<Recording>& recordings,
                      McapCompression compression = McapCompression::kZstd);

}  // namespace proprio
