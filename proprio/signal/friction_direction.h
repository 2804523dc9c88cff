#pragma once

/// In which direction dry friction acts, sample by sample, and which rows of filtered torques tell.
///
/// Friction of a joint that slides is F_c sign(v). One that turns round may stick for a while, and
/// then friction is whatever keeps it there, between -F_c and F_c. A low-pass with the impulse
/// response h and the cut-off f_c spreads this over the rows beside: with b = 1 in the samples of
/// slow stretches and 0 elsewhere, row k gets the part
///
///   B_k = sum_i h_(k-i) b_i
///
/// of its friction from samples in which nobody knows it. Rows with |B| above a tenth do not count.
/// A reversal that is over within a quarter period 1 / (4 f_c) is no such stretch: friction turns
/// in its middle (directions()), and being wrong by +-F_c before and after over T in all leaves
/// F_c T^2 / 4 max|h'| <= 1.75 F_c (f_c T)^2 in a row, a tenth of F_c (Butterworth of order 4,
/// forth and back). A joint that sticks so costs the rows that the filter reaches from either end,
/// about half a period. Limits: the torque of joint j is looked at with the speed of joint j; h
/// changes its sign, so that |B| is no bound for friction that alternates while the joint sticks.

#include <Eigen/Core>
#include <functional>

#include "proprio/signal/conditioning.h"

namespace proprio {

/// Before two surfaces slide in the new direction their asperities bend the other way (Dahl 1968):
/// friction turns after a travel of the order of this, rad or m.
constexpr double kPresliding = 3e-4;

/// sign(v), row = sample, column = joint. Below the speeds `slow` noise must not turn it: there it
/// keeps the direction from before unless the joint leaves in the other one. Then it turns once,
/// where the position is extreme, which is where the velocity passes zero. Turned later, all of dry
/// friction until there would look like inertia, because it has the sign of the acceleration. Zero
/// before the first motion.
Eigen::MatrixXd directions(const Eigen::MatrixXd& v, const Eigen::VectorXd& slow);

/// The directions that friction has if it turns where a joint has come back by `travel` from where
/// it was farthest.
Eigen::MatrixXd lateDirections(const Eigen::MatrixXd& sign, const Eigen::MatrixXd& q,
                               double travel);

/// The samples of `fast` in which the filter mixes too much of slow stretches of at least
/// `shortest` samples.
Mask mixedWithSlow(const Mask& fast, double shortest,
                   const std::function<Eigen::MatrixXd(const Eigen::MatrixXd&)>& filter);

}  // namespace proprio
