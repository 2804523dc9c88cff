#pragma once

/// What identification eats: samples of one recorded motion in the coordinates of one tree, and
/// which torque rows of them count.

#include <Eigen/Core>
#include <memory>
#include <string>
#include <vector>

#include "proprio/model/tree.h"
#include "proprio/motion/trajectory.h"
#include "proprio/recording/recording.h"
#include "proprio/signal/joint_signals.h"

namespace proprio {

struct MotionData {
  std::string name;         ///< of the recording
  Eigen::VectorXd time;     ///< s, uniform
  Eigen::MatrixXd q, v, a;  ///< row = sample, column = coordinate of the tree
  Eigen::MatrixXd tau;      ///< row = sample, column = velocity coordinate
  /// What dry friction's sign(v) became in filtered torques; without columns: sign(v) itself.
  Eigen::MatrixXd sign;
  Eigen::MatrixXd late;         ///< of the signals: to be added where friction turns late
  Mask mixed;                   ///< rows that tell this, although they do not count; as `late`
  Eigen::VectorXd late_shares;  ///< of `late` that were added, per velocity coordinate; empty: none
  /// Standard deviations of the noise in q, v and a (columns) per velocity coordinate (rows);
  /// without rows if it is not known.
  Eigen::MatrixXd noise;
  /// Rows of the regressor that count: sample x velocity coordinate. False for torques that were
  /// not measured, for slow samples of joints with dry friction, for what a user left out.
  Mask use;
  double rate_hz = 0.0;
  /// What was done to the signals (JointSignals::same), and their rate before; null if not known.
  std::shared_ptr<const JointSignalOptions> treatment;
  double recorded_rate_hz = 0.0;
  double weight = 1.0;  ///< of this recording against the others: 1 / relative standard deviation
  Eigen::VectorXd joint_weights;  ///< per velocity coordinate, besides `weight`; empty: 1
  int source = 0;  ///< recordings of one source (stretches of one file) share their noise
  /// The motion that was commanded, at the rate of the recording; null if it was not recorded.
  std::shared_ptr<const MotionSamples> reference;

  Eigen::Index samples() const { return q.rows(); }
  /// Of torque rows of this coordinate: 1 / relative standard deviation of their noise.
  double rowWeight(Eigen::Index coordinate) const {
    return joint_weights.size() == 0 ? weight : weight * joint_weights[coordinate];
  }
};

/// Positions that stay within this range stand still: rad, m.
constexpr double kStandstill = 1e-3;

/// The signals in the coordinates of the tree. A joint that stands still has no speed, whatever its
/// encoder's noise. Rows of joints without recorded torque do not
/// count; slow samples do not count for joints whose friction has a jump at zero speed.
/// @throws Error if the tree floats and no sensor tells how (sensed_wrenches.h), or a moving joint
/// has no position in the signals (the message says how to lock it), or signals name a joint that
/// the tree does not have.
MotionData motionData(const Tree& tree, const JointSignals& signals);

/// Fills data->reference with the commanded motion of the recording that the data were made from:
/// q_des_J, with v_des_J and a_des_J where they are recorded and central differences where not, at
/// the time stamps of the recording. Stays null with sensed wrenches, and unless the recording has
/// time stamps that increase and the commanded position of every moving joint without gaps.
/// @param recording  mapped (recording/signal_map.h): SI units, joint side
void attachReference(const Tree& tree, const Recording& recording, MotionData* data);

/// The torque of the joint jumps where its velocity changes sign: no sample near zero is
/// trustworthy.
bool jumpsAtRest(const FrictionModel& friction);

/// Samples [start, start + count).
MotionData middleSamples(const MotionData& data, Eigen::Index start, Eigen::Index count);

/// Samples of these rows; the rate stays what it was.
MotionData chosenSamples(const MotionData& data, const std::vector<Eigen::Index>& rows);

/// Samples 0, step, 2 step, ...
MotionData everyNth(const MotionData& data, Eigen::Index step);

}  // namespace proprio
