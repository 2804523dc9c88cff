// Inverse dynamics against the principles it can be derived from, and two facts of the theory that
// tables of numbers do not show: no orientation belongs to the average angular velocity, and a
// payload is a changed link or an external wrench.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "proprio/dynamics/centroidal.h"
#include "proprio/dynamics/inverse_dynamics.h"
#include "proprio/dynamics/link_motion.h"
#include "proprio/dynamics/testing/naive_motion.h"
#include "proprio/dynamics/testing/perturb.h"
#include "proprio/dynamics/testing/test_robot.h"
#include "proprio/spatial/newton_euler.h"
#include "proprio/spatial/se3.h"

namespace proprio {
namespace {

/// d/ds f(s) at 0 by differences of order 4.
template <class F>
auto derivative(const F& f, double h) {
  return ((8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h)).eval();
}

/// The step that `moved` takes from q to `to`. @pre no floating joints beside the base
Eigen::VectorXd displacement(const Tree& tree, const Eigen::VectorXd& q,
                             const Eigen::VectorXd& to) {
  if (!tree.floating()) return to - q;
  const auto base = [](const Eigen::VectorXd& x) {
    return Pose{rotationFromQuaternion(x.segment<4>(3)), x.head<3>()};
  };
  Eigen::VectorXd d(tree.velocityCount());
  d << poseLog(base(q).inverse() * base(to)), to.tail(to.size() - 7) - q.tail(q.size() - 7);
  return d;
}

/// Kinetic minus potential energy, link by link from the declarations.
double lagrangian(const TestRobot& robot, const Eigen::VectorXd& q, const Eigen::VectorXd& v) {
  const Model& model = robot.tree.model();
  const auto motions = naiveMotion(model, q, v, Eigen::VectorXd::Zero(v.size()));
  double L = 0.0;
  for (size_t k = 0; k < motions.size(); ++k) {
    const InertialParameters& inertia = model.links[k].inertia;
    L += 0.5 * motions[k].V.dot(inertia.matrix() * motions[k].V) +
         inertia.mass * model.gravity.dot(motions[k].X_WL * inertia.com());
  }
  for (Eigen::Index i = 0; i < v.size(); ++i) {
    L += 0.5 * robot.compiled.rotor[static_cast<size_t>(i)] * v[i] * v[i];
  }
  return L;
}

/// A smooth path through configurations, and the same varied by epsilon times a field that
/// vanishes at both ends of [0, 1].
struct VariedPath {
  const Tree& tree;
  Eigen::VectorXd start, amplitude, frequency, direction, skew;
  double epsilon = 0.0;

