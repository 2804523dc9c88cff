#pragma once

/// One body from wrenches as a nonlinear program, with its orientation written the two usual ways.
/// Comparators for the descent on the manifold itself (fitBody), which needs neither constraints
/// for the orientation nor a general solver:
///
///   min |A p - b|^2,  p = p(m, c, R, L),  m >= m_min, L >= 0
///   kQuaternion      R = R(q / |q|) with |q|^2 = 1            11 unknowns,  1 equation
///   kRotationMatrix  R^T R = 1, started at a rotation         16 unknowns,  6 equations
///
/// Sigma = R diag(L) R^T is the central second moment, so that intermediate points are possible
/// bodies even where R is not yet orthogonal. Solved by Ipopt (numerics/nonlinear_program.h) with
/// the Hessian of the objective from differences of its gradient, and the exact one of the
/// constraints. It needs 10 to 20 iterations, and many more microseconds in each than fitBody,
/// which in turn needs up to hundreds where residuals are large (bench/lmi_bench.cc). Source:
/// Traversaro 2017, section 6 (T-68).

#include "proprio/identification/charted_descent.h"

namespace proprio {

enum class RotationUnknowns { kQuaternion, kRotationMatrix };

/// @param A, b   as for fitBody
/// @param start  any body; an impossible one is moved to the nearest possible one
DescentResult fitBodyByProgram(const Eigen::MatrixXd& A, const Eigen::VectorXd& b,
                               const InertialParameters& start, RotationUnknowns unknowns);

}  // namespace proprio
