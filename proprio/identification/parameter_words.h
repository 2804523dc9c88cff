#pragma once

/// Parameters as people say them, for sentences; tables use the short labels of
/// dynamics/base_parameters.h.

#include <string>

#include "proprio/model/parameters.h"

namespace proprio {

/// "mass of forearm", "first moment x of forearm", "inertia xy of forearm", "rotor inertia of
/// elbow", "viscous friction of elbow", "spring stiffness of elbow", "coupling Iam6".
std::string parameterWords(const ParameterLayout& layout, int parameter);

}  // namespace proprio
