#pragma once

/// A model as people and programs read it: what `proprio show` prints.

#include <string>
#include <vector>

#include "proprio/model/model.h"

namespace proprio {

/// Summary, the tree of links seen from the base with joints, limits and masses, then tables of
/// drives and friction, couplings, sensors, frames and data sheet, each where there is any.
std::string describe(const Model& model, bool colour = false);

/// The same as JSON: name, source, counts, mass, gravity, base, links, joints, sensors, frames,
/// info. Numbers that are not stated are null.
std::string describeJson(const Model& model);

double totalMass(const Model& model);
/// "z", "-y" or "(0.6, 0, 0.8)".
std::string axisText(const Vector3d& axis);
/// "(0, 0.1, 0) m" and, where it is turned, "rpy (0, 1.571, 0)".
std::string poseText(const Pose& pose);
/// "viscous 2, coulomb 4"; empty without declared friction.
std::string frictionText(const FrictionModel& friction);

}  // namespace proprio
