#pragma once

/// Consistent least squares without matrix inequalities: bodies are written in coordinates in which
/// every point is a possible body, and a damped Gauss-Newton iteration runs in those. Every iterate
/// is possible, so that it may be stopped at any time.
///
///   kLogCholesky  unconstrained; bodies on the boundary are infinitely far away
///                 (spatial/log_cholesky.h)
///   kCholesky     D = C C^T with C lower triangular, C_kk >= 1e-5: the coordinates of
///                 PC-IDIM-SQP (Leboutet 2022, 6.3.1), here with the full derivative
///   kPrincipal    mass, centre, principal axes, central second moments with m >= m_min, L >= 0:
///                 charts (m + dm, c + dc, Q exp(phi^), L + dL) around each iterate
///                 (Traversaro 2017, ch. 6; spatial/principal_inertia.h)
///
/// Step: minimise |r + J d|^2 + lambda |S d|^2 under the bounds and the linearised inequalities (an
/// unconstrained solve by orthogonal factors, or a quadratic program where that leaves them);
/// Marquardt's lambda. A step that raises the objective or leaves an inequality is not taken. What
/// the curvature c of the coordinates adds, x + J d + c, is put into r for up to four further tries
/// of a step: without it narrow curved valleys cost thousands of steps. Where none gets ahead the
/// step goes along a straight line of x instead, and back to coordinates.
///
/// Bodies of an optimum on the boundary are where the coordinates degenerate: infinitely far away
/// (kLogCholesky), or such that wrong points look stationary (kCholesky). So unless forty steps end
/// away from the boundary, the descent follows the minima of objective - mu sum log det D while mu
/// goes to zero. Those lie inside, the gradient vanishes there and steps are Newton's; what is left
/// to the optimum is at most 4 mu per body, the gap that is told. The best point is returned.
///
/// The three are non-convex descriptions of one convex problem. They exist to be compared with it,
/// and where every iterate must be usable.

#include <functional>
#include <vector>

#include "proprio/numerics/lmi_least_squares.h"
#include "proprio/spatial/inertial_parameters.h"

namespace proprio {

enum class BodyCoordinates { kLogCholesky, kCholesky, kPrincipal };

/// A body whose ten parameters p are unknowns of a problem: x[first .. first + 9] = W p + w0.
struct ChartedBody {
  int first = 0;
  Matrix10d W = Matrix10d::Identity();
  Vector10d w0 = Vector10d::Zero();
  double least_mass = 0.0;  ///< kPrincipal
};

struct DescentOptions {
  BodyCoordinates coordinates = BodyCoordinates::kPrincipal;
  int max_iterations = 400;
  double tolerance = 1e-12;  ///< promised decrease relative to the objective that ends it
  double constant = 0.0;     ///< part of the objective that the problem leaves out, for `tolerance`
  /// Called with x of the start and of every step that was better than all before.
  std::function<void(const Eigen::VectorXd& x)> visit;
};

struct DescentResult {
  Eigen::VectorXd x;
  double objective = 0.0;  ///< of the problem, log-det terms included
  int iterations = 0;
  bool converged = false;
  double gap = 0.0;  ///< to the optimum, at most; infinite: not known
  int bounds_active = 0;
};

/// Minimum of the problem's objective under its inequalities with the bodies possible; its blocks
/// count only through their log-det terms.
/// @param start  fulfils the inequalities; bodies that are not possible there are moved to the
///               nearest ones (negative eigenvalues become small positive ones)
DescentResult chartedDescent(const LmiProblem& problem, const std::vector<ChartedBody>& bodies,
                             const Eigen::VectorXd& start, const DescentOptions& options);

/// One body from wrenches: minimum of |A p - b|^2 over possible bodies (T-67, T-69).
/// @param A, b  any number of rows (best the triangular factor of stacked body regressors)
DescentResult fitBody(const Eigen::MatrixXd& A, const Eigen::VectorXd& b,
                      const InertialParameters& start, const DescentOptions& options = {});

}  // namespace proprio
