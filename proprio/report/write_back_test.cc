#include "proprio/report/write_back.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "proprio/core/atomic_file.h"
#include "proprio/core/testing/temp_folder.h"
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

// A model that was never a file is refused.
TEST_F(WriteBack, NeedsFiles) {
  Model model = readRobot(robot("tx40.yaml"));
  model.source.clear();
  EXPECT_THROW(writtenModel(model, declaredParameters(std::make_shared<const Model>(model))),
               Error);
}

}  // namespace
}  // namespace proprio
