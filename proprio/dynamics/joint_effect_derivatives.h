#pragma once

/// Derivatives of the regressor columns at the joints (joint_effects.h) with respect to the state:
/// every entry depends on few coordinates, so they come as a list. The jump of a plain sign is left
/// out; a smooth sign (model/friction.h) has its own slope.

#include <vector>

#include "proprio/dynamics/workspace.h"

namespace proprio {

/// The regressor entry (row, parameter) changes by dq, dv, da per unit of position, velocity and
/// acceleration of velocity coordinate `coordinate`.
struct JointEffectDerivative {
  int row = 0;
  int parameter = 0;
  int coordinate = 0;
  double dq = 0.0, dv = 0.0, da = 0.0;
};

/// At joint velocities v, rotor inertia included. The list has the same length and places whatever
/// the state; once it has been filled for a model, filling it again does not allocate.
void jointEffectDerivatives(const Tree& tree, const ParameterLayout& layout, ConstVectorRef v,
                            std::vector<JointEffectDerivative>* derivatives);

/// Adds d tau / d q, d v, d a of friction, springs and couplings for these parameters; each matrix
/// is velocityCount() square. Rotor inertia is left to massMatrix().
void addJointEffectDerivatives(const Parameters& parameters,
                               const std::vector<JointEffectDerivative>& derivatives,
                               MatrixRef dtau_dq, MatrixRef dtau_dv, MatrixRef dtau_da);

}  // namespace proprio
