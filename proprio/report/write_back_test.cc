#include "proprio/report/write_back.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "proprio/core/atomic_file.h"
#include "proprio/core/testing/temp_folder.h"
#include "proprio/model/lint.h"
#include "proprio/model/robot_reader.h"
#include "proprio/report/testing/identified.h"

namespace proprio {
namespace {

class WriteBack : public ::testing::Test {
 protected:
  testing::TempFolder folder_;
  std::string file(const std::string& name) const { return folder_.file(name); }
  void write(const WrittenModel& written) const {
    writeFileAtomically(file("robot.urdf"), written.urdf);
    writeFileAtomically(file("robot.yaml"), written.yaml);
  }
  static std::string robot(const std::string& name) {
    return std::string(PROPRIO_SOURCE_DIR) + "/examples/robots/" + name;
  }
};

Eigen::MatrixXd torquesOf(const std::shared_ptr<const Model>& model, const MotionData& data) {
  const Tree tree(model);
  return predictTorques(tree, ParameterLayout(model), testing::declaredValues(tree), data);
}

// Claim: a mesh beside the URDF is found from the folder that the new file is written to; other
// file names (of packages, absolute, of files that are not there) and all other bytes stay.
TEST_F(WriteBack, KeepsMeshesInReach) {
  std::filesystem::create_directories(file("robot/meshes"));
  writeFileAtomically(file("robot/meshes/box.obj"), "v 0 0 0\n");
  const std::string rest = R"("/><mesh filename="package://p/box.obj"/><mesh filename='none.obj'/>)"
                           R"(<mesh filename="/box.obj" scale="1 1 1"/></a>)";
  EXPECT_EQ(withMeshesOf(R"(<a><mesh scale="1 1 1" filename="meshes/box.obj)" + rest, file("robot"),
                         file("out/deep")),
            R"(<a><mesh scale="1 1 1" filename="../../robot/meshes/box.obj)" + rest);
  EXPECT_EQ(withMeshesOf(R"(<mesh filename="meshes/box.obj)" + rest, file("robot"), file("robot")),
            R"(<mesh filename="meshes/box.obj)" + rest);
}

// Robots from DH tables, URDF, robot.yaml with URDF, with couplings, lumped fixed joints and
// motor-side inertias: the written files read back as a robot with the torques of the estimate.
TEST_F(WriteBack, TorquesOfTheEstimate) {
  for (const char* name : {"tx40.yaml", "tx40_coupled.yaml", "iiwa14.yaml", "rv2sq.yaml",
                           "tx40_urdf.yaml", "planar_2r.urdf", "mobile_manipulator.yaml"}) {
    SCOPED_TRACE(name);
    const auto as_read = std::make_shared<const Model>(readRobot(robot(name)));
    const auto tree = testing::wronglyDeclared(Tree(as_read));
    const Parameters estimate = declaredParameters(tree->sharedModel());
    const WrittenModel written = writtenModel(*as_read, estimate, true);
    write(written);
    const auto read = std::make_shared<const Model>(readRobot(file("robot.yaml")));
    const MotionData data = testing::noisyData(*tree, 50, 0.0, 3);
    const Eigen::MatrixXd meant = torquesOf(tree->sharedModel(), data);
    EXPECT_LT((torquesOf(read, data) - meant).cwiseAbs().maxCoeff(),
              1e-9 * meant.cwiseAbs().maxCoeff());
    EXPECT_EQ(readRobot(file("robot.urdf")).position_count, as_read->position_count);
  }
}

// Comments of a user's robot.yaml survive; it names the URDF beside it.
TEST_F(WriteBack, KeepsTheUsersText) {
  const Model as_read = readRobot(robot("tx40_urdf.yaml"));
  const auto tree = testing::wronglyDeclared(Tree(std::make_shared<const Model>(as_read)));
  const WrittenModel written = writtenModel(as_read, declaredParameters(tree->sharedModel()), true);
  EXPECT_EQ(written.yaml.rfind("# Staubli TX40 as URDF plus what URDF cannot say", 0), 0u);
  EXPECT_NE(written.yaml.find("urdf: robot.urdf\n"), std::string::npos);
  EXPECT_NE(written.yaml.find("limits: {acceleration: 50}"), std::string::npos);
}

// A body that cannot exist is refused with one sentence that names the link and what is missing,
// and nothing is written; forced, it is written and told.
TEST_F(WriteBack, RefusesTheImpossible) {
  for (const char* name : {"tx40.yaml", "tx40_urdf.yaml"}) {
    const Model as_read = readRobot(robot(name));
    Parameters estimate = declaredParameters(std::make_shared<const Model>(as_read));
    estimate.values[static_cast<size_t>(estimate.layout->index("link_3.Izz"))] = -0.4;
    const WrittenModel refused = writtenModel(as_read, estimate, false);
    ASSERT_EQ(refused.refusals.size(), 1u);
    EXPECT_NE(refused.refusals[0].find("link_3"), std::string::npos) << refused.refusals[0];
    EXPECT_NE(refused.refusals[0].find("margin -"), std::string::npos) << refused.refusals[0];
    EXPECT_TRUE(refused.urdf.empty() && refused.yaml.empty());
    const WrittenModel forced = writtenModel(as_read, estimate, true);
    EXPECT_FALSE(forced.urdf.empty() || forced.yaml.empty());
    EXPECT_EQ(forced.refusals, refused.refusals);
  }
}

