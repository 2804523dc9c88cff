#pragma once

/// What joints may do, and whether a motion keeps to it: position, velocity, acceleration, and the
/// effort that inverse dynamics with rotors, friction, springs and couplings asks for.
///
/// Extremes are looked for between the samples too. Every smooth piece of the motion is sampled
/// densely; an extreme of the position is then refined as a root of the velocity, one of the
/// velocity as a root of the acceleration, one of the acceleration by golden-section search. The
/// effort is looked at on the dense grid. Where one piece begins elsewhere than the one before ends
/// the velocity is infinite, where it begins with another velocity the acceleration is.

#include <cmath>
#include <string>
#include <vector>

#include "proprio/model/parameters.h"
#include "proprio/model/tree.h"
#include "proprio/motion/trajectory.h"

namespace proprio {

/// One entry per joint. NaN where a limit is not stated; infinite positions for continuous joints.
struct MotionLimits {
  std::vector<std::string> joints;
  Eigen::VectorXd lower, upper;  ///< rad or m
  Eigen::VectorXd velocity;      ///< rad/s or m/s
  Eigen::VectorXd acceleration;  ///< rad/s^2 or m/s^2
  Eigen::VectorXd jerk;          ///< rad/s^3 or m/s^3; robot descriptions do not state it
  Eigen::VectorXd effort;        ///< N m or N

  int size() const { return static_cast<int>(joints.size()); }
};

/// Names of the joints with one degree of freedom that move on their own (no mimic joints), in the
/// order of the model's coordinates: the joints that trajectories are about.
std::vector<std::string> motionJoints(const Model& model);

/// @throws Error that names the file of the motion for a joint that the robot does not have.
void requireJoints(const Model& model, const JointMotion& motion, const std::string& file);

/// What the model states about these joints; a joint that others mimic is also held to theirs, and
/// the effort is the smaller one of joint and drive. Jerk is not stated. @throws Error for a joint
/// that does not exist or has more than one degree of freedom, or limits that are reversed or
/// negative.
MotionLimits limitsOf(const Model& model, const std::vector<std::string>& joints);

/// Only `fraction` of velocity, acceleration, jerk and effort, and the same share of the position
/// range about its middle. @throws Error unless it is in (0, 1].
MotionLimits withMargin(const MotionLimits& limits, double fraction);

/// @throws Error that names the joint whose limit is not stated, or zero, and what to do.
/// `what` is "velocity", "acceleration" or "jerk".
double requiredLimit(const MotionLimits& limits, int joint, const std::string& what);

/// Between which positions a joint may be moved: its limits; half a turn to both sides of `around`
/// where it has none (continuous). @throws Error that names the joint if they are not stated, or
/// if `around` is outside.
struct PositionRange {
  double lower = 0.0, upper = 0.0;
  double middle() const { return 0.5 * (lower + upper); }
  /// Distance from the middle: 1 at either end.
  double share(double q) const { return std::abs(q - middle()) / (0.5 * (upper - lower)); }
};
PositionRange requiredRange(const MotionLimits& limits, int joint, double around);

/// Largest and smallest values, one entry per joint, and when they occur.
struct MotionExtremes {
  Eigen::VectorXd lowest, highest;         ///< position
  Eigen::VectorXd velocity, acceleration;  ///< largest magnitudes; infinite where there are jumps
  Eigen::VectorXd lowest_time, highest_time, velocity_time, acceleration_time;  ///< s
};
MotionExtremes extremes(const Trajectory& trajectory);

enum class LimitKind { kLower, kUpper, kVelocity, kAcceleration, kEffort };
const char* toString(LimitKind kind);

/// The worst excess of one joint over one of its limits.
struct Violation {
  std::string joint;
  LimitKind kind = LimitKind::kUpper;
  double time = 0.0;   ///< s
  double found = 0.0;  ///< with sign for positions, magnitude otherwise
  double limit = 0.0;
};
/// "joint 'elbow' reaches velocity 3.2 at 1.25 s; its velocity limit is 3", or "joint 'elbow' jumps
/// in position at 1 s, which is an infinite velocity; its velocity limit is 3".
std::string sentence(const Violation& violation);

/// Excess below this part of the limit (plus this much in absolute terms) is rounding.
constexpr double kLimitTolerance = 1e-9;

/// Position, velocity and acceleration against limits; what is not stated is not checked.
/// @throws Error if sizes differ.
std::vector<Violation> violations(const MotionExtremes& found, const MotionLimits& limits);

struct MotionCheck {
  std::vector<Violation> violations;  ///< empty: the motion is within the limits
  MotionExtremes found;
  Eigen::VectorXd effort, effort_time;  ///< largest magnitudes; empty if not computed
  std::string note;                     ///< what was not checked and why; may be empty
};

struct MotionCheckOptions {
  bool effort = true;
  /// Positions of all coordinates, for joints that the motion does not name; empty: zero.
  Eigen::VectorXd posture;
};

/// Everything against the model's own limits. The effort of a free base's joints is not checked:
/// it depends on the ground. @throws Error for joints that the model does not have.
MotionCheck checkMotion(const Tree& tree, const Parameters& parameters, const JointMotion& motion,
                        const MotionCheckOptions& options = {});
/// The same against other limits (in the order of the motion's joints).
MotionCheck checkMotion(const Tree& tree, const Parameters& parameters, const JointMotion& motion,
                        const MotionLimits& limits, const MotionCheckOptions& options = {});

}  // namespace proprio
