#pragma once

/// Everything that a designed motion must keep, as numbers that say how much of a limit is used:
///   position      (q - middle) / half range    in [-1, 1]
///   velocity      v / limit                    in [-1, 1], and so acceleration and effort
///   workspace     1 - (n . p - offset) / 0.1 m     <= 1    the frame's origin p stays beyond a
///   plane collision     1 - (distance - clearance) / 0.1 m <= 1
/// with gradients by q, v and a. Effort is inverse dynamics with rotors, friction, springs and
/// couplings. Limits that are not stated are not looked at.

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proprio/model/parameters.h"
#include "proprio/motion/motion_limits.h"
#include "proprio/motion/robot_collisions.h"

namespace proprio {

/// normal . p >= offset for the origin p of a frame on a link, in the world.
struct WorkspaceLimit {
  std::string name;  ///< "flange z > 0.3"
  int link = -1;
  Pose X_LF;
  Vector3d normal = Vector3d::UnitZ();
  double offset = 0.0;  ///< m
};
/// "flange z > 0.3" or "elbow x < 0.5": a frame or link, a world axis, > or <, metres. Any other
/// plane by the three factors of x, y and z: "flange 1 0 1 > 0.3" is x + z > 0.3.
/// @throws Error that says which word is wrong.
WorkspaceLimit workspaceLimitOf(const Model& model, const std::string& text);

struct ConstraintOptions {
  std::vector<std::string> joints;     ///< that move; empty: all of motionJoints()
  std::optional<MotionLimits> limits;  ///< of these joints; default: the model's
  std::vector<WorkspaceLimit> workspace;
  std::shared_ptr<const RobotCollisions> collisions;  ///< null: not looked at
  double clearance = 0.01;                            ///< m, least distance of colliding pairs
  Eigen::VectorXd posture;  ///< q of what does not move (a free base too); empty: neutral
};

enum class ConstraintKind { kPosition, kVelocity, kAcceleration, kEffort, kWorkspace, kCollision };

struct MotionConstraint {
  ConstraintKind kind = ConstraintKind::kPosition;
  int index = 0;  ///< moving joint, workspace limit, or pair
  double middle = 0.0, half = 1.0;
  std::string name;         ///< "joint_2 velocity", "flange z > 0.3", "hand and table"
  std::vector<int> joints;  ///< moving joints that it depends on
  bool bothSides() const { return kind < ConstraintKind::kWorkspace; }
  /// What of the usage counts: its magnitude, or itself for one-sided constraints.
  double measure(double usage) const { return bothSides() && usage < 0.0 ? -usage : usage; }
};

class MotionConstraints {
 public:
  /// @throws Error for unknown joints, or sizes that do not match.
  MotionConstraints(std::shared_ptr<const Tree> tree, Parameters parameters,
                    ConstraintOptions options);
  ~MotionConstraints();

  const std::vector<std::string>& joints() const;
  const MotionLimits& limits() const;
  const std::vector<MotionConstraint>& list() const;
  /// Velocity coordinate of each moving joint.
  const std::vector<int>& coordinates() const;

  /// Positions of the moving joints at the posture at which everything else is held.
  Eigen::VectorXd heldPositions() const;
  /// All coordinates of samples in which only the moving joints are given (samples x joints).
  Eigen::MatrixXd fullPositions(ConstMatrixRef q) const;
  Eigen::MatrixXd fullVelocities(ConstMatrixRef v) const;

  /// Usage of every constraint: samples x list().size(). On all cores; effort and kinematics only
  /// where the list asks for them. Collisions below `least` may be given larger, but below `least`:
  /// links far apart cost little.
  Eigen::MatrixXd usage(ConstMatrixRef q, ConstMatrixRef v, ConstMatrixRef a,
                        double least = 0.9) const;

  /// Rows of one sample: usage of chosen constraints and its gradients (chosen x joints).
  struct Sample {
    Eigen::VectorXd usage;
    Eigen::MatrixXd dq, dv, da;
  };
  void linearise(const std::vector<int>& chosen, ConstVectorRef q, ConstVectorRef v,
                 ConstVectorRef a, int worker, Sample* sample) const;
  /// Usage alone.
  void evaluate(const std::vector<int>& chosen, ConstVectorRef q, ConstVectorRef v,
                ConstVectorRef a, int worker, VectorRef usage) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace proprio
