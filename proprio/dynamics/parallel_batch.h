#pragma once

/// Batches on all cores: a workspace per worker, and chunks of samples handed to the batch
/// functions. Every sample's numbers are those of the one-thread batch function, bit for bit,
/// whatever the number of threads.
///
///   WorkspacePool pool(tree);
///   pool.forSamples(q.rows(), [&](Workspace& workspace, Eigen::Index start, Eigen::Index count) {
///     inverseDynamicsBatch(tree, parameters, workspace, q.middleRows(start, count),
///     v.middleRows(start, count),
///                          a.middleRows(start, count), tau.middleRows(start, count));
///   });

#include <functional>
#include <memory>
#include <vector>

#include "proprio/dynamics/workspace.h"

namespace proprio {

class WorkspacePool {
 public:
  explicit WorkspacePool(const Tree& tree);
  /// Calls work(workspace, start, count) for chunks that cover all samples, from several threads at
  /// once.
  void forSamples(
      Eigen::Index samples,
      const std::function<void(Workspace&, Eigen::Index start, Eigen::Index count)>& work);

 private:
  std::vector<std::unique_ptr<Workspace>> workspaces_;
};

}  // namespace proprio
