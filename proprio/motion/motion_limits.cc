#include "proprio/motion/motion_limits.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "proprio/core/error.h"
#include "proprio/core/text.h"
#include "proprio/core/text_table.h"
#include "proprio/dynamics/augmented_regressor.h"
#include "proprio/motion/motion_grid_internal.h"

namespace proprio {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

bool oneDegree(const Joint& joint) { return velocityCount(joint.type) == 1; }

// the smaller one, where stated
double tighter(double limit, double other) {
  if (std::isnan(limit)) return other;
  return std::isnan(other) ? limit : std::min(limit, other);
}

// lowers the leader's limits to what a joint that follows it with q = ratio * leader + offset takes
void applyLimits(const Joint& joint, Index i, MotionLimits& limits) {
  const double ratio = joint.mimic ? joint.mimic_ratio : 1.0;
  const double offset = joint.mimic ? joint.mimic_offset : 0.0;
  if (ratio == 0.0) return;
  double low = (joint.limits.lower - offset) / ratio, high = (joint.limits.upper - offset) / ratio;
  if (ratio < 0) std::swap(low, high);
  if (joint.type != JointType::kContinuous) {
    limits.lower[i] = -tighter(-limits.lower[i], -low);
    limits.upper[i] = tighter(limits.upper[i], high);
  }
  const double scale = std::abs(ratio);
  limits.velocity[i] = tighter(limits.velocity[i], joint.limits.velocity / scale);
  limits.acceleration[i] = tighter(limits.acceleration[i], joint.limits.acceleration / scale);
  if (joint.mimic) return;  // its effort is part of the leader's
  limits.effort[i] = tighter(joint.limits.effort, joint.drive.torque_limit);
}

void checkLimits(const MotionLimits& limits) {
  for (Index i = 0; i < limits.lower.size(); ++i) {
    const std::string& joint = limits.joints[static_cast<size_t>(i)];
    if (limits.lower[i] > limits.upper[i])
      throw Error(fmt::format("joint {}: its position limits {} .. {} are reversed",
                              inQuotes(joint), limits.lower[i], limits.upper[i]));
    for (const double limit : {limits.velocity[i], limits.acceleration[i], limits.effort[i]}) {
      if (limit < 0)
        throw Error(fmt::format("joint {}: its limit {} is negative", inQuotes(joint), limit));
    }
  }
}

void add(std::vector<Violation>& list, const std::string& joint, LimitKind kind, double time,
         double found, double limit) {
  if (std::isnan(limit)) return;
  const double slack = kLimitTolerance * (1.0 + std::abs(limit));
  const bool beyond = kind == LimitKind::kLower ? found < limit - slack : found > limit + slack;
  if (beyond || std::isnan(found)) list.push_back({joint, kind, time, found, limit});
}

// jumps that no limit forbids: no drive can follow them all the same
std::string jumpsNote(const MotionExtremes& found, const MotionLimits& limits) {
  std::vector<std::string> jumps;
  for (Index i = 0; i < found.velocity.size(); ++i) {
    const bool position = std::isinf(found.velocity[i]);
    if (!position && !std::isinf(found.acceleration[i])) continue;
    if (!std::isnan(position ? limits.velocity[i] : limits.acceleration[i])) continue;
    jumps.push_back(
        fmt::format("joint {} jumps in {} at {} s", inQuotes(limits.joints[static_cast<size_t>(i)]),
                    position ? "position" : "velocity",
                    readable(position ? found.velocity_time[i] : found.acceleration_time[i])));
  }
  if (jumps.empty()) return "";
  return fmt::format("{}: no drive can follow that exactly, and no limit is stated",
                     fmt::join(jumps, ", "));
}

struct Efforts {
  VectorXd largest, time;  ///< per joint of the motion
};

Efforts effortsOf(const Tree& tree, const Parameters& parameters, const JointMotion& motion,
                  const VectorXd& posture) {
  const Trajectory& trajectory = *motion.trajectory;
  const CompiledParameters compiled = compileParameters(tree, parameters);
  Workspace workspace(tree);
  std::vector<Index> position, place;
  for (const std::string& joint : motion.joints) {
    position.push_back(tree.positionIndex(requireJoint(tree.model(), joint)));
    place.push_back(tree.velocityIndex(requireJoint(tree.model(), joint)));
  }
  VectorXd q = posture, v = VectorXd::Zero(tree.velocityCount()), a = v, tau = v;
  const Index joints = trajectory.size();
  VectorXd qs(joints), vs(joints), as(joints);
  Efforts efforts{VectorXd::Zero(joints), VectorXd::Zero(joints)};
  for (const GridPiece& piece : motionGrid(trajectory)) {
    for (int k = 0; k <= piece.steps; ++k) {
      const double t = piece.time(k);
      trajectory.at(t, qs, vs, as);
      for (Index i = 0; i < joints; ++i) {
        const Index j = place[static_cast<size_t>(i)];
        q[position[static_cast<size_t>(i)]] = qs[i];
        v[j] = vs[i];
        a[j] = as[i];
      }
      fullTorque(tree, parameters, compiled, workspace, q, v, a, tau);
      for (Index i = 0; i < joints; ++i) {
        const double effort = std::abs(tau[place[static_cast<size_t>(i)]]);
        if (effort > efforts.largest[i] || std::isnan(effort)) {
          efforts.largest[i] = effort;
          efforts.time[i] = t;
        }
      }
    }
  }
  return efforts;
}

}  // namespace

