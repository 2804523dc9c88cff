#include "proprio/identification/closed_loop_error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "proprio/core/parallel.h"
#include "proprio/identification/instrumental_variables.h"
#include "proprio/identification/least_squares.h"
#include "proprio/identification/simulated_motion.h"
#include "proprio/numerics/streaming_qr.h"

namespace proprio {
namespace {

/// Step of the differences: change of the torques relative to their norm.
constexpr double kSensitivityStep = 1e-4;
/// Base parameters whose column is smaller than this share of the largest show nowhere.
constexpr double kSilentColumn = 1e-12;
constexpr double kFirstDamping = 1e-3, kDampingFactor = 10.0;
constexpr int kDampingTrials = 6;
/// Residuals below this share of the signal are rounding of the simulation.
constexpr double kResidualRounding = 1e-12;
/// Robots that are simulated at a time, per core: whole groups of SIMD lanes, little memory.
constexpr size_t kRobotsPerCore = 8;

/// A robot in simulation: what differs from the recordings, or why it cannot be simulated.
struct Trial {
  Eigen::VectorXd beta;
  /// Recorded minus simulated: a column per velocity coordinate, recordings one below the other.
  Eigen::MatrixXd difference;
  std::string failure;
};

class LoopFit {
 public:
  LoopFit(const IdentificationProblem& problem, bool rescale_gains, LoopSignal signal)
      : problem_(problem),
        rescale_gains_(rescale_gains),
        signal_(signal),
        prior_beta_(baseMatrix(problem.base) * problem.prior) {
    for (const MotionData& data : problem.data) rows_ += data.samples();
    recorded_ = signalOf(problem.data, nullptr);
    fillWeights();
    // base parameters' changes that change the torques by a small share of their norm
    const TriangularSystem torques =
        weightedSystem(problem.stacked, Eigen::VectorXd::Ones(problem.stacked.coordinates()));
    const Eigen::VectorXd columns = torques.A.colwise().norm().transpose();
    step_ = kSensitivityStep * std::hypot(torques.b.norm(), torques.rest) *
            (columns.array() > kSilentColumn * columns.maxCoeff())
                .select(columns.cwiseInverse(), Eigen::VectorXd::Zero(columns.size()));
  }

  int simulations() const { return simulations_; }

  std::vector<Trial> simulate(const std::vector<Eigen::VectorXd>& betas) {
    std::vector<Trial> trials;
    for (size_t first = 0; first < betas.size(); first += robotsAtOnce()) {
      const size_t last = std::min(betas.size(), first + robotsAtOnce());
      std::vector<Eigen::VectorXd> chis;
      for (size_t k = first; k < last; ++k) chis.push_back(robotWith(betas[k]));
      const std::vector<SimulatedMotions> all = simulateMotionsOf(problem_, chis, rescale_gains_);
      for (size_t k = first; k < last; ++k) {
        const SimulatedMotions& motions = all[k - first];
        trials.push_back({betas[k], {}, motions.failure});
        if (motions.failure.empty())
          trials.back().difference = recorded_ - signalOf(motions.data, &motions.torques);
      }
    }
    simulations_ += static_cast<int>(betas.size() * problem_.data.size());
    return trials;
  }

  /// Rms of the difference per coordinate; infinite where nothing counts.
  Eigen::VectorXd spread(const Trial& trial) const {
    Eigen::VectorXd out(recorded_.cols());
    for (Eigen::Index j = 0; j < out.size(); ++j) {
      const auto rows = static_cast<double>((weights_.col(j).array() > 0.0).count());
      const double size = kResidualRounding * recorded_.col(j).cwiseProduct(weights_.col(j)).norm(),
                   norm = trial.difference.col(j).cwiseProduct(weights_.col(j)).norm();
      out[j] = std::max(norm, size) > 0.0 ? std::max(norm, size) / std::sqrt(rows)
                                          : std::numeric_limits<double>::infinity();
    }
    return out;
  }

  /// Norm of the weighted residual.
  double misfit(const Trial& trial, const Eigen::VectorXd& spread) const {
    return trial.failure.empty() ? weighted(trial.difference, spread).norm()
                                 : std::numeric_limits<double>::infinity();
  }

