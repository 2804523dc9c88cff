#include "proprio/identification/noise_bias.h"

#include <gtest/gtest.h>

#include <cmath>

#include "proprio/core/random.h"
#include "proprio/identification/testing/synthetic_data.h"

namespace proprio {
namespace {

using testing::smoothData;
using testing::treeOf;

struct BiasedProblem {
  IdentificationProblem problem;
  Eigen::VectorXd truth;  // base parameters
};

std::shared_ptr<const MotionSamples> asCommanded(const Tree& tree, const MotionData& exact) {
  auto reference = std::make_shared<MotionSamples>();
  for (const Joint& joint : tree.model().joints) {
    if (joint.velocity_index >= 0) reference->joints.push_back(joint.name);
  }
  reference->time = exact.time.array() - 0.002;
  reference->q = exact.q;
  reference->v = exact.v;
  reference->a = exact.a;
  return reference;
}

/// @param motion_noise  of accelerations, rad/s^2; three hundredths of it in velocities
BiasedProblem biasedProblem(double torque_noise, double motion_noise, bool commanded) {
  const auto tree = treeOf("planar_2r");
  BiasedProblem out{identificationProblem(tree, {smoothData(*tree, 800, 7)}), {}};
  MotionData& data = out.problem.data[0];
  if (commanded) data.reference = asCommanded(*tree, data);
  const auto samples = static_cast<int>(data.samples());
  Eigen::VectorXd noise(samples);
  std::uint64_t stream = 0;
  const auto disturb = [&](auto column, double size) {
    normalNumbers(21, stream++, 0, samples, noise.data());
    column += size * noise;
  };
  for (Eigen::Index j = 0; j < data.tau.cols(); ++j) {
    disturb(data.tau.col(j), torque_noise);
    disturb(data.a.col(j), motion_noise);
    disturb(data.v.col(j), 0.03 * motion_noise);
  }
  out.problem.stacked =
      stack(*tree, out.problem.layout, out.problem.base.independent, out.problem.data);
  out.truth = baseMatrix(out.problem.base) * testing::declaredValues(*tree);
  return out;
}

struct BiasedRuns {
  double rejected = 0.0;  // share at 5 %
  double biased = 0.0;    // share that is called biased
  double mean_relevance = 0.0;
};

/// @param motion_noise  of accelerations, rad/s^2; a tenth of it in velocities
/// @param memory        of the torque noise
/// @param commanded     the true motion is given as the commanded one
BiasedRuns runsWith(int runs, double motion_noise, double memory, bool commanded) {
  const auto tree = treeOf("planar_2r");
  IdentificationProblem problem = identificationProblem(tree, {smoothData(*tree, 800, 7)});
  const MotionData exact = problem.data[0];
  if (commanded) problem.data[0].reference = asCommanded(*tree, exact);
  const Eigen::Index n = exact.samples();
  BiasedRuns result;
  Eigen::VectorXd noise(n);
  for (int run = 0; run < runs; ++run) {
    std::uint64_t stream = 100 * static_cast<std::uint64_t>(run);
    for (Eigen::Index j = 0; j < 2; ++j) {
      normalNumbers(21, stream++, 0, static_cast<int>(n), noise.data());
      for (Eigen::Index t = 1; t < n; ++t) noise[t] += memory * noise[t - 1];
      problem.data[0].tau.col(j) = exact.tau.col(j) + (j == 0 ? 0.5 : 0.1) * noise;
      normalNumbers(21, stream++, 0, static_cast<int>(n), noise.data());
      problem.data[0].a.col(j) = exact.a.col(j) + motion_noise * noise;
      normalNumbers(21, stream++, 0, static_cast<int>(n), noise.data());
      problem.data[0].v.col(j) = exact.v.col(j) + 0.1 * motion_noise * noise;
    }
    problem.stacked = stack(*tree, problem.layout, problem.base.independent, problem.data);
    const NoiseBiasTest test = testNoiseBias(problem, identify("wls", problem));
    result.rejected += test.result.rejects(0.05);
    result.biased += test.biased();
    result.mean_relevance += test.relevance / runs;
  }
  result.rejected /= runs;
  result.biased /= runs;
  return result;
}

/// Claim: without noise in the motion the test of level 5 % rejects in about 5 % of the runs (four
/// binomial deviations of 300 runs), for white and for coloured torque noise and for both kinds of
/// instruments; bias is claimed in at most 2 %.
TEST(NoiseBias, FalseAlarmsAreRare) {
  const double limit = 4.0 * std::sqrt(0.05 * 0.95 / 300);
  for (const double memory : {0.0, 0.7}) {
    for (const bool commanded : {false, true}) {
      const BiasedRuns runs = runsWith(300, 0.0, memory, commanded);
      EXPECT_NEAR(runs.rejected, 0.05, limit) << memory << commanded;
      EXPECT_LE(runs.biased, 0.02) << memory << commanded;
      EXPECT_GT(runs.mean_relevance, 0.8);
    }
  }
}

/// Claim: noise in the accelerations that biases inertias by several deviations is found in at
/// least 95 % of the runs.
TEST(NoiseBias, IsFound) {
  for (const bool commanded : {false, true}) {
    EXPECT_GT(runsWith(60, 1.5, 0.0, commanded).biased, 0.95) << commanded;
    EXPECT_GT(runsWith(60, 1.5, 0.5, commanded).biased, 0.95) << commanded;
  }
}

/// Claim: a false all-clear is not given, however large the noise: where least squares is off by
/// more than eight of its standard deviations, bias is found or the test says that it is undecided,
/// from slight noise to a regressor that is nothing else. Without noise the all-clear is given.
TEST(NoiseBias, IsUndecidedWhereItCannotSee) {
  int off = 0, undecided = 0;
  for (const bool commanded : {false, true}) {
    for (const double torque_noise : {0.2, 5.0}) {
      for (const double level : {0.0, 1.0, 3.0, 10.0, 30.0, 100.0, 1000.0}) {
        const BiasedProblem noisy = biasedProblem(torque_noise, level, commanded);
        const Estimate estimate = identify("wls", noisy.problem);
        const Eigen::ArrayXd sigma = estimate.covariance.diagonal().array().sqrt();
        const double error = ((estimate.beta - noisy.truth).array() / sigma).abs().maxCoeff();
        const NoiseBiasTest test = testNoiseBias(noisy.problem, estimate);
        if (level == 0.0) {
          EXPECT_TRUE(test.decided());
          EXPECT_FALSE(test.biased());
        }
        if (error < 8.0) continue;
        ++off;
        undecided += !test.decided();
        EXPECT_TRUE(test.biased() || !test.decided())
            << "noise " << level << " torque noise " << torque_noise << " commanded " << commanded
            << ": off by " << error << ", a bias of " << test.detectable << " would show";
      }
    }
  }
  EXPECT_GE(off, 15);
  EXPECT_GE(undecided, 4);
}

/// Claim: where neighbours know nothing of a sample the test says so instead of guessing.
TEST(NoiseBias, KeepsSilentWithoutInstruments) {
  const auto tree = treeOf("planar_2r");
  const IdentificationProblem problem =
      identificationProblem(tree, {testing::noisyData(*tree, 500, 0.1, 3)});
  const NoiseBiasTest test = testNoiseBias(problem, identify("wls", problem));
  EXPECT_FALSE(test.biased());
}

}  // namespace
}  // namespace proprio
