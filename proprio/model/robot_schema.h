#pragma once

#include <string>

namespace proprio {

/// The JSON Schema (draft 7) of robot.yaml, generated from the reader's own table of fields.
/// docs/robot.schema.json is this text.
std::string robotSchema();

/// The reference page of robot.yaml in Markdown, from the same table. docs/robot_yaml.md is this
/// text.
std::string robotReference();

}  // namespace proprio
