/// Recordings without any filter ("NF": differentiate and decimate only), Ardiani 2023 Table 2.7
/// an iiwa whose positions have the noise of an encoder. Published, percent of the torque
/// of joints 5 to 7: consistent least squares 11, 21 and 24, instrumental variables 11, 21 and 24,
/// the same unfiltered 11, 24 and 27, least squares unfiltered 46, 48 and 50. Their residual is
/// that of a real robot; here, in simulation, it is the noise of the torques.

#include <gtest/gtest.h>

#include <cmath>

#include "proprio/identification/instrumental_variables.h"
#include "proprio/identification/testing/simulated_recordings.h"
#include "proprio/signal/joint_signals.h"

namespace proprio {
namespace {

/// rad: filtered it does not matter, differentiated twice at 1 kHz it is 5 rad/s^2.
constexpr double kEncoderNoise = 2e-6;
/// Of the torque's rms, as the filtered errors of the first joints.
constexpr double kNoiseShare = 0.02;

struct UnfilteredTwin {
  std::shared_ptr<const Tree> tree;
  Recording train;
  MotionData validation;
};

UnfilteredTwin unfilteredTwin() {
  UnfilteredTwin twin;
  twin.tree = testing::cascadeTwin("iiwa14", 10.0);
  std::mt19937_64 random(5);
  std::normal_distribution<double> gaussian(0.0, 1.0);
  for (const unsigned seed : {3u, 4u}) {
    const auto motion = testing::excitingMotion(*twin.tree, 10.0, 1000.0, seed);
    ClosedLoopRun run = testing::closedLoopOf(*twin.tree, motion, 1000.0);
    run.options.encoder_noise = seed == 3u ? kEncoderNoise : 0.0;
    Recording recording = simulateClosedLoop(*twin.tree, run).recording;
    if (seed == 4u) {
      twin.validation = testing::truthOf(*twin.tree, recording, motion, 0.05);
      continue;
    }
    for (const Joint& joint : twin.tree->model().joints) {
      const int column = recording.column(Quantity::kTorque, Role::kMeasured, joint.name);
      if (column < 0) continue;
      auto torque = recording.values.col(column);
      const double size = std::sqrt(torque.squaredNorm() / static_cast<double>(torque.size()));
      for (double& value : torque) value += kNoiseShare * size * gaussian(random);
    }
    twin.train = std::move(recording);
  }
  return twin;
}

/// Errors in percent of the torque norm, joint by joint, on another motion.
Eigen::VectorXd errorsOf(const UnfilteredTwin& twin, bool filter, const char* method) {
  JointSignalOptions options;
  options.filter = filter;
  options.filter_torque = filter;
  options.decimated_rate_hz = 50.0;
  options.low_speed = {0.05};
  const auto drawings = testing::wrongDrawings(*twin.tree);
  MotionData data = motionData(*drawings, jointSignals(twin.train, options));
  attachReference(*drawings, twin.train, &data);
  const IdentificationProblem problem = identificationProblem(drawings, {std::move(data)});
  const Estimate estimate = identify(method, problem);
  const MotionData& other = twin.validation;
  const Eigen::MatrixXd error =
      other.tau - predictTorques(*problem.tree, *problem.layout, estimate.chi, other);
  Eigen::VectorXd percent(error.cols());
  for (Eigen::Index j = 0; j < error.cols(); ++j) {
    const Eigen::VectorXd use = other.use.col(j).cast<double>();
    percent[j] =
        100.0 * error.col(j).cwiseProduct(use).norm() / other.tau.col(j).cwiseProduct(use).norm();
  }
  return percent;
}

// Claim (the ordering of Table 2.7): filtered, consistent least squares and instrumental variables
// are equally good; unfiltered, instrumental variables lose up to five points, and least squares is
// at least twice as far off at the last three joints.
TEST(UnfilteredContrast, OrderingOfTable27) {
  const UnfilteredTwin twin = unfilteredTwin();
  const Eigen::VectorXd ls = errorsOf(twin, true, "pc-wls"), iv = errorsOf(twin, true, "pc-iv"),
                        unfiltered_ls = errorsOf(twin, false, "pc-wls"),
                        unfiltered_iv = errorsOf(twin, false, "pc-iv");
  for (Eigen::Index j = 0; j < 7; ++j) {
    EXPECT_NEAR(ls[j], iv[j], 2.0) << "joint " << j + 1;
    EXPECT_LT(unfiltered_iv[j], iv[j] + 5.0) << "joint " << j + 1;
    if (j < 4) continue;
    EXPECT_GT(unfiltered_ls[j], 2.0 * unfiltered_iv[j]) << "joint " << j + 1;
    EXPECT_GT(unfiltered_ls[j], 2.0 * ls[j]) << "joint " << j + 1;
  }
}

}  // namespace
}  // namespace proprio
