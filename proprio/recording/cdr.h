#pragma once

/// ROS 2 messages as they lie in bags and MCAP files: CDR, the plain encoding of DDS (XCDR version
/// 1, either byte order). After four bytes that name the encoding every number starts at a multiple
/// of its size; a text is a 32-bit length (with the closing zero) and its characters; a sequence is
/// a 32-bit count and its elements.
///
/// Decoded and encoded: sensor_msgs/JointState, sensor_msgs/Imu, geometry_msgs/WrenchStamped and
/// Wrench, trajectory_msgs/JointTrajectory. Every read is checked against the end of the message
/// and no memory is taken for a count before its bytes are known to be there.
///
/// Source: OMG DDS-XTYPES 1.3, 7.4; the message definitions of ROS 2 common_interfaces.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace proprio {

struct MessageHeader {
  int64_t stamp_ns = 0;
  std::string frame_id;
};

struct JointStateMessage {
  MessageHeader header;
  std::vector<std::string> name;
  std::vector<double> position, velocity, effort;  ///< each empty or one per name
};

struct ImuMessage {
  MessageHeader header;
  std::array<double, 4> orientation{};  ///< x y z w
  std::array<double, 9> orientation_covariance{};
  std::array<double, 3> angular_velocity{};
  std::array<double, 9> angular_velocity_covariance{};
  std::array<double, 3> linear_acceleration{};
  std::array<double, 9> linear_acceleration_covariance{};
};

struct WrenchMessage {
  MessageHeader header;  ///< of the stamped form only
  std::array<double, 3> force{}, torque{};
};

struct JointTrajectoryMessage {
  struct Point {
    std::vector<double> positions, velocities, accelerations, effort;
    int64_t time_from_start_ns = 0;
  };
  MessageHeader header;
  std::vector<std::string> joint_names;
  std::vector<Point> points;
};

/// The message in `bytes`; `out` keeps its memory from one call to the next. Bytes behind the
/// message are ignored, as ROS does. @throws Error "where: at byte ..." (in the message).
void decodeCdr(std::string_view bytes, const std::string& where, JointStateMessage& out);
void decodeCdr(std::string_view bytes, const std::string& where, ImuMessage& out);
void decodeCdr(std::string_view bytes, const std::string& where, JointTrajectoryMessage& out);
void decodeCdr(std::string_view bytes, const std::string& where, bool stamped, WrenchMessage& out);

/// Little endian.
std::string encodeCdr(const JointStateMessage& message);
std::string encodeCdr(const ImuMessage& message);
std::string encodeCdr(const WrenchMessage& message);  ///< WrenchStamped

}  // namespace proprio
