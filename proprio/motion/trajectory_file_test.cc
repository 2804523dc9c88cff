#include "proprio/motion/trajectory_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "proprio/core/atomic_file.h"
#include "proprio/core/testing/temp_folder.h"
#include "proprio/motion/fourier_series.h"
#include "proprio/motion/quintic_spline.h"
#include "proprio/motion/testing/motion_checks.h"

namespace proprio {
namespace {

JointMotion exampleMotion() {
  return {{"shoulder", "it's: odd"},
          std::make_shared<FourierSeries>(
              randomFourierSeries(Eigen::Vector2d(0.1, 1e-7), 3, 1.005, 5))};
}

void expectMessage(const std::string& message, const std::string& start, const std::string& part) {
  EXPECT_EQ(message.rfind(start, 0), 0u) << message;
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

// Samples written as CSV read back bit by bit, with or without derivatives.
TEST(TrajectoryFile, CsvReadsBackExactly) {
  MotionSamples samples = sample(exampleMotion(), 100.0);
  for (int keep = 2; keep >= 0; --keep) {
    if (keep < 2) samples.a.resize(0, 0);
    if (keep < 1) samples.v.resize(0, 0);
    const MotionSamples back = motionFromCsv(motionCsv(samples));
    EXPECT_EQ(back.joints, samples.joints);
    EXPECT_EQ(back.time, samples.time);
    EXPECT_EQ(back.q, samples.q);
    EXPECT_EQ(back.v, samples.v);
    EXPECT_EQ(back.a, samples.a);
  }
}

// Units in the names, as logs write them, are converted.
TEST(TrajectoryFile, CsvWithUnits) {
  const MotionSamples samples =
      motionFromCsv("time [ms],q_a [deg],v_a [rad/s],tau_a [N m]\n0,180,1,9\n500,90,2,9\n");
  EXPECT_EQ(samples.time, Eigen::Vector2d(0.0, 0.5));
  EXPECT_NEAR(samples.q(0, 0), M_PI, 1e-15);
  EXPECT_EQ(samples.v(1, 0), 2.0);
  EXPECT_EQ(samples.joints, std::vector<std::string>{"a"});
  EXPECT_NE(messageOf([] {
              motionFromCsv("time,q_a [furlong]\n0,1\n", "t.csv");
            }).find("t.csv: the column 'q_a [furlong]' has an unknown unit"),
            std::string::npos);
  // a unit of another kind is no position
  for (const char* header : {"q_a [N m],x", "q_a [deg/s],x", "q_a,v_a [deg]", "q_a,a_a [rad/s]"}) {
    const std::string text = std::string("time,") + header + "\n0,1,2\n1,2,3\n";
    EXPECT_NE(messageOf([&] { motionFromCsv(text, "t.csv"); }).find("expected rad"),
              std::string::npos)
        << header;
  }
}

// ROS YAML reads back bit by bit, times to half a nanosecond; odd names survive; every number is
// one for YAML 1.1 too, which asks for a point and a signed exponent.
TEST(TrajectoryFile, RosYamlReadsBack) {
  const MotionSamples samples = sample(exampleMotion(), 333.0);
  const std::string text = motionRosYaml(samples);
  const MotionSamples back = motionFromRosYaml(text);
  EXPECT_EQ(back.joints, samples.joints);
  EXPECT_LT((back.time - samples.time).lpNorm<Eigen::Infinity>(), 0.51e-9);
  EXPECT_EQ(back.q, samples.q);
  EXPECT_EQ(back.v, samples.v);
  EXPECT_EQ(back.a, samples.a);
  const std::regex number(R"([-+]?[0-9]+\.[0-9]*(e[-+][0-9]+)?)");
  const std::regex list(R"((?:positions|velocities|accelerations): \[([^\]]*)\])");
  int numbers = 0;
  for (std::sregex_iterator it(text.begin(), text.end(), list), end; it != end; ++it) {
    std::string rest = (*it)[1];
    for (size_t comma = 0; comma != std::string::npos; ++numbers) {
      comma = rest.find(", ");
      EXPECT_TRUE(std::regex_match(rest.substr(0, comma), number)) << rest.substr(0, comma);
      if (comma != std::string::npos) rest = rest.substr(comma + 2);
    }
  }
  EXPECT_EQ(numbers, 3 * 2 * samples.samples());
}

// What ROS 2 and ROS 1 print is read: block lists, document ends, wrappers, both spellings of time.
TEST(TrajectoryFile, ReadsWhatRosPrints) {
  const MotionSamples two = motionFromRosYaml(
      "header:\n  stamp:\n    sec: 12\n    nanosec: 5\n  frame_id: base\njoint_names:\n- a\n- b\n"
      "points:\n- positions:\n  - 0.0\n  - 1.5e-05\n  velocities: []\n  accelerations: []\n"
      "  effort: []\n  time_from_start:\n    sec: 1\n    nanosec: 500000000\n"
      "- positions:\n  - 1\n  - .5\n  velocities: []\n  accelerations: []\n  effort: []\n"
      "  time_from_start:\n    sec: 2\n    nanosec: 0\n---\n");
  EXPECT_EQ(two.joints, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(two.time, Eigen::Vector2d(1.5, 2.0));
  EXPECT_EQ(two.q(0, 1), 1.5e-5);
  EXPECT_EQ(two.q(1, 1), 0.5);
  EXPECT_EQ(two.v.rows(), 0);
  const MotionSamples one = motionFromRosYaml(
      "goal:\n  trajectory:\n    joint_names: [a]\n    points:\n"
      "      - {positions: [1], velocities: [2], time_from_start: {secs: 0, nsecs: 250000000}}\n"
      "      - {positions: [2], velocities: [3], time_from_start: 0.75}\n");
  EXPECT_EQ(one.time, Eigen::Vector2d(0.25, 0.75));
  EXPECT_EQ(one.v(1, 0), 3.0);
}

// Every kind of damage of a ROS file has its sentence with the line.
TEST(TrajectoryFile, BadRosYaml) {
  const auto refused = [](const std::string& text, const std::string& where,
                          const std::string& part) {
    expectMessage(messageOf([&] { motionFromRosYaml(text, "t.yaml"); }), where, part);
  };
  const std::string head = "joint_names: [a, b]\npoints:\n";
  refused("a: [", "t.yaml:1", "not YAML");
  refused("", "t.yaml", "there is no ROS JointTrajectory");
  refused("[1, 2]", "t.yaml", "there is no ROS JointTrajectory");
  refused("points: []\n", "t.yaml:1", "joint_names is missing");
  refused("joint_names: [a]\npoints: []\n", "t.yaml:2", "at least one point");
  refused(head + "- 3\n", "t.yaml:3", "points[0]: expected a mapping");
  refused(head + "- {positions: [1, 2]}\n", "t.yaml:3", "points[0].time_from_start is missing");
  refused(head + "- {time_from_start: 0}\n", "t.yaml:3", "points[0] has no positions");
  refused(head + "- {positions: [1], time_from_start: 0}\n", "t.yaml:3",
          "points[0].positions: found 1 numbers, expected 2");
  refused(head + "- {positions: [1, x], time_from_start: 0}\n", "t.yaml:3",
          "points[0].positions[1]: found 'x'");
  refused(head + "- {positions: [1, .nan], time_from_start: 0}\n", "t.yaml:3", "found '.nan'");
  refused(head + "- {positions: [1, '...'], time_from_start: 0}\n", "t.yaml:3", "--full-length");
  refused(head + "- {positions: [1, 2], time_from_start: {}}\n", "t.yaml:3", "sec and nanosec");
  refused(head +
              "- {positions: [1, 2], time_from_start: 0}\n- {positions: [1, 2], velocities: "
              "[1, 2], time_from_start: 1}\n",
          "t.yaml:4", "points[1] has the list velocities, unlike the points before");
}

// Every kind of damage of a CSV motion has its sentence.
TEST(TrajectoryFile, BadCsv) {
  const auto refused = [](const std::string& text, const std::string& part) {
    expectMessage(messageOf([&] { motionFromCsv(text, "t.csv"); }), "t.csv", part);
  };
  refused("", "empty");
  refused("q_a\n1\n", "there is no column 'time'");
  refused("time,v_a\n1,2\n", "there is no position column");
  refused("time,q_a\n", "there is no sample");
  refused("time,q_a,q_b,v_b\n0,1,2,3\n", "'v_a' is missing");
  refused("time,q_a\n0,x\n", "there is no position column");  // a column of text
  refused("time,q_a\n0,1\n1,2\n2,x\n", "expected a finite number");
}

class MotionFiles : public ::testing::Test {
 protected:
  testing::TempFolder folder_;
  std::string file(const std::string& name) const { return folder_.file(name); }
};

// Sampled files end with the motion, and no step is shorter than half of the others: 1.005 s in
// steps of 4 ms have 1 ms left, in steps of 10 ms half a step.
TEST_F(MotionFiles, NoTinyLastStep) {
  const JointMotion motion = exampleMotion();
  for (const double rate : {250.0, 100.0, 99.0, 0.5}) {
    writeMotion(file("m.csv"), motion, rate);
    const Eigen::VectorXd time = motionFromCsv(readFile(file("m.csv"))).time;
    ASSERT_GE(time.size(), 2);
    EXPECT_NEAR(time[time.size() - 1], 1.005, 1e-9);
    for (Eigen::Index k = 1; k < time.size(); ++k) {
      const double step = (time[k] - time[k - 1]) * rate;
      EXPECT_GT(step, 0.499) << rate << " " << k;
      EXPECT_LT(step, 1.501) << rate << " " << k;
    }
  }
}

// A motion survives each of the three formats: exactly as JSON; at the samples, and closely between
// them, as CSV and YAML, whose last sample is the end of the motion.
TEST_F(MotionFiles, RoundTrip) {
  const JointMotion motion = exampleMotion();
  for (const char* name : {"m.json", "m.csv", "m.yaml", "m.YML"}) {
    writeMotion(file(name), motion, 200.0);
    const JointMotion back = readMotion(file(name));
    EXPECT_EQ(back.joints, motion.joints);
    EXPECT_NEAR(back.trajectory->duration(), 1.005, 1e-9) << name;
    for (double t = 0.0; t < 1.0; t += 0.0137) {
      const StateAt one = stateAt(*motion.trajectory, t), other = stateAt(*back.trajectory, t);
      const double tolerance = name == std::string("m.json") ? 1e-300 : 1e-6;
      EXPECT_LE((one.q - other.q).norm(), tolerance);
      EXPECT_LE((one.v - other.v).norm(), 100 * tolerance);
    }
  }
}

// Interpolation is chosen by what is there, or by the caller.
TEST_F(MotionFiles, Interpolation) {
  writeFileAtomically(file("p.csv"), "t,q_a\n0,0\n1,1\n2,4\n");
  const JointMotion curve = readMotion(file("p.csv"));
  const JointMotion lines = readMotion(file("p.csv"), MotionInterpolation::kLinear);
  EXPECT_EQ(stateAt(*lines.trajectory, 1.5).q[0], 2.5);
  EXPECT_LT(stateAt(*curve.trajectory, 1.5).q[0], 2.5);
}

// Endings, missing files, and times that do not ascend are told with the file.
TEST_F(MotionFiles, BadFiles) {
  expectMessage(messageOf([&] { readMotion(file("m.txt")); }), file("m.txt"), "'.txt'");
  expectMessage(messageOf([&] { writeMotion(file("m"), exampleMotion()); }), file("m"),
                "ending ''");
  EXPECT_NE(messageOf([&] { readMotion(file("none.json")); }).find("none.json"), std::string::npos);
  writeFileAtomically(file("e.csv"), "time,q_a\n0,1\n0,2\n");
  expectMessage(messageOf([&] { readMotion(file("e.csv")); }), file("e.csv"),
                "point 2 is at 0 s, the one before at 0 s");
  EXPECT_NE(
      messageOf([&] { writeMotion(file("m.csv"), exampleMotion(), 0.0); }).find("sampling rate 0"),
      std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(file("m.csv")));
}

}  // namespace
}  // namespace proprio
