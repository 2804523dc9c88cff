#include "proprio/motion/trajectory_json.h"

#include <gtest/gtest.h>

#include "proprio/core/error.h"
#include "proprio/motion/fourier_series.h"
#include "proprio/motion/testing/motion_checks.h"

namespace proprio {
namespace {

JointMotion fourier() {
  auto series = std::make_shared<FourierSeries>(
      randomFourierSeries(Eigen::Vector2d(0.1, -0.7), 4, 10.0 / 3.0, 5));
  series->repeats = 3;
  return {{"shoulder", "elbow"}, series};
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const size_t place = text.find(what);
  EXPECT_NE(place, std::string::npos) << what;
  return text.replace(place, what.size(), by);
}

// A Fourier series reads back bit by bit.
TEST(TrajectoryJson, FourierReadsBackExactly) {
  const JointMotion motion = fourier();
  const JointMotion back = motionFromJson(motionJson(motion));
  EXPECT_EQ(back.joints, motion.joints);
  const auto& series = dynamic_cast<const FourierSeries&>(*motion.trajectory);
  const auto& read = dynamic_cast<const FourierSeries&>(*back.trajectory);
  EXPECT_EQ(read.period, series.period);
  EXPECT_EQ(read.repeats, series.repeats);
  EXPECT_EQ(read.offset, series.offset);
  EXPECT_EQ(read.a, series.a);
  EXPECT_EQ(read.b, series.b);
  EXPECT_EQ(motionJson(back), motionJson(motion));
}

// Every kind of damage has its own sentence with file and line or field.
TEST(TrajectoryJson, BadInput) {
  const std::string good = motionJson(fourier());
  const auto refused = [](const std::string& text, const std::string& part) {
    const std::string message = messageOf([&] { motionFromJson(text, "t.json"); });
    EXPECT_EQ(message.rfind("t.json", 0), 0u) << message;
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  refused("", "not JSON");
  refused("{\n\"format\": }", "t.json:2");
  refused("[1]", "expected an object");
  refused("{}", "'format' is missing");
  refused(replaced(good, "proprio-trajectory", "other"), "format: found 'other'");
  refused(replaced(good, "\"version\": 1", "\"version\": 2"), "version: found 2");
  refused(replaced(good, "\"type\": \"fourier\"", "\"type\": \"fourrier\""),
          "there is no trajectory type 'fourrier'; did you mean 'fourier'?");
  refused(replaced(good, "\"period\"", "\"periode\""), "did you mean 'period'?");
  refused(replaced(good, "\"period\": 3.3", "\"period\": -3.3"), "trajectory.period: found -3.3");
  refused(replaced(good, "\"repeats\": 3", "\"repeats\": 1.5"), "expected a whole number");
  refused(replaced(good, "\"shoulder\"", "\"elbow\""), "'elbow' is there twice");
  refused(replaced(good, "\"shoulder\",", "\"base\", \"shoulder\","),
          "trajectory.offset: found a list of 2, expected a list of 3 numbers");
  refused(replaced(good, "\"a\": [\n   [", "\"a\": [\n   [null, "),
          "trajectory.a[0][0]: found null");
  refused(replaced(good, "\"b\": [\n   [", "\"b\": [\n   [1, "),
          "trajectory.b[0]: found a list of 5");
}

// A motion that does not fit its names, or has no trajectory, cannot be written.
TEST(TrajectoryJson, WritingChecks) {
  JointMotion motion = fourier();
  motion.joints.pop_back();
  EXPECT_NE(messageOf([&] { motionJson(motion); }).find("1 joint names"), std::string::npos);
  motion.trajectory = nullptr;
  EXPECT_NE(messageOf([&] { motionJson(motion); }).find("no trajectory"), std::string::npos);
}

}  // namespace
}  // namespace proprio