// What was impossible before and is not touched does not stand in the way.
TEST_F(WriteBack, OldErrorsElsewhereAreNotOurs) {
  std::string urdf = readFile(robot("planar_2r.urdf"));
  const size_t base = urdf.find("<link name=\"base_link\"");
  ASSERT_NE(base, std::string::npos);
  const size_t end = urdf.find('>', base);
  const std::string body =
      "<inertial><mass value=\"-1\"/><inertia ixx=\"1\" ixy=\"0\" ixz=\"0\" iyy=\"1\" iyz=\"0\" "
      "izz=\"1\"/></inertial>";
  if (urdf[end - 1] == '/')
    urdf.replace(end - 1, 2, ">" + body + "</link>");
  else
    urdf.insert(end + 1, body);
  writeFileAtomically(file("arm.urdf"), urdf);
  const Model as_read = readRobot(file("arm.urdf"));
  Parameters estimate = declaredParameters(std::make_shared<const Model>(as_read));
  for (int k = 0; k < 10; ++k) {
    const int link = as_read.linkIndex("forearm");
    estimate.values[static_cast<size_t>(estimate.layout->linkOffset(link) + k)] *= 1.1;
  }
  EXPECT_TRUE(writtenModel(as_read, estimate).refusals.empty());
}

/// A body with these numbers, as URDF says it.
std::string inertialText(double mass, double x, double inertia) {
  return fmt::format(
      "<inertial><origin xyz='{} 0 0'/><mass value='{}'/><inertia ixx='{}' ixy='0' ixz='0' "
      "iyy='{}' iyz='0' izz='{}'/></inertial>",
      x, mass, inertia, inertia, inertia);
}

/// Two joints; a stand on a base without mass, a tool that weighs more than the link it is fixed
/// to, and a flange without mass between them.
std::string armWithFixedParts() {
  const auto joint = [](const std::string& type, const std::string& from, const std::string& to) {
    return fmt::format(
        "<joint name='to_{}' type='{}'><parent link='{}'/><child link='{}'/><origin xyz='0.1 0 0'/>"
        "<axis xyz='0 1 0'/><limit lower='-2' upper='2' velocity='3' effort='9'/><dynamics "
        "damping='1.50' friction='0.50'/></joint>\n",
        to, type, from, to);
  };
  return "<robot name='arm'>\n<link name='base'/>\n<link name='stand'>" +
         inertialText(20.0, 0.0, 0.5) + "</link>\n<link name='upper'>" +
         inertialText(2.0, 0.1, 0.02) + "</link>\n<link name='fore'>" +
         inertialText(0.3, 0.02, 0.0004) + "</link>\n<link name='flange'/>\n<link name='tool'>" +
         inertialText(0.9, 0.05, 0.002) + "</link>\n" + joint("fixed", "base", "stand") +
         joint("revolute", "base", "upper") + joint("revolute", "upper", "fore") +
         joint("fixed", "fore", "flange") + joint("fixed", "flange", "tool") + "</robot>\n";
}

/// The text of a link.
std::string elementOf(const std::string& urdf, const std::string& link) {
  const size_t begin = urdf.find("<link name='" + link + "'");
  return urdf.substr(begin, urdf.find('\n', begin) - begin);
}

// The base and links about which the recordings say nothing stay byte for byte, whatever is fixed
// to them and whatever a solver's rounding made of their values.
TEST_F(WriteBack, LeavesTheUnidentifiedAlone) {
  const std::string urdf = armWithFixedParts();
  writeFileAtomically(file("arm.urdf"), urdf);
  const Model as_read = readRobot(file("arm.urdf"));
  Parameters estimate = declaredParameters(std::make_shared<const Model>(as_read));
  std::vector<ParameterOrigin> origins(estimate.values.size(), ParameterOrigin::kPrior);
  for (double& value : estimate.values) value *= 1.0 + 1e-7;
  const int upper = estimate.layout->linkOffset(as_read.linkIndex("upper"));
  for (int k = 0; k < 10; ++k) {
    estimate.values[static_cast<size_t>(upper + k)] *= 1.1;
    origins[static_cast<size_t>(upper + k)] = ParameterOrigin::kData;
  }
  const WrittenModel written = writtenModel(as_read, estimate, false, origins);
  EXPECT_TRUE(written.refusals.empty() && written.notes.empty());
  for (const char* link : {"base", "stand", "fore", "flange", "tool"})
    EXPECT_EQ(elementOf(written.urdf, link), elementOf(urdf, link));
  EXPECT_NE(elementOf(written.urdf, "upper"), elementOf(urdf, "upper"));
  origins.pop_back();
  EXPECT_THROW(writtenModel(as_read, estimate, false, origins), Error);
}

