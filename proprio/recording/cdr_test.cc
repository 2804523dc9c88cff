#include "proprio/recording/cdr.h"

#include <gtest/gtest.h>

#include "proprio/core/error.h"
#include "proprio/recording/testing/python_files.h"

namespace proprio {
namespace {

JointStateMessage sample() {
  JointStateMessage message;
  message.header = {-1500000001, "base"};
  message.name = {"a", "elbow"};
  message.position = {1.5, -2};
  message.effort = {3, 4};
  return message;
}

// Claim: the encoding is that of the standard, byte by byte (alignment counts from behind the four
// bytes of the encapsulation).
TEST(CdrTest, bytesByHand) {
  using namespace std::string_literals;
  JointStateMessage message;
  message.header = {1000000002, ""};
  message.name = {"ab"};
  message.position = {1.0};
  const std::string expected =
      "\0\1\0\0"s          // little endian
      "\1\0\0\0\2\0\0\0"s  // 1 s, 2 ns
      "\1\0\0\0\0"s
      "\0\0\0"s  // empty text, padding
      "\1\0\0\0\3\0\0\0ab\0"s
      "\0"s                    // one name, padding
      "\1\0\0\0"s              // one position, aligned to 8
      "\0\0\0\0\0\0\xf0\x3f"s  // 1.0
      "\0\0\0\0\0\0\0\0"s;     // no velocities, no efforts
  EXPECT_EQ(encodeCdr(message), expected);
}

// Claim: what is encoded is decoded, also negative stamps and reused memory.
TEST(CdrTest, roundTrip) {
  JointStateMessage joints;
  joints.velocity = {9, 9, 9};
  decodeCdr(encodeCdr(sample()), "m", joints);
  EXPECT_EQ(joints.header.stamp_ns, -1500000001);
  EXPECT_EQ(joints.header.frame_id, "base");
  EXPECT_EQ(joints.name, sample().name);
  EXPECT_EQ(joints.position, sample().position);
  EXPECT_TRUE(joints.velocity.empty());
  EXPECT_EQ(joints.effort, sample().effort);

  ImuMessage imu, imu_back;
  imu.header = {7, "imu"};
  imu.orientation = {1, 2, 3, 4};
  imu.linear_acceleration_covariance[8] = 5;
  decodeCdr(encodeCdr(imu), "m", imu_back);
  EXPECT_EQ(imu_back.orientation, imu.orientation);
  EXPECT_EQ(imu_back.linear_acceleration_covariance, imu.linear_acceleration_covariance);

  WrenchMessage wrench, wrench_back;
  wrench.header = {7, "w"};
  wrench.force = {1, 2, 3};
  wrench.torque = {4, 5, 6};
  decodeCdr(encodeCdr(wrench), "m", true, wrench_back);
  EXPECT_EQ(wrench_back.force, wrench.force);
  EXPECT_EQ(wrench_back.torque, wrench.torque);
}

// Claim: a message cut off at any byte is refused with the byte; counts beyond the message are
// refused before memory is taken for them.
TEST(CdrTest, cutOffAnywhere) {
  const std::string bytes = encodeCdr(sample());
  for (size_t size = 0; size < bytes.size(); ++size) {
    JointStateMessage joints;
    EXPECT_THROW(decodeCdr(std::string_view(bytes).substr(0, size), "m", joints), Error) << size;
  }
  for (size_t i = 4; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = '\x7f';
    JointStateMessage joints;
    JointTrajectoryMessage trajectory;
    try {
      decodeCdr(damaged, "m", joints);
      decodeCdr(damaged, "m", trajectory);
    } catch (const Error&) {
    }
    EXPECT_LE(joints.name.capacity() + joints.position.capacity() + trajectory.points.capacity(),
              bytes.size());
  }
  JointStateMessage joints;
  EXPECT_EQ(messageOf([&] { decodeCdr("\x7f\7xx", "m", joints); }),
            "m: the message has encoding 7f07, expected 0000 or 0001 (plain CDR)");
}

}  // namespace
}  // namespace proprio
