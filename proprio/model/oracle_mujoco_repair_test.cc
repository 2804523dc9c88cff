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
#include "proprio/model/lint.h"
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
      const std::string after = repairedUrdf(repair);
      EXPECT_EQ(complaintOfMujoco(after), "") << "seed " << seed;
      EXPECT_EQ(countOf(lint(readUrdfText(after, "after.urdf")), Severity::kError), 0);
    }
  }
  EXPECT_GT(refused, 20);
}

/// A heavy arm, whatever is given for its middle link, and a forearm.
std::string armWith(const std::string& middle, const std::string& limit = "") {
  constexpr const char* kLink =
      "<link name='{}'><inertial><origin xyz='0 0 0.2'/><mass value='4'/>"
      "<inertia ixx='0.0567' ixy='0' ixz='0' iyy='0.0567' iyz='0' izz='0.00667'/></inertial>"
      "</link>";
  std::string text = "<robot name='arm'><link name='base'/>" + middle;
  for (const char* name : {"upper", "fore"}) text += fmt::format(kLink, name);
  const char* const names[] = {"base", "upper", "middle", "fore"};
  for (int i = 0; i < 3; ++i) {
    text += fmt::format(
        "<joint name='j{}' type='revolute'><parent link='{}'/><child link='{}'/>"
        "<origin xyz='0 0 0.3'/><limit lower='-1' upper='1' {}/></joint>",
        i, names[i], names[i + 1], i == 1 && !limit.empty() ? limit : "effort='9' velocity='3'");
  }
  return text + "</robot>";
}

struct Refused {
  const char* what;
  std::string text;
  bool by_mujoco;  // or by the linter alone
};

std::vector<Refused> refusedArms() {
  const auto body = [](const char* inertia) {
    return fmt::format(
        "<link name='middle'><inertial><mass value='2'/>"
        "<inertia {} ixy='0' ixz='0' iyz='0'/></inertial></link>",
        inertia);
  };
  // a sound body that holds another one
  const auto held = [&](const char* inertia) {
    return body("ixx='0.1' iyy='0.2' izz='0.2'") +
           fmt::format(
               "<link name='part'><inertial><origin xyz='0 0 0.1'/><mass value='1'/>"
               "<inertia {}/></inertial></link><joint name='fixed' type='fixed'>"
               "<parent link='middle'/><child link='part'/></joint>",
               inertia);
  };
  const auto speck = [](double mass) {
    return fmt::format(
        "<link name='middle'><inertial><mass value='{}'/><inertia ixx='0' ixy='0' ixz='0' "
        "iyy='0' iyz='0' izz='0'/></inertial></link>",
        mass);
  };
  return {
      {"flat", armWith(body("ixx='0.1' iyy='0.2' izz='0.3000000001'")), true},
      {"flat by rounding", armWith(body("ixx='0.1' iyy='0.2' izz='0.30000000000000004'")), false},
      {"frame", armWith("<link name='middle'/>"), true},
      {"point alone", armWith(body("ixx='0' iyy='0' izz='0'")), true},
      {"frame of two links",
       armWith("<link name='middle'/><link name='eye'/><joint name='fixed' type='fixed'>"
               "<parent link='middle'/><child link='eye'/></joint>"),
       true},
      {"point",
       armWith("<link name='middle'/><link name='point'><inertial><mass value='1'/>"
               "<inertia ixx='0' ixy='0' ixz='0' iyy='0' iyz='0' izz='0'/></inertial>"
               "</link><joint name='fixed' type='fixed'><parent link='middle'/>"
               "<child link='point'/></joint>"),
       true},
      {"point that is held", armWith(held("ixx='0' ixy='0' ixz='0' iyy='0' iyz='0' izz='0'")),
       false},
      {"line that is held", armWith(held("ixx='0.01' ixy='0' ixz='0' iyy='0.01' iyz='0' izz='0'")),
       false},
      {"spike that is held", armWith(held("ixx='0' ixy='0' ixz='0' iyy='0' iyz='0' izz='0.01'")),
       true},
      {"one number everywhere",
       armWith(held("ixx='1e-3' ixy='1e-3' ixz='1e-3' iyy='1e-3' iyz='1e-3' izz='1e-3'")), true},
      {"1e-9 kg", armWith(speck(1e-9)), true},
      {"1e-6 kg", armWith(speck(1e-6)), true},
      {"products left out", armWith(held("ixx='0.01' iyy='0.01' izz='0.01'")), true},
      {"limits", armWith(body("ixx='0.1' iyy='0.2' izz='0.2'"), "effort='-9' velocity='-3'"),
       false}};
}

// What MuJoCo or the linter refuses although no inertia is plainly wrong: bodies as flat as
// rounding, moving links without mass, negative magnitudes of limits. After the repair both accept
// it; a link that is only a frame stays light beside its neighbours of 4 kg.
TEST(RepairOracle, FlatMasslessAndNegativeLimits) {
  const proprio::testing::TempFolder folder;
  const std::string path = folder.file("robot.urdf");
  for (const Refused& arm : refusedArms()) {
    SCOPED_TRACE(arm.what);
    writeFileAtomically(path, arm.text);
    ReadOptions options;
    options.lump_fixed = false;
    const Model model = readRobot(path, options);
    if (arm.by_mujoco) {
      EXPECT_NE(complaintOfMujoco(arm.text), "");
    }
    for (double margin : {0.05, 1e-4}) {
      const std::string text = repairedUrdf(repaired(model, {margin}));
      EXPECT_EQ(complaintOfMujoco(text), "") << text;
      const Model after = readUrdfText(text, "repaired.urdf");
      const std::vector<Finding> findings = lint(after);
      EXPECT_EQ(countOf(findings, Severity::kError), 0) << findingsText(findings, false);
      if (!std::string(arm.what).ends_with("kg")) {  // that is little, also after the repair
        EXPECT_EQ(countOf(findings, Severity::kWarning), 0) << findingsText(findings, false);
      }
      const double mass = after.links[static_cast<size_t>(after.linkIndex("middle"))].inertia.mass;
      if (std::string(arm.what).starts_with("frame")) {
        EXPECT_NEAR(mass, 0.04, 1e-12);
      }
      EXPECT_EQ(after.joints[static_cast<size_t>(after.jointIndex("j1"))].limits.effort, 9.0);
    }
  }
}

// A link that is only a frame next to one of almost no mass gets a mass that a simulator takes for
// one.
TEST(RepairOracle, FrameBesideASpeck) {
  const proprio::testing::TempFolder folder;
  const std::string path = folder.file("robot.urdf");
  const std::string text =
      "<robot name='r'><link name='base'><inertial><mass value='1e-9'/><inertia ixx='1e-9' ixy='0' "
      "ixz='0' iyy='1e-9' iyz='0' izz='1e-9'/></inertial></link><link name='tip'/><joint name='j' "
      "type='continuous'><parent link='base'/><child link='tip'/></joint></robot>";
  writeFileAtomically(path, text);
  EXPECT_NE(complaintOfMujoco(text), "");
  EXPECT_EQ(complaintOfMujoco(repairedUrdf(repaired(readRobot(path), {0.05}))), "");
}

}  // namespace
}  // namespace proprio
