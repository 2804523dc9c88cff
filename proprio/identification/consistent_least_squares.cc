#include "proprio/identification/consistent_least_squares.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "proprio/core/error.h"
#include "proprio/identification/least_squares.h"
#include "proprio/identification/prior.h"
#include "proprio/numerics/dense.h"
#include "proprio/spatial/pseudo_inertia.h"

namespace proprio {
namespace {

using Eigen::Matrix4d;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Noise of exact data, relative to the torques.
constexpr double kLeastNoise = 1e-6;
/// Noise where there are too few rows to find out, relative to the torques.
constexpr double kUnknownNoise = 0.1;
/// Distances from the description, in two standard deviations of the prior, at which it is doubted,
/// and by which a doubt grows before it is worth another round.
constexpr double kDoubtFrom = 2.0, kDoubtGrows = 1.2;
constexpr int kDoubtRounds = 6;
/// The data decide a direction whose standard deviation they bring below this part of the prior's.
constexpr double kDecided = 0.5;
/// Coefficients that may not be negative are zero below this part of their size.
constexpr double kAtZero = 1e-8;
/// Gap relative to the objective that counts as the optimum.
constexpr double kRelativeGap = 1e-9;
/// The least unit of the projection's second step, relative to the prior's size: data that are
/// exact have no deviations.
constexpr double kProjectionUnit = 1e-3;
constexpr const char* kContradiction =
    "no robot fulfils all the constraints: the bounds on masses contradict each other or the "
    "frozen links";
constexpr const char* kNotFound =
    "the solver found neither a robot that fulfils all the constraints nor a proof that there is "
    "none; bounds nearer to the description may help";
/// Feasibility of base parameters: the margin of "possible", and distances that are rounding.
constexpr double kTouches = 1e-9, kSamePoint = 1e-6;
/// Weight of its pull, relative to the squares of what is approached.
constexpr double kFaint = 1e-10;
/// A parameter that the data leave at its bound is there up to rounding.
constexpr double kOnTheBound = 1e-12;
constexpr int kFolds = 5;

bool fulfils(const LmiProblem& problem, const VectorXd& xi) {
  for (const PsdBlock& block : problem.blocks) {
    if (blockAt(block, xi).llt().info() != Eigen::Success) return false;
  }
  return std::all_of(problem.inequalities.begin(), problem.inequalities.end(),
                     [&](const LinearInequality& row) { return slackAt(row, xi) >= -kOnTheBound; });
}

/// The same problem with the origin at xi.
LmiProblem recentred(const LmiProblem& problem, const VectorXd& xi) {
  LmiProblem moved = problem;
  moved.b -= moved.A * xi;
  for (PsdBlock& block : moved.blocks) block.constant = lowerTriangle(blockAt(block, xi));
  for (LinearInequality& row : moved.inequalities) row.lower = -slackAt(row, xi);
  return moved;
}

/// The solver measures its gap against |b|^2, which is the misfit at the origin. From the solution
/// as origin, that is the objective.
LmiSolution solveToObjective(const LmiProblem& problem, const LmiOptions& options) {
  LmiSolution solution = solveLmiLeastSquares(problem, options);
  if (!fulfilsConstraints(solution)) return solution;
  if (solution.gap < kRelativeGap * std::abs(solution.objective)) return solution;
  LmiSolution warm = solution;
  warm.x.setZero();
  LmiOptions again = options;
  again.warm = &warm;
  const LmiProblem moved = recentred(problem, solution.x);
  LmiSolution better = solveLmiLeastSquares(moved, again);
  if (!fulfilsConstraints(better) || !(better.gap < solution.gap)) return solution;
  better.x += solution.x;
  better.iterations += solution.iterations;
  better.objective = objectiveAt(problem, better.x);
  return better;
}

/// Information of data and prior as a triangular factor: K = R^T R.
MatrixXd informationFactor(const ConsistentProblem& consistent, const PriorOptions& prior) {
  const MatrixXd& A = consistent.lmi.A;
  MatrixXd rows = A;
  if (prior.kind == PriorKind::kEntropic) {
    // the divergence has the curvature of the pull-back metric at the prior
    const VectorXd curvature = consistent.lmi.linear;
    rows.conservativeResize(A.rows() + A.cols(), Eigen::NoChange);
    rows.bottomRows(A.cols()).setZero();
    const auto inertial = static_cast<Eigen::Index>(10 * consistent.links.size());
    for (Eigen::Index i = 0; i < inertial; ++i)
      rows(A.rows() + i, i) = std::sqrt(curvature[i - i % 10]);
  }
  return triangularFactor(rows);
}

struct OptimalPoint {
  VectorXd xi;
  std::vector<int> active_links;
  double gap = 0.0;
  int iterations = 1;
  LmiStatus status = LmiStatus::kSolved;
  bool fulfils = true;  // all constraints
};

void requireConstraints(const OptimalPoint& point) {
  if (point.status == LmiStatus::kInfeasible) throw Error(kContradiction);
  if (!point.fulfils) throw Error(kNotFound);
}

OptimalPoint optimalPoint(const ConsistentProblem& consistent, const MethodOptions& options) {
  const LmiProblem small = withTriangularRows(consistent.lmi);
  OptimalPoint point;
  if (small.linear.size() == 0) {
    point.xi = unconstrainedPoint(small);
    if (point.xi.allFinite() && fulfils(small, point.xi)) {
      point.xi = keptInside(consistent, point.xi);
      return point;
    }
  }
  LmiOptions solver;
  if (options.max_iterations > 0) solver.max_iterations = options.max_iterations;
  if (options.tolerance > 0.0) solver.tolerance = options.tolerance;
  const LmiSolution solution = solveToObjective(small, solver);
  point.status = solution.status;
  point.fulfils = fulfilsConstraints(solution);
  point.iterations = solution.iterations;
  point.gap = solution.gap / std::max(std::abs(objectiveAt(consistent.lmi, solution.x)), 1e-300);
  point.xi = keptInside(consistent, solution.x);
  for (size_t k = 0; k < small.blocks.size(); ++k) {
    if (solution.block_active[k]) point.active_links.push_back(consistent.block_links[k]);
  }
  return point;
}

/// Directions that the same words describe are counted: "..., combination 2".
std::vector<std::string> withoutRepeats(std::vector<std::string> texts) {
  std::map<std::string, int> times;
  for (std::string& text : texts) {
    const int time = ++times[text];
    if (time > 1) text += fmt::format(" (combination {})", time);
  }
  return texts;
}

std::vector<std::string> undecidedDirections(const IdentificationProblem& problem,
                                             const TriangularSystem& system,
                                             const ConsistentProblem& consistent,
                                             const PriorOptions& prior, const VectorXd& xi) {
  // prior covariance of beta: L L^T / weight
  const MatrixXd& M = consistent.base_map;
  const MatrixXd L = triangularFactor(M.transpose()).transpose();
  const Eigen::Index n = L.cols();
  // what the data leave of the prior's variance, in its units: (1 + L^T A^T A L / w)^-1, from the
  // triangular factor so that the share of badly seen directions keeps its digits
  const MatrixXd seen = system.A * L;
  const double weight =
      prior.kind == PriorKind::kNone ? std::pow(1e-8 * seen.norm(), 2) + 1e-300 : prior.weight;
  MatrixXd rows(seen.rows() + n, n);
  rows << seen / std::sqrt(weight), MatrixXd::Identity(n, n);
  const MatrixXd root = solveUpper(triangularFactor(rows), MatrixXd::Identity(n, n));
  const SymmetricEigen left = symmetricEigen(root * root.transpose());
  // where the data have moved the estimate by more than the prior believes, they do decide
  const VectorXd change = M * xi;
  const VectorXd moved = std::sqrt(weight) * L.triangularView<Eigen::Lower>().solve(change);
  MatrixXd open(n, 0);
  for (Eigen::Index i = n - 1; i >= 0 && left.values[i] > kDecided * kDecided; --i) {
    const VectorXd direction = L * left.vectors.col(i);
    if (!(direction.norm() > 1e-9 * L.norm())) continue;
    const bool believed = prior.kind == PriorKind::kNone || !moved.allFinite() ||
                          std::abs(left.vectors.col(i).dot(moved)) <= 1.0;
    if (!believed) continue;
    open.conservativeResize(Eigen::NoChange, open.cols() + 1);
    open.rightCols(1) = direction;
  }
  return withoutRepeats(directionTexts(problem, open));
}

VectorXd rmsTorques(const StackedProblem& stacked) {
  VectorXd rms = squaredTorques(stacked);
  for (int j = 0; j < stacked.coordinates(); ++j) {
    const auto rows = static_cast<double>(std::max<Eigen::Index>(stacked.rows(j), 1));
    rms[j] = std::max(std::sqrt(rms[j] / rows), 1e-9);
  }
  return rms;
}

MethodOptions weightFor(const IdentificationProblem& problem, const VectorXd& sigma,
                        const MethodOptions& options) {
  MethodOptions chosen = options;
  if (!options.prior.automatic) return chosen;
  chosen.prior.weight = automaticPriorWeight(problem, sigma, options);
  chosen.prior.automatic = false;
  return chosen;
}

/// With the noise known: weight, system, solution.
Estimate solveWithNoise(const IdentificationProblem& problem, const MethodOptions& options,
                        const VectorXd& sigma) {
  const MethodOptions chosen = weightFor(problem, sigma, options);
  Estimate estimate = solveConsistent(problem, weightedSystem(problem.stacked, sigma), chosen);
  estimate.sigma = sigma;
  tellWeight(options, chosen, &estimate.notes);
  return estimate;
}

}  // namespace

VectorXd consistentNoise(const IdentificationProblem& problem) {
  return consistentNoise(problem.stacked, jointNoise(problem.stacked));
}

VectorXd consistentNoise(const StackedProblem& stacked, VectorXd sigma) {
  const VectorXd rms = rmsTorques(stacked);
  for (Eigen::Index j = 0; j < sigma.size(); ++j) {
    sigma[j] =
        std::isfinite(sigma[j]) ? std::max(sigma[j], kLeastNoise * rms[j]) : kUnknownNoise * rms[j];
  }
  return sigma;
}

VectorXd commonNoise(const IdentificationProblem& problem) {
  const Estimate first = ordinaryLeastSquares(problem, {});
  const StackedProblem& stacked = problem.stacked;
  const auto rows = static_cast<double>(std::max<Eigen::Index>(stacked.rows(), 1));
  const double rms = std::max(std::sqrt(squaredTorques(stacked).sum() / rows), 1e-9);
  const double free =
      rows - static_cast<double>(first.beta.size()) + static_cast<double>(first.undecided.size());
  const double squares = squaredResiduals(stacked, first.beta).sum();
  const double sigma =
      free >= 1.0 ? std::max(std::sqrt(squares / free), kLeastNoise * rms) : kUnknownNoise * rms;
  return VectorXd::Constant(stacked.coordinates(), sigma);
}

VectorXd unconstrainedPoint(const LmiProblem& triangular) {
  const VectorXd pivots = triangular.A.diagonal().cwiseAbs();
  if (triangular.A.rows() < triangular.A.cols() || !(pivots.minCoeff() > 1e-14 * pivots.maxCoeff()))
    return VectorXd::Constant(triangular.A.cols(), std::numeric_limits<double>::quiet_NaN());
  return solveUpper(triangular.A, triangular.b);
}

VectorXd keptInside(const ConsistentProblem& consistent, VectorXd xi) {
  const auto holds = [&](const VectorXd& at) {
    for (const PsdBlock& block : consistent.lmi.blocks) {
      // the margin leaves room for rounding: half of it must remain
      Matrix4d S = blockAt(block, at);
      const double slack = block.log_det_weight > 0.0 ? 0.0 : 0.5 * consistent.margin;
      S.diagonal().array() += slack;
      if (S.llt().info() != Eigen::Success) return false;
    }
    return true;
  };
  for (const LinearInequality& row : consistent.lmi.inequalities) {
    if (row.variables.size() != 1) continue;
    const double miss = slackAt(row, xi);
    if (miss < 0.0) xi[row.variables[0]] -= miss / row.coefficients[0];
  }
  if (holds(xi)) return xi;
  // mixtures of possible bodies are possible: the shortest way from the solution to the inside
  VectorXd target = consistent.inside;
  const VectorXd way = target - xi;
  for (double step = 1e-12; step < 1.0; step *= 2.0) {
    VectorXd mixed = xi + step * way;
    if (holds(mixed)) return mixed;
  }
  return target;
}

Estimate estimateAt(const IdentificationProblem& problem, const TriangularSystem& system,
                    const ConsistentProblem& consistent, const VectorXd& xi,
                    const PriorOptions& prior) {
  Estimate estimate;
  estimate.chi = consistent.F * xi + consistent.f0;
  estimate.beta = consistent.base_map * xi + consistent.base_offset;
  const MatrixXd B = baseMatrix(problem.base);
  for (const int p : consistent.nonnegative) {
    if (estimate.chi[p] > kAtZero * problem.sizes[p - problem.layout->inertialSize()]) continue;
    estimate.beta -= B.col(p) * estimate.chi[p];
    estimate.chi[p] = 0.0;
    estimate.at_zero.push_back(p);
  }
  const MatrixXd half =
      solveUpperTransposed(informationFactor(consistent, prior), consistent.base_map.transpose());
  estimate.covariance = half.transpose() * half;
  estimate.condition = solveRanked(system.A, system.b, consistent.base_offset).condition;
  estimate.undecided = undecidedDirections(problem, system, consistent, prior, xi);
  estimate.notes = consistent.notes;
  return estimate;
}

void tellDoubts(const IdentificationProblem& problem, const PriorOptions& prior,
                Estimate* estimate) {
  for (size_t link = 0; link < prior.doubt.size(); ++link) {
    if (prior.doubt[link] <= 1.0) continue;
    estimate->notes.push_back(fmt::format(
        "the recordings contradict the description of link '{}' ({:.0f} times as far from it as "
        "believed possible): it counts less",
        problem.tree->model().links[link].name, prior.doubt[link]));
  }
}

BaseFeasibility baseFeasibility(const IdentificationProblem& problem, const VectorXd& beta,
                                const MatrixXd& W) {
  if (beta.size() != problem.base.count() || W.cols() != beta.size())
    throw Error(fmt::format("{} base parameters and weights of {} are given; the robot has {}",
                            beta.size(), W.cols(), problem.base.count()));
  TriangularSystem system;
  system.A = triangularFactor(W);
  system.b = system.A * beta;
  system.rows = W.rows();
  ConsistencyOptions constraints;
  constraints.margin = kTouches;
  PriorOptions prior;
  prior.kind = PriorKind::kNone;
  prior.doubting = false;
  prior.weight = std::max(kFaint * system.b.squaredNorm(), 1e-300);
  const ConsistentProblem consistent = consistentProblem(problem, system, constraints, prior);
  const OptimalPoint point = optimalPoint(consistent, {});
  BaseFeasibility result;
  result.nearest = consistent.base_map * point.xi + consistent.base_offset;
  result.distance = (system.A * (result.nearest - beta)).norm();
  result.possible = result.distance <= kSamePoint * system.b.norm();
  if (!result.possible) result.links = point.active_links;
  return result;
}

PriorOptions doubtingPrior(const IdentificationProblem& problem, const TriangularSystem& system,
                           const MethodOptions& options) {
  PriorOptions prior = options.prior;
  if (!prior.doubting || prior.kind != PriorKind::kPullback)
    return prior;  // the others do not grow as squares
  prior.doubt.assign(problem.tree->model().links.size(), 1.0);
  bool doubts = true;
  for (int round = 0; round < kDoubtRounds && doubts; ++round) {
    const ConsistentProblem consistent =
        consistentProblem(problem, system, options.constraints, prior);
    const OptimalPoint point = optimalPoint(consistent, {});  // whatever the method's own budget
    if (!point.fulfils) return options.prior;
    const VectorXd chi = consistent.F * point.xi + consistent.f0;
    doubts = false;
    for (size_t k = 0; k < consistent.links.size(); ++k) {
      const int link = consistent.links[k];
      if (std::find(problem.guessed.begin(), problem.guessed.end(), link) != problem.guessed.end())
        continue;  // nobody described it
      const int mass = problem.layout->linkOffset(link);
      const double heavier =
          (chi[mass] - problem.prior[mass]) / (prior.mass_trust * problem.prior[mass]);
      const double squares =
          point.xi.segment(static_cast<Eigen::Index>(10 * k), 10).squaredNorm() + heavier * heavier;
      const double distance = 0.5 * std::sqrt(prior.weight * squares);
      double& doubt = prior.doubt[static_cast<size_t>(link)];
      if (distance < kDoubtFrom || distance < kDoubtGrows * doubt) continue;
      doubt = distance;
      doubts = true;
    }
  }
  return prior;
}

Estimate solveConsistent(const IdentificationProblem& problem, const TriangularSystem& system,
                         const MethodOptions& given) {
  MethodOptions options = given;
  options.prior = doubtingPrior(problem, system, given);
  ConsistentProblem consistent =
      consistentProblem(problem, system, options.constraints, options.prior);
  OptimalPoint point = optimalPoint(consistent, options);
  if (!point.fulfils && consistent.geometric) {
    ConsistencyOptions fewer = options.constraints;
    fewer.com_in_shapes = fewer.mass_in_ellipsoid = false;
    consistent = consistentProblem(problem, system, fewer, options.prior);
    consistent.notes.emplace_back(
        "the shapes contradict the other constraints and were left out of account");
    point = optimalPoint(consistent, options);
  }
  requireConstraints(point);
  Estimate estimate = estimateAt(problem, system, consistent, point.xi, options.prior);
  tellDoubts(problem, options.prior, &estimate);
  estimate.active_links = std::move(point.active_links);
  estimate.gap = point.gap;
  estimate.iterations = point.iterations;
  estimate.converged = point.status == LmiStatus::kSolved;
  if (!estimate.converged) {
    estimate.notes.push_back(
        fmt::format("the solver stopped at a relative gap of {:.1e}", point.gap));
  }
  return estimate;
}

double automaticPriorWeight(const IdentificationProblem& problem, const VectorXd& sigma,
                            const MethodOptions& options) {
  const StackedProblem& stacked = problem.stacked;
  const int blocks = static_cast<int>(stacked.blocks.size());
  const int folds = std::min(kFolds, blocks);
  if (folds < 2) return 1.0;
  MethodOptions tried = options;
  double best_weight = 1.0, best_score = std::numeric_limits<double>::infinity();
  std::vector<std::vector<int>> left_out(static_cast<size_t>(folds));
  for (int k = 0; k < blocks; ++k) left_out[static_cast<size_t>(k % folds)].push_back(k);
  std::vector<TriangularSystem> systems;
  for (const std::vector<int>& fold : left_out) {
    systems.push_back(weightedSystem(stacked, sigma, fold));
  }
  for (int power = -3; power <= 3; ++power) {
    tried.prior.weight = std::pow(10.0, power);
    double score = 0.0;
    for (size_t f = 0; f < left_out.size(); ++f) {
      const ConsistentProblem consistent =
          consistentProblem(problem, systems[f], options.constraints, tried.prior);
      const VectorXd xi = optimalPoint(consistent, tried).xi;
      const VectorXd beta = consistent.base_map * xi + consistent.base_offset;
      const VectorXd squares = squaredResiduals(stacked, beta, left_out[f]);
      score += squares.cwiseQuotient(sigma.cwiseAbs2()).sum();
    }
    if (score < best_score) {
      best_score = score;
      best_weight = tried.prior.weight;
    }
  }
  return best_weight;
}

MethodOptions withKnownWeight(const IdentificationProblem& problem, const MethodOptions& options) {
  return options.prior.automatic ? weightFor(problem, consistentNoise(problem), options) : options;
}

void tellWeight(const MethodOptions& asked, const MethodOptions& used,
                std::vector<std::string>* notes) {
  if (asked.prior.automatic && !used.prior.automatic)
    notes->push_back(
        fmt::format("weight of the prior, by leaving out blocks: {:g}", used.prior.weight));
}

Estimate consistentOrdinary(const IdentificationProblem& problem, const MethodOptions& options) {
  return solveWithNoise(problem, options, commonNoise(problem));
}

Estimate consistentWeighted(const IdentificationProblem& problem, const MethodOptions& options) {
  return solveWithNoise(problem, options, consistentNoise(problem));
}

namespace {

/// The first step: data and prior without constraints. A divergence has no such minimum; its
/// curvature at the prior takes its place.
struct FreeStep {
  VectorXd beta, deviations;
};

FreeStep freeStep(const IdentificationProblem& problem, const TriangularSystem& system,
                  const ConsistencyOptions& constraints, PriorOptions prior) {
  if (prior.kind == PriorKind::kEntropic) prior.kind = PriorKind::kPullback;
  const ConsistentProblem free = consistentProblem(problem, system, constraints, prior);
  const VectorXd xi = unconstrainedPoint(withTriangularRows(free.lmi));
  const MatrixXd half =
      solveUpperTransposed(informationFactor(free, prior), free.base_map.transpose());
  return {free.base_map * xi + free.base_offset, half.colwise().norm()};
}

}  // namespace

Estimate projectedLeastSquares(const IdentificationProblem& problem, const MethodOptions& given) {
  const VectorXd sigma = consistentNoise(problem);
  MethodOptions options = weightFor(problem, sigma, given);
  const TriangularSystem data = weightedSystem(problem.stacked, sigma);
  options.prior = doubtingPrior(problem, data, options);
  const FreeStep first = freeStep(problem, data, options.constraints, options.prior);
  const MatrixXd B = baseMatrix(problem.base);
  const PriorMetric metric = priorMetric(*problem.layout, problem.prior, problem.sizes);
  const VectorXd size = (B * solveMetric(metric, B.transpose())).diagonal().cwiseSqrt();
  TriangularSystem nearest;
  nearest.A = first.deviations.cwiseMax(kProjectionUnit * size).cwiseInverse().asDiagonal();
  nearest.b = nearest.A.diagonal().cwiseProduct(first.beta);
  nearest.rows = data.rows;
  const ConsistentProblem second =
      consistentProblem(problem, nearest, options.constraints, options.prior);
  const OptimalPoint point = optimalPoint(second, options);
  requireConstraints(point);
  // uncertainty is that of the data, not of the second step
  const ConsistentProblem first_step =
      consistentProblem(problem, data, options.constraints, options.prior);
  Estimate estimate = estimateAt(problem, data, first_step, point.xi, options.prior);
  tellDoubts(problem, options.prior, &estimate);
  tellWeight(given, options, &estimate.notes);
  estimate.active_links = point.active_links;
  estimate.gap = point.gap;
  estimate.iterations = point.iterations;
  estimate.converged = point.status == LmiStatus::kSolved;
  estimate.sigma = sigma;
  return estimate;
}

}  // namespace proprio
