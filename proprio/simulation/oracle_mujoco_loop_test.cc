// A closed-loop run against MuJoCo, a simulator that nobody here wrote.

#include <gtest/gtest.h>

#include "proprio/dynamics/testing/mujoco_robot.h"
#include "proprio/simulation/testing/loop_robots.h"

namespace proprio {
namespace {

using namespace testing_loop;

// Under the torques of our servo, MuJoCo's Runge-Kutta steps move the frictionless TX40 as ours do.
TEST(OracleMujoco, ClosedLoopOfTheTx40) {
  Model model = *bundled("tx40.yaml");
  for (Joint& joint : model.joints) joint.friction = {};
  const Tree tree(finished(model));
  ClosedLoopRun run = runOf(tree, sineMotion(tree, 0.3, 0.7, 0.3, 1000.0));
  run.options.sample_rate = run.options.physics_rate = 5000.0;
  const ClosedLoopResult ours = simulateClosedLoop(tree, run);
  MujocoRobot theirs(tree.model());
  theirs.m()->opt.timestep = 1.0 / 5000.0;
  theirs.m()->opt.integrator = mjINT_RK4;
  const Eigen::Index first_q = ours.recording.column("q_true_joint_1"),
                     first_v = ours.recording.column("v_true_joint_1"),
                     first_tau = ours.recording.column("tau_true_joint_1");
  const Eigen::MatrixXd& values = ours.recording.values;
  theirs.setState(values.row(0).segment(first_q, 6).transpose(),
                  values.row(0).segment(first_v, 6).transpose());
  for (Eigen::Index k = 0; k + 1 < values.rows(); ++k) {
    theirs.setTorque(values.row(k).segment(first_tau, 6).transpose());
    mj_step(theirs.m(), theirs.d());
    for (int i = 0; i < 6; ++i)
      ASSERT_NEAR(theirs.d()->qpos[i], values(k + 1, first_q + i), 1e-9) << k << " " << i;
  }
}

}  // namespace
}  // namespace proprio
