#pragma once

/// Friction that is not linear in all of its constants: atan(scale v), |v|^exponent s(v),
/// exp(-|v / scale|^exponent) s(v). For given constants theta the rest is linear,
///
///   tau = W beta + F(theta) phi + e,
///
/// so that beta and phi are projected out (variable projection) and only theta is searched:
///
///   min over low <= theta <= high of |r|^2,  r = (1 - [W F] [W F]^+) tau,
///
/// by Gauss-Newton with Levenberg's damping inside the bounds, with Kaufman's Jacobian
/// -(1 - [W F] [W F]^+) dF phi, of which the gradient is exact. Scales are searched by their
/// logarithm. Several starts; the best constants of each joint are combined and searched again.
/// Bounds matter: without them exponents run away where the term has no part (a published set has
/// exponents of 32 to 35). Constants that end on a bound, or that the data hardly tell, are named.
///
/// Three routes:
///   separableFriction     constants of every joint together with all base parameters
///   sharedFrictionGrid    one scale and one exponent of each kind of term for all joints, on a
///                         grid
///   constantSpeedFriction joint by joint, on sweeps at constant speed with known inertial
///                         parameters; no error of one joint reaches another
/// At most about 2000 samples of each recording are looked at. Sources: Golub and Pereyra 1973,
/// Kaufman 1975, Ardiani 2023 1.18.

#include "proprio/identification/friction_cost.h"

namespace proprio {

struct SeparableOptions {
  int starts = 8;  ///< the declared values, then spread over the bounds
  int max_iterations = 50;
  double tolerance = 1e-10;  ///< relative decrease of |r|^2 at which to stop
  /// Bounds other than the usual ones; empty: frictionConstants().
  std::vector<FrictionConstant> constants;
};

struct SeparableFriction {
  std::vector<FrictionConstant> constants;
  double cost_before = 0.0,
         cost = 0.0;  ///< |r|^2 of weighted rows, at declared and at found values
  int iterations = 0;
  std::vector<std::string> notes;  ///< constants on a bound or hardly told, in words
};

/// @param sigma  noise per coordinate (Estimate::sigma of a first wls)
/// @throws Error if the model has no such constants.
SeparableFriction separableFriction(const IdentificationProblem& problem,
                                    const Eigen::VectorXd& sigma,
                                    const SeparableOptions& options = {});

/// @param scale_step, exponent_step  of the grids: scales of kArctan first, with the declared
/// exponents, then exponents of kPower with the best scale (1e-3 in the source); scales and
/// exponents of kStribeck in turn, until neither lowers the cost.
SeparableFriction sharedFrictionGrid(const IdentificationProblem& problem,
                                     const Eigen::VectorXd& sigma, double scale_step = 0.01,
                                     double exponent_step = 0.01);

/// Only samples with |a_j| below the limit, one joint moving: |v_j| above ten times every other
/// speed. Linear unknowns are the joint's own friction coefficients.
/// @param chi  standard parameters, of which the inertial ones and rotor inertias are used
/// @throws Error if a joint with such constants has too few samples.
SeparableFriction constantSpeedFriction(const IdentificationProblem& problem,
                                        const Eigen::VectorXd& chi, double acceleration_limit = 0.1,
                                        const SeparableOptions& options = {});

}  // namespace proprio
