#pragma once

/// Inside the simulation room: the loop itself, for runs that fit side by side.

#include <tuple>

#include "proprio/simulation/closed_loop.h"

namespace proprio::internal {

/// What decides which runs may share a group of lanes.
struct RunShape {
  int kind, integrator, sample_every, substeps;
  Eigen::Index ticks;
  double rate, filter;
  bool one_lane;
  auto tie() const {
    return std::tie(kind, integrator, sample_every, substeps, ticks, rate, filter, one_lane);
  }
  bool operator<(const RunShape& other) const { return tie() < other.tie(); }
};

/// Cells of skins may touch, too; they are the last contact points.
Surroundings withSkins(const Model& model, Surroundings surroundings);
bool hasSurroundings(const ClosedLoopOptions& options);

/// Runs of one shape that were checked, a lane each. The first `count` are wanted; the others fill
/// the lanes.
std::vector<ClosedLoopResult> runLoop(const Tree& tree,
                                      const std::vector<const ClosedLoopRun*>& runs, size_t count,
                                      const RunShape& shape);

}  // namespace proprio::internal
