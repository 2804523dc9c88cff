// Inverse dynamics, mass matrix, forward dynamics and torque regressor against Pinocchio, fixed and
// floating base, with rotor inertia. Only built with -DPROPRIO_PINOCCHIO=PREFIX.
//
// Coordinates are the same: quaternion (x, y, z, w), body twist with the linear part first. The ten
// parameters of a body are not: Pinocchio's order is [m, mc, Ixx, Ixy, Iyy, Ixz, Iyz, Izz].

#include <gtest/gtest.h>

#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/regressor.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/multibody.hpp>

#include "proprio/dynamics/forward_dynamics.h"
#include "proprio/dynamics/inverse_dynamics.h"
#include "proprio/dynamics/mass_matrix.h"
#include "proprio/dynamics/regressor.h"
#include "proprio/dynamics/testing/bundled_robots.h"
#include "proprio/dynamics/testing/rooted_model.h"
#include "proprio/dynamics/testing/test_robot.h"

namespace proprio {
namespace {

namespace pin = pinocchio;
constexpr double kTolerance = 1e-9;

pin::SE3 se3(const Pose& X) { return {X.R, X.p}; }

/// The same robot in Pinocchio, taking and giving our coordinates.
class PinocchioRobot {
 public:
  explicit PinocchioRobot(const Model& model) : floating_(model.floating) {
    pin_.gravity.linear() = model.gravity;
    joint_of_.resize(model.links.size());
    X_JL_.resize(model.links.size());
    joints_.resize(static_cast<size_t>(model.velocity_count));
    std::vector<double> rotors(static_cast<size_t>(model.velocity_count), 0.0);
    for (const RootedLink& link : rootedLinks(model)) addLink(model, link, rotors);
    data_ = std::make_unique<pin::Data>(pin_);
    pin_.armature.setZero();
    for (size_t i = 0; i < joints_.size(); ++i) pin_.armature[pin_.idx_vs[joints_[i]]] = rotors[i];
  }
  /// Places of our coordinates in Pinocchio's vectors.
  Eigen::Index positionAt(Eigen::Index i) const { return at(pin_.idx_qs, i, floating_ ? 7 : 0); }
  Eigen::Index velocityAt(Eigen::Index i) const { return at(pin_.idx_vs, i, floating_ ? 6 : 0); }
  Eigen::VectorXd position(const Eigen::VectorXd& q) const {
    Eigen::VectorXd theirs(q.size());
    for (Eigen::Index i = 0; i < q.size(); ++i) theirs[positionAt(i)] = q[i];
    return theirs;
  }
  Eigen::VectorXd velocity(const Eigen::VectorXd& v) const {
    Eigen::VectorXd theirs(v.size());
    for (Eigen::Index i = 0; i < v.size(); ++i) theirs[velocityAt(i)] = v[i];
    return theirs;
  }
  Eigen::MatrixXd rows(const Eigen::MatrixXd& theirs) const {
    return Eigen::MatrixXd::NullaryExpr(
        theirs.rows(), theirs.cols(),
        [&](Eigen::Index i, Eigen::Index j) { return theirs(velocityAt(i), j); });
  }
  Eigen::MatrixXd massMatrix(const Eigen::VectorXd& q) {
    pin::crba(pin_, *data_, position(q), pin::Convention::LOCAL);
    const Eigen::MatrixXd M = data_->M.selfadjointView<Eigen::Upper>();
    return rows(rows(M).transpose());
  }
  pin::container::aligned_vector<pin::Force> forces(const LinkWrenches& wrenches) const {
    pin::container::aligned_vector<pin::Force> forces(pin_.joints.size(), pin::Force::Zero());
    for (size_t k = 0; k < joint_of_.size(); ++k) {
      forces[joint_of_[k]] +=
          se3(X_JL_[k]).act(pin::Force(Vector6d(wrenches.col(static_cast<Eigen::Index>(k)))));
    }
    return forces;
  }
  /// Our columns: link parameters moved to the joint that carries the link, then its columns.
  Eigen::MatrixXd regressor(const RandomState& x) {
    constexpr Eigen::Index kTheirPlace[10] = {0, 1, 2, 3, 4, 5, 7, 6, 8, 9};
    const Eigen::MatrixXd theirs = rows(pin::computeJointTorqueRegressor(
        pin_, *data_, position(x.q), velocity(x.v), velocity(x.a)));
    const auto links = static_cast<Eigen::Index>(joint_of_.size());
    Eigen::MatrixXd Y = Eigen::MatrixXd::Zero(theirs.rows(), 10 * links);
    for (Eigen::Index k = 0; k < links; ++k) {
      const pin::JointIndex joint = joint_of_[static_cast<size_t>(k)];
      if (joint == 0) continue;  // fixed to the world
      Eigen::MatrixXd block(theirs.rows(), 10);
      for (Eigen::Index c = 0; c < 10; ++c) {
        block.col(c) = theirs.col(10 * (static_cast<Eigen::Index>(joint) - 1) + kTheirPlace[c]);
      }
      Y.middleCols(10 * k, 10) = block * parameterTransform(X_JL_[static_cast<size_t>(k)]);
    }
    return Y;
  }
  const pin::Model& model() const { return pin_; }
  pin::Data& data() { return *data_; }

