#pragma once

/// Motions built from others: one after the other, faster or slower, with an approach from a rest
/// posture and the return to it.

#include "proprio/motion/motion_limits.h"
#include "proprio/motion/point_to_point.h"

namespace proprio {

/// One motion after the other.
struct Sequence final : Trajectory {
  std::vector<std::shared_ptr<const Trajectory>> parts;
  std::vector<double> starts;  ///< s, one per part, and the end of the last

  int size() const override { return parts.empty() ? 0 : parts.front()->size(); }
  double duration() const override { return starts.empty() ? 0.0 : starts.back(); }
  void at(double t, Eigen::Ref<Eigen::VectorXd> q, Eigen::Ref<Eigen::VectorXd> v,
          Eigen::Ref<Eigen::VectorXd> a) const override;
  std::vector<double> breaks() const override;
};

/// @throws Error for no part, parts of different size, or where a part does not start at the
/// position and velocity at which the one before ends (to 1e-9): part, joint and both values.
Sequence inSequence(std::vector<std::shared_ptr<const Trajectory>> parts);

/// The same path at `speed` times the velocity: q(speed t); accelerations change with its square.
struct TimeScaled final : Trajectory {
  std::shared_ptr<const Trajectory> motion;
  double speed = 1.0;

  int size() const override { return motion->size(); }
  double duration() const override { return motion->duration() / speed; }
  void at(double t, Eigen::Ref<Eigen::VectorXd> q, Eigen::Ref<Eigen::VectorXd> v,
          Eigen::Ref<Eigen::VectorXd> a) const override;
  std::vector<double> breaks() const override;
};

/// @throws Error unless speed is positive.
TimeScaled atSpeed(std::shared_ptr<const Trajectory> motion, double speed);

/// From `posture` to where the motion starts, the motion, and back to the posture.
/// @throws Error as pointToPoint, and if the motion does not start and end at rest.
Sequence withApproachAndReturn(const std::shared_ptr<const Trajectory>& motion,
                               const Eigen::VectorXd& posture, const MotionLimits& limits,
                               Profile profile = Profile::kDoubleS);

}  // namespace proprio
