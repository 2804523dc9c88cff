#include "proprio/model/tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <set>

#include "proprio/model/testing/model_parts.h"
#include "proprio/model/testing/naive_kinematics.h"
#include "proprio/model/testing/random_model.h"

namespace proprio {
namespace {

// Rounding of a product of up to 60 poses with translations of a few metres.
constexpr double kPoseTolerance = 1e-12;

Pose placement(const double (&R)[9], const double (&p)[3]) {
  Pose X;
  X.R = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(R);
  X.p = Eigen::Map<const Vector3d>(p);
  return X;
}

Pose floatingPose(const Eigen::VectorXd& q, int index) {
  return {rotationFromQuaternion(q.segment<4>(index + 3)), q.segment<3>(index)};
}

// Poses of links from the bodies of a tree, exactly as the header of Tree describes them.
std::vector<Pose> treeLinkPoses(const Tree& tree, const Eigen::VectorXd& q) {
  Eigen::VectorXd full(tree.fullPositionCount());
  for (int i = 0; i < tree.fullPositionCount(); ++i) {
    full[i] = tree.q_ratio[i] * q[tree.q_source[i]] + tree.q_offset[i];
  }
  std::vector<Pose> X_WB(tree.bodies().size()), X_WL(tree.model().links.size());
  for (size_t i = 0; i < tree.bodies().size(); ++i) {
    const TreeBody& body = tree.bodies()[i];
    Pose motion;
    if (body.joint == BodyJoint::kRevolute)
      motion.R = rotationExp(full[body.q] * Vector3d::UnitZ());
    if (body.joint == BodyJoint::kPrismatic) motion.p = full[body.q] * Vector3d::UnitZ();
    if (body.joint == BodyJoint::kFloating) motion = floatingPose(full, body.q);
    const Pose X_PB = placement(body.R_PJ, body.p_PJ) * motion;
    X_WB[i] = body.parent < 0 ? X_PB : X_WB[body.parent] * X_PB;
    if (body.link >= 0) X_WL[body.link] = X_WB[i] * placement(body.R_BL, body.p_BL);
  }
  return X_WL;
}

class EveryFamily : public ::testing::TestWithParam<int> {
 protected:
  Model model(unsigned seed) const { return randomModel(seed, randomModelFamilies()[GetParam()]); }
};
INSTANTIATE_TEST_SUITE_P(Tree, EveryFamily,
                         ::testing::Range(0, static_cast<int>(randomModelFamilies().size())));

// The bodies of the tree of every base put every link where the definition of the joints puts it.
TEST_P(EveryFamily, KinematicsOfEveryBaseAgreeWithTheDefinition) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    const auto m = sharedModel(model(seed));
    const Eigen::VectorXd s = randomShape(*m, seed + 100);
    const Pose X_WB = RandomModelSource(seed + 200).pose();
    for (int base = 0; base < static_cast<int>(m->links.size()); ++base) {
      const std::vector<Pose> expected = naiveLinkPoses(*m, base, X_WB, s);
      const Tree fixed(m, base, false, X_WB), floating(m, base, true);
      Eigen::VectorXd q(7 + s.size());
      q << X_WB.p, quaternionFromRotation(X_WB.R), s;
      const std::vector<Pose> from_fixed = treeLinkPoses(fixed, s);
      const std::vector<Pose> from_floating = treeLinkPoses(floating, q);
      for (size_t i = 0; i < m->links.size(); ++i) {
        ASSERT_LT(poseDistance(from_fixed[i], expected[i]), kPoseTolerance) << base << " " << i;
        ASSERT_LT(poseDistance(from_floating[i], expected[i]), kPoseTolerance) << base << " " << i;
      }
    }
  }
}

