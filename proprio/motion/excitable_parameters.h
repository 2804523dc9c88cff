#pragma once

/// What the motion of some joints can tell at all, the other coordinates (a free base too) being
/// held: base parameters of the regressor at random states of the moving joints, and of motions
/// that were recorded before, of whatever joints. Moving one joint of an arm excites far fewer
/// combinations than moving all of them, and a criterion that asked for the others would be
/// infinite for every motion.
///
/// Held joints have neither friction nor rotor torque; links that only move about one axis show
/// their inertia about that axis, links at rest their weight.

#include "proprio/dynamics/base_parameters.h"
#include "proprio/motion/trajectory.h"

namespace proprio {

struct HeldRobot {
  std::shared_ptr<const Tree> tree;
  std::shared_ptr<const ParameterLayout> layout;
  std::vector<std::string> joints;   ///< that move
  Eigen::VectorXd posture;           ///< q of all others; empty: neutral
  Eigen::VectorXd row_scale;         ///< per velocity coordinate; 0: not measured; empty: 1
  std::vector<JointMotion> earlier;  ///< already recorded, the joints they do not name held
};

BaseParameters excitableParameters(const HeldRobot& robot);

/// Parameters on which torques depend when every joint moves, but not with this base.
std::vector<int> silentParameters(const BaseParameters& all, const BaseParameters& excitable);

/// A square factor R with R^T R = integral over time of W^T W along the earlier motions, W being
/// the rows of `columns` times row_scale: times sqrt(rate), the rows of recordings at that rate.
Eigen::MatrixXd earlierFactor(const HeldRobot& robot, const std::vector<int>& columns);

}  // namespace proprio
