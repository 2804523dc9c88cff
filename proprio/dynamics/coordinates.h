#pragma once

/// Inside the dynamics room: how samples reach the kernels. Trees with mimic joints are expanded to
/// full coordinates; blocks of `lanes` samples are gathered where they cannot be read in place.

#include "proprio/dynamics/workspace.h"

namespace proprio::internal {

/// full = ratio * free[source] + offset for one sample; stride between coordinates of `free` and
/// `full`.
void expandPosition(const Tree& tree, const double* free, ptrdiff_t free_stride, double* full,
                    ptrdiff_t full_stride);
void expandVelocity(const Tree& tree, const double* free, ptrdiff_t free_stride, double* full,
                    ptrdiff_t full_stride);
/// free = sum ratio * full (torques).
void contractTorque(const Tree& tree, const double* full, ptrdiff_t full_stride, double* free,
                    ptrdiff_t free_stride);

/// free(i, j) = sum ratio_k ratio_l full(k, l) over the full coordinates k, l of free ones i, j;
/// whole.
void contractMatrix(const Tree& tree, const kernels::MatrixView<double>& full,
                    const kernels::MatrixView<double>& free);

/// Zeros of a square matrix over full velocity coordinates where these lie on different branches,
/// for `samples` samples.
void storeStructuralZeros(const Workspace& workspace, const kernels::MatrixView<double>& M,
                          Eigen::Index samples);

/// Wrenches on links moved to their bodies, into workspace.external(); null stays null.
const double* bodyWrenches(const Tree& tree, Workspace& workspace, const char* function,
                           const LinkWrenches* external);
/// @throws Error if the wrenches of a batch have another size or name no link of the tree.
void requireWrenches(const Tree& tree, const char* function, const BatchWrenches* external,
                     Eigen::Index samples);

/// Full dual coordinates, wrenches on the bodies (null: none), scratch and room for torques, all in
/// the workspace: its rooms for several samples hold both numbers of one.
struct DualSample {
  Dual *q, *v, *a, *external, *scratch, *tau;
};
DualSample dualSample(const Tree& tree, Workspace& workspace, const char* function,
                      const std::vector<Dual>& q, const std::vector<Dual>& v,
                      const std::vector<Dual>& a, const std::vector<Dual>* external);

/// One sample of coordinates as the kernels want it: in place, or expanded into the workspace.
struct Sample {
  kernels::View<double> q, v, a;
};
Sample sample(const Tree& tree, Workspace& workspace, const double* q, const double* v,
              const double* a);

/// A block of `lanes` samples of column-major matrices (null matrices stay null), in place or
/// gathered.
struct Block {
  kernels::View<double> q, v, a;
  Eigen::Index start = 0;  ///< first sample
  Eigen::Index count = 0;  ///< samples that count; the rest are repetitions
  bool in_place = true;
};
struct BatchInput {
  const Eigen::Ref<const Eigen::MatrixXd>* q = nullptr;
  const Eigen::Ref<const Eigen::MatrixXd>* v = nullptr;
  const Eigen::Ref<const Eigen::MatrixXd>* a = nullptr;
};
Eigen::Index blockCount(Eigen::Index samples, int lanes);
/// The last block is shifted back so that it is full; with fewer samples than lanes it is gathered.
Block block(const Tree& tree, Workspace& workspace, const BatchInput& input, Eigen::Index samples,
            int lanes, Eigen::Index index);
/// Wrenches of the block's samples moved to the bodies, into workspace.external(); null stays null.
const double* blockWrenches(const Tree& tree, Workspace& workspace, const BatchWrenches* external,
                            const Block& block, int lanes);

}  // namespace proprio::internal