// T-13: the velocity of every joint is a constant unit twist along z of the body frame, (0, z) or
// (z, 0), by central differences of the relative pose of the links it joins.
TEST_P(EveryFamily, JointMotionIsAConstantTwistAboutBodyZ) {
  const auto m = sharedModel(model(4));
  const Tree tree(m, 0, false);
  const Eigen::VectorXd s = randomShape(*m, 5);
  constexpr double kStep = 1e-6, kDifference = 1e-8;  // truncation step^2, rounding 1e-16 / step
  for (const TreeBody& body : tree.bodies()) {
    if (body.link < 0 || body.parent < 0 || body.joint == BodyJoint::kFixed) continue;
    const int source = tree.q_source[body.q];
    const int parent_joint = traverse(*m, 0).parent_joint[body.link];
    const Joint& joint = m->joints[parent_joint];
    const auto relative = [&](double step) {
      Eigen::VectorXd moved = s;
      moved[source] += step;
      const Pose X_FS = naiveJointPose(*m, joint, moved);
      return body.link == joint.second ? X_FS : X_FS.inverse();
    };
    const Eigen::Matrix4d H = relative(0.0).matrix();
    const Eigen::Matrix4d rate =
        (relative(kStep).matrix() - relative(-kStep).matrix()) / (2 * kStep);
    const Eigen::Matrix4d twist_L = H.inverse() * rate;
    const Eigen::Matrix4d X_BL = placement(body.R_BL, body.p_BL).matrix();
    const Eigen::Matrix4d twist_B = X_BL * twist_L * X_BL.inverse() / tree.q_ratio[body.q];
    Eigen::Matrix4d expected = Eigen::Matrix4d::Zero();
    if (body.joint == BodyJoint::kRevolute)
      expected.topLeftCorner<3, 3>() = skew(Vector3d::UnitZ());
    if (body.joint == BodyJoint::kPrismatic) expected.topRightCorner<3, 1>() = Vector3d::UnitZ();
    EXPECT_LT((twist_B - expected).norm(),
              kDifference / std::min(1.0, std::abs(tree.q_ratio[body.q])))
        << joint.name;
  }
}

// Bodies are in depth-first order: parents first, every subtree contiguous and bounded by
// subtree_end.
TEST_P(EveryFamily, SubtreesAreContiguous) {
  const auto m = sharedModel(model(6));
  for (int base = 0; base < static_cast<int>(m->links.size()); ++base) {
    const Tree tree(m, base, true);
    for (int i = 0; i < tree.bodyCount(); ++i) {
      ASSERT_LT(tree.bodies()[i].parent, i);
      for (int j = 0; j < tree.bodyCount(); ++j) {
        // j belongs to the subtree of i if i is on the way from j to the root
        int up = j;
        while (up > i) up = tree.bodies()[up].parent;
        ASSERT_EQ(up == i, j >= i && j < tree.bodies()[i].subtree_end) << i << " " << j;
      }
    }
    // every link has one body, the rest are the helpers of planar joints
    int helpers = 0;
    for (const TreeBody& body : tree.bodies()) helpers += body.link < 0 ? 1 : 0;
    EXPECT_EQ(tree.bodyCount() - helpers, static_cast<int>(m->links.size()));
    for (int link = 0; link < static_cast<int>(m->links.size()); ++link) {
      EXPECT_EQ(tree.bodies()[tree.bodyOfLink(link)].link, link);
    }
  }
}

// T-15: the coordinates of a joint have the same indices for every base, and each is used by
// exactly one body.
TEST_P(EveryFamily, CoordinatesDoNotDependOnTheBase) {
  const auto m = sharedModel(model(7));
  const Tree reference(m, 0, true);
  for (int base = 0; base < static_cast<int>(m->links.size()); ++base) {
    const Tree tree(m, base, true);
    EXPECT_EQ(tree.q_source, reference.q_source);
    EXPECT_EQ(tree.v_source, reference.v_source);
    EXPECT_EQ(tree.q_ratio, reference.q_ratio);
    EXPECT_EQ(tree.positionCount(), 7 + m->position_count);
    EXPECT_EQ(tree.velocityCount(), 6 + m->velocity_count);
    std::multiset<int> used;
    for (const TreeBody& body : tree.bodies()) {
      if (body.joint == BodyJoint::kRevolute || body.joint == BodyJoint::kPrismatic)
        used.insert(body.v);
    }
    EXPECT_EQ(static_cast<int>(used.size()), tree.fullVelocityCount() - 6);
    int expected = 6;
    for (int v : used) EXPECT_EQ(v, expected++);
    for (size_t j = 0; j < m->joints.size(); ++j) {
      EXPECT_EQ(tree.velocityIndex(static_cast<int>(j)),
                reference.velocityIndex(static_cast<int>(j)));
    }
  }
}

