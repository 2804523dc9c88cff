#pragma once

/// Are recorded velocities the derivative of recorded positions? Where they are not, by one factor
/// for all joints, the time stamps are wrong (a counter of rows that was taken for a clock, another
/// rate), or the unit of one of the two is, and every acceleration with it.
///
/// Over windows of a few samples the integral I of the velocity (trapezoids) is compared with the
/// way D = q(end) - q(begin). The factor of a joint is the inverse of the median of D / I,
/// weighted by |I|: it survives outliers, turns that are not counted on, and that filtered
/// velocities come late. It counts if the joint moves and most of its way agrees with the factor;
/// what does not agree with any says nothing here. Windows with gaps, time that goes back and
/// missing values are left out.
///
/// Not told apart: a wrong time from a wrong unit of all joints, but for degrees, of which the
/// factor is known.

#include <string>
#include <vector>

#include "proprio/recording/quality.h"

namespace proprio {

struct VelocityFactor {
  std::string joint;
  double factor = 1.0;  ///< recorded velocity over derivative of the recorded position, both in SI
};

/// Of the joints with measured positions and velocities that tell it. Empty without time stamps.
std::vector<VelocityFactor> velocityFactors(const Recording& recording);

/// " (recorded velocities say about 125 Hz)" for a recording without time stamps whose joints agree
/// on it; empty otherwise.
std::string rateByVelocities(const Recording& recording);

/// What is wrong with them: an error if all joints have the same factor, a warning if it is that of
/// degrees (positions are right then, most likely) or single joints differ.
std::vector<QualityFinding> judgeVelocities(const Recording& recording);

}  // namespace proprio
