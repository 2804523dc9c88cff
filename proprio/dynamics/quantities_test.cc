// Kinematics, Coriolis matrices, centroidal quantities and changes of the base against finite
// differences, against each other, and against the recursive algorithms.

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>

#include "proprio/dynamics/base_change.h"
#include "proprio/dynamics/centroidal.h"
#include "proprio/dynamics/coriolis.h"
#include "proprio/dynamics/inverse_dynamics.h"
#include "proprio/dynamics/kinematics.h"
#include "proprio/dynamics/kinematics_batch.h"
#include "proprio/dynamics/mass_matrix.h"
#include "proprio/dynamics/testing/model_zoo.h"
#include "proprio/dynamics/testing/perturb.h"
#include "proprio/model/testing/naive_kinematics.h"
#include "proprio/spatial/se3.h"

namespace proprio {
namespace {

using Rows6 = Eigen::Matrix<double, 6, Eigen::Dynamic>;
constexpr double kQuantityTolerance = 1e-10;  // rounding
constexpr double kQuantityStep =
    1e-5;  // central differences: error about step^2 times third derivatives (1e3)
constexpr double kDifference = 1e-6;

struct RobotInMotion {
  explicit RobotInMotion(std::shared_ptr<const Model> model)
      : tree(model),
        compiled(compileParameters(tree, declaredParameters(model))),
        workspace(tree),
        kinematics(tree) {}
  Tree tree;
  CompiledParameters compiled;
  Workspace workspace;
  Kinematics kinematics;
};

/// q after a time t with velocity v, and with acceleration a to second order.
Eigen::VectorXd integrate(const Tree& tree, const RandomState& x, double t,
                          bool with_acceleration = false) {
  Eigen::VectorXd step = t * x.v;
  if (with_acceleration) step += 0.5 * t * t * x.a;
  return moved(tree, x.q, step);
}

// Link poses equal the naive recursion over the declared joints, mimic chains followed by name;
// batch and one-sample agree (T-18).
TEST(Quantities, PosesEqualTheNaiveRecursion) {
  for (const ZooEntry& entry : wholeZoo()) {
    SCOPED_TRACE(entry.name);
    RobotInMotion r(entry.model);
    const Eigen::Index samples = 5;
    Eigen::MatrixXd q(samples, r.tree.positionCount());
    for (Eigen::Index s = 0; s < samples; ++s)
      q.row(s) = randomState(r.tree, 40 + static_cast<unsigned>(s)).q.transpose();
    Eigen::MatrixXd poses(samples, static_cast<Eigen::Index>(12 * entry.model->links.size()));
    linkPosesBatch(r.tree, r.workspace, q, poses);
    for (Eigen::Index s = 0; s < samples; ++s) {
      const Eigen::VectorXd positions = q.row(s).transpose();
      computeKinematics(r.tree, positions, r.kinematics);
      const Pose X_WB = r.tree.floating() ? Pose{rotationFromQuaternion(positions.segment<4>(3)),
                                                 positions.head<3>()}
                                          : entry.model->X_WB;
      const std::vector<Pose> naive = naiveLinkPoses(*entry.model, entry.model->base, X_WB,
                                                     positions.tail(entry.model->position_count));
      for (size_t link = 0; link < entry.model->links.size(); ++link) {
        const Pose& X = r.kinematics.X_WL[link];
        EXPECT_LT((X.R - naive[link].R).norm(), kQuantityTolerance);
        EXPECT_LT((X.p - naive[link].p).norm(), kQuantityTolerance * (1.0 + naive[link].p.norm()));
        const Eigen::Index c = static_cast<Eigen::Index>(12 * link);
        for (int k = 0; k < 9; ++k) EXPECT_NEAR(poses(s, c + k), X.R(k / 3, k % 3), 1e-12);
        for (int k = 0; k < 3; ++k) EXPECT_NEAR(poses(s, c + 9 + k), X.p[k], 1e-11);
      }
    }
  }
}

// J v is the derivative of the pose in every representation, and Jdot v that of J v (T-19).
TEST(Quantities, JacobiansAndTheirBiasAreDerivatives) {
  for (const ZooEntry& entry : wholeZoo()) {
    SCOPED_TRACE(entry.name);
    RobotInMotion r(entry.model);
    const RandomState x = randomState(r.tree, 3, 1.0);
    const int link = static_cast<int>(entry.model->links.size()) - 1;
    const Pose X_LF = {rotationExp({0.3, -0.5, 0.8}), {0.1, 0.2, -0.3}};
    const int nv = r.tree.velocityCount();
    Kinematics forward(r.tree), backward(r.tree);
    computeKinematics(r.tree, x.q, x.v, r.kinematics);
    computeKinematics(r.tree, integrate(r.tree, x, kQuantityStep), x.v, forward);
    computeKinematics(r.tree, integrate(r.tree, x, -kQuantityStep), x.v, backward);
    const Pose before = framePose(backward, link, X_LF), after = framePose(forward, link, X_LF);
    const Vector6d body_fd = poseLog(before.inverse() * after) / (2 * kQuantityStep);
    const Pose X_WF = framePose(r.kinematics, link, X_LF);
    for (const Representation of :
         {Representation::kBody, Representation::kSpatial, Representation::kMixed}) {
      Rows6 J(6, nv), J_forward(6, nv), J_backward(6, nv);
      frameJacobian(r.tree, r.kinematics, link, X_LF, of, Representation::kBody, J);
      const Vector6d expected = motionTransform(of, Representation::kBody, X_WF) * body_fd;
      EXPECT_LT((J * x.v - expected).norm(), kDifference * (1 + expected.norm()));
      frameJacobian(r.tree, forward, link, X_LF, of, Representation::kBody, J_forward);
      frameJacobian(r.tree, backward, link, X_LF, of, Representation::kBody, J_backward);
      const Vector6d bias = (J_forward - J_backward) * x.v / (2 * kQuantityStep);
      EXPECT_LT(
          (frameBias(r.tree, r.kinematics, link, X_LF, of, Representation::kBody) - bias).norm(),
          kDifference * (1 + bias.norm()));
      if (!r.tree.floating()) continue;
      for (const Representation base : {Representation::kSpatial, Representation::kMixed}) {
        // the same frame acceleration from base velocities in another representation
        Rows6 J_base(6, nv);
        frameJacobian(r.tree, r.kinematics, link, X_LF, of, base, J_base);
        Kinematics moving(r.tree);
        computeKinematics(r.tree, x.q, x.v, x.a, moving);
        const Pose& X_WB = r.kinematics.X_WL[static_cast<size_t>(r.tree.baseLink())];
        const BodyTwist V = BodyTwist::fromVector(x.v.head<6>());
        const BodyAcceleration A = BodyAcceleration::fromVector(x.a.head<6>());
        Eigen::VectorXd v = x.v, a = x.a;
        v.head<6>() = motionTransform(base, Representation::kBody, X_WB) * x.v.head<6>();
        a.head<6>() = base == Representation::kSpatial ? toSpatial(X_WB, V, A).vector()
                                                       : toMixed(X_WB, V, A).vector();
        EXPECT_LT((J_base * v - J * x.v).norm(), kQuantityTolerance * (1 + J.norm()));
        const Vector6d total =
            J * x.a + frameBias(r.tree, r.kinematics, link, X_LF, of, Representation::kBody);
        const Vector6d other = J_base * a + frameBias(r.tree, r.kinematics, link, X_LF, of, base);
        EXPECT_LT((total - other).norm(), 1e-9 * (1 + total.norm()));
      }
    }
  }
}

// The relative Jacobian of two links does not depend on the base and gives their relative twist
// (T-18).
TEST(Quantities, RelativeMotionDoesNotDependOnTheBase) {
  RandomModelOptions options;
  options.joints = 9;
  const auto model = std::make_shared<const Model>(randomModel(4, options));
  const int n = model->velocity_count;
  const int from = 2, to = 8;
  Rows6 reference;
  for (int base = 0; base < static_cast<int>(model->links.size()); ++base) {
    const Tree tree(model, base, true);
    Kinematics k(tree);
    RandomState x = randomState(tree, 7);
    x.q.tail(n) = Eigen::VectorXd::LinSpaced(n, -1.0, 1.0);
    x.v.tail(n) = Eigen::VectorXd::LinSpaced(n, 0.5, -1.5);
    computeKinematics(tree, x.q, x.v, k);
    Rows6 S(6, n);
    relativeJacobian(tree, k, from, to, Representation::kBody, S);
    if (base == 0) reference = S;
    EXPECT_LT((S - reference).norm(), kQuantityTolerance);
    const Vector6d twist =
        frameTwist(tree, k, to).vector() -
        velocityAdjoint(relativePose(k, to, from)) * frameTwist(tree, k, from).vector();
    EXPECT_LT((S * x.v.tail(n) - twist).norm(), kQuantityTolerance * (1 + twist.norm()));
  }
}

// Sdot times the shape velocities is the derivative of the relative twist while the joints move at
// constant speed, in every representation, for links that share joints and for those that do not.
TEST(Quantities, RelativeBiasIsTheDerivativeOfTheRelativeTwist) {
  constexpr double kStep = 1e-5;
  for (const ZooEntry& entry : wholeZoo()) {
    SCOPED_TRACE(entry.name);
    const Tree tree(entry.model);
    const int n = tree.model().velocity_count, links = static_cast<int>(tree.model().links.size());
    const RandomState x = randomState(tree, 5);
    Kinematics k(tree);
    Rows6 S(6, n);
    for (const Representation of :
         {Representation::kBody, Representation::kSpatial, Representation::kMixed}) {
      for (const auto& pair : {std::pair{0, links - 1}, std::pair{links - 1, links / 2}}) {
        const int from = pair.first, to = pair.second;
        const auto twist = [&](double dt) {
          computeKinematics(tree, moved(tree, x.q, x.v * dt), x.v, k);
          relativeJacobian(tree, k, from, to, of, S);
          return Vector6d(S * x.v.tail(n));
        };
        const Vector6d slope = (twist(kStep) - twist(-kStep)) / (2.0 * kStep);
        computeKinematics(tree, x.q, x.v, k);
        EXPECT_LT((relativeBias(tree, k, from, to, of) - slope).norm(), 1e-6 * (1 + slope.norm()));
      }
    }
  }
}

// Batches of kinematics are their samples one by one; what was in the result before is gone.
TEST(Quantities, BatchesOfKinematicsAreTheirSamples) {
  constexpr Eigen::Index kSamples = 3;
  const Pose X_LF = Pose::fromXyzRpy({0.1, 0.2, 0.3}, {0.4, 0.5, 0.6});
  for (const ZooEntry& entry : wholeZoo()) {
    SCOPED_TRACE(entry.name);
    const Tree tree(entry.model);
    const int nv = tree.velocityCount(), links = static_cast<int>(tree.model().links.size());
    Eigen::MatrixXd q(kSamples, tree.positionCount()), v(kSamples, nv), a(kSamples, nv);
    for (Eigen::Index i = 0; i < kSamples; ++i) {
      const RandomState x = randomState(tree, static_cast<unsigned>(i));
      q.row(i) = x.q.transpose();
      v.row(i) = x.v.transpose();
      a.row(i) = x.a.transpose();
    }
    Workspace workspace(tree);
    Kinematics k(tree);
    Eigen::MatrixXd twists = Eigen::MatrixXd::Constant(kSamples, 6 * links, NAN), proper = twists,
                    classical = twists, J_all = Eigen::MatrixXd::Constant(kSamples, 6 * nv, NAN);
    Rows6 J(6, nv);
    linkTwistsBatch(tree, workspace, k, q, v, twists);
    linkProperAccelerationsBatch(tree, workspace, k, q, v, a, proper);
    linkClassicalAccelerationsBatch(tree, workspace, k, q, v, a, classical);
    frameJacobianBatch(tree, workspace, k, q, links - 1, X_LF, Representation::kMixed,
                       Representation::kMixed, J, J_all);
    for (Eigen::Index i = 0; i < kSamples; ++i) {
      computeKinematics(tree, q.row(i).transpose(), v.row(i).transpose(), a.row(i).transpose(), k);
      for (int l = 0; l < links; ++l) {
        EXPECT_EQ(twists.block(i, 6 * l, 1, 6).transpose(), frameTwist(tree, k, l).vector());
        EXPECT_EQ(proper.block(i, 6 * l, 1, 6).transpose(),
                  frameProperAcceleration(tree, k, l).vector());
        // they differ by gravity
        const Vector3d felt =
            proper.block(i, 6 * l, 1, 3).transpose() - classical.block(i, 6 * l, 1, 3).transpose();
        EXPECT_LT((k.X_WL[static_cast<size_t>(l)].R * felt + tree.model().gravity).norm(), 1e-9);
      }
      frameJacobian(tree, k, links - 1, X_LF, Representation::kMixed, Representation::kMixed, J);
      EXPECT_EQ(Eigen::RowVectorXd(J.reshaped().transpose()), Eigen::RowVectorXd(J_all.row(i)));
    }
  }
}

// C v + G is the bias torque, Mdot = C + C^T, for both factorisations (T-21, T-22).
TEST(Quantities, CoriolisMatricesAreConsistent) {
  for (const ZooEntry& entry : wholeZoo()) {
    SCOPED_TRACE(entry.name);
    RobotInMotion r(entry.model);
    const RandomState x = randomState(r.tree, 3, 1.0);
    const int nv = r.tree.velocityCount();
    computeKinematics(r.tree, x.q, x.v, r.kinematics);
    Eigen::VectorXd bias(nv), gravity(nv);
    biasTorque(r.tree, r.compiled, r.workspace, x.q, x.v, bias);
    gravityTorque(r.tree, r.compiled, r.workspace, x.q, gravity);
    Eigen::MatrixXd M_forward(nv, nv), M_backward(nv, nv), C(nv, nv);
    massMatrix(r.tree, r.compiled, r.workspace, integrate(r.tree, x, kQuantityStep), M_forward);
    massMatrix(r.tree, r.compiled, r.workspace, integrate(r.tree, x, -kQuantityStep), M_backward);
    const Eigen::MatrixXd dM = (M_forward - M_backward) / (2 * kQuantityStep);
    CoriolisWorkspace workspace(r.tree);
    for (const auto factorisation :
         {CoriolisFactorisation::kBody, CoriolisFactorisation::kCentreOfMass}) {
      coriolisMatrix(r.tree, r.compiled, r.kinematics, factorisation, workspace, C);
      EXPECT_LT((C * x.v + gravity - bias).norm(), 1e-9 * (1 + bias.norm()));
      EXPECT_LT((C + C.transpose() - dM).norm(), kDifference * (1 + dM.norm()));
    }
  }
}

// A link without mass and with inertia, as base parameters may have it, takes part in both.
TEST(Quantities, MasslessInertiaTakesPart) {
  for (const ZooEntry& entry : modelZoo(false)) {
    SCOPED_TRACE(entry.name);
    RobotInMotion r(entry.model);
    if (!r.tree.floating() || entry.model->links.size() < 3) continue;
    Parameters parameters = declaredParameters(entry.model);
    const int link = entry.model->links.size() > 3 ? 3 : 2;
    for (int k = 0; k < 10; ++k) {
      parameters.values[static_cast<size_t>(10 * link + k)] = k < 4 ? 0.0 : k % 3 == 1 ? 0.4 : 0.1;
    }
    r.compiled = compileParameters(r.tree, parameters);
    const RandomState x = randomState(r.tree, 3, 1.0);
    const int nv = r.tree.velocityCount();
    computeKinematics(r.tree, x.q, x.v, r.kinematics);
    Eigen::VectorXd bias(nv), gravity(nv);
    biasTorque(r.tree, r.compiled, r.workspace, x.q, x.v, bias);
    gravityTorque(r.tree, r.compiled, r.workspace, x.q, gravity);
    Eigen::MatrixXd C(nv, nv);
    CoriolisWorkspace workspace(r.tree);
    coriolisMatrix(r.tree, r.compiled, r.kinematics, CoriolisFactorisation::kCentreOfMass,
                   workspace, C);
    EXPECT_LT((C * x.v + gravity - bias).norm(), 1e-9 * (1 + bias.norm()));
    Kinematics forward(r.tree), backward(r.tree);
    computeKinematics(r.tree, integrate(r.tree, x, kQuantityStep), x.v, forward);
    computeKinematics(r.tree, integrate(r.tree, x, -kQuantityStep), x.v, backward);
    const Eigen::MatrixXd rate = (toCentroidalBase(r.tree, r.compiled, forward).T_inverse -
                                  toCentroidalBase(r.tree, r.compiled, backward).T_inverse) /
                                 (2 * kQuantityStep);
    EXPECT_LT((toCentroidalBase(r.tree, r.compiled, r.kinematics).T_inverse_rate - rate).norm(),
              kDifference * (1 + rate.norm()));
  }
}

// A quaternion of zeros is no rotation, and nothing makes it the identity.
TEST(Quantities, QuaternionOfZerosIsNotTheIdentity) {
  RobotInMotion r(std::make_shared<const Model>(withBase(planar2R(), "link_1", true)));
  const RandomState x = randomState(r.tree, 3, 1.0);
  computeKinematics(r.tree, Eigen::VectorXd::Zero(r.tree.positionCount()), x.v, r.kinematics);
  EXPECT_TRUE(r.kinematics.X_WB[0].R.hasNaN());
}

// Momentum, its rate, the centre of mass and their Jacobians (T-11, T-20, T-30, T-31).
TEST(Quantities, CentroidalQuantitiesAreConsistent) {
  for (const ZooEntry& entry : wholeZoo()) {
    SCOPED_TRACE(entry.name);
    RobotInMotion r(entry.model);
    const RandomState x = randomState(r.tree, 3, 1.0);
    const int nv = r.tree.velocityCount();
    computeKinematics(r.tree, x.q, x.v, x.a, r.kinematics);
    const CentroidalState state = centroidalState(r.tree, r.compiled, r.kinematics);
    Kinematics forward(r.tree), backward(r.tree);
    computeKinematics(r.tree, integrate(r.tree, x, kQuantityStep, true), x.v + kQuantityStep * x.a,
                      forward);
    computeKinematics(r.tree, integrate(r.tree, x, -kQuantityStep, true), x.v - kQuantityStep * x.a,
                      backward);
    const CentroidalState next = centroidalState(r.tree, r.compiled, forward);
    const CentroidalState last = centroidalState(r.tree, r.compiled, backward);
    const double scale = 1 + state.momentum.norm() + state.momentum_rate.norm();
    EXPECT_LT(((next.com - last.com) / (2 * kQuantityStep) - state.com_velocity).norm(),
              kDifference * scale);
    EXPECT_LT(((next.momentum - last.momentum) / (2 * kQuantityStep) - state.momentum_rate).norm(),
              kDifference * scale);
    Rows6 A(6, nv), A_next(6, nv), A_last(6, nv), dA(6, nv);
    Eigen::Matrix<double, 3, Eigen::Dynamic> J(3, nv);
    centroidalMomentumMatrix(r.tree, r.compiled, r.kinematics, A);
    centroidalMomentumMatrix(r.tree, r.compiled, forward, A_next);
    centroidalMomentumMatrix(r.tree, r.compiled, backward, A_last);
    centroidalMomentumMatrixRate(r.tree, r.compiled, r.kinematics, dA);
    comJacobian(r.tree, r.compiled, r.kinematics, J);
    EXPECT_LT((A * x.v - state.momentum).norm(), kQuantityTolerance * scale);
    EXPECT_LT((dA * x.v - state.momentum_bias).norm(), 1e-9 * scale);
    EXPECT_LT((A * x.a + state.momentum_bias - state.momentum_rate).norm(), 1e-9 * scale);
    EXPECT_LT(((A_next - A_last) / (2 * kQuantityStep) - dA).norm(), kDifference * (1 + dA.norm()));
    EXPECT_LT((J * x.v - state.com_velocity).norm(), kQuantityTolerance * scale);
    EXPECT_NEAR(state.mass * state.averageTwist().head<3>().norm(), state.momentum.head<3>().norm(),
                1e-9 * scale);
    // kinetic energy is v^T M v / 2, the power of gravity is minus the rate of the potential energy
    Eigen::MatrixXd M(nv, nv);
    massMatrix(r.tree, r.compiled, r.workspace, x.q, M);
    const double energy = kineticEnergy(r.tree, r.compiled, r.kinematics, x.v);
    EXPECT_NEAR(energy, 0.5 * x.v.dot(M * x.v), 1e-10 * (1 + energy));
    const double rate = (potentialEnergy(r.tree, r.compiled, forward) -
                         potentialEnergy(r.tree, r.compiled, backward)) /
                        (2 * kQuantityStep);
    EXPECT_NEAR(rate, -state.mass * entry.model->gravity.dot(state.com_velocity),
                kDifference * (1 + std::abs(rate) + scale));
  }
}

// The locked inertia is the base block of the mass matrix of a floating robot (T-20).
TEST(Quantities, LockedInertiaIsTheBaseBlock) {
  RandomModelOptions options;
  options.floating = true;
  RobotInMotion r(std::make_shared<const Model>(randomModel(11, options)));
  const RandomState x = randomState(r.tree, 3);
  const int nv = r.tree.velocityCount();
  Eigen::MatrixXd M(nv, nv);
  massMatrix(r.tree, r.compiled, r.workspace, x.q, M);
  computeKinematics(r.tree, x.q, x.v, r.kinematics);
  EXPECT_LT(
      (lockedInertia(r.tree, r.compiled, r.kinematics).matrix() - M.topLeftCorner<6, 6>()).norm(),
      1e-10 * M.norm());
}

/// Checks that transformed equations keep energy, symmetry of Mdot = C + C^T and the motion.
void checkChange(const EquationsOfMotion& before, const EquationsOfMotion& after,
                 const BaseChange& change, const RandomState& x) {
  const Eigen::VectorXd v = change.T * x.v;
  // v~' = T v' + T' v with T' = -T (T^-1)' T
  const Eigen::VectorXd a = change.T * x.a - change.T * change.T_inverse_rate * change.T * x.v;
  const Eigen::VectorXd force = before.M * x.a + before.C * x.v + before.G;
  const double scale = 1 + force.norm();
  EXPECT_LT((change.T * change.T_inverse - Eigen::MatrixXd::Identity(v.size(), v.size())).norm(),
            1e-9);
  EXPECT_NEAR(v.dot(after.M * v), x.v.dot(before.M * x.v), 1e-9 * scale * (1 + x.v.norm()));
  EXPECT_LT((after.M * a + after.C * v + after.G - change.T_inverse.transpose() * force).norm(),
            1e-8 * scale);
  // pure joint torques are themselves in the new variables
  Eigen::VectorXd torque = force;
  torque.head<6>().setZero();
  EXPECT_LT((change.T_inverse.transpose() * torque - torque).norm(), 1e-10 * scale);
}

// Every change of base keeps the physics (Theorem 3.3), and a new base link gives the equations of
// the tree compiled for that link (T-25 to T-29, T-32).
TEST(Quantities, ChangesOfBaseKeepThePhysics) {
  RandomModelOptions options;
  options.joints = 8;
  const auto model = std::make_shared<const Model>(randomModel(21, options));
  RobotInMotion r(std::make_shared<const Model>(withBase(*model, model->links[0].name, true)));
  const RandomState x = randomState(r.tree, 5, 1.0);
  computeKinematics(r.tree, x.q, x.v, r.kinematics);
  const EquationsOfMotion equations =
      equationsOfMotion(r.tree, r.compiled, r.workspace, r.kinematics, x.q);
  std::vector<BaseChange> changes;
  for (const Representation of :
       {Representation::kBody, Representation::kSpatial, Representation::kMixed}) {
    changes.push_back(toBaseRepresentation(r.tree, r.kinematics, of));
    changes.push_back(toBaseLink(r.tree, r.kinematics, 5, of));
  }
  changes.push_back(toCompoundBase(r.tree, r.kinematics, 3, 6));
  changes.push_back(toComBase(r.tree, r.compiled, r.kinematics));
  changes.push_back(toCentroidalBase(r.tree, r.compiled, r.kinematics));
  for (size_t i = 0; i < changes.size(); ++i) {
    SCOPED_TRACE(i);
    checkChange(equations, transformed(equations, changes[i]), changes[i], x);
  }
  // recomputed for link 5 as base
  const int link = 5;
  const Tree other(r.tree.sharedModel(), link, true);
  Workspace workspace(other);
  Kinematics kinematics(other);
  const CompiledParameters compiled =
      compileParameters(other, declaredParameters(r.tree.sharedModel()));
  const BaseChange change = toBaseLink(r.tree, r.kinematics, link, Representation::kBody);
  Eigen::VectorXd q(other.positionCount());
  const Pose& X_WL = r.kinematics.X_WL[static_cast<size_t>(link)];
  q << X_WL.p, quaternionFromRotation(X_WL.R), x.q.tail(model->position_count);
  const Eigen::VectorXd v = change.T * x.v;
  computeKinematics(other, q, v, kinematics);
  const EquationsOfMotion expected = equationsOfMotion(other, compiled, workspace, kinematics, q);
  const EquationsOfMotion moved = transformed(equations, change);
  EXPECT_LT((moved.M - expected.M).norm(), 1e-10 * expected.M.norm());
  EXPECT_LT((moved.C - expected.C).norm(), 1e-9 * (1 + expected.C.norm()));
  EXPECT_LT((moved.G - expected.G).norm(), 1e-10 * expected.G.norm());
}

// The rates of every change of base are the derivatives of its inverse along the motion.
TEST(Quantities, RatesOfBaseChangesAreDerivatives) {
  RandomModelOptions options;
  options.joints = 6;
  options.floating = true;
  RobotInMotion r(std::make_shared<const Model>(randomModel(31, options)));
  const RandomState x = randomState(r.tree, 5, 1.0);
  Kinematics forward(r.tree), backward(r.tree);
  computeKinematics(r.tree, x.q, x.v, r.kinematics);
  computeKinematics(r.tree, integrate(r.tree, x, kQuantityStep), x.v, forward);
  computeKinematics(r.tree, integrate(r.tree, x, -kQuantityStep), x.v, backward);
  const auto check = [&](auto change) {
    const Eigen::MatrixXd expected =
        (change(forward).T_inverse - change(backward).T_inverse) / (2 * kQuantityStep);
    EXPECT_LT((change(r.kinematics).T_inverse_rate - expected).norm(),
              kDifference * (1 + expected.norm()));
  };
  for (const Representation of :
       {Representation::kBody, Representation::kSpatial, Representation::kMixed}) {
    check([&](const Kinematics& k) { return toBaseLink(r.tree, k, 4, of); });
  }
  check([&](const Kinematics& k) { return toCompoundBase(r.tree, k, 3, 5); });
  check([&](const Kinematics& k) { return toComBase(r.tree, r.compiled, k); });
  check([&](const Kinematics& k) { return toCentroidalBase(r.tree, r.compiled, k); });
}

// In centroidal variables M is block diagonal, gravity is constant, and with the centre-of-mass
// factorisation the translational rows and columns of C vanish (T-33, erratum E-7).
TEST(Quantities, CentroidalFormIsBlockDiagonal) {
  RandomModelOptions options;
  options.joints = 7;
  options.floating = true;
  RobotInMotion r(std::make_shared<const Model>(randomModel(41, options)));
  const RandomState x = randomState(r.tree, 5, 1.0);
  computeKinematics(r.tree, x.q, x.v, r.kinematics);
  const BaseChange change = toCentroidalBase(r.tree, r.compiled, r.kinematics);
  const CentroidalState state = centroidalState(r.tree, r.compiled, r.kinematics);
  const EquationsOfMotion e =
      transformed(equationsOfMotion(r.tree, r.compiled, r.workspace, r.kinematics, x.q,
                                    CoriolisFactorisation::kCentreOfMass),
                  change);
  const int n = r.tree.velocityCount() - 6;
  const double scale = e.M.norm();
  EXPECT_LT((e.M.topLeftCorner<6, 6>() - state.inertia).norm(), 1e-9 * scale);
  EXPECT_LT(e.M.topRightCorner(6, n).norm(), 1e-9 * scale);
  EXPECT_LT((e.G.head<3>() + state.mass * r.tree.model().gravity).norm(), 1e-9 * state.mass * 10);
  EXPECT_LT(e.G.tail(n + 3).norm(), 1e-9 * state.mass * 10);
  EXPECT_LT(e.C.topRows<3>().norm() + e.C.leftCols<3>().norm(), 1e-8 * (1 + e.C.norm()));
}

}  // namespace
}  // namespace proprio
