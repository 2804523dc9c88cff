#include "proprio/identification/stacked_problem.h"

#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <Eigen/QR>
#include <cmath>
#include <numeric>

#include "proprio/core/testing/message_of.h"
#include "proprio/dynamics/augmented_regressor.h"
#include "proprio/dynamics/structural_identifiability.h"
#include "proprio/identification/testing/synthetic_data.h"

namespace proprio {
namespace {

using testing::noisyData;
using testing::treeOf;

std::shared_ptr<const ParameterLayout> layoutOf(const Tree& tree) {
  return std::make_shared<const ParameterLayout>(tree.sharedModel());
}

std::vector<int> everyColumn(const ParameterLayout& layout) {
  std::vector<int> all(static_cast<size_t>(layout.size()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// The rows that count, one sample at a time, divided by sigma: [W y].
Eigen::MatrixXd denseRows(const Tree& tree, const ParameterLayout& layout, const MotionData& data,
                          const Eigen::VectorXd& sigma) {
  Workspace workspace(tree);
  const Eigen::Index n = tree.velocityCount();
  Eigen::MatrixXd rows(data.use.count(), layout.size() + 1), Y(n, layout.size());
  Eigen::Index row = 0;
  for (Eigen::Index i = 0; i < data.samples(); ++i) {
    augmentedRegressor(tree, layout, workspace, data.q.row(i).transpose(),
                       data.v.row(i).transpose(), data.a.row(i).transpose(), Y);
    for (Eigen::Index j = 0; j < n; ++j) {
      if (!data.use(i, j)) continue;
      rows.row(row) << Y.row(j) / sigma[j], data.tau(i, j) / sigma[j];
      ++row;
    }
  }
  return rows;
}

/// A third of the rows left out, differently for every joint.
MotionData withHoles(MotionData data) {
  for (Eigen::Index j = 0; j < data.use.cols(); ++j) {
    for (Eigen::Index i = j; i < data.samples(); i += 3) data.use(i, j) = false;
  }
  return data;
}

// Claim: the triangular system has the Gram matrix of the dense weighted rows, for arms, a tree
// with two branches, coupled joints, and rows left out; 1e-12 relative to its size is rounding.
TEST(StackedProblem, HasTheGramMatrixOfTheRows) {
  for (const char* robot : {"planar_2r", "tx40_coupled", "iiwa14", "mobile_manipulator"}) {
    const auto tree = treeOf(robot);
    const auto layout = layoutOf(*tree);
    const MotionData data = withHoles(noisyData(*tree, 333, 0.1, 3));
    const StackedProblem problem = stack(*tree, layout, everyColumn(*layout), {data});
    const Eigen::VectorXd sigma = Eigen::VectorXd::LinSpaced(tree->velocityCount(), 0.5, 2.0);
    const TriangularSystem system = weightedSystem(problem, sigma);
    const Eigen::MatrixXd dense = denseRows(*tree, *layout, data, sigma);
    EXPECT_EQ(system.rows, dense.rows());
    const Eigen::MatrixXd gram = dense.transpose() * dense;
    const Eigen::Index p = layout->size();
    const double scale = gram.cwiseAbs().maxCoeff();
    EXPECT_LT((system.A.transpose() * system.A - gram.topLeftCorner(p, p)).cwiseAbs().maxCoeff(),
              1e-12 * scale)
        << robot;
    EXPECT_LT((system.A.transpose() * system.b - gram.col(p).head(p)).cwiseAbs().maxCoeff(),
              1e-12 * scale)
        << robot;
    EXPECT_NEAR(system.b.squaredNorm() + system.rest * system.rest, gram(p, p), 1e-12 * scale);
  }
}

// Claim: residuals from the factors are those of the rows, per joint, also of single blocks.
TEST(StackedProblem, ResidualsAreThoseOfTheRows) {
  const auto tree = treeOf("tx40");
  const auto layout = layoutOf(*tree);
  const MotionData data = withHoles(noisyData(*tree, 700, 0.5, 4));
  const StackedProblem problem = stack(*tree, layout, everyColumn(*layout), {data});
  const Eigen::VectorXd chi = 1.1 * testing::declaredValues(*tree);
  const Eigen::MatrixXd error =
      ((data.tau - predictTorques(*tree, *layout, chi, data)).array() * data.use.cast<double>())
          .matrix();
  const Eigen::VectorXd expected = error.colwise().squaredNorm();
  EXPECT_LT((squaredResiduals(problem, chi) - expected).cwiseAbs().maxCoeff(),
            1e-11 * expected.maxCoeff());
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(tree->velocityCount());
  for (size_t k = 0; k < problem.blocks.size(); ++k) {
    const StackedBlock& block = problem.blocks[k];
    const Eigen::VectorXd part = squaredResiduals(problem, chi, {static_cast<int>(k)});
    EXPECT_LT(
        (part - error.middleRows(block.start, block.count).colwise().squaredNorm().transpose())
            .cwiseAbs()
            .maxCoeff(),
        1e-11 * expected.maxCoeff());
    sum += part;
  }
  EXPECT_LT((sum - expected).cwiseAbs().maxCoeff(), 1e-11 * expected.maxCoeff());
}

// Claim: a recording of ten seconds, thinned out to a hundred samples, falls into several blocks
// too: what is left without one of them is enough to learn from. One of a few samples is one block.
TEST(StackedProblem, ShortRecordingsHaveSeveralBlocks) {
  const auto tree = treeOf("planar_2r");
  const auto layout = layoutOf(*tree);
  const auto blocks = [&](int samples) {
    return stack(*tree, layout, everyColumn(*layout), {noisyData(*tree, samples, 0.1, 5)})
        .blocks.size();
  };
  EXPECT_EQ(blocks(112), 5U);
  EXPECT_EQ(blocks(17), 2U);
  EXPECT_EQ(blocks(12), 1U);
  EXPECT_EQ(blocks(450), 7U);
}

// Claim: leaving out a block gives the system of the other samples.
TEST(StackedProblem, BlocksCanBeLeftOutWithoutAnotherPass) {
  const auto tree = treeOf("planar_2r");
  const auto layout = layoutOf(*tree);
  const MotionData data = noisyData(*tree, 640, 0.1, 5);
  const StackedProblem problem = stack(*tree, layout, everyColumn(*layout), {data});
  ASSERT_EQ(problem.blocks.size(), 10U);
  const Eigen::VectorXd ones = Eigen::VectorXd::Ones(tree->velocityCount());
  const TriangularSystem rest = weightedSystem(problem, ones, {9});
  const TriangularSystem direct = weightedSystem(
      stack(*tree, layout, everyColumn(*layout), {middleSamples(data, 0, 576)}), ones);
  EXPECT_EQ(rest.rows, direct.rows);
  EXPECT_LT((rest.A.transpose() * rest.A - direct.A.transpose() * direct.A).norm(),
            1e-12 * rest.A.squaredNorm());
}

// Claim: a recording's weight scales its rows, and recordings add up.
TEST(StackedProblem, RecordingsAddUpWithTheirWeights) {
  const auto tree = treeOf("planar_2r");
  const auto layout = layoutOf(*tree);
  MotionData first = noisyData(*tree, 200, 0.1, 6), second = noisyData(*tree, 300, 0.1, 7);
  const Eigen::VectorXd ones = Eigen::VectorXd::Ones(tree->velocityCount());
  const auto gram = [&](const std::vector<MotionData>& data) {
    const TriangularSystem system =
        weightedSystem(stack(*tree, layout, everyColumn(*layout), data), ones);
    return Eigen::MatrixXd(system.A.transpose() * system.A);
  };
  const Eigen::MatrixXd a = gram({first}), b = gram({second});
  second.weight = 3.0;
  EXPECT_LT((gram({first, second}) - a - 9.0 * b).norm(), 1e-12 * b.norm() * 9.0);
}

// Claim: the factors are the same bits whatever the number of threads, because blocks do not
// depend on it: one thread against two.
TEST(StackedProblem, IsDeterministic) {
  const auto tree = treeOf("iiwa14");
  const auto layout = layoutOf(*tree);
  const MotionData data = noisyData(*tree, 2000, 0.1, 8);
  const Eigen::VectorXd ones = Eigen::VectorXd::Ones(tree->velocityCount());
  const auto system = [&] {
    return weightedSystem(stack(*tree, layout, everyColumn(*layout), {data}), ones);
  };
  const auto withThreads = [&](size_t threads) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    return system();
  };
  const TriangularSystem one = withThreads(1), two = withThreads(2);
  EXPECT_EQ(one.A, two.A);
  EXPECT_EQ(one.b, two.b);
}

// Claim: samples that do not fit or are not numbers are refused by name.
TEST(StackedProblem, RefusesWhatDoesNotFit) {
  const auto tree = treeOf("planar_2r");
  const auto layout = layoutOf(*tree);
  const MotionData good = noisyData(*tree, 100, 0.1, 9);
  const auto message = [&](const MotionData& data) {
    return messageOf([&] { stack(*tree, layout, everyColumn(*layout), {data}); });
  };
  MotionData broken = good;
  broken.a(41, 1) = NAN;
  EXPECT_NE(message(broken).find("synthetic: sample 42"), std::string::npos) << message(broken);
  MotionData narrow = good;
  narrow.tau.conservativeResize(Eigen::NoChange, 1);
  EXPECT_NE(message(narrow).find("tau is 100 x 1"), std::string::npos) << message(narrow);
  MotionData nothing = middleSamples(good, 0, 0);
  const StackedProblem empty = stack(*tree, layout, everyColumn(*layout), {nothing});
  EXPECT_EQ(empty.rows(), 0);
}

}  // namespace
}  // namespace proprio
