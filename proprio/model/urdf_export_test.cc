#include "proprio/model/urdf_export.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "proprio/dynamics/inverse_dynamics.h"
#include "proprio/dynamics/kinematics.h"
#include "proprio/model/robot_reader.h"

namespace proprio {
namespace {

std::string robotPath(const std::string& name) {
  return std::string(PROPRIO_SOURCE_DIR) + "/examples/robots/" + name;
}

// torques of the bodies alone: no rotors, no friction
Eigen::MatrixXd bodyTorques(const Model& model) {
  const auto shared = std::make_shared<const Model>(model);
  const Tree tree(shared);
  Parameters parameters = declaredParameters(shared);
  std::fill(parameters.values.begin() + parameters.layout->inertialSize(), parameters.values.end(),
            0.0);
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> number(-2.0, 2.0);
  const auto fill = [&](Eigen::Index columns) {
    return Eigen::MatrixXd(
        Eigen::MatrixXd::NullaryExpr(20, columns, [&] { return number(random); }));
  };
  const Eigen::MatrixXd q = fill(tree.positionCount()), v = fill(tree.velocityCount()),
                        a = fill(tree.velocityCount());
  Eigen::MatrixXd tau(20, tree.velocityCount());
  Workspace workspace(tree);
  inverseDynamicsBatch(tree, compileParameters(tree, parameters), workspace, q, v, a, tau);
  return tau;
}

// The exported URDF has the torques of the model, for modified and classic tables, prismatic and
// fixed joints, and for models that came from a URDF.
TEST(UrdfExport, SameTorques) {
  std::vector<Model> models;
  for (const char* robot :
       {"tx40.yaml", "iiwa14.yaml", "rv2sq.yaml", "planar_2r.yaml", "mobile_manipulator.yaml"})
    models.push_back(readRobot(robotPath(robot)));
  models.push_back(readRobotYamlText(R"(version: 1
dh:
  convention: classic
  base_offset: {xyz: [0.1, 0.2, 0.3], rpy: [0.1, 1.5707963267948966, 0.3]}
  joints:
    - {name: j1, d: 0.3, alpha: pi/2, a: 0.1, lower: -1, upper: 2, velocity: 3, effort: 4}
    - {name: j2, type: prismatic, a: 0.4, alpha: 0.3, lower: -1, upper: 1, velocity: 1, effort: 9}
    - {name: j3, type: fixed, a: 0.1, theta: 0.7}
    - {name: j4, a: 0.2, theta: 0.4}
  links:
    link_1: {mass: 3, com: [0.1, 0, 0.2], inertia_at_com: [0.1, 0.01, 0, 0.1, 0.02, 0.1]}
    link_2: {mass: 2, com: [0, 0.1, 0.2], inertia_at_com: [0.1, 0, 0, 0.1, 0.02, 0.1]}
    link_3: {mass: 1, com: [0, 0.1, 0], inertia_at_com: [0.1, 0, 0.03, 0.1, 0.02, 0.1]}
    link_4: {mass: 1, com: [0, 0.1, 0.1], inertia_at_com: [0.1, 0, 0.03, 0.1, 0.02, 0.1]}
joints:
  j1: {friction: {viscous: 1, coulomb: 2}}
frames: [{name: tip, link: link_4, xyz: [0.1, 0.2, 0], rpy: [0.3, 0, 0]}]
)"));
  for (const Model& model : models) {
    SCOPED_TRACE(model.name);
    Model read = lumpFixedJoints(finalize(readUrdfText(exportUrdf(model), "export.urdf")));
    read.gravity = model.gravity;
    read.X_WB = model.X_WB;
    const Eigen::MatrixXd meant = bodyTorques(model), got = bodyTorques(read);
    ASSERT_EQ(meant.cols(), got.cols());
    EXPECT_LT((meant - got).cwiseAbs().maxCoeff(), 1e-9 * meant.cwiseAbs().maxCoeff());
    for (const Joint& joint : model.joints) {
      if (velocityCount(joint.type) != 1) continue;
      const Joint& other = read.joints[static_cast<size_t>(read.jointIndex(joint.name))];
      if (std::isfinite(joint.limits.lower)) {
        EXPECT_EQ(joint.limits.lower, other.limits.lower);
      }
    }
  }
}

// Frames are where they were, also on links whose frame had to move to the joint.
TEST(UrdfExport, FramesStay) {
  for (const char* robot : {"tx40.yaml", "iiwa14.yaml"}) {
    const auto model = std::make_shared<const Model>(readRobot(robotPath(robot)));
    const auto read = std::make_shared<const Model>(
        lumpFixedJoints(finalize(readUrdfText(exportUrdf(*model), "export.urdf"))));
    const Tree a(model), b(read);
    Kinematics ka(a), kb(b);
    const Eigen::VectorXd q = Eigen::VectorXd::LinSpaced(a.positionCount(), -1.0, 1.0);
    computeKinematics(a, q, ka);
    computeKinematics(b, q, kb);
    const Frame &fa = model->frames[0],
                &fb = read->frames[static_cast<size_t>(read->frameIndex(model->frames[0].name))];
    EXPECT_LT((framePose(ka, fa.link, fa.X_LF).matrix() - framePose(kb, fb.link, fb.X_LF).matrix())
                  .cwiseAbs()
                  .maxCoeff(),
              1e-12);
  }
}

// What URDF cannot say is refused.
TEST(UrdfExport, Refusals) {
  Model model = readRobot(robotPath("tx40.yaml"));
  model.links[2].inertia.mass = NAN;
  EXPECT_THROW(exportUrdf(model), Error);
  model.links[2].inertia = {};
  model.links[2].inertia.first_moment = Vector3d(1, 0, 0);
  EXPECT_THROW(exportUrdf(model), Error);
}

}  // namespace
}  // namespace proprio
