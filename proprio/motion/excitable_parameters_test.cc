// What a part of a robot's joints can tell.

#include "proprio/motion/excitable_parameters.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "proprio/dynamics/augmented_regressor.h"
#include "proprio/dynamics/sampled_identifiability.h"
#include "proprio/model/testing/bundled_robot.h"
#include "proprio/numerics/dense.h"

namespace proprio {
namespace {

/// Rank of the regressor at other random states of these joints, the rest held at zero.
int rankOf(const HeldRobot& robot, unsigned seed) {
  const Tree& tree = *robot.tree;
  const RandomStates free = randomStates(tree, 300, seed);
  Workspace workspace(tree);
  Eigen::MatrixXd W(300 * tree.velocityCount(), robot.layout->size());
  Eigen::MatrixXd Y(tree.velocityCount(), robot.layout->size());
  for (Eigen::Index k = 0; k < 300; ++k) {
    Eigen::VectorXd q = tree.neutralPosition(), v = Eigen::VectorXd::Zero(tree.velocityCount());
    Eigen::VectorXd a = v;
    for (const std::string& name : robot.joints) {
      const int joint = requireJoint(tree.model(), name);
      q[tree.positionIndex(joint)] = free.q(k, tree.positionIndex(joint));
      v[tree.velocityIndex(joint)] = free.v(k, tree.velocityIndex(joint));
      a[tree.velocityIndex(joint)] = free.a(k, tree.velocityIndex(joint));
    }
    augmentedRegressor(tree, *robot.layout, workspace, q, v, a, Y);
    W.middleRows(k * Y.rows(), Y.rows()) = Y;
  }
  const Eigen::VectorXd values = symmetricEigen(W.transpose() * W).values;
  // squares: a part of 1e-6 of the largest effect is 1e-12 here
  return static_cast<int>((values.array() > 1e-12 * values.maxCoeff()).count());
}

// Their number is the rank of the regressor at other states, for joints of an arm alone and for the
// joints of a humanoid whose base is held; friction and rotors of held joints are silent.
TEST(ExcitableParameters, CountIsTheRank) {
  for (const auto& [file, joints] : std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"tx40.yaml", {"joint_1"}},
           {"tx40.yaml", {"joint_5", "joint_6"}},
           {"planar_2r.yaml", {"elbow"}},
           {"humanoid.yaml", {"left_knee", "left_elbow", "neck_yaw"}}}) {
    const auto model = sharedBundledRobot(file);
    HeldRobot robot;
    robot.tree = std::make_shared<const Tree>(model);
    robot.layout = std::make_shared<const ParameterLayout>(model);
    robot.joints = joints;
    const BaseParameters base = excitableParameters(robot);
    EXPECT_EQ(base.count(), rankOf(robot, 5)) << file << " " << joints.front();
    const BaseParameters all = sampledBaseParameters(*robot.tree, robot.layout);
    EXPECT_LT(base.count(), all.count());
    for (const int i : silentParameters(all, base)) {
      EXPECT_EQ(std::find(base.independent.begin(), base.independent.end(), i),
                base.independent.end());
    }
    const std::vector<int> silent = silentParameters(all, base);
    const int friction = robot.layout->index("joint_2.viscous");
    if (friction < 0) continue;
    EXPECT_NE(std::find(silent.begin(), silent.end(), friction), silent.end());
  }
}

}  // namespace
}  // namespace proprio
