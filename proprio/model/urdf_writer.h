#pragma once

/// Writes new values into a user's URDF and leaves every other byte as it was: comments, blocks of
/// other tools, line ends, quotes, indentation and the spelling of unchanged numbers.
///
/// Written: mass, centre of mass (the inertial's origin xyz; its rotation stays and the inertia is
/// expressed in it), inertia, <dynamics damping friction>, <limit>. Missing elements and attributes
/// are inserted in the style of their neighbours. Numbers are printed with as few digits as read
/// back exactly.

#include <string>
#include <vector>

#include "proprio/model/model.h"

namespace proprio {

/// New inertia of a URDF link, without what its fixed joints add.
struct UrdfInertia {
  std::string link;
  InertialParameters inertia;  ///< in the link frame
  /// Changes below this are rounding and not written: kg, m, kg m^2.
  double mass_rounding = 0.0, com_rounding = 0.0, inertia_rounding = 0.0;
};

/// New values of a URDF joint; those not stated stay.
struct UrdfJointValues {
  std::string joint;
  double damping = kNotStated, friction = kNotStated;
  double lower = kNotStated, upper = kNotStated, velocity = kNotStated, effort = kNotStated;
};

struct UrdfChanges {
  std::vector<UrdfInertia> links;
  std::vector<UrdfJointValues> joints;
  /// Write what an <inertia> leaves out also where it is zero, for programs that require it.
  bool complete_inertias = false;
};

/// What has to change in the URDF that reads as `written` (readUrdf) so that it says what `model`
/// says. `model` may be lumped, locked or carry payloads: of each link its own share counts, link
/// inertia minus sum of parts; parts are links of the URDF as well. Links and joints that the URDF
/// does not have are left out. Friction terms other than viscous and Coulomb cannot be said in
/// URDF.
UrdfChanges urdfChanges(const Model& written, const Model& model);

/// The text with the changes. @throws Error if a link or joint does not exist in it, a number is
/// not finite, a body without mass has a first moment, or a new <limit> would lack effort or
/// velocity, which URDF requires.
std::string spliceUrdf(const std::string& text, const UrdfChanges& changes,
                       const std::string& file_name = "urdf");

/// The text with the values of the model: urdfChanges and spliceUrdf.
std::string updatedUrdf(const std::string& text, const Model& model,
                        const std::string& file_name = "urdf");

/// Writes the model's URDF (model.urdf) with the model's values to `path`, which may be the same
/// file; see core/atomic_file.h. @throws Error also if the model does not come from a URDF.
void writeUrdf(const Model& model, const std::string& path);

}  // namespace proprio
