#include "proprio/identification/least_squares.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "proprio/identification/joint_covariance.h"
#include "proprio/identification/parameter_words.h"
#include "proprio/identification/prior.h"
#include "proprio/numerics/dense.h"
#include "proprio/numerics/streaming_qr.h"

namespace proprio {
namespace {

/// A share of a direction below this is not worth a word.
constexpr double kSmallShare = 0.2;
/// A base parameter is the prior's if the data know it no better than half of what the prior does.
constexpr double kPriorShare = 0.5;
/// Rounds of weighing the joints by what they leave, and the relative change at which they end.
constexpr int kNoiseRounds = 5;
constexpr double kNoiseRests = 0.005;
/// Rounds for degrees of freedom alone, which depend little on the weights.
constexpr int kDegreeRounds = 2;

/// Rank of a coordinate's own rows, all blocks together.
Eigen::Index rankOf(const StackedProblem& problem, int coordinate) {
  const auto j = static_cast<size_t>(coordinate);
  const auto n = static_cast<Eigen::Index>(problem.touch[j].size());
  StreamingQr qr(n + 1);
  for (const StackedBlock& block : problem.blocks) {
    if (block.rows[j] > 0) qr.add(block.factor[j]);
  }
  const Eigen::MatrixXd R = qr.factor().topLeftCorner(n, n).triangularView<Eigen::Upper>();
  const RankedSolution solution =
      solveRanked(R, Eigen::VectorXd::Zero(n), Eigen::VectorXd::Zero(n));
  return n - solution.silent.cols();
}

/// Exact data would give infinite weights: rounding is the least noise there can be.
Eigen::VectorXd leastNoise(const StackedProblem& problem) {
  Eigen::VectorXd least = squaredTorques(problem);
  for (int j = 0; j < problem.coordinates(); ++j)
    least[j] = std::max(1e-12 * std::sqrt(least[j] / static_cast<double>(std::max<Eigen::Index>(
                                                         problem.rows(j), 1))),
                        1e-300);
  return least;
}

/// As if each joint paid for all parameters that it depends on; infinite where no rows are left.
Eigen::VectorXd firstNoise(const StackedProblem& problem, const Eigen::VectorXd& squares) {
  Eigen::VectorXd sigma = leastNoise(problem);
  for (int j = 0; j < problem.coordinates(); ++j) {
    const Eigen::Index free = problem.rows(j) - rankOf(problem, j);
    sigma[j] = free > 0 ? std::max(std::sqrt(squares[j] / static_cast<double>(free)), sigma[j])
                        : std::numeric_limits<double>::infinity();
  }
  return sigma;
}

/// |e_j|^2 / (r_j - b_j), b_j = trace(P W_j^T W_j / sigma_j^2).
/// @param P  covariance of the parameters with rows divided by sigma
Eigen::VectorXd noiseOf(const StackedProblem& problem, const Eigen::VectorXd& squares,
                        const Eigen::MatrixXd& P, const Eigen::VectorXd& sigma) {
  Eigen::VectorXd free(sigma.size());
  for (int j = 0; j < problem.coordinates(); ++j) free[j] = static_cast<double>(problem.rows(j));
  for (const StackedBlock& block : problem.blocks) {
    for (int j = 0; j < problem.coordinates(); ++j) {
      const auto ju = static_cast<size_t>(j);
      if (block.rows[ju] == 0 || !std::isfinite(sigma[j])) continue;
      const auto n = static_cast<Eigen::Index>(problem.touch[ju].size());
      const Eigen::MatrixXd R = block.factor[ju].topLeftCorner(n, n).triangularView<Eigen::Upper>();
      const Eigen::MatrixXd part = P(problem.touch[ju], problem.touch[ju]);
      const double scale = problem.weights(block.recording, j) / sigma[j];
      free[j] -= scale * scale * (R * part).cwiseProduct(R).sum();
    }
  }
  Eigen::VectorXd noise = sigma;
  for (Eigen::Index j = 0; j < sigma.size(); ++j) {
    if (std::isfinite(sigma[j])) noise[j] = std::sqrt(squares[j] / std::max(free[j], 1.0));
  }
  return noise;
}

/// The largest shares of a direction in words.
std::string sharesText(const IdentificationProblem& problem, const Eigen::VectorXd& shares) {
  std::vector<int> order(static_cast<size_t>(shares.size()));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) { return shares[a] > shares[b]; });
  std::vector<std::string> words;
  for (const int i : order) {
    if (words.size() == 3 || shares[i] < kSmallShare * shares[order.front()]) break;
    words.push_back(
        parameterWords(*problem.layout, problem.base.independent[static_cast<size_t>(i)]));
  }
  return fmt::format("{}", fmt::join(words, " against "));
}

