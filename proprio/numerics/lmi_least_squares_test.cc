#include "proprio/numerics/lmi_least_squares.h"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <cmath>
#include <random>

#include "proprio/core/error.h"
#include "proprio/numerics/dense.h"

namespace proprio {
namespace {

using Eigen::Matrix4d;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Vector10d = Eigen::Matrix<double, 10, 1>;

constexpr int kRow[] = {0, 1, 1, 2, 2, 2, 3, 3, 3, 3}, kColumn[] = {0, 0, 1, 0, 1, 2, 0, 1, 2, 3};

Vector10d lower(const Matrix4d& S) {
  Vector10d t;
  for (int e = 0; e < 10; ++e) t[e] = S(kRow[e], kColumn[e]);
  return t;
}
Matrix4d full(const Vector10d& t) {
  Matrix4d S;
  for (int e = 0; e < 10; ++e) S(kRow[e], kColumn[e]) = S(kColumn[e], kRow[e]) = t[e];
  return S;
}
/// Weights that make |w o t| the Frobenius norm of the matrix.
Vector10d frobenius() {
  Vector10d w;
  for (int e = 0; e < 10; ++e) w[e] = kRow[e] == kColumn[e] ? 1.0 : std::sqrt(2.0);
  return w;
}

PsdBlock identityBlock(int first) {
  PsdBlock block;
  for (int i = 0; i < 10; ++i) block.variables.push_back(first + i);
  block.map = MatrixXd::Identity(10, 10);
  return block;
}

MatrixXd randomMatrix(std::mt19937& rng, Eigen::Index rows, Eigen::Index columns) {
  std::normal_distribution<double> normal;
  return MatrixXd::NullaryExpr(rows, columns, [&] { return normal(rng); });
}

Matrix4d randomSymmetric(std::mt19937& rng) {
  const Matrix4d A = randomMatrix(rng, 4, 4);
  return A + A.transpose();
}

// The nearest positive semidefinite matrix in the Frobenius norm is the one with the negative
// eigenvalues set to zero, and the dual is the negative part.
TEST(LmiLeastSquares, ProjectsOnTheCone) {
  std::mt19937 rng(1);
  for (int trial = 0; trial < 20; ++trial) {
    const Matrix4d target = randomSymmetric(rng);
    const Vector10d w = frobenius();
    LmiProblem problem;
    problem.A = w.asDiagonal();
    problem.b = w.cwiseProduct(lower(target));
    problem.blocks = {identityBlock(0)};
    const LmiSolution solution = solveLmiLeastSquares(problem);
    ASSERT_EQ(solution.status, LmiStatus::kSolved);
    const Eigen::SelfAdjointEigenSolver<Matrix4d> eigen(target);
    const auto part = [&](double sign) {
      const Eigen::Vector4d values = (sign * eigen.eigenvalues()).cwiseMax(0.0);
      return Matrix4d(eigen.eigenvectors() * values.asDiagonal() *
                      eigen.eigenvectors().transpose());
    };
    // a gap of 1e-9 |b|^2 leaves a distance of its root
    const double tolerance = 1e-4 * target.norm();
    EXPECT_LT((full(solution.x) - part(1)).norm(), tolerance);
    EXPECT_LT((solution.Z[0] - part(-1)).norm(), tolerance);
    const double objective = 0.5 * part(-1).squaredNorm();
    EXPECT_NEAR(solution.objective, objective, 1e-9 * target.squaredNorm());
    EXPECT_EQ(solution.block_active[0], eigen.eigenvalues()[0] < 0);
    EXPECT_LT(solution.iterations, 30);
  }
}

/// Largest violation of the optimality conditions, each relative to its own size.
double optimalityError(const LmiProblem& p, const LmiSolution& s) {
  VectorXd gradient = p.A.transpose() * (p.A * s.x - p.b);
  const double size = (p.A.transpose() * p.b).norm();
  if (p.linear.size() != 0) gradient += p.linear;
  double worst = 0.0;
  for (size_t k = 0; k < p.blocks.size(); ++k) {
    const PsdBlock& block = p.blocks[k];
    VectorXd x(static_cast<Eigen::Index>(block.variables.size()));
    for (Eigen::Index i = 0; i < x.size(); ++i) x[i] = s.x[block.variables[static_cast<size_t>(i)]];
    const Matrix4d S = full(Vector10d(block.map * x + block.constant));
    for (Eigen::Index i = 0; i < x.size(); ++i) {
      gradient[block.variables[static_cast<size_t>(i)]] -=
          full(block.map.col(i)).cwiseProduct(s.Z[k]).sum();
    }
    const Eigen::SelfAdjointEigenSolver<Matrix4d> cone(S), dual(s.Z[k]);
    worst = std::max({worst, -cone.eigenvalues()[0] / S.norm(),
                      -dual.eigenvalues()[0] * S.norm() / p.b.squaredNorm()});
    const double w = block.log_det_weight;
    worst = std::max(
        worst, (S * s.Z[k] - w * Matrix4d::Identity()).norm() / (w > 0 ? w : p.b.squaredNorm()));
  }
  for (size_t l = 0; l < p.inequalities.size(); ++l) {
    const LinearInequality& row = p.inequalities[l];
    const auto number = static_cast<Eigen::Index>(l);
    double slack = -row.lower;
    for (size_t i = 0; i < row.variables.size(); ++i) {
      const double g = row.coefficients[static_cast<Eigen::Index>(i)];
      slack += g * s.x[row.variables[i]];
      gradient[row.variables[i]] -= s.z[number] * g;
    }
    worst = std::max({worst, -slack, -s.z[number], slack * s.z[number] / p.b.squaredNorm()});
  }
  return std::max(worst, gradient.norm() / size);
}

/// Several bodies, their data and some bounds, as identification makes them.
LmiProblem randomProblem(unsigned seed, int bodies, int extra, int rank, double noise) {
  std::mt19937 rng(seed);
  std::normal_distribution<double> normal;
  const int n = 10 * bodies + extra;
  LmiProblem problem;
  problem.A = randomMatrix(rng, rank, n);
  VectorXd truth(n);
  for (int k = 0; k < bodies; ++k) {
    const MatrixXd L = randomMatrix(rng, 4, 4);
    truth.segment<10>(10 * k) = lower(L * L.transpose());
    problem.blocks.push_back(identityBlock(10 * k));
  }
  for (int i = 0; i < extra; ++i) {
    truth[10 * bodies + i] = std::abs(normal(rng));
    problem.inequalities.push_back({{10 * bodies + i}, VectorXd::Ones(1), 0.0});
  }
  problem.b = problem.A * truth + noise * randomMatrix(rng, rank, 1);
  return problem;
}

// Every solution fulfils the Karush-Kuhn-Tucker conditions, which suffice for a convex problem:
// full rank and half the rank, with constraints active and not.
TEST(LmiLeastSquares, SolutionsAreOptimal) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    const int bodies = 1 + static_cast<int>(seed % 6), extra = static_cast<int>(seed % 4);
    const int n = 10 * bodies + extra;
    // without full rank a prior keeps x bounded, as everywhere in identification
    LmiProblem problem = randomProblem(seed, bodies, extra, seed % 3 == 0 ? n / 2 : 2 * n,
                                       seed % 2 == 0 ? 3.0 : 0.1);
    if (seed % 3 == 0) {
      const Eigen::Index rows = problem.A.rows();
      problem.A.conservativeResize(rows + n, n);
      problem.A.bottomRows(n) = 1e-2 * MatrixXd::Identity(n, n);
      problem.b.conservativeResize(rows + n);
      problem.b.tail(n).setConstant(1e-2);
    }
    const LmiSolution solution = solveLmiLeastSquares(problem);
    EXPECT_EQ(solution.status, LmiStatus::kSolved) << "seed " << seed;
    EXPECT_LT(optimalityError(problem, solution), 1e-7) << "seed " << seed;
    EXPECT_LT(solution.gap, 1e-9 * problem.b.squaredNorm()) << "seed " << seed;
    EXPECT_LT(solution.iterations, 40) << "seed " << seed;
  }
}

