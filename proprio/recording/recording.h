#pragma once

/// What a robot recorded: time stamps and named channels, each with what it measures, its unit, its
/// side of the gear and where it came from. One Recording has one time base; a file with several
/// (the topics of a bag) gives several Recordings.
///
/// As read, a recording is raw: names, units and sides as far as the file states them. Mapped
/// through a robot (signal_map.h) its channels belong to joints and sensors, in SI units on the
/// joint side. Nothing is ever resampled, dropped or repaired without being asked.

#include <Eigen/Core>
#include <string>
#include <vector>

namespace proprio {

enum class Quantity {
  kOther,
  kPosition,
  kVelocity,
  kAcceleration,
  kTorque,              ///< torque, or force of a prismatic joint
  kCurrent,             ///< or any other drive signal that a gain turns into torque
  kForce,               ///< component x y z of a force-torque sensor
  kMoment,              ///< component x y z of a force-torque sensor
  kLinearAcceleration,  ///< accelerometer, component x y z; proper: reads +g at rest
  kAngularVelocity,     ///< gyroscope, component x y z
  kMagneticField,       ///< component x y z
  kOrientation,         ///< quaternion, component x y z w
  kContact,             ///< pressure or force of a skin cell, or a contact flag
  kTemperature
};

/// Commanded and measured signals are never mixed; truth is what only a simulator knows; external
/// is what the surroundings do to the robot, as a controller estimates or a sensor measures it.
enum class Role { kMeasured, kCommanded, kTruth, kExternal };
enum class Side { kUnknown, kJoint, kMotor };

struct Channel {
  std::string name;  ///< unique in its recording
  Quantity quantity = Quantity::kOther;
  Role role = Role::kMeasured;
  Side side = Side::kUnknown;
  std::string of;         ///< joint or sensor that it belongs to; empty if unknown
  std::string component;  ///< x y z w of a vector; empty for scalars
  std::string unit;       ///< "rad", "deg", "N m", "A", ...; empty if not stated
  std::string origin;     ///< file, and topic, array or column in it
};

struct Recording {
  std::string source;     ///< file, for messages
  std::string topic;      ///< of a bag, array of an archive; empty if the file has one table
  Eigen::VectorXd time;   ///< s, as recorded; size 0 if there are no time stamps
  std::string time_unit;  ///< of the stamps in the file, if it states one or their size does
  std::vector<Channel> channels;
  Eigen::MatrixXd values;  ///< row = sample, column = channel; NaN where a cell is missing
  std::vector<std::string>
      notes;  ///< what was noticed on the way: rows dropped, units guessed, ...

  Eigen::Index samples() const { return values.rows(); }
  /// Column of the channel of that name, -1 if there is none.
  int column(const std::string& name) const;
  /// Column of what is asked for, -1 if there is none.
  int column(Quantity quantity, Role role, const std::string& of,
             const std::string& component = "") const;
};

const char* toString(Quantity quantity);
const char* toString(Role role);
const char* toString(Side side);
/// SI unit of a quantity: "rad" ("m" if prismatic), "N m" ("N"), "A", ...; empty for kOther.
std::string unitOf(Quantity quantity, bool prismatic = false);

/// Sizes agree, names are there and unique. @throws Error that names the source and the channel.
void requireValid(const Recording& recording);

}  // namespace proprio
