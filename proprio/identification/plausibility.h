#pragma once

/// Does a recording look like one of this robot? Mistakes that files do not show by themselves,
/// seen by comparing with the description:
///   limits     positions far outside the joint's limits: another unit, or an offset
///   sign       measured torques are the negative of what the description predicts
///   swapped    two joints' torques look like each other's prediction
///   scale      torques are many times larger or smaller than predicted: unit, gear ratio, gain; of
///              one joint, or one factor of all
///   mapping    the description, or any robot, explains the torques far better if they are read
///              another way (wrong_mapping.h)
///   unlike     the description says next to nothing about a torque
///   rest       a joint that never moves
/// Compared are the torques of gravity and motion; for `unlike` friction, the joint's own inertia
/// and a scale are fitted besides. An error means that results would be nonsense, a warning that
/// they may be.

#include "proprio/identification/method.h"
#include "proprio/recording/quality.h"

namespace proprio {

struct Suspect {
  int coordinate = 0;  ///< velocity coordinate
  double gain = 0.0;   ///< measured torque over predicted
};

struct Plausibility {
  std::vector<QualityFinding> findings;
  std::vector<Suspect> suspects;  ///< torques beyond 8 times what is predicted, or below an eighth
};

/// @param chi  what is believed of the robot, layout order (prior.h)
Plausibility checkPlausibility(const Tree& tree, const ParameterLayout& layout,
                               const Eigen::VectorXd& chi, const MotionData& data);

/// For robots whose masses nobody declares: sliding joints along gravity whose force does not hold
/// the weight of what it accelerates (tau = m a + [v, sign v] c + f, with |f| below a fifth of m
/// g): the axis lies level, is balanced, or what it accelerates is mostly the motor. A constant
/// force and an offset of friction cannot be told apart, so that nothing else would show it.
std::vector<QualityFinding> checkWeights(const Tree& tree, const ParameterLayout& layout,
                                         const Eigen::VectorXd& chi, const MotionData& data);

/// Of those coordinates the ones whose torques contradict the others: without them another joint is
/// explained better by a fifth. One drive with an unknown unit would drag all masses to its scale;
/// a load that the description does not know would not contradict anybody.
std::vector<int> contradicting(const IdentificationProblem& problem,
                               const std::vector<int>& suspects);

}  // namespace proprio
