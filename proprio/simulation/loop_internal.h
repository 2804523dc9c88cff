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
/// @throws Error if a payload or push acts on a link that cannot move or not within 0 to `end`, s,
/// or a point or half-space is none.
void checkSurroundings(const Tree& tree, const std::vector<PayloadChange>& payloads,
                       const Surroundings& around, double end);
/// A robot that starts deep inside a floor would be thrown out of it, whatever drives it.
void requireStartOutside(const Tree& tree, const Surroundings& around, const Eigen::VectorXd& q);
bool hasSurroundings(const ClosedLoopOptions& options);

/// Runs of one shape that were checked, a lane each. The first `count` are wanted; the others fill
/// the lanes.
std::vector<ClosedLoopResult> runLoop(const Tree& tree,
                                      const std::vector<const ClosedLoopRun*>& runs, size_t count,
                                      const RunShape& shape);

}  // namespace proprio::internal
