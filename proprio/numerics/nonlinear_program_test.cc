// Small programs whose solutions are known.

#include "proprio/numerics/nonlinear_program.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "proprio/core/error.h"

namespace proprio {
namespace {

/// Hock and Schittkowski 71: x1 x4 (x1 + x2 + x3) + x3, product >= 25, squared norm 40, in [1, 5].
NonlinearProgram problem71() {
  NonlinearProgram p;
  p.start = Eigen::Vector4d(1, 5, 5, 1);
  p.lower = Eigen::Vector4d::Constant(1.0);
  p.upper = Eigen::Vector4d::Constant(5.0);
  p.g_lower = Eigen::Vector2d(25.0, 40.0);
  p.g_upper = Eigen::Vector2d(std::numeric_limits<double>::infinity(), 40.0);
  p.jacobian_rows = {0, 0, 0, 0, 1, 1, 1, 1};
  p.jacobian_columns = {0, 1, 2, 3, 0, 1, 2, 3};
  p.value = [](const Eigen::VectorXd& x) { return x[0] * x[3] * (x[0] + x[1] + x[2]) + x[2]; };
  p.gradient = [](const Eigen::VectorXd& x, Eigen::VectorXd& g) {
    g << x[3] * (2 * x[0] + x[1] + x[2]), x[0] * x[3], x[0] * x[3] + 1, x[0] * (x[0] + x[1] + x[2]);
  };
  p.constraints = [](const Eigen::VectorXd& x, Eigen::VectorXd& g) {
    g << x.prod(), x.squaredNorm();
  };
  p.jacobian = [](const Eigen::VectorXd& x, Eigen::VectorXd& v) {
    for (int i = 0; i < 4; ++i) {
      v[i] = x.prod() / x[i];
      v[4 + i] = 2 * x[i];
    }
  };
  return p;
}

// The published minimum 17.0140173 at (1, 4.7429994, 3.8211503, 1.3794082) is found.
TEST(NonlinearProgram, HockSchittkowski71) {
  const ProgramResult r = solveProgram(problem71());
  EXPECT_EQ(r.status, ProgramStatus::kSolved);
  EXPECT_NEAR(r.value, 17.0140173, 1e-6);
  EXPECT_LT((r.x - Eigen::Vector4d(1, 4.7429994, 3.8211503, 1.3794082)).norm(), 1e-4);
  EXPECT_LT(r.violation, 1e-6);
}

// With its Hessian given, which both constraints bend, it is found to the last digits.
TEST(NonlinearProgram, ExactHessian) {
  NonlinearProgram p = problem71();
  p.hessian = [](const Eigen::VectorXd& x, double weight, const Eigen::VectorXd& multipliers,
                 Eigen::MatrixXd& H) {
    H(0, 0) += weight * 2 * x[3];
    H(1, 0) += weight * x[3];
    H(2, 0) += weight * x[3];
    H(3, 0) += weight * (2 * x[0] + x[1] + x[2]);
    H(3, 1) += weight * x[0];
    H(3, 2) += weight * x[0];
    for (int i = 0; i < 4; ++i) {
      H(i, i) += 2 * multipliers[1];
      for (int j = 0; j < i; ++j) H(i, j) += multipliers[0] * x.prod() / (x[i] * x[j]);
    }
  };
  ProgramOptions options;
  options.tolerance = 1e-9;
  const ProgramResult r = solveProgram(p, options);
  EXPECT_EQ(r.status, ProgramStatus::kSolved);
  EXPECT_LT(r.iterations, 12) << "Newton's method: the textbook run needs 8";
  EXPECT_LT((r.x - Eigen::Vector4d(1, 4.7429994, 3.8211503, 1.3794082)).norm(), 1e-6);
}

// Contradicting constraints, an early stop, an exception and a start outside a function's domain
// are told apart.
TEST(NonlinearProgram, OtherEnds) {
  NonlinearProgram p = problem71();
  p.g_lower[0] = 1000.0;
  EXPECT_EQ(solveProgram(p).status, ProgramStatus::kInfeasible);
  p = problem71();
  ProgramOptions options;
  options.stop = [](int iteration, double, double) { return iteration == 3; };
  const ProgramResult stopped = solveProgram(p, options);
  EXPECT_EQ(stopped.status, ProgramStatus::kStopped);
  EXPECT_EQ(stopped.iterations, 3);
  p.value = [](const Eigen::VectorXd&) -> double { throw Error("no value here"); };
  EXPECT_THROW(solveProgram(p), Error);
  p.value = [](const Eigen::VectorXd&) { return std::nan(""); };
  EXPECT_EQ(solveProgram(p).status, ProgramStatus::kFailed);
  p.start[0] = std::nan("");
  EXPECT_THROW(solveProgram(p), Error);
}

// Without constraints it is a plain quasi-Newton method: a curved valley is followed to its end.
TEST(NonlinearProgram, Unconstrained) {
  NonlinearProgram p;
  p.start = Eigen::Vector2d(-1.2, 1.0);
  p.value = [](const Eigen::VectorXd& x) {
    return 100 * std::pow(x[1] - x[0] * x[0], 2) + std::pow(1 - x[0], 2);
  };
  p.gradient = [](const Eigen::VectorXd& x, Eigen::VectorXd& g) {
    g << -400 * x[0] * (x[1] - x[0] * x[0]) - 2 * (1 - x[0]), 200 * (x[1] - x[0] * x[0]);
  };
  const ProgramResult r = solveProgram(p);
  EXPECT_EQ(r.status, ProgramStatus::kSolved);
  EXPECT_LT((r.x - Eigen::Vector2d(1, 1)).norm(), 1e-4);
}

}  // namespace
}  // namespace proprio
