// Inverse dynamics of trees, and mass matrix, Coriolis and gravity torques of chains, against
// Orocos KDL, with rotor inertia; fixed base only.

#include <gtest/gtest.h>

#include <kdl/chaindynparam.hpp>
#include <kdl/tree.hpp>
#include <kdl/treeidsolver_recursive_newton_euler.hpp>

#include "proprio/dynamics/inverse_dynamics.h"
#include "proprio/dynamics/mass_matrix.h"
#include "proprio/dynamics/testing/bundled_robots.h"
#include "proprio/dynamics/testing/rooted_model.h"
#include "proprio/dynamics/testing/test_robot.h"

namespace proprio {
namespace {

constexpr double kTolerance = 1e-9;

KDL::Vector kdl(const Vector3d& u) { return {u.x(), u.y(), u.z()}; }
KDL::Frame kdl(const Pose& X) {
  const Matrix3d& R = X.R;
  return {KDL::Rotation(R(0, 0), R(0, 1), R(0, 2), R(1, 0), R(1, 1), R(1, 2), R(2, 0), R(2, 1),
                        R(2, 2)),
          kdl(X.p)};
}
KDL::RigidBodyInertia kdl(const InertialParameters& inertia) {
  const Matrix3d I = inertia.inertiaAtCom();
  return KDL::RigidBodyInertia(
      inertia.mass, kdl(inertia.com()),
      KDL::RotationalInertia(I(0, 0), I(1, 1), I(2, 2), I(0, 1), I(0, 2), I(1, 2)));
}

/// The same robot in KDL: a segment per motion, the last of a link's segments ends in its frame.
struct KdlRobot {
  explicit KdlRobot(const Model& model) : tree("world") {
    coordinates.resize(static_cast<size_t>(model.velocity_count));
    for (const RootedLink& link : rootedLinks(model)) {
      const std::string name = fmt::format("link{}", link.link);
      std::string parent = link.parent < 0 ? "world" : fmt::format("link{}", link.parent);
      const KDL::RigidBodyInertia inertia =
          kdl(model.links[static_cast<size_t>(link.link)].inertia);
      if (link.motions.empty()) {
        const Pose X = link.parent < 0 ? model.X_WB : link.X_PM * link.X_MC;
        tree.addSegment(KDL::Segment(name, KDL::Joint(name, KDL::Joint::None), kdl(X), inertia),
                        parent);
      }
      for (size_t i = 0; i < link.motions.size(); ++i) {
        const RootedMotion& motion = link.motions[i];
        const bool last = i + 1 == link.motions.size();
        const std::string segment = last ? name : fmt::format("{}_{}", name, i);
        const Pose X_PM = i == 0 ? link.X_PM : Pose{}, X_MC = last ? link.X_MC : Pose{};
        const KDL::Joint joint(segment, kdl(X_PM.p), kdl(X_PM.R * motion.axis),
                               motion.prismatic ? KDL::Joint::TransAxis : KDL::Joint::RotAxis, 1.0,
                               0.0, motion.rotor_inertia);
        tree.addSegment(KDL::Segment(segment, joint, kdl(X_PM * X_MC),
                                     last ? inertia : KDL::RigidBodyInertia::Zero()),
                        parent);
        coordinates[static_cast<size_t>(motion.shape_index)] =
            tree.getSegment(segment)->second.q_nr;
        parent = segment;
      }
    }
  }
  KDL::JntArray toKdl(const Eigen::VectorXd& ours) const {
    KDL::JntArray theirs(static_cast<unsigned>(ours.size()));
    for (Eigen::Index i = 0; i < ours.size(); ++i)
      theirs(coordinates[static_cast<size_t>(i)]) = ours[i];
    return theirs;
  }
  Eigen::VectorXd fromKdl(const KDL::JntArray& theirs) const {
    return Eigen::VectorXd::NullaryExpr(
        theirs.rows(), [&](Eigen::Index i) { return theirs(coordinates[static_cast<size_t>(i)]); });
  }
  KDL::Tree tree;
  std::vector<unsigned> coordinates;  ///< KDL's joint number of each velocity coordinate
};

void compareTree(const ZooEntry& entry, unsigned seed, Deviations& deviations) {
  SCOPED_TRACE(entry.name);
  TestRobot ours(entry.model);
  const KdlRobot theirs(*entry.model);
  const auto nv = static_cast<Eigen::Index>(ours.tree.velocityCount());
  ASSERT_EQ(static_cast<Eigen::Index>(theirs.tree.getNrOfJoints()), nv);
  const RandomState x = randomState(ours.tree, seed);
  const auto links = static_cast<Eigen::Index>(entry.model->links.size());
  const LinkWrenches wrenches = LinkWrenches::Random(6, links);
  std::map<std::string, KDL::Wrench> their_wrenches;
  for (Eigen::Index k = 0; k < links; ++k) {
    their_wrenches[fmt::format("link{}", k)] = KDL::Wrench(
        kdl(Vector3d(wrenches.col(k).head<3>())), kdl(Vector3d(wrenches.col(k).tail<3>())));
  }
  KDL::TreeIdSolver_RNE solver(theirs.tree, kdl(entry.model->gravity));
  KDL::JntArray torques(static_cast<unsigned>(nv));
  Eigen::VectorXd tau = Eigen::VectorXd::Constant(nv, NAN);
  ASSERT_EQ(solver.CartToJnt(theirs.toKdl(x.q), theirs.toKdl(x.v), theirs.toKdl(x.a), {}, torques),
            0);
  inverseDynamics(ours.tree, ours.compiled, ours.workspace, x.q, x.v, x.a, tau);
  deviations.expect("inverse dynamics", entry.name, tau, theirs.fromKdl(torques), kTolerance);
  ASSERT_EQ(solver.CartToJnt(theirs.toKdl(x.q), theirs.toKdl(x.v), theirs.toKdl(x.a),
                             their_wrenches, torques),
            0);
  inverseDynamics(ours.tree, ours.compiled, ours.workspace, x.q, x.v, x.a, tau, &wrenches);
  deviations.expect("inverse dynamics with wrenches", entry.name, tau, theirs.fromKdl(torques),
                    kTolerance);
}

/// @pre the robot is a chain.
void compareChain(const ZooEntry& entry, unsigned seed, Deviations& deviations) {
  SCOPED_TRACE(entry.name);
  TestRobot ours(entry.model);
  const KdlRobot theirs(*entry.model);
  KDL::Chain chain;
  const int tip = rootedLinks(*entry.model).back().link;
  ASSERT_TRUE(theirs.tree.getChain("world", fmt::format("link{}", tip), chain));
  const auto nv = static_cast<Eigen::Index>(ours.tree.velocityCount());
  ASSERT_EQ(static_cast<Eigen::Index>(chain.getNrOfJoints()), nv);
  const RandomState x = randomState(ours.tree, seed);
  const KDL::JntArray q = theirs.toKdl(x.q), v = theirs.toKdl(x.v);

  KDL::ChainDynParam solver(chain, kdl(entry.model->gravity));
  KDL::JntSpaceInertiaMatrix H(static_cast<unsigned>(nv));
  ASSERT_EQ(solver.JntToMass(q, H), 0);
  Eigen::MatrixXd M = Eigen::MatrixXd::Constant(nv, nv, NAN);
  massMatrix(ours.tree, ours.compiled, ours.workspace, x.q, M);
  deviations.expect("mass matrix", entry.name, M, H.data, kTolerance);

  KDL::JntArray torques(static_cast<unsigned>(nv));
  Eigen::VectorXd tau = Eigen::VectorXd::Constant(nv, NAN);
  gravityTorque(ours.tree, ours.compiled, ours.workspace, x.q, tau);
  ASSERT_EQ(solver.JntToGravity(q, torques), 0);
  const Eigen::VectorXd gravity = theirs.fromKdl(torques);
  deviations.expect("gravity", entry.name, tau, gravity, kTolerance);
  biasTorque(ours.tree, ours.compiled, ours.workspace, x.q, x.v, tau);
  ASSERT_EQ(solver.JntToCoriolis(q, v, torques), 0);
  deviations.expect("Coriolis and gravity", entry.name, tau, theirs.fromKdl(torques) + gravity,
                    kTolerance);
}

// On random trees of 1 to 60 joints, KDL computes the same torques.
TEST(OracleKdl, RandomTrees) {
  Deviations deviations("KDL, random trees");
  for (const ZooEntry& entry : modelZoo(false)) {
    if (entry.model->floating) continue;
    for (const unsigned seed : {1, 2, 3}) compareTree(entry, seed, deviations);
  }
}

// On random chains with rotor inertia, KDL computes the same mass matrix and bias torques.
TEST(OracleKdl, RandomChains) {
  Deviations deviations("KDL, random chains");
  for (const int joints : {1, 2, 6, 7, 12, 30, 60}) {
    RandomModelOptions options;
    options.joints = joints;
    options.branching = 0.0;
    options.rotor = 0.7;
    options.mounted = true;
    const auto model =
        std::make_shared<const Model>(randomModel(static_cast<unsigned>(joints), options));
    for (const unsigned seed : {1, 2, 3})
      compareChain({fmt::format("chain of {}", joints), model}, seed, deviations);
  }
}

bool isChain(const Model& model) {
  const auto crowded = [](const std::vector<int>& joints) { return joints.size() > 2; };
  return std::none_of(model.joints_of_link.begin(), model.joints_of_link.end(), crowded) &&
         model.joints_of_link[static_cast<size_t>(model.base)].size() < 2;
}

// On every bundled robot with fixed base, KDL computes the same torques, and the same mass matrix
// where it is a chain.
TEST(OracleKdl, BundledRobots) {
  Deviations deviations("KDL, bundled robots");
  int chains = 0;
  for (const ZooEntry& entry : bundledRobots()) {
    if (entry.model->floating) continue;
    for (const unsigned seed : {1, 2, 3}) compareTree(entry, seed, deviations);
    if (!isChain(*entry.model)) continue;
    ++chains;
    for (const unsigned seed : {1, 2, 3}) compareChain(entry, seed, deviations);
  }
  EXPECT_GE(chains, 4);
}

}  // namespace
}  // namespace proprio
