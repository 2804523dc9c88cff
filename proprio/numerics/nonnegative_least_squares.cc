#include "proprio/numerics/nonnegative_least_squares.h"

#include <Eigen/QR>
#include <algorithm>
#include <vector>

#include "proprio/core/error.h"

namespace proprio {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Slope of a column relative to its length and that of b which counts as zero.
constexpr double kFlat = 1e-11;

VectorXd solvePassive(const MatrixXd& A, const VectorXd& b, const std::vector<Index>& passive) {
  MatrixXd columns(A.rows(), static_cast<Index>(passive.size()));
  for (size_t k = 0; k < passive.size(); ++k)
    columns.col(static_cast<Index>(k)) = A.col(passive[k]);
  return columns.colPivHouseholderQr().solve(b);
}

}  // namespace

NonnegativeSolution nonnegativeLeastSquares(const MatrixXd& A, const VectorXd& b, int free,
                                            int max_iterations) {
  if (b.size() != A.rows() || free < 0 || free > A.cols() || !A.allFinite() || !b.allFinite())
    throw Error("nonnegative least squares: sizes that do not fit or numbers that are not finite");
  NonnegativeSolution solution;
  solution.x = VectorXd::Zero(A.cols());
  std::vector<bool> is_passive(static_cast<size_t>(A.cols()), false);
  std::vector<Index> passive;
  for (Index i = 0; i < free; ++i) {
    passive.push_back(i);
    is_passive[static_cast<size_t>(i)] = true;
  }
  const VectorXd lengths = A.colwise().norm();
  VectorXd residual = b;
  bool first = true;
  for (; solution.iterations < max_iterations; ++solution.iterations) {
    // the steepest column that is still at zero enters
    if (!first || free == 0) {
      const VectorXd slope = A.transpose() * residual;
      Index enters = -1;
      double steepest = kFlat * b.norm();
      for (Index i = 0; i < A.cols(); ++i) {
        if (is_passive[static_cast<size_t>(i)] || lengths[i] == 0.0) continue;
        if (slope[i] / lengths[i] > steepest) {
          steepest = slope[i] / lengths[i];
          enters = i;
        }
      }
      if (enters < 0) return solution;
      passive.push_back(enters);
      is_passive[static_cast<size_t>(enters)] = true;
    }
    first = false;
    // back to the border as long as the solution on the passive columns leaves it
    while (!passive.empty()) {
      const VectorXd target = solvePassive(A, b, passive);
      double step = 1.0;
      for (size_t k = 0; k < passive.size(); ++k) {
        const double now = solution.x[passive[k]], then = target[static_cast<Index>(k)];
        if (passive[k] >= free && then <= 0.0) step = std::min(step, now / (now - then + 1e-300));
      }
      for (size_t k = 0; k < passive.size(); ++k)
        solution.x[passive[k]] += step * (target[static_cast<Index>(k)] - solution.x[passive[k]]);
      if (step >= 1.0) break;
      std::vector<Index> kept;
      for (const Index i : passive) {
        if (i < free || solution.x[i] > 1e-14 * solution.x.cwiseAbs().maxCoeff()) {
          kept.push_back(i);
        } else {
          solution.x[i] = 0.0;
          is_passive[static_cast<size_t>(i)] = false;
        }
      }
      if (kept.size() == passive.size()) break;
      passive = std::move(kept);
    }
    residual = b - A * solution.x;
  }
  solution.converged = false;
  return solution;
}

}  // namespace proprio
