#pragma once

/// Coriolis matrices C(q, v) with C v = velocity torques and Mdot - 2 C skew-symmetric, in two
/// factorisations:
///   kBody          per link v xbar* M + M v x      (Garofalo et al.; T-21)
///   kCentreOfMass  per link G_X_L^T blkdiag(m w^, -(I_C w)^) G_X_L   (T-22): its centroidal form
///   has zero
///                  translational rows and columns (Traversaro 2017 Lemma 3.11 needs this one, see
///                  erratum E-7); links without mass have no centre and take the other factor
/// With D_L the per-link factor minus M_L V_L x, all about one point:
///   C_jk = S_j^T [ sum_{links beyond j and k} D_L S_k + M_L dS_k ].
/// Base coordinates: body twist. Rotor inertias do not contribute. Real-time.

#include "proprio/dynamics/kinematics.h"

namespace proprio {

enum class CoriolisFactorisation { kBody, kCentreOfMass };

/// Scratch: composite 6x6 matrices per body.
struct CoriolisWorkspace {
  explicit CoriolisWorkspace(const Tree& tree);
  std::vector<Matrix6d> M, D;
  Eigen::MatrixXd full;
};

/// @param kinematics computed with q and v   @param C velocityCount() square, filled whole
void coriolisMatrix(const Tree& tree, const CompiledParameters& parameters,
                    const Kinematics& kinematics, CoriolisFactorisation factorisation,
                    CoriolisWorkspace& workspace, MatrixRef C);

/// Inertia of a body about O in world axes, as [m 1, -h^; h^, I].
Matrix6d inertiaAboutOrigin(const CompiledParameters& parameters, const Kinematics& kinematics,
                            int body);

}  // namespace proprio