// frame_case says truly what X_BL is: identity, a signed permutation at the origin, or anything.
TEST_P(EveryFamily, FrameCaseDescribesTheLinkFrame) {
  const auto m = sharedModel(model(8));
  const Tree tree(m);
  for (const TreeBody& body : tree.bodies()) {
    const Pose X_BL = placement(body.R_BL, body.p_BL);
    const bool origin = X_BL.p == Vector3d::Zero();
    const bool permutation = ((X_BL.R.array() == 0.0) || (X_BL.R.array().abs() == 1.0)).all();
    const bool identity = origin && X_BL.R == Matrix3d::Identity();
    EXPECT_EQ(body.frame_case, identity ? 0 : origin && permutation ? 1 : 2);
  }
}

// Arms whose joint axes are coordinate axes are relabelled for free, also where rpy = pi/2 leaves
// rounding.
TEST(Tree, CoordinateAxesNeedNoGeneralFrame) {
  for (const Model& m : {serialChain(7), sixAxisArm(), sevenAxisArm(), humanoid32()}) {
    const Tree tree(sharedModel(m));
    for (const TreeBody& body : tree.bodies()) EXPECT_LE(body.frame_case, 1) << m.name;
  }
  Model turned = sixAxisArm();
  turned.joints[2].X_JS = Pose::fromXyzRpy(Vector3d::Zero(), {std::numbers::pi / 2, 0, 0});
  const Tree tree(sharedModel(finalize(turned)));
  for (const TreeBody& body : tree.bodies()) EXPECT_LE(body.frame_case, 1);
}

// Without mimic joints full and free coordinates are the same.
TEST(Tree, FullCoordinatesEqualFreeOnesWithoutMimic) {
  const Tree tree(sharedModel(humanoid32()));
  EXPECT_FALSE(tree.hasMimic());
  EXPECT_EQ(tree.fullPositionCount(), 39);
  EXPECT_EQ(tree.fullVelocityCount(), 38);
  EXPECT_EQ(tree.positionCount(), 39);
  for (int i = 0; i < 39; ++i) EXPECT_EQ(tree.q_source[i], i);
  for (int i = 0; i < 38; ++i) EXPECT_EQ(tree.v_source[i], i);
}

// A chain of mimic joints is expanded to the free leader: q3 = 2 (3 q1 + 1) - 0.5.
TEST(Tree, MimicChainsExpandToTheFreeLeader) {
  Model m = serialChain(4);
  m.joints[1].mimic = Mimic{"joint_1", 3.0, 1.0};
  m.joints[2].mimic = Mimic{"joint_2", 2.0, -0.5};
  const Tree tree(sharedModel(finalize(m)));
  EXPECT_TRUE(tree.hasMimic());
  EXPECT_EQ(tree.positionCount(), 2);
  EXPECT_EQ(tree.fullPositionCount(), 4);
  EXPECT_EQ(tree.q_source, (std::vector<int>{0, 0, 0, 1}));
  EXPECT_EQ(tree.q_ratio, (std::vector<double>{1.0, 3.0, 6.0, 1.0}));
  EXPECT_EQ(tree.v_ratio, (std::vector<double>{1.0, 3.0, 6.0, 1.0}));
  EXPECT_EQ(tree.q_offset, (std::vector<double>{0.0, 1.0, 1.5, 0.0}));
  EXPECT_EQ(tree.positionIndex(2), 0);
}

