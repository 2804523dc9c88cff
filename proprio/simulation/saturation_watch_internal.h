#pragma once

/// Inside the simulation room: how often drives are at their torque limits, and whether a servo
/// does nothing but switch between them.
///
/// A servo that has lost its stability grows until the torque saturates, and then swings for ever
/// with bounded torque and position. Its signature: within half a second the torque is at a limit
/// for most of the control periods and changes its sign there at least five times. Motions that
/// ask for more torque than there is saturate to one side at a time, and change sides as often as
/// they turn: below 5 Hz they are never taken for it.

#include <Eigen/Core>

namespace proprio::internal {

class SaturationWatch {
 public:
  static constexpr double kWindow = 0.5;  ///< s
  static constexpr int kReversals = 5;
  static constexpr double kShare = 0.5;

  void setUp(Eigen::Index size, double rate);
  /// Torques of one control period and their limits (infinite: none).
  void note(const Eigen::VectorXd& torque, const Eigen::VectorXd& limit);

  /// Whether the drive cycled in the last complete window.
  bool cycles(Eigen::Index i) const {
    return last_reversals_[i] >= kReversals && lastShare(i) > kShare;
  }
  bool anyCycles() const;
  int lastReversals(Eigen::Index i) const { return last_reversals_[i]; }
  double lastShare(Eigen::Index i) const;
  /// Of all control periods so far.
  double share(Eigen::Index i) const;
  int reversals(Eigen::Index i) const { return all_reversals_[i]; }

 private:
  Eigen::Index window_ = 1, periods_ = 0;
  Eigen::VectorXi side_, count_, reversals_, last_count_, last_reversals_, all_count_,
      all_reversals_;
};

}  // namespace proprio::internal
