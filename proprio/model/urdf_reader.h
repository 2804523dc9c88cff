#pragma once

/// Reads a URDF file into a Model, as written: nothing lumped, the root link as fixed base.
///
/// Read: links with inertials, collision and visual shapes; joints of all types with origin, axis
/// (normalised; x if absent), limits, mimic; <dynamics damping friction> as viscous and Coulomb
/// friction terms, declared when the attribute is there; mechanicalReduction of one-joint
/// one-actuator <transmission>s as gear ratio. Infinite limits count as not stated, as do position
/// limits of continuous joints. Of two position limits one that is left out is 0, as URDF says. The
/// length of a <capsule> is that of its cylindrical part. Ignored: materials, safety_controller,
/// calibration, <gazebo>, <ros2_control>, <mujoco>, <drake:...> and whatever else tools add; but
/// what looks like a misspelt element or attribute of those that are read gets a note. Missing
/// inertials leave the link without inertia.

#include <string>
#include <vector>

#include "proprio/model/model.h"

namespace proprio {

/// Something in a file that is not an error but may not be meant.
struct ReadNote {
  FileLocation location;
  std::string sentence;
};

/// @throws Error that names file, line, link or joint, what was found, what was expected.
/// Notes are appended to `notes` if it is given.
Model readUrdf(const std::string& path, std::vector<ReadNote>* notes = nullptr);
struct XmlDocument;
/// The same for a parsed file (core/xml_document.h).
Model readUrdfDocument(const XmlDocument& document, std::vector<ReadNote>* notes = nullptr);
/// The same for text in memory; `file_name` is for messages.
Model readUrdfText(const std::string& text, const std::string& file_name = "urdf",
                   std::vector<ReadNote>* notes = nullptr);

}  // namespace proprio
