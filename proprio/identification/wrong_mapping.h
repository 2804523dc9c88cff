#pragma once

/// Is a recording explained far better if it is read another way? Tried are
///   sign       all torques the other way round
///   turned     one joint that turns the other way
///   zero       one joint whose zero is a quarter or half a turn away
///   exchanged  joints that stand for each other, alone or as whole limbs of the same structure
///   mounting   gravity that points another way, or that torques were freed of
/// judged by what the description leaves of each torque beside friction, the joint's own inertia
/// and a scale (tau = g tau_predicted + [v, sign v, a, 1] c). Exchanged joints are also looked for
/// by the whole description, because some only rub and differ in their declared friction; these and
/// mountings by what the best of all robots leaves, where the description is too rough to tell.

#include <string>
#include <vector>

#include "proprio/identification/motion_data.h"
#include "proprio/identification/stacked_problem.h"

namespace proprio {

/// Which share of what friction and own inertia leave of a torque remains beside the prediction.
struct ExplainedTorque {
  double driven = 0.0;  ///< share of the torque's squares in "friction" that drives the motion
  double friction_leaves = 0.0;  ///< of the torque's squares
  double remains = 1.0;          ///< of what friction leaves
  double gain = 0.0;             ///< g
};

/// One for each of these velocity coordinates.
std::vector<ExplainedTorque> explainTorques(const Tree& tree, const ParameterLayout& layout,
                                            const Eigen::VectorXd& chi, const MotionData& data,
                                            const std::vector<Eigen::Index>& coordinates);

/// Share of the squares of a coordinate's torque, in rows that count, that the prediction leaves;
/// 0 if there is no torque.
double shareLeft(const MotionData& data, const Eigen::MatrixXd& predicted, Eigen::Index coordinate);

/// A joint of one coordinate whose torque is measured.
struct MeasuredJoint {
  int joint;
  Eigen::Index coordinate;
};

struct WrongMapping {
  std::string sentence;       ///< "the description explains ... if ..."; empty if none was found
  bool another_body = false;  ///< the given mapping with another last body gives the same torques
  bool all_signs = false;     ///< all torques have the other sign
};

/// @param chi  what is believed of the robot, layout order
WrongMapping findWrongMapping(const Tree& tree, const ParameterLayout& layout,
                              const Eigen::VectorXd& chi, const MotionData& data,
                              const std::vector<MeasuredJoint>& joints);

/// The same motion with joints standing for each other: positions, velocities, torques and all.
MotionData withExchanged(const Tree& tree, const MotionData& data, int joint, int other);

}  // namespace proprio
