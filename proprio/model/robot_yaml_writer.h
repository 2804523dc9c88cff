#pragma once

/// Writes new values into a user's robot.yaml and leaves every other byte as it was: comments,
/// order, indentation and the spelling of unchanged numbers.
///
/// Written: rotor_inertia or motor_inertia, declared gains of drives, coefficients and constants of
/// friction terms, stiffness and rest of springs, values of couplings; with a DH table the inertias
/// of its links, in the form that the file uses (com or first_moment, inertia or inertia_at_com).
/// Keys that are missing are inserted, whole drives and friction too, unless a URDF says the
/// friction (viscous, Coulomb). Of links with lumped parts the own share is written. Friction of
/// joints about which the file says nothing belongs into the URDF (urdf_writer.h).
///
/// A file that shares parts by anchors and aliases cannot be spliced: it is written anew, with
/// everything that it says but without its comments.

#include <optional>
#include <string>

#include "proprio/model/model.h"

namespace proprio {

struct RobotYamlUpdate {
  /// New value of `urdf`, relative to where the file goes; empty: it stays.
  std::string urdf = {};
  /// Content of the URDF that the result names, if it is not on the disk yet.
  std::optional<std::string> urdf_text = {};
};

/// The text with the values of the model. Folders in `packages` become absolute when `urdf` is
/// given, because the file is going elsewhere. The result is read again and compared with the model
/// before it is returned.
/// @param file_name  where the text came from: relative paths in it start there
/// @throws Error if the text is not a robot.yaml, or if the result does not say what the model
/// says.
std::string updatedRobotYaml(const std::string& text, const Model& model,
                             const std::string& file_name, const RobotYamlUpdate& update = {});

/// A robot.yaml for a robot that is fully described by a URDF.
std::string robotYamlForUrdf(const Model& model, const std::string& urdf);

}  // namespace proprio
