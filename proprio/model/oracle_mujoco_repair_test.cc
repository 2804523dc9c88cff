/// MuJoCo as the judge of repaired URDFs: it refuses impossible bodies.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <mujoco/mujoco.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <random>

#include "proprio/core/atomic_file.h"
#include "proprio/core/testing/temp_folder.h"
#include "proprio/model/repair.h"
#include "proprio/model/robot_reader.h"

namespace proprio {
namespace {

/// MuJoCo's message, empty if it loads the text.
std::string complaintOfMujoco(const std::string& text) {
  mjVFS files;
  mj_defaultVFS(&files);
  mj_makeEmptyFileVFS(&files, "robot.urdf", static_cast<int>(text.size()));
  std::copy(text.begin(), text.end(),
            static_cast<char*>(files.filedata[mj_findFileVFS(&files, "robot.urdf")]));
  char message[1000] = "";
  mjModel* model = mj_loadXML("robot.urdf", &files, message, sizeof(message));
  mj_deleteVFS(&files);
  if (model == nullptr) return message;
  mj_deleteModel(model);
  return "";
}

/// A chain whose inertias are random symmetric matrices: most are impossible.
std::string randomChain(int seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::normal_distribution<double> normal;
  std::string text = "<robot name='chain'><link name='l0'/>";
  for (int i = 1; i <= 5; ++i) {
    text += fmt::format(
        "<link name='l{}'><inertial><origin xyz='{} {} {}' rpy='{} 0 0.5'/><mass value='{}'/>"
        "<inertia ixx='{}' ixy='{}' ixz='{}' iyy='{}' iyz='{}' izz='{}'/></inertial>",
        i, 0.1 * normal(random), 0.1 * normal(random), 0.1 * normal(random), normal(random),
        2.0 + normal(random), 0.02 * normal(random), 0.01 * normal(random), 0.01 * normal(random),
        0.02 * normal(random), 0.01 * normal(random), 0.02 * normal(random));
    if (i % 2 == 0) text += "<collision><geometry><box size='0.1 0.2 0.3'/></geometry></collision>";
    text += fmt::format(
        "</link><joint name='j{}' type='continuous'><parent link='l{}'/><child link='l{}'/>"
        "<origin xyz='0 0 0.3'/></joint>",
        i, i - 1, i);
  }
  return text + "</robot>";
}

// MuJoCo refuses random inertias and accepts every one of them after the repair.
TEST(RepairOracle, RepairedRobotsLoadInMujoco) {
  const proprio::testing::TempFolder folder;
  const std::filesystem::path path = folder.file("robot.urdf");
  int refused = 0;
  for (int seed = 0; seed < 30; ++seed) {
    const std::string text = randomChain(seed);
    refused += complaintOfMujoco(text).empty() ? 0 : 1;
    writeFileAtomically(path.string(), text);
    ReadOptions options;
    options.lump_fixed = false;
    for (double margin : {0.05, 1e-4}) {
      const Repair repair = repaired(readRobot(path.string(), options), {margin});
      EXPECT_EQ(complaintOfMujoco(repairedUrdf(repair)), "") << "seed " << seed;
    }
  }
  EXPECT_GT(refused, 20);
}

}  // namespace
}  // namespace proprio