  /// min |Phi d - r| over the step d as one small problem.
  /// @param failure  filled if a neighbouring robot cannot be simulated
  TriangularSystem linearised(const Trial& trial, const Eigen::VectorXd& spread,
                              std::string* failure) {
    const Eigen::Index n = trial.beta.size();
    Eigen::MatrixXd rows = Eigen::MatrixXd::Zero(rows_ * recorded_.cols(), n + 1);
    std::vector<Eigen::Index> batch;
    for (Eigen::Index k = 0; k < n; ++k) {
      if (step_[k] > 0.0) batch.push_back(k);
      if (batch.size() < robotsAtOnce() && k + 1 < n) continue;
      std::vector<Eigen::VectorXd> neighbours(batch.size(), trial.beta);
      for (size_t i = 0; i < batch.size(); ++i) neighbours[i][batch[i]] += step_[batch[i]];
      const std::vector<Trial> trials = simulate(neighbours);
      for (size_t i = 0; i < batch.size(); ++i) {
        if (!trials[i].failure.empty()) {
          *failure = trials[i].failure;
          return {};
        }
        rows.col(batch[i]) =
            weighted(trial.difference - trials[i].difference, spread).reshaped() / step_[batch[i]];
      }
      batch.clear();
    }
    rows.col(n) = weighted(trial.difference, spread).reshaped();
    StreamingQr qr(n + 1);
    qr.add(rows);
    TriangularSystem system;
    system.A = qr.factor().topLeftCorner(n, n).triangularView<Eigen::Upper>();
    system.b = qr.factor().col(n).head(n);
    system.rest = std::abs(qr.factor()(n, n));
    system.rows = (weights_.array() > 0.0).count();
    return system;
  }

 private:
  static size_t robotsAtOnce() { return kRobotsPerCore * static_cast<size_t>(workerCount()); }

  /// All robots with these base parameters move alike: the prior, its independent ones changed.
  Eigen::VectorXd robotWith(const Eigen::VectorXd& beta) const {
    Eigen::VectorXd chi = problem_.prior;
    for (size_t k = 0; k < problem_.base.independent.size(); ++k)
      chi[problem_.base.independent[k]] +=
          beta[static_cast<Eigen::Index>(k)] - prior_beta_[static_cast<Eigen::Index>(k)];
    return chi;
  }

  Eigen::MatrixXd signalOf(const std::vector<MotionData>& data,
                           const std::vector<Eigen::MatrixXd>* torques) const {
    const Tree& tree = *problem_.tree;
    Eigen::MatrixXd out = Eigen::MatrixXd::Zero(rows_, tree.velocityCount());
    Eigen::Index row = 0;
    for (size_t r = 0; r < data.size(); ++r) {
      auto rows = out.middleRows(row, data[r].samples());
      if (signal_ == LoopSignal::kTorque) {
        rows = torques ? (*torques)[r] : data[r].tau;
      } else {
        for (const std::string& name : data[r].reference->joints) {
          const int joint = requireJoint(tree.model(), name);
          rows.col(tree.velocityIndex(joint)) = data[r].q.col(tree.positionIndex(joint));
        }
      }
      row += data[r].samples();
    }
    return out;
  }

  /// Zero for torques that were not measured and positions that were not commanded.
  void fillWeights() {
    weights_ = Eigen::MatrixXd::Zero(rows_, recorded_.cols());
    Eigen::Index row = 0;
    for (const MotionData& data : problem_.data) {
      for (const std::string& name : data.reference->joints) {
        const int i = problem_.tree->velocityIndex(requireJoint(problem_.tree->model(), name));
        for (Eigen::Index k = 0; k < data.samples(); ++k) {
          if (signal_ == LoopSignal::kPosition)
            weights_(row + k, i) = data.weight;
          else if (data.use(k, i))
            weights_(row + k, i) = data.rowWeight(i);
        }
      }
      row += data.samples();
    }
  }

  Eigen::MatrixXd weighted(const Eigen::MatrixXd& difference, const Eigen::VectorXd& spread) const {
    return difference.cwiseProduct(weights_) * spread.cwiseInverse().asDiagonal();
  }

