#pragma once

/// Motions as JSON that reads back exactly: type and coefficients, not samples. docs/motion.md
/// documents the format. Numbers are the shortest decimals that read back as the same double.

#include <string>

#include "proprio/motion/trajectory.h"

namespace proprio {

/// @throws Error if the trajectory is of a type that the format does not know (sample it instead)
/// or does not match its joint names.
std::string motionJson(const JointMotion& motion);

/// @throws Error with file and line (text that is not JSON) or file and field, such as
/// trajectory.parts[1].offset, what was found and what was expected.
JointMotion motionFromJson(const std::string& text, const std::string& file_name = "json");

}  // namespace proprio
