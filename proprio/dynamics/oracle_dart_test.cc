// Inverse dynamics, mass matrix, Coriolis and gravity torques and forward dynamics against
// DART, fixed and floating base. DART has no rotor inertia: the drives' are left out here.
//
// DART's free joint moves with the body twist as we do, angular part first.

#include <gtest/gtest.h>

#include <dart/dynamics/BodyNode.hpp>
#include <dart/dynamics/FreeJoint.hpp>
#include <dart/dynamics/PrismaticJoint.hpp>
#include <dart/dynamics/RevoluteJoint.hpp>
#include <dart/dynamics/Skeleton.hpp>
#include <dart/dynamics/WeldJoint.hpp>
#include <iostream>

#include "proprio/dynamics/forward_dynamics.h"
#include "proprio/dynamics/inverse_dynamics.h"
#include "proprio/dynamics/mass_matrix.h"
#include "proprio/dynamics/testing/bundled_robots.h"
#include "proprio/dynamics/testing/rooted_model.h"
#include "proprio/dynamics/testing/test_robot.h"

namespace proprio {
namespace {

namespace dd = dart::dynamics;
constexpr double kTolerance = 1e-9;

Eigen::Isometry3d isometry(const Pose& X) {
  Eigen::Isometry3d T = Eigen::Isometry3d::Identity();
  T.linear() = X.R;
  T.translation() = X.p;
  return T;
}

/// DART warns of massless bodies on std::cerr; here they are meant.
void setInertia(dd::BodyNode* body, const InertialParameters& inertia) {
  std::streambuf* const buffer = inertia.mass > 0.0 ? std::cerr.rdbuf() : std::cerr.rdbuf(nullptr);
  body->setInertia(dd::Inertia(inertia.mass, inertia.com(), inertia.inertiaAtCom()));
  std::cerr.rdbuf(buffer);
}

template <class JointClass>
dd::BodyNode* addBody(const dd::SkeletonPtr& skeleton, dd::BodyNode* parent,
                      typename JointClass::Properties joint, const Pose& X_PM, const Pose& X_MC,
                      const std::string& name) {
  joint.mName = name;
  joint.mT_ParentBodyToJoint = isometry(X_PM);
  joint.mT_ChildBodyToJoint = isometry(X_MC.inverse());
  return skeleton
      ->createJointAndBodyNodePair<JointClass>(parent, joint, dd::BodyNode::AspectProperties(name))
      .second;
}

/// The same robot in DART, taking and giving our coordinates.
class DartRobot {
 public:
  explicit DartRobot(const Model& model) : model_(model), skeleton_(dd::Skeleton::create("robot")) {
    skeleton_->setGravity(model.gravity);
    bodies_.resize(model.links.size());
    coordinates_.resize(static_cast<size_t>(model.velocity_count));
    for (const RootedLink& link : rootedLinks(model)) addLink(link);
  }
  /// Place in DART's vectors of our velocity coordinate.
  size_t at(Eigen::Index i) const {
    if (!model_.floating) return coordinates_[static_cast<size_t>(i)];
    return i < 6 ? static_cast<size_t>((i + 3) % 6) : coordinates_[static_cast<size_t>(i - 6)];
  }
  void setState(const Eigen::VectorXd& q, const Eigen::VectorXd& v) {
    Eigen::VectorXd theirs(q.size() - (model_.floating ? 1 : 0));
    if (model_.floating) {
      const Pose X_WB{rotationFromQuaternion(q.segment<4>(3)), q.head<3>()};
      theirs.head<6>() = dd::FreeJoint::convertToPositions(isometry(X_WB));
    }
    const Eigen::Index base = model_.floating ? 7 : 0;
    for (size_t i = 0; i < coordinates_.size(); ++i) {
      theirs[static_cast<Eigen::Index>(coordinates_[i])] = q[base + static_cast<Eigen::Index>(i)];
    }
    skeleton_->setPositions(theirs);
    skeleton_->setVelocities(toDart(v));
  }
  Eigen::VectorXd toDart(const Eigen::VectorXd& ours) const {
    Eigen::VectorXd theirs(ours.size());
    for (Eigen::Index i = 0; i < ours.size(); ++i)
      theirs[static_cast<Eigen::Index>(at(i))] = ours[i];
    return theirs;
  }
  Eigen::VectorXd fromDart(const Eigen::VectorXd& theirs) const {
    return Eigen::VectorXd::NullaryExpr(
        theirs.size(), [&](Eigen::Index i) { return theirs[static_cast<Eigen::Index>(at(i))]; });
  }
  Eigen::MatrixXd massMatrix() const {
    const Eigen::MatrixXd& theirs = skeleton_->getMassMatrix();
    return Eigen::MatrixXd::NullaryExpr(
        theirs.rows(), theirs.cols(), [&](Eigen::Index i, Eigen::Index j) {
          return theirs(static_cast<Eigen::Index>(at(i)), static_cast<Eigen::Index>(at(j)));
        });
  }
  /// Wrenches at the link frames in link axes.
  void setExternal(const LinkWrenches& wrenches) {
    skeleton_->clearExternalForces();
    for (size_t k = 0; k < bodies_.size(); ++k) {
      const auto column = wrenches.col(static_cast<Eigen::Index>(k));
      bodies_[k]->addExtForce(column.head<3>(), Vector3d::Zero(), true, true);
      bodies_[k]->addExtTorque(column.tail<3>(), true);
    }
  }
  dd::Skeleton& skeleton() const { return *skeleton_; }

