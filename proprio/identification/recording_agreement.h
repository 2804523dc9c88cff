#pragma once

/// Do several recordings show one robot? A payload that only some of them carry, another tool or
/// a repaired gear are taken for noise by least squares, whose result is then neither robot.
///
/// A test of equal parameters (Chow 1960) on the triangular factors of the sources r, whose rows
/// are divided by s_rj sqrt(f_rj): s_rj is the noise that the source's own fit leaves, f_rj how
/// many of its rows tell as much as one (robust_covariance.h). With S the sum of squares that one
/// robot leaves, S_r what the source's own leaves, and p, p_r the ranks,
///
///   F = (S - sum_r S_r) / (sum_r p_r - p)
///
/// is Fisher's with (sum_r p_r - p, effective rows - sum_r p_r) degrees of freedom.
/// Long recordings make tiny differences significant. They contradict each other only if one robot
/// for all leaves besides more than twice the error of robots of their own, and more than 10 % of
/// the torque, in some joint: the measures by which held-out recordings are judged (verdict.h).
/// What differs: the link, or friction, whose parameters alone take away most of S - sum_r S_r if
/// every source has its own.
/// Limits: rows of joints with fewer than 60 rows besides the parameters do not count; only whole
/// sources (logs) are compared.

#include <string>
#include <vector>

#include "proprio/identification/method.h"

namespace proprio {

struct RecordingAgreement {
  double p_value = 1.0;             ///< of equal parameters
  Eigen::VectorXd together, apart;  ///< per coordinate: rms of the errors, N m (N)
  int coordinate = -1;              ///< where one robot for all is clearly worse; -1: nowhere
  double percent = 0.0, own_percent = 0.0;  ///< there: errors together and apart, of the torque
  int link = -1;                            ///< that differs most; -1: friction and drives do
  double share = 0.0;                       ///< of the difference that it explains

  bool agree() const { return coordinate < 0; }
  /// They differ by more than what a robot does by itself when it gets warm.
  bool contradict() const;
};

/// @pre weights of the rows are not yet by the noise of recordings
RecordingAgreement testAgreement(const IdentificationProblem& problem);

/// One sentence about recordings that do not agree.
/// @param names  of the sources
std::string agreementText(const IdentificationProblem& problem, const RecordingAgreement& found,
                          const std::vector<std::string>& names);

}  // namespace proprio
