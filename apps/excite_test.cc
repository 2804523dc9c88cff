/// The verb `excite` as a user runs it.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "apps/testing/command_test_base.h"
#include "proprio/core/atomic_file.h"
#include "proprio/motion/trajectory_file.h"

namespace proprio {
namespace {

namespace fs = std::filesystem;

using Result = CommandResult;

class Excite : public CommandTestBase {
 protected:
  Result run(const std::string& name, const std::string& options) const {
    return CommandTestBase::run(fmt::format("excite '{}.yaml' {}", robot(name), options));
  }
};

// A motion is written with approach and return, a picture and a report for programs; the report
// says what got better, what is active, and what will be learnt.
TEST_F(Excite, WritesMotionPictureAndReport) {
  const Result r =
      run("planar_2r",
          "--harmonics 4 --seconds 6 --rest 0,0 --noise 0.1 --workspace 'tip z > -0.71' "
          "--out " +
              file("m.json") + " --picture " + file("m.svg") + " --json " + file("r.json"));
  EXPECT_EQ(r.code, 0) << r.error;
  EXPECT_NE(r.out.find("will be learnt"), std::string::npos);
  const nlohmann::json report = nlohmann::json::parse(readFile(file("r.json")));
  EXPECT_TRUE(report["feasible"].get<bool>());
  EXPECT_LT(report["after"].get<double>(), report["before"].get<double>());
  EXPECT_EQ(report["parameters"].size(), 6u);
  const JointMotion motion = readMotion(file("m.json"));
  EXPECT_GT(motion.trajectory->duration(), 6.0);
  Eigen::VectorXd q(2), v(2), a(2);
  motion.trajectory->at(0.0, q, v, a);
  EXPECT_LT(q.norm() + v.norm(), 1e-9);
  EXPECT_NE(readFile(file("m.svg")).find("<svg"), std::string::npos);
  // a second motion that knows of the first
  const Result second = run(
      "planar_2r", "--harmonics 4 --seconds 6 --criterion a --scaled --earlier " + file("m.json"));
  EXPECT_EQ(second.code, 0) << second.error;
}

// Limits that cannot be kept and a target out of reach are answered with "no"; postures to rest in
// are printed.
TEST_F(Excite, SaysNoAndPostures) {
  Result r = run("planar_2r", "--harmonics 4 --workspace 'tip z > 5' --out " + file("m.json"));
  EXPECT_EQ(r.code, 1);
  EXPECT_NE(r.out.find("tip z > 5"), std::string::npos) << r.out;
  EXPECT_FALSE(fs::exists(file("m.json")));
  EXPECT_EQ(run("planar_2r", "--harmonics 4 --target 1.01").code, 1);
  r = run("planar_2r",
          "--harmonics 4 --workspace 'tip z > -0.5' --rest -1.57,0 --out " + file("m.json"));
  EXPECT_EQ(r.code, 1);
  EXPECT_NE(r.out.find("rest posture"), std::string::npos) << r.out;
  r = run("planar_2r", "--postures 5");
  EXPECT_EQ(r.code, 0) << r.error;
  EXPECT_NE(r.out.find("5 postures"), std::string::npos) << r.out;
}

// Bad options end with 2 and a sentence.
TEST_F(Excite, BadOptions) {
  for (const char* options :
       {"--criterion best", "--joints elbw", "--workspace 'tip up'", "--environment table",
        "--disable-collision a", "--disable-collision a:b", "--noise -1", "--noise 1,2,3",
        "--rest 0", "--harmonics 1", "--picture p.bmp", "--earlier none.json", "--starts 0",
        "--parameters mass"}) {
    const Result r = run("planar_2r", std::string("--harmonics 3 ") + options);
    EXPECT_EQ(r.code, 2) << options << r.out;
    EXPECT_NE(r.error.find("proprio: "), std::string::npos) << options;
  }
}

}  // namespace
}  // namespace proprio