 private:
  Eigen::Index at(const std::vector<int>& places, Eigen::Index i, Eigen::Index base) const {
    return i < base ? i : places[joints_[static_cast<size_t>(i - base)]];
  }
  /// Links behind fixed joints become part of the joint before.
  void addLink(const Model& model, const RootedLink& link, std::vector<double>& rotors) {
    const auto index = static_cast<size_t>(link.link);
    pin::JointIndex joint = 0;
    Pose X = model.X_WB;  // of the next frame in the joint
    if (link.parent >= 0) {
      joint = joint_of_[static_cast<size_t>(link.parent)];
      X = X_JL_[static_cast<size_t>(link.parent)] * link.X_PM;
    } else if (model.floating) {
      joint = pin_.addJoint(0, pin::JointModelFreeFlyer(), pin::SE3::Identity(), "base");
      X = {};
    }
    for (const RootedMotion& motion : link.motions) {
      const std::string name = "coordinate" + std::to_string(motion.shape_index);
      joint =
          motion.prismatic
              ? pin_.addJoint(joint, pin::JointModelPrismaticUnaligned(motion.axis), se3(X), name)
              : pin_.addJoint(joint, pin::JointModelRevoluteUnaligned(motion.axis), se3(X), name);
      joints_[static_cast<size_t>(motion.shape_index)] = joint;
      rotors[static_cast<size_t>(motion.shape_index)] = motion.rotor_inertia;
      X = {};
    }
    joint_of_[index] = joint;
    X_JL_[index] = X * link.X_MC;
    const InertialParameters& inertia = model.links[index].inertia;
    pin_.appendBodyToJoint(joint, pin::Inertia(inertia.mass, inertia.com(), inertia.inertiaAtCom()),
                           se3(X_JL_[index]));
  }

  bool floating_;
  pin::Model pin_;
  std::unique_ptr<pin::Data> data_;
  std::vector<pin::JointIndex> joints_;    ///< per shape velocity
  std::vector<pin::JointIndex> joint_of_;  ///< per link
  std::vector<Pose> X_JL_;
};

void compare(const ZooEntry& entry, unsigned seed, Deviations& deviations) {
  SCOPED_TRACE(entry.name);
  TestRobot ours(entry.model);
  PinocchioRobot theirs(*entry.model);
  const auto nv = static_cast<Eigen::Index>(ours.tree.velocityCount());
  const auto links = static_cast<Eigen::Index>(entry.model->links.size());
  ASSERT_EQ(theirs.model().nv, nv);
  const RandomState x = randomState(ours.tree, seed);
  const LinkWrenches wrenches = LinkWrenches::Random(6, links);

  Eigen::VectorXd tau = Eigen::VectorXd::Constant(nv, NAN), a = tau;
  inverseDynamics(ours.tree, ours.compiled, ours.workspace, x.q, x.v, x.a, tau, &wrenches);
  pin::rnea(theirs.model(), theirs.data(), theirs.position(x.q), theirs.velocity(x.v),
            theirs.velocity(x.a), theirs.forces(wrenches));
  deviations.expect("inverse dynamics with wrenches", entry.name, tau,
                    theirs.rows(theirs.data().tau), kTolerance);

  Eigen::MatrixXd M = Eigen::MatrixXd::Constant(nv, nv, NAN);
  massMatrix(ours.tree, ours.compiled, ours.workspace, x.q, M);
  deviations.expect("mass matrix", entry.name, M, theirs.massMatrix(x.q), kTolerance);

  forwardDynamics(ours.tree, ours.compiled, ours.workspace, x.q, x.v, x.tau, a, &wrenches);
  pin::aba(theirs.model(), theirs.data(), theirs.position(x.q), theirs.velocity(x.v),
           theirs.velocity(x.tau), theirs.forces(wrenches), pin::Convention::LOCAL);
  deviations.expect("forward dynamics with wrenches", entry.name, a, theirs.rows(theirs.data().ddq),
                    kTolerance);

  Eigen::MatrixXd Y = Eigen::MatrixXd::Constant(nv, 10 * links, NAN);
  torqueRegressor(ours.tree, ours.workspace, x.q, x.v, x.a, Y);
  deviations.expect("torque regressor", entry.name, Y, theirs.regressor(x), kTolerance);
}

// On random trees of 1 to 60 joints, Pinocchio computes the same numbers.
TEST(OraclePinocchio, RandomTrees) {
  Deviations deviations("Pinocchio, random trees");
  for (const ZooEntry& entry : modelZoo(false))
    for (const unsigned seed : {1, 2, 3}) compare(entry, seed, deviations);
}

// On every bundled robot, Pinocchio computes the same numbers.
TEST(OraclePinocchio, BundledRobots) {
  Deviations deviations("Pinocchio, bundled robots");
  for (const ZooEntry& entry : bundledRobots())
    for (const unsigned seed : {1, 2, 3}) compare(entry, seed, deviations);
}

}  // namespace
}  // namespace proprio
