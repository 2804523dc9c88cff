#include "proprio/numerics/residual_tests.h"

#include <gtest/gtest.h>

#include <cmath>

#include "proprio/core/error.h"
#include "proprio/core/random.h"

namespace proprio {
namespace {

constexpr double kLevel = 0.05;

Counts everySample(Eigen::Index n) { return Counts::Constant(n, true); }

Eigen::VectorXd whiteNoise(std::uint64_t run, Eigen::Index n) {
  Eigen::VectorXd noise(n);
  normalNumbers(11, run, 0, static_cast<int>(n), noise.data());
  return noise;
}

/// x_t = memory x_(t-1) + u_t, started in its stationary distribution.
Eigen::VectorXd colouredNoise(std::uint64_t run, Eigen::Index n, double memory) {
  Eigen::VectorXd x = whiteNoise(run, n);
  x[0] /= std::sqrt(1.0 - memory * memory);
  for (Eigen::Index t = 1; t < n; ++t) x[t] += memory * x[t - 1];
  return x;
}

/// A third of the samples away: every tenth, and long stretches.
Counts withGaps(Eigen::Index n) {
  Counts counts = everySample(n);
  for (Eigen::Index t = 0; t < n; ++t) counts[t] = t % 10 != 3 && (t / 50) % 4 != 2;
  return counts;
}

/// The share of `runs` seeded runs in which a test of level 5 % rejects.
template <class Test>
double rejections(int runs, const Test& test) {
  int count = 0;
  for (int run = 0; run < runs; ++run)
    count += test(static_cast<std::uint64_t>(run)).rejects(kLevel);
  return static_cast<double>(count) / runs;
}

/// Four standard deviations of a binomial share.
double binomialLimit(int runs) { return 4.0 * std::sqrt(kLevel * (1.0 - kLevel) / runs); }

Eigen::VectorXd referenceSeries() {
  Eigen::VectorXd x(120);
  for (Eigen::Index t = 0; t < x.size(); ++t) {
    const auto s = static_cast<double>(t);
    x[t] = std::sin(0.7 * s * s) + 0.3 * std::cos(0.2 * s);
  }
  return x;
}

/// Claim: statistics and p-values are those of other people's programs: statsmodels 0.15.0
/// (acorr_ljungbox, het_breuschpagan with robust=True, yule_walker 'mle') and SciPy 1.17.1
/// (jarque_bera) on sin(0.7 t^2) + 0.3 cos(0.2 t), t = 0 ... 119.
TEST(ResidualTests, AgreeWithStatsmodelsAndScipy) {
  const Eigen::VectorXd x = referenceSeries();
  const TestResult white = whitenessTest(x, everySample(120), 10);
  EXPECT_NEAR(white.statistic, 15.59701074109542, 1e-10);
  EXPECT_NEAR(white.p_value, 0.11176422958127646, 1e-10);
  const TestResult normal = normalityTest(x, everySample(120));
  EXPECT_NEAR(normal.statistic, 6.471694345558175, 1e-10);
  EXPECT_NEAR(normal.p_value, 0.039326874166357155, 1e-10);
  Eigen::MatrixXd Z(120, 2);
  for (Eigen::Index t = 0; t < 120; ++t)
    Z.row(t) << static_cast<double>(t), std::cos(0.2 * static_cast<double>(t));
  const TestResult constant = constantVarianceTest(x.array() - x.mean(), Z, everySample(120));
  EXPECT_NEAR(constant.statistic, 0.36875823180763323, 1e-10);
  EXPECT_NEAR(constant.p_value, 0.8316204635115277, 1e-10);
  const Autocovariance memory = autocovariance(x, everySample(120), 3);
  Eigen::Matrix3d toeplitz;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) toeplitz(i, j) = memory.values[std::abs(i - j)];
  }
  const Eigen::Vector3d expected(0.06284898, 0.14399124, 0.15276163);
  EXPECT_LT((toeplitz * expected - memory.values.tail(3)).norm(), 1e-8);
}

