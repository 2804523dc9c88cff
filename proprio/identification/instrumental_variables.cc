#include "proprio/identification/instrumental_variables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "proprio/core/parallel.h"
#include "proprio/core/text.h"
#include "proprio/identification/consistent_least_squares.h"
#include "proprio/identification/least_squares.h"
#include "proprio/identification/simulated_motion.h"
#include "proprio/numerics/dense.h"
#include "proprio/numerics/streaming_qr.h"

namespace proprio {
namespace {

/// Relative to the largest base parameter: changes below it are rounding.
constexpr double kBetaRounding = 1e-12;
constexpr double kInstrumentRank = 1e-10;

/// Factors of [Z_j W_j tau_j] per block and coordinate.
struct InstrumentBlock {
  std::vector<Eigen::MatrixXd> factor;
  std::vector<Eigen::Index> rows;
};

struct InstrumentScratch {
  Workspace workspace;
  RegressorBatch measured, simulated;
  InstrumentScratch(const Tree& tree, Eigen::Index columns)
      : workspace(tree),
        measured(tree, RegressorBatch::recommendedSamples(tree), columns),
        simulated(tree, RegressorBatch::recommendedSamples(tree), columns) {}
};

/// Rows of one coordinate of one batch into its factor.
void foldInstrumentRows(const StackedProblem& stacked, int j, const MotionData& measured,
                        const MotionData& simulated, Eigen::Index start, Eigen::Index count,
                        InstrumentScratch& scratch, StreamingQr* qr) {
  const std::vector<int>& touched = stacked.touch[static_cast<size_t>(j)];
  const auto width = static_cast<Eigen::Index>(touched.size());
  const auto W = scratch.measured.rows(j, count);
  const auto Z = scratch.simulated.rows(j, count);
  auto block = qr->block();
  Eigen::Index filled = 0;
  for (Eigen::Index i = 0; i < count; ++i) {
    if (!measured.use(start + i, j) || !simulated.use(start + i, j)) continue;
    for (Eigen::Index c = 0; c < width; ++c) {
      const int column = stacked.columns[static_cast<size_t>(touched[static_cast<size_t>(c)])];
      block(filled, c) = Z(i, column);
      block(filled, width + c) = W(i, column);
    }
    block(filled, 2 * width) = measured.tau(start + i, j);
    if (++filled == qr->blockRows()) {
      qr->fold(filled);
      filled = 0;
    }
  }
  if (filled > 0) qr->fold(filled);
}

std::vector<InstrumentBlock> stackInstruments(const IdentificationProblem& problem,
                                              const std::vector<MotionData>& instruments) {
  const StackedProblem& stacked = problem.stacked;
  std::vector<InstrumentBlock> blocks(stacked.blocks.size());
  std::vector<std::unique_ptr<InstrumentScratch>> scratch(static_cast<size_t>(workerCount()));
  parallelChunks(
      static_cast<std::ptrdiff_t>(blocks.size()), 1,
      [&](std::ptrdiff_t k, std::ptrdiff_t, int worker) {
        auto& mine = scratch[static_cast<size_t>(worker)];
        if (!mine)
          mine = std::make_unique<InstrumentScratch>(*problem.tree, problem.layout->size());
        const StackedBlock& samples = stacked.blocks[static_cast<size_t>(k)];
        const auto r = static_cast<size_t>(samples.recording);
        const MotionData &measured = problem.data[r], &simulated = instruments[r];
        std::vector<StreamingQr> factors;
        for (const std::vector<int>& touched : stacked.touch)
          factors.emplace_back(2 * static_cast<Eigen::Index>(touched.size()) + 1);
        forEachBatch(
            *problem.tree, *problem.layout, measured, samples.start, samples.count, mine->workspace,
            mine->measured, [&](Eigen::Index start, Eigen::Index count, RegressorBatch&) {
              forEachBatch(*problem.tree, *problem.layout, simulated, start, count, mine->workspace,
                           mine->simulated, [](Eigen::Index, Eigen::Index, RegressorBatch&) {});
              for (int j = 0; j < stacked.coordinates(); ++j)
                foldInstrumentRows(stacked, j, measured, simulated, start, count, *mine,
                                   &factors[static_cast<size_t>(j)]);
            });
        for (const StreamingQr& qr : factors) {
          blocks[static_cast<size_t>(k)].factor.push_back(qr.factor());
          blocks[static_cast<size_t>(k)].rows.push_back(qr.rows());
        }
      });
  return blocks;
}

/// [Z W y] of all joints, weighted, in one factor.
TriangularSystem projectedSystem(const StackedProblem& stacked,
                                 const std::vector<InstrumentBlock>& blocks,
                                 const Eigen::VectorXd& sigma) {
  const Eigen::Index n = stacked.unknowns();
  StreamingQr all(2 * n + 1);
  TriangularSystem system;
  for (size_t k = 0; k < blocks.size(); ++k) {
    for (int j = 0; j < stacked.coordinates(); ++j) {
      const auto ju = static_cast<size_t>(j);
      if (blocks[k].rows[ju] == 0 || std::isinf(sigma[j])) continue;
      const std::vector<int>& touched = stacked.touch[ju];
      const auto width = static_cast<Eigen::Index>(touched.size());
      const Eigen::MatrixXd& factor = blocks[k].factor[ju];
      Eigen::MatrixXd scattered = Eigen::MatrixXd::Zero(factor.rows(), 2 * n + 1);
      for (Eigen::Index c = 0; c < width; ++c) {
        const int place = touched[static_cast<size_t>(c)];
        scattered.col(place) = factor.col(c);
        scattered.col(n + place) = factor.col(width + c);
      }
      scattered.col(2 * n) = factor.col(2 * width);
      all.add(stacked.weights(stacked.blocks[k].recording, j) / sigma[j] * scattered);
      system.rows += blocks[k].rows[ju];
    }
  }
  // what lies in the range of Z
  const Eigen::MatrixXd& R = all.factor();
  Eigen::MatrixXd Rz = R.topLeftCorner(n, n).triangularView<Eigen::Upper>();
  for (Eigen::Index c = 0; c < n; ++c) {
    const double norm = Rz.col(c).norm();
    if (norm > 0.0) Rz.col(c) /= norm;
  }
  const Svd instruments = svd(Rz);
  const double largest = n > 0 ? instruments.values[0] : 0.0;
  const Eigen::Index rank = (instruments.values.array() > kInstrumentRank * largest).count();
  StreamingQr small(n + 1);
  small.add(instruments.U.leftCols(rank).transpose() * R.topRightCorner(n, n + 1));
  system.A = small.factor().topLeftCorner(n, n).triangularView<Eigen::Upper>();
  system.b = small.factor().col(n).head(n);
  system.rest = std::abs(small.factor()(n, n));
  return system;
}

/// One motion for Z: solve, weigh again by the residuals, solve again.
class Round {
 public:
  Round(const IdentificationProblem& problem, const MethodOptions& options,
        const SimulatingRule& rule, std::vector<MotionData> motions)
      : problem_(problem),
        options_(options),
        rule_(rule),
        motions_(std::make_shared<const std::vector<MotionData>>(std::move(motions))) {
    if (rule.instruments) {
      blocks_ = stackInstruments(problem, *motions_);
    } else {
      simulated_ = stack(*problem.tree, problem.layout, problem.base.independent, *motions_);
    }
  }

