// Least squares under matrix inequalities beside SDPA in one run: problems of the size of a
// six-joint arm and of a humanoid with 31 links. SDPA's time is that of its main loop as it reports
// it, without its start and without reading text; both use one thread.

#include <fmt/format.h>

#include <random>

#include "proprio/numerics/testing/sdpa.h"
#include "timing.h"

namespace proprio {
namespace {

/// Links with ten unknowns each, whitened; the data see 60 % of the directions, the prior holds the
/// rest; some links end up on the boundary.
LmiProblem robotProblem(int links, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  const Eigen::Index n = 10 * links, data = 6 * links;
  LmiProblem problem;
  problem.A = Eigen::MatrixXd::Zero(data + n, n);
  // directions that are seen well and badly
  for (Eigen::Index i = 0; i < data; ++i) {
    const double size =
        100.0 * std::pow(10.0, -2.5 * static_cast<double>(i) / static_cast<double>(data));
    for (Eigen::Index k = 0; k < n; ++k) problem.A(i, k) = size * normal(random) / std::sqrt(n);
  }
  problem.A.bottomRows(n).setIdentity();
  Eigen::VectorXd truth(n);
  for (double& x : truth) x = 0.7 * normal(random);
  problem.b = Eigen::VectorXd::Zero(data + n);
  problem.b.head(data) = problem.A.topRows(data) * truth;
  for (Eigen::Index i = 0; i < data; ++i) problem.b[i] += normal(random);
  for (int k = 0; k < links; ++k) {
    PsdBlock block;
    Eigen::VectorXd scale = Eigen::VectorXd::Constant(10, std::sqrt(0.5));
    for (int i = 0; i < 10; ++i) block.variables.push_back(10 * k + i);
    for (const int i : {0, 2, 5, 9}) block.constant[i] = scale[i] = 1.0;
    block.map = scale.asDiagonal();
    problem.blocks.push_back(block);
  }
  return withTriangularRows(problem);
}

void compare(int links, int repetitions) {
  const LmiProblem problem = robotProblem(links, 1);
  LmiSolution solution;
  bench::Candidate own = {"own", [&] { solution = solveLmiLeastSquares(problem); }};
  bench::timeInterleaved({&own}, repetitions);
  int active = 0;
  for (const bool on_boundary : solution.block_active) active += on_boundary;
  fmt::print(
      "{:2} links, {:3} unknowns: {:8.3f} ms, {} iterations, gap {:.0e} of the objective, {} links "
      "on the boundary",
      links, 10 * links, own.nanoseconds * 1e-6, solution.iterations,
      solution.gap / solution.objective, active);
  if (!testing::haveSdpa()) {
    fmt::print("; sdpa is not installed\n");
    return;
  }
  testing::SdpaAnswer best = testing::solveWithSdpa(problem, solution.objective);
  for (int i = 1; i < 3 && best.seconds < 5.0; ++i) {
    const testing::SdpaAnswer again = testing::solveWithSdpa(problem, solution.objective);
    if (again.seconds < best.seconds) best = again;
  }
  fmt::print("; SDPA {:8.1f} ms, ratio {:.0f}, objectives differ by {:.0e}\n", best.seconds * 1e3,
             best.seconds * 1e9 / own.nanoseconds,
             std::abs(best.objective - solution.objective) / solution.objective);
}

}  // namespace
}  // namespace proprio

int main() {
  proprio::compare(6, 51);
  proprio::compare(31, 11);
}
