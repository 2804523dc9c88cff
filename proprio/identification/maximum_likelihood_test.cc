#include "proprio/identification/maximum_likelihood.h"

#include <gtest/gtest.h>

#include <random>

#include "proprio/identification/least_squares.h"
#include "proprio/identification/testing/synthetic_data.h"
#include "proprio/signal/joint_signals.h"

namespace proprio {
namespace {

using Eigen::Index;

/// A smooth motion whose positions, velocities and accelerations are known with noise.
MotionData noisyMotion(const Tree& tree, const Eigen::Vector3d& noise, double torque_noise,
                       unsigned seed) {
  MotionData data = testing::smoothData(tree, 300, 7);
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  const auto spoil = [&](Eigen::MatrixXd* x, double sigma) {
    *x +=
        sigma * Eigen::MatrixXd::NullaryExpr(x->rows(), x->cols(), [&] { return normal(random); });
  };
  spoil(&data.q, noise[0]);
  spoil(&data.v, noise[1]);
  spoil(&data.a, noise[2]);
  spoil(&data.tau, torque_noise);
  data.noise = noise.transpose().replicate(tree.velocityCount(), 1);
  // velocities near zero would turn the sign of dry friction
  data.use = (data.v.array().abs() > 5.0 * noise[1] + 1e-6);
  return data;
}

std::shared_ptr<const Tree> planarArm() {
  Model model = testing::treeOf("planar_2r")->model();
  return std::make_shared<const Tree>(std::make_shared<const Model>(std::move(model)));
}

/// Claim (L-23): noise in the accelerations shrinks the inertias of least squares; maximum
/// likelihood, exact to first order in the noise's variance, leaves less than a fifth of that bias,
/// and its covariance is that of its scatter.
TEST(MaximumLikelihood, IsLessBiasedThanLeastSquares) {
  const auto tree = planarArm();
  const Eigen::VectorXd truth = testing::declaredValues(*tree);
  constexpr int kRuns = 40;
  Eigen::VectorXd mean_wls, mean_ml, expected, square, variance;
  for (unsigned seed = 1; seed <= kRuns; ++seed) {
    const IdentificationProblem problem =
        identificationProblem(tree, {noisyMotion(*tree, {1e-4, 1e-3, 1.0}, 0.02, seed)});
    expected = splitParameters(problem.base, truth).beta;
    const Estimate wls = identify("wls", problem), ml = identify("ml", problem);
    EXPECT_TRUE(ml.converged);
    if (seed == 1) mean_wls = mean_ml = square = variance = Eigen::VectorXd::Zero(expected.size());
    mean_wls += wls.beta / kRuns;
    mean_ml += ml.beta / kRuns;
    square += (ml.beta - expected).cwiseAbs2() / kRuns;
    variance += ml.covariance.diagonal() / kRuns;
  }
  // the parameter that least squares gets most wrong, in standard errors of the mean
  const Eigen::VectorXd error = (variance / kRuns).cwiseSqrt();
  Index worst = 0;
  const double bias_wls = (mean_wls - expected).cwiseQuotient(error).cwiseAbs().maxCoeff(&worst);
  EXPECT_GT(bias_wls, 10.0);
  EXPECT_LT(std::abs(mean_ml[worst] - expected[worst]),
            0.2 * std::abs(mean_wls[worst] - expected[worst]));
  for (Index i = 0; i < expected.size(); ++i) {
    // chi-square of 39 degrees of freedom: within a factor of 2 with probability above 0.999
    const double scatter = square[i] - std::pow(mean_ml[i] - expected[i], 2);
    EXPECT_LT(scatter, 2.0 * variance[i]) << i;
    EXPECT_GT(scatter, 0.5 * variance[i]) << i;
  }
}

/// Claim: without noise in the motion it is weighted least squares; without knowledge of it too,
/// and says so.
TEST(MaximumLikelihood, IsLeastSquaresWithoutNoise) {
  const auto tree = testing::treeOf("tx40");
  MotionData data = testing::noisyData(*tree, 400, 0.1, 2);
  const IdentificationProblem unknown = identificationProblem(tree, {data});
  const Estimate told = identify("ml", unknown);
  ASSERT_EQ(told.notes.size(), 1U);
  EXPECT_EQ(told.beta, identify("wls", unknown).beta);
  data.noise = Eigen::MatrixXd::Constant(6, 3, 1e-12);
  const IdentificationProblem known = identificationProblem(tree, {data});
  const Estimate ml = identify("ml", known), wls = identify("wls", known);
  EXPECT_LT((ml.beta - wls.beta).norm(), 1e-8 * wls.beta.norm());
  EXPECT_LT((ml.covariance - wls.covariance).norm(), 1e-6 * wls.covariance.norm());
}

/// Claim: the noise that jointSignals() states is the one that filter and differences leave.
TEST(MaximumLikelihood, NoiseOfFilteredSignals) {
  constexpr Index kSamples = 20000;
  constexpr double kRate = 1000.0, kNoise = 1e-4;
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal(0.0, kNoise);
  Recording recording;
  Channel channel;
  channel.name = "q_a";
  channel.quantity = Quantity::kPosition;
  channel.of = "a";
  recording.channels = {channel};
  recording.time = Eigen::VectorXd::LinSpaced(kSamples, 0.0, (kSamples - 1) / kRate);
  const Eigen::ArrayXd phase = 2.0 * M_PI * 0.5 * recording.time.array();
  recording.values = phase.sin().matrix();
  JointSignalOptions options;
  options.require_torque = false;
  options.decimation = DecimationMode::kNone;
  Recording noisy = recording;
  for (Index k = 0; k < kSamples; ++k) noisy.values(k, 0) += normal(random);
  const JointSignals with = jointSignals(noisy, options);
  ASSERT_EQ(with.noise.rows(), 1);
  options.cutoff_hz = {with.cutoffs[0].cutoff_hz};
  const JointSignals without = jointSignals(recording, options);
  const auto rms = [](const Eigen::VectorXd& x) {
    return std::sqrt(x.squaredNorm() / static_cast<double>(x.size()));
  };
  // about 2 f_c T = 100 independent numbers: 7 % standard error; the estimate of the density adds
  EXPECT_NEAR(with.noise(0, 0), rms(with.q - without.q), 0.3 * with.noise(0, 0));
  EXPECT_NEAR(with.noise(0, 1), rms(with.v - without.v), 0.3 * with.noise(0, 1));
  EXPECT_NEAR(with.noise(0, 2), rms(with.a - without.a), 0.3 * with.noise(0, 2));
}

}  // namespace
}  // namespace proprio
