#pragma once

/// Does one joint's torque have another scale than those of the other joints? A wrong gear ratio or
/// drive gain of one joint leaves a recording that looks well: its friction, rotor and the inertia
/// that only this joint feels take the factor. What the joint carries is felt by the joints before
/// it, too. With a factor h_j of the recorded torques,
///
///   tau_j = h_j Y_j beta + e_j,      beta common to all joints, h_i = 1 for all joints but some,
///
/// and noise sigma_j of each joint, h_j and beta are those of the largest likelihood
/// -sum_j n_j log sigma_j: least squares by variable projection (Golub and Pereyra 1973), the noise
/// from the residuals of the step before. Only the triangular factors of the rows are used
/// (stacked_problem.h), no description of the masses.
///
/// The deviation of h_j sums scores over blocks of time, which allows for residuals that remember
/// (Liang and Zeger 1986); it says which joints the recordings tell anything about. A joint is
/// named if its factor is far from one, by many deviations, and if it alone makes the torques of
/// some joint clearly better explained; the one of the largest likelihood first, then another one
/// beside it. Two joints that are compared with each other only are both named: nobody knows which
/// is right.
/// Limits: a factor of all joints is that of all masses (plausibility.h compares with the
/// description). Friction that grows with the load looks like a factor of up to about 1.2.

#include <string>
#include <vector>

#include "proprio/identification/method.h"

namespace proprio {

struct JointGain {
  int coordinate = 0;      ///< velocity coordinate
  double gain = 1.0;       ///< h: recorded torque over what the other joints imply
  double deviation = 0.0;  ///< standard deviation, relative
  double better = 1.0;     ///< error without over with h, of the joint where that is most
  /// Coordinates of which another factor explains nearly as much, with it.
  std::vector<std::pair<int, double>> rivals;
};

struct JointGains {
  std::vector<JointGain> wrong;
  std::vector<int> untold;  ///< measured coordinates whose scale the others do not tell
};

JointGains findWrongGains(const IdentificationProblem& problem);

/// "the torque of joint 'elbow' is 1.98 ± 0.02 times what the other joints imply ...".
std::string gainText(const IdentificationProblem& problem, const JointGain& found);
/// Results would be nonsense, not only doubtful.
bool contradicts(const JointGain& found);

}  // namespace proprio
