/// `proprio base` as a user runs it.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "proprio/core/atomic_file.h"

namespace proprio {
namespace {

struct Outcome {
  int code = -1;
  std::string out;  ///< standard output and error
};

Outcome base(const std::string& arguments) {
  FILE* pipe = popen(fmt::format("'{}' base {} 2>&1", PROPRIO_COMMAND, arguments).c_str(), "r");
  Outcome outcome;
  std::array<char, 4096> buffer;
  for (size_t n = 0; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    outcome.out.append(buffer.data(), n);
  }
  const int status = pclose(pipe);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  return outcome;
}

std::string robot(const std::string& name) {
  return fmt::format("'{}/examples/robots/{}.yaml'", PROPRIO_SOURCE_DIR, name);
}

nlohmann::json jsonOf(const std::string& arguments) {
  const std::string file = std::string(testing::TempDir()) + "/base_" +
                           testing::UnitTest::GetInstance()->current_test_info()->name() + ".json";
  const Outcome outcome = base(arguments + " --json '" + file + "'");
  EXPECT_EQ(outcome.code, 0) << outcome.out;
  const auto json = nlohmann::json::parse(readFile(file));
  std::filesystem::remove(file);
  return json;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The bundled robots have their published counts by every route that applies; where the rules do
// not, the file says null.
TEST(BaseCommand, CountsOfTheBundledRobots) {
  const std::pair<const char*, int> arms[] = {
      {"tx40", 52}, {"tx40_coupled", 61}, {"rv2sq", 52}, {"iiwa14", 64}, {"planar_2r", 6}};
  for (const auto& [name, count] : arms) {
    SCOPED_TRACE(name);
    const nlohmann::json json = jsonOf(robot(name));
    for (const char* key : {"count", "rank_qr", "rank_exact", "rank_rules"}) {
      EXPECT_EQ(json.at(key), count) << key;
    }
    EXPECT_EQ(json.at("groupings").size(), static_cast<size_t>(count));
    EXPECT_EQ(json.at("statuses").size(), json.at("standard_count").get<size_t>());
  }
  const nlohmann::json humanoid = jsonOf(robot("humanoid"));
  EXPECT_EQ(humanoid.at("rank_qr"), humanoid.at("rank_exact"));
  EXPECT_TRUE(humanoid.at("rank_rules").is_null());
}

// The terminal shows groupings with short names, and full ones on request.
TEST(BaseCommand, PrintsReadableGroupings) {
  const Outcome shorts = base(robot("tx40"));
  EXPECT_EQ(shorts.code, 0);
  EXPECT_TRUE(has(shorts.out, "ZZ1 + Ia1 + YY2 + YY3 + 0.07 MZ3 + 0.05185 (m3 + m4 + m5 + m6)"))
      << shorts.out;
  EXPECT_TRUE(has(base(robot("tx40") + " --full-names").out, "link_1.Izz + joint_1.rotor_inertia"));
}

// Choosing what is measured changes the answer: joint torques of a floating robot miss ten
// parameters, force-torque sensors add ten each.
TEST(BaseCommand, MeasurementsCanBeChosen) {
  const int all = jsonOf(robot("humanoid")).at("count");
  EXPECT_EQ(jsonOf(robot("humanoid") + " --measured torques").at("count"), all - 10);
  const int sensed = jsonOf(robot("humanoid") + " --measured torques,base,sensors").at("count");
  EXPECT_GT(sensed, all);
  EXPECT_EQ((sensed - all) % 10, 0);
}

// Bad input gets one sentence and exit code 2.
TEST(BaseCommand, BadInputIsExplained) {
  const Outcome word = base(robot("tx40") + " --measured torqes");
  EXPECT_EQ(word.code, 2);
  EXPECT_TRUE(has(word.out, "torques")) << word.out;
  const Outcome joint = base(robot("tx40") + " --joints joint_9");
  EXPECT_EQ(joint.code, 2);
  EXPECT_TRUE(has(joint.out, "joint_9")) << joint.out;
  EXPECT_EQ(base("no_such_robot.yaml").code, 2);
}

}  // namespace
}  // namespace proprio
