#include "proprio/model/urdf_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <clocale>
#include <fstream>

#include "proprio/core/testing/temp_folder.h"
#include "proprio/core/text.h"
#include "proprio/model/mesh_path.h"
#include "proprio/model/testing/data_folder.h"
#include "proprio/model/testing/model_parts.h"
#include "proprio/model/tree.h"

namespace proprio {
namespace {

// numbers go through a handful of products only
constexpr double kUrdfRounding = 1e-14;

constexpr const char* kArm = R"(<?xml version="1.0"?>
<!-- a comment with <link name="ghost"/> -->
<robot name="arm" xmlns:xacro="http://ros.org/wiki/xacro">
  <material name="red"><color rgba="1 0 0 1"/></material>
  <joint name="elbow" type="revolute">
    <origin xyz=" 0.1	0.2
      0.3 " rpy="0 0 1.5707963267948966"/>
    <parent link="upper"/><child link="fore"/>
    <axis xyz="0 3 4"/>
    <limit lower="-1" upper="+2.5" effort="10" velocity="3" acceleration="7"/>
    <dynamics damping="0.5" friction="0.25"/>
    <safety_controller k_velocity="1" soft_lower_limit="-0.9"/>
    <calibration rising="0.1"/>
  </joint>
  <link name="upper">
    <visual><geometry><mesh filename="package://arm/upper.stl" scale="0.001 0.001 0.001"/></geometry>
      <material name="red"/></visual>
    <visual><origin xyz="1 0 0"/><geometry><box size="1 2 3"/></geometry><material name="blue"/></visual>
    <collision><geometry><cylinder radius="0.1" length="0.5"/></geometry></collision>
    <collision><geometry><capsule radius="0.1" length="0.5"/></geometry></collision>
    <collision><geometry><cone radius="0.1" length="0.5"/></geometry></collision>
  </link>
  <link name="fore">
    <inertial>
      <origin xyz="0.1 0 0" rpy="0 0 1.5707963267948966"/>
      <mass value="2"/>
      <inertia ixx="1" ixy="0.1" ixz="0.2" iyy="2" iyz="0.3" izz="2.5"/>
    </inertial>
  </link>
  <link name="finger"/><link name="slider"/><link name="wheel"/><link name="tag"/><link name="puck"/><link name="ball"/>
  <joint name="slide" type="prismatic"><parent link="fore"/><child link="slider"/>
    <limit lower="0" upper="1" effort="inf" velocity="1"/></joint>
  <joint name="pinch" type="prismatic"><parent link="fore"/><child link="finger"/>
    <mimic joint="slide" multiplier="-1" offset="0.1"/></joint>
  <joint name="spin" type="continuous"><parent link="fore"/><child link="wheel"/><axis xyz="0 0 -1"/>
    <limit effort="1" velocity="2" lower="-9" upper="9"/></joint>
  <joint name="tag_joint" type="fixed"><parent link="fore"/><child link="tag"/><axis xyz="0 0 0"/></joint>
  <joint name="glide" type="planar"><parent link="fore"/><child link="puck"/><axis xyz="0 0 1"/></joint>
  <joint name="fly" type="floating"><parent link="fore"/><child link="ball"/></joint>
  <transmission name="t"><type>transmission_interface/SimpleTransmission</type>
    <joint name="elbow"/><actuator name="m"><mechanicalReduction>-45</mechanicalReduction></actuator></transmission>
  <gazebo reference="fore"><mu1>0.2</mu1></gazebo>
  <ros2_control name="x" type="system"><joint name="elbow"/></ros2_control>
  <mujoco><compiler meshdir="x"/></mujoco>
  <drake:joint name="slide"/>
</robot>)";

std::string urdfMessage(const std::string& text) {
  try {
    readUrdfText(text, "r.urdf");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// Links, joints of every type, their order and their degrees of freedom are as written; other
// tools' blocks and comments leave no trace.
TEST(UrdfReader, ReadsTopology) {
  const Model model = readUrdfText(kArm);
  EXPECT_EQ(model.name, "arm");
  ASSERT_EQ(model.links.size(), 8u);
  ASSERT_EQ(model.joints.size(), 7u);
  EXPECT_EQ(model.links[static_cast<size_t>(model.base)].name, "upper");
  EXPECT_FALSE(model.floating);
  EXPECT_EQ(model.joints[0].name, "elbow");
  EXPECT_EQ(model.velocity_count, 1 + 1 + 1 + 3 + 6);
  EXPECT_EQ(jointOf(model, "pinch").mimic->leader, "slide");
  EXPECT_EQ(jointOf(model, "pinch").mimic_ratio, -1.0);
  EXPECT_EQ(jointOf(model, "pinch").mimic_offset, 0.1);
  EXPECT_EQ(jointOf(model, "tag_joint").type, JointType::kFixed);
  EXPECT_EQ(jointOf(model, "elbow").location.line, 5);
}

// Published descriptions whose joints were fixed one by one keep the <mimic> of a fixed joint: it
// has nothing to follow with, and is ignored with a note.
TEST(UrdfReader, FixedJointsMimicNothing) {
  std::vector<ReadNote> notes;
  const Model model = readUrdfText(
      "<robot name='r'><link name='a'/><link name='b'/><link name='c'/>"
      "<joint name='j' type='fixed'><parent link='a'/><child link='b'/></joint>"
      "<joint name='k' type='fixed'><parent link='a'/><child link='c'/>"
      "<mimic joint='j' multiplier='-1'/></joint></robot>",
      "r.urdf", &notes);
  EXPECT_FALSE(jointOf(model, "k").mimic);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].sentence.find("joint 'k': <mimic> of a fixed joint is ignored"),
            std::string::npos);
}

// Numbers arrive with their meaning: unit axis, x axis by default, infinite and meaningless limits
// not stated, damping and friction as declared terms, the gear ratio with its sign.
TEST(UrdfReader, ReadsJointValues) {
  const Model model = readUrdfText(kArm);
  const Joint& elbow = jointOf(model, "elbow");
  EXPECT_EQ(elbow.X_FJ.p, Vector3d(0.1, 0.2, 0.3));
  EXPECT_NEAR((elbow.X_FJ.R * Vector3d::UnitX() - Vector3d::UnitY()).norm(), 0.0, kUrdfRounding);
  EXPECT_NEAR((elbow.axis - Vector3d(0, 0.6, 0.8)).norm(), 0.0, kUrdfRounding);
  EXPECT_EQ(elbow.limits.lower, -1.0);
  EXPECT_EQ(elbow.limits.upper, 2.5);
  EXPECT_EQ(elbow.limits.acceleration, 7.0);
  ASSERT_EQ(elbow.friction.terms.size(), 2u);
  EXPECT_EQ(elbow.friction.terms[0].kind, FrictionTermKind::kViscous);
  EXPECT_EQ(elbow.friction.terms[0].coefficient, 0.5);
  EXPECT_EQ(elbow.friction.terms[1].name, "coulomb");
  EXPECT_EQ(elbow.drive.gear_ratio, -45.0);
  EXPECT_FALSE(elbow.drive.declared);
  EXPECT_EQ(jointOf(model, "slide").axis, Vector3d::UnitX());
  EXPECT_TRUE(std::isnan(jointOf(model, "slide").limits.effort));
  EXPECT_TRUE(std::isnan(jointOf(model, "spin").limits.upper));
  EXPECT_EQ(jointOf(model, "spin").limits.velocity, 2.0);
}

// The inertia tensor is turned by the inertial's rpy (here 90 degrees about z: x -> y, y -> -x) and
// moved from the centre of mass to the link origin by Steiner's rule.
TEST(UrdfReader, ReadsInertia) {
  const Model model = readUrdfText(kArm);
  const Link& fore = linkOf(model, "fore");
  EXPECT_TRUE(fore.has_inertial);
  EXPECT_EQ(fore.inertia.mass, 2.0);
  EXPECT_NEAR((fore.inertia.com() - Vector3d(0.1, 0, 0)).norm(), 0.0, kUrdfRounding);
  Matrix3d turned;
  turned << 2, -0.1, -0.3, -0.1, 1, 0.2, -0.3, 0.2, 2.5;
  const Matrix3d steiner = Vector3d(0.0, 0.02, 0.02).asDiagonal();
  EXPECT_NEAR((fore.inertia.inertia - turned - steiner).norm(), 0.0, 1e-13);
  EXPECT_FALSE(linkOf(model, "upper").has_inertial);
  EXPECT_EQ(linkOf(model, "upper").inertia.mass, 0.0);
}

// Several visuals and collisions are kept in order (collisions first); unknown geometry is skipped
// with a note.
TEST(UrdfReader, ReadsShapes) {
  std::vector<ReadNote> notes;
  const Model model = readUrdfText(kArm, "r.urdf", &notes);
  const std::vector<Shape>& shapes = linkOf(model, "upper").shapes;
  ASSERT_EQ(shapes.size(), 4u);
  EXPECT_EQ(shapes[0].kind, ShapeKind::kCylinder);
  EXPECT_TRUE(shapes[0].collision);
  EXPECT_EQ(shapes[1].kind, ShapeKind::kCapsule);
  EXPECT_EQ(shapes[1].size, Vector3d(0.1, 0.5, 0));
  EXPECT_EQ(shapes[2].mesh, "package://arm/upper.stl");
  EXPECT_EQ(shapes[2].mesh_scale.y(), 0.001);
  EXPECT_EQ(shapes[3].size, Vector3d(1, 2, 3));
  EXPECT_EQ(shapes[3].X_LG.p, Vector3d(1, 0, 0));
  const bool noted = std::any_of(notes.begin(), notes.end(), [](const ReadNote& n) {
    return n.sentence.find("<cone> is unknown") != std::string::npos;
  });
  EXPECT_TRUE(noted);
}

// A quaternion orientation (URDF 1.1) and the rpy that describes it give the same pose.
TEST(UrdfReader, ReadsQuaternions) {
  const char* head =
      "<robot name='r'><link name='a'/><link name='b'/><joint name='j' type='fixed'>"
      "<parent link='a'/><child link='b'/><origin ";
  const Model by_rpy = readUrdfText(std::string(head) + "rpy='0.6 0 0'/></joint></robot>");
  const Model by_quaternion =
      readUrdfText(std::string(head) +
                   "quat_xyzw='0.29552020666133955 0 0 0.955336489125606'/></joint></robot>");
  EXPECT_NEAR((by_rpy.joints[0].X_FJ.R - by_quaternion.joints[0].X_FJ.R).norm(), 0.0,
              kUrdfRounding);
}

// Shapes without or with a negative extent are read, with a note that says where.
TEST(UrdfReader, NotesSizesThatAreNotPositive) {
  for (const char* shape : {"<box size='-1 1 1'/>", "<box size='0 0 0'/>", "<sphere radius='0'/>",
                            "<cylinder radius='1' length='-2'/>"}) {
    std::vector<ReadNote> notes;
    readUrdfText(std::string("<robot name='r'><link name='a'>\n<collision><geometry>") + shape +
                     "</geometry></collision></link></robot>",
                 "r.urdf", &notes);
    ASSERT_EQ(notes.size(), 1u) << shape;
    EXPECT_NE(notes[0].sentence.find("expected all of them positive"), std::string::npos);
    EXPECT_EQ(notes[0].location.line, 2);
  }
}

// A misspelt element is not lost silently: the note names it and the right spelling.
TEST(UrdfReader, NotesMisspeltElements) {
  std::vector<ReadNote> notes;
  readUrdfText("<robot name='r'>\n<link name='a'>\n<inertail/></link></robot>", "r.urdf", &notes);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(toString(notes[0].location), "r.urdf:3");
  EXPECT_NE(notes[0].sentence.find("did you mean <inertial>"), std::string::npos);
}

// Nor is a misspelt attribute of an element that is read, or a misspelt link or joint.
TEST(UrdfReader, NotesMisspeltAttributes) {
  const auto notesOf = [](const std::string& in_joint, const std::string& in_link,
                          const std::string& more = "") {
    std::vector<ReadNote> notes;
    readUrdfText(
        "<robot name='r' verson='1'><link name='a'/><link name='b'/><link name='c'>" + in_link +
            "</link><joint name='i' type='revolute'><parent link='a'/><child link='b'/></joint>"
            "<joint name='j' type='revolute'><parent link='a'/><child link='c'/>" +
            in_joint + "</joint>\n" + more + "</robot>",
        "r.urdf", &notes);
    std::vector<std::string> sentences;
    for (const ReadNote& note : notes) sentences.push_back(note.sentence);
    return sentences;
  };
  using Sentences = std::vector<std::string>;
  const std::string about_robot =
      "<robot>: verson of <robot> is unknown and ignored; did you mean version?";
  EXPECT_EQ(notesOf("<origin xzy='1 2 3' rpv='1 0 0'/><mimic joint='i' multiplyer='2' ofset='1'/>"
                    "<dynamics dampin='1'/><limit lower='-1' uper='1' effort='1' velocity='1'/>",
                    ""),
            (Sentences{"joint 'j': xzy of <origin> is unknown and ignored; did you mean xyz?",
                       "joint 'j': rpv of <origin> is unknown and ignored; did you mean rpy?",
                       "joint 'j': uper of <limit> is unknown and ignored; did you mean upper?",
                       "joint 'j': dampin of <dynamics> is unknown and ignored; did you mean "
                       "damping?",
                       "joint 'j': multiplyer of <mimic> is unknown and ignored; did you mean "
                       "multiplier?",
                       "joint 'j': ofset of <mimic> is unknown and ignored; did you mean offset?",
                       about_robot}));
  EXPECT_EQ(notesOf("",
                    "<visual><geometry><mesh filename='m.stl' scal='2 2 2'/></geometry>"
                    "</visual>"),
            (Sentences{"link 'c': scal of <mesh> is unknown and ignored; did you mean scale?",
                       about_robot}));
  EXPECT_EQ(
      notesOf("", "", "<jiont name='k' type='fixed'/><ros2_control/><group/>"),
      (Sentences{"<robot>: <jiont> is unknown and ignored; did you mean <joint>?", about_robot}));
  // what other tools write, and what stands there twice under two names
  EXPECT_EQ(notesOf("<axis xyz='1 0 0' rpy='0 0 0'/><limit lower='-1' upper='1' effort='1' "
                    "velocity='1' acceleration='1' deceleration='1' jerk='1' current='1' "
                    "gear_velocity='1'/><dynamics damping='1' friction='0' D='1' K='7000' "
                    "mu_coulomb='0'/>",
                    "<inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyx='0' iyy='1' "
                    "iyz='0' izx='0' izy='0' izz='1'/></inertial><visual name='v' group='1'/>"
                    "<collision><geometry name='g'><mesh filename='m.stl' name='m'/></geometry>"
                    "</collision>"),
            (Sentences{"link 'c': <visual> has no geometry and is ignored", about_robot}));
}

// Of two position limits one that is left out is 0, as the specification says; an infinite one is
// none.
TEST(UrdfReader, OneSidedLimits) {
  const auto limitsOf = [](const std::string& limit) {
    const Model model = readUrdfText(
        "<robot name='r'><link name='a'/><link name='b'/><joint name='j' type='revolute'><parent "
        "link='a'/><child link='b'/><limit " +
        limit + " effort='1' velocity='1'/></joint></robot>");
    return model.joints[0].limits;
  };
  EXPECT_EQ(limitsOf("lower='-1'").lower, -1.0);
  EXPECT_EQ(limitsOf("lower='-1'").upper, 0.0);
  EXPECT_TRUE(limitsOf("lower='-1'").upper_left_out);
  EXPECT_EQ(limitsOf("upper='2'").lower, 0.0);
  EXPECT_TRUE(limitsOf("upper='2'").lower_left_out);
  EXPECT_TRUE(std::isnan(limitsOf("lower='-1' upper='inf'").upper));
  EXPECT_TRUE(std::isnan(limitsOf("").upper));
  EXPECT_FALSE(limitsOf("lower='-1' upper='1'").upper_left_out);
}

// Of two elements where one is expected the first counts, as in the ROS tools, and a note says so.
TEST(UrdfReader, TheFirstOfTwoCounts) {
  std::vector<ReadNote> notes;
  const Model model = readUrdfText(
      "<robot name='r'><link name='a'/><link name='b'/><joint name='j' type='fixed'><parent "
      "link='a'/>"
      "<child link='b'/><origin xyz='1 0 0'/><origin xyz='2 0 0'/></joint></robot>",
      "r.urdf", &notes);
  EXPECT_EQ(model.joints[0].X_FJ.p.x(), 1.0);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].sentence.find("second <origin>"), std::string::npos);
}