std::vector<std::string> motionJoints(const Model& model) {
  std::vector<const Joint*> joints;
  for (const Joint& joint : model.joints) {
    if (oneDegree(joint) && !joint.mimic) joints.push_back(&joint);
  }
  std::sort(joints.begin(), joints.end(), [](const Joint* one, const Joint* other) {
    return one->velocity_index < other->velocity_index;
  });
  std::vector<std::string> names;
  for (const Joint* joint : joints) names.push_back(joint->name);
  return names;
}

void requireJoints(const Model& model, const JointMotion& motion, const std::string& file) {
  for (const std::string& joint : motion.joints) {
    if (model.jointIndex(joint) >= 0) continue;
    throw Error(fmt::format("{}: it moves the joint {}, which the robot {} does not have{}", file,
                            inQuotes(joint), inQuotes(model.name),
                            didYouMean(joint, motionJoints(model))));
  }
}

MotionLimits limitsOf(const Model& model, const std::vector<std::string>& joints) {
  MotionLimits limits;
  limits.joints = joints;
  const auto count = static_cast<Index>(joints.size());
  for (VectorXd* vector : {&limits.lower, &limits.upper, &limits.velocity, &limits.acceleration,
                           &limits.jerk, &limits.effort})
    *vector = VectorXd::Constant(count, kNotStated);
  for (Index i = 0; i < count; ++i) {
    const std::string& name = joints[static_cast<size_t>(i)];
    const Joint& joint = model.joints[static_cast<size_t>(requireJoint(model, name))];
    if (!oneDegree(joint) || joint.mimic) {
      throw Error(
          fmt::format("joint {} is {}; trajectories are about joints with one degree of "
                      "freedom of their own{}",
                      inQuotes(name), joint.mimic ? "a mimic joint" : toString(joint.type),
                      didYouMean(name, motionJoints(model))));
    }
    if (joint.type == JointType::kContinuous) {
      limits.lower[i] = -kUnlimited;
      limits.upper[i] = kUnlimited;
    }
    for (const Joint& other : model.joints) {
      if (oneDegree(other) && other.velocity_index == joint.velocity_index)
        applyLimits(other, i, limits);
    }
  }
  checkLimits(limits);
  return limits;
}

MotionLimits withMargin(const MotionLimits& limits, double fraction) {
  if (!(fraction > 0 && fraction <= 1))
    throw Error(fmt::format("{} of the limits; expected a number above 0, at most 1", fraction));
  MotionLimits inside = limits;
  for (Index i = 0; i < limits.lower.size(); ++i) {
    if (!std::isfinite(limits.lower[i]) || !std::isfinite(limits.upper[i])) continue;
    const double middle = 0.5 * (limits.lower[i] + limits.upper[i]);
    inside.lower[i] = middle + fraction * (limits.lower[i] - middle);
    inside.upper[i] = middle + fraction * (limits.upper[i] - middle);
  }
  inside.velocity *= fraction;
  inside.acceleration *= fraction;
  inside.jerk *= fraction;
  inside.effort *= fraction;
  return inside;
}

double requiredLimit(const MotionLimits& limits, int joint, const std::string& what) {
  const VectorXd& values = what == "velocity"       ? limits.velocity
                           : what == "acceleration" ? limits.acceleration
                                                    : limits.jerk;
  const std::string name = inQuotes(limits.joints[static_cast<size_t>(joint)]);
  const double value = values[joint];
  if (std::isnan(value)) {
    throw Error(
        fmt::format("joint {} states no {} limit; state it in robot.yaml (joints: NAME: "
                    "limits) or give one for this motion",
                    name, what));
  }
  if (!(value > 0))
    throw Error(
        fmt::format("joint {} has the {} limit {} and cannot move; expected a positive "
                    "number",
                    name, what, value));
  return value;
}

