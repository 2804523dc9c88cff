#pragma once

/// Inside the dynamics room: M X = B for the mass matrix in workspace.square(), M = L^T D L without
/// pivots (kernels/tree_solve.inl). Parameters need not be possible ones: an indefinite M is solved
/// as well, as by articulated bodies. Real-time.

#include "proprio/dynamics/workspace.h"

namespace proprio::internal {

/// Overwrites workspace.square() by its factors.
void factorizeMassMatrix(const Tree& tree, Workspace& workspace);

/// Then any number of times: overwrites the first columns of workspace.solveRows() by M^-1 times
/// them. Up to solveColumns(); those beyond `columns` that complete a block are changed too.
void solveMassMatrix(const Tree& tree, Workspace& workspace, Eigen::Index columns);
/// x <- M^-1 x.
void solveMassMatrix(const Tree& tree, Workspace& workspace, VectorRef x);

}  // namespace proprio::internal
