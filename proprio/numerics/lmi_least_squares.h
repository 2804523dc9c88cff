#pragma once

/// Least squares under small matrix inequalities: the convex core of physically consistent
/// identification.
///
///   minimise    1/2 |A x - b|^2 + c^T x - sum_k w_k log det S_k(x)
///   subject to  S_k(x) = S_k0 + sum_i x_i S_ki  positive semidefinite, 4x4   (blocks with w_k = 0)
///               g_l^T x >= h_l
///
/// A may be rank deficient; blocks and inequalities may share variables. A block with a weight
/// w_k > 0 is a log-det term, which keeps it positive definite by itself.
///
/// Method: infeasible primal-dual interior point with the direction of Helmberg, Rendl,
/// Vanderbei, Wolkowicz, Kojima, Shindoh, Hara and Monteiro and Mehrotra's predictor-corrector.
/// Each step solves (A^T A + sum_k M_k + G^T diag(z/s) G) dx = r by Cholesky, M_k(i, j) =
/// tr(S_ki Z_k S_kj S_k^-1): n^3/3 operations for n variables. Gradients are formed with A, not
/// with A^T A, so that squaring limits the speed of the last steps and not the answer.
///
/// Bounds far from what the data say are beyond the reach of an infeasible start: then a point deep
/// inside all constraints is looked for first (the same method on t, S_k(x) + t >= 0), and either
/// the iteration starts there, or its dual proves that the constraints contradict each other.
///
/// The dual Z_k, z is a certificate: with the stationarity residual at zero, no feasible x has an
/// objective below `objective - gap`.
/// Sources: Todd, Toh, Tutuncu 1998 (HKM direction with a quadratic objective); Mehrotra 1992.

#include <Eigen/Core>
#include <vector>

namespace proprio {

/// S(x) = symmetric 4x4 matrix whose lower triangle, in the order 11 21 22 31 32 33 41 42 43 44,
/// is map * x[variables] + constant.
struct PsdBlock {
  std::vector<int> variables;
  Eigen::MatrixXd map;  ///< 10 x variables
  Eigen::Matrix<double, 10, 1> constant = Eigen::Matrix<double, 10, 1>::Zero();
  double log_det_weight = 0.0;  ///< w > 0: the term -w log det S instead of the constraint
};

/// coefficients^T x[variables] >= lower
struct LinearInequality {
  std::vector<int> variables;
  Eigen::VectorXd coefficients;
  double lower = 0.0;
};

struct LmiProblem {
  Eigen::MatrixXd A;  ///< rows x n; best the triangular factor of the data
  Eigen::VectorXd b;
  Eigen::VectorXd linear;  ///< c; size 0 for none
  std::vector<PsdBlock> blocks;
  std::vector<LinearInequality> inequalities;
};

enum class LmiStatus {
  kSolved,
  kInfeasible,  ///< no x fulfils all constraints, or only one ten times as far as the farthest
                ///< bound
  kUnbounded,   ///< the data and the linear term leave a direction free, and x runs away along it
  kStalled  ///< out of iterations or of digits before the tolerance; gap and residuals say where
};

struct LmiSolution {
  LmiStatus status = LmiStatus::kStalled;
  Eigen::VectorXd x;
  std::vector<Eigen::Matrix4d> Z;  ///< dual of each block
  Eigen::VectorXd z;               ///< dual of each inequality
  std::vector<bool> block_active;  ///< S_k is singular to working accuracy: it touches the cone
  std::vector<bool> inequality_active;
  double objective = 0.0;
  double gap = 0.0;            ///< primal minus dual objective, in units of the objective
  double stationarity = 0.0;   ///< gain in objective that one more Newton step promises
  double infeasibility = 0.0;  ///< largest relative violation; zero once a full step was taken
  int iterations = 0;
};

struct LmiOptions {
  /// Gap and stationarity that count as solved, relative to the larger of |b|^2 and, where one had
  /// to be looked for, the misfit at the first point inside; iterations go on below it while they
  /// still gain.
  double tolerance = 1e-9;
  int max_iterations = 100;
  /// Where to start; empty: x = 0 with every S_k pushed inside. Any point will do, a feasible one
  /// saves iterations.
  Eigen::VectorXd start;
  const LmiSolution* warm = nullptr;  ///< solution of a nearby problem of the same shape
};

/// Parts of the problem at a point: S_k(x), g_l^T x - h_l, and the objective (infinite where a
/// log-det term is not defined).
Eigen::Matrix4d blockAt(const PsdBlock& block, const Eigen::VectorXd& x);
double slackAt(const LinearInequality& row, const Eigen::VectorXd& x);
double objectiveAt(const LmiProblem& problem, const Eigen::VectorXd& x);
/// The same problem with A square and upper triangular, up to a constant in the objective;
/// unchanged where it has fewer rows than unknowns.
LmiProblem withTriangularRows(LmiProblem problem);
/// Whether x fulfils all constraints up to rounding: not so where they contradict each other, nor
/// where the iteration stalled on its way to them.
bool fulfilsConstraints(const LmiSolution& solution);

/// @throws Error for sizes that do not fit, indices out of range, numbers that are not finite.
LmiSolution solveLmiLeastSquares(const LmiProblem& problem, const LmiOptions& options = {});

}  // namespace proprio
