#include "proprio/dynamics/wrench_regressor.h"

#include "proprio/dynamics/body_regressor.h"

namespace proprio {
namespace {

Matrix6x10d transportedRegressor(const std::vector<LinkMotion>& motions, int link, int reference) {
  const LinkMotion& motion = motions[static_cast<size_t>(link)];
  const Pose X_RL = motions[static_cast<size_t>(reference)].X_WL.inverse() * motion.X_WL;
  return forceAdjoint(X_RL) * bodyRegressor(motion.acceleration, motion.twist.angular);
}

}  // namespace

void wrenchRegressor(const std::vector<LinkMotion>& motions, const std::vector<int>& links,
                     int reference, MatrixRef Y) {
  constexpr const char* kName = "wrenchRegressor";
  requireSize(kName, "rows of Y", Y.rows(), 6);
  requireSize(kName, "columns of Y", Y.cols(), static_cast<Eigen::Index>(10 * motions.size()));
  Y.setZero();
  for (const int link : links) {
    Y.middleCols<10>(10 * link) = transportedRegressor(motions, link, reference);
  }
}

BodyTwist jointSubspace(const Model& model, int joint_index, int link) {
  const Joint& joint = model.joints[static_cast<size_t>(joint_index)];
  if (velocityCount(joint.type) != 1 || (link != joint.first && link != joint.second)) {
    throw Error("jointSubspace: joint '" + joint.name + "' has " +
                std::to_string(velocityCount(joint.type)) +
                " degrees of freedom, expected one, and the link must be one of its two ends.");
  }
  BodyTwist s;
  (joint.type == JointType::kPrismatic ? s.linear : s.angular) = joint.axis;
  // second moves relative to first with s in the joint frame; first relative to second with -s
  if (link == joint.second) {
    return BodyTwist::fromVector(velocityAdjoint(joint.X_JS.inverse()) * s.vector());
  }
  return BodyTwist::fromVector(-(velocityAdjoint(joint.X_FJ) * s.vector()));
}

void jointTorqueRegressor(const Model& model, const std::vector<LinkMotion>& motions, int joint,
                          int link, const std::vector<int>& links,
                          Eigen::Ref<Eigen::RowVectorXd, 0, Eigen::InnerStride<>> row) {
  requireSize("jointTorqueRegressor", "row", row.size(),
              static_cast<Eigen::Index>(10 * motions.size()));
  row.setZero();
  const Vector6d s = jointSubspace(model, joint, link).vector();
  for (const int l : links) {
    row.segment<10>(10 * l) = s.transpose() * transportedRegressor(motions, l, link);
  }
}

}  // namespace proprio
