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
/// unconstrained solve, or a quadratic program where that leaves them); Marquardt's lambda. A step
/// that raises the objective or leaves an inequality is not taken.
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
  int max_iterations = 200;
  double tolerance = 1e-12;  ///< promised decrease relative to the objective that ends it
  /// Called with x of the start and of every step that was taken.
  std::function<void(const Eigen::VectorXd& x)> visit;
};

struct DescentResult {
  Eigen::VectorXd x;
  double objective = 0.0;  ///< of the problem, log-det terms included
  int iterations = 0;
  bool converged = false;
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
