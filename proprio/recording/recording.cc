#include "proprio/recording/recording.h"

#include <fmt/format.h>

#include <set>

#include "proprio/core/error.h"

namespace proprio {

int Recording::column(const std::string& name) const {
  for (size_t i = 0; i < channels.size(); ++i) {
    if (channels[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

int Recording::column(Quantity quantity, Role role, const std::string& of,
                      const std::string& component) const {
  for (size_t i = 0; i < channels.size(); ++i) {
    const Channel& channel = channels[i];
    if (channel.quantity == quantity && channel.role == role && channel.of == of &&
        channel.component == component) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

const char* toString(Quantity quantity) {
  switch (quantity) {
    case Quantity::kOther:
      return "other";
    case Quantity::kPosition:
      return "position";
    case Quantity::kVelocity:
      return "velocity";
    case Quantity::kAcceleration:
      return "acceleration";
    case Quantity::kTorque:
      return "torque";
    case Quantity::kCurrent:
      return "current";
    case Quantity::kForce:
      return "force";
    case Quantity::kMoment:
      return "moment";
    case Quantity::kLinearAcceleration:
      return "linear_acceleration";
    case Quantity::kAngularVelocity:
      return "angular_velocity";
    case Quantity::kMagneticField:
      return "magnetic_field";
    case Quantity::kOrientation:
      return "orientation";
    case Quantity::kContact:
      return "contact";
    case Quantity::kTemperature:
      return "temperature";
  }
  return "other";
}

const char* toString(Role role) {
  switch (role) {
    case Role::kMeasured:
      return "measured";
    case Role::kCommanded:
      return "commanded";
    case Role::kTruth:
      return "truth";
    case Role::kExternal:
      return "external";
  }
  return "measured";
}

const char* toString(Side side) {
  switch (side) {
    case Side::kUnknown:
      return "unknown";
    case Side::kJoint:
      return "joint";
    case Side::kMotor:
      return "motor";
  }
  return "unknown";
}

std::string unitOf(Quantity quantity, bool prismatic) {
  switch (quantity) {
    case Quantity::kPosition:
      return prismatic ? "m" : "rad";
    case Quantity::kVelocity:
      return prismatic ? "m/s" : "rad/s";
    case Quantity::kAcceleration:
      return prismatic ? "m/s^2" : "rad/s^2";
    case Quantity::kTorque:
      return prismatic ? "N" : "N m";
    case Quantity::kCurrent:
      return "A";
    case Quantity::kForce:
      return "N";
    case Quantity::kMoment:
      return "N m";
    case Quantity::kLinearAcceleration:
      return "m/s^2";
    case Quantity::kAngularVelocity:
      return "rad/s";
    case Quantity::kMagneticField:
      return "T";
    case Quantity::kTemperature:
      return "degC";
    case Quantity::kContact:
      return "N";
    case Quantity::kOrientation:
    case Quantity::kOther:
      return "";
  }
  return "";
}

void requireValid(const Recording& recording) {
  const auto count = static_cast<Eigen::Index>(recording.channels.size());
  if (recording.values.cols() != count) {
    throw Error(fmt::format("{}: {} channels but {} columns of values", recording.source, count,
                            recording.values.cols()));
  }
  if (recording.time.size() != 0 && recording.time.size() != recording.samples()) {
    throw Error(fmt::format("{}: {} time stamps but {} rows of values", recording.source,
                            recording.time.size(), recording.samples()));
  }
  std::set<std::string> names;
  for (const Channel& channel : recording.channels) {
    if (channel.name.empty()) throw Error(recording.source + ": a channel has no name");
    if (!names.insert(channel.name).second) {
      throw Error(fmt::format("{}: two channels are called '{}'", recording.source, channel.name));
    }
  }
}

}  // namespace proprio
