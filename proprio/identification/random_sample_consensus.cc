#include "proprio/identification/random_sample_consensus.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "proprio/core/random.h"
#include "proprio/identification/joint_covariance.h"
#include "proprio/identification/least_squares.h"
#include "proprio/identification/robust_least_squares.h"
#include "proprio/numerics/dense.h"

namespace proprio {
namespace {

constexpr int kDraws = 100;
constexpr std::uint64_t kDrawSeed = 20260101;
constexpr Eigen::Index kPoolSamples = 400;
/// Rows of a draw, as a multiple of the parameters: fewer errors in it, or less noise in its fit.
constexpr double kRowsOfADraw = 1.5;
constexpr size_t kFinalists = 5;
constexpr int kConcentrations = 20;
constexpr double kConsensusWindow = 3.0;
constexpr int kConsensusRounds = 30;

/// Regressor rows of some samples; those of one sample are consecutive.
struct RowPool {
  Eigen::MatrixXd Y;
  Eigen::VectorXd y;
  std::vector<int> joint;
  std::vector<Eigen::Index> first;  ///< row of each sample, and the end
  int joints = 0;
};

/// Samples of a recording, every one with the same chance.
MotionData randomSamples(const MotionData& data, double chance, std::uint64_t stream) {
  std::vector<Eigen::Index> kept;
  for (Eigen::Index i = 0; i < data.samples(); ++i) {
    if (uniformNumber(kDrawSeed, stream, static_cast<std::uint64_t>(i)) < chance) kept.push_back(i);
  }
  return chosenSamples(data, kept);
}

RowPool rowPool(const IdentificationProblem& problem) {
  Eigen::Index all = 0;
  for (const MotionData& data : problem.data) all += data.samples();
  const double chance =
      static_cast<double>(kPoolSamples) / static_cast<double>(std::max<Eigen::Index>(all, 1));
  const auto& columns = problem.base.independent;
  const Tree& tree = *problem.tree;
  Workspace workspace(tree);
  RegressorBatch batch(tree, RegressorBatch::recommendedSamples(tree), problem.layout->size());
  RowPool pool;
  pool.joints = tree.velocityCount();
  std::vector<Eigen::RowVectorXd> rows;
  std::vector<double> torques;
  for (size_t r = 0; r < problem.data.size(); ++r) {
    const MotionData data = randomSamples(problem.data[r], chance, r);
    forEachBatch(tree, *problem.layout, data, 0, data.samples(), workspace, batch,
                 [&](Eigen::Index start, Eigen::Index count, RegressorBatch& regressor) {
                   for (Eigen::Index i = 0; i < count; ++i) {
                     if (!data.use.row(start + i).any()) continue;
                     pool.first.push_back(static_cast<Eigen::Index>(rows.size()));
                     for (int j = 0; j < pool.joints; ++j) {
                       if (!data.use(start + i, j)) continue;
                       const double weight = data.rowWeight(j);
                       rows.emplace_back(weight * regressor.rows(j, count).row(i)(columns));
                       torques.push_back(weight * data.tau(start + i, j));
                       pool.joint.push_back(j);
                     }
                   }
                 });
  }
  pool.first.push_back(static_cast<Eigen::Index>(rows.size()));
  pool.y =
      Eigen::Map<const Eigen::VectorXd>(torques.data(), static_cast<Eigen::Index>(torques.size()));
  pool.Y.resize(pool.y.size(), static_cast<Eigen::Index>(columns.size()));
  for (size_t i = 0; i < rows.size(); ++i) pool.Y.row(static_cast<Eigen::Index>(i)) = rows[i];
  return pool;
}

double medianOfSizes(std::vector<double>& sizes) {
  if (sizes.empty()) return 0.0;
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  std::nth_element(sizes.begin(), middle, sizes.end());
  return *middle;
}

/// Parameters with what the rows of the pool say about them.
struct Hypothesis {
  Eigen::VectorXd beta;
  Eigen::VectorXd medians;  ///< of |e_j|; zero: no rows
  double score = std::numeric_limits<double>::infinity();
};

Hypothesis judged(const RowPool& pool, const Eigen::VectorXd& smallest, Eigen::VectorXd beta) {
  Hypothesis hypothesis;
  const Eigen::VectorXd e = (pool.y - pool.Y * beta).cwiseAbs();
  std::vector<std::vector<double>> sizes(static_cast<size_t>(pool.joints));
  for (Eigen::Index i = 0; i < e.size(); ++i)
    sizes[static_cast<size_t>(pool.joint[static_cast<size_t>(i)])].push_back(e[i]);
  hypothesis.medians = Eigen::VectorXd::Zero(pool.joints);
  hypothesis.score = 0.0;
  for (int j = 0; j < pool.joints; ++j) {
    auto& list = sizes[static_cast<size_t>(j)];
    if (list.empty()) continue;
    hypothesis.medians[j] = std::max(medianOfSizes(list), smallest[j]);
    hypothesis.score += std::log(hypothesis.medians[j]);
  }
  if (!beta.allFinite()) hypothesis.score = std::numeric_limits<double>::infinity();
  hypothesis.beta = std::move(beta);
  return hypothesis;
}

/// The rows with weights, by normal equations of columns of length one: fast, and accurate enough
/// for a start.
Eigen::VectorXd solvedRows(const RowPool& pool, const Eigen::VectorXd& weights) {
  std::vector<Eigen::Index> rows;  // half of them are out
  for (Eigen::Index i = 0; i < weights.size(); ++i) {
    if (weights[i] > 0.0) rows.push_back(i);
  }
  const Eigen::VectorXd some = weights(rows), b = some.cwiseProduct(pool.y(rows));
  const Eigen::MatrixXd A = some.asDiagonal() * pool.Y(rows, Eigen::all);
  Eigen::VectorXd scale = A.colwise().norm();
  for (double& s : scale) s = s > 0.0 ? 1.0 / s : 1.0;
  const Eigen::MatrixXd S = A * scale.asDiagonal();
  Eigen::MatrixXd normal = S.transpose() * S;
  normal.diagonal().array() += 1e-12;
  return scale.cwiseProduct(Eigen::VectorXd(solveSymmetric(normal, S.transpose() * b)));
}

Eigen::VectorXd concentrated(const RowPool& pool, const Hypothesis& hypothesis) {
  const Eigen::VectorXd e = (pool.y - pool.Y * hypothesis.beta).cwiseAbs();
  Eigen::VectorXd weights(e.size());
  for (Eigen::Index i = 0; i < e.size(); ++i) {
    const double median = hypothesis.medians[pool.joint[static_cast<size_t>(i)]];
    weights[i] = e[i] <= median ? 1.0 / median : 0.0;
  }
  return solvedRows(pool, weights);
}

/// Parameters from a few random samples, rows in units of each joint's torque.
Eigen::VectorXd drawn(const RowPool& pool, const Eigen::VectorXd& sizes, std::uint64_t draw) {
  const auto samples = static_cast<Eigen::Index>(pool.first.size()) - 1;
  const double wanted = std::min(kRowsOfADraw * static_cast<double>(pool.Y.cols()),
                                 static_cast<double>(pool.y.size()));
  std::vector<bool> taken(static_cast<size_t>(samples), false);
  std::vector<Eigen::Index> rows;
  for (std::uint64_t k = 0; static_cast<double>(rows.size()) < wanted; ++k) {
    const auto sample = static_cast<size_t>(uniformNumber(kDrawSeed, 1000 + draw, k) *
                                            static_cast<double>(samples));
    if (taken[sample]) continue;
    taken[sample] = true;
    for (Eigen::Index i = pool.first[sample]; i < pool.first[sample + 1]; ++i) rows.push_back(i);
  }
  Eigen::MatrixXd A = pool.Y(rows, Eigen::all);
  Eigen::VectorXd b = pool.y(rows);
  for (size_t i = 0; i < rows.size(); ++i) {
    const double size = sizes[pool.joint[static_cast<size_t>(rows[i])]];
    A.row(static_cast<Eigen::Index>(i)) /= size;
    b[static_cast<Eigen::Index>(i)] /= size;
  }
  return leastSquares(A, b);
}

/// The best start that the draws find.
Hypothesis bestHypothesis(const RowPool& pool, int draws) {
  Eigen::VectorXd sizes(pool.joints);
  for (int j = 0; j < pool.joints; ++j) {
    double sum = 0.0, count = 0.0;
    for (Eigen::Index i = 0; i < pool.y.size(); ++i) {
      if (pool.joint[static_cast<size_t>(i)] != j) continue;
      sum += pool.y[i] * pool.y[i];
      count += 1.0;
    }
    sizes[j] = sum > 0.0 ? std::sqrt(sum / count) : 1.0;
  }
  const Eigen::VectorXd smallest = 1e-12 * sizes;  // exact data have no other noise
  std::vector<Hypothesis> all;
  for (int draw = 0; draw < draws; ++draw) {
    const Hypothesis raw =
        judged(pool, smallest, drawn(pool, sizes, static_cast<std::uint64_t>(draw)));
    if (!std::isfinite(raw.score)) continue;
    all.push_back(judged(pool, smallest, concentrated(pool, raw)));
  }
  const auto better = [](const Hypothesis& a, const Hypothesis& b) { return a.score < b.score; };
  std::stable_sort(all.begin(), all.end(), better);
  if (all.size() > kFinalists) all.resize(kFinalists);
  for (Hypothesis& finalist : all) {
    for (int step = 0; step < kConcentrations; ++step) {
      Hypothesis next = judged(pool, smallest, concentrated(pool, finalist));
      if (!(next.score < finalist.score - 1e-6)) break;
      finalist = std::move(next);
    }
  }
  const auto best = std::min_element(all.begin(), all.end(), better);
  return best == all.end() ? Hypothesis{} : *best;
}

struct Consensus {
  std::vector<Eigen::ArrayXXd> weights;  ///< one for rows that agree, else zero
  double rows = 0.0, agreeing = 0.0;
};

Consensus consensusOf(const IdentificationProblem& problem,
                      const std::vector<Eigen::ArrayXXd>& residuals, const Eigen::VectorXd& sigma) {
  Consensus set;
  for (size_t r = 0; r < residuals.size(); ++r) {
    const Eigen::ArrayXXd used = problem.data[r].use.cast<double>();
    const Eigen::ArrayXXd size = residuals[r].abs().rowwise() / sigma.array().transpose();
    set.weights.push_back((size <= kConsensusWindow).cast<double>());
    set.rows += used.sum();
    set.agreeing += (used * set.weights.back()).sum();
  }
  return set;
}

}  // namespace

Estimate randomSampleConsensus(const IdentificationProblem& problem, const MethodOptions& options) {
  const int draws = options.max_iterations > 0 ? options.max_iterations : kDraws;
  const RowPool pool = rowPool(problem);
  const Hypothesis start = pool.y.size() > pool.Y.cols() && pool.Y.cols() > 0
                               ? bestHypothesis(pool, draws)
                               : Hypothesis{};
  if (start.beta.size() == 0) {
    Estimate estimate = weightedLeastSquares(problem, options);
    estimate.converged = false;
    estimate.notes.push_back(
        "there are too few rows to draw samples from; these are the values of wls");
    return estimate;
  }
  Estimate estimate;
  estimate.beta = start.beta;
  Consensus set;
  bool rests = false;
  for (int round = 0; round < kConsensusRounds && !rests; ++round) {
    const std::vector<Eigen::ArrayXXd> residuals = torqueResiduals(problem, estimate.beta);
    const Eigen::VectorXd sigma = robustNoise(problem, residuals);
    Consensus next = consensusOf(problem, residuals, sigma);
    rests = !set.weights.empty();
    for (size_t r = 0; r < set.weights.size() && rests; ++r)
      rests = (next.weights[r] == set.weights[r]).all();
    if (rests) break;
    set = std::move(next);
    StackOptions stacking;
    stacking.row_weights = set.weights;
    estimate = solveSystem(problem,
                           weightedSystem(stack(*problem.tree, problem.layout,
                                                problem.base.independent, problem.data, stacking),
                                          sigma),
                           options, sigma);
  }
  estimate.iterations = draws;
  estimate.converged = rests;
  estimate.notes.push_back(fmt::format("{:.2g} % of the rows do not agree with the others",
                                       100.0 * (1.0 - set.agreeing / std::max(set.rows, 1.0))));
  if (!rests) estimate.notes.push_back("the set of rows that agree still changes; more samples?");
  return estimate;
}

}  // namespace proprio
