#include "proprio/dynamics/wrench_regressor.h"

#include <gtest/gtest.h>

#include "proprio/dynamics/body_regressor.h"
#include "proprio/dynamics/regressor.h"
#include "proprio/dynamics/testing/model_zoo.h"
#include "proprio/dynamics/testing/test_robot.h"
#include "proprio/model/testing/naive_kinematics.h"
#include "proprio/spatial/newton_euler.h"

namespace proprio {
namespace {

// Rounding of a few thousand operations on numbers of the vector's size.
constexpr double kWrenchTolerance = 1e-11;

// Y pi = phi in sensor and in body form: the regressors give the Newton-Euler wrench of the body,
// and both forms are the same wrench (T-62).
TEST(BodyRegressor, BothFormsAreTheNewtonEulerWrench) {
  RandomModelSource random(3);
  for (int trial = 0; trial < 20; ++trial) {
    const InertialParameters body = random.inertia();
    const BodyTwist V = {random.normal(), random.normal()};
    const Pose X = random.pose();
    const ProperSensorAcceleration alpha = {9.0 * random.normal(), random.normal()};
    const ProperBodyAcceleration a = toBody(X, V, alpha);
    const Vector6d phi = newtonEuler(body, V.angular, alpha).vector();
    EXPECT_LT(relativeDeviation(bodyRegressor(alpha, V.angular) * body.vector(), phi),
              kWrenchTolerance);
    EXPECT_LT(relativeDeviation(bodyRegressor(V, a) * body.vector(), phi), kWrenchTolerance);
    EXPECT_LT(
        relativeDeviation(inertiaRegressor(V.vector()) * body.vector(), body.matrix() * V.vector()),
        kWrenchTolerance);
    EXPECT_NEAR(kineticEnergyRow(V) * body.vector(), kineticEnergy(body, V), 1e-12);
    const Vector3d gravity(0.1, 0.2, -9.8);
    EXPECT_NEAR(potentialEnergyRow(X, gravity) * body.vector(), potentialEnergy(X, body, gravity),
                1e-11);
  }
}

// Velocities and accelerations of the links are the derivatives of their poses.
TEST(LinkMotion, IsTheDerivativeOfThePoses) {
  for (const ZooEntry& entry : modelZoo()) {
    if (entry.model->floating) continue;
    SCOPED_TRACE(entry.name);
    const Tree tree(entry.model);
    const RandomState x = randomState(tree, 4);
    const auto at = [&](double t) {
      std::vector<LinkMotion> motions;
      linkMotions(tree, x.q + t * x.v + 0.5 * t * t * x.a, x.v + t * x.a, x.a, &motions);
      return motions;
    };
    const double h = 1e-5;
    const std::vector<LinkMotion> now = at(0.0), next = at(h), last = at(-h);
    for (size_t l = 0; l < now.size(); ++l) {
      const Matrix3d R = now[l].X_WL.R;
      const Vector3d w = rotationLog(last[l].X_WL.R.transpose() * next[l].X_WL.R) / (2 * h);
      const Vector3d v = R.transpose() * (next[l].X_WL.p - last[l].X_WL.p) / (2 * h);
      const double scale = 1.0 + now[l].twist.vector().norm() + now[l].acceleration.vector().norm();
      EXPECT_LT((now[l].twist.angular - w).norm(), 1e-6 * scale * scale);
      EXPECT_LT((now[l].twist.linear - v).norm(), 1e-6 * scale * scale);
      const Vector3d velocity_rate =
          (next[l].X_WL.R * next[l].twist.linear - last[l].X_WL.R * last[l].twist.linear) / (2 * h);
      const Vector3d alpha = R.transpose() * (velocity_rate - entry.model->gravity);
      EXPECT_LT((now[l].acceleration.linear - alpha).norm(), 1e-5 * scale * scale);
      const Vector3d wd = (next[l].twist.angular - last[l].twist.angular) / (2 * h);
      EXPECT_LT((now[l].acceleration.angular - wd).norm(), 1e-5 * scale * scale);
    }
  }
}

// The torque of a joint is the subtree's wrench on its axis, whichever side of the joint is taken
// as subtree: rows equal the torque regressor (T-74).
TEST(WrenchRegressor, JointRowsEqualTheTorqueRegressor) {
  for (const ZooEntry& entry : modelZoo(false)) {
    SCOPED_TRACE(entry.name);
    const Tree tree(entry.model);
    Workspace workspace(tree);
    const RandomState x = randomState(tree, 4);
    const Model& model = *entry.model;
    const auto columns = static_cast<Eigen::Index>(10 * model.links.size());
    Eigen::MatrixXd Y(tree.velocityCount(), columns);
    torqueRegressor(tree, workspace, x.q, x.v, x.a, Y);
    std::vector<LinkMotion> motions;
    linkMotions(tree, x.q, x.v, x.a, &motions);
    const Traversal traversal = traverse(model, tree.baseLink());
    for (size_t link = 0; link < model.links.size(); ++link) {
      const int joint = traversal.parent_joint[link];
      if (joint < 0 || velocityCount(model.joints[static_cast<size_t>(joint)].type) != 1) continue;
      Eigen::RowVectorXd row = Eigen::RowVectorXd::Constant(columns, NAN);
      const std::vector<int> beyond = subtree(model, tree.baseLink(), static_cast<int>(link));
      jointTorqueRegressor(model, motions, joint, static_cast<int>(link), beyond, row);
      EXPECT_LT(relativeDeviation(row, Y.row(tree.velocityIndex(joint))), kWrenchTolerance);
    }
    if (!tree.floating()) continue;
    std::vector<int> all(model.links.size());
    for (size_t l = 0; l < all.size(); ++l) all[l] = static_cast<int>(l);
    Eigen::MatrixXd base(6, columns);
    wrenchRegressor(motions, all, tree.baseLink(), base);
    EXPECT_LT(relativeDeviation(base, Y.topRows(6)), kWrenchTolerance);
  }
}

// What an IMU on the base knows is enough: the same rows without pose and linear velocity.
TEST(WrenchRegressor, ImuMotionGivesTheSameRows) {
  for (const ZooEntry& entry : modelZoo()) {
    if (!entry.model->floating) continue;
    SCOPED_TRACE(entry.name);
    const Tree tree(entry.model);
    const RandomState x = randomState(tree, 4);
    std::vector<LinkMotion> world, imu;
    linkMotions(tree, x.q, x.v, x.a, &world);
    const LinkMotion& base = world[static_cast<size_t>(tree.baseLink())];
    const Eigen::Index n = tree.velocityCount() - 6;
    linkMotionsFromImu(tree,
                       {base.acceleration.linear, base.acceleration.angular, base.twist.angular},
                       x.q.tail(n), x.v.tail(n), x.a.tail(n), &imu);
    std::vector<int> some;
    for (size_t l = 0; l < world.size(); l += 2) some.push_back(static_cast<int>(l));
    const auto columns = static_cast<Eigen::Index>(10 * world.size());
    Eigen::MatrixXd one(6, columns), two(6, columns);
    wrenchRegressor(world, some, 0, one);
    wrenchRegressor(imu, some, 0, two);
    EXPECT_LT(relativeDeviation(two, one), kWrenchTolerance);
  }
}

// Both ends of a joint move oppositely: the subspace of one end is minus the other's, transported.
TEST(WrenchRegressor, JointSubspacesOfBothEndsAreOpposite) {
  const Model model = randomModel(3, {.joints = 6, .offset = 1.0});
  RandomModelSource random(1);
  for (size_t j = 0; j < model.joints.size(); ++j) {
    const Joint& joint = model.joints[j];
    const double q = random.uniform(-1, 1);
    Pose motion;
    if (joint.type == JointType::kPrismatic) {
      motion.p = q * joint.axis;
    } else {
      motion.R = rotationExp(q * joint.axis);
    }
    const Pose X_FS = joint.X_FJ * motion * joint.X_JS;
    const Vector6d first = jointSubspace(model, static_cast<int>(j), joint.first).vector();
    const Vector6d second = jointSubspace(model, static_cast<int>(j), joint.second).vector();
    EXPECT_LT(relativeDeviation(velocityAdjoint(X_FS) * second, -first), kWrenchTolerance);
  }
  EXPECT_THROW(jointSubspace(model, 0, 5), Error);
}

}  // namespace
}  // namespace proprio
