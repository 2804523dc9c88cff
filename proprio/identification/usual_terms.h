#pragma once

/// What every joint has and few descriptions mention: friction and the inertia of its motor. A
/// plain URDF says nothing about them, but a torque that was measured contains them, and a fit
/// without them puts them into masses.

#include <string>
#include <vector>

#include "proprio/model/model.h"

namespace proprio {

/// The robot in which joints about which nothing is declared have viscous and Coulomb friction, an
/// offset and a rotor inertia, all zero (so that it moves as before) and all to be identified.
/// "Nothing": no drive, and no friction but zeros of these two kinds. Joints with a drive but
/// without friction get friction only. What the <dynamics> of a URDF states keeps its values and is
/// completed in the same way: the element knows damping and friction only, and is mostly a setting
/// for a simulator. Friction of robot.yaml stays as it is declared; where that is friction with a
/// state alone, which no equation that is fitted has, the sentence says how to declare what is left
/// of it at steady speed. `told` gets a sentence for each.
Model withUsualTerms(const Model& model, std::vector<std::string>* told);

}  // namespace proprio