PositionRange requiredRange(const MotionLimits& limits, int joint, double around) {
  const std::string name = inQuotes(limits.joints[static_cast<size_t>(joint)]);
  PositionRange range{limits.lower[joint], limits.upper[joint]};
  if (std::isnan(range.lower) || std::isnan(range.upper))
    throw Error(fmt::format("joint {} states no position limits; state them in robot.yaml", name));
  if (std::isinf(range.lower)) range.lower = std::min(range.upper, around) - std::numbers::pi;
  if (std::isinf(range.upper)) range.upper = std::max(range.lower, around) + std::numbers::pi;
  if (!(around >= range.lower - kLimitTolerance && around <= range.upper + kLimitTolerance)) {
    throw Error(
        fmt::format("joint {} starts at {}, outside its range {} .. {}; give another start "
                    "posture",
                    name, readable(around), readable(range.lower), readable(range.upper)));
  }
  return range;
}

const char* toString(LimitKind kind) {
  switch (kind) {
    case LimitKind::kLower:
      return "lower position";
    case LimitKind::kUpper:
      return "upper position";
    case LimitKind::kVelocity:
      return "velocity";
    case LimitKind::kAcceleration:
      return "acceleration";
    case LimitKind::kEffort:
      return "effort";
  }
  return "";
}

std::string sentence(const Violation& violation) {
  const bool velocity = violation.kind == LimitKind::kVelocity;
  if (std::isinf(violation.found) && (velocity || violation.kind == LimitKind::kAcceleration)) {
    return fmt::format("joint {} jumps in {} at {} s, which is an infinite {}; its {} limit is {}",
                       inQuotes(violation.joint), velocity ? "position" : "velocity",
                       readable(violation.time), toString(violation.kind), toString(violation.kind),
                       readable(violation.limit, 5));
  }
  const bool position = violation.kind == LimitKind::kLower || violation.kind == LimitKind::kUpper;
  return fmt::format("joint {} reaches {} {} at {} s; its {} limit is {}",
                     inQuotes(violation.joint), position ? "position" : toString(violation.kind),
                     readable(violation.found, 5), readable(violation.time),
                     toString(violation.kind), readable(violation.limit, 5));
}

std::vector<Violation> violations(const MotionExtremes& found, const MotionLimits& limits) {
  if (found.lowest.size() != limits.lower.size())
    throw Error(
        fmt::format("limits of {} joints for a motion of {}", limits.size(), found.lowest.size()));
  std::vector<Violation> list;
  for (Index i = 0; i < found.lowest.size(); ++i) {
    const std::string& joint = limits.joints[static_cast<size_t>(i)];
    add(list, joint, LimitKind::kLower, found.lowest_time[i], found.lowest[i], limits.lower[i]);
    add(list, joint, LimitKind::kUpper, found.highest_time[i], found.highest[i], limits.upper[i]);
    add(list, joint, LimitKind::kVelocity, found.velocity_time[i], found.velocity[i],
        limits.velocity[i]);
    // a jump in position is told once
    if (std::isinf(found.velocity[i]) && !std::isnan(limits.velocity[i])) continue;
    add(list, joint, LimitKind::kAcceleration, found.acceleration_time[i], found.acceleration[i],
        limits.acceleration[i]);
  }
  return list;
}

MotionCheck checkMotion(const Tree& tree, const Parameters& parameters, const JointMotion& motion,
                        const MotionCheckOptions& options) {
  return checkMotion(tree, parameters, motion, limitsOf(tree.model(), motion.joints), options);
}

MotionCheck checkMotion(const Tree& tree, const Parameters& parameters, const JointMotion& motion,
                        const MotionLimits& limits, const MotionCheckOptions& options) {
  if (motion.trajectory == nullptr) throw Error("checkMotion: the motion has no trajectory");
  if (limits.joints != motion.joints)
    throw Error("checkMotion: the limits are about other joints than the motion");
  limitsOf(tree.model(), motion.joints);  // the joints exist and have one degree of freedom
  MotionCheck check;
  check.found = extremes(*motion.trajectory);
  check.violations = violations(check.found, limits);
  check.note = jumpsNote(check.found, limits);
  if (!options.effort) return check;
  if (tree.floating()) {
    check.note += check.note.empty() ? "" : "; ";
    check.note += "efforts were not checked: those of a free base depend on its contacts";
    return check;
  }
  VectorXd posture = options.posture.size() > 0 ? options.posture : tree.neutralPosition();
  if (posture.size() != tree.positionCount())
    throw Error(fmt::format("a posture of {} positions for a robot of {}", posture.size(),
                            tree.positionCount()));
  const Efforts efforts = effortsOf(tree, parameters, motion, posture);
  check.effort = efforts.largest;
  check.effort_time = efforts.time;
  for (Index i = 0; i < efforts.largest.size(); ++i)
    add(check.violations, limits.joints[static_cast<size_t>(i)], LimitKind::kEffort,
        efforts.time[i], efforts.largest[i], limits.effort[i]);
  return check;
}

}  // namespace proprio
