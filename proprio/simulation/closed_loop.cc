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
  const auto links = static_cast<int>(tree.model().links.size());
  const auto requireLink = [&](int link, const char* what) {
    if (link < 0 || link >= links)
      throw Error(fmt::format("a {} names link {}, the robot has {} links", what, link, links));
  };
  for (const PayloadChange& change : options.payloads) requireLink(change.link, "payload");
  for (const ContactPoint& point : options.surroundings.points)
    requireLink(point.link, "contact point");
  for (const AppliedWrench& wrench : options.surroundings.wrenches)
    requireLink(wrench.link, "wrench");
  for (const HalfSpace& space : options.surroundings.half_spaces) {
    if (std::abs(space.normal.norm() - 1.0) > 1e-9)
      throw Error("the normal of a half-space is not a unit vector; normalise it");
  }
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
  const VectorXd neutral = tree.neutralPosition();
  plant.state.head(neutral.size()) = neutral;
  for (const Axis& axis : internal::servoAxes(tree)) {
    const std::string& name = tree.model().joints[static_cast<size_t>(axis.joint)].name;
    const auto& names = run.reference->joints;
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end() && run.reference->q.rows() > 0)
      plant.state[tree.positionIndex(axis.joint)] =
          run.reference->q(0, static_cast<Index>(found - names.begin()));
  }
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
