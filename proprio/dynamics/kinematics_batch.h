#pragma once

/// Kinematics of many samples: rows are samples, columns as stated. Each sample goes through
/// kinematics.h; the Kinematics object is scratch. No allocation once the sizes are right.
/// Poses: linkPosesBatch (kinematics.h).

#include "proprio/dynamics/kinematics.h"

namespace proprio {

/// Body twists of all links: column 6 * link + k holds linear (k < 3), then angular.
void linkTwistsBatch(const Tree& tree, Workspace& workspace, Kinematics& kinematics,
                     ConstMatrixRef q, ConstMatrixRef v, MatrixRef twists);

/// What an accelerometer and a differentiated gyroscope at each link frame read; columns likewise.
/// The classical acceleration of the frame's origin in link axes is the same with zero gravity.
void linkProperAccelerationsBatch(const Tree& tree, Workspace& workspace, Kinematics& kinematics,
                                  ConstMatrixRef q, ConstMatrixRef v, ConstMatrixRef a,
                                  MatrixRef accelerations);
void linkClassicalAccelerationsBatch(const Tree& tree, Workspace& workspace, Kinematics& kinematics,
                                     ConstMatrixRef q, ConstMatrixRef v, ConstMatrixRef a,
                                     MatrixRef accelerations);

/// frameJacobian of every sample: column 6 * coordinate + k holds row k of the Jacobian.
/// @param J  scratch, 6 x velocityCount()
void frameJacobianBatch(const Tree& tree, Workspace& workspace, Kinematics& kinematics,
                        ConstMatrixRef q, int link, const Pose& X_LF, Representation of,
                        Representation base, Eigen::Ref<Eigen::Matrix<double, 6, Eigen::Dynamic>> J,
                        MatrixRef jacobians);

}  // namespace proprio
