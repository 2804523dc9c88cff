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

Estimate solveSystem(const IdentificationProblem& problem, TriangularSystem system,
                     const MethodOptions& options, const Eigen::VectorXd& sigma) {
  addRidge(problem, options.ridge, &system);
  const Eigen::VectorXd start = baseMatrix(problem.base) * problem.prior;
  const RankedSolution solution = solveRanked(system.A, system.b, start);
  Estimate estimate;
  estimate.beta = solution.x;
  estimate.covariance = solution.covariance;
  estimate.condition = solution.condition;
  estimate.sigma = sigma;
  for (Eigen::Index i = 0; i < solution.silent.cols(); ++i)
    estimate.undecided.push_back(directionText(problem, solution.silent.col(i)));
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
  const Eigen::VectorXd squares = weightedSquares(problem, beta);
  const Eigen::VectorXd torques = squaredTorques(problem);
  Eigen::VectorXd sigma(problem.coordinates());
  for (int j = 0; j < problem.coordinates(); ++j) {
    const auto rows = problem.rows(j);
    const Eigen::Index free = rows - rankOf(problem, j);
    // exact data would give infinite weights: rounding is the least noise there can be
    const double least =
        1e-12 * std::sqrt(torques[j] / static_cast<double>(std::max<Eigen::Index>(rows, 1)));
    sigma[j] = free > 0
                   ? std::max({std::sqrt(squares[j] / static_cast<double>(free)), least, 1e-300})
                   : std::numeric_limits<double>::infinity();
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
  estimate.sigma = jointNoise(problem.stacked, estimate.beta);
  return estimate;
}

Estimate weightedLeastSquares(const IdentificationProblem& problem, const MethodOptions& options) {
  const Eigen::VectorXd ones = Eigen::VectorXd::Ones(problem.stacked.coordinates());
  const Estimate first = solveWith(problem, options, ones);
  const Eigen::VectorXd sigma = jointNoise(problem.stacked, first.beta);
  if (!options.full_covariance) return solveWith(problem, options, sigma);
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

std::string directionText(const IdentificationProblem& problem, const Eigen::VectorXd& direction) {
  // in units of what the prior holds possible, so that kg and kg m^2 can be compared
  const PriorMetric metric = priorMetric(*problem.layout, problem.prior, problem.sizes);
  const Eigen::MatrixXd B = baseMatrix(problem.base);
  const Eigen::VectorXd size = (B * solveMetric(metric, B.transpose())).diagonal().cwiseSqrt();
  const Eigen::VectorXd shares = direction.cwiseQuotient(size).cwiseAbs();
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
