#pragma once

/// Which wrenches and torques are measured: the rows of the regressor that identification may use.

#include <optional>
#include <vector>

#include "proprio/model/tree.h"

namespace proprio {

struct Measurement {
  bool joint_torques = true;
  std::vector<int> joints;            ///< only the torques of these joints; empty: of all
  std::optional<bool> base_wrench;    ///< wrench on the base; default: only of a floating base
  bool force_torque_sensors = false;  ///< those that the model declares
};

/// The same, resolved for a tree.
struct MeasuredRows {
  std::vector<bool> joints;  ///< per model joint
  bool base = false;
  std::vector<int> cut_links;  ///< links just beyond a force-torque sensor, seen from the base
};

/// @throws Error if a joint does not exist or a sensor does not sit on a fixed joint.
MeasuredRows measuredRows(const Tree& tree, const Measurement& measurement);

}  // namespace proprio
