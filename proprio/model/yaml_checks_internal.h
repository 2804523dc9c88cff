#pragma once

/// YAML text in, checked nodes out: after checkFields() every value has the type that its table
/// states, so that the code behind needs no checks of its own. Includes yaml-cpp; not a public
/// header.

#include <yaml-cpp/yaml.h>

#include <optional>
#include <string>

#include "proprio/core/error.h"
#include "proprio/model/robot_fields_internal.h"

namespace proprio {

/// The only document of the text. @throws Error with the line when it is not YAML.
YAML::Node parseYaml(const std::string& text, const std::string& file_name);

FileLocation yamlLocation(const YAML::Node& node, const std::string& file_name);

/// Checks keys, types, ranges and rules of an object and all below it.
/// @throws Error with file, line, key, what was found and what was expected.
void checkFields(const YAML::Node& node, const FieldTable& table, const std::string& file_name);

/// "nothing", "'abc'", "a list of 3 entries", "a mapping": what was found, for messages.
std::string describe(const YAML::Node& node);

/// A number, a quotient such as "1/8192", or an angle such as "-3*pi/4". Empty if the text is
/// neither, or not finite.
std::optional<double> parseAngle(std::string_view text);

}  // namespace proprio
