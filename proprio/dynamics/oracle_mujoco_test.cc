// Poses, inverse dynamics, mass matrix and forward dynamics against MuJoCo, fixed and floating
// base, with rotor inertia and external wrenches. The models are written as MJCF into memory.

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <memory>
#include <string>

#include "proprio/dynamics/forward_dynamics.h"
#include "proprio/dynamics/inverse_dynamics.h"
#include "proprio/dynamics/mass_matrix.h"
#include "proprio/dynamics/testing/bundled_robots.h"
#include "proprio/dynamics/testing/mujoco_robot.h"
#include "proprio/dynamics/testing/test_robot.h"

namespace proprio {
namespace {

constexpr double kTolerance = 1e-9;

void compare(const ZooEntry& entry, unsigned seed, Deviations& deviations) {
  SCOPED_TRACE(entry.name);
  TestRobot ours(entry.model);
  MujocoRobot theirs(*entry.model);
  ASSERT_EQ(theirs.m()->nv, ours.tree.velocityCount());
  const RandomState x = randomState(ours.tree, seed);
  const auto nv = static_cast<Eigen::Index>(ours.tree.velocityCount());
  const auto links = entry.model->links.size();
  theirs.setState(x.q, x.v);
  theirs.setAcceleration(x.a);
  mj_inverse(theirs.m(), theirs.d());

  Eigen::VectorXd poses = Eigen::VectorXd::Constant(static_cast<Eigen::Index>(12 * links), NAN);
  kernels::active().one.link_poses(ours.workspace.kernelTree(), ours.workspace.scratch(),
                                   {x.q.data(), 1}, {poses.data(), 1});
  Eigen::VectorXd their_poses = poses;
  for (size_t k = 0; k < links; ++k) {
    const Pose X = theirs.linkPose(k);
    const auto place = static_cast<Eigen::Index>(12 * k);
    their_poses.segment<9>(place) = X.R.transpose().reshaped();
    their_poses.segment<3>(place + 9) = X.p;
  }
  deviations.expect("link poses", entry.name, poses, their_poses, kTolerance);

  Eigen::VectorXd tau = Eigen::VectorXd::Constant(nv, NAN);
  inverseDynamics(ours.tree, ours.compiled, ours.workspace, x.q, x.v, x.a, tau);
  deviations.expect("inverse dynamics", entry.name, tau, theirs.torque(theirs.d()->qfrc_inverse),
                    kTolerance);
  biasTorque(ours.tree, ours.compiled, ours.workspace, x.q, x.v, tau);
  deviations.expect("Coriolis and gravity", entry.name, tau, theirs.bias(), kTolerance);

  Eigen::MatrixXd M = Eigen::MatrixXd::Constant(nv, nv, NAN);
  massMatrix(ours.tree, ours.compiled, ours.workspace, x.q, M);
  deviations.expect("mass matrix", entry.name, M, theirs.massMatrix(), kTolerance);

  const LinkWrenches wrenches = LinkWrenches::Random(6, static_cast<Eigen::Index>(links));
  inverseDynamics(ours.tree, ours.compiled, ours.workspace, x.q, x.v, x.a, tau, &wrenches);
  deviations.expect("inverse dynamics with wrenches", entry.name, tau,
                    theirs.torque(theirs.d()->qfrc_inverse) - theirs.generalisedForce(wrenches),
                    kTolerance);

  theirs.setTorque(x.tau);
  theirs.applyAtCentresOfMass(wrenches);
  mj_forward(theirs.m(), theirs.d());
  Eigen::VectorXd a = Eigen::VectorXd::Constant(nv, NAN);
  forwardDynamics(ours.tree, ours.compiled, ours.workspace, x.q, x.v, x.tau, a, &wrenches);
  deviations.expect("forward dynamics with wrenches", entry.name, a, theirs.acceleration(),
                    kTolerance);
}

// On random trees of 1 to 60 joints, some with floating joints inside, MuJoCo computes the same
// numbers.
TEST(OracleMujoco, RandomTrees) {
  Deviations deviations("MuJoCo, random trees");
  for (const ZooEntry& entry : modelZoo(false, /*with_floating_joints=*/true))
    for (const unsigned seed : {1, 2, 3}) compare(entry, seed, deviations);
}

// On every bundled robot, MuJoCo computes the same numbers.
TEST(OracleMujoco, BundledRobots) {
  Deviations deviations("MuJoCo, bundled robots");
  for (const ZooEntry& entry : bundledRobots())
    for (const unsigned seed : {1, 2, 3}) compare(entry, seed, deviations);
}

}  // namespace
}  // namespace proprio
