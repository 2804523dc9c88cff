#include "proprio/simulation/closed_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "proprio/core/error.h"
#include "proprio/core/parallel.h"
#include "proprio/simulation/loop_internal.h"
#include "proprio/simulation/loop_reference_internal.h"
#include "proprio/simulation/plant_internal.h"

namespace proprio {
namespace {

using Eigen::Index;
using Eigen::VectorXd;
using internal::Axis;
using internal::hasSurroundings;
using internal::Plant;
using internal::RunShape;
using internal::withSkins;

// where no velocity limit is stated: what bristles are prepared for
constexpr double kUsualVelocity = 10.0;
// a contact point that is pressed by so many weights of the robot at the start does not rest there
constexpr double kWeights = 10.0;
constexpr double kEarthGravity = 9.81;  // m/s^2

double stabilityLimit(Integrator integrator) { return integrator == Integrator::kRk4 ? 2.5 : 1.8; }

// how often the smaller rate fits into the larger one
int rateRatio(const char* what, double larger, double smaller) {
  const double ratio = larger / smaller;
  const double whole = std::round(ratio);
  if (!(smaller > 0.0) || !(whole >= 1.0) || std::abs(ratio - whole) > 1e-9 * whole ||
      whole > 1e6) {
    throw Error(
        fmt::format("{}: {} Hz and {} Hz; one must be a whole multiple of the other, and "
                    "physics rate >= control rate >= sample rate",
                    what, larger, smaller));
  }
  return static_cast<int>(whole);
}

void requireNotNegative(const char* what, double value) {
  if (value >= 0.0 && std::isfinite(value)) return;
  throw Error(fmt::format("the {} is {}; give a number of at least 0", what, value));
}

Index tickCount(const ClosedLoopRun& run) {
  const VectorXd& time = run.reference->time;
  return static_cast<Index>(std::floor((time[time.size() - 1] - time[0]) * run.servo.rate + 1e-6)) +
         1;
}

bool canMove(const Tree& tree, int link) {
  return tree.floating() || !dofPath(tree.model(), tree.baseLink(), link).empty();
}

// a link that cannot move feels neither payloads nor forces
void requireMovingLink(const Tree& tree, int link, const char* what) {
  const Model& model = tree.model();
  const auto links = static_cast<int>(model.links.size());
  if (link < 0 || link >= links)
    throw Error(fmt::format("a {} names link {}, the robot has {} links", what, link, links));
  if (canMove(tree, link)) return;
  throw Error(
      fmt::format("a {} acts on link '{}', which is fixed to the world and cannot move; "
                  "name a link that moves",
                  what, model.links[static_cast<size_t>(link)].name));
}

}  // namespace

namespace internal {

void checkSurroundings(const Tree& tree, const std::vector<PayloadChange>& payloads,
                       const Surroundings& around, double end) {
  const auto requireBefore = [&](double start, const char* what) {
    if (start >= 0.0 && start <= end) return;
    throw Error(
        fmt::format("a {} begins at {} s; the motion lasts from 0 to {} s, give a time in "
                    "it",
                    what, start, end));
  };
  for (const PayloadChange& change : payloads) {
    requireMovingLink(tree, change.link, "payload");
    requireBefore(change.time, "payload");
  }
  for (const AppliedWrench& wrench : around.wrenches) {
    requireMovingLink(tree, wrench.link, "push");
    requireBefore(wrench.start, "push");
    if (!(wrench.end > wrench.start))
      throw Error(fmt::format(
          "a push on link '{}' begins at {} s and ends at {} s; give an end "
          "after the start",
          tree.model().links[static_cast<size_t>(wrench.link)].name, wrench.start, wrench.end));
  }
  for (const ContactPoint& point : around.points) {
    if (point.link < 0 || point.link >= static_cast<int>(tree.model().links.size()))
      throw Error(fmt::format("a contact point names link {}, the robot has {} links", point.link,
                              tree.model().links.size()));
  }
  for (const HalfSpace& space : around.half_spaces) {
    if (!(std::abs(space.normal.norm() - 1.0) <= 1e-9))
      throw Error("the normal of a half-space is not a unit vector; normalise it");
    if (!space.point.allFinite())
      throw Error("the point of a half-space is not finite; give three finite numbers");
  }
}

void requireStartOutside(const Tree& tree, const Surroundings& around, const VectorXd& q) {
  if (around.half_spaces.empty()) return;
  double weight = 0.0;
  for (const Link& link : tree.model().links) weight += kEarthGravity * link.inertia.mass;
  Kinematics kinematics(tree);
  computeKinematics(tree, q, kinematics);
  for (const ContactPoint& point : around.points) {
    if (!canMove(tree, point.link)) continue;
    const Vector3d p_W = kinematics.X_WL[static_cast<size_t>(point.link)] * point.p_L;
    for (const HalfSpace& space : around.half_spaces) {
      const double depth = space.normal.dot(space.point - p_W);
      if (!(space.stiffness * depth > kWeights * weight)) continue;
      throw Error(fmt::format(
          "link '{}' starts {:.3g} m inside of a half-space (floor) and would be thrown out of it; "
          "start the motion outside, or move the half-space",
          tree.model().links[static_cast<size_t>(point.link)].name, depth));
    }
  }
}

}  // namespace internal

namespace {

// on the reference; joints that it does not name as in loop_reference.cc
VectorXd startPosition(const Tree& tree, const ClosedLoopRun& run) {
  VectorXd q = tree.neutralPosition();
  const auto& names = run.reference->joints;
  for (const Axis& axis : internal::servoAxes(tree)) {
    const Joint& joint = tree.model().joints[static_cast<size_t>(axis.joint)];
    double& own = q[tree.positionIndex(axis.joint)];
    if (joint.limits.lower > 0.0) own = joint.limits.lower;
    if (joint.limits.upper < 0.0) own = joint.limits.upper;
    const auto found = std::find(names.begin(), names.end(), joint.name);
    if (found != names.end()) own = run.reference->q(0, static_cast<Index>(found - names.begin()));
  }
  return q;
}

/// `earlier`: a run that has passed; what it shares with this one is not looked at again.
void checkRun(const Tree& tree, const ClosedLoopRun& run, const ClosedLoopRun* earlier) {
  const ClosedLoopOptions& options = run.options;
  requireNotNegative("encoder noise", options.encoder_noise);
  requireNotNegative("quantisation", options.quantisation);
  requireNotNegative("torque noise", options.torque_noise);
  if (!(options.sign_gain > 0.0))
    throw Error(
        fmt::format("the gain of smooth signs is {}; give a positive number", options.sign_gain));
  if (run.servo.kp.size() != tree.velocityCount()) {
    throw Error(fmt::format("the servo is for {} coordinates, the robot has {}",
                            run.servo.kp.size(), tree.velocityCount()));
  }
  if (earlier == nullptr || earlier->reference != run.reference ||
      earlier->options.check_limits != run.options.check_limits)
    internal::checkReference(tree, run);
  const bool uses_model = run.servo.kind == ControlKind::kComputedTorque ||
                          run.servo.feed_forward != FeedForward::kNone;
  if (uses_model && tree.positionCount() != tree.velocityCount()) {
    throw Error(
        "computed torque and feed-forward need a fixed base: the pose of a free one is not "
        "measured");
  }
  const VectorXd& time = run.reference->time;
  internal::checkSurroundings(tree, options.payloads, options.surroundings,
                              time[time.size() - 1] - time[0]);
  internal::requireStartOutside(tree, withSkins(tree.model(), options.surroundings),
                                startPosition(tree, run));
}

VectorXd usualVelocities(const Servo& servo) {
  VectorXd limits = servo.velocity_limit;
  for (double& limit : limits) {
    if (std::isinf(limit)) limit = kUsualVelocity;
  }
  return limits;
}

// physics steps per control period
int substepsOf(const Tree& tree, const ClosedLoopRun& run) {
  const ClosedLoopOptions& options = run.options;
  if (options.physics_rate != 0.0)
    return rateRatio("physics and control", options.physics_rate, run.servo.rate);
  Plant plant(tree, {&run.plant}, options.sign_gain);
  const Surroundings surroundings = withSkins(tree.model(), options.surroundings);
  if (hasSurroundings(options)) plant.setSurroundings(&surroundings);
  const VectorXd start = startPosition(tree, run);
  plant.state.head(start.size()) = start;
  const double fastest = plant.fastestRate(usualVelocities(run.servo));
  const double steps =
      std::ceil(fastest / (stabilityLimit(options.integrator) * run.servo.rate) - 1e-9);
  if (!(steps <= 10000.0)) {
    throw Error(
        fmt::format("the fastest motion inside the robot has a rate of {:.3g} 1/s and would need a "
                    "physics rate above {:.3g} Hz; check friction, drive stiffness, rotor inertia "
                    "and contacts, or give the physics rate",
                    fastest, 10000.0 * run.servo.rate));
  }
  return std::max(1, static_cast<int>(steps));
}

RunShape shapeOf(const Tree& tree, const ClosedLoopRun& run,
                 const ClosedLoopRun* earlier = nullptr) {
  checkRun(tree, run, earlier);
  RunShape shape;
  shape.kind = static_cast<int>(run.servo.kind);
  shape.integrator = static_cast<int>(run.options.integrator);
  shape.sample_every = rateRatio("control and samples", run.servo.rate, run.options.sample_rate);
  shape.substeps = substepsOf(tree, run);
  shape.ticks = tickCount(run);
  shape.rate = run.servo.rate;
  shape.filter = std::isnan(run.servo.velocity_filter) ? -1.0 : run.servo.velocity_filter;
  shape.one_lane = Plant::needsOneLane(tree) || hasSurroundings(run.options);
  return shape;
}

}  // namespace

ClosedLoopResult simulateClosedLoop(const Tree& tree, const ClosedLoopRun& run) {
  ClosedLoopResult result = std::move(internal::runLoop(tree, {&run}, 1, shapeOf(tree, run))[0]);
  if (!result.failure.empty()) throw Error(result.failure);
  return result;
}

std::vector<ClosedLoopResult> simulateClosedLoops(const Tree& tree,
                                                  const std::vector<ClosedLoopRun>& runs) {
  // runs of one shape side by side; smooth signs and limits are those of the whole group
  std::map<std::pair<RunShape, std::pair<double, bool>>, std::vector<size_t>> shapes;
  for (size_t r = 0; r < runs.size(); ++r) {
    const ClosedLoopRun* earlier = r > 0 ? &runs[r - 1] : nullptr;
    shapes[{shapeOf(tree, runs[r], earlier),
            {runs[r].options.sign_gain, runs[r].options.check_limits}}]
        .push_back(r);
  }
  struct Group {
    const RunShape* shape;
    std::vector<size_t> members;
  };
  std::vector<Group> groups;
  for (const auto& [key, members] : shapes) {
    const size_t lanes = key.first.one_lane ? 1 : static_cast<size_t>(kernels::active().lanes);
    for (size_t start = 0; start < members.size(); start += lanes) {
      const size_t end = std::min(members.size(), start + lanes);
      groups.push_back({&key.first,
                        {members.begin() + static_cast<std::ptrdiff_t>(start),
                         members.begin() + static_cast<std::ptrdiff_t>(end)}});
    }
  }
  std::vector<ClosedLoopResult> results(runs.size());
  parallelChunks(
      static_cast<std::ptrdiff_t>(groups.size()), 1, [&](std::ptrdiff_t g, std::ptrdiff_t, int) {
        const Group& group = groups[static_cast<size_t>(g)];
        const size_t count = group.members.size();
        std::vector<const ClosedLoopRun*> lanes;
        for (size_t r : group.members) lanes.push_back(&runs[r]);
        const auto width = static_cast<size_t>(kernels::active().lanes);
        while (!group.shape->one_lane && lanes.size() < width) lanes.push_back(lanes[0]);
        std::vector<ClosedLoopResult> own = internal::runLoop(tree, lanes, count, *group.shape);
        for (size_t r = 0; r < count; ++r) results[group.members[r]] = std::move(own[r]);
      });
  return results;
}

}  // namespace proprio