/// The pull of `ridge` towards the prior, as rows below the system.
void addRidge(const IdentificationProblem& problem, double ridge, TriangularSystem* system) {
  if (ridge <= 0.0) return;
  const Eigen::VectorXd prior = baseMatrix(problem.base) * problem.prior;
  const Eigen::Index n = system->A.cols();
  const Eigen::VectorXd scale =
      std::sqrt(ridge) * system->A.colwise().norm().transpose().cwiseMax(1e-300);
  StreamingQr qr(n + 1);
  Eigen::MatrixXd rows(n, n + 1);
  rows << system->A, system->b;
  qr.add(rows);
  rows << Eigen::MatrixXd(scale.asDiagonal()), scale.cwiseProduct(prior);
  qr.add(rows);
  system->A = qr.factor().topLeftCorner(n, n).triangularView<Eigen::Upper>();
  system->b = qr.factor().col(n).head(n);
}

Estimate solveWith(const IdentificationProblem& problem, const MethodOptions& options,
                   const Eigen::VectorXd& sigma) {
  return solveSystem(problem, weightedSystem(problem.stacked, sigma), options, sigma);
}

}  // namespace

RankedSolution solveRidged(const IdentificationProblem& problem, TriangularSystem system,
                           const MethodOptions& options) {
  addRidge(problem, options.ridge, &system);
  return solveRanked(system.A, system.b, baseMatrix(problem.base) * problem.prior);
}

Estimate solveSystem(const IdentificationProblem& problem, TriangularSystem system,
                     const MethodOptions& options, const Eigen::VectorXd& sigma) {
  return estimateOf(problem, solveRidged(problem, std::move(system), options), sigma);
}

Estimate estimateOf(const IdentificationProblem& problem, const RankedSolution& solution,
                    const Eigen::VectorXd& sigma) {
  Estimate estimate;
  estimate.beta = solution.x;
  estimate.covariance = solution.covariance;
  estimate.condition = solution.condition;
  estimate.sigma = sigma;
  estimate.undecided = directionTexts(problem, solution.silent);
  estimate.chi = standardFromBase(problem, estimate.beta);
  return estimate;
}

RankedSolution solveRanked(const Eigen::MatrixXd& A, const Eigen::VectorXd& b,
                           const Eigen::VectorXd& start, double tolerance) {
  RankedSolution solution;
  const Eigen::Index n = A.cols();
  solution.column_scale = A.colwise().norm();
  for (double& scale : solution.column_scale) {
    if (!(scale > 0.0)) scale = 1.0;
  }
  const Eigen::VectorXd inverse = solution.column_scale.cwiseInverse();
  const Svd parts = svd(A * inverse.asDiagonal());
  solution.singular_values = parts.values;
  solution.directions = parts.V;
  const double largest = n > 0 ? solution.singular_values[0] : 0.0;
  const Eigen::Index rank = (solution.singular_values.array() > tolerance * largest).count();
  const auto V = parts.V.leftCols(rank);
  const Eigen::VectorXd values = solution.singular_values.head(rank);
  const Eigen::VectorXd right = parts.U.leftCols(rank).transpose() * (b - A * start);
  solution.x = start + inverse.cwiseProduct(V * right.cwiseQuotient(values));
  const Eigen::MatrixXd half = inverse.asDiagonal() * V * values.cwiseInverse().asDiagonal();
  solution.covariance = half * half.transpose();
  solution.condition = rank > 0 ? largest / values[rank - 1] : 0.0;
  solution.silent = inverse.asDiagonal() * parts.V.rightCols(n - rank);
  solution.silent.colwise().normalize();
  return solution;
}

Eigen::VectorXd jointNoise(const StackedProblem& problem, const Eigen::VectorXd& beta) {
  // of the rows as they are weighted: recordings that are known to be noisier count less
  const Eigen::VectorXd squares = weightedSquares(problem, beta), least = leastNoise(problem);
  Eigen::VectorXd sigma = firstNoise(problem, squares);
  for (int round = 0; round < kDegreeRounds; ++round) {
    const TriangularSystem system = weightedSystem(problem, sigma);
    const Eigen::VectorXd zero = Eigen::VectorXd::Zero(problem.unknowns());
    sigma = noiseOf(problem, squares, solveRanked(system.A, zero, zero).covariance, sigma)
                .cwiseMax(least);
  }
  return sigma;
}

