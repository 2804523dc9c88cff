#include "proprio/model/urdf_writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <random>
#include <regex>

#include "proprio/core/atomic_file.h"
#include "proprio/core/testing/temp_folder.h"
#include "proprio/model/robot_reader.h"
#include "proprio/model/testing/data_folder.h"
#include "proprio/model/testing/model_parts.h"
#include "proprio/model/urdf_reader.h"

namespace proprio {
namespace {

namespace fs = std::filesystem;

// relative accuracy of values that are written, read again and moved between frames
constexpr double kReadBack = 1e-12;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

InertialParameters body(double mass, const Vector3d& com, const Vector3d& diagonal) {
  return InertialParameters::fromCom(mass, com, diagonal.asDiagonal());
}

// Byte order mark, CRLF, tabs, single quotes, quotes in quotes, entities, comments that look like
// elements, blanks in tags, numbers in unusual spelling.
const std::string kOdd =
    "\xef\xbb\xbf<?xml version='1.0'?>\r\n"
    "<!DOCTYPE robot [<!ENTITY m \"2.50\">]>\r\n"
    "<robot name='odd &amp; \"old\"' >\r\n"
    "\t<!-- <mass value='9'/> \xc3\xa4 -->\r\n"
    "\t<link name='a'>\r\n"
    "\t\t<inertial><!-- here --><mass  value = '&m;' />\r\n"
    "\t\t\t<origin xyz='0.10\t+0 3e-1' rpy=\"0 0 0\"></origin>\r\n"
    "\t\t\t<inertia ixx='1.0' ixy='0'\r\n\t\t\t\tixz='0.00' iyy=\"2.0\" iyz='0' izz='2.50' />\r\n"
    "\t\t</inertial>\r\n"
    "\t</link>\r\n"
    "\t<link name='b'/>\r\n"
    "\t<joint name='j' type='revolute'>\r\n"
    "\t\t<parent link='a'/><child link='b'/>\r\n"
    "\t\t<limit effort='1e1' lower='-1.50' upper='&#49;' velocity='2'/>\r\n"
    "\t</joint>\r\n"
    "</robot>\r\n<!-- end -->";

// Nothing to change: every byte stays.
TEST(UrdfWriter, KeepsAnUnchangedFile) {
  EXPECT_EQ(spliceUrdf(kOdd, {}), kOdd);
  EXPECT_EQ(updatedUrdf(kOdd, readUrdfText(kOdd)), kOdd);
}

// Only the numbers that change change; the expected text is the original with those places edited
// by hand.
TEST(UrdfWriter, ChangesOnlyValues) {
  Model model = readUrdfText(kOdd);
  linkOf(model, "a").inertia = body(3.25, {0.1, 0.0, 0.4}, {1.0, 2.0, 2.625});
  jointOf(model, "j").limits.lower = -1.25;
  jointOf(model, "j").limits.upper = 0.1;
  std::string expected = replaced(kOdd, "'&m;'", "'3.25'");
  expected = replaced(expected, "+0 3e-1'", "+0 0.4'");
  expected = replaced(expected, "izz='2.50'", "izz='2.625'");
  expected = replaced(expected, "'-1.50'", "'-1.25'");
  expected = replaced(expected, "'&#49;'", "'0.1'");
  EXPECT_EQ(updatedUrdf(kOdd, model), expected);
}

// Missing elements and attributes appear in the style of their neighbours: tabs, CRLF, single
// quotes.
TEST(UrdfWriter, InsertsInTheNeighboursStyle) {
  UrdfChanges changes;
  changes.links = {{"b", body(1.5, {0, 0, 0.25}, {0.1, 0.2, 0.3})}};
  UrdfJointValues joint;
  joint.joint = "j";
  joint.damping = 0.5;
  joint.friction = 0.125;
  changes.joints = {joint};
  std::string expected =
      replaced(kOdd, "<link name='b'/>",
               "<link name='b'>\r\n"
               "\t\t<inertial>\r\n"
               "\t\t\t<origin xyz='0 0 0.25' rpy='0 0 0'/>\r\n"
               "\t\t\t<mass value='1.5'/>\r\n"
               "\t\t\t<inertia ixx='0.1' ixy='0' ixz='0' iyy='0.2' iyz='0' izz='0.3'/>\r\n"
               "\t\t</inertial>\r\n"
               "\t</link>");
  expected = replaced(expected, "velocity='2'/>\r\n",
                      "velocity='2'/>\r\n\t\t<dynamics damping='0.5' friction='0.125'/>\r\n");
  EXPECT_EQ(spliceUrdf(kOdd, changes), expected);
}

// The same in a file on one line, in an empty element with two tags, and before existing children.
TEST(UrdfWriter, InsertsEverywhere) {
  const UrdfChanges changes = {{{"a", body(2, {0, 0, 0}, {1, 1, 1})}}, {}};
  const std::string inertial =
      "<origin xyz=\"0 0 0\" rpy=\"0 0 0\"/><mass value=\"2\"/>"
      "<inertia ixx=\"1\" ixy=\"0\" ixz=\"0\" iyy=\"1\" iyz=\"0\" izz=\"1\"/></inertial>";
  EXPECT_EQ(spliceUrdf("<robot name=\"r\"><link name=\"a\"/></robot>", changes),
            "<robot name=\"r\"><link name=\"a\"><inertial>" + inertial + "</link></robot>");
  EXPECT_EQ(spliceUrdf("<robot name=\"r\"><link name=\"a\"></link></robot>", changes),
            "<robot name=\"r\"><link name=\"a\"><inertial>" + inertial + "</link></robot>");
  const std::string lines =
      "<robot name=\"r\">\n  <link name=\"a\">\n    <visual>\n      <geometry/>\n    </visual>\n  "
      "</link>\n</robot>";
  EXPECT_EQ(
      spliceUrdf(lines, changes),
      replaced(
          lines, "    <visual>",
          "    <inertial>\n      <origin xyz=\"0 0 0\" rpy=\"0 0 0\"/>\n      <mass value=\"2\"/>\n"
          "      <inertia ixx=\"1\" ixy=\"0\" ixz=\"0\" iyy=\"1\" iyz=\"0\" izz=\"1\"/>\n    "
          "</inertial>\n"
          "    <visual>"));
  const std::string empty = "<robot name=\"r\">\n  <link name=\"a\">\n  </link>\n</robot>";
  EXPECT_EQ(spliceUrdf(empty, changes),
            replaced(empty, "\n  </link>",
                     "\n    <inertial>\n      <origin xyz=\"0 0 0\" rpy=\"0 0 0\"/>\n      <mass "
                     "value=\"2\"/>\n"
                     "      <inertia ixx=\"1\" ixy=\"0\" ixz=\"0\" iyy=\"1\" iyz=\"0\" "
                     "izz=\"1\"/>\n    </inertial>\n"
                     "  </link>"));
}

// Missing attributes and a missing origin are added where they belong, and read back.
TEST(UrdfWriter, AddsAttributes) {
  const std::string text =
      "<robot name='r'><link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='1' "
      "izz='1'/></inertial></link>"
      "<link name='b'/><joint name='j' type='prismatic'><parent link='a'/><child link='b'/><limit "
      "effort='1' "
      "velocity='1'/></joint></robot>";
  Matrix3d I;
  I << 1, 0.25, 0, 0.25, 1, 0.5, 0, 0.5, 1;
  UrdfChanges changes;
  changes.links = {{"a", InertialParameters::fromCom(1.0, {0.5, 0, 0}, I)}};
  UrdfJointValues joint;
  joint.joint = "j";
  joint.upper = 2.0;
  joint.damping = 3.0;
  changes.joints = {joint};
  std::string expected = replaced(text, "<mass", "<origin xyz=\"0.5 0 0\" rpy=\"0 0 0\"/><mass");
  expected = replaced(expected, "izz='1'", "izz='1' ixy='0.25' iyz='0.5'");
  expected =
      replaced(expected, "velocity='1'/>", "velocity='1' upper='2'/><dynamics damping='3'/>");
  EXPECT_EQ(spliceUrdf(text, changes), expected);
  const Model read = readUrdfText(spliceUrdf(text, changes));
  EXPECT_EQ(read.links[0].inertia.vector(), changes.links[0].inertia.vector());
}

// The rotation of the inertial frame stays, and the inertia is expressed in it: reading gives the
// new body.
TEST(UrdfWriter, KeepsTheInertialsRotation) {
  const std::string text =
      "<robot name='r'><link name='a'><inertial><origin rpy='0.3 -0.7 1.9' xyz='0 0 0'/><mass "
      "value='1'/>"
      "<inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial></link></robot>";
  Matrix3d I;
  I << 0.3, 0.01, -0.02, 0.01, 0.4, 0.03, -0.02, 0.03, 0.5;
  const InertialParameters wanted = InertialParameters::fromCom(2.0, {0.1, -0.2, 0.3}, I);
  const std::string written = spliceUrdf(text, {{{"a", wanted}}, {}});
  EXPECT_NE(written.find("rpy='0.3 -0.7 1.9'"), std::string::npos);
  const Vector10d read = readUrdfText(written).links[0].inertia.vector();
  EXPECT_NEAR((read - wanted.vector()).norm(), 0.0, kReadBack * wanted.vector().norm());
}

// A link with lumped parts: the URDF's link gets its own share, the parts' elements stay, and
// lumping the new file gives the new total.
TEST(UrdfWriter, WritesTheOwnShareOfLumpedLinks) {
  const std::string inertia =
      "<inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial></link>";
  const std::string text =
      "<robot name='r'><link name='base'/><link name='a'><inertial><mass value='2'/>" + inertia +
      "<link name='tool'><inertial><origin xyz='0.1 0 0'/><mass value='0.75'/>" + inertia +
      "<joint name='j' type='revolute'><parent link='base'/><child link='a'/></joint>"
      "<joint name='mount' type='fixed'><origin xyz='0 0.3 0' rpy='0 1 0'/><parent link='a'/>"
      "<child link='tool'/></joint></robot>";
  Model model = lumpFixedJoints(readUrdfText(text));
  EXPECT_EQ(updatedUrdf(text, model), text) << "lumping alone changes nothing";
  ASSERT_EQ(linkOf(model, "a").parts.size(), 1u);
  linkOf(model, "a").inertia = body(3.25, {0.02, 0.05, -0.01}, {2.3, 2.4, 2.5});
  const std::string written = updatedUrdf(text, model);
  const size_t tool = text.find("<link name='tool'>");
  EXPECT_NE(written.find(text.substr(tool)), std::string::npos) << "the part and all after it stay";
  EXPECT_NE(written.find("<mass value='2.5'/>"), std::string::npos)
      << "3.25 kg minus the part's 0.75 kg";
  Model read = lumpFixedJoints(readUrdfText(written));
  const Vector10d wanted = linkOf(model, "a").inertia.vector();
  EXPECT_NEAR((linkOf(read, "a").inertia.vector() - wanted).norm(), 0.0, kReadBack * wanted.norm());
}

// What URDF cannot say, and names that it does not have, are refused with a sentence.
TEST(UrdfWriter, RefusesWhatCannotBeWritten) {
  const auto message = [](const UrdfChanges& changes) {
    try {
      spliceUrdf(kOdd, changes, "r.urdf");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const auto expect = [&](const UrdfChanges& changes, const std::string& part) {
    EXPECT_NE(message(changes).find(part), std::string::npos) << message(changes);
  };
  InertialParameters ghost;
  ghost.first_moment.x() = 1.0;
  expect({{{"a", ghost}}, {}}, "without mass has a first moment");
  expect({{{"aa", body(1, {0, 0, 0}, {1, 1, 1})}}, {}},
         "r.urdf: there is no link 'aa' to write to; did you mean 'a'");
  expect({{{"a", body(NAN, {0, 0, 0}, {1, 1, 1})}}, {}}, "not finite");
  const UrdfInertia twice{"a", body(1, {0, 0, 0}, {1, 1, 1})};
  expect({{twice, twice}, {}}, "changed twice");
  UrdfJointValues joint;
  joint.joint = "k";
  expect({{}, {joint}}, "there is no joint 'k'");
  joint.joint = "j";
  joint.damping = INFINITY;
  expect({{}, {joint}}, "infinite");
  UrdfJointValues limits;
  limits.joint = "j";
  limits.lower = 0.0;
  EXPECT_THROW(
      spliceUrdf("<robot name='r'><link name='a'/><link name='b'/><joint name='j' type='revolute'>"
                 "<parent link='a'/><child link='b'/></joint></robot>",
                 {{}, {limits}}),
      Error);
  EXPECT_THROW(writeUrdf(Model{}, "out.urdf"), Error);
}

// The text with the numbers that a writer may touch taken out, found by regular expressions instead
// of the parser.
std::string masked(const std::string& text) {
  std::string result = std::regex_replace(text, std::regex("(<mass value=\")[^\"]*"), "$1");
  result = std::regex_replace(result, std::regex("(i[xyz][xyz]=\")[^\"]*"), "$1");
  return std::regex_replace(result, std::regex("(xyz=\")[^\"]*"), "$1");
}

class UrdfWriterOnFiles : public ::testing::TestWithParam<const char*> {};

// New inertias of every moving link of a vendor's robot, lumped: after write-back the moving links
// read as wanted, unmoved text is equal, and links that are parts of others are untouched.
TEST_P(UrdfWriterOnFiles, RoundTrips) {
  PROPRIO_REQUIRE_DATA(GetParam());
  const std::string text = readFile(dataFolder() / GetParam());
  const Model as_written = readUrdfText(text);
  Model model = lumpFixedJoints(as_written);
  EXPECT_TRUE(updatedUrdf(text, model) == text);
  std::mt19937 random(7);
  std::uniform_real_distribution<double> factor(0.8, 1.2);
  for (Link& link : model.links) {
    if (!as_written.links[static_cast<size_t>(requireLink(as_written, link.name))].has_inertial)
      continue;
    const double f = factor(random);
    link.inertia =
        body(f * link.inertia.mass, f * link.inertia.com(), f * Vector3d(0.1, 0.2, 0.25));
  }
  const std::string written = updatedUrdf(text, model);
  EXPECT_FALSE(written == text);
  EXPECT_TRUE(masked(written) == masked(text));
  Model read = lumpFixedJoints(readUrdfText(written));
  for (const Link& link : model.links) {
    const Vector10d wanted = link.inertia.vector();
    EXPECT_NEAR((linkOf(read, link.name).inertia.vector() - wanted).norm(), 0.0,
                kReadBack * (wanted.norm() + 1e-9))
        << link.name;
  }
}
INSTANTIATE_TEST_SUITE_P(Files, UrdfWriterOnFiles,
                         ::testing::Values("tx40/tx40.urdf", "kuka_lwr4/kuka_lwr4.urdf",
                                           "tiago/tiago.urdf"));

// A robot.yaml's URDF is written to another file; the original stays and the friction of the YAML
// file arrives.
TEST(UrdfWriter, WritesTheUrdfOfARobotYaml) {
  const fs::path source = fs::path(PROPRIO_SOURCE_DIR) / "examples" / "robots";
  const testing::TempFolder own;
  const fs::path& folder = own.path();
  const std::string before = readFile(source / "tx40.urdf");
  const Model model = readRobot(source / "tx40_urdf.yaml");
  writeUrdf(model, folder / "out.urdf");
  EXPECT_EQ(readFile(source / "tx40.urdf"), before);
  Model read = readUrdf(folder / "out.urdf");
  EXPECT_EQ(jointOf(read, "joint_3").friction.terms.at(0).coefficient, 1.9804);
  EXPECT_EQ(read.links[1].inertia.vector(),
            readUrdf(source / "tx40.urdf").links[1].inertia.vector());
}

}  // namespace
}  // namespace proprio
