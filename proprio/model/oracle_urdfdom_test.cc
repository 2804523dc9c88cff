// The URDF reader beside urdfdom, the ROS ecosystem's own parser.

#include <gtest/gtest.h>
#include <urdf_parser/urdf_parser.h>

#include <Eigen/Geometry>
#include <cmath>

#include "proprio/core/atomic_file.h"
#include "proprio/model/testing/data_folder.h"
#include "proprio/model/urdf_reader.h"

namespace proprio {
namespace {

// urdfdom keeps rotations as quaternions made from half angles
constexpr double kRounding = 1e-14;

Pose poseOf(const urdf::Pose& pose) {
  const urdf::Rotation& q = pose.rotation;
  return {Eigen::Quaterniond(q.w, q.x, q.y, q.z).toRotationMatrix(),
          {pose.position.x, pose.position.y, pose.position.z}};
}

void expectSamePose(const Pose& ours, const Pose& theirs, const std::string& what) {
  EXPECT_NEAR((ours.R - theirs.R).norm(), 0.0, kRounding) << what;
  EXPECT_EQ(ours.p, theirs.p) << what;
}

void compareLink(const Link& ours, const urdf::Link& theirs) {
  EXPECT_EQ(ours.has_inertial, theirs.inertial != nullptr) << ours.name;
  EXPECT_LE(ours.shapes.size(), theirs.visual_array.size() + theirs.collision_array.size())
      << ours.name;
  if (!theirs.inertial) return;
  const urdf::Inertial& i = *theirs.inertial;
  const Pose X_LI = poseOf(i.origin);
  Matrix3d inertia;
  inertia << i.ixx, i.ixy, i.ixz, i.ixy, i.iyy, i.iyz, i.ixz, i.iyz, i.izz;
  expectSamePose(ours.X_LI, X_LI, ours.name);
  // moment of inertia about the origin, by the definition of Steiner's rule
  const Vector3d c = X_LI.p;
  const Matrix3d expected = X_LI.R * inertia * X_LI.R.transpose() +
                            i.mass * (c.squaredNorm() * Matrix3d::Identity() - c * c.transpose());
  EXPECT_EQ(ours.inertia.mass, i.mass) << ours.name;
  EXPECT_NEAR((ours.inertia.first_moment - i.mass * c).norm(), 0.0, kRounding) << ours.name;
  EXPECT_NEAR((ours.inertia.inertia - expected).norm(), 0.0, kRounding * (1.0 + expected.norm()))
      << ours.name;
}

JointType typeOf(int type) {
  switch (type) {
    case urdf::Joint::REVOLUTE:
      return JointType::kRevolute;
    case urdf::Joint::CONTINUOUS:
      return JointType::kContinuous;
    case urdf::Joint::PRISMATIC:
      return JointType::kPrismatic;
    case urdf::Joint::PLANAR:
      return JointType::kPlanar;
    case urdf::Joint::FLOATING:
      return JointType::kFloating;
    default:
      return JointType::kFixed;
  }
}

void compareLimits(const Joint& ours, const urdf::JointLimits& theirs) {
  const auto same = [&](double stated, double expected) {
    EXPECT_TRUE(std::isnan(stated) || stated == expected) << ours.name;
  };
  same(ours.limits.lower, theirs.lower);
  same(ours.limits.upper, theirs.upper);
  same(ours.limits.velocity, theirs.velocity);
  same(ours.limits.effort, theirs.effort);
}

void compareJoint(const Model& model, const Joint& ours, const urdf::Joint& theirs) {
  EXPECT_EQ(ours.type, typeOf(theirs.type)) << ours.name;
  EXPECT_EQ(model.links[static_cast<size_t>(ours.first)].name, theirs.parent_link_name);
  EXPECT_EQ(model.links[static_cast<size_t>(ours.second)].name, theirs.child_link_name);
  expectSamePose(ours.X_FJ, poseOf(theirs.parent_to_joint_origin_transform), ours.name);
  if (ours.type != JointType::kFixed && ours.type != JointType::kFloating) {
    const Vector3d axis(theirs.axis.x, theirs.axis.y, theirs.axis.z);
    EXPECT_NEAR((ours.axis - axis.normalized()).norm(), 0.0, kRounding) << ours.name;
  }
  if (theirs.limits) compareLimits(ours, *theirs.limits);
  EXPECT_EQ(ours.mimic.has_value(), theirs.mimic != nullptr) << ours.name;
  if (theirs.mimic) {
    EXPECT_EQ(ours.mimic->leader, theirs.mimic->joint_name);
    EXPECT_EQ(ours.mimic->ratio, theirs.mimic->multiplier);
    EXPECT_EQ(ours.mimic->offset, theirs.mimic->offset);
  }
  for (const FrictionTerm& term : ours.friction.terms) {
    ASSERT_NE(theirs.dynamics, nullptr) << ours.name;
    EXPECT_EQ(term.coefficient,
              term.name == "viscous" ? theirs.dynamics->damping : theirs.dynamics->friction);
  }
}

void compare(const std::string& text) {
  const Model model = readUrdfText(text);
  const urdf::ModelInterfaceSharedPtr oracle = urdf::parseURDF(text);
  ASSERT_NE(oracle, nullptr);
  EXPECT_EQ(model.name, oracle->getName());
  ASSERT_EQ(model.links.size(), oracle->links_.size());
  ASSERT_EQ(model.joints.size(), oracle->joints_.size());
  EXPECT_EQ(model.links[static_cast<size_t>(model.base)].name, oracle->getRoot()->name);
  for (const Link& link : model.links) {
    ASSERT_EQ(oracle->links_.count(link.name), 1u) << link.name;
    compareLink(link, *oracle->links_.at(link.name));
  }
  for (const Joint& joint : model.joints) {
    ASSERT_EQ(oracle->joints_.count(joint.name), 1u) << joint.name;
    compareJoint(model, joint, *oracle->joints_.at(joint.name));
  }
}

class UrdfdomOnFiles : public ::testing::TestWithParam<const char*> {};

// Both parsers see the same robot in vendors' files: links, joints, origins, axes, inertias,
// limits, mimics.
TEST_P(UrdfdomOnFiles, Agrees) {
  PROPRIO_REQUIRE_DATA(GetParam());
  compare(readFile(dataFolder() / GetParam()));
}
INSTANTIATE_TEST_SUITE_P(Files, UrdfdomOnFiles,
                         ::testing::Values("tx40/tx40.urdf", "kuka_lwr4/kuka_lwr4.urdf",
                                           "tiago/tiago.urdf"));

// The same for every joint type, oblique axes and turned inertial frames.
TEST(Urdfdom, AgreesOnEveryJointType) {
  std::string text = "<robot name='all'><link name='root'/>";
  const char* types[] = {"revolute", "continuous", "prismatic", "fixed", "planar", "floating"};
  for (int i = 0; i < 6; ++i) {
    const std::string n = std::to_string(i);
    text += "<link name='l" + n + "'><inertial><origin xyz='0.1 -0." + n +
            " 0.3' rpy='0.3 -0.2 1." + n + "'/><mass value='1." + n +
            "'/><inertia ixx='1' ixy='0.1' ixz='-0.2' iyy='1.2' iyz='0.05' izz='1.1'/>"
            "</inertial></link><joint name='j" +
            n + "' type='" + types[i] + "'><origin xyz='1 2e-1 -3' rpy='3 " + n +
            " -2'/><parent link='root'/><child link='l" + n + "'/><axis xyz='1 -2 " + n +
            "'/>"
            "<limit lower='-1." +
            n +
            "' upper='2' effort='5' velocity='6'/>"
            "<dynamics damping='0.1' friction='0.2'/></joint>";
  }
  compare(text + "</robot>");
}

}  // namespace
}  // namespace proprio