// Where an estimate of link and tool leaves the link nothing possible beside the declared tool,
// both get their share of it: possible, with the masses' ratio of the description, told; the sum is
// the estimate, and what has no mass gets none.
TEST_F(WriteBack, DividesLinkAndTool) {
  writeFileAtomically(file("arm.urdf"), armWithFixedParts());
  const Model as_read = readRobot(file("arm.urdf"));
  Parameters estimate = declaredParameters(std::make_shared<const Model>(as_read));
  const int fore = as_read.linkIndex("fore");
  const InertialParameters whole = InertialParameters::fromVector(
      0.7 *
      transformed(Pose::fromXyzRpy({0.01, 0.02, 0.0}, {0.1, 0.0, 0.2}), linkInertia(estimate, fore))
          .vector());
  setLinkInertia(estimate, fore, whole);
  const WrittenModel written = writtenModel(as_read, estimate);
  EXPECT_TRUE(written.refusals.empty()) << written.refusals.front();
  ASSERT_EQ(written.notes.size(), 1u);
  EXPECT_NE(written.notes[0].find("'tool', fixed to 'fore', was identified together"),
            std::string::npos)
      << written.notes[0];
  EXPECT_EQ(elementOf(written.urdf, "flange"), "<link name='flange'/>");
  EXPECT_EQ(elementOf(written.urdf, "base"), "<link name='base'/>");
  write(written);
  ReadOptions apart;
  apart.lump_fixed = false;
  const Model read = readRobot(file("robot.urdf"), apart);
  const auto body = [&](const char* name) {
    return read.links[static_cast<size_t>(read.linkIndex(name))].inertia;
  };
  EXPECT_NEAR(body("fore").mass, 0.7 * 0.3, 1e-12);
  EXPECT_NEAR(body("tool").mass, 0.7 * 0.9, 1e-12);
  for (const Finding& finding : lint(read)) EXPECT_NE(finding.severity, Severity::kError);
  const Model lumped = readRobot(file("robot.urdf"));
  EXPECT_LT((lumped.links[static_cast<size_t>(lumped.linkIndex("fore"))].inertia.vector() -
             whole.vector())
                .norm(),
            1e-12);
}

// Where the sum of link and payload is possible, but not what the declared payload leaves of it,
// the reason is the payload and not the method.
TEST_F(WriteBack, NamesThePayloadThatLeavesNothing) {
  writeFileAtomically(file("arm.yaml"),
                      readFile(robot("tx40.yaml")) +
                          "payloads: [{name: box, link: link_6, mass: 2, inertia_at_com: [0.01, 0, "
                          "0, 0.01, 0, 0.01]}]\n");
  const Model as_read = readRobot(file("arm.yaml"));
  Parameters estimate = declaredParameters(std::make_shared<const Model>(as_read));
  const int flange = as_read.linkIndex("link_6");
  setLinkInertia(estimate, flange,
                 InertialParameters::fromVector(0.5 * linkInertia(estimate, flange).vector()));
  const WrittenModel written = writtenModel(as_read, estimate);
  ASSERT_FALSE(written.refusals.empty());
  for (const std::string& refusal : written.refusals) {
    EXPECT_NE(refusal.find("'box'"), std::string::npos) << refusal;
    EXPECT_EQ(refusal.find("method"), std::string::npos) << refusal;
  }
  EXPECT_TRUE(written.urdf.empty() && written.yaml.empty());
}

// Friction that nobody identified stays in the URDF, also where a robot.yaml contradicts it.
TEST_F(WriteBack, LeavesUnidentifiedFriction) {
  writeFileAtomically(file("arm.urdf"), armWithFixedParts());
  writeFileAtomically(file("arm.yaml"),
                      "version: 1\nurdf: arm.urdf\njoints:\n"
                      "  to_upper: {friction: {viscous: 0, coulomb: 0}}\n"
                      "  to_fore: {friction: {viscous: 0, coulomb: 0}}\n");
  const Model as_read = readRobot(file("arm.yaml"));
  Parameters estimate = declaredParameters(std::make_shared<const Model>(as_read));
  estimate.values[static_cast<size_t>(estimate.layout->index("to_fore.viscous"))] = 0.25;
  const WrittenModel written = writtenModel(as_read, estimate);
  const auto joint = [&](const std::string& name) {
    const size_t begin = written.urdf.find("name='to_" + name);
    return written.urdf.substr(begin, written.urdf.find('\n', begin) - begin);
  };
  EXPECT_NE(joint("upper").find("damping='1.50' friction='0.50'"), std::string::npos);
  EXPECT_NE(joint("fore").find("damping='0.25' friction='0'"), std::string::npos) << joint("fore");
  EXPECT_NE(written.yaml.find("to_upper: {friction: {viscous: 0, coulomb: 0}}"), std::string::npos);
}

// A model that was never a file is refused.
TEST_F(WriteBack, NeedsFiles) {
  Model model = readRobot(robot("tx40.yaml"));
  model.source.clear();
  EXPECT_THROW(writtenModel(model, declaredParameters(std::make_shared<const Model>(model))),
               Error);
}

}  // namespace
}  // namespace proprio
