#include "proprio/identification/motion_data.h"

#include <gtest/gtest.h>

#include <limits>

#include "proprio/simulation/testing/loop_robots.h"

namespace proprio {
namespace {

using testing_loop::bundled;

/// A short closed-loop run of the planar arm with its commands.
Recording commandedRun(const Tree& tree) {
  ClosedLoopRun run =
      testing_loop::runOf(tree, testing_loop::sineMotion(tree, 0.4, 0.5, 0.5, 5000.0));
  return simulateClosedLoop(tree, run).recording;
}

MotionData emptyData() {
  MotionData data;
  data.name = "log";
  return data;
}

/// Claim: the reference is the commanded motion; velocities are those recorded and accelerations,
/// which are not, follow the analytic ones to the error of a central difference, h^2 / 6 |q''''|.
TEST(MotionDataReference, IsTheCommandedMotion) {
  const Tree tree(bundled("planar_2r.yaml"));
  const Recording recording = commandedRun(tree);
  MotionData data = emptyData();
  attachReference(tree, recording, &data);
  ASSERT_TRUE(data.reference);
  const MotionSamples exact =
      testing_loop::sineMotion(tree, 0.4, 0.5, recording.time.tail(1)[0], 1000.0);
  ASSERT_EQ(data.reference->samples(), exact.samples());
  EXPECT_EQ(data.reference->joints, exact.joints);
  EXPECT_LT((data.reference->q - exact.q).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((data.reference->v - exact.v).cwiseAbs().maxCoeff(), 1e-12);
  const double w = 2.0 * std::numbers::pi * 0.5 * 1.13, bound = 1e-6 / 3.0 * 0.4 * w * w * w * w;
  EXPECT_LT((data.reference->a - exact.a).cwiseAbs().maxCoeff(), bound);
}

/// Claim: a recording without time stamps, without one joint's command or with a gap in it has no
/// reference, and says so by leaving it empty.
TEST(MotionDataReference, IsLeftEmptyWhereTheCommandIsIncomplete) {
  const Tree tree(bundled("planar_2r.yaml"));
  const Recording recording = commandedRun(tree);
  const std::string joint = tree.model().joints.back().name;
  const int column = recording.column(Quantity::kPosition, Role::kCommanded, joint);
  ASSERT_GE(column, 0);
  Recording unstamped = recording, silent = recording, torn = recording, backwards = recording;
  unstamped.time.resize(0);
  silent.channels[static_cast<size_t>(column)].role = Role::kMeasured;
  torn.values(7, column) = std::numeric_limits<double>::quiet_NaN();
  backwards.time[4] = backwards.time[2];
  for (const Recording* broken : {&unstamped, &silent, &torn, &backwards}) {
    MotionData data = emptyData();
    attachReference(tree, *broken, &data);
    EXPECT_FALSE(data.reference);
  }
}

}  // namespace
}  // namespace proprio