  Estimate solve(const Eigen::VectorXd& sigma) const {
    const Estimate first = solveOnce(sigma);
    Estimate estimate = solveOnce(noise(first.beta));
    estimate.instruments = motions_;
    return estimate;
  }

  Eigen::VectorXd squares(const Eigen::VectorXd& beta) const {
    return squaredResiduals(rows(), beta);
  }

 private:
  const StackedProblem& rows() const { return rule_.instruments ? problem_.stacked : simulated_; }

  Eigen::VectorXd noise(const Eigen::VectorXd& beta) const {
    const Eigen::VectorXd sigma = jointNoise(rows(), beta);
    return rule_.consistent ? consistentNoise(rows(), sigma) : sigma;
  }

  Estimate solveOnce(const Eigen::VectorXd& sigma) const {
    const TriangularSystem system = rule_.instruments
                                        ? projectedSystem(problem_.stacked, blocks_, sigma)
                                        : weightedSystem(simulated_, sigma);
    if (!rule_.consistent) return solveSystem(problem_, system, options_, sigma);
    MethodOptions own = options_;  // budget and tolerance are those of the rounds
    own.max_iterations = 0;
    own.tolerance = 0.0;
    Estimate estimate = solveConsistent(problem_, system, own);
    estimate.sigma = sigma;
    return estimate;
  }

