#pragma once

/// Joint motions as functions of time, with exact derivatives; and the same as samples, which is
/// what the simulator, the robot and every file take.

#include <Eigen/Core>
#include <memory>
#include <string>
#include <vector>

namespace proprio {

/// Samples of a motion: row = sample, column = joint.
struct MotionSamples {
  std::vector<std::string> joints;  ///< names, in the order of the columns
  Eigen::VectorXd time;             ///< s, from 0
  Eigen::MatrixXd q, v, a;          ///< rad, rad/s, rad/s^2 (m for prismatic joints)

  Eigen::Index samples() const { return q.rows(); }
};

/// A motion of `size()` joints over [0, duration()]; at rest at the end points before and after.
class Trajectory {
 public:
  virtual ~Trajectory() = default;
  virtual int size() const = 0;
  virtual double duration() const = 0;
  /// Position, velocity and acceleration at time t; t is clamped to [0, duration()], beyond which
  /// velocity and acceleration are zero. Does not allocate.
  virtual void at(double t, Eigen::Ref<Eigen::VectorXd> q, Eigen::Ref<Eigen::VectorXd> v,
                  Eigen::Ref<Eigen::VectorXd> a) const = 0;
  /// Times, ascending from 0 to duration(), between which the motion is smooth (all derivatives):
  /// whoever looks for extremes or integrates must stop at them.
  virtual std::vector<double> breaks() const { return {0.0, duration()}; }
};

/// A trajectory and whose joints it moves: what a file holds.
struct JointMotion {
  std::vector<std::string> joints;  ///< one name per joint of the trajectory
  std::shared_ptr<const Trajectory> trajectory;
};

/// The motion basis of a parameterisation that is linear in its coefficients x (per joint):
/// q(times[k]) = (q x)[k], and so for v and a. Row = time, column = coefficient.
struct MotionBasis {
  Eigen::MatrixXd q, v, a;
};

/// Samples at t = k / rate, k = 0 .. floor(duration * rate), exact values at those times.
/// @throws Error if the rate is not positive or the names do not match the size.
MotionSamples sample(const Trajectory& trajectory, double rate,
                     const std::vector<std::string>& joints);
MotionSamples sample(const JointMotion& motion, double rate);

}  // namespace proprio