// Where the unconstrained minimum lies inside the cone, the solution is that minimum, to the
// accuracy of a QR factorisation and not only to the root of the gap.
TEST(LmiLeastSquares, InteriorSolutionsAreLeastSquares) {
  LmiProblem problem = randomProblem(7, 4, 3, 120, 1e-3);
  const LmiSolution solution = solveLmiLeastSquares(problem);
  const VectorXd expected = leastSquares(problem.A, problem.b);
  ASSERT_EQ(solution.status, LmiStatus::kSolved);
  EXPECT_LT((solution.x - expected).norm(), 1e-7 * expected.norm());
}

// The log-det term: for -w log det S + tr(C S) the minimum is S = w C^-1.
TEST(LmiLeastSquares, LogDetTerm) {
  std::mt19937 rng(3);
  const Matrix4d L = randomMatrix(rng, 4, 4), C = L * L.transpose() + Matrix4d::Identity();
  LmiProblem problem;
  problem.A = MatrixXd::Zero(1, 10);
  problem.b = VectorXd::Ones(1);
  problem.linear = frobenius().cwiseAbs2().cwiseProduct(lower(C));
  problem.blocks = {identityBlock(0)};
  problem.blocks[0].log_det_weight = 2.5;
  LmiOptions options;
  options.start = lower(Matrix4d::Identity());
  const LmiSolution solution = solveLmiLeastSquares(problem, options);
  ASSERT_EQ(solution.status, LmiStatus::kSolved);
  const Matrix4d expected = 2.5 * C.inverse();
  EXPECT_LT((full(solution.x) - expected).norm(), 1e-6 * expected.norm());
  EXPECT_FALSE(solution.block_active[0]);
}

