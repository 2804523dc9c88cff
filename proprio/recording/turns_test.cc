#include "proprio/recording/turns.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "proprio/model/robot_reader.h"
#include "proprio/recording/signal_names.h"

namespace proprio {
namespace {

constexpr double kHalfTurn = std::numbers::pi;

class Turns : public ::testing::Test {
 protected:
  /// A recording of one joint's position.
  static Recording recordingOf(const Eigen::VectorXd& q, const std::string& joint) {
    Recording recording;
    recording.source = "log.csv";
    recording.channels = {channelNamed(signalName(Quantity::kPosition, Role::kMeasured, joint))};
    recording.values = q;
    return recording;
  }
  /// Back and forth over three turns, 200 samples.
  static Eigen::VectorXd sweep() {
    return (Eigen::VectorXd::LinSpaced(200, 0.0, 2.0 * kHalfTurn).array().sin() * 3.0 * kHalfTurn)
        .matrix();
  }
  static Eigen::VectorXd wrapped(const Eigen::VectorXd& q, double low) {
    return q.unaryExpr(
        [&](double x) { return x - 2.0 * kHalfTurn * std::floor((x - low) / 2.0 / kHalfTurn); });
  }

  Model robot_ = readRobotYamlText(R"(version: 1
dh:
  convention: modified
  joints:
    - {name: pan, type: continuous, a: 1}
    - {name: lift, a: 1, lower: -6.3, upper: 6.3}
    - {name: rail, type: prismatic, a: 1}
)",
                                   "robot.yaml");
};

// An angle kept within -pi ... pi or 0 ... 2 pi comes back as it was, up to whole turns.
TEST_F(Turns, RestoresWrappedAngles) {
  for (const double low : {-kHalfTurn, 0.0}) {
    const Eigen::VectorXd q = sweep();
    Recording recording = recordingOf(wrapped(q, low), "pan");
    const Eigen::VectorXd steps = recording.values.bottomRows(199) - recording.values.topRows(199);
    const auto jumps = (steps.array().abs() > kHalfTurn).count();
    ASSERT_GE(jumps, 4);
    EXPECT_EQ(restoreTurns(robot_, &recording), jumps);
    const Eigen::VectorXd difference = recording.values.col(0) - q;
    EXPECT_LT((difference.array() - difference[0]).abs().maxCoeff(), 1e-12);
    ASSERT_EQ(recording.notes.size(), 1u);
    EXPECT_NE(recording.notes[0].find(fmt::format("q_pan jumps by a whole turn {} times", jumps)),
              std::string::npos)
        << recording.notes[0];
  }
}

// A joint that rests where the range ends, with noise, jumps at every sample and is mended too.
TEST_F(Turns, RestsAtTheEndOfTheRange) {
  Eigen::VectorXd q = Eigen::VectorXd::Constant(40, kHalfTurn);
  for (Eigen::Index k = 0; k < q.size(); ++k) q[k] += k % 2 == 0 ? 1e-4 : -1e-4;
  Recording recording = recordingOf(wrapped(q, -kHalfTurn), "pan");
  EXPECT_EQ(restoreTurns(robot_, &recording), 39);
  EXPECT_NEAR(recording.values.maxCoeff() - recording.values.minCoeff(), 2e-4, 1e-12);
}

// Rows in no order have steps of about a turn by chance; they stay as they are.
TEST_F(Turns, LeavesRowsInNoOrderAlone) {
  Eigen::VectorXd q = 3.0 * Eigen::VectorXd::Random(400);
  Recording recording = recordingOf(q, "pan");
  const Eigen::VectorXd steps = q.tail(399) - q.head(399);
  ASSERT_GT((steps.array().abs() > 2.0 * kHalfTurn - 1.0).count(), 0);
  EXPECT_EQ(restoreTurns(robot_, &recording), 0);
  EXPECT_EQ((recording.values.col(0) - q).norm(), 0.0);
}

// Missing values beside the jump do not hide it.
TEST_F(Turns, PassesOverMissingValues) {
  const Eigen::VectorXd q = Eigen::VectorXd::LinSpaced(50, 2.0, 5.0);
  Eigen::VectorXd holed = wrapped(q, -kHalfTurn);
  holed[18] = holed[19] = std::nan("");  // the jump is at 3.14
  Recording recording = recordingOf(holed, "pan");
  EXPECT_EQ(restoreTurns(robot_, &recording), 1);
  EXPECT_NEAR(recording.values(49, 0), 5.0, 1e-12);
  EXPECT_TRUE(std::isnan(recording.values(18, 0)));
}

// A joint with limits of more than one turn ends up inside them.
TEST_F(Turns, MovesIntoTheLimits) {
  const Eigen::VectorXd q = Eigen::VectorXd::LinSpaced(100, 3.0, -6.0);
  // wrapped at -pi and read from there: 3 ... -3.1, then 3.1 ... 0.3
  Recording recording = recordingOf(wrapped(q.reverse(), -kHalfTurn), "lift");
  EXPECT_EQ(restoreTurns(robot_, &recording), 1);
  EXPECT_LT((recording.values.col(0) - q.reverse()).cwiseAbs().maxCoeff(), 1e-12);
}

// A joint recorded within 0 ... 360 degrees that never passes zero moves by a turn, if that is what
// its limits ask for.
TEST_F(Turns, MovesWithoutJumps) {
  const Eigen::VectorXd q = Eigen::VectorXd::LinSpaced(50, -1.0, -0.1);
  Recording recording = recordingOf(q.array() + 4.0 * kHalfTurn, "lift");
  EXPECT_EQ(restoreTurns(robot_, &recording), 0);
  EXPECT_LE(recording.values.maxCoeff(), 6.3);
  ASSERT_EQ(recording.notes.size(), 1u);
  EXPECT_EQ(recording.notes[0], "q_lift lies a whole turn outside its limits and was moved inside");
  Recording far = recordingOf(q.array() + 100.0, "lift");  // another unit, not another turn
  EXPECT_EQ(restoreTurns(robot_, &far), 0);
  EXPECT_TRUE(far.notes.empty());
}

// Continuous courses, single spikes, rails, jumps of other sizes and fast steps (degrees read as
// rad) stay as they are.
TEST_F(Turns, LeavesOtherCourses) {
  Eigen::VectorXd spike = Eigen::VectorXd::LinSpaced(50, 0.0, 1.0), jump = spike;
  spike[20] += 2.0 * kHalfTurn;
  jump.tail(25).array() += 4.2;
  const Eigen::VectorXd fast = Eigen::VectorXd::LinSpaced(50, 0.0, 49.0 * 6.2);
  Eigen::VectorXd degrees = spike;
  degrees.tail(25).array() += 57.0 * 2.0 * kHalfTurn;
  for (const Eigen::VectorXd& q : {sweep(), spike, jump, fast, degrees, Eigen::VectorXd(0),
                                   Eigen::VectorXd::Constant(1, 7.0).eval()}) {
    Recording recording = recordingOf(q, "pan");
    EXPECT_EQ(restoreTurns(robot_, &recording), 0);
    EXPECT_TRUE(recording.values.col(0) == q);
    EXPECT_TRUE(recording.notes.empty());
  }
  Recording rail = recordingOf(wrapped(sweep(), -kHalfTurn), "rail");
  EXPECT_EQ(restoreTurns(robot_, &rail), 0);
}

}  // namespace
}  // namespace proprio