// A floating joint inside the model works from its own side, and from beyond it the error names it.
TEST(Tree, FloatingJointsArePassedForwardOnly) {
  Model m = serialChain(3);
  m.joints[1].type = JointType::kFloating;
  m.joints[1].X_JS = Pose::fromXyzRpy({0.1, 0.2, 0.3}, {0.4, 0.5, 0.6});
  const auto model = sharedModel(finalize(m));
  const Tree tree(model, 1, true);
  EXPECT_EQ(tree.positionCount(), 7 + 9);
  EXPECT_EQ(tree.velocityCount(), 6 + 8);
  Eigen::VectorXd q = tree.neutralPosition();
  EXPECT_EQ(q[6], 1.0);
  EXPECT_EQ(q[tree.positionIndex(1) + 6], 1.0);
  const Eigen::Vector4d quaternion = Eigen::Vector4d(0.1, -0.2, 0.3, 0.9).normalized();
  q.segment<3>(tree.positionIndex(1)) = Vector3d(1, 2, 3);
  q.segment<4>(tree.positionIndex(1) + 3) = quaternion;
  const std::vector<Pose> expected = naiveLinkPoses(*model, 1, Pose::identity(), q.tail(9));
  const std::vector<Pose> found = treeLinkPoses(tree, q);
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_LT(poseDistance(found[i], expected[i]), kPoseTolerance);
  try {
    Tree(model, 3, true);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("'joint_2'"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("'link_1'"), std::string::npos) << error.what();
  }
}

// A single link without joints is a tree of one body, fixed or floating.
TEST(Tree, SingleLink) {
  Model m;
  m.links.push_back(makeLink("body", 1.0, Vector3d::Zero(), Vector3d::Ones()));
  const auto model = sharedModel(finalize(m));
  const Pose X_WB = Pose::fromXyzRpy({1, 2, 3}, {0.1, 0.2, 0.3});
  const Tree fixed(model, 0, false, X_WB), floating(model, 0, true, X_WB);
  EXPECT_EQ(fixed.bodyCount(), 1);
  EXPECT_EQ(fixed.positionCount(), 0);
  EXPECT_EQ(fixed.neutralPosition().size(), 0);
  EXPECT_LT(poseDistance(treeLinkPoses(fixed, {})[0], X_WB), kPoseTolerance);
  EXPECT_EQ(floating.velocityCount(), 6);
  EXPECT_EQ(floating.bodies()[0].joint, BodyJoint::kFloating);
  EXPECT_LT(poseDistance(treeLinkPoses(floating, floating.neutralPosition())[0], Pose{}),
            kPoseTolerance);
  EXPECT_EQ(traverse(*model, 0).order, std::vector<int>{0});
  EXPECT_TRUE(neighbours(*model, 0).empty());
}

// Bad bases and models that were not checked are refused in words.
TEST(Tree, RefusesBadBasesAndUncheckedModels) {
  const auto model = sharedModel(serialChain(2));
  EXPECT_THROW(Tree(model, -1, false), Error);
  EXPECT_THROW(Tree(model, 3, false), Error);
  EXPECT_THROW(Tree(nullptr), Error);
  EXPECT_THROW(TreeSet(nullptr, true), Error);
  Model unchecked;
  unchecked.links.resize(1);
  EXPECT_THROW(Tree(sharedModel(unchecked)), Error);
  EXPECT_THROW(linkPath(*model, 0, 7), Error);
  EXPECT_THROW(subtree(*model, 0, -2), Error);
}

