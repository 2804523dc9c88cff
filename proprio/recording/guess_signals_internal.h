#pragma once

/// What columns of a log mean, from the names that people give them, where no robot.yaml says it:
///   q1 ... q6, dq1, tau1, effort_3, positions[0], joint_2_pos, "J1 Torque", actual_q_0, cmd_pos_4
/// A name is taken apart into words and numbers. A joint is named by its name, with or without
/// words like joint and what all joints begin with (shoulder_pan of shoulder_pan_joint), by the
/// list of names in the log (`of` of the channel), or by a number. The other words say the quantity
/// (q pos angle ..., dq qd vel ..., tau torque effort ..., current ...), whether it was commanded
/// (des cmd ref target ...) and its unit (q1_deg); where no word says the quantity, the unit does.
/// Columns called like the joints and nothing else are positions.
///
/// A quantity is taken if one group of columns, equal in their other words, has no joint twice.
/// Numbers are those in the joints' own names (2 is joint_2), or else in a row from 0 or 1 as the
/// joints' own numbers are, or else the joints (or the first of them, at least half) in the order
/// of the robot: along the chain, or that of its file where it branches. Groups with words that
/// make something else of it (external, error, gravity, motor ...) are left alone; of two groups
/// the one that says that it was measured counts, then the one with fewer words.

#include <string>
#include <vector>

#include "proprio/model/model.h"
#include "proprio/model/signal_declaration.h"
#include "proprio/recording/recording.h"

namespace proprio {

/// Joints with one coordinate of their own, from the base to the tip where each moves the next;
/// where the robot branches as in signalJoints().
std::vector<std::string> jointsAlongChain(const Model& model);

/// Does a joint of one coordinate move beside another one, on another limb?
bool jointsBranch(const Model& model);

/// One declaration per quantity and role that was understood, measured ones first.
/// @param counted  if given: were joints found only by counting columns, as their names have no
///                 numbers?
std::vector<SignalDeclaration> guessSignals(const std::vector<std::string>& joints,
                                            const Recording& recording, bool* counted = nullptr);

/// What the name of a file says of its content.
struct NamedQuantity {
  Quantity quantity = Quantity::kOther;  ///< kOther if it names none, or several, or the motor's
  Role role = Role::kMeasured;
  std::string unit;               ///< at its end, "mA" of current_mA; empty if there is none
  std::vector<std::string> rest;  ///< words that say something else: run 1
};

/// "run1_pos" is the position of run 1.
NamedQuantity quantityInName(const std::string& name);

}  // namespace proprio