// Linear inequalities alone: the projection on a box clips.
TEST(LmiLeastSquares, BoxClips) {
  LmiProblem problem;
  problem.A = MatrixXd::Identity(3, 3);
  problem.b = Eigen::Vector3d(-2.0, 0.5, 4.0);
  for (int i = 0; i < 3; ++i) {
    problem.inequalities.push_back({{i}, VectorXd::Ones(1), 0.0});
    problem.inequalities.push_back({{i}, -VectorXd::Ones(1), -1.0});
  }
  const LmiSolution solution = solveLmiLeastSquares(problem);
  ASSERT_EQ(solution.status, LmiStatus::kSolved);
  EXPECT_LT((solution.x - Eigen::Vector3d(0.0, 0.5, 1.0)).norm(), 1e-6);
  const std::vector<bool> active = {true, false, false, false, false, true};
  EXPECT_EQ(solution.inequality_active, active);
}

// A warm start takes fewer iterations than a cold one on a problem that moved a little.
TEST(LmiLeastSquares, WarmStartSavesIterations) {
  LmiProblem problem = randomProblem(11, 6, 4, 128, 2.0);
  const LmiSolution cold = solveLmiLeastSquares(problem);
  problem.b *= 1.001;
  LmiOptions options;
  options.warm = &cold;
  const LmiSolution warm = solveLmiLeastSquares(problem, options);
  EXPECT_EQ(warm.status, LmiStatus::kSolved);
  EXPECT_LT(optimalityError(problem, warm), 1e-7);
  EXPECT_LT(warm.iterations, cold.iterations);
}

// Contradicting constraints are called infeasible, a free direction is called unbounded.
TEST(LmiLeastSquares, SaysWhenThereIsNoSolution) {
  LmiProblem problem = randomProblem(5, 2, 0, 40, 0.1);
  problem.inequalities.push_back({{0}, VectorXd::Ones(1), 1.0});
  problem.inequalities.push_back({{0}, -VectorXd::Ones(1), 0.0});
  EXPECT_EQ(solveLmiLeastSquares(problem).status, LmiStatus::kInfeasible);

  LmiProblem open = randomProblem(6, 1, 0, 40, 0.1);
  open.A.col(9).setZero();
  open.linear = VectorXd::Zero(10);
  open.linear[9] = -1.0;
  EXPECT_NE(solveLmiLeastSquares(open).status, LmiStatus::kSolved);
}

// Bounds far from what the data say are reached: one element of a body is asked to be up to 1e5
// times what fits, where the misfit is up to 1e10 times that of the data. An upper bound below the
// lower one, by a thousandth, is called a contradiction at the same distances.
TEST(LmiLeastSquares, FarBoundsAreReachedAndContradictionsProven) {
  for (const double times : {2.0, 40.0, 1e3, 1e5}) {
    for (unsigned seed = 1; seed <= 12; ++seed) {
      const int bodies = 1 + static_cast<int>(seed % 4);
      LmiProblem problem = randomProblem(seed, bodies, 0, 20 * bodies, 0.1);
      const double value = leastSquares(problem.A, problem.b)(9, 0),
                   bound = times * std::abs(value);
      problem.inequalities.push_back({{9}, VectorXd::Ones(1), bound});
      problem.inequalities.push_back({{9}, -VectorXd::Ones(1), -1.5 * bound});
      const LmiSolution solution = solveLmiLeastSquares(problem);
      ASSERT_EQ(solution.status, LmiStatus::kSolved) << times << " seed " << seed;
      EXPECT_NEAR(solution.x[9], bound, 1e-6 * bound) << times << " seed " << seed;
      EXPECT_LT(solution.gap, 1e-6 * solution.objective) << times << " seed " << seed;
      problem.inequalities[1].lower = -0.999 * bound;
      EXPECT_EQ(solveLmiLeastSquares(problem).status, LmiStatus::kInfeasible)
          << times << " seed " << seed;
    }
  }
}

// Wrong sizes, indices and numbers are named.
TEST(LmiLeastSquares, BadProblemsAreRefused) {
  const LmiProblem good = randomProblem(8, 1, 1, 20, 0.1);
  const auto refused = [](const LmiProblem& problem) {
    EXPECT_THROW(solveLmiLeastSquares(problem), Error);
  };
  LmiProblem bad = good;
  bad.b.conservativeResize(3);
  refused(bad);
  bad = good;
  bad.A(0, 0) = std::nan("");
  refused(bad);
  bad = good;
  bad.blocks[0].variables[3] = 11;
  refused(bad);
  bad = good;
  bad.blocks[0].map.resize(9, 10);
  refused(bad);
  bad = good;
  bad.inequalities[0].coefficients.resize(2);
  refused(bad);
  bad = good;
  bad.linear = VectorXd::Zero(2);
  refused(bad);
}

}  // namespace
}  // namespace proprio