// T-16: every traversal agrees with what is computed from reachability after cutting links or
// joints.
TEST_P(EveryFamily, TraversalsAgreeWithBruteForce) {
  const Model m = model(9);
  const int n = static_cast<int>(m.links.size());
  // links reachable from `from` when link `cut` is taken away
  const auto reachable = [&](int from, int cut) {
    std::set<int> links = {from};
    for (bool grown = true; grown;) {
      grown = false;
      for (const Joint& joint : m.joints) {
        if (joint.first == cut || joint.second == cut) continue;
        if (links.count(joint.first) == links.count(joint.second)) continue;
        links.insert(joint.first);
        links.insert(joint.second);
        grown = true;
      }
    }
    return links;
  };
  for (int base : {0, n / 2, n - 1}) {
    const Traversal traversal = traverse(m, base);
    EXPECT_EQ(std::set<int>(traversal.order.begin(), traversal.order.end()).size(),
              static_cast<size_t>(n));
    EXPECT_EQ(traversal.parent[base], -1);
    for (int link = 0; link < n; ++link) {
      // the subtree is what the base cannot reach without the link
      const std::vector<int> below = subtree(m, base, link);
      const std::set<int> found(below.begin(), below.end());
      std::set<int> expected;
      const std::set<int> above = link == base ? std::set<int>{} : reachable(base, link);
      for (int other = 0; other < n; ++other) {
        if (above.count(other) == 0) expected.insert(other);
      }
      EXPECT_EQ(found, expected);
      EXPECT_EQ(found.size(), below.size());
      // a link is on the path if taking it away separates the ends
      const std::vector<int> path = linkPath(m, base, link);
      EXPECT_EQ(path.front(), base);
      EXPECT_EQ(path.back(), link);
      for (int other = 0; other < n; ++other) {
        if (other == base || other == link) continue;
        const bool separates = reachable(base, other).count(link) == 0;
        EXPECT_EQ(std::count(path.begin(), path.end(), other), separates ? 1 : 0);
      }
      // joints on the path join consecutive links
      const std::vector<int> joints = jointPath(m, base, link);
      ASSERT_EQ(joints.size() + 1, path.size());
      for (size_t i = 0; i < joints.size(); ++i) {
        const Joint& joint = m.joints[joints[i]];
        EXPECT_EQ(std::minmax(joint.first, joint.second), std::minmax(path[i], path[i + 1]));
      }
      // degrees of freedom on the path, the same in both directions
      std::set<int> dofs;
      for (int index : joints) {
        const Joint& joint = m.joints[index];
        for (int k = 0; k < velocityCount(joint.type); ++k) dofs.insert(joint.velocity_index + k);
      }
      EXPECT_EQ(dofPath(m, base, link), std::vector<int>(dofs.begin(), dofs.end()));
      EXPECT_EQ(dofPath(m, link, base), dofPath(m, base, link));
      // ancestors are the path backwards
      for (size_t k = 0; k < path.size(); ++k) {
        EXPECT_EQ(ancestor(traversal, link, static_cast<int>(k)), path[path.size() - 1 - k]);
      }
      EXPECT_EQ(ancestor(traversal, link, static_cast<int>(path.size())), -1);
      // neighbours are the parent and the children (lemmas 3.7 and 3.8)
      std::multiset<int> around(traversal.children[link].begin(), traversal.children[link].end());
      if (traversal.parent[link] >= 0) around.insert(traversal.parent[link]);
      const std::vector<int> next = neighbours(m, link);
      EXPECT_EQ(std::multiset<int>(next.begin(), next.end()), around);
      EXPECT_EQ(path.size() > 1 ? path[path.size() - 2] : -1, traversal.parent[link]);
      EXPECT_EQ(joints.empty() ? -1 : joints.back(), traversal.parent_joint[link]);
    }
  }
}

// The prebuilt set holds the tree of every base.
TEST_P(EveryFamily, TreeSetHoldsEveryBase) {
  const auto m = sharedModel(model(10));
  const TreeSet set(m, m->floating);
  for (int base = 0; base < static_cast<int>(m->links.size()); ++base) {
    EXPECT_EQ(set.at(base).baseLink(), base);
    EXPECT_EQ(set.at(base).floating(), m->floating);
  }
  EXPECT_EQ(set.at(m->base).bodies()[0].joint,
            m->floating ? BodyJoint::kFloating : BodyJoint::kFixed);
  if (!m->floating) {
    EXPECT_LT(poseDistance(set.at(m->base).mounting(), m->X_WB), kPoseTolerance);
  }
}

// The planar 2R arm reaches its closed-form tip, and the sized robots have the sizes they promise.
TEST(Tree, KnownRobots) {
  const Planar2R arm;
  const auto model = sharedModel(planar2R());
  const Eigen::Vector2d q(0.3, -0.8);
  const std::vector<Pose> poses = treeLinkPoses(Tree(model), q);
  EXPECT_LT((poses[2] * model->frames[0].X_LF.p - arm.tip(q)).norm(), kPoseTolerance);
  EXPECT_EQ(sixAxisArm().velocity_count, 6);
  EXPECT_EQ(sevenAxisArm().velocity_count, 7);
  EXPECT_EQ(humanoid32().velocity_count, 32);
  EXPECT_EQ(Tree(sharedModel(humanoid32())).bodyCount(), 33);
}

}  // namespace
}  // namespace proprio
