#include "proprio/dynamics/parallel_batch.h"

#include "proprio/core/parallel.h"

namespace proprio {

WorkspacePool::WorkspacePool(const Tree& tree) {
  for (int i = 0; i < workerCount(); ++i) workspaces_.push_back(std::make_unique<Workspace>(tree));
}

void WorkspacePool::forSamples(
    Eigen::Index samples, const std::function<void(Workspace&, Eigen::Index, Eigen::Index)>& work) {
  constexpr Eigen::Index kChunk = 1024;  // long enough to hide the hand-over
  parallelChunks(samples, kChunk, [&](std::ptrdiff_t start, std::ptrdiff_t count, int worker) {
    work(*workspaces_[static_cast<size_t>(worker)], start, count);
  });
}

}  // namespace proprio
