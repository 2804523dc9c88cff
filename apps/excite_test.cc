/// The verb `excite` as a user runs it.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "apps/testing/command_test_base.h"
#include "proprio/core/atomic_file.h"
#include "proprio/motion/motion_limits.h"
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

// The picture says metres where a joint slides.
TEST_F(Excite, PictureOfASlideIsInMetres) {
  const std::string body =
      "<inertial><origin xyz='0.1 0 0.2'/><mass value='1'/><inertia ixx='0.02' ixy='0' ixz='0' "
      "iyy='0.02' iyz='0' izz='0.02'/></inertial>";
  const std::string limit = "<limit lower='-1' upper='1' velocity='1' effort='50'/>";
  write("slide.urdf", "<robot name='slide'><link name='a'/><link name='b'>" + body +
                          "</link><link name='c'>" + body +
                          "</link><joint name='lift' type='prismatic'><parent link='a'/><child "
                          "link='b'/><axis xyz='0 0 1'/>" +
                          limit +
                          "</joint><joint name='turn' type='revolute'><parent link='b'/><child "
                          "link='c'/><axis xyz='0 1 0'/>" +
                          limit + "</joint></robot>");
  const Result r =
      CommandTestBase::run("excite " + file("slide.urdf") +
                           " --harmonics 3 --seconds 4 --time-limit 1 --picture " + file("m.svg"));
  EXPECT_LE(r.code, 1) << r.error;
  const std::string picture = readFile(file("m.svg"));
  for (const char* axis : {"position (m)", "velocity (m/s)", "position (rad)", "velocity (rad/s)"})
    EXPECT_NE(picture.find(axis), std::string::npos) << axis;
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

// Every bundled robot has postures to rest in and an exciting motion with the defaults, whatever
// its shapes (two robots have links that always touch, which is told), and also when only its last
// joint moves: what that cannot tell is listed. A few harmonics and seconds, since only the ending
// matters.
TEST_F(Excite, EveryBundledRobot) {
  for (const char* name : {"planar_2r", "tx40", "tx40_coupled", "tx40_urdf", "rv2sq", "iiwa14",
                           "mobile_manipulator", "humanoid"}) {
    const Result rest = run(name, "--postures 4 --out " + file("p.csv"));
    EXPECT_EQ(rest.code, 0) << name << rest.out << rest.error;
    const std::string quick = "--harmonics 3 --starts 1 --time-limit 2 --json " + file("r.json");
    const Result all = run(name, quick);
    EXPECT_EQ(all.code, 0) << name << all.out << all.error;
    const nlohmann::json report = json("r.json");
    EXPECT_TRUE(report["after"].is_number()) << name;
    EXPECT_LE(report["after"].get<double>(), report["before"].get<double>()) << name;
    const bool touches = std::string(name) == "tx40_urdf" || std::string(name) == "humanoid";
    EXPECT_EQ(report["collisions_left_out"].empty(), !touches) << name;
    const std::vector<std::string> joints = readMotion(file("p.csv")).joints;
    const Result one = run(name, quick + " --no-self-collision --joints " + joints.back());
    EXPECT_EQ(one.code, 0) << name << one.out << one.error;
    EXPECT_TRUE(json("r.json")["after"].is_number()) << name;
    EXPECT_FALSE(json("r.json")["silent"].empty()) << name;
    EXPECT_NE(one.out.find("cannot be learnt"), std::string::npos) << name;
  }
}

// A box around a robot without collision shapes would protect nothing: it is refused, and without a
// box it is told that collisions are not looked at. Where some links have shapes, the others are
// listed in text and report.
TEST_F(Excite, RobotsWithoutShapes) {
  const std::string quick = "--harmonics 3 --time-limit 4 --json " + file("r.json");
  const Result refused =
      run("tx40", quick + " --environment 'everything: 0 0 0.5 2 2 2' --out " + file("m.json"));
  EXPECT_EQ(refused.code, 2) << refused.out;
  EXPECT_NE(refused.error.find("collision shape"), std::string::npos) << refused.error;
  EXPECT_FALSE(fs::exists(file("m.json")));
  const Result bare = run("tx40", quick);
  EXPECT_EQ(bare.code, 0) << bare.error;
  EXPECT_NE(bare.out.find("no link has a collision shape"), std::string::npos) << bare.out;
  EXPECT_EQ(json("r.json")["links_without_shapes"].size(), 6u);
  std::string urdf = readFile(robot("planar_2r.urdf"));
  const size_t from = urdf.find("<collision>");  // those of the upper arm
  ASSERT_NE(from, std::string::npos);
  urdf.erase(from, urdf.find("</link>", from) - from);
  const Result some = CommandTestBase::run("excite " + write("some.urdf", urdf) + " " + quick);
  EXPECT_EQ(json("r.json")["links_without_shapes"].size(), 1u) << some.out << some.error;
  EXPECT_NE(some.out.find("links without collision shapes"), std::string::npos) << some.out;
}

// With approach and return the times of active constraints are those of the file: the joint is as
// fast as it gets where the report says so. A rest posture outside the limits is refused.
TEST_F(Excite, ApproachCountsInTimes) {
  const Result r =
      run("planar_2r", "--harmonics 4 --seconds 6 --rest 0.5,0.5 --time-limit 10 --out " +
                           file("m.json") + " --json " + file("r.json"));
  ASSERT_EQ(r.code, 0) << r.error;
  const JointMotion motion = readMotion(file("m.json"));
  Eigen::VectorXd q(2), v(2), a(2);
  const MotionExtremes found = extremes(*motion.trajectory);
  int velocities = 0;
  for (const auto& active : json("r.json")["active"]) {
    const std::string name = active["name"];
    const auto joint = name == "shoulder velocity" ? 0 : name == "elbow velocity" ? 1 : -1;
    if (joint < 0) continue;
    motion.trajectory->at(active["time"].get<double>(), q, v, a);
    EXPECT_GT(std::abs(v[joint]), 0.99 * found.velocity[joint]) << name;
    ++velocities;
  }
  EXPECT_GT(velocities, 0);
  const Result outside = run("planar_2r", "--harmonics 4 --rest 40,0");
  EXPECT_EQ(outside.code, 2);
  EXPECT_NE(outside.error.find("would rest at 40"), std::string::npos) << outside.error;
}

// Parameters that no motion of the joints tells apart are answered with "no", and nothing is
// written.
TEST_F(Excite, InfiniteCriterionIsNoMotion) {
  const Result r =
      run("planar_2r",
          "--harmonics 3 --joints elbow --parameters upper_arm.Iyy --out " + file("m.json"));
  EXPECT_EQ(r.code, 1) << r.out;
  EXPECT_NE(r.out.find("stays infinite"), std::string::npos) << r.out;
  EXPECT_FALSE(fs::exists(file("m.json")));
}

// The forecast counts what was recorded before: with it, every standard deviation is below that of
// the earlier motion alone.
TEST_F(Excite, ForecastKnowsEarlierMotions) {
  const std::string same = "--harmonics 3 --seconds 6 --noise 0.1 --time-limit 20 ";
  ASSERT_EQ(run("planar_2r", same + "--out " + file("m.json") + " --json " + file("a.json")).code,
            0);
  ASSERT_EQ(
      run("planar_2r", same + "--earlier " + file("m.json") + " --json " + file("b.json")).code, 0);
  const nlohmann::json a = json("a.json")["parameters"], b = json("b.json")["parameters"];
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_LT(b[i]["sigma"].get<double>(), a[i]["sigma"].get<double>()) << a[i]["name"];
  }
}

// Bad options end with 2 and a sentence.
TEST_F(Excite, BadOptions) {
  for (const char* options :
       {"--criterion best", "--joints elbw", "--workspace 'tip up'", "--environment table",
        "--disable-collision a", "--disable-collision a:b", "--noise -1", "--noise 1,2,3",
        "--rest 0", "--harmonics 1", "--picture p.bmp", "--earlier none.json", "--starts 0",
        "--parameters mass", "--time-limit 0"}) {
    const Result r = run("planar_2r", std::string("--harmonics 3 ") + options);
    EXPECT_EQ(r.code, 2) << options << r.out;
    EXPECT_NE(r.error.find("proprio: "), std::string::npos) << options;
  }
}

}  // namespace
}  // namespace proprio
