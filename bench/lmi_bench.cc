// Least squares under matrix inequalities beside SDPA in one run: problems of the size of a
// six-joint arm and of a humanoid with 31 links. SDPA's time is that of its main loop as it reports
// it, without its start and without reading text; both use one thread. And one body, in coordinates
// of the manifold beside a general solver.

#include <fmt/format.h>

#include <random>

#include "proprio/identification/body_program.h"
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

/// One body from wrenches: the descent on the manifold beside a general solver, whose unknowns for
/// the orientation are a quaternion or a matrix.
void compareOneBody(int repetitions) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  const auto number = [&] { return normal(random); };
  const Eigen::MatrixXd A = Eigen::MatrixXd::NullaryExpr(30, 10, number);
  const auto body = [](double mass, double x, const Vector3d& inertia) {
    return InertialParameters::fromCom(mass, Vector3d(x, 0.1, 0.0),
                                       inertia.asDiagonal().toDenseMatrix());
  };
  const Eigen::VectorXd b = A * body(2.0, 0.3, Vector3d(0.1, 0.15, 0.2)).vector() +
                            0.1 * Eigen::VectorXd::NullaryExpr(30, number);
  const InertialParameters start = body(1.0, 0.0, Vector3d(0.2, 0.3, 0.35));
  DescentResult native, quaternion, matrix;
  bench::Candidate one = {"manifold", [&] { native = fitBody(A, b, start); }};
  bench::Candidate two = {
      "quaternion",
      [&] { quaternion = fitBodyByProgram(A, b, start, RotationUnknowns::kQuaternion); }};
  bench::Candidate three = {
      "matrix", [&] { matrix = fitBodyByProgram(A, b, start, RotationUnknowns::kRotationMatrix); }};
  bench::timeInterleaved({&one, &two, &three}, repetitions);
  fmt::print("one body: manifold {:.3f} ms, {} iterations\n", one.nanoseconds * 1e-6,
             native.iterations);
  const auto beside = [&](const char* name, const bench::Candidate& other,
                          const DescentResult& found) {
    fmt::print(
        "  {} with Ipopt {:.3f} ms, {} iterations; ratio {:.0f}, per iteration {:.1f}; objectives "
        "differ by {:.0e}\n",
        name, other.nanoseconds * 1e-6, found.iterations, other.nanoseconds / one.nanoseconds,
        other.nanoseconds / found.iterations / (one.nanoseconds / native.iterations),
        std::abs(found.objective - native.objective) / native.objective);
  };
  beside("quaternion", two, quaternion);
  beside("rotation matrix", three, matrix);
}

}  // namespace
}  // namespace proprio

int main() {
  proprio::compare(6, 51);
  proprio::compare(31, 11);
  proprio::compareOneBody(21);
}