/// Claim: on white normal noise each test of level 5 % rejects in 5 % of 2000 runs (four binomial
/// deviations; Jarque-Bera is known to reject less often, its skewness and kurtosis being slow to
/// become normal), with and without gaps.
TEST(ResidualTests, FalsePositiveRatesAreTheLevel) {
  constexpr int kRuns = 2000;
  constexpr Eigen::Index kSamples = 400;
  for (const Counts& counts : {everySample(kSamples), withGaps(kSamples)}) {
    Eigen::MatrixXd inputs(kSamples, 2);
    inputs << colouredNoise(90001, kSamples, 0.8), colouredNoise(90002, kSamples, 0.95);
    const auto rate = [&](auto test) {
      return rejections(kRuns, [&](std::uint64_t run) { return test(whiteNoise(run, kSamples)); });
    };
    EXPECT_NEAR(rate([&](const auto& e) { return whitenessTest(e, counts, 12); }), kLevel,
                binomialLimit(kRuns));
    EXPECT_NEAR(rate([&](const auto& e) { return constantVarianceTest(e, inputs, counts); }),
                kLevel, binomialLimit(kRuns));
    EXPECT_NEAR(rate([&](const auto& e) { return independenceTest(e, inputs, counts, 4); }), kLevel,
                binomialLimit(kRuns));
    const double normality = rate([&](const auto& e) { return normalityTest(e, counts); });
    EXPECT_GT(normality, 0.02);
    EXPECT_LT(normality, kLevel + binomialLimit(kRuns));
  }
}

/// Claim: what each test looks for is found in at least 95 % of 200 runs of 400 samples.
TEST(ResidualTests, FindWhatTheyLookFor) {
  constexpr int kRuns = 200;
  constexpr Eigen::Index n = 400;
  const Counts counts = withGaps(n);
  const Eigen::VectorXd input = colouredNoise(90001, n, 0.8);
  EXPECT_GT(rejections(kRuns,
                       [&](std::uint64_t run) {
                         return whitenessTest(colouredNoise(run, n, 0.4), counts, 12);
                       }),
            0.95);
  EXPECT_GT(rejections(kRuns,
                       [&](std::uint64_t run) {
                         const Eigen::VectorXd e = whiteNoise(run, n);
                         return normalityTest(e.array().cube(), counts);
                       }),
            0.95);
  EXPECT_GT(rejections(kRuns,
                       [&](std::uint64_t run) {
                         const Eigen::VectorXd e =
                             whiteNoise(run, n).array() * (0.3 * input.array()).exp();
                         return constantVarianceTest(e, input, counts);
                       }),
            0.95);
  EXPECT_GT(rejections(kRuns,
                       [&](std::uint64_t run) {
                         Eigen::VectorXd e = whiteNoise(run, n);
                         e.tail(n - 2) += 0.3 * input.head(n - 2);
                         return independenceTest(e, input, counts, 4);
                       }),
            0.95);
}

/// Claim: an input that is the residual two samples ago shows as a correlation at lag two only.
TEST(ResidualTests, CrossCorrelationFindsTheLag) {
  constexpr Eigen::Index n = 4000;
  const Eigen::VectorXd input = whiteNoise(1, n);
  Eigen::VectorXd e = Eigen::VectorXd::Zero(n);
  e.tail(n - 2) = input.head(n - 2);
  const Eigen::VectorXd r = crossCorrelation(e, input, everySample(n), 6);
  EXPECT_NEAR(r[2], 1.0, 0.01);
  for (const int k : {0, 1, 3, 4, 5, 6}) EXPECT_LT(std::abs(r[k]), 5.0 / std::sqrt(n)) << k;
}

