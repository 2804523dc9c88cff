#pragma once

/// Files that a verb writes never take the place of those that it reads, and none is written where
/// another one cannot be. Outputs are known by the names of their options, the same for all verbs;
/// every other value on the command line that names a file is an input.

#include <CLI/CLI.hpp>
#include <string>

namespace proprio::apps {

/// Looks before the verb runs. @throws Error if an output has no name, is a file that another
/// option names, gets two contents, or cannot be written there. Devices and pipes may get several
/// contents and are not tried.
void requireSeparateOutputs(const CLI::App& verb);

/// The same for a file that was read without being named itself, such as the URDF of a robot.yaml.
void requireNotReplaced(const std::string& read);

}  // namespace proprio::apps
