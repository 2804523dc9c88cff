#pragma once

/// Does a recording look like one of this robot? Mistakes that files do not show by themselves,
/// seen by comparing with the description:
///   limits     positions far outside the joint's limits: another unit, or an offset
///   sign       measured torques are the negative of what the description predicts
///   swapped    two joints' torques look like each other's prediction
///   scale      torques are many times larger or smaller than predicted: unit, gear ratio, gain
///   rest       a joint that never moves
/// Compared are the torques of gravity and motion, friction and means aside where they would hide
/// it; r is their correlation. An error (r < -0.9, positions far outside) means that results would
/// be nonsense, a warning that they may be. Torques off by more than a factor of 8 are not
/// believed: one drive with an unknown unit would drag all masses to its scale.

#include "proprio/identification/motion_data.h"
#include "proprio/model/parameters.h"
#include "proprio/recording/quality.h"

namespace proprio {

struct Plausibility {
  std::vector<QualityFinding> findings;
  std::vector<int> distrusted;  ///< velocity coordinates whose torques have another scale
};

/// @param chi  what is believed of the robot, layout order (prior.h)
Plausibility checkPlausibility(const Tree& tree, const ParameterLayout& layout,
                               const Eigen::VectorXd& chi, const MotionData& data);

}  // namespace proprio
