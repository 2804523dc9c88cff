#pragma once

/// Units of recorded signals and their conversion to SI: value in SI = factor * value + offset.

#include <optional>
#include <string>
#include <vector>

namespace proprio {

struct Unit {
  std::string si;  ///< the SI unit of the same kind, as unitOf() in recording.h writes it
  double factor = 1.0;
  double offset = 0.0;
};

/// The unit that a text names; blanks, points, stars and carets do not matter ("N m", "Nm" and
/// "N*m" are the same), upper and lower case do. Empty if there is no such unit.
std::optional<Unit> findUnit(const std::string& text);

/// All units of the kind of this SI unit ("rad": "deg", "mrad", ...), or of every kind if it is
/// empty; for messages.
std::vector<std::string> knownUnits(const std::string& si = "");

/// Converts between units of one kind. @throws Error that lists the known units, or says that the
/// kinds differ; `what` ("channel 'q1'") begins the sentence.
Unit requireUnit(const std::string& text, const std::string& si, const std::string& what);

}  // namespace proprio
