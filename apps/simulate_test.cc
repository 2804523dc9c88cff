/// The verb `simulate` as a user runs it: what acts from outside, and options that do not fit.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numbers>

#include "apps/testing/command_test_base.h"
#include "proprio/core/atomic_file.h"
#include "proprio/recording/read_recording.h"

namespace proprio {
namespace {

namespace fs = std::filesystem;

/// A pendulum of 1 kg at 0.5 m with a stiff servo that holds it level; the frame `tip` is at 1 m.
class Simulate : public CommandTestBase {
 protected:
  void SetUp() override {
    write("arm.urdf",
          "<robot name='arm'><link name='base'/><joint name='j' type='continuous'>"
          "<parent link='base'/><child link='l'/><origin xyz='0 0 1'/><axis xyz='0 -1 0'/>"
          "<limit velocity='20' effort='100'/></joint><link name='l'><inertial>"
          "<origin xyz='0.5 0 0'/><mass value='1'/><inertia ixx='0.01' iyy='0.01' izz='0.01' "
          "ixy='0' ixz='0' iyz='0'/></inertial></link></robot>");
    arm_ = write("arm.yaml",
                 "version: 1\nurdf: arm.urdf\nframes:\n  - {name: tip, link: l, xyz: [1, 0, 0]}\n"
                 "control: {kind: computed_torque, bandwidth: 20}\n");
    hold_ = write("hold.csv", "time,q_j,v_j,a_j\n0,0,0,0\n1,0,0,0\n2,0,0,0\n3,0,0,0\n");
  }
  CommandResult simulate(const std::string& options) const {
    return run("simulate " + arm_ + " " + options);
  }
  /// What the drive holds at the end of each second, less the weight of the arm itself.
  std::vector<double> extraTorque(const std::string& options) const {
    const CommandResult result =
        simulate("--trajectory " + hold_ + " --out " + file("log.csv") + " " + options);
    EXPECT_EQ(result.code, 0) << result.error;
    const Recording log = readRecordings(file("log.csv")).front();
    std::vector<double> torques;
    for (const double time : {0.95, 1.95, 2.95}) {
      const auto row = static_cast<Eigen::Index>(std::lround(1000.0 * time));
      torques.push_back(log.values(row, log.column("tau_true_j")) - 0.5 * 9.81);
    }
    return torques;
  }
  void expectExtra(const std::string& options, const std::vector<double>& expected) const {
    const std::vector<double> found = extraTorque(options);
    for (size_t k = 0; k < found.size(); ++k) {
      EXPECT_NEAR(found[k], expected[k], 0.01 + 0.01 * std::abs(expected[k])) << options << k;
    }
  }
  void refused(const std::string& options, const std::string& part) const {
    const CommandResult result = simulate("--out " + file("never.csv") + " " + options);
    EXPECT_EQ(result.code, 2) << options << result.out;
    EXPECT_NE(result.error.find(part), std::string::npos) << options << "\n" << result.error;
    EXPECT_FALSE(fs::exists(file("never.csv")));
  }
  std::string arm_, hold_;
};

// What the drive holds is the moment of what acts: weights at their lever arms while they are
// carried, forces at link origin and frame, moments, and walls of any direction.
TEST_F(Simulate, PayloadsPushesAndWalls) {
  const double g = 9.81;
  expectExtra("--payload l:2,0.4,0,0@1,2", {0, 0.8 * g, 0});
  expectExtra("--payload tip:1@0,2 --payload l:3,1,0,0@2", {g, g, 3 * g});
  // about its own centre a body has no weight, but it makes the arm slower: only its mass is held
  expectExtra("--payload tip:1,0,0,0,0.1,0,0,0.1,0,0.1", {g, g, g});
  expectExtra("--push l:0,0,-10@0.5", {0, 0, 0});
  expectExtra("--push tip:0,0,-10@1,2", {0, 10, 0});
  expectExtra("--push tip:0,0,0,0,5,0@1", {0, 5, 5});
  // a floor that the tip starts 0.1 mm inside of, of 1e5 N/m, against the servo, whose stiffness is
  // the arm's inertia times the bandwidth squared: both give way
  const double servo = 0.26 * std::pow(2.0 * std::numbers::pi * 20.0, 2);
  const double floor = -servo * 1e5 * 1e-4 / (1e5 + servo);
  expectExtra("--floor 1.0001", {floor, floor, floor});
  expectExtra("--half-space 0,0,2,2.0002", {floor, floor, floor});
  // leaning by 45 degrees: depth and lever arm are both smaller by the square root of two
  const double wall = -servo * 0.5e5 * 1e-4 / (0.5e5 + servo);
  expectExtra("--half-space -1,0,1,0.0001", {wall, wall, wall});
}

// Several runs are those of their seeds, in files with numbers.
TEST_F(Simulate, SeveralRuns) {
  const std::string same = "--trajectory " + hold_ + " --encoder-noise 1e-5 ";
  ASSERT_EQ(
      simulate(same + "--seed 4 --runs 3 --out " + file("log.csv") + " --json " + file("r.json"))
          .code,
      0);
  EXPECT_EQ(json("r.json")["runs"].size(), 3u);
  EXPECT_EQ(json("r.json")["runs"][2]["seed"], 6);
  ASSERT_EQ(simulate(same + "--seed 6 --out " + file("one.csv")).code, 0);
  const Recording batch = readRecordings(file("log_3.csv")).front(),
                  one = readRecordings(file("one.csv")).front(),
                  other = readRecordings(file("log_2.csv")).front();
  ASSERT_EQ(batch.values.rows(), one.values.rows());
  const auto first = batch.values.topRows(500), alone = one.values.topRows(500);
  EXPECT_LT((first.col(0) - alone.col(0)).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_GT((first.col(0) - other.values.topRows(500).col(0)).cwiseAbs().maxCoeff(), 1e-6);
}

// A servo whose torque swings between its limits is stopped; without --sample-rate any control rate
// will do.
TEST_F(Simulate, LimitCyclesAndRates) {
  refused("--trajectory " + hold_ + " --control pid --bandwidth 2000", "swings between");
  const CommandResult slow =
      simulate("--trajectory " + hold_ + " --control-rate 500 --json " + file("r.json"));
  EXPECT_EQ(slow.code, 0) << slow.error;
  EXPECT_EQ(json("r.json")["sample_rate"], 500.0);
}

// Options that would have no effect, or make no sense, are refused.
TEST_F(Simulate, Refusals) {
  for (const char* option :
       {"--integrator rk1", "--encoder-noise 1", "--link-encoders", "--torque-noise 1",
        "--physics-rate 5000", "--control pid", "--latency 0.1", "--runs 2", "--no-limits"}) {
    refused(option, "no effect on motion without drives");
  }
  const std::string follow = "--trajectory " + hold_ + " ";
  const std::string own =
      write("own.yaml",
            "version: 1\nurdf: arm.urdf\njoints: {j: {control: {kp: 400, kd: 40}}}\n"
            "control: {kind: pid}\n");
  EXPECT_NE(run("simulate " + own + " " + follow + "--bandwidth 20").error.find("automatic gains"),
            std::string::npos);
  for (const char* option : {"--state s.csv", "--seconds 1", "--step 0.001", "--interval 0.01"}) {
    refused(follow + option, "for motion without drives");
  }
  refused("--trajectory " + write("other.csv", "time,q_a1\n0,0\n1,0\n"),
          "other.csv: it moves the joint 'a1', which the robot 'arm' does not have");
  refused(follow + "--control-rate 0", "--control-rate is 0");
  refused(follow + "--physics-rate -1", "--physics-rate is -1");
  refused(follow + "--sample-rate 0", "--sample-rate is 0");
  refused(follow + "--floor nan", "--floor");
  refused(follow + "--floor 2", "starts 1 m inside");
  refused(follow + "--half-space 0,0,0,1", "normal is zero");
  refused(follow + "--half-space 0,0,1", "NX,NY,NZ,OFFSET");
  refused(follow + "--payload l:1@99", "begins at 99 s");
  refused(follow + "--payload l:1@2,1", "end after the start");
  refused(follow + "--payload lnk:1", "there is no link or frame 'lnk'");
  refused(follow + "--push l:1,0,0@1.8,1.5", "end after the start");
  refused(follow + "--push base:1,0,0", "fixed to the world");
  refused(follow + "--runs 0", "--runs 0");
}

// Motion without drives feels payloads, pushes, floors and elastic drives, and its balance counts
// their work: a push of 10 N at 1 m does 10 N times the height that it lifts, a payload of 1 kg
// taken at rest at the height of the joint brings its potential energy of 1 m, and leaves with it.
TEST_F(Simulate, FreeMotionWithPayloadsAndPushes) {
  const auto balance = [&](const std::string& options) {
    const CommandResult result =
        simulate(options + " --json " + file("r.json") + " --out " + file("m.csv"));
    EXPECT_EQ(result.code, 0) << result.error;
    EXPECT_LT(json("r.json")["relative_energy_drift"], 1e-6) << result.out;
    return json("r.json");
  };
  const auto lifted = balance("--seconds 0.3 --push tip:0,0,10");
  const double q = readCsv(file("m.csv")).values(30, 1);
  EXPECT_GT(q, 0.2);
  EXPECT_NEAR(lifted["work_from_outside"].get<double>(), 10.0 * std::sin(q), 1e-6);
  EXPECT_NEAR(balance("--seconds 0.3 --payload tip:1")["energy_of_payloads"].get<double>(), 9.81,
              1e-9);
  EXPECT_EQ(balance("--seconds 0.3")["energy_of_payloads"], 0.0);
  refused("--payload l:1@99", "begins at 99 s");
  refused("--push base:1,0,0", "fixed to the world");
  refused("--floor 2", "starts 1 m inside");
  const std::string elastic =
      write("elastic.yaml",
            "version: 1\nurdf: arm.urdf\njoints:\n  j:\n    drive: {rotor_inertia: 0.2, "
            "stiffness: 5000000}\n");
  const CommandResult result = run("simulate " + elastic + " --seconds 0.1");
  EXPECT_EQ(result.code, 0) << result.error;
  EXPECT_NE(result.out.find("which friction, drives or contacts need"), std::string::npos)
      << result.out;
}

// A cart that slides on a plane has no servo: it moves freely while the arm on it follows its
// motion, and the command says so; excluded it is held, and nothing is said.
TEST_F(Simulate, WhatNoServoHoldsIsTold) {
  write("cart.urdf",
        "<robot name='cart'><link name='floor'/><link name='cart'><inertial><mass value='2'/>"
        "<inertia ixx='0.1' iyy='0.1' izz='0.1' ixy='0' ixz='0' iyz='0'/></inertial></link>"
        "<link name='l'><inertial><origin xyz='0.5 0 0'/><mass value='1'/><inertia ixx='0.01' "
        "iyy='0.01' izz='0.01' ixy='0' ixz='0' iyz='0'/></inertial></link>"
        "<joint name='slide' type='planar'><parent link='floor'/><child link='cart'/>"
        "<axis xyz='0 0 1'/></joint><joint name='j' type='continuous'><parent link='cart'/>"
        "<child link='l'/><axis xyz='0 0 1'/><limit velocity='20' effort='100'/></joint></robot>");
  const std::string swing = write("swing.csv", "time,q_j\n0,0\n0.25,0.2\n0.5,0.5\n1,0.6\n");
  const auto move = [&](const std::string& exclude) {
    const std::string cart =
        write("cart.yaml", "version: 1\nurdf: cart.urdf\nexclude: [" + exclude + "]\n");
    const CommandResult result = run("simulate " + cart + " --trajectory " + swing + " --out " +
                                     file("cart.csv") + " --json " + file("cart.json"));
    EXPECT_EQ(result.code, 0) << result.error;
    return result.out;
  };
  EXPECT_NE(move("").find("no servo holds slide"), std::string::npos);
  const Recording log = readRecordings(file("cart.csv")).front();
  EXPECT_GT(log.values.col(log.column("true_q_slide_angle")).cwiseAbs().maxCoeff(), 0.1);
  EXPECT_EQ(nlohmann::json::parse(readFile(file("cart.json"))).at("undriven_joints"),
            nlohmann::json({"slide"}));
  EXPECT_EQ(move("slide").find("no servo"), std::string::npos);
}

}  // namespace
}  // namespace proprio
