#include "proprio/motion/excitable_parameters.h"

#include <algorithm>
#include <cmath>

#include "proprio/dynamics/augmented_regressor.h"
#include "proprio/dynamics/sampled_identifiability.h"
#include "proprio/motion/motion_limits.h"
#include "proprio/numerics/dense.h"
#include "proprio/numerics/streaming_qr.h"

namespace proprio {
namespace {

constexpr Eigen::Index kHeldBlock = 64;
constexpr double kEarlierRate = 100.0;  // 1/s, at which earlier motions are looked at
constexpr unsigned kHeldSeed = 1;

/// All coordinates at the posture and at rest, but for the named joints.
RandomStates heldStates(const HeldRobot& robot, const std::vector<std::string>& joints,
                        const Eigen::MatrixXd& q, const Eigen::MatrixXd& v,
                        const Eigen::MatrixXd& a) {
  const Tree& tree = *robot.tree;
  const Eigen::VectorXd posture =
      robot.posture.size() > 0 ? robot.posture : Eigen::VectorXd(tree.neutralPosition());
  RandomStates x;
  x.q = posture.transpose().replicate(q.rows(), 1);
  x.v = x.a = Eigen::MatrixXd::Zero(q.rows(), tree.velocityCount());
  for (size_t i = 0; i < joints.size(); ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    const int joint = requireJoint(tree.model(), joints[i]);
    x.q.col(tree.positionIndex(joint)) = q.col(k);
    x.v.col(tree.velocityIndex(joint)) = v.col(k);
    x.a.col(tree.velocityIndex(joint)) = a.col(k);
  }
  return x;
}

/// Rows of every measured coordinate, folded into `qr`.
void addRows(const HeldRobot& robot, const RandomStates& x, StreamingQr* qr) {
  const Tree& tree = *robot.tree;
  Workspace workspace(tree);
  RegressorBatch batch(tree, kHeldBlock, robot.layout->size());
  for (Eigen::Index done = 0; done < x.q.rows(); done += kHeldBlock) {
    const Eigen::Index count = std::min(kHeldBlock, x.q.rows() - done);
    augmentedRegressorBatch(tree, *robot.layout, workspace, x.q.middleRows(done, count),
                            x.v.middleRows(done, count), x.a.middleRows(done, count), batch);
    for (int row = 0; row < tree.velocityCount(); ++row) {
      const double scale = robot.row_scale.size() > 0 ? robot.row_scale[row] : 1.0;
      if (scale != 0.0) qr->add(scale * batch.rows(row, count));
    }
  }
}

RandomStates statesOf(const HeldRobot& robot, const JointMotion& motion) {
  const MotionSamples s = sample(motion, kEarlierRate);
  return heldStates(robot, s.joints, s.q, s.v, s.a);
}

}  // namespace

BaseParameters excitableParameters(const HeldRobot& robot) {
  const Tree& tree = *robot.tree;
  const Model& model = tree.model();
  const bool all_move = !tree.floating() && (robot.row_scale.array() != 0.0).all() &&
                        static_cast<int>(robot.joints.size()) == tree.velocityCount();
  if (all_move) return sampledBaseParameters(tree, robot.layout);
  // as sampledBaseParameters(), with the rows of the joints that move
  const Eigen::Index count =
      120 + 4 * robot.layout->size() / std::max<Eigen::Index>(1, std::ssize(robot.joints));
  const RandomStates free = randomStates(tree, count, kHeldSeed);
  const auto moving = static_cast<Eigen::Index>(robot.joints.size());
  Eigen::MatrixXd q(count, moving), v(count, moving), a(count, moving);
  for (Eigen::Index i = 0; i < moving; ++i) {
    const int joint = requireJoint(model, robot.joints[static_cast<size_t>(i)]);
    q.col(i) = free.q.col(tree.positionIndex(joint));
    v.col(i) = free.v.col(tree.velocityIndex(joint));
    a.col(i) = free.a.col(tree.velocityIndex(joint));
  }
  StreamingQr qr(robot.layout->size());
  addRows(robot, heldStates(robot, robot.joints, q, v, a), &qr);
  for (const JointMotion& motion : robot.earlier) addRows(robot, statesOf(robot, motion), &qr);
  return baseParametersOfFactor(tree, robot.layout, qr.factor(), count);
}

std::vector<int> silentParameters(const BaseParameters& all, const BaseParameters& excitable) {
  const std::vector<ParameterStatus> before = parameterStatuses(all);
  const std::vector<ParameterStatus> after = parameterStatuses(excitable);
  std::vector<int> silent;
  for (size_t i = 0; i < before.size(); ++i) {
    if (before[i] != ParameterStatus::kWithoutEffect &&
        after[i] == ParameterStatus::kWithoutEffect) {
      silent.push_back(static_cast<int>(i));
    }
  }
  return silent;
}

Eigen::MatrixXd earlierFactor(const HeldRobot& robot, const std::vector<int>& columns) {
  StreamingQr qr(robot.layout->size());
  for (const JointMotion& motion : robot.earlier) addRows(robot, statesOf(robot, motion), &qr);
  const Eigen::MatrixXd R = qr.factor();
  Eigen::MatrixXd chosen(R.rows(), static_cast<Eigen::Index>(columns.size()));
  for (size_t i = 0; i < columns.size(); ++i) {
    chosen.col(static_cast<Eigen::Index>(i)) = R.col(columns[i]);
  }
  return chosen / std::sqrt(kEarlierRate);
}

}  // namespace proprio