/// Claim: series that cannot be judged (empty, one sample, constant, nothing counts) give no
/// verdict, and broken ones are refused.
TEST(ResidualTests, EdgesGiveNoVerdict) {
  for (const Eigen::Index n : {0, 1, 30}) {
    const Eigen::VectorXd flat = Eigen::VectorXd::Constant(n, 3.0);
    EXPECT_EQ(whitenessTest(flat, everySample(n), 5).degrees, 0.0);
    EXPECT_EQ(normalityTest(flat, everySample(n)).degrees, 0.0);
    EXPECT_EQ(independenceTest(flat, flat, everySample(n), 2).degrees, 0.0);
    EXPECT_EQ(fitAutoregression(flat, everySample(n)).order(), 0);
  }
  const Eigen::VectorXd x = whiteNoise(1, 30);
  EXPECT_FALSE(whitenessTest(x, Counts::Constant(30, false), 5).rejects(1.0));
  EXPECT_THROW(whitenessTest(x, everySample(29), 5), Error);
  EXPECT_THROW(regressionTest(x, Eigen::MatrixXd::Zero(29, 1), everySample(30)), Error);
  Eigen::VectorXd broken = x;
  broken[7] = std::nan("");
  EXPECT_THROW(normalityTest(broken, everySample(30)), Error);
  Counts without = everySample(30);
  without[7] = false;
  EXPECT_NO_THROW(normalityTest(broken, without));
}

/// Claim: the memory of x_t = 0.8 x_(t-1) + u_t is found through gaps: sum of autocorrelations
/// (1 + 0.8) / (1 - 0.8) = 9 on average within 5 %, and its innovations are white; white noise gets
/// no memory in 95 % of the runs.
TEST(Autoregression, FindsTheMemory) {
  constexpr int kRuns = 100;
  constexpr Eigen::Index n = 4000;
  double sum = 0.0;
  int white_orders = 0;
  for (int run = 0; run < kRuns; ++run) {
    const auto seed = static_cast<std::uint64_t>(run);
    sum += fitAutoregression(colouredNoise(seed, n, 0.8), withGaps(n)).longRunRatio();
    white_orders += fitAutoregression(whiteNoise(seed, n), withGaps(n)).order() > 0;
  }
  EXPECT_NEAR(sum / kRuns, 9.0, 0.45);
  EXPECT_LE(white_orders, kRuns / 20);
  const double rate = rejections(500, [&](std::uint64_t run) {
    const Eigen::VectorXd x = colouredNoise(run, 1000, 0.8);
    const Autoregression model = fitAutoregression(x, everySample(1000));
    Counts counts = everySample(1000);
    const Eigen::VectorXd u = innovations(model, x, &counts);
    return whitenessTest(u, counts, 12, model.order());
  });
  EXPECT_NEAR(rate, kLevel, binomialLimit(500));
}

/// Claim: noise whose upper band a filter has emptied keeps its slow part when some samples are
/// missing. It is the sum of four means of eight samples, one after the other, whose long-run ratio
/// is 1 / sum of the squares of the filter's weights (they add to one); on average over 100 runs it
/// is found within 15 % with eight samples missing, as with none: rows beside reversals that do not
/// count made the equations indefinite, and half of it was lost.
TEST(Autoregression, GapsDoNotHideSlowNoise) {
  constexpr Eigen::Index kSamples = 500, kWidth = 8;
  constexpr int kRuns = 100, kPasses = 4;
  Eigen::VectorXd weights = Eigen::VectorXd::Ones(1);
  for (int pass = 0; pass < kPasses; ++pass) {
    Eigen::VectorXd wider = Eigen::VectorXd::Zero(weights.size() + kWidth - 1);
    for (Eigen::Index k = 0; k < kWidth; ++k)
      wider.segment(k, weights.size()) += weights / static_cast<double>(kWidth);
    weights = wider;
  }
  const double expected = 1.0 / weights.squaredNorm();
  for (const bool gaps : {false, true}) {
    Counts counts = everySample(kSamples);
    for (Eigen::Index t = 40; gaps && t < kSamples; t += 60) counts[t] = false;
    double found = 0.0;
    for (int run = 0; run < kRuns; ++run) {
      const Eigen::VectorXd white =
          whiteNoise(static_cast<std::uint64_t>(run), kSamples + weights.size());
      Eigen::VectorXd series(kSamples);
      for (Eigen::Index t = 0; t < kSamples; ++t)
        series[t] = white.segment(t, weights.size()).dot(weights);
      found += fitAutoregression(series, counts).longRunRatio() / kRuns;
    }
    EXPECT_NEAR(found / expected, 1.0, 0.15) << (gaps ? "gaps" : "no gaps");
  }
}