  const IdentificationProblem& problem_;
  const MethodOptions& options_;
  SimulatingRule rule_;
  std::shared_ptr<const std::vector<MotionData>> motions_;
  std::vector<InstrumentBlock> blocks_;
  StackedProblem simulated_;
};

double residualNorm(const Eigen::VectorXd& squares, const Eigen::VectorXd& sigma) {
  double sum = 0.0;
  for (Eigen::Index j = 0; j < squares.size(); ++j) {
    if (std::isfinite(sigma[j])) sum += squares[j] / (sigma[j] * sigma[j]);
  }
  return std::sqrt(sum);
}

/// How far a simulated motion is from the recorded one: sum of |v_s - v|^2 / |v|^2.
double distanceOf(const IdentificationProblem& problem, const SimulatedMotions& motions) {
  if (!motions.failure.empty()) return std::numeric_limits<double>::infinity();
  double sum = 0.0;
  for (size_t r = 0; r < motions.data.size(); ++r) {
    const Eigen::MatrixXd& v = problem.data[r].v;
    const Eigen::MatrixXd difference = motions.data[r].v - v;
    sum +=
        (difference.colwise().squaredNorm().array() / v.colwise().squaredNorm().array().max(1e-300))
            .sum();
  }
  return sum;
}

struct SimulatedStart {
  Estimate estimate;
  SimulatedMotions motions;
};

SimulatedStart bestStart(const IdentificationProblem& problem, const MethodOptions& options,
                         std::vector<Estimate> starts) {
  SimulatedStart best;
  double least = std::numeric_limits<double>::infinity();
  for (Estimate& start : starts) {
    SimulatedMotions motions = simulateMotions(problem, start.chi, options.rescale_gains);
    const double distance = distanceOf(problem, motions);
    if (&start != &starts.front() && !(distance < least)) continue;
    least = distance;
    best = {std::move(start), std::move(motions)};
  }
  return best;
}

Estimate fromPriorOr(Estimate (*least_squares)(const IdentificationProblem&, const MethodOptions&),
                     const IdentificationProblem& problem, const MethodOptions& options,
                     const SimulatingRule& rule) {
  requireReferences(problem);
  const MethodOptions weighted = rule.consistent ? withKnownWeight(problem, options) : options;
  Estimate estimate = simulateAndSolve(problem, weighted, rule,
                                       startsFrom(problem, least_squares(problem, weighted)));
  tellWeight(options, weighted, &estimate.notes);
  return estimate;
}

}  // namespace

double largestMove(const Estimate& before, const Estimate& now) {
  const double rounding = kBetaRounding * now.beta.cwiseAbs().maxCoeff();
  const Eigen::ArrayXd size = now.beta.cwiseAbs()
                                  .cwiseMax(now.covariance.diagonal().cwiseMax(0.0).cwiseSqrt())
                                  .array()
                                  .max(std::max(rounding, 1e-300));
  return ((now.beta - before.beta).array().abs() / size).maxCoeff();
}

void tellRounds(const IdentificationProblem& problem, const std::string& failure, bool converged,
                Estimate* estimate) {
  const std::vector<std::string> automatic = jointsWithoutGains(problem);
  if (!automatic.empty())
    estimate->notes.push_back(
        fmt::format("no servo gains are declared for {}; simulated with gains for {} Hz",
                    fmt::join(automatic, ", "), problem.tree->model().control.bandwidth));
  if (!failure.empty()) {
    estimate->notes.push_back("the robot with the estimated parameters cannot be simulated: " +
                              failure);
  } else if (!converged) {
    estimate->notes.push_back(fmt::format(
        "the estimate still moves after {} simulations; check the servo that robot.yaml declares",
        estimate->iterations));
  }
}

std::vector<Estimate> startsFrom(const IdentificationProblem& problem, Estimate least_squares) {
  Estimate prior;
  prior.chi = problem.prior;
  prior.beta = baseMatrix(problem.base) * problem.prior;
  prior.covariance = Eigen::MatrixXd::Zero(prior.beta.size(), prior.beta.size());
  prior.sigma = least_squares.sigma;
  return {std::move(least_squares), std::move(prior)};
}

TriangularSystem instrumentSystem(const IdentificationProblem& problem,
                                  const std::vector<MotionData>& instruments,
                                  const Eigen::VectorXd& sigma) {
  if (instruments.size() != problem.data.size())
    throw Error(fmt::format("instruments are given for {} recordings of {}", instruments.size(),
                            problem.data.size()));
  for (size_t r = 0; r < instruments.size(); ++r) {
    if (instruments[r].samples() != problem.data[r].samples())
      throw Error(fmt::format("{}: {} samples of instruments are given for {} samples",
                              problem.data[r].name, instruments[r].samples(),
                              problem.data[r].samples()));
  }
  return projectedSystem(problem.stacked, stackInstruments(problem, instruments), sigma);
}

Estimate simulateAndSolve(const IdentificationProblem& problem, const MethodOptions& options,
                          const SimulatingRule& rule, std::vector<Estimate> starts) {
  requireReferences(problem);
  const int rounds = options.max_iterations > 0 ? options.max_iterations : kSimulationRounds;
  const double tolerance = options.tolerance > 0.0 ? options.tolerance : kSimulationTolerance;
  int simulations = static_cast<int>(problem.data.size() * starts.size());
  auto [estimate, motions] = bestStart(problem, options, std::move(starts));
  const Eigen::VectorXd unit = estimate.sigma;
  double residual = 0.0, least = std::numeric_limits<double>::infinity();
  Estimate best;  // of the rounds, where they do not settle
  bool converged = false;
  int round = 0;
  while (motions.failure.empty()) {
    ++round;
    const Round now(problem, options, rule, std::move(motions.data));
    Estimate next = now.solve(estimate.sigma);
    const double norm = residualNorm(now.squares(next.beta), unit);
    const bool rests = round > 1 && std::abs(norm - residual) < tolerance * norm;
    // any motion is an instrument, but least squares along a motion needs the estimate's own
    const bool tried = rule.instruments || motions.share == 1.0;
    converged = tried && (rests || largestMove(estimate, next) < tolerance);
    residual = norm;
    estimate = std::move(next);
    if (!(norm >= least)) {
      least = norm;
      best = estimate;
    }
    if (converged || round == rounds) break;
    motions = simulateMotions(problem, estimate.chi, options.rescale_gains);
    simulations += static_cast<int>(problem.data.size());
  }
  if (!converged && round > 0) estimate = std::move(best);
  estimate.converged = converged && estimate.converged;
  estimate.iterations = round;
  estimate.simulations = simulations;
  tellRounds(problem, motions.failure, converged, &estimate);
  return estimate;
}

Estimate instrumentalVariables(const IdentificationProblem& problem, const MethodOptions& options) {
  return fromPriorOr(weightedLeastSquares, problem, options, {true, false});
}

Estimate commandedInstruments(const IdentificationProblem& problem, const MethodOptions& options) {
  const Round only(problem, options, {true, false}, commandedMotions(problem));
  return only.solve(weightedLeastSquares(problem, options).sigma);
}

Estimate directAndInverse(const IdentificationProblem& problem, const MethodOptions& options) {
  return fromPriorOr(weightedLeastSquares, problem, options, {false, false});
}

Estimate consistentInstruments(const IdentificationProblem& problem, const MethodOptions& options) {
  return fromPriorOr(consistentWeighted, problem, options, {true, true});
}

Estimate consistentCommandedInstruments(const IdentificationProblem& problem,
                                        const MethodOptions& options) {
  const MethodOptions weighted = withKnownWeight(problem, options);
  const Round only(problem, weighted, {true, true}, commandedMotions(problem));
  Estimate estimate = only.solve(consistentNoise(problem));
  tellWeight(options, weighted, &estimate.notes);
  return estimate;
}

Estimate consistentDirectAndInverse(const IdentificationProblem& problem,
                                    const MethodOptions& options) {
  return fromPriorOr(consistentWeighted, problem, options, {false, true});
}

}  // namespace proprio