// The decimal point is a point, also where the C locale of the program says comma.
TEST(UrdfReader, IgnoresTheLocale) {
  const std::string before = std::setlocale(LC_NUMERIC, nullptr);
  const bool comma = std::setlocale(LC_NUMERIC, "de_DE.UTF-8") != nullptr;
  const Model model = readUrdfText(kArm);
  std::setlocale(LC_NUMERIC, before.c_str());
  EXPECT_EQ(jointOf(model, "elbow").limits.upper, 2.5)
      << (comma ? "with" : "without") << " German locale";
}

// Messages name file, line, joint or link, what was found and what was expected.
TEST(UrdfReader, MessagesSpeak) {
  EXPECT_EQ(
      urdfMessage(
          "<robot name='r'>\n<link name='a'/><link name='b'/>\n<joint name='j' type='rotary'>"
          "<parent link='a'/><child link='b'/></joint></robot>"),
      "r.urdf:3: joint 'j' has type='rotary', expected revolute, continuous, prismatic, fixed, "
      "planar or "
      "floating");
  EXPECT_EQ(urdfMessage("<robot name='r'>\n<link name='a'/>\n\n<link name='b'/></robot>"),
            "r.urdf: 2 links have no parent joint: 'a' (line 2), 'b' (line 4); expected one root, "
            "connect the "
            "others to the robot (a fixed joint will do) or remove them");
  EXPECT_EQ(
      urdfMessage(
          "<robot name='r'><link name='a'><inertial>\n<mass value='1,5'/><inertia ixx='1' ixy='0' "
          "ixz='0' iyy='1' iyz='0' izz='1'/></inertial></link></robot>"),
      "r.urdf:2: link 'a': <mass> has value='1,5', expected one finite number; use a decimal "
      "point");
}