  const IdentificationProblem& problem_;
  bool rescale_gains_;
  LoopSignal signal_;
  Eigen::VectorXd prior_beta_, step_;
  Eigen::Index rows_ = 0;
  Eigen::MatrixXd recorded_, weights_;
  int simulations_ = 0;
};

Eigen::VectorXd dampedStep(const TriangularSystem& system, double damping) {
  const Eigen::Index n = system.A.cols();
  Eigen::MatrixXd A(2 * n, n);
  A << system.A, Eigen::MatrixXd(system.A.colwise().norm().asDiagonal()) * std::sqrt(damping);
  Eigen::VectorXd b(2 * n);
  b << system.b, Eigen::VectorXd::Zero(n);
  return solveRanked(A, b, Eigen::VectorXd::Zero(n)).x;
}

/// The next robot; none if nothing nearby is better.
std::optional<Trial> betterRobot(LoopFit& fit, const Trial& now, const Eigen::VectorXd& spread,
                                 const TriangularSystem& system, double* damping) {
  const double misfit = fit.misfit(now, spread);
  for (int trial = 0; trial < kDampingTrials; ++trial) {
    Trial tried = fit.simulate({now.beta + dampedStep(system, *damping)}).front();
    if (fit.misfit(tried, spread) < misfit) {
      *damping /= kDampingFactor;
      return tried;
    }
    *damping *= kDampingFactor;
  }
  return std::nullopt;
}

Estimate loopEstimate(const IdentificationProblem& problem, const MethodOptions& options,
                      TriangularSystem system, const Eigen::VectorXd& beta) {
  system.b = system.A * beta;
  Estimate estimate =
      solveSystem(problem, std::move(system), options, jointNoise(problem.stacked, beta));
  estimate.beta = beta;  // also in directions to which the loop is blind
  estimate.chi = standardFromBase(problem, beta);
  return estimate;
}

}  // namespace

Estimate fitClosedLoop(const IdentificationProblem& problem, const MethodOptions& options,
                       LoopSignal signal, const std::vector<Estimate>& starts) {
  requireReferences(problem);
  const int iterations = options.max_iterations > 0 ? options.max_iterations : kSimulationRounds;
  const double tolerance = options.tolerance > 0.0 ? options.tolerance : kSimulationTolerance;
  LoopFit fit(problem, options.rescale_gains, signal);
  std::vector<Eigen::VectorXd> betas;
  for (const Estimate& start : starts) betas.push_back(start.beta);
  const std::vector<Trial> firsts = fit.simulate(betas);
  const auto moves = std::find_if(firsts.begin(), firsts.end(),
                                  [](const Trial& trial) { return trial.failure.empty(); });
  Estimate estimate = starts.front();
  std::string failure = moves == firsts.end() ? firsts.front().failure : "";
  bool converged = false;
  int iteration = 0;
  if (failure.empty()) {
    Eigen::VectorXd spread = fit.spread(*moves);
    Trial now = *std::min_element(moves, firsts.end(), [&](const Trial& a, const Trial& b) {
      return fit.misfit(a, spread) < fit.misfit(b, spread);
    });
    double damping = kFirstDamping;
    for (;; ++iteration) {
      spread = fit.spread(now);
      const TriangularSystem system = fit.linearised(now, spread, &failure);
      if (!failure.empty()) break;
      Estimate next = loopEstimate(problem, options, system, now.beta);
      converged = converged || (iteration > 0 && largestMove(estimate, next) < tolerance);
      estimate = std::move(next);
      if (converged || iteration == iterations) break;
      const double before = fit.misfit(now, spread);
      std::optional<Trial> better = betterRobot(fit, now, spread, system, &damping);
      if (!better) {
        converged = true;  // within the smallest step tried
        break;
      }
      now = std::move(*better);
      converged = before - fit.misfit(now, spread) < tolerance * before;
    }
  }
  estimate.converged = converged && failure.empty();
  estimate.iterations = iteration;
  estimate.simulations = fit.simulations();
  tellRounds(problem, failure, estimate.converged, &estimate);
  return estimate;
}

Estimate closedLoopOutputError(const IdentificationProblem& problem, const MethodOptions& options) {
  requireReferences(problem);
  return fitClosedLoop(problem, options, LoopSignal::kPosition,
                       startsFrom(problem, weightedLeastSquares(problem, options)));
}

Estimate closedLoopInputError(const IdentificationProblem& problem, const MethodOptions& options) {
  requireReferences(problem);
  return fitClosedLoop(problem, options, LoopSignal::kTorque,
                       startsFrom(problem, weightedLeastSquares(problem, options)));
}

}  // namespace proprio
