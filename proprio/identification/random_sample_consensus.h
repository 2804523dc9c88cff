#pragma once

/// Least squares on the rows that agree with each other (`ransac`), for recordings in which a good
/// part is wrong: reweighting from a least-squares start fails there, because the start is already
/// on the side of the errors.
///
///   1. Draw a few samples at random, just enough for all base parameters, and solve for them.
///      MethodOptions::max_iterations draws (100), from at most 400 samples of all recordings.
///   2. One step of concentration: the half of each joint's rows that fit best is solved again.
///      Score: sum over the joints of log(median |e_j|), which up to half of the rows do not reach.
///   3. The five best concentrate until they rest; the best of them starts the consensus: rows of
///      all samples within 3 sigma_j, sigma_j = 1.4826 median |e_j|, are solved (weighted as in
///      wls), until the set rests.
///
/// The draws have a fixed seed: the same recordings give the same estimate. Covariance: that of wls
/// on the rows that take part. If more than half of a joint's rows are wrong, they are the
/// consensus.
/// Sources: Ramuzat 2022, 2.3.3 (named); Fischler and Bolles 1981; Rousseeuw and Van Driessen 2006
/// (concentration). Reference: R-18.

#include "proprio/identification/method.h"

namespace proprio {

Estimate randomSampleConsensus(const IdentificationProblem& problem, const MethodOptions& options);

}  // namespace proprio
