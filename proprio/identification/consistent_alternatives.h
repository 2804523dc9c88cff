#pragma once

/// Other ways to physically consistent estimates, beside the convex one
/// (consistent_least_squares.h). All minimise its objective for pc-wls:
///
///   log-cholesky      damped Gauss-Newton in log-Cholesky coordinates; never quite on the boundary
///   manifold          on (m, c, Q, L) of every body, bounds kept, every iterate possible (T-81)
///   pc-sqp            sequential quadratic programs on Cholesky entries, full derivative (L-45)
///   pc-sqp-published  its published form (L-44): D = C C^T with one factor from the iterate
///                     before, in a box that shrinks like 10 exp(-i/4)
///   polytope          point masses rho >= 0 at fixed places (L-40): a quadratic program without
///                     matrix inequality, which sees only bodies that those points can form
///
/// Coordinates are taken of the bodies with their margin removed, so that all keep it:
/// D(chi) - parts - eps D0 is what is parametrised. Log-Cholesky and Cholesky coordinates are those
/// of the body as seen from the prior (whitened), (m, c, Q, L) those of the body itself.
/// Links with two conditions at once (symmetric links with lumped parts) are for pc-wls only.
///
/// Sources: Rucker, Wensing 2022; Traversaro 2017, ch. 6; Leboutet 2022, 6.3.1 (172-176, erratum of
/// (193): start of the box, and a floor so that zeros can move) and (68-71).

#include "proprio/identification/charted_descent.h"
#include "proprio/identification/consistent_least_squares.h"

namespace proprio {

Estimate logCholeskyMethod(const IdentificationProblem& problem, const MethodOptions& options);
Estimate manifoldMethod(const IdentificationProblem& problem, const MethodOptions& options);
Estimate gaussNewtonSqp(const IdentificationProblem& problem, const MethodOptions& options);
Estimate publishedSqp(const IdentificationProblem& problem, const MethodOptions& options);
Estimate polytopeMethod(const IdentificationProblem& problem, const MethodOptions& options);

/// The bodies of a consistent problem for chartedDescent. @throws Error for links with two
/// conditions.
std::vector<ChartedBody> chartedBodies(const IdentificationProblem& problem,
                                       const ConsistentProblem& consistent,
                                       BodyCoordinates coordinates);

struct PolytopeOptions {
  int points = 300;  ///< per link
  /// Where no shapes are declared, points reach this many times the prior's radii of gyration from
  /// its centre, along its axes.
  double reach = 3.0;
};
/// xi of the best mixture of point masses, and how many of them were used.
struct PolytopeSolution {
  Eigen::VectorXd xi;
  int used = 0;
  int iterations = 0;
  double missing = 0.0;  ///< by how much the worst inequality is not kept, in units of xi
};
PolytopeSolution solvePolytope(const IdentificationProblem& problem,
                               const ConsistentProblem& consistent,
                               const PolytopeOptions& options = {});

}  // namespace proprio