 private:
  void addLink(const RootedLink& link) {
    const auto index = static_cast<size_t>(link.link);
    const std::string name = fmt::format("link{}", index);
    dd::BodyNode* body = link.parent < 0 ? nullptr : bodies_[static_cast<size_t>(link.parent)];
    if (link.parent < 0 && model_.floating) {
      body = addBody<dd::FreeJoint>(skeleton_, body, {}, {}, {}, name);
    } else if (link.motions.empty()) {
      const Pose X_PM = link.parent < 0 ? model_.X_WB : link.X_PM;
      body = addBody<dd::WeldJoint>(skeleton_, body, {}, X_PM, link.X_MC, name);
    }
    // all but the last of several motions end at a massless body
    for (size_t i = 0; i < link.motions.size(); ++i) {
      const RootedMotion& motion = link.motions[i];
      const bool last = i + 1 == link.motions.size();
      const std::string body_name = last ? name : fmt::format("{}_{}", name, i);
      const Pose X_PM = i == 0 ? link.X_PM : Pose{}, X_MC = last ? link.X_MC : Pose{};
      if (motion.prismatic) {
        dd::PrismaticJoint::Properties joint;
        joint.mAxis = motion.axis;
        body = addBody<dd::PrismaticJoint>(skeleton_, body, joint, X_PM, X_MC, body_name);
      } else {
        dd::RevoluteJoint::Properties joint;
        joint.mAxis = motion.axis;
        body = addBody<dd::RevoluteJoint>(skeleton_, body, joint, X_PM, X_MC, body_name);
      }
      if (!last) setInertia(body, {});
      coordinates_[static_cast<size_t>(motion.shape_index)] =
          body->getParentJoint()->getIndexInSkeleton(0);
    }
    setInertia(body, model_.links[index].inertia);
    bodies_[index] = body;
  }

  const Model& model_;
  dd::SkeletonPtr skeleton_;
  std::vector<dd::BodyNode*> bodies_;
  std::vector<size_t> coordinates_;
};

void compare(const ZooEntry& entry, unsigned seed, Deviations& deviations) {
  SCOPED_TRACE(entry.name);
  TestRobot ours(entry.model);
  ours.compiled.has_rotor = false;
  DartRobot theirs(*entry.model);
  dd::Skeleton& skeleton = theirs.skeleton();
  const auto nv = static_cast<Eigen::Index>(ours.tree.velocityCount());
  ASSERT_EQ(static_cast<Eigen::Index>(skeleton.getNumDofs()), nv);
  const auto links = static_cast<Eigen::Index>(entry.model->links.size());
  const RandomState x = randomState(ours.tree, seed);
  theirs.setState(x.q, x.v);

  const LinkWrenches wrenches = LinkWrenches::Random(6, links);
  theirs.setExternal(wrenches);
  skeleton.setAccelerations(theirs.toDart(x.a));
  Eigen::VectorXd tau = Eigen::VectorXd::Constant(nv, NAN);
  skeleton.computeInverseDynamics(false);
  inverseDynamics(ours.tree, ours.compiled, ours.workspace, x.q, x.v, x.a, tau);
  deviations.expect("inverse dynamics", entry.name, tau, theirs.fromDart(skeleton.getForces()),
                    kTolerance);
  skeleton.computeInverseDynamics(true);
  inverseDynamics(ours.tree, ours.compiled, ours.workspace, x.q, x.v, x.a, tau, &wrenches);
  deviations.expect("inverse dynamics with wrenches", entry.name, tau,
                    theirs.fromDart(skeleton.getForces()), kTolerance);

  biasTorque(ours.tree, ours.compiled, ours.workspace, x.q, x.v, tau);
  deviations.expect("Coriolis and gravity", entry.name, tau,
                    theirs.fromDart(skeleton.getCoriolisAndGravityForces()), kTolerance);
  gravityTorque(ours.tree, ours.compiled, ours.workspace, x.q, tau);
  deviations.expect("gravity", entry.name, tau, theirs.fromDart(skeleton.getGravityForces()),
                    kTolerance);
  Eigen::MatrixXd M = Eigen::MatrixXd::Constant(nv, nv, NAN);
  massMatrix(ours.tree, ours.compiled, ours.workspace, x.q, M);
  deviations.expect("mass matrix", entry.name, M, theirs.massMatrix(), kTolerance);

  skeleton.setForces(theirs.toDart(x.tau));
  skeleton.computeForwardDynamics();
  Eigen::VectorXd a = Eigen::VectorXd::Constant(nv, NAN);
  forwardDynamics(ours.tree, ours.compiled, ours.workspace, x.q, x.v, x.tau, a, &wrenches);
  deviations.expect("forward dynamics with wrenches", entry.name, a,
                    theirs.fromDart(skeleton.getAccelerations()), kTolerance);
}

// On random trees of 1 to 60 joints, DART computes the same numbers.
TEST(OracleDart, RandomTrees) {
  Deviations deviations("DART, random trees");
  for (const ZooEntry& entry : modelZoo(false))
    for (const unsigned seed : {1, 2, 3}) compare(entry, seed, deviations);
}

// On every bundled robot, DART computes the same numbers.
TEST(OracleDart, BundledRobots) {
  Deviations deviations("DART, bundled robots");
  for (const ZooEntry& entry : bundledRobots())
    for (const unsigned seed : {1, 2, 3}) compare(entry, seed, deviations);
}

}  // namespace
}  // namespace proprio
