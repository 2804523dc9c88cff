#pragma once

/// Joints whose torque looks like that of a spring which nobody has declared: a gravity
/// compensator, hoses, a counterweight on a belt. To the torque of every joint j without a spring
///
///   k_j q_j + p_j,    k_j: stiffness, p_j: preload
///
/// is added, and all of it is fitted again by weighted least squares (least_squares.h), to at most
/// some thousand samples. A spring is one that pulls back (k_j > 0) and is
///   - significant: its interval of kSureSpring (Student's, with the effective degrees of freedom
///     of residuals that remember, robust_covariance.h) does not hold zero;
///   - substantial: without it the joint's noise is kSpringBetter times as large, and its torque
///     k_j q_j is at least kSpringShare of the joint's (root mean squares, q_j about its mean).
/// Limits: what a mass would explain as well (k sin q) is taken for one; a spring whose force is
/// not linear is found as far as a linear one explains it.

#include <string>
#include <vector>

#include "proprio/identification/method.h"

namespace proprio {

constexpr double kSureSpring = 1.0 - 1e-4;
constexpr double kSpringBetter = 1.25;
constexpr double kSpringShare = 0.05;

struct UndeclaredSpring {
  int joint = 0;           ///< place in Model::joints
  double stiffness = 0.0;  ///< N m/rad, N/m
  double deviation = 0.0;  ///< its standard deviation
  double better = 1.0;     ///< noise without over with springs
};

/// @param estimate  of weightedLeastSquares()
std::vector<UndeclaredSpring> findSprings(const IdentificationProblem& problem,
                                          const Estimate& estimate);

/// "the torque of joint 'elbow' looks like a spring of 12 ± 0.5 N m/rad ...".
std::string springText(const Model& model, const UndeclaredSpring& spring);

}  // namespace proprio
