/// The published contrast (Ardiani 2023 App. D): a TX40 under a P-P cascade of 10 Hz at 5 kHz, its
/// recorded positions rounded to 2e-4 and to 2e-2 degrees per count. Published: the error of
/// consistent least squares grows from 5 to 25 %, that of instrumental variables from 5.4 to 6.1 %;
/// a simulated servo of half the bandwidth harms what believes the simulated motion.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "proprio/identification/instrumental_variables.h"
#include "proprio/identification/testing/simulated_recordings.h"
#include "proprio/signal/joint_signals.h"
#include "proprio/spatial/physical_consistency.h"

namespace proprio {
namespace {

constexpr double kDegree = std::numbers::pi / 180.0;
/// Torque noise relative to the rms of each joint: what the published 5 % of the real robot are.
constexpr double kTorqueShare = 0.05;
/// Thirty times the bandwidth: next to nothing is filtered away. The published factor of 4 to 5
/// comes out here; at ten times the bandwidth least squares is 1.5 times as wrong, at fifty iv
/// breaks down.
constexpr double kCutoff = 300.0;

struct Contrast {
  std::shared_ptr<const Tree> twin, drawings;
  std::shared_ptr<const MotionSamples> motion;
  Recording recording;
  MotionData validation;  ///< true motion, measured torque
};

/// Torques get noise of 5 % of their joint's rms.
Contrast simulatedTwin() {
  Contrast out;
  out.twin = testing::cascadeTwin("tx40", 10.0);
  out.drawings = testing::wrongDrawings(*out.twin);
  out.motion = testing::excitingMotion(*out.twin, 4.0, 5000.0, 21);
  ClosedLoopRun run = testing::closedLoopOf(*out.twin, out.motion, 5000.0);
  run.options.quantisation = 2e-4 * kDegree;
  out.recording = simulateClosedLoop(*out.twin, run).recording;
  std::mt19937_64 random(4);
  std::normal_distribution<double> gaussian(0.0, 1.0);
  for (const Joint& joint : out.twin->model().joints) {
    const int column = out.recording.column(Quantity::kTorque, Role::kMeasured, joint.name);
    if (column < 0) continue;
    auto torque = out.recording.values.col(column);
    const double size = std::sqrt(torque.squaredNorm() / static_cast<double>(torque.size()));
    for (double& value : torque) value += kTorqueShare * size * gaussian(random);
  }
  out.validation = testing::truthOf(*out.twin, out.recording, out.motion, 0.05);
  for (size_t j = 0; j < out.twin->model().joints.size(); ++j) {
    const int i = out.twin->velocityIndex(static_cast<int>(j));
    if (i >= 0)
      out.validation.tau.col(i) = out.recording.values.col(out.recording.column(
          Quantity::kTorque, Role::kMeasured, out.twin->model().joints[j].name));
  }
  return out;
}

/// What identification gets of an encoder with that step.
IdentificationProblem problemOf(const Contrast& contrast, const std::shared_ptr<const Tree>& tree,
                                double degrees_per_count) {
  Recording recording = contrast.recording;
  for (size_t c = 0; c < recording.channels.size(); ++c) {
    const Channel& channel = recording.channels[c];
    if (channel.quantity != Quantity::kPosition || channel.role != Role::kMeasured) continue;
    auto q = recording.values.col(static_cast<Eigen::Index>(c)).array();
    q = (q / (degrees_per_count * kDegree)).round() * (degrees_per_count * kDegree);
  }
  JointSignalOptions options;
  options.cutoff_hz = {kCutoff};
  options.decimated_rate_hz = 500.0;
  MotionData data = motionData(*tree, jointSignals(recording, options));
  attachReference(*tree, recording, &data);
  return identificationProblem(tree, {std::move(data)});
}

/// Mean over the joints of |tau - predicted| / |tau| along the true motion.
double errorOf(const Contrast& contrast, const IdentificationProblem& problem,
               const Estimate& estimate) {
  const MotionData& data = contrast.validation;
  const Eigen::MatrixXd error =
      data.tau - predictTorques(*problem.tree, *problem.layout, estimate.chi, data);
  double sum = 0.0;
  for (Eigen::Index j = 0; j < error.cols(); ++j) {
    const Eigen::VectorXd use = data.use.col(j).cast<double>();
    sum += error.col(j).cwiseProduct(use).norm() / data.tau.col(j).cwiseProduct(use).norm();
  }
  return sum / static_cast<double>(error.cols());
}

/// What coarse counts may do to a method: its error / error of least squares with fine counts.
struct Expected {
  const char* method;
  double least, most;
};

/// Claim: coarse quantisation multiplies the error of least squares by about four (4.1 and 4.5
/// here) and leaves methods with simulated or commanded motions almost where they were: consistent
/// ones and didim within 20 %, iv, which has nothing to hold on to but its instruments, within 60
/// %. Each needs at most four rounds from drawings that are 20 % wrong, and consistent ones are
/// consistent.
TEST(EncoderContrast, CoarseCountsBiasLeastSquaresOnly) {
  const Contrast contrast = simulatedTwin();
  const IdentificationProblem fine = problemOf(contrast, contrast.drawings, 2e-4);
  const IdentificationProblem coarse = problemOf(contrast, contrast.drawings, 2e-2);
  const double base = errorOf(contrast, fine, identify("wls", fine));
  EXPECT_LT(base, 1.05 * kTorqueShare);
  for (const Expected& expected :
       {Expected{"wls", 3.5, 6.0}, Expected{"pc-wls", 4.0, 6.0}, Expected{"iv", 0.9, 1.6},
        Expected{"iv-commanded", 0.9, 1.5}, Expected{"didim", 0.9, 1.2},
        Expected{"pc-iv", 0.9, 1.2}, Expected{"pc-didim", 0.9, 1.2}}) {
    const Estimate estimate = identify(expected.method, coarse);
    const double ratio = errorOf(contrast, coarse, estimate) / base;
    EXPECT_GT(ratio, expected.least) << expected.method;
    EXPECT_LT(ratio, expected.most) << expected.method;
    EXPECT_TRUE(estimate.converged) << expected.method;
    if (!method(expected.method).simulates) continue;
    EXPECT_LE(estimate.iterations, 4) << expected.method;
    if (!method(expected.method).consistent) continue;
    for (int link = 1; link <= 6; ++link) {
      const Vector10d values = estimate.chi.segment<10>(coarse.layout->linkOffset(link));
      EXPECT_TRUE(consistencyMargins(InertialParameters::fromVector(values)).fullyConsistent())
          << expected.method << " link " << link;
    }
  }
}

/// Claim, as a curve over the declared bandwidth of a servo of 10 Hz: iv keeps its answer, since
/// its instruments are still instruments; didim believes the simulated motion, and the farther it
/// is from the real one the more it loses, a tenth and more at half the bandwidth, whether
/// consistent or not.
TEST(EncoderContrast, WrongGainsHarmDirectAndInverseOnly) {
  const Contrast contrast = simulatedTwin();
  double didim_before = 0.0, consistent_before = 0.0;
  for (const double bandwidth : {10.0, 7.0, 5.0, 3.5}) {
    const auto tree = testing::wrongDrawings(*testing::cascadeTwin("tx40", bandwidth));
    const IdentificationProblem problem = problemOf(contrast, tree, 2e-4);
    const auto error = [&](const char* name) {
      return errorOf(contrast, problem, identify(name, problem));
    };
    EXPECT_LT(error("iv"), 1.05 * kTorqueShare) << bandwidth;
    EXPECT_LT(error("pc-iv"), 1.05 * kTorqueShare) << bandwidth;
    const double didim = error("didim"), consistent = error("pc-didim");
    EXPECT_GT(didim, didim_before) << bandwidth;
    EXPECT_GT(consistent, consistent_before) << bandwidth;
    if (bandwidth <= 5.0) {
      EXPECT_GT(std::min(didim, consistent), 1.1 * kTorqueShare) << bandwidth;
    }
    didim_before = didim;
    consistent_before = consistent;
  }
}

}  // namespace
}  // namespace proprio
