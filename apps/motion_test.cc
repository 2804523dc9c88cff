/// `proprio motion` as a user runs it.

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

struct Outcome {
  int code = -1;
  std::string out;  ///< standard output and error
};

class MotionVerb : public CommandTestBase {
 protected:
  Outcome motion(const std::string& arguments, const std::string& name = "tx40") const {
    const CommandResult result = run(fmt::format("motion '{}.yaml' {}", robot(name), arguments));
    return {result.code, result.out + result.error};
  }
};

// Every type makes a motion that keeps the kinematic limits of the TX40 with the margin, in a file
// that reads back.
TEST_F(MotionVerb, MakesEveryType) {
  for (const std::string type :
       {"fourier", "random-stops --points 5", "random-spline --points 5",
        "trapezoid --to 1,1,1,1,1,1", "double-s --to 1,1,1,1,1,1 --to 0,0,0,0,0,1",
        "min-jerk --to 1,1,1,1,1,1", "quintic-spline --to 1,1,1,1,1,1 --to 0,0,0.5,0,0,1",
        "b-spline --to 1,1,1,1,1,1 --to 0,0,0.5,0,0,1", "friction-sweep --speed-count 2",
        "inertia-strokes", "single-fourier"}) {
    const Outcome outcome = motion(fmt::format("--type {} --no-effort --out '{}' --json '{}'", type,
                                               file("m.json"), file("s.json")));
    EXPECT_EQ(outcome.code, 0) << type << outcome.out;
    const auto summary = json("s.json");
    EXPECT_TRUE(summary["within_limits"]);
    EXPECT_EQ(summary["joints"].size(), 6u);
    for (const auto& joint : summary["joints"]) {
      EXPECT_LE(joint["velocity"].get<double>(),
                0.9 * joint["limits"]["velocity"].get<double>() * (1 + 1e-9))
          << type;
    }
    const JointMotion back = readMotion(file("m.json"));
    EXPECT_EQ(back.trajectory->duration(), summary["duration"].get<double>()) << type;
    EXPECT_EQ(summary.contains("plateaus"), type.rfind("friction", 0) == 0);
  }
}

// Jumps are told: samples held until the next one jump in position, straight lines between samples
// in velocity. The file is written all the same, which is told too.
TEST_F(MotionVerb, JumpsAreOutside) {
  const std::string samples = write("j.csv", "time,q_joint_1\n0,0\n1,1.5\n1.001,-1.5\n2,0\n");
  for (const char* name : {"previous", "nearest"}) {
    const Outcome outcome = motion(fmt::format("--from {} --interpolation {} --out {} --json {}",
                                               samples, name, file("k.json"), file("s.json")));
    EXPECT_EQ(outcome.code, 1);
    EXPECT_NE(outcome.out.find("'joint_1' jumps in position"), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("was written all the same"), std::string::npos) << outcome.out;
    EXPECT_TRUE(json("s.json")["joints"][0]["velocity"].is_null());
  }
  const std::string slow = write("slow.csv", "time,q_joint_1\n0,0\n1,0.5\n2,0\n");
  const Outcome outcome = motion("--from " + slow + " --interpolation linear");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.out.find("'joint_1' jumps in velocity at 1 s"), std::string::npos)
      << outcome.out;
  EXPECT_EQ(motion("--from " + slow + " --interpolation quintic").code, 0);
}

// The seed decides; speed, approach and return change what they say.
TEST_F(MotionVerb, SeedSpeedAndRest) {
  const auto made = [&](const std::string& options) {
    EXPECT_EQ(
        motion(fmt::format("--type fourier --no-effort --out '{}' {}", file("m.json"), options))
            .code,
        0);
    return readFile(file("m.json"));
  };
  const std::string one = made("--seed 3");
  EXPECT_EQ(one, made("--seed 3"));
  EXPECT_NE(one, made("--seed 4"));
  made("--speed 0.5");
  EXPECT_EQ(readMotion(file("m.json")).trajectory->duration(), 20.0);
  made("--rest 0.5,0.1,0.1,0,0,0");
  const auto trajectory = readMotion(file("m.json")).trajectory;
  Eigen::VectorXd q(6), v(6), a(6);
  trajectory->at(0.0, q, v, a);
  EXPECT_EQ(q[0], 0.5);
  EXPECT_GT(trajectory->duration(), 10.0);
}

// Conversion between the files keeps the motion; a motion outside the limits exits with 1 and says
// joint, time, value and limit.
TEST_F(MotionVerb, ConvertsAndChecks) {
  EXPECT_EQ(motion(fmt::format("--type min-jerk --to 1,0.5,1,1,1,1 --speed 0.5 --out '{}'",
                               file("m.json")))
                .code,
            0);
  const double duration = readMotion(file("m.json")).trajectory->duration();
  for (const char* name : {"m.csv", "m.yaml", "back.json"}) {
    const Outcome outcome =
        motion(fmt::format("--from '{}' --out '{}' --rate 500",
                           file(std::string(name) == "m.csv" ? "m.json" : "m.csv"), file(name)));
    EXPECT_EQ(outcome.code, 0) << outcome.out;
    EXPECT_NEAR(readMotion(file(name)).trajectory->duration(), duration, 1e-9);
  }
  const Outcome fast =
      motion(fmt::format("--from '{}' --speed 4 --json '{}'", file("m.yaml"), file("s.json")));
  EXPECT_EQ(fast.code, 1) << fast.out;
  EXPECT_NE(fast.out.find("outside: joint 'joint_1' reaches velocity"), std::string::npos)
      << fast.out;
  EXPECT_FALSE(json("s.json")["within_limits"]);
  EXPECT_FALSE(json("s.json")["violations"].empty());
}

// What cannot be made is one sentence with exit code 2, and no file.
TEST_F(MotionVerb, BadInput) {
  const auto refused = [&](const std::string& arguments, const std::string& part,
                           const std::string& robot = "tx40") {
    const Outcome outcome = motion(arguments + fmt::format(" --out '{}'", file("m.json")), robot);
    EXPECT_EQ(outcome.code, 2) << arguments;
    EXPECT_NE(outcome.out.find(part), std::string::npos) << outcome.out;
    EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 1) << outcome.out;
    EXPECT_FALSE(fs::exists(file("m.json")));
  };
  refused("", "give either --type");
  refused("--type fouriers", "did you mean 'fourier'?");
  refused("--type fourier --start 1,2", "has 2 positions; expected 6");
  refused("--type fourier --start 1,2,3,4,5,x", "'x' where a number is expected");
  refused("--type fourier --start 9,0,0,0,0,0", "joint 'joint_1' starts at 9");
  refused("--type fourier --harmonics 1", "at least two");
  refused("--type fourier --joints joint_7", "joint_7");
  refused("--type fourier --margin 1", "--margin 1");
  refused("--type fourier --speed 0", "expected a positive number");
  refused("--type min-jerk", "needs at least one --to");
  refused("--type random-stops --profile fast", "there is no profile 'fast'");
  refused("--type friction-sweep --speeds 99", "cannot be swept at 99");
  refused("--from none.csv", "none.csv");
  refused("--from none.csv --interpolation akima", "there is no 'akima'");
  const std::string other = file("o.csv");
  writeFileAtomically(other, "time,q_elbow\n0,1\n1,2\n");
  refused("--from '" + other + "'", "elbow");
}

}  // namespace
}  // namespace proprio
