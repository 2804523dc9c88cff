#pragma once

/// Pictures of designed motions: joints as rows; position, velocity, acceleration and, if given,
/// torque as columns, with the limits of the robot.

#include <vector>

#include "proprio/model/model.h"
#include "proprio/motion/trajectory.h"
#include "proprio/report/chart.h"

namespace proprio {

/// `tau`: as many rows as samples and as many columns as joints, or empty.
/// @throws Error for other sizes.
Figure motionFigure(const MotionSamples& samples, const Model& model,
                    const Eigen::MatrixXd& tau = {});

}  // namespace proprio
