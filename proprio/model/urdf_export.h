#pragma once

/// A whole URDF from a model, for robots that have none (DH tables, models built in memory).
///
/// Links with inertia and primitive or mesh shapes, joints with origin, axis, limits, mimic,
/// viscous and Coulomb friction; frames as links without mass on fixed joints. URDF puts the frame
/// of a link at the joint that carries it: where the model has it elsewhere (classic DH tables),
/// inertia, shapes and frames are expressed in the joint's frame, so that motion and torques are
/// the same and only the numbers inside the link differ. Limits that are not declared are written
/// as 1e6, because URDF requires effort and velocity; a revolute joint without position limits
/// becomes continuous.
///
/// URDF cannot say: rotor inertias, other friction terms, springs, couplings, sensors, gravity and
/// the mounting of the base; these stay in robot.yaml.

#include <string>

#include "proprio/model/model.h"

namespace proprio {

/// @throws Error if a link is carried by two joints, or a number is not finite.
std::string exportUrdf(const Model& model);

}  // namespace proprio
