#pragma once

/// Smooth nonlinear programs: minimise f(x) subject to lower <= x <= upper and
/// g_lower <= g(x) <= g_upper, from true first derivatives. Solved by Ipopt (an interior-point
/// filter line search), with the Hessian of the Lagrangian approximated from gradients (L-BFGS)
/// unless it is given.
/// Finds a local minimum near the start.
///
/// Ipopt's linear solver is not made for threads: solves of one process wait for each other.
/// Source: Wächter and Biegler 2006.

#include <Eigen/Core>
#include <functional>
#include <string>
#include <vector>

namespace proprio {

/// Infinite bounds are no bounds. Functions may throw; the exception ends the solve and is
/// rethrown. A value that is not finite makes the solver shorten its step.
struct NonlinearProgram {
  Eigen::VectorXd start;
  Eigen::VectorXd lower, upper;      ///< of x; empty: none
  Eigen::VectorXd g_lower, g_upper;  ///< their size is the number of constraints
  /// Places of the Jacobian's entries that may differ from zero, in the order of the values.
  std::vector<int> jacobian_rows, jacobian_columns;
  std::function<double(const Eigen::VectorXd& x)> value;
  std::function<void(const Eigen::VectorXd& x, Eigen::VectorXd& gradient)> gradient;
  std::function<void(const Eigen::VectorXd& x, Eigen::VectorXd& g)> constraints;
  std::function<void(const Eigen::VectorXd& x, Eigen::VectorXd& values)> jacobian;
  /// weight d2f/dx2 + sum multipliers_i d2g_i/dx2, or something near it (Gauss-Newton); n x n,
  /// zero on entry, the lower triangle is read. Null: approximated from gradients.
  std::function<void(const Eigen::VectorXd& x, double weight, const Eigen::VectorXd& multipliers,
                     Eigen::MatrixXd& H)>
      hessian;
};

struct ProgramOptions {
  int iterations = 200;
  double tolerance = 1e-6;
  /// Weight of the logarithmic barrier at first. Small: trusts the start, hugs its constraints.
  double barrier = 0.1;
  int memory = 10;  ///< gradients that shape the Hessian
  /// Asked after every iteration (null: never); true stops.
  std::function<bool(int iteration, double value, double violation)> stop;
};

enum class ProgramStatus { kSolved, kIterations, kStopped, kInfeasible, kFailed };
const char* toString(ProgramStatus status);

struct ProgramResult {
  ProgramStatus status = ProgramStatus::kFailed;
  Eigen::VectorXd x;
  double value = 0.0;
  double violation = 0.0;  ///< largest excess over a bound of g
  int iterations = 0;
};

/// @throws Error for sizes that do not match or a start that is not finite.
ProgramResult solveProgram(const NonlinearProgram& program, const ProgramOptions& options = {});

}  // namespace proprio
