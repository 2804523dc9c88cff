#pragma once

/// Momentum and energy are linear in the parameters, too, and need no acceleration:
///   generalised momentum  p = M(q) v = Y_p theta,  dp/dt = tau + C^T v - G
///   spatial momentum      h = sum_L W_X^L M_L V_L = Y_h pi, about a fixed point in world axes,
///                         dh/dt = weight + external wrenches
///   energy                H = kinetic + potential = e(q, v) theta
///   dissipation           D = v^T (friction + couplings) = d(q, v) theta
///   power                 v^T tau = y(q, v, a) theta = dH/dt + D
///   energy model          integral of v^T tau dt = (e(t2) - e(t1) + integral of d dt) theta
/// Rotor inertia, springs and acceleration couplings count as energy; friction and the other
/// couplings as dissipation (a position coupling may give energy back; its sign is not
/// constrained). Columns in layout order (model/parameters.h). Sources: Ardiani 2023 ch. 1
/// Leboutet 2022 (L-04), Traversaro 2017 sections 3.5 and 3.9.
///
/// Real-time, but for energyModel.

#include "proprio/dynamics/link_motion.h"
#include "proprio/dynamics/regressor.h"

namespace proprio {

/// Rotor inertia and acceleration couplings included.
/// @param Y  velocityCount() x layout.size(); filled whole.
void generalisedMomentumRegressor(const Tree& tree, const ParameterLayout& layout,
                                  Workspace& workspace, ConstVectorRef q, ConstVectorRef v,
                                  MatrixRef Y);

/// Linear and angular momentum of all links about the world point p_W, in world axes.
/// @param motions  of all links (link_motion.h); their accelerations do not matter
/// @param Y        6 x ten per link; filled whole.
void spatialMomentumRegressor(const std::vector<LinkMotion>& motions, const Vector3d& p_W,
                              MatrixRef Y);

/// `row` has layout.size() entries and is filled whole.
/// @throws Error for an acceleration coupling that is not symmetric: it belongs to no energy.
using RowRef = Eigen::Ref<Eigen::RowVectorXd, 0, Eigen::InnerStride<>>;
void kineticEnergyRegressor(const Tree& tree, const ParameterLayout& layout, Workspace& workspace,
                            ConstVectorRef q, ConstVectorRef v, RowRef row);
void potentialEnergyRegressor(const Tree& tree, const ParameterLayout& layout, Workspace& workspace,
                              ConstVectorRef q, RowRef row);
void dissipationRegressor(const Tree& tree, const ParameterLayout& layout, Workspace& workspace,
                          ConstVectorRef q, ConstVectorRef v, RowRef row);
void powerRegressor(const Tree& tree, const ParameterLayout& layout, Workspace& workspace,
                    ConstVectorRef q, ConstVectorRef v, ConstVectorRef a, RowRef row);

/// Energy model of a recording: one row per window of `window` intervals, y = W theta. Allocates.
struct EnergyModel {
  Eigen::MatrixXd W;
  Eigen::VectorXd y;  ///< work of tau in J
};
/// Integrals by the trapezoidal rule. Rows of q, v, tau are samples at `time` (increasing, s).
EnergyModel energyModel(const Tree& tree, const ParameterLayout& layout, Workspace& workspace,
                        ConstVectorRef time, ConstMatrixRef q, ConstMatrixRef v, ConstMatrixRef tau,
                        int window = 1);

}  // namespace proprio
