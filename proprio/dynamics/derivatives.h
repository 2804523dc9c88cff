#pragma once

/// Analytic first derivatives of inverse and forward dynamics. Derivatives with respect to q are
/// taken along the velocity coordinates: plain partial derivatives for joints, and for a floating
/// base (or joint) the change under a right (body) perturbation of its pose, X exp(d). Derivatives
/// with respect to a (M), tau (M^-1) and parameters (the regressor Y of inverse dynamics, -M^-1 Y
/// of forward dynamics) are in mass_matrix.h, here and regressor.h. Source: Singh, Russell, Wensing
/// 2022; see kernels/derivatives.inl.

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

/// Accelerations a(q, v, tau; pi) and their derivatives with respect to the stacked ten inertial
/// parameters pi of every link (regressor.h): from M a + C v + G = Y(q, v, a) pi = tau,
///   da/dpi = -M^-1 Y(q, v, a).
/// External wrenches are constant in the link frames. For rotor inertias and friction the same
/// holds with the columns of joint_effects.h in place of Y and M^-1 = da/dtau from above.
/// Real-time.
/// @param da_dpi  velocityCount() x 10 * links; filled whole
void forwardDynamicsParameterDerivatives(const Tree& tree, const CompiledParameters& parameters,
                                         Workspace& workspace, ConstVectorRef q, ConstVectorRef v,
                                         ConstVectorRef tau, VectorRef a, MatrixRef da_dpi,
                                         const LinkWrenches* external = nullptr);

/// Gradient of sum_{r,c} weights(r, c) Y(r, c), Y the torque regressor, with respect to q (along
/// the velocity coordinates), v and a, by running the regressor backwards: about three times the
/// cost of Y. With it, the gradient of any scalar criterion of Y follows from the criterion's own
/// derivative `weights`. Real-time.
/// @param weights velocityCount() x 10 * links; entries of structural zeros do not matter
void torqueRegressorGradient(const Tree& tree, Workspace& workspace, ConstVectorRef q,
                             ConstVectorRef v, ConstVectorRef a, ConstMatrixRef weights,
                             VectorRef gradient_q, VectorRef gradient_v, VectorRef gradient_a);

/// Many samples: weights in the layout of RegressorBatch, gradients samples x velocityCount().
class RegressorBatch;
void torqueRegressorGradientBatch(const Tree& tree, Workspace& workspace, ConstMatrixRef q,
                                  ConstMatrixRef v, ConstMatrixRef a, RegressorBatch& weights,
                                  MatrixRef gradient_q, MatrixRef gradient_v, MatrixRef gradient_a);

}  // namespace proprio
