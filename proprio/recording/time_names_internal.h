#pragma once

/// Which columns and arrays are time stamps, and in which unit.

#include <Eigen/Core>
#include <optional>
#include <string>

namespace proprio {

struct TimeName {
  std::string unit;       ///< "s" if nothing says which
  bool stated = false;    ///< the file says the unit, in the name ("time_ms") or apart from it
  bool header = false;    ///< of a message's header: when it was measured, not received
  bool duration = false;  ///< since the start if it grows; that of a step or a task does not
};

/// Empty if the name is not one of time: time, t, stamp, timestamp, __time, header.stamp, ...,
/// each also with _s, _sec, _ms, _us, _ns; upper and lower case do not matter.
std::optional<TimeName> timeNamed(const std::string& name, const std::string& unit);

/// Are these the names of whole seconds and of the rest, `header.stamp.sec` and
/// `header.stamp.nanosec` or `secs` and `nsecs`? Gives the unit of the rest.
std::optional<std::string> splitTimeNamed(const std::string& seconds, const std::string& rest);

/// Unit of a stamp whose unit nobody states: seconds since 1970 reach 1e11 in the year 5138, so
/// that larger stamps are in smaller units.
const char* unitOfEpoch(double stamp);

/// "us" or "ns" for stamps that are whole numbers in steps of a thousand and more, as no log of a
/// robot has them in s; otherwise "s".
const char* unitOfSteps(const Eigen::Ref<const Eigen::VectorXd>& stamps);

}  // namespace proprio
