#pragma once

/// What is believed about a robot before any recording: the declared values where they are
/// possible, and the nearest possible ones where they are not. It decides what recordings leave
/// open, so that masses stay plausible.

#include <Eigen/Core>
#include <string>
#include <vector>

#include "proprio/identification/motion_data.h"
#include "proprio/model/parameters.h"
#include "proprio/model/tree.h"

namespace proprio {

struct Prior {
  Eigen::VectorXd chi;        ///< every link is fully consistent, with a margin
  std::vector<int> repaired;  ///< links whose declared inertia was impossible
  std::vector<int> guessed;   ///< links without any declared mass
};

/// The unit matrix about the centre of mass, in kg m^2: what exporters write where they know none.
bool isPlaceholderInertia(const InertialParameters& body);

/// Declared inertias, a sphere of its mass for a placeholder; those that are impossible repaired
/// with mass and centre kept (model/repair.h) about the link's shapes, or a sphere of its mass. A
/// link without mass gets its shapes at the median density of the other links, else bars of 0.06 m
/// radius and 1500 kg/m^3 from its joint to the joints behind it (0.1 m if there are none). Links
/// that no joint carries keep what they have.
Prior priorParameters(const Tree& tree, const ParameterLayout& layout);

/// The information of the prior: inverse covariance, block diagonal, of chi around prior.chi.
/// Links: the constant pull-back metric, which is "100 % of the body" in every direction. Other
/// parameters: 1 / size^2.
struct PriorMetric {
  std::vector<Eigen::Matrix<double, 10, 10>> links;  ///< G of every link
  Eigen::VectorXd others;                            ///< 1 / size^2, layout order after the links
};
/// @param sizes  of the parameters after the links
PriorMetric priorMetric(const ParameterLayout& layout, const Eigen::VectorXd& prior,
                        const Eigen::VectorXd& sizes);

/// How large the parameters after the links may be: as large as declared. One declared as zero is
/// unknown: as large as it takes to explain the whole varying torque of its joint alone, offsets a
/// tenth of that (they would take the weight of what hangs on a vertical slide); where the motion
/// says nothing, 10 N m of friction and rotors of 1 kg m^2.
Eigen::VectorXd parameterSizes(const Tree& tree, const ParameterLayout& layout,
                               const Eigen::VectorXd& prior, const std::vector<MotionData>& data);

/// G^-1 times each column of X (rows in layout order).
Eigen::MatrixXd solveMetric(const PriorMetric& metric, const Eigen::MatrixXd& X);

}  // namespace proprio