// Meshes are found by relative path, file:// URI, and package name from a declared root or a folder
// above the URDF.
TEST(UrdfReader, FindsMeshes) {
  namespace fs = std::filesystem;
  const testing::TempFolder own;
  const fs::path& top = own.path();
  fs::create_directories(top / "my_robot" / "urdf");
  fs::create_directories(top / "elsewhere" / "meshes");
  const fs::path mesh = top / "my_robot" / "a.stl", far = top / "elsewhere" / "meshes" / "b.stl";
  std::ofstream(mesh.c_str()) << "x";
  std::ofstream(far.c_str()) << "x";
  Model model;
  model.urdf = top / "my_robot" / "urdf" / "r.urdf";
  model.packages = {{"other", top / "elsewhere"}};
  EXPECT_EQ(findMesh(model, "../a.stl"), mesh);
  EXPECT_EQ(findMesh(model, "file://" + mesh.string()), mesh);
  EXPECT_EQ(findMesh(model, "package://my_robot/a.stl"), mesh);
  EXPECT_EQ(findMesh(model, "package://other/meshes/b.stl"), far);
  EXPECT_EQ(findMesh(model, "package://none/b.stl"), "");
  EXPECT_EQ(findMesh(model, "package://"), "");
  EXPECT_EQ(findMesh(model, ""), "");
}

struct RealRobot {
  const char* file;
  int links, joints, dof;
};
void PrintTo(const RealRobot& robot, std::ostream* out) { *out << robot.file; }

class UrdfReaderOnRealRobots : public ::testing::TestWithParam<RealRobot> {};

// Vendors' files load whole: as many links and joints as the text has start tags of them at robot
// level.
TEST_P(UrdfReaderOnRealRobots, Loads) {
  PROPRIO_REQUIRE_DATA(GetParam().file);
  const Model model = readUrdf(dataFolder() / GetParam().file);
  EXPECT_EQ(model.links.size(), static_cast<size_t>(GetParam().links));
  EXPECT_EQ(model.joints.size(), static_cast<size_t>(GetParam().joints));
  EXPECT_EQ(model.velocity_count, GetParam().dof);
}
INSTANTIATE_TEST_SUITE_P(Files, UrdfReaderOnRealRobots,
                         ::testing::Values(RealRobot{"tx40/tx40.urdf", 8, 7, 6},
                                           RealRobot{"kuka_lwr4/kuka_lwr4.urdf", 9, 8, 7},
                                           RealRobot{"tiago/tiago.urdf", 56, 55, 23}));

}  // namespace
}  // namespace proprio
