// Laws of mechanics that the dynamics functions must obey, whatever the model: energy, momentum,
// free fall, independence of the base link; and the planar 2R arm in closed form.

#include <gtest/gtest.h>

#include "proprio/dynamics/forward_dynamics.h"
#include "proprio/dynamics/inverse_dynamics.h"
#include "proprio/dynamics/mass_matrix.h"
#include "proprio/dynamics/testing/naive_motion.h"
#include "proprio/dynamics/testing/test_robot.h"

namespace proprio {
namespace {

// Rounding of a few thousand operations on numbers of the vector's size.
constexpr double kPhysicsTolerance = 1e-11;

Vector3d crossed(const Vector6d& V) { return V.tail<3>().cross(V.head<3>()); }

/// Time derivative of q: shape velocities, and the base's position and quaternion.
Eigen::VectorXd positionRate(const Tree& tree, const Eigen::VectorXd& q, const Eigen::VectorXd& v) {
  if (!tree.floating()) return v;
  Eigen::VectorXd rate(q.size());
  const Vector3d w = v.segment<3>(3), xyz = q.segment<3>(3);
  rate.head<3>() = rotationFromQuaternion(q.segment<4>(3)) * v.head<3>();
  rate.segment<3>(3) = 0.5 * (q[6] * w + xyz.cross(w));
  rate[6] = -0.5 * xyz.dot(w);
  rate.tail(q.size() - 7) = v.tail(v.size() - 6);
  return rate;
}

struct MotionState {
  Eigen::VectorXd q, v;
};

/// One step of the classical Runge-Kutta method; acceleration(state) gives dv/dt.
template <class F>
MotionState rungeKutta(const Tree& tree, const MotionState& x, double h, F&& acceleration) {
  const auto rate = [&](const MotionState& s) {
    return MotionState{positionRate(tree, s.q, s.v), acceleration(s)};
  };
  const auto ahead = [&](const MotionState& k, double step) {
    return MotionState{x.q + step * k.q, x.v + step * k.v};
  };
  const MotionState k1 = rate(x), k2 = rate(ahead(k1, h / 2)), k3 = rate(ahead(k2, h / 2)),
                    k4 = rate(ahead(k3, h));
  MotionState next;
  next.q = x.q + h / 6 * (k1.q + 2 * k2.q + 2 * k3.q + k4.q);
  next.v = x.v + h / 6 * (k1.v + 2 * k2.v + 2 * k3.v + k4.v);
  return next;
}

struct Physics {
  double energy = 0.0;
  Vector3d momentum = Vector3d::Zero();          ///< in the world
  Vector3d angular_momentum = Vector3d::Zero();  ///< about the centre of mass, in the world
};

/// Sums over the links, without the dynamics functions; rotors add their kinetic energy.
Physics physics(const TestRobot& robot, const Eigen::VectorXd& q, const Eigen::VectorXd& v) {
  const Model& model = robot.tree.model();
  const std::vector<NaiveLinkMotion> motions =
      naiveMotion(model, q, v, Eigen::VectorXd::Zero(v.size()));
  Physics sum;
  double mass = 0.0;
  Vector3d first_moment = Vector3d::Zero(), about_origin = Vector3d::Zero();
  for (size_t k = 0; k < motions.size(); ++k) {
    const NaiveLinkMotion& motion = motions[k];
    const InertialParameters& inertia = model.links[k].inertia;
    const Vector6d h = inertia.matrix() * motion.V;
    const Vector3d com = motion.X_WL * inertia.com(), p = motion.X_WL.R * h.head<3>();
    sum.energy += 0.5 * motion.V.dot(h) - inertia.mass * model.gravity.dot(com);
    sum.momentum += p;
    about_origin += motion.X_WL.R * h.tail<3>() + motion.X_WL.p.cross(p);
    mass += inertia.mass;
    first_moment += inertia.mass * com;
  }
  for (Eigen::Index i = 0; i < v.size(); ++i) {
    sum.energy += 0.5 * robot.compiled.rotor[static_cast<size_t>(i)] * v[i] * v[i];
  }
  sum.angular_momentum = about_origin - (first_moment / mass).cross(sum.momentum);
  return sum;
}

std::vector<ZooEntry> simulatedModels() {
  RandomModelOptions general;
  general.joints = 8;
  general.rotor = 0.4;
  RandomModelOptions floating = general;
  floating.floating = true;
  return {{"serial chain", std::make_shared<const Model>(serialChain(4))},
          {"general tree", std::make_shared<const Model>(randomModel(71, general))},
          {"floating tree", std::make_shared<const Model>(randomModel(72, floating))},
          {"humanoid", std::make_shared<const Model>(humanoid32())}};
}

MotionState simulate(TestRobot& robot, MotionState x, double h, int steps) {
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(robot.tree.velocityCount());
  const auto acceleration = [&](const MotionState& s) {
    Eigen::VectorXd a(zero.size());
    forwardDynamics(robot.tree, robot.compiled, robot.workspace, s.q, s.v, zero, a);
    return a;
  };
  for (int k = 0; k < steps; ++k) x = rungeKutta(robot.tree, x, h, acceleration);
  return x;
}

// A robot without torques keeps its energy: what drifts is the integrator's error, of order 4.
TEST(Physics, EnergyIsConserved) {
  for (const ZooEntry& entry : simulatedModels()) {
    SCOPED_TRACE(entry.name);
    TestRobot robot(entry.model);
    const RandomState x = randomState(robot.tree, 4, 0.5);
    const MotionState start = {x.q, x.v};
    const double energy = physics(robot, x.q, x.v).energy;
    const auto drift = [&](double h, int steps) {
      const MotionState end = simulate(robot, start, h, steps);
      return std::abs(physics(robot, end.q, end.v).energy - energy) / std::abs(energy);
    };
    const double coarse = drift(1e-2, 20), fine = drift(5e-3, 40);
    EXPECT_LT(fine, 1e-8);
    // halving the step of a method of order 4 divides the error by 16, or by more
    EXPECT_GT(coarse / fine, 12.0);
  }
}

// Without torques and contacts only gravity changes a floating robot's momentum: m g t; its
// angular momentum about the centre of mass stays.
TEST(Physics, MomentumFollowsGravity) {
  constexpr double kStep = 1e-3;
  constexpr int kSteps = 100;
  for (const ZooEntry& entry : simulatedModels()) {
    if (!entry.model->floating) continue;
    SCOPED_TRACE(entry.name);
    TestRobot robot(entry.model);
    const RandomState x = randomState(robot.tree, 5, 0.5);
    double mass = 0.0;
    for (const Link& link : entry.model->links) mass += link.inertia.mass;
    const Physics before = physics(robot, x.q, x.v);
    const MotionState end = simulate(robot, {x.q, x.v}, kStep, kSteps);
    const Physics after = physics(robot, end.q, end.v);
    const Vector3d expected = before.momentum + mass * kStep * kSteps * entry.model->gravity;
    EXPECT_LT((after.momentum - expected).norm(), 1e-7 * expected.norm());
    EXPECT_LT((after.angular_momentum - before.angular_momentum).norm(),
              1e-7 * before.angular_momentum.norm());
  }
}

// The power of the torques is the rate of kinetic plus potential energy, for any motion.
TEST(Physics, TorquesDoTheWorkOnTheEnergy) {
  for (const ZooEntry& entry : modelZoo(false)) {
    SCOPED_TRACE(entry.name);
    TestRobot robot(entry.model);
    const RandomState x = randomState(robot.tree, 6, 1.0);
    Eigen::VectorXd tau(robot.tree.velocityCount());
    inverseDynamics(robot.tree, robot.compiled, robot.workspace, x.q, x.v, x.a, tau);
    const auto energyAt = [&](double t) {
      const MotionState s =
          rungeKutta(robot.tree, {x.q, x.v}, t, [&](const MotionState&) { return x.a; });
      return physics(robot, s.q, s.v).energy;
    };
    // differences of order 4: error about h^4, rounding about 1e-16 / h, of the energy's size
    constexpr double h = 1e-3;
    const double rate =
        (8 * (energyAt(h) - energyAt(-h)) - (energyAt(2 * h) - energyAt(-2 * h))) / (12 * h);
    EXPECT_NEAR(rate, x.v.dot(tau), 1e-7 * x.v.norm() * tau.norm());
  }
}

// Mass matrix, Coriolis and gravity torques of the planar 2R arm are those of the textbook.
TEST(Physics, PlanarArmInClosedForm) {
  const Planar2R arm;
  TestRobot robot(std::make_shared<const Model>(planar2R(arm)));
  for (unsigned seed = 0; seed < 50; ++seed) {
    const RandomState x = randomState(robot.tree, seed);
    Eigen::MatrixXd M = Eigen::MatrixXd::Constant(2, 2, NAN);
    Eigen::VectorXd tau = Eigen::VectorXd::Constant(2, NAN);
    massMatrix(robot.tree, robot.compiled, robot.workspace, x.q, M);
    EXPECT_LT(relativeDeviation(M, arm.massMatrix(x.q[1])), kPhysicsTolerance);
    gravityTorque(robot.tree, robot.compiled, robot.workspace, x.q, tau);
    EXPECT_LT(relativeDeviation(tau, arm.gravityTorque(x.q)), kPhysicsTolerance);
    const Eigen::VectorXd bias = arm.coriolisTorque(x.q[1], x.v) + arm.gravityTorque(x.q);
    biasTorque(robot.tree, robot.compiled, robot.workspace, x.q, x.v, tau);
    EXPECT_LT(relativeDeviation(tau, bias), kPhysicsTolerance);
    inverseDynamics(robot.tree, robot.compiled, robot.workspace, x.q, x.v, x.a, tau);
    EXPECT_LT(relativeDeviation(tau, arm.torque(x.q, x.v, x.a)), kPhysicsTolerance);
    forwardDynamics(robot.tree, robot.compiled, robot.workspace, x.q, x.v, tau, tau);
    EXPECT_LT(relativeDeviation(tau, x.a), kPhysicsTolerance);
  }
}

// In free fall without rotation nothing pulls: no joint torque and no base wrench, whatever the
// linear velocity; and without torques a resting robot falls as a whole.
TEST(Physics, FreeFallIsWeightless) {
  for (const ZooEntry& entry : wholeZoo()) {
    if (!entry.model->floating) continue;
    SCOPED_TRACE(entry.name);
    TestRobot robot(entry.model);
    RandomState x = randomState(robot.tree, 7);
    x.v.tail(x.v.size() - 3).setZero();
    x.a.setZero();
    x.a.head<3>() = rotationFromQuaternion(x.q.segment<4>(3)).transpose() * entry.model->gravity;
    double mass = 0.0;
    for (const Link& link : entry.model->links) mass += link.inertia.mass;
    Eigen::VectorXd tau = Eigen::VectorXd::Constant(x.v.size(), NAN), a = tau;
    inverseDynamics(robot.tree, robot.compiled, robot.workspace, x.q, x.v, x.a, tau);
    EXPECT_LT(tau.norm(), 1e-12 * mass * entry.model->gravity.norm());
    forwardDynamics(robot.tree, robot.compiled, robot.workspace, x.q, x.v,
                    Eigen::VectorXd::Zero(x.v.size()), a);
    EXPECT_LT(relativeDeviation(a, x.a), kPhysicsTolerance);
  }
}

// What an accelerometer and a gyroscope on the base know is enough for the torques (T-23): proper
// acceleration vd + w x v - R^T g.
TEST(Physics, ImuFormEqualsInverseDynamics) {
  for (const ZooEntry& entry : wholeZoo()) {
    if (!entry.model->floating) continue;
    SCOPED_TRACE(entry.name);
    TestRobot robot(entry.model);
    const RandomState x = randomState(robot.tree, 8);
    const auto nv = x.v.size();
    const LinkWrenches wrenches =
        LinkWrenches::Random(6, static_cast<Eigen::Index>(entry.model->links.size()));
    ImuMotion imu;
    imu.angular_velocity = x.v.segment<3>(3);
    imu.angular_acceleration = x.a.segment<3>(3);
    imu.proper_acceleration =
        x.a.head<3>() + crossed(x.v.head<6>()) -
        rotationFromQuaternion(x.q.segment<4>(3)).transpose() * entry.model->gravity;
    Eigen::VectorXd expected(nv), tau = Eigen::VectorXd::Constant(nv, NAN);
    inverseDynamics(robot.tree, robot.compiled, robot.workspace, x.q, x.v, x.a, expected,
                    &wrenches);
    inverseDynamicsFromImu(robot.tree, robot.compiled, robot.workspace, imu,
                           x.q.tail(x.q.size() - 7), x.v.tail(nv - 6), x.a.tail(nv - 6), tau,
                           &wrenches);
    EXPECT_LT(relativeDeviation(tau, expected), kPhysicsTolerance);
  }
}

// Joint torques do not depend on the link that is called the base (T-28): seen from any other link,
// with the first base's wrench as an external one, the same motion takes the same joint torques
// and no wrench on the new base. Forward dynamics from the new base gives back the motion.
TEST(Physics, TorquesDoNotDependOnTheBase) {
  for (const ZooEntry& entry : modelZoo(false)) {
    if (!entry.model->floating || entry.model->links.size() > 20) continue;
    TestRobot robot(entry.model);
    const RandomState x = randomState(robot.tree, 9);
    const Eigen::Index nv = x.v.size(), shape = nv - 6;
    LinkWrenches wrenches =
        LinkWrenches::Random(6, static_cast<Eigen::Index>(entry.model->links.size()));
    Eigen::VectorXd tau(nv);
    inverseDynamics(robot.tree, robot.compiled, robot.workspace, x.q, x.v, x.a, tau, &wrenches);
    wrenches.col(entry.model->base) += tau.head<6>();
    const std::vector<NaiveLinkMotion> motions = naiveMotion(*entry.model, x.q, x.v, x.a);
    for (size_t link = 0; link < motions.size(); ++link) {
      SCOPED_TRACE(entry.name + ", base " + entry.model->links[link].name);
      TestRobot other(Tree(entry.model, static_cast<int>(link), true));
      Eigen::VectorXd q = x.q, v = x.v, a = x.a, found(nv), expected = tau;
      q.head<3>() = motions[link].X_WL.p;
      q.segment<4>(3) = quaternionFromRotation(motions[link].X_WL.R);
      v.head<6>() = motions[link].V;
      a.head<6>() = motions[link].A;
      expected.head<6>().setZero();
      inverseDynamics(other.tree, other.compiled, other.workspace, q, v, a, found, &wrenches);
      EXPECT_LT((found - expected).norm(), kPhysicsTolerance * tau.norm());
      forwardDynamics(other.tree, other.compiled, other.workspace, q, v, expected, found,
                      &wrenches);
      // amplified by the condition number of M
      EXPECT_LT((found - a).tail(shape).norm(), 1e-8 * a.norm());
    }
  }
}

}  // namespace
}  // namespace proprio
