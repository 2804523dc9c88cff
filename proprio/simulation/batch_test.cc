// Many runs at once: the same numbers in every lane, batch and thread; the same as one by one up to
// rounding.

#include <gtest/gtest.h>

#include "proprio/simulation/testing/loop_robots.h"

namespace proprio {
namespace {

using namespace testing_loop;

// runs with different parameters, seeds, gains, latencies and payloads
std::vector<ClosedLoopRun> differentRuns(const Tree& tree, size_t count, double seconds) {
  const auto motion =
      std::make_shared<const MotionSamples>(sineMotion(tree, 0.3, 0.6, seconds, 1000.0));
  const auto other =
      std::make_shared<const MotionSamples>(sineMotion(tree, 0.2, 0.9, seconds, 1000.0));
  std::vector<ClosedLoopRun> runs(count, runOf(tree, *motion));
  for (size_t r = 0; r < count; ++r) {
    ClosedLoopRun& run = runs[r];
    run.reference = r % 3 == 1 ? other : motion;
    run.options.seed = 100 + r;
    run.options.encoder_noise = 1.7e-6 * static_cast<double>(r);
    run.options.torque_noise = 0.1;
    run.options.physics_rate = 10000.0;
    for (size_t k = 0; k < run.plant.values.size(); ++k)
      run.plant.values[k] *= 1.0 + 0.01 * static_cast<double>((k * 7 + r * 3) % 5);
    if (r % 2 == 1) run.servo.kp *= 0.8;
    if (r % 4 == 2) run.options.command_latency = 0.0004;
    if (r % 4 == 3) {
      run.options.payloads = {
          {0.1, 6,
           InertialParameters::fromCom(1.0, Vector3d(0.0, 0.0, 0.1), 0.01 * Matrix3d::Identity())}};
    }
  }
  return runs;
}

// A run of a batch is the run alone, within rounding, over the first second.
TEST(ClosedLoopBatch, EqualsTheScalarPath) {
  const auto model = bundled("tx40.yaml");
  const Tree tree(model);
  const std::vector<ClosedLoopRun> runs = differentRuns(tree, 5, 1.0);
  const std::vector<ClosedLoopResult> batch = simulateClosedLoops(tree, runs);
  ASSERT_EQ(batch.size(), runs.size());
  for (size_t r = 0; r < runs.size(); ++r) {
    EXPECT_EQ(batch[r].failure, "");
    const ClosedLoopResult one = simulateClosedLoop(tree, runs[r]);
    ASSERT_EQ(one.recording.channels.size(), batch[r].recording.channels.size());
    for (size_t c = 0; c < one.recording.channels.size(); ++c) {
      const Quantity quantity = one.recording.channels[c].quantity;
      // torques and accelerations multiply a rounding of the position by gains of up to 1e6
      const double factor = quantity == Quantity::kPosition   ? 1.0
                            : quantity == Quantity::kVelocity ? 1e2
                                                              : 1e4;
      const auto i = static_cast<Eigen::Index>(c);
      EXPECT_LT(
          (one.recording.values.col(i) - batch[r].recording.values.col(i)).cwiseAbs().maxCoeff(),
          1e-9 * factor)
          << one.recording.channels[c].name << " " << r;
    }
  }
}

// Bit for bit the same, whatever the lane and the number of runs (and so of threads).
TEST(ClosedLoopBatch, IndependentOfLaneAndNumber) {
  const auto model = bundled("tx40.yaml");
  const Tree tree(model);
  const std::vector<ClosedLoopRun> runs = differentRuns(tree, 9, 0.15);
  const std::vector<ClosedLoopResult> all = simulateClosedLoops(tree, runs);
  for (size_t first : {size_t{0}, size_t{1}, size_t{3}, size_t{8}}) {
    const std::vector<ClosedLoopRun> some(runs.begin() + static_cast<std::ptrdiff_t>(first),
                                          runs.end());
    const std::vector<ClosedLoopResult> results = simulateClosedLoops(tree, some);
    for (size_t r = 0; r < some.size(); ++r)
      EXPECT_EQ(results[r].recording.values, all[first + r].recording.values) << first << " " << r;
  }
}

// A run that becomes unstable says so and leaves its neighbours as they are.
TEST(ClosedLoopBatch, LostRunsDoNotDisturbOthers) {
  const auto model = bundled("tx40.yaml");
  const Tree tree(model);
  std::vector<ClosedLoopRun> runs = differentRuns(tree, 4, 0.3);
  const std::vector<ClosedLoopResult> good = simulateClosedLoops(tree, runs);
  runs[1].servo.kp *= 100.0;
  runs[1].servo.torque_limit.setConstant(1e6);
  runs[1].options.measurement_latency = 0.01;
  const std::vector<ClosedLoopResult> mixed = simulateClosedLoops(tree, runs);
  EXPECT_NE(mixed[1].failure.find("stops at"), std::string::npos) << mixed[1].failure;
  EXPECT_LT(mixed[1].recording.samples(), good[1].recording.samples());
  EXPECT_GT(mixed[1].recording.samples(), 0);
  for (size_t r : {size_t{0}, size_t{2}, size_t{3}})
    EXPECT_EQ(mixed[r].recording.values, good[r].recording.values) << r;
}

// Robots that need one lane (couplings of accelerations), runs of different shapes and an empty
// batch go through the same door.
TEST(ClosedLoopBatch, MixedShapes) {
  const auto model = bundled("tx40_coupled.yaml");
  const Tree tree(model);
  std::vector<ClosedLoopRun> runs(3, runOf(tree, sineMotion(tree, 0.1, 0.5, 0.1, 1000.0)));
  runs[1].options.sample_rate = 500.0;
  runs[2].options.integrator = Integrator::kRk2;
  const std::vector<ClosedLoopResult> results = simulateClosedLoops(tree, runs);
  EXPECT_EQ(results[0].recording.samples(), 101);
  EXPECT_EQ(results[1].recording.samples(), 51);
  EXPECT_EQ(results[0].recording.values, simulateClosedLoop(tree, runs[0]).recording.values);
  EXPECT_EQ(results[2].recording.values, simulateClosedLoop(tree, runs[2]).recording.values);
  EXPECT_TRUE(simulateClosedLoops(tree, {}).empty());
}

// Flexible joints, bristles and computed torque run in lanes, too.
TEST(ClosedLoopBatch, FlexibleBristledComputedTorque) {
  Model model = *bundled("planar_2r.yaml");
  for (Joint& joint : model.joints) {
    joint.drive.declared = true;
    joint.drive.rotor_inertia = 0.05;
    joint.drive.stiffness = 2000.0;
    joint.drive.damping = 2.0;
    joint.friction.dynamic = {DynamicFrictionKind::kLuGre, 500.0, 1.0, 0.1, 0.3, 0.5, 0.1, 2.0};
  }
  model.joints[1].friction.dynamic.kind = DynamicFrictionKind::kLeuven;
  const Tree tree(finished(model));
  Control control;
  control.kind = ControlKind::kComputedTorque;
  std::vector<ClosedLoopRun> runs(3, runOf(tree, sineMotion(tree, 0.2, 0.5, 0.3, 1000.0)));
  for (size_t r = 0; r < runs.size(); ++r) {
    runs[r].servo = declaredServo(tree, runs[r].plant, control, tree.neutralPosition());
    runs[r].servo.kp *= 1.0 + 0.1 * static_cast<double>(r);
  }
  const std::vector<ClosedLoopResult> results = simulateClosedLoops(tree, runs);
  for (size_t r = 0; r < runs.size(); ++r) {
    const ClosedLoopResult one = simulateClosedLoop(tree, runs[r]);
    EXPECT_LT((column(results[r], "q_elbow") - column(one, "q_elbow")).cwiseAbs().maxCoeff(), 1e-9);
  }
}

}  // namespace
}  // namespace proprio
