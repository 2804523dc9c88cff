#pragma once

/// Analytic first derivatives of inverse and forward dynamics. Derivatives with respect to q are
/// taken along the velocity coordinates: plain partial derivatives for joints, and for a floating
/// base (or joint) the change under a right (body) perturbation of its pose, X exp(d). Derivatives
/// with respect to a (M), tau (M^-1) and parameters (the regressor) are in mass_matrix.h, here and
/// regressor.h. Source: Singh, Russell, Wensing 2022; see kernels/derivatives.inl.

#include "proprio/dynamics/workspace.h"

namespace proprio {

/// d tau / d q and d tau / d v of inverse dynamics; each velocityCount() square, filled whole. d
/// tau / d a is massMatrix(). External wrenches are constant in the link frames. Real-time.
void inverseDynamicsDerivatives(const Tree& tree, const CompiledParameters& parameters,
                                Workspace& workspace, ConstVectorRef q, ConstVectorRef v,
                                ConstVectorRef a, MatrixRef dtau_dq, MatrixRef dtau_dv,
                                const LinkWrenches* external = nullptr);

/// Accelerations a(q, v, tau) and their derivatives: da/dq = -M^-1 dtau/dq, da/dv = -M^-1 dtau/dv,
/// da/dtau = M^-1. Real-time.
void forwardDynamicsDerivatives(const Tree& tree, const CompiledParameters& parameters,
                                Workspace& workspace, ConstVectorRef q, ConstVectorRef v,
                                ConstVectorRef tau, VectorRef a, MatrixRef da_dq, MatrixRef da_dv,
                                MatrixRef da_dtau, const LinkWrenches* external = nullptr);

}  // namespace proprio