Eigen::VectorXd jointNoise(const StackedProblem& problem) {
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(problem.unknowns()),
                        least = leastNoise(problem);
  Eigen::VectorXd sigma = Eigen::VectorXd::Ones(problem.coordinates());
  for (int round = 0; round <= kNoiseRounds; ++round) {
    const TriangularSystem system = weightedSystem(problem, sigma);
    const RankedSolution fit = solveRanked(system.A, system.b, zero);
    const Eigen::VectorXd squares = weightedSquares(problem, fit.x), before = sigma;
    sigma = round == 0 ? firstNoise(problem, squares)
                       : noiseOf(problem, squares, fit.covariance, sigma).cwiseMax(least);
    if (round > 0 && (sigma.cwiseQuotient(before).array().log().abs() > kNoiseRests).count() == 0)
      break;  // comparisons with what has no rows (not a number) are false
  }
  return sigma;
}

Estimate ordinaryLeastSquares(const IdentificationProblem& problem, const MethodOptions& options) {
  const Eigen::VectorXd ones = Eigen::VectorXd::Ones(problem.stacked.coordinates());
  Estimate estimate = solveWith(problem, options, ones);
  const double squares = weightedSquares(problem.stacked, estimate.beta).sum();
  const double free = static_cast<double>(problem.stacked.rows() - estimate.beta.size() +
                                          static_cast<Eigen::Index>(estimate.undecided.size()));
  estimate.covariance *= squares / std::max(free, 1.0);
  estimate.sigma = jointNoise(problem.stacked);
  return estimate;
}

Estimate weightedLeastSquares(const IdentificationProblem& problem, const MethodOptions& options) {
  const Eigen::VectorXd sigma = jointNoise(problem.stacked);
  Estimate first = solveWith(problem, options, sigma);
  if (!options.full_covariance) return first;
  const Eigen::MatrixXd covariance =
      jointCovariance(problem, torqueResiduals(problem, first.beta), sigma);
  return solveSystem(problem, correlatedSystem(problem, covariance), options, sigma);
}

Eigen::VectorXd standardFromBase(const IdentificationProblem& problem,
                                 const Eigen::VectorXd& beta) {
  const PriorMetric metric = priorMetric(*problem.layout, problem.prior, problem.sizes);
  const Eigen::MatrixXd B = baseMatrix(problem.base);
  const Eigen::MatrixXd towards = solveMetric(metric, B.transpose());  // G^-1 B^T
  const Eigen::VectorXd change = beta - B * problem.prior;
  return problem.prior + towards * solveSymmetric(B * towards, change);
}

std::vector<std::string> directionTexts(const IdentificationProblem& problem,
                                        const Eigen::MatrixXd& directions) {
  std::vector<std::string> texts;
  if (directions.cols() == 0) return texts;
  // in units of what the prior holds possible, so that kg and kg m^2 can be compared
  const PriorMetric metric = priorMetric(*problem.layout, problem.prior, problem.sizes);
  const Eigen::MatrixXd B = baseMatrix(problem.base);
  const Eigen::VectorXd size =
      B.cwiseProduct(solveMetric(metric, B.transpose()).transpose()).rowwise().sum().cwiseSqrt();
  for (Eigen::Index i = 0; i < directions.cols(); ++i)
    texts.push_back(sharesText(problem, directions.col(i).cwiseQuotient(size).cwiseAbs()));
  return texts;
}

std::string directionText(const IdentificationProblem& problem, const Eigen::VectorXd& direction) {
  return directionTexts(problem, direction).front();
}

std::vector<ParameterOrigin> parameterOrigins(const IdentificationProblem& problem,
                                              const Estimate& estimate) {
  const PriorMetric metric = priorMetric(*problem.layout, problem.prior, problem.sizes);
  const Eigen::MatrixXd B = baseMatrix(problem.base);
  const Eigen::VectorXd prior = (B * solveMetric(metric, B.transpose())).diagonal();
  const Eigen::VectorXd believed = B * problem.prior;
  std::vector<bool> decided(static_cast<size_t>(B.rows()));
  for (Eigen::Index i = 0; i < B.rows(); ++i) {
    const double variance = estimate.covariance(i, i), moved = estimate.beta[i] - believed[i];
    decided[static_cast<size_t>(i)] =
        variance > 0.0 && (variance < kPriorShare * kPriorShare * prior[i] ||
                           moved * moved > std::max(prior[i], 4.0 * variance));
  }
  const std::vector<ParameterStatus> statuses = parameterStatuses(problem.base);
  std::vector<ParameterOrigin> origins(statuses.size(), ParameterOrigin::kPrior);
  for (size_t p = 0; p < statuses.size(); ++p) {
    if (statuses[p] == ParameterStatus::kWithoutEffect) continue;
    for (Eigen::Index i = 0; i < B.rows(); ++i) {
      if (B(i, static_cast<Eigen::Index>(p)) == 0.0 || !decided[static_cast<size_t>(i)]) continue;
      origins[p] = statuses[p] == ParameterStatus::kIdentifiable ? ParameterOrigin::kData
                                                                 : ParameterOrigin::kCombination;
      break;
    }
  }
  return origins;
}

}  // namespace proprio
