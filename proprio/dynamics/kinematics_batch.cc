#include "proprio/dynamics/kinematics_batch.h"

namespace proprio {
namespace {

using StateVector = Eigen::Map<Eigen::VectorXd>;

/// Row `k` of the states, in the workspace.
StateVector stateRow(ConstMatrixRef rows, Eigen::Index k, double* room) {
  StateVector out(room, rows.cols());
  out = rows.row(k).transpose();
  return out;
}

void requireStates(const char* function, const Tree& tree, ConstMatrixRef q, ConstMatrixRef v) {
  requireSize(function, "columns of q", q.cols(), tree.positionCount());
  requireSize(function, "columns of v", v.cols(), tree.velocityCount());
  requireSize(function, "rows of v", v.rows(), q.rows());
}

void requireResult(const char* function, const Tree& tree, ConstMatrixRef q, const MatrixRef& out) {
  requireSize(function, "rows of the result", out.rows(), q.rows());
  requireSize(function, "columns of the result", out.cols(),
              static_cast<Eigen::Index>(6 * tree.model().links.size()));
}

/// of(link) for all links and samples.
template <class Of>
void linkAccelerations(const char* function, const Tree& tree, Workspace& workspace,
                       Kinematics& kinematics, ConstMatrixRef q, ConstMatrixRef v, ConstMatrixRef a,
                       MatrixRef& out, const Of& of) {
  requireStates(function, tree, q, v);
  requireSize(function, "columns of a", a.cols(), tree.velocityCount());
  requireSize(function, "rows of a", a.rows(), q.rows());
  requireResult(function, tree, q, out);
  for (Eigen::Index k = 0; k < q.rows(); ++k) {
    computeKinematics(tree, stateRow(q, k, workspace.fullPosition()),
                      stateRow(v, k, workspace.fullVelocity()),
                      stateRow(a, k, workspace.fullAcceleration()), kinematics);
    for (int link = 0; link < static_cast<int>(tree.model().links.size()); ++link)
      out.block<1, 6>(k, 6 * link) = of(link).transpose();
  }
}

}  // namespace

void linkTwistsBatch(const Tree& tree, Workspace& workspace, Kinematics& kinematics,
                     ConstMatrixRef q, ConstMatrixRef v, MatrixRef twists) {
  requireStates("linkTwistsBatch", tree, q, v);
  requireResult("linkTwistsBatch", tree, q, twists);
  for (Eigen::Index k = 0; k < q.rows(); ++k) {
    computeKinematics(tree, stateRow(q, k, workspace.fullPosition()),
                      stateRow(v, k, workspace.fullVelocity()), kinematics);
    for (int link = 0; link < static_cast<int>(tree.model().links.size()); ++link)
      twists.block<1, 6>(k, 6 * link) = frameTwist(tree, kinematics, link).vector().transpose();
  }
}

void linkProperAccelerationsBatch(const Tree& tree, Workspace& workspace, Kinematics& kinematics,
                                  ConstMatrixRef q, ConstMatrixRef v, ConstMatrixRef a,
                                  MatrixRef accelerations) {
  linkAccelerations(
      "linkProperAccelerationsBatch", tree, workspace, kinematics, q, v, a, accelerations,
      [&](int link) { return frameProperAcceleration(tree, kinematics, link).vector(); });
}

void linkClassicalAccelerationsBatch(const Tree& tree, Workspace& workspace, Kinematics& kinematics,
                                     ConstMatrixRef q, ConstMatrixRef v, ConstMatrixRef a,
                                     MatrixRef accelerations) {
  linkAccelerations("linkClassicalAccelerationsBatch", tree, workspace, kinematics, q, v, a,
                    accelerations, [&](int link) {
                      return toSensor(framePose(kinematics, link),
                                      frameTwist(tree, kinematics, link),
                                      frameAcceleration(tree, kinematics, link))
                          .vector();
                    });
}

void frameJacobianBatch(const Tree& tree, Workspace& workspace, Kinematics& kinematics,
                        ConstMatrixRef q, int link, const Pose& X_LF, Representation of,
                        Representation base, Eigen::Ref<Eigen::Matrix<double, 6, Eigen::Dynamic>> J,
                        MatrixRef jacobians) {
  constexpr const char* kName = "frameJacobianBatch";
  requireSize(kName, "columns of q", q.cols(), tree.positionCount());
  requireSize(kName, "rows of the result", jacobians.rows(), q.rows());
  requireSize(kName, "columns of the result", jacobians.cols(), 6 * tree.velocityCount());
  for (Eigen::Index k = 0; k < q.rows(); ++k) {
    computeKinematics(tree, stateRow(q, k, workspace.fullPosition()), kinematics);
    frameJacobian(tree, kinematics, link, X_LF, of, base, J);
    for (Eigen::Index c = 0; c < J.cols(); ++c)
      jacobians.block<1, 6>(k, 6 * c) = J.col(c).transpose();
  }
}

}  // namespace proprio
