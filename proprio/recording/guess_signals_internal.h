#pragma once

/// What columns of a log mean, from the names that people give them, where no robot.yaml says it:
///   q1 ... q6, dq1, tau1, effort_3, positions[0], joint_2_pos, "J1 Torque", actual_q_0, cmd_pos_4
/// A name is taken apart into words and numbers. A joint is named by its name or by its number; the
/// rest of the words says the quantity (q pos position angle ..., dq qd vel ..., tau torque effort
/// ..., current ...) and whether it was commanded (des cmd ref target ...). A quantity is taken if
/// one group of columns has exactly one for each joint: by names, or numbers in a row from 0 or 1,
/// which are the joints (or
/// the first of them, at least half) in the order of the robot. Groups with words that make
/// something else of it (external, error, gravity, motor ...) are left alone; of two groups the one
/// with fewer words counts.

#include <string>
#include <vector>

#include "proprio/model/signal_declaration.h"
#include "proprio/recording/recording.h"

namespace proprio {

/// One declaration per quantity and role that was understood, measured ones first.
std::vector<SignalDeclaration> guessSignals(const std::vector<std::string>& joints,
                                            const Recording& recording);

}  // namespace proprio
