#pragma once

/// Base parameters from the regressor at random states: the numeric route. Rows of the augmented
/// regressor (and of the measured wrenches) at seeded random states are folded into a triangular
/// factor; its columns are then visited in order of preference, and one is dependent when the
/// columns before it explain all but 1e-8 of it. Columns are scaled first, so that units do not
/// matter; the gap between kept and dropped columns is reported in BaseParameters.
///
/// Works for every model, mimic joints included. With prismatic joints and friction it needs as
/// many different states as there are features, so the number of samples grows with the parameters.
/// Source: Gautier 1991; Ardiani 2023 ch. 1, Leboutet 2022 section 2.1.2 (L-06), with
/// the tolerance relative to each column.

#include "proprio/dynamics/base_parameters.h"
#include "proprio/dynamics/measurement.h"

namespace proprio {

struct SamplingOptions : ReductionOptions {
  int samples = 0;  ///< 0: enough for the number of parameters
  unsigned seed = 1;
};

/// Positions within the joint limits (a turn, or +-1 m, where none are stated), velocities of
/// +-3 rad/s or m/s, accelerations of +-10.
BaseParameters sampledBaseParameters(const Tree& tree,
                                     std::shared_ptr<const ParameterLayout> layout,
                                     const Measurement& measurement = {},
                                     const SamplingOptions& options = {});

/// Such states, row = sample; sensed joints stay rigid.
struct RandomStates {
  Eigen::MatrixXd q, v, a;
};
RandomStates randomStates(const Tree& tree, Eigen::Index count, unsigned seed);

/// The same from the triangular factor of other rows at `samples` random states.
BaseParameters baseParametersOfFactor(const Tree& tree,
                                      std::shared_ptr<const ParameterLayout> layout,
                                      const Eigen::MatrixXd& R, Eigen::Index samples,
                                      ReductionOptions options = {});

}  // namespace proprio