  Eigen::VectorXd variation(double t) const {
    const double envelope = std::pow(std::sin(std::numbers::pi * t), 2);
    return envelope * (direction + t * skew);
  }
  Eigen::VectorXd q(double t) const {
    const Eigen::VectorXd xi = amplitude.array() * (frequency.array() * t).sin();
    return moved(tree, moved(tree, start, xi), epsilon * variation(t));
  }
  Eigen::VectorXd v(double t) const {
    constexpr double h = 5e-3;
    const Eigen::VectorXd here = q(t);
    return derivative([&](double s) { return displacement(tree, here, q(t + s)); }, h);
  }
  Eigen::VectorXd a(double t) const {
    constexpr double h = 5e-3;
    return derivative([&](double s) { return v(t + s); }, h);
  }
};

/// Integral over [0, 1] by Simpson's rule.
template <class F>
double integral(const F& f) {
  constexpr int kIntervals = 60;
  double sum = 0.0;
  for (int k = 0; k <= kIntervals; ++k) {
    const double weight = k == 0 || k == kIntervals ? 1 : (k % 2 == 1 ? 4 : 2);
    sum += weight * f(static_cast<double>(k) / kIntervals);
  }
  return sum / (3 * kIntervals);
}

// Lagrange-d'Alembert: along any path, the first variation of the action plus the virtual work of
// the torques is zero, for variations that vanish at the ends; with the free base varied in body
// coordinates these are the Euler-Poincare and Hamel equations.
TEST(Principles, TorquesMakeTheActionStationary) {
  RandomModelOptions options;
  options.joints = 6;
  options.rotor = 0.4;
  for (const bool floating : {false, true}) {
    options.floating = floating;
    TestRobot robot(std::make_shared<const Model>(randomModel(31, options)));
    const Eigen::Index n = robot.tree.velocityCount();
    RandomModelSource random(32);
    const auto vector = [&](double low, double high) {
      return Eigen::VectorXd(
          Eigen::VectorXd::NullaryExpr(n, [&] { return random.uniform(low, high); }));
    };
    VariedPath path{robot.tree,    randomState(robot.tree, 33).q,
                    vector(-1, 1), vector(0.5, 2.0),
                    vector(-1, 1), vector(-1, 1)};
    const auto action = [&](double epsilon) {
      path.epsilon = epsilon;
      const double S = integral([&](double t) { return lagrangian(robot, path.q(t), path.v(t)); });
      return Eigen::Matrix<double, 1, 1>(S);
    };
    const double variation = derivative(action, 1e-2)(0);
    path.epsilon = 0.0;
    Eigen::VectorXd tau(n);
    double size = 0.0;
    const double work = integral([&](double t) {
      inverseDynamics(robot.tree, robot.compiled, robot.workspace, path.q(t), path.v(t), path.a(t),
                      tau);
      size = std::max(size, tau.norm() * path.variation(t).norm());
      return tau.dot(path.variation(t));
    });
    // Simpson's rule and the differences each leave errors of order 4: (1/60)^4 and less
    EXPECT_NEAR(variation + work, 0.0, 1e-6 * size) << (floating ? "floating" : "fixed");
    EXPECT_GT(std::abs(work), 1e-3 * size);
  }
}

/// Orientation that the average angular velocity leads to when the shape runs once round a loop
/// (or, with `back`, along half of it and back) with the base at rest.
Matrix3d averageRotation(TestRobot& robot, int steps, bool back) {
  const Tree& tree = robot.tree;
  const double h = 2 * std::numbers::pi / steps;
  Kinematics kinematics(tree);
  const auto averageVelocity = [&](double phase) {
    Eigen::VectorXd q = tree.neutralPosition(), v = Eigen::VectorXd::Zero(tree.velocityCount());
    const double angle = back ? 1 - std::cos(phase) : phase, rate = back ? std::sin(phase) : 1.0;
    for (Eigen::Index i = 0; i + 7 < q.size(); ++i) {
      const double shift = static_cast<double>(i);
      q[7 + i] = std::cos(angle + shift);
      v[6 + i] = -std::sin(angle + shift) * rate;
    }
    computeKinematics(tree, q, v, kinematics);
    return Vector3d(centroidalState(tree, robot.compiled, kinematics).averageTwist().tail<3>());
  };
  Matrix3d R = Matrix3d::Identity();
  for (int k = 0; k < steps; ++k) {
    // midpoint rule on the group: order 2
    R = rotationExp(h * averageVelocity((k + 0.5) * h)) * R;
  }
  return R;
}

// The average angular velocity is no orientation's derivative: the shape returns, its integral
// does not; along a way and back it does.
TEST(Principles, AverageAngularVelocityIsNotIntegrable) {
  RandomModelOptions options;
  options.joints = 5;
  options.floating = true;
  TestRobot robot(std::make_shared<const Model>(randomModel(41, options)));
  const Matrix3d coarse = averageRotation(robot, 2000, false),
                 fine = averageRotation(robot, 4000, false);
  const double angle = rotationLog(fine).norm();
  EXPECT_GT(angle, 0.01);
  EXPECT_LT((coarse - fine).norm(), 1e-3 * angle);
  EXPECT_LT((averageRotation(robot, 4000, true) - Matrix3d::Identity()).norm(), 1e-3 * angle);
}

// A payload costs the same torques whether it is part of the link or the wrench that the moving
// payload exerts on it.
TEST(Principles, PayloadAsLinkAndAsWrench) {
  RandomModelSource source(51);
  for (const bool floating : {false, true}) {
    RandomModelOptions options;
    options.joints = 7;
    options.floating = floating;
    const Model bare = randomModel(52, options);
    const InertialParameters payload = source.inertia();
    const Pose X_LP = source.pose();
    const int link = 5;
    const Model loaded = attachPayload(bare, "box", bare.links[link].name, X_LP, payload);
    TestRobot empty(std::make_shared<const Model>(bare)),
        full(std::make_shared<const Model>(loaded));
    const RandomState x = randomState(empty.tree, 53);
    Eigen::VectorXd as_link(x.v.size()), as_wrench(x.v.size());
    inverseDynamics(full.tree, full.compiled, full.workspace, x.q, x.v, x.a, as_link);

    std::vector<LinkMotion> motions;
    linkMotions(empty.tree, x.q, x.v, x.a, &motions);
    LinkWrenches wrenches = LinkWrenches::Zero(6, static_cast<Eigen::Index>(bare.links.size()));
    wrenches.col(link) = -newtonEuler(transformed(X_LP, payload), motions[link].twist.angular,
                                      motions[link].acceleration)
                              .vector();
    inverseDynamics(empty.tree, empty.compiled, empty.workspace, x.q, x.v, x.a, as_wrench,
                    &wrenches);
    EXPECT_LT((as_link - as_wrench).norm(), 1e-12 * as_link.norm());
  }
}

}  // namespace
}  // namespace proprio
