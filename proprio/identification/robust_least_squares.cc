#include "proprio/identification/robust_least_squares.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "proprio/identification/consistent_least_squares.h"
#include "proprio/identification/joint_covariance.h"
#include "proprio/identification/least_squares.h"
#include "proprio/numerics/dense.h"

namespace proprio {
namespace {

constexpr double kHuber = 1.345;               // 95 % efficient for normal noise
constexpr double kDeviationOfMedian = 1.4826;  // median |e| of normal noise is sigma / this
constexpr int kReweightings = 50;
constexpr double kReweightTolerance = 1e-3;  // standard deviations
/// V_y below this share is rounding.
constexpr double kNoTorque = 1e-12;

double medianOf(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Sums over the rows of a joint of psi'(r) and psi(r)^2.
struct Influence {
  Eigen::VectorXd slopes, squares, rows;
};

/// Weights of rows from their residuals in units of noise. Windowed rows stay out once they are.
class RowWeights {
 public:
  RowWeights(const IdentificationProblem& problem, double window)
      : problem_(problem), window_(window) {
    for (const MotionData& data : problem.data)
      weights.push_back(Eigen::ArrayXXd::Ones(data.samples(), data.tau.cols()));
  }

  /// @return the change, as a norm over all rows
  double update(const std::vector<Eigen::ArrayXXd>& residuals) {
    double change = 0.0;
    for (size_t r = 0; r < weights.size(); ++r) {
      const Eigen::ArrayXXd before = weights[r];
      const Eigen::ArrayXXd size = residuals[r].abs();
      weights[r] = window_ > 0.0 ? Eigen::ArrayXXd((size < window_).cast<double>().min(before))
                                 : Eigen::ArrayXXd((kHuber / size.max(kHuber)).min(1.0));
      change += (weights[r] - before).square().sum();
    }
    return std::sqrt(change);
  }

  /// What rows are multiplied with.
  std::vector<Eigen::ArrayXXd> factors() const {
    std::vector<Eigen::ArrayXXd> roots;
    for (const Eigen::ArrayXXd& weight : weights) roots.push_back(weight.sqrt());
    return roots;
  }

  Influence influence(const std::vector<Eigen::ArrayXXd>& residuals) const {
    const Eigen::Index n = problem_.stacked.coordinates();
    Influence sum{Eigen::VectorXd::Zero(n), Eigen::VectorXd::Zero(n), Eigen::VectorXd::Zero(n)};
    for (size_t r = 0; r < weights.size(); ++r) {
      for (Eigen::Index j = 0; j < n; ++j) {
        for (Eigen::Index i = 0; i < weights[r].rows(); ++i) {
          if (!problem_.data[r].use(i, j)) continue;
          const double weight = weights[r](i, j), psi = weight * residuals[r](i, j);
          sum.slopes[j] += window_ > 0.0 ? weight : (weight == 1.0 ? 1.0 : 0.0);
          sum.squares[j] += psi * psi;
          sum.rows[j] += 1.0;
        }
      }
    }
    return sum;
  }

  /// How many rows lost their weight, in words.
  std::string note() const {
    double lowered = 0.0, all = 0.0;
    for (size_t r = 0; r < weights.size(); ++r) {
      const Eigen::ArrayXXd used = problem_.data[r].use.cast<double>();
      lowered += ((weights[r] < 0.5).cast<double>() * used).sum();
      all += used.sum();
    }
    return fmt::format("{:.2g} % of the rows {}", 100.0 * lowered / std::max(all, 1.0),
                       window_ > 0.0 ? "lie outside the window" : "have less than half weight");
  }

  std::vector<Eigen::ArrayXXd> weights;

 private:
  const IdentificationProblem& problem_;
  double window_;
};

std::vector<Eigen::ArrayXXd> scaledResiduals(std::vector<Eigen::ArrayXXd> residuals,
                                             const Eigen::VectorXd& sigma) {
  for (Eigen::ArrayXXd& e : residuals) e.rowwise() /= sigma.array().transpose();
  return residuals;
}

/// Residuals beyond three deviations tell nothing about correlations.
std::vector<Eigen::ArrayXXd> clippedResiduals(std::vector<Eigen::ArrayXXd> residuals,
                                              const Eigen::VectorXd& sigma) {
  for (Eigen::ArrayXXd& e : residuals) {
    for (Eigen::Index j = 0; j < e.cols(); ++j)
      e.col(j) = e.col(j).max(-3.0 * sigma[j]).min(3.0 * sigma[j]);
  }
  return residuals;
}

/// The noise model of one round and the residuals in its units.
struct NoiseModel {
  Eigen::VectorXd sigma;
  Eigen::MatrixXd covariance;  ///< empty: joints are independent
  std::vector<Eigen::ArrayXXd> scaled;
};

NoiseModel noiseModel(const IdentificationProblem& problem, const Eigen::VectorXd& beta,
                      bool correlated) {
  NoiseModel noise;
  const std::vector<Eigen::ArrayXXd> residuals = torqueResiduals(problem, beta);
  noise.sigma = robustNoise(problem, residuals);
  if (correlated) {
    noise.covariance =
        jointCovariance(problem, clippedResiduals(residuals, noise.sigma), noise.sigma);
    noise.scaled = whitenedResiduals(problem, residuals, noise.covariance);
  } else {
    noise.scaled = scaledResiduals(residuals, noise.sigma);
  }
  return noise;
}

TriangularSystem reweightedSystem(const IdentificationProblem& problem, const NoiseModel& noise,
                                  const RowWeights& weights) {
  if (noise.covariance.size() > 0)
    return correlatedSystem(problem, noise.covariance, weights.factors());
  StackOptions options;
  options.row_weights = weights.factors();
  return weightedSystem(
      stack(*problem.tree, problem.layout, problem.base.independent, problem.data, options),
      noise.sigma);
}

/// M^-1 Q M^-1 on the part that the data decide.
Eigen::MatrixXd robustCovariance(const IdentificationProblem& problem, const NoiseModel& noise,
                                 const Influence& influence, double unknowns) {
  const Eigen::VectorXd start = Eigen::VectorXd::Zero(problem.stacked.unknowns());
  const double rows = influence.rows.sum();
  const double lost = rows / std::max(rows - unknowns, 1.0);
  if (noise.covariance.size() > 0) {
    const double slope = influence.slopes.sum() / rows;
    const double square = lost * influence.squares.sum() / rows;
    const TriangularSystem all = correlatedSystem(problem, noise.covariance);
    return square / (slope * slope) * solveRanked(all.A, all.b, start).covariance;
  }
  // factors of M and Q: joints weighted by the mean slope and the mean square
  const auto system = [&](const Eigen::VectorXd& sums, double scale) {
    Eigen::VectorXd sigma = noise.sigma;
    for (Eigen::Index j = 0; j < sigma.size(); ++j) {
      if (influence.rows[j] > 0.0 && sums[j] > 0.0)
        sigma[j] *= std::sqrt(influence.rows[j] / (scale * sums[j]));
    }
    return weightedSystem(problem.stacked, sigma);
  };
  const TriangularSystem slopes = system(influence.slopes, 1.0);
  const TriangularSystem squares = system(influence.squares, lost);
  const Eigen::MatrixXd inverse = solveRanked(slopes.A, slopes.b, start).covariance;
  const Eigen::MatrixXd half = squares.A * inverse;
  return half.transpose() * half;
}

struct Reweighted {
  Estimate estimate;
  NoiseModel noise;
  RowWeights weights;
};

/// Rounds until the weights rest, with what they were in the last one.
Reweighted reweight(const IdentificationProblem& problem, const MethodOptions& options) {
  const int rounds = options.max_iterations > 0 ? options.max_iterations : kReweightings;
  const double tolerance = options.tolerance > 0.0 ? options.tolerance : kReweightTolerance;
  Reweighted result{{}, {}, {problem, options.window}};
  const Eigen::VectorXd ones = Eigen::VectorXd::Ones(problem.stacked.coordinates());
  RankedSolution now = solveRidged(problem, weightedSystem(problem.stacked, ones), options);
  bool converged = false;
  int round = 0;
  while (!converged && round < rounds) {
    ++round;
    result.noise = noiseModel(problem, now.x, options.full_covariance);
    const double change = result.weights.update(result.noise.scaled);
    RankedSolution next =
        solveRidged(problem, reweightedSystem(problem, result.noise, result.weights), options);
    const Eigen::ArrayXd deviation = next.covariance.diagonal().array().sqrt().max(1e-300);
    const double moved = ((next.x - now.x).array().abs() / deviation).maxCoeff();
    // windowed rows only ever leave: rest is when fewer than one leaves
    converged = options.window > 0.0 ? round > 1 && change < 1.0 : moved < tolerance;
    now = std::move(next);
  }
  Estimate& estimate = result.estimate;
  estimate = estimateOf(problem, now, result.noise.sigma);
  estimate.converged = converged;
  estimate.iterations = round;
  estimate.notes.push_back(result.weights.note());
  if (!estimate.converged)
    estimate.notes.push_back(
        fmt::format("the weights still change after {} rounds; look at the residuals", round));
  return result;
}

}  // namespace

Eigen::VectorXd robustNoise(const IdentificationProblem& problem,
                            const std::vector<Eigen::ArrayXXd>& residuals) {
  const StackedProblem& stacked = problem.stacked;
  const Eigen::VectorXd torques = squaredTorques(stacked);
  Eigen::VectorXd sigma(stacked.coordinates());
  std::vector<double> sizes;
  for (int j = 0; j < stacked.coordinates(); ++j) {
    sizes.clear();
    for (size_t r = 0; r < residuals.size(); ++r) {
      for (Eigen::Index i = 0; i < residuals[r].rows(); ++i) {
        if (problem.data[r].use(i, j)) sizes.push_back(std::abs(residuals[r](i, j)));
      }
    }
    const auto rows = static_cast<double>(sizes.size());
    const double left = rows - static_cast<double>(stacked.touch[static_cast<size_t>(j)].size());
    if (left <= 0.0) {
      sigma[j] = std::numeric_limits<double>::infinity();
      continue;
    }
    // exact data would give infinite weights: rounding is the least noise there can be
    const double least = std::max(1e-12 * std::sqrt(torques[j] / rows), 1e-300);
    sigma[j] = std::max(kDeviationOfMedian * medianOf(sizes) * std::sqrt(rows / left), least);
  }
  return sigma;
}

Estimate reweightedLeastSquares(const IdentificationProblem& problem,
                                const MethodOptions& options) {
  Reweighted result = reweight(problem, options);
  Estimate& estimate = result.estimate;
  const double unknowns =
      static_cast<double>(estimate.beta.size()) - static_cast<double>(estimate.undecided.size());
  if (options.window <= 0.0)
    estimate.covariance = robustCovariance(problem, result.noise,
                                           result.weights.influence(result.noise.scaled), unknowns);
  return estimate;
}

Estimate consistentReweighted(const IdentificationProblem& problem, const MethodOptions& options) {
  const Reweighted result = reweight(problem, options);
  NoiseModel noise = result.noise;
  noise.sigma = consistentNoise(problem.stacked, noise.sigma);
  const MethodOptions weighted = withKnownWeight(problem, options);
  Estimate estimate =
      solveConsistent(problem, reweightedSystem(problem, noise, result.weights), weighted);
  tellWeight(options, weighted, &estimate.notes);
  estimate.sigma = noise.sigma;
  estimate.iterations = result.estimate.iterations;
  estimate.converged = estimate.converged && result.estimate.converged;
  estimate.notes.insert(estimate.notes.end(), result.estimate.notes.begin(),
                        result.estimate.notes.end());
  return estimate;
}

TotalLeastSquares solveTotalLeastSquares(const TriangularSystem& system) {
  TotalLeastSquares solution;
  const Eigen::Index n = system.A.cols();
  Eigen::MatrixXd all = Eigen::MatrixXd::Zero(n + 1, n + 1);
  all.topLeftCorner(n, n) = system.A;
  all.col(n).head(n) = system.b;
  all(n, n) = system.rest;
  const Svd whole = svd(all), regressor = svd(system.A);
  solution.smallest = whole.values[n];
  const Eigen::VectorXd direction = whole.V.col(n);
  const Eigen::VectorXd& values = regressor.values;
  const double s = solution.smallest;
  const Eigen::ArrayXd excess = (values.array() - s) * (values.array() + s);
  // the regressor's own smallest direction is as short: the torque is not in it
  const bool degenerate = n == 0 || !(excess.minCoeff() > kNoTorque * values[0] * s);
  if (degenerate || !(std::abs(direction[n]) > kNoTorque * direction.head(n).norm()))
    return solution;
  solution.solved = true;
  solution.x = -direction.head(n) / direction[n];
  const double noise = (1.0 + solution.x.squaredNorm()) * s * s /
                       static_cast<double>(std::max<Eigen::Index>(system.rows, 1));
  solution.covariance =
      noise * regressor.V * excess.inverse().matrix().asDiagonal() * regressor.V.transpose();
  return solution;
}

Estimate totalLeastSquares(const IdentificationProblem& problem, const MethodOptions& options) {
  Estimate estimate = weightedLeastSquares(problem, options);
  const TotalLeastSquares solution =
      solveTotalLeastSquares(weightedSystem(problem.stacked, estimate.sigma));
  if (!solution.solved) {
    estimate.converged = false;
    estimate.notes.push_back(
        "total least squares has no solution: the direction that the rows see least contains no "
        "torque; these are the values of wls");
    return estimate;
  }
  estimate.beta = solution.x;
  estimate.covariance = solution.covariance;
  estimate.chi = standardFromBase(problem, estimate.beta);
  return estimate;
}

}  // namespace proprio
