#pragma once

/// Files that a verb writes never take the place of those that it reads. Outputs are known by the
/// names of their options, the same for all verbs; every other value on the command line that names
/// a file is an input.

#include <CLI/CLI.hpp>
#include <string>

namespace proprio::apps {

/// Looks before the verb runs. @throws Error if an output has no name, is a file that another
/// option names, or gets two contents. Devices and pipes may get several.
void requireSeparateOutputs(const CLI::App& verb);

/// The same for a file that was read without being named itself, such as the URDF of a robot.yaml.
void requireNotReplaced(const std::string& read);

}  // namespace proprio::apps