/// Claim: products with earlier rows are the sums that they are defined as; sizes must fit.
TEST(Autoregression, LaggedProductsEqualTheirDefinition) {
  constexpr Eigen::Index kRows = 7, kLags = 3, kColumns = 2;
  const Eigen::MatrixXd A = Eigen::MatrixXd::Random(kRows, kColumns);
  const Eigen::MatrixXd B = Eigen::MatrixXd::Random(kRows + kLags, kColumns);
  Eigen::VectorXd sums = Eigen::VectorXd::Ones(kLags + 1);
  addLaggedProducts(A, B, sums);
  for (Eigen::Index k = 0; k <= kLags; ++k) {
    double expected = 1.0;
    for (Eigen::Index t = 0; t < kRows; ++t) {
      for (Eigen::Index c = 0; c < kColumns; ++c) expected += A(t, c) * B(kLags + t - k, c);
    }
    EXPECT_NEAR(sums[k], expected, 1e-14);
  }
  EXPECT_THROW(addLaggedProducts(A, B.topRows(kRows), sums), Error);
}

/// Claim: a fit of 30 slow columns takes most of the slow part of the noise out of 500 residuals;
/// the model of the noise behind them knows it all the same. The long-run ratio, (1 + m) / (1 - m)
/// for noise of memory m, comes out to 10 % over 200 runs (standard error of the mean: 3 %), while
/// that of the residuals themselves is less than 0.6 of it where the noise has a memory.
TEST(Autoregression, FindsTheNoiseBehindResiduals) {
  constexpr Eigen::Index kSamples = 500, kColumns = 30;
  constexpr int kRuns = 200;
  Eigen::MatrixXd Q(kSamples, kColumns);  // cosines, orthonormal
  for (Eigen::Index t = 0; t < kSamples; ++t) {
    for (Eigen::Index c = 0; c < kColumns; ++c)
      Q(t, c) = std::cos(M_PI * static_cast<double>(c) * (static_cast<double>(t) + 0.5) / kSamples);
  }
  Q.colwise().normalize();
  const Counts counts = everySample(kSamples);
  Eigen::VectorXd leverages(highestOrder(kSamples) + 1);
  for (Eigen::Index k = 0; k < leverages.size(); ++k)
    leverages[k] = Q.topRows(kSamples - k).cwiseProduct(Q.bottomRows(kSamples - k)).sum();
  EXPECT_NEAR(leverages[0], kColumns, 1e-9);
  for (const double memory : {0.0, 0.7}) {
    double behind = 0.0, left = 0.0;
    for (int run = 0; run < kRuns; ++run) {
      const Eigen::VectorXd noise =
          colouredNoise(static_cast<std::uint64_t>(run), kSamples, memory);
      const Eigen::VectorXd residual = noise - Q * (Q.transpose() * noise);
      behind += fitNoise(residual, counts, leverages).longRunRatio() / kRuns;
      left += fitAutoregression(residual, counts).longRunRatio() / kRuns;
    }
    const double truth = (1.0 + memory) / (1.0 - memory);
    EXPECT_NEAR(behind, truth, 0.1 * truth) << memory;
    if (memory > 0.0) {
      EXPECT_LT(left, 0.6 * truth);
    }
  }
  EXPECT_THROW(fitNoise(whiteNoise(1, kSamples), counts, leverages.head(3)), Error);
}

}  // namespace
}  // namespace proprio
