#pragma once

/// Reads a robot: a URDF file, or a robot.yaml that names one (or holds a DH table) and adds what
/// URDF cannot say. docs/robot_yaml.md lists the fields; docs/robot.schema.json is the JSON Schema.
///
/// Order of things: kinematics and inertias; joints, frames, sensors, couplings; base and gravity;
/// payloads attached; joints locked; fixed joints lumped.

#include <optional>
#include <string>
#include <vector>

#include "proprio/model/model.h"
#include "proprio/model/urdf_reader.h"

namespace proprio {

/// What the caller decides; everything else comes from the file.
struct ReadOptions {
  std::optional<bool> floating;     ///< base free in space, whatever the file says
  std::optional<std::string> base;  ///< base link
  bool lump_fixed = true;           ///< false: keep every fixed joint
  std::vector<std::string> keep;    ///< fixed joints that stay, besides those that the file names
  /// Stands for the content of the URDF that a robot.yaml names, which need not exist then.
  std::optional<std::string> urdf_text = {};
  std::vector<ReadNote>* notes = nullptr;
};

/// @throws Error that names file, line, key or element, what was found, what was expected.
Model readRobot(const std::string& path, const ReadOptions& options = {});

/// The URDF file that a robot file is or names; empty if it has a DH table. For tools that look at
/// the XML itself. @throws Error if the file cannot be read or parsed.
std::string urdfBehind(const std::string& path);

/// A robot.yaml from memory; relative paths in it start at the folder of `file_name`.
Model readRobotYamlText(const std::string& text, const std::string& file_name = "robot.yaml",
                        const ReadOptions& options = {});

}  // namespace proprio
