#include "proprio/motion/trajectory_json.h"

#include <gtest/gtest.h>

#include "proprio/core/error.h"
#include "proprio/motion/b_spline.h"
#include "proprio/motion/fourier_series.h"
#include "proprio/motion/random_motion.h"
#include "proprio/motion/sequence.h"
#include "proprio/motion/testing/motion_checks.h"
#include "proprio/motion/testing/motion_limits_for_test.h"

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

JointMotion polynomialPieces() {
  MotionLimits limits = threeJoints();
  return {limits.joints, std::make_shared<PiecewisePolynomial>(
                             randomStops(Eigen::Vector3d(0.1, 0.2, 0.3), 3, 1, limits))};
}

// Every type reads back bit by bit, also nested: the text written again is the same, and so is
// every sample.
TEST(TrajectoryJson, EveryTypeReadsBackExactly) {
  const JointMotion poly = polynomialPieces();
  const auto spline = std::make_shared<BSpline>(
      restToRestSpline(Eigen::Vector3d(0.1, 0.2, 0.3), Eigen::MatrixXd::Constant(3, 4, 1.0 / 3.0),
                       Eigen::Vector3d(0.1, 0.2, 0.3), 5, 2.0));
  const auto slow = std::make_shared<TimeScaled>(atSpeed(spline, 0.7));
  const auto all = std::make_shared<Sequence>(inSequence({poly.trajectory, slow, spline}));
  const auto still = std::make_shared<PiecewisePolynomial>(standstill(Eigen::Vector3d::Ones()));
  for (const std::shared_ptr<const Trajectory>& trajectory :
       {poly.trajectory, std::shared_ptr<const Trajectory>(spline),
        std::shared_ptr<const Trajectory>(slow), std::shared_ptr<const Trajectory>(all),
        std::shared_ptr<const Trajectory>(still)}) {
    const std::string text = motionJson({poly.joints, trajectory});
    const JointMotion back = motionFromJson(text);
    EXPECT_EQ(motionJson(back), text);
    EXPECT_EQ(back.trajectory->duration(), trajectory->duration());
    const MotionSamples before = sample(*trajectory, 50.0, poly.joints), after = sample(back, 50.0);
    EXPECT_EQ(before.q, after.q);
    EXPECT_EQ(before.v, after.v);
    EXPECT_EQ(before.a, after.a);
  }
}

// A trajectory type of somebody else has no JSON form.
TEST(TrajectoryJson, UnknownTypesAreTold) {
  struct Still final : Trajectory {
    int size() const override { return 1; }
    double duration() const override { return 1.0; }
    void at(double, Eigen::Ref<Eigen::VectorXd> q, Eigen::Ref<Eigen::VectorXd> v,
            Eigen::Ref<Eigen::VectorXd> a) const override {
      q.setZero();
      v.setZero();
      a.setZero();
    }
  };
  EXPECT_NE(messageOf([] {
              motionJson({{"j"}, std::make_shared<Still>()});
            }).find("no JSON form"),
            std::string::npos);
}

// What a type's own checks find is told with the field.
TEST(TrajectoryJson, BadPartsAreNamed) {
  const auto refused = [](const std::string& trajectory, const std::string& message) {
    const std::string text =
        "{\"format\": \"proprio-trajectory\", \"version\": 1, \"joints\": "
        "[\"j\"], \"trajectory\": " +
        trajectory + "}";
    EXPECT_EQ(messageOf([&] { motionFromJson(text, "t.json"); }).rfind("t.json: " + message, 0), 0u)
        << messageOf([&] { motionFromJson(text, "t.json"); });
  };
  const std::string one = R"({"type": "polynomial", "degree": 1, "knots": [0, 1],
                              "coefficients": [[0, 1]]})";
  refused(R"({"type": "polynomial", "degree": 1, "knots": [0, 1], "coefficients": [[0, 1, 2]]})",
          "trajectory: a piecewise polynomial of degree 1 with 1 pieces has 3 coefficients");
  refused(R"({"type": "polynomial", "degree": 1, "knots": [0, 0], "coefficients": [[0, 1]]})",
          "trajectory: knot 1 of a piecewise polynomial");
  refused(R"({"type": "b-spline", "degree": 2, "knots": [0, 0, 0, 1, 1], "control_points": [[0]]})",
          "trajectory: a B-spline of degree 2 with 5 knots");
  refused(R"({"type": "sequence", "parts": []})", "trajectory: a sequence without parts");
  refused(R"({"type": "sequence", "parts": [3]})", "trajectory.parts[0]: found '3'");
  refused(R"({"type": "sequence", "parts": [)" + one + ", " + one + "]}",
          "trajectory: part 2 of a sequence starts joint 1 with position 0, part 1 ends with 1");
  refused(
      R"({"type": "sequence", "parts": [{"type": "scaled", "speed": 0, "motion": )" + one + "}]}",
      "trajectory.parts[0].speed: found 0");
  std::string deep = one;
  for (int k = 0; k < 100; ++k) deep = R"({"type": "scaled", "speed": 1, "motion": )" + deep + "}";
  const std::string text =
      "{\"format\": \"proprio-trajectory\", \"version\": 1, \"joints\": "
      "[\"j\"], \"trajectory\": " +
      deep + "}";
  EXPECT_NE(messageOf([&] { motionFromJson(text); }).find("nested more than 32"),
            std::string::npos);
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
