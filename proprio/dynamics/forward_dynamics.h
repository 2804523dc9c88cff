#pragma once

/// Forward dynamics: accelerations for given torques, M(q) a = tau - C(q, v) v - G(q) + sum_links
/// J^T f_ext. Articulated-body solve on top of the zero-acceleration bias (Featherstone 2008 ch.
/// 7); trees with mimic joints go through the mass matrix. Real-time.

#include "proprio/dynamics/workspace.h"

namespace proprio {

/// @param tau  velocityCount(); with a floating base the first six entries are a wrench on the base
/// (usually zero)
/// @param a    velocityCount(): joint accelerations, and the derivative of the body twist of the
/// base
void forwardDynamics(const Tree& tree, const CompiledParameters& parameters, Workspace& workspace,
                     ConstVectorRef q, ConstVectorRef v, ConstVectorRef tau, VectorRef a,
                     const LinkWrenches* external = nullptr);

/// The same by factorising the mass matrix: the second route for tests, and for trees with mimic
/// joints.
void forwardDynamicsByMassMatrix(const Tree& tree, const CompiledParameters& parameters,
                                 Workspace& workspace, ConstVectorRef q, ConstVectorRef v,
                                 ConstVectorRef tau, VectorRef a,
                                 const LinkWrenches* external = nullptr);

/// The same for dual numbers: derivative of a along the direction in the duals.
/// @param a         resized: allocates where it is too small
/// @param external  six numbers per link, in the order of LinkWrenches, or null
void forwardDynamics(const Tree& tree, const CompiledParametersOf<Dual>& parameters,
                     Workspace& workspace, const std::vector<Dual>& q, const std::vector<Dual>& v,
                     const std::vector<Dual>& tau, std::vector<Dual>* a,
                     const std::vector<Dual>* external = nullptr);

/// Many samples: row = sample, column = coordinate. Real-time. Outputs must not overlap
/// inputs.
/// @param external  wrenches on some links, or null
void forwardDynamicsBatch(const Tree& tree, const CompiledParameters& parameters,
                          Workspace& workspace, ConstMatrixRef q, ConstMatrixRef v,
                          ConstMatrixRef tau, MatrixRef a, const BatchWrenches* external = nullptr);

}  // namespace proprio
