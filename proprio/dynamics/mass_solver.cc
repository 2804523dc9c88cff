#include <algorithm>

#include "proprio/dynamics/mass_solver_internal.h"

namespace proprio::internal {

void factorizeMassMatrix(const Tree& tree, Workspace& workspace) {
  kernels::active().tree_factorize(tree.velocityCount(), workspace.coordinateOrder().data(),
                                   workspace.coordinateUp().data(), workspace.square().data());
}

void solveMassMatrix(const Tree& tree, Workspace& workspace, Eigen::Index columns) {
  kernels::active().tree_solve(tree.velocityCount(), workspace.coordinateOrder().data(),
                               workspace.coordinateUp().data(), workspace.square().data(),
                               workspace.solveRows(), columns, workspace.solveStride());
}

void solveMassMatrix(const Tree& tree, Workspace& workspace, VectorRef x) {
  double* rows = workspace.solveRows();
  const Eigen::Index stride = workspace.solveStride();
  std::fill_n(rows, x.size() * stride, 0.0);
  for (Eigen::Index i = 0; i < x.size(); ++i) rows[i * stride] = x[i];
  solveMassMatrix(tree, workspace, 1);
  for (Eigen::Index i = 0; i < x.size(); ++i) x[i] = rows[i * stride];
}

}  // namespace proprio::internal
