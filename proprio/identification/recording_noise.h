#pragma once

/// How noisy recordings are against each other, joint by joint. With the rows W_rj, y_rj of joint j
/// in the recordings of source r and their residuals e_rj of weighted least squares,
///
///   s_rj^2 = |e_rj|^2 / (n_rj - h_rj),   h_rj = tr(P W_rj^T W_rj) / s_rj^2,
///   P = (sum_rj W_rj^T W_rj / s_rj^2)^-1,
///
/// n_rj rows of which the parameters explain h_rj: repeated until it rests, this is the estimate of
/// largest restricted likelihood. From the triangular factors alone, no pass over the samples.
///
/// Rows are then weighted by s_j / s_rj with s_j the noise of all recordings together, so that
/// least squares with the joints' noise (wls and all that follow it) is generalised least squares
/// with the noise of each recording and joint; what is reported as the noise of a joint is s_j.
///
/// Care: a source has a noise of its own in a joint only if it has 60 rows there besides h_rj,
/// and only where one of the sources differs from s_j by more than two standard deviations of
/// log s_rj^2 (three rows of filtered recordings tell as much as one). Other sources count with
/// s_j, so that recordings that are alike keep equal weights. s_rj is at most 100 times s_j, and at
/// least a hundredth of it.
/// Limit: what a model does not explain counts as noise. A recording of fast motion with much
/// unmodelled friction counts less than a slow one.
/// Sources: Helmert 1907; Foerstner 1979 (simplified estimator of variance components); Patterson
/// and Thompson 1971.

#include <string>
#include <vector>

#include "proprio/identification/method.h"

namespace proprio {

struct RecordingNoise {
  Eigen::MatrixXd sigma;  ///< source x coordinate, N m (N): what its rows count with
  Eigen::VectorXd all;    ///< per coordinate: of all sources together
  Eigen::MatrixXd own;    ///< source x coordinate: 1 where it has a noise of its own, else 0
  int iterations = 0;     ///< 0: there is only one source
};

/// Estimates the noise of every source (MotionData::source, counted from 0) and sets
/// MotionData::joint_weights and StackedProblem::weights by it. With one source nothing changes.
RecordingNoise weighRecordings(IdentificationProblem* problem);

/// Noise that is known: torques of source r have relative[r] times a common standard deviation.
/// @throws Error for another number of sources, or numbers that are not positive.
void setRecordingNoise(IdentificationProblem* problem, const std::vector<double>& relative);

/// "that of 'elbow' is 9.8 times as large in b.csv as in a.csv": the joint whose sources differ
/// most; empty where none differs by a quarter.
/// @param names  of the sources
std::string recordingNoiseText(const IdentificationProblem& problem, const RecordingNoise& noise,
                               const std::vector<std::string>& names);

}  // namespace proprio
