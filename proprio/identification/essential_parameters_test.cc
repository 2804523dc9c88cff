#include "proprio/identification/essential_parameters.h"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>

#include "proprio/core/random.h"
#include "proprio/identification/testing/synthetic_data.h"
#include "proprio/numerics/dense.h"

namespace proprio {
namespace {

constexpr Eigen::Index kSetRows = 300;

/// A synthetic set: ten columns of different lengths, slightly correlated, noise 1.
/// Columns 0 ... 5 have a part (relative deviations about 0.1 to 5 %), 6 ... 9 have none.
struct SyntheticSet {
  Eigen::MatrixXd W;
  Eigen::VectorXd truth;
};

SyntheticSet syntheticSet() {
  SyntheticSet set;
  set.W.resize(kSetRows, 10);
  for (Eigen::Index c = 0; c < 10; ++c)
    normalNumbers(31, static_cast<std::uint64_t>(c), 0, static_cast<int>(kSetRows),
                  set.W.col(c).data());
  for (Eigen::Index c = 1; c < 10; ++c) set.W.col(c) += 0.3 * set.W.col(c - 1);
  set.truth = Eigen::VectorXd::Zero(10);
  set.truth.head(6) << 50.0, -20.0, 10.0, 5.0, -2.0, 1.2;
  return set;
}

TriangularSystem triangular(const Eigen::MatrixXd& W, const Eigen::VectorXd& y) {
  Eigen::MatrixXd both(W.rows(), W.cols() + 1);
  both << W, y;
  const Eigen::MatrixXd R = triangularFactor(both);
  const Eigen::Index n = W.cols();
  TriangularSystem system;
  system.A = R.topLeftCorner(n, n);
  system.b = R.col(n).head(n);
  system.rest = std::abs(R(n, n));
  system.rows = W.rows();
  return system;
}

TriangularSystem noisySystem(const SyntheticSet& set, std::uint64_t run) {
  Eigen::VectorXd y(kSetRows);
  normalNumbers(32, run, 0, static_cast<int>(kSetRows), y.data());
  y += set.W * set.truth;
  return triangular(set.W, y);
}

EssentialParameters choose(const TriangularSystem& system, EssentialRule rule,
                           double ratio = 30.0) {
  EssentialOptions options;
  options.rule = rule;
  options.ratio = ratio;
  return essentialParameters(system, options);
}

const std::vector<int> kWithPart = {0, 1, 2, 3, 4, 5};

/// Claim: when the hypothesis is true (dropped columns have no part) the F-test of level a rejects
/// in a share a of 2000 runs, within four binomial deviations, for a = 0.01, 0.05 and 0.1.
TEST(EssentialParameters, FisherTestIsCalibrated) {
  constexpr int kRuns = 2000;
  const SyntheticSet set = syntheticSet();
  for (const double level : {0.01, 0.05, 0.1}) {
    int rejected = 0;
    for (int run = 0; run < kRuns; ++run)
      rejected +=
          fisherTest(noisySystem(set, static_cast<std::uint64_t>(run)), kWithPart).rejects(level);
    EXPECT_NEAR(static_cast<double>(rejected) / kRuns, level,
                4.0 * std::sqrt(level * (1.0 - level) / kRuns));
  }
}

/// Claim: stepping down with the F-test never loses a column with a clear part, and drops all
/// those without one in at least 90 % of 500 runs (level 5 %).
TEST(EssentialParameters, FisherRuleFindsTheSet) {
  const SyntheticSet set = syntheticSet();
  int exact = 0;
  for (int run = 0; run < 500; ++run) {
    const EssentialParameters chosen =
        choose(noisySystem(set, static_cast<std::uint64_t>(run)), EssentialRule::kFisher);
    for (const int c : {0, 1, 2, 3, 4})
      ASSERT_NE(chosen.percent[c], std::numeric_limits<double>::infinity()) << "run " << run;
    exact += chosen.kept == kWithPart;
    EXPECT_FALSE(chosen.test.rejects(0.05));
  }
  EXPECT_GE(exact, 450);
}

/// Claim: every rule keeps and drops what its definition says, on one set, computed here from the
/// normal equations.
TEST(EssentialParameters, RulesFollowTheirDefinitions) {
  const SyntheticSet set = syntheticSet();
  const TriangularSystem system = noisySystem(set, 3);
  const Eigen::MatrixXd inverse = inverseOf(system.A.transpose() * system.A);
  const Eigen::VectorXd x = inverse * system.A.transpose() * system.b;
  const double s2 = system.rest * system.rest / (kSetRows - 10);
  const Eigen::VectorXd percent =
      100.0 * (s2 * inverse.diagonal()).cwiseSqrt().cwiseQuotient(x.cwiseAbs());
  const auto below = [&](double limit) {
    std::vector<int> kept;
    for (int c = 0; c < 10; ++c) {
      if (percent[c] <= limit) kept.push_back(c);
    }
    return kept;
  };
  EXPECT_EQ(choose(system, EssentialRule::kThreshold).kept, below(20.0));
  EXPECT_EQ(choose(system, EssentialRule::kTimesBest).kept, below(10.0 * percent.minCoeff()));
  for (const double ratio : {10.0, 30.0}) {
    const EssentialParameters chosen = choose(system, EssentialRule::kRatio, ratio);
    double low = 1e300, high = 0.0;
    for (const int c : chosen.kept) {
      low = std::min(low, chosen.percent[c]);
      high = std::max(high, chosen.percent[c]);
    }
    EXPECT_LE(high, ratio * low);
    EXPECT_FALSE(chosen.kept.empty());
  }
  const EssentialParameters stepwise = choose(system, EssentialRule::kStepwise);
  EXPECT_EQ(stepwise.kept, kWithPart);
  EXPECT_LE(stepwise.norm_after, 1.01 * stepwise.norm_before);
}

/// Claim: the stepwise rule keeps an uncertain column that held-out rows need.
TEST(EssentialParameters, StepwiseListensToHeldOutRows) {
  SyntheticSet set = syntheticSet();
  set.W.col(5) *= 0.1;  // hardly moved in training
  TriangularSystem system = noisySystem(set, 1);
  system.b = system.A * set.truth;  // values are exact, deviations are not zero
  SyntheticSet other = syntheticSet();
  other.W.col(5) *= 40.0;  // much in the other motion
  const TriangularSystem held_out = noisySystem(other, 2);
  EssentialOptions options;
  options.rule = EssentialRule::kStepwise;
  const auto keeps = [&] {
    const std::vector<int> kept = essentialParameters(system, options).kept;
    return std::find(kept.begin(), kept.end(), 5) != kept.end();
  };
  EXPECT_FALSE(keeps());
  options.held_out = &held_out;
  EXPECT_TRUE(keeps());
}

/// Claim: a column that depends on others goes first under every rule, and under kTriangle one
/// that nearly does; nothing breaks for columns of zeros.
TEST(EssentialParameters, DependentColumnsGo) {
  SyntheticSet set = syntheticSet();
  set.W.col(7) = set.W.col(1) - 2.0 * set.W.col(3);
  set.W.col(8).setZero();
  set.W.col(9) = set.W.col(0) + 1e-5 * set.W.col(9);
  const TriangularSystem system = noisySystem(set, 5);
  for (const EssentialRule rule :
       {EssentialRule::kThreshold, EssentialRule::kTimesBest, EssentialRule::kRatio,
        EssentialRule::kStepwise, EssentialRule::kFisher, EssentialRule::kTriangle}) {
    const EssentialParameters chosen = choose(system, rule);
    ASSERT_GE(chosen.dropped.size(), 2u);
    EXPECT_EQ(chosen.dropped[0], 7);
    EXPECT_EQ(chosen.dropped[1], 8);
    EXPECT_TRUE(chosen.x.allFinite());
    EXPECT_EQ(chosen.kept.size() + chosen.dropped.size(), 10u);
  }
  const EssentialParameters triangle = choose(system, EssentialRule::kTriangle);
  EXPECT_EQ(triangle.dropped, (std::vector<int>{7, 8, 9}));
  EssentialOptions bad;
  bad.level = 1.0;
  EXPECT_THROW(essentialParameters(system, bad), Error);
}

/// Claim: on a whole arm the method drops parameters without hurting predictions: its torques
/// differ from those of the truth by less than twice the noise of all parameters would, and
/// standard deviations of the kept ones do not grow.
TEST(EssentialParameters, WorkOnAnArm) {
  const auto tree = testing::treeOf("tx40");
  const IdentificationProblem problem =
      identificationProblem(tree, {testing::noisyData(*tree, 600, 3.0, 8)});
  const Estimate full = identify("wls", problem);
  const Estimate estimate = essentialLeastSquares(problem, {});
  EXPECT_GT((estimate.beta.array() == 0.0).count(), 3);
  ASSERT_EQ(estimate.notes.size(), 1u);
  EXPECT_NE(estimate.notes[0].find("of 52 base parameters are essential"), std::string::npos);
  for (Eigen::Index i = 0; i < full.beta.size(); ++i)
    EXPECT_LE(estimate.covariance(i, i), 1.1 * full.covariance(i, i));
  const Eigen::VectorXd squares = squaredResiduals(problem.stacked, estimate.beta);
  const Eigen::VectorXd before = squaredResiduals(problem.stacked, full.beta);
  for (Eigen::Index j = 0; j < squares.size(); ++j) EXPECT_LT(squares[j], 1.1 * before[j]);
}

/// Claim: through the method interface every rule keeps what it keeps when it is called by itself
/// on the weighted rows, a number after the name is that of the rule, and the note names the rule.
TEST(EssentialParameters, RuleOfTheMethod) {
  const auto tree = testing::treeOf("planar_2r");
  const IdentificationProblem problem =
      identificationProblem(tree, {testing::noisyData(*tree, 400, 2.0, 8)});
  const Eigen::VectorXd sigma = identify("wls", problem).sigma;
  const TriangularSystem system = weightedSystem(problem.stacked, sigma);
  for (const char* text : {"fisher", "fisher:0.5", "threshold:5", "times-best:3", "ratio:4",
                           "stepwise:0.0005", "triangle:0.3"}) {
    MethodOptions options;
    options.essential = essentialOptions(text);
    const Estimate estimate = identify("essential", problem, options);
    const EssentialParameters alone = essentialParameters(system, options.essential);
    // white residuals: nothing but the rule decides
    EXPECT_EQ(estimate.beta, alone.x) << text;
    const std::string name = toString(options.essential.rule);
    EXPECT_NE(estimate.notes.back().find("by the rule " + name), std::string::npos) << text;
  }
  EXPECT_EQ(essentialOptions("threshold:30").percent, 30.0);
  EXPECT_EQ(essentialOptions("times-best:7").times, 7.0);
  EXPECT_EQ(essentialOptions("ratio:15").ratio, 15.0);
  EXPECT_EQ(essentialOptions("stepwise:0.02").loss, 0.02);
  EXPECT_EQ(essentialOptions("fisher:0.01").level, 0.01);
  EXPECT_EQ(essentialOptions("triangle:1e-4").tolerance, 1e-4);
}

/// Claim: a misspelt rule gets the nearest name, a number that cannot be is refused.
TEST(EssentialParameters, WrongRulesAreRefused) {
  try {
    essentialOptions("fischer");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'fisher'"), std::string::npos)
        << error.what();
  }
  for (const char* text : {"", "fisher:", "fisher:2", "fisher:x", "threshold:-1", "ratio:0",
                           "stepwise:-0.1", "triangle:nan", "times-best:inf"})
    EXPECT_THROW(essentialOptions(text), Error) << text;
}

}  // namespace
}  // namespace proprio
