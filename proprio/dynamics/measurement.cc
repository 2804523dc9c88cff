#include "proprio/dynamics/measurement.h"

#include <fmt/format.h>

#include <algorithm>

namespace proprio {

MeasuredRows measuredRows(const Tree& tree, const Measurement& measurement) {
  const Model& model = tree.model();
  MeasuredRows rows;
  rows.joints.assign(model.joints.size(), measurement.joint_torques && measurement.joints.empty());
  for (const int joint : measurement.joints) {
    if (joint < 0 || static_cast<size_t>(joint) >= model.joints.size()) {
      throw Error(fmt::format("measurement: there is no joint number {}, the model '{}' has {}",
                              joint, model.name, model.joints.size()));
    }
    rows.joints[static_cast<size_t>(joint)] = measurement.joint_torques;
  }
  rows.base = measurement.base_wrench.value_or(tree.floating());
  if (!measurement.force_torque_sensors) return rows;
  const Traversal traversal = traverse(model, tree.baseLink());
  for (const Sensor& sensor : model.sensors) {
    if (sensor.kind != SensorKind::kForceTorque) continue;
    const Joint& joint = model.joints[static_cast<size_t>(sensor.joint)];
    if (joint.type != JointType::kFixed) {
      throw Error(fmt::format("sensor '{}': it sits on the {} joint '{}', expected a fixed one",
                              sensor.name, toString(joint.type), joint.name));
    }
    const bool outward = traversal.parent[static_cast<size_t>(joint.second)] == joint.first;
    rows.cut_links.push_back(outward ? joint.second : joint.first);
  }
  std::sort(rows.cut_links.begin(), rows.cut_links.end());
  rows.cut_links.erase(std::unique(rows.cut_links.begin(), rows.cut_links.end()),
                       rows.cut_links.end());
  return rows;
}

}  // namespace proprio
