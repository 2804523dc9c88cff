#pragma once

/// Which columns and arrays are time stamps, and in which unit.

#include <optional>
#include <string>

namespace proprio {

struct TimeName {
  std::string unit;     ///< "s" if nothing says which
  bool stated = false;  ///< the file says the unit, in the name ("time_ms") or apart from it
};

/// Empty if the name is not one of time: time, times, t, stamp, stamps, timestamp, timestamps,
/// time_stamp, each also with _s, _sec, _ms, _us, _ns; upper and lower case do not matter.
std::optional<TimeName> timeNamed(std::string name, const std::string& unit);

/// Unit of a stamp whose unit nobody states: seconds since 1970 reach 1e11 in the year 5138, so
/// that larger stamps are in smaller units.
const char* unitOfEpoch(double stamp);

}  // namespace proprio
