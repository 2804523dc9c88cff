#pragma once

/// Regressors of wrenches inside the robot, from the motion of the links (link_motion.h): what
/// force-torque sensors, force plates and joint torque sensors can be compared with.
///   sum over a set of links   Y pi = sum_L  F_X^L phi_L        (T-73: a part of the robot that is
///                             cut out by force-torque sensors and touches nothing else)
///   joint torque              tau = s^T sum over the links beyond the joint (T-74); stopping at a
///                             sensor, tau = Y pi + <s, measured wrench>
/// Columns: ten per model link (layout order); links outside the set have zero columns.
/// Source: Traversaro 2017 theorem 4.2, section 7.3 and eq. 7.5. Real-time.

#include "proprio/dynamics/link_motion.h"

namespace proprio {

/// Net wrench of `links` about the origin of link `reference`, in its axes.
/// @param Y  6 x 10 * links of the model; filled whole.
void wrenchRegressor(const std::vector<LinkMotion>& motions, const std::vector<int>& links,
                     int reference, MatrixRef Y);

/// Motion subspace of a joint with one degree of freedom: twist of `link` (one of its two ends)
/// relative to the other end per unit of the joint velocity, in the axes of `link`.
/// @throws Error for a joint with another number of degrees of freedom.
BodyTwist jointSubspace(const Model& model, int joint, int link);

/// Row of the torque of `joint`: `links` are on the side of `link`, one of the joint's two ends.
/// All links of that side give the joint's full row; fewer leave out what a sensor measures.
/// @param row  1 x 10 * links of the model; filled whole.
void jointTorqueRegressor(const Model& model, const std::vector<LinkMotion>& motions, int joint,
                          int link, const std::vector<int>& links,
                          Eigen::Ref<Eigen::RowVectorXd, 0, Eigen::InnerStride<>> row);

}  // namespace proprio
