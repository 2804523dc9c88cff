#pragma once

/// One regressor for everything the model declares: tau = Y(q, v, a) theta with theta in the order
/// of model/parameters.h: inertia of every link, then rotor inertia, friction and spring of every
/// joint, then couplings. The base rows of a floating base are included; joint effects have no
/// entries there. Sources: Ardiani 2023 ch. 1, Leboutet 2022 eq. 222-223 (L-03).
///
/// Real-time.

#include "proprio/dynamics/regressor.h"

namespace proprio {

/// @param Y  velocityCount() x layout.size(); filled whole.
void augmentedRegressor(const Tree& tree, const ParameterLayout& layout, Workspace& workspace,
                        ConstVectorRef q, ConstVectorRef v, ConstVectorRef a, MatrixRef Y);

/// Many samples: row = sample, column = coordinate.
/// @param batch  at least layout.size() columns and q.rows() samples of capacity.
void augmentedRegressorBatch(const Tree& tree, const ParameterLayout& layout, Workspace& workspace,
                             ConstMatrixRef q, ConstMatrixRef v, ConstMatrixRef a,
                             RegressorBatch& batch);

/// Rigid bodies, rotors, friction, springs and couplings: tau = Y theta by inverse dynamics, less
/// what external wrenches on the links (or null) exert.
/// `compiled` comes from `parameters` and the same tree.
void fullTorque(const Tree& tree, const Parameters& parameters, const CompiledParameters& compiled,
                Workspace& workspace, ConstVectorRef q, ConstVectorRef v, ConstVectorRef a,
                VectorRef tau, const LinkWrenches* external = nullptr);

}  // namespace proprio
