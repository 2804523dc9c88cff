/// `proprio base` as a user runs it.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "apps/testing/command_test_base.h"
#include "proprio/core/atomic_file.h"

namespace proprio {
namespace {

class BaseCommand : public CommandTestBase {
 protected:
  CommandResult base(const std::string& arguments) const { return run("base " + arguments); }
  nlohmann::json jsonOf(const std::string& arguments) const {
    const CommandResult result = base(arguments + " --json '" + file("base.json") + "'");
    EXPECT_EQ(result.code, 0) << result.out << result.error;
    return json("base.json");
  }
};

std::string bundled(const std::string& name) { return fmt::format("'{}.yaml'", robot(name)); }

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The bundled robots have their published counts by every route that applies; where the rules do
// not, the file says null.
TEST_F(BaseCommand, CountsOfTheBundledRobots) {
  const std::pair<const char*, int> arms[] = {
      {"tx40", 52}, {"tx40_coupled", 61}, {"rv2sq", 52}, {"iiwa14", 64}, {"planar_2r", 6}};
  for (const auto& [name, count] : arms) {
    SCOPED_TRACE(name);
    const nlohmann::json json = jsonOf(bundled(name));
    for (const char* key : {"count", "rank_qr", "rank_exact", "rank_rules"}) {
      EXPECT_EQ(json.at(key), count) << key;
    }
    EXPECT_EQ(json.at("groupings").size(), static_cast<size_t>(count));
    EXPECT_EQ(json.at("statuses").size(), json.at("standard_count").get<size_t>());
  }
  const nlohmann::json humanoid = jsonOf(bundled("humanoid"));
  EXPECT_EQ(humanoid.at("rank_qr"), humanoid.at("rank_exact"));
  EXPECT_TRUE(humanoid.at("rank_rules").is_null());
}

// The terminal shows groupings with short names, and full ones on request.
TEST_F(BaseCommand, PrintsReadableGroupings) {
  const CommandResult shorts = base(bundled("tx40"));
  EXPECT_EQ(shorts.code, 0);
  EXPECT_TRUE(has(shorts.out, "ZZ1 + Ia1 + YY2 + YY3 + 0.07 MZ3 + 0.05185 (m3 + m4 + m5 + m6)"))
      << shorts.out;
  EXPECT_TRUE(
      has(base(bundled("tx40") + " --full-names").out, "link_1.Izz + joint_1.rotor_inertia"));
}

// Choosing what is measured changes the answer: joint torques of a floating robot miss ten
// parameters, force-torque sensors add ten each.
TEST_F(BaseCommand, MeasurementsCanBeChosen) {
  const int all = jsonOf(bundled("humanoid")).at("count");
  EXPECT_EQ(jsonOf(bundled("humanoid") + " --measured torques").at("count"), all - 10);
  const int sensed = jsonOf(bundled("humanoid") + " --measured torques,base,sensors").at("count");
  EXPECT_GT(sensed, all);
  EXPECT_EQ((sensed - all) % 10, 0);
}

// Fingers that move together count once, in the exact analysis too: what the drive feels of two
// level slides is one mass.
TEST_F(BaseCommand, MimicJointsAreCounted) {
  std::string urdf = "<robot name='gripper'><link name='palm'/>";
  for (const char* side : {"left", "right"}) {
    urdf += fmt::format(
        "<link name='{0}'><inertial><mass value='0.1'/><inertia ixx='1e-4' ixy='0' ixz='0' "
        "iyy='1e-4' iyz='0' izz='1e-4'/></inertial></link><joint name='{0}_joint' "
        "type='prismatic'><parent link='palm'/><child link='{0}'/><axis xyz='1 0 0'/>"
        "<limit lower='0' upper='0.04' effort='10' velocity='1'/>{1}</joint>",
        side, side[0] == 'r' ? "<mimic joint='left_joint' multiplier='-1'/>" : "");
  }
  writeFileAtomically(file("gripper.urdf"), urdf + "</robot>");
  const nlohmann::json json = jsonOf("'" + file("gripper.urdf") + "'");
  for (const char* key : {"count", "rank_qr", "rank_exact"}) EXPECT_EQ(json.at(key), 1) << key;
  EXPECT_EQ(json.at("groupings").at(0).at("text"), "left.m + right.m");
}

// A robot that no memory would hold is refused with a sentence, before anything is allocated.
TEST_F(BaseCommand, TooLargeRobotsAreRefused) {
  std::string urdf = "<robot name='snake'><link name='l0'/>";
  for (int i = 1; i <= 401; ++i) {
    urdf += fmt::format(
        "<link name='l{0}'/><joint name='j{0}' type='continuous'><parent link='l{1}'/>"
        "<child link='l{0}'/><origin xyz='0 0 1'/></joint>",
        i, i - 1);
  }
  writeFileAtomically(file("snake.urdf"), urdf + "</robot>");
  const CommandResult snake = base("'" + file("snake.urdf") + "'");
  EXPECT_EQ(snake.code, 2);
  EXPECT_TRUE(has(snake.error, "4020 standard parameters, expected at most 4000")) << snake.error;
}

// Angles that are right up to rounding are taken as right, and the joints are named.
TEST_F(BaseCommand, SnappedJointsAreNamed) {
  const std::string body =
      "<inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/>"
      "</inertial>";
  writeFileAtomically(
      file("typed.urdf"),
      "<robot name='typed'><link name='a'/><link name='b'>" + body + "</link><link name='c'>" +
          body +
          "</link><joint name='exact' type='continuous'><parent link='a'/><child link='b'/></joint>"
          "<joint name='typed' type='continuous'><parent link='b'/><child link='c'/>"
          "<origin rpy='1.5708 0 0'/></joint></robot>");
  EXPECT_EQ(jsonOf("'" + file("typed.urdf") + "'").at("snapped_joints"),
            nlohmann::json::array({"typed"}));
  EXPECT_TRUE(has(base("'" + file("typed.urdf") + "'").out, "are taken as meant:\n  typed\n"));
}

// An axis that is nearly vertical has groupings with coefficients of 1e5 and more; the routes agree
// to the digits that these have.
TEST_F(BaseCommand, LargeCoefficientsAreComparedByTheirDigits) {
  const auto joint = [](int k, const std::string& origin, const std::string& axis) {
    return fmt::format(
        "<link name='l{0}'><inertial><origin xyz='3 1.5 0'/><mass value='20'/><inertia ixx='90' "
        "ixy='0' ixz='0' iyy='90' iyz='0' izz='90'/></inertial></link><joint name='j{0}' "
        "type='continuous'><parent link='l{1}'/><child link='l{0}'/><origin {2}/><axis "
        "xyz='{3}'/></joint>",
        k, k - 1, origin, axis);
  };
  writeFileAtomically(file("crane.urdf"),
                      "<robot name='crane'><link name='l0'/>" +
                          joint(1, "xyz='30 -7.5 0' rpy='0 -1.2 0'", "0.004 0.044 1.881") +
                          joint(2, "xyz='30 0 0' rpy='-1.2 0.5 -1.2'", "-0.974 1.303 1.85") +
                          joint(3, "xyz='30 0 30' rpy='-1.2 0.5 0'", "-2.06 -0.374 -0.311") +
                          "</robot>");
  const nlohmann::json json = jsonOf("'" + file("crane.urdf") + "' --measured base");
  EXPECT_TRUE(json.at("agree"));
  EXPECT_EQ(json.at("rank_qr"), json.at("rank_exact"));
}

// Bad input gets one sentence and exit code 2.
TEST_F(BaseCommand, BadInputIsExplained) {
  const CommandResult word = base(bundled("tx40") + " --measured torqes");
  EXPECT_EQ(word.code, 2);
  EXPECT_TRUE(has(word.error, "torques")) << word.error;
  const CommandResult joint = base(bundled("tx40") + " --joints joint_9");
  EXPECT_EQ(joint.code, 2);
  EXPECT_TRUE(has(joint.error, "joint_9")) << joint.error;
  EXPECT_EQ(base("no_such_robot.yaml").code, 2);
  const CommandResult sensors = base(bundled("tx40") + " --measured sensors");
  EXPECT_EQ(sensors.code, 2);
  EXPECT_TRUE(has(sensors.error, "no force-torque sensor")) << sensors.error;
  const CommandResult chosen = base(bundled("tx40") + " --measured base --joints joint_1");
  EXPECT_EQ(chosen.code, 2);
  EXPECT_TRUE(has(chosen.error, "--joints")) << chosen.error;
}

}  // namespace
}  // namespace proprio
