#include "proprio/motion/excitation_design.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "proprio/dynamics/sampled_identifiability.h"
#include "proprio/motion/constraint_peaks.h"
#include "proprio/motion/excitation_problem_internal.h"
#include "proprio/motion/uniform_internal.h"
#include "proprio/numerics/cma_es.h"

namespace proprio {
namespace {

// Samples per shortest wave of the grid on which limits must hold, of the coarse one whose times
// are watched from the start, and of the one that the evolution strategy looks at.
constexpr int kDense = 50, kCoarse = 2, kRescueSamples = 5;
// Samples per second of the first, at least: distances change with time, however slow the waves.
constexpr double kDenseRate = 50.0;
constexpr int kGridParts = 8;
// Watched times keep this much of a limit free, so that the motion between them does too.
constexpr double kTightening = 0.005;
// The random start uses this much of the joint limits.
constexpr double kStartUsage = 0.7;
// Postures tried for a start at most, and also when the time is over.
constexpr int kStartTries = 400, kLeastTries = 20;
constexpr double kSmallestStart = 0.02, kLargeStart = 0.3, kStartBack = 0.97;
// Part of the time limit after which any start will do.
constexpr double kStartTime = 0.2;
// Part of the time limit after which the evolution strategy leaves the rest to the gradient method.
constexpr double kRescueTime = 0.5;
// A criterion beyond this is a start that a gradient does not lead away from.
constexpr double kBadStart = 1e6;
constexpr int kRescueGenerations = 60;
constexpr double kActive = 0.97;
// Usage of a pair of links that is far enough apart not to be watched: 0.1 m beyond the clearance.
constexpr double kFarPair = 0.0;
constexpr double kBarrier = 1e-4;
// Part of the time limit that rounds leave to their repairs, and what a repair may take.
constexpr double kRepairTime = 0.15;
constexpr int kRepairs = 4, kRepairIterations = 30;
// A motion whose criterion is worse by this part lags behind.
constexpr double kLag = 0.1;
// A round that improves the criterion by less is the last.
constexpr double kProgress = 0.003;
// Between the seeds of restarts: far from those that users try one after the other.
constexpr uint64_t kSeedStride = 1000003;

bool isBehind(double criterion, double other) { return criterion > other + kLag * std::abs(other); }

struct Usage {
  Eigen::VectorXd worst;             ///< per constraint
  std::vector<Eigen::Index> sample;  ///< where
};

class Designer {
 public:
  Designer(const std::shared_ptr<const Model>& model, const ExcitationOptions& options);
  ExcitationDesign run();

 private:
  double elapsed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }
  bool outOfTime() const { return elapsed() > options_.time_limit; }
  Eigen::MatrixXd denseUsage(const Eigen::VectorXd& x) const;
  Usage worstUsage(const Eigen::VectorXd& x) const;
  bool keepsOnGrid(const Eigen::VectorXd& x) const;
  bool keepsLimits(const Eigen::VectorXd& x) const;
  double exactCriterion(const Eigen::VectorXd& x);
  Eigen::VectorXd randomCoefficients(Uniform& random) const;
  Eigen::VectorXd randomCentre(Uniform& random) const;
  Eigen::VectorXd restingUsage(const Eigen::VectorXd& q) const;
  std::optional<Eigen::VectorXd> feasibleStart();
  double largestScale(const Eigen::VectorXd& motion, const Eigen::VectorXd& centre) const;
  std::string noStart(int tried, const std::map<std::string, int>& blame) const;
  void watchCoarsely(const Eigen::VectorXd& x);
  Eigen::VectorXd rescued(const Eigen::VectorXd& x);
  std::optional<Eigen::VectorXd> largestKept(
      const std::function<Eigen::VectorXd(double)>& along) const;
  void keep(const Eigen::VectorXd& x);
  int watchExtremes(const Eigen::VectorXd& x);
  Eigen::VectorXd solveRound(const Eigen::VectorXd& x);
  Eigen::VectorXd nearestKept(const Eigen::VectorXd& x);
  void finish();

  const ExcitationOptions options_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::shared_ptr<const Tree> tree_, smooth_tree_;
  std::shared_ptr<const MotionConstraints> constraints_, smooth_constraints_;
  std::unique_ptr<ExcitationCriterion> criterion_, search_criterion_;
  std::unique_ptr<internal::ExcitationProblem> problem_;
  internal::RestGrid dense_;
  ExcitationDesign design_;
  Eigen::VectorXd best_;                           ///< that keeps every limit
  double best_value_ = 0.0;                        ///< its criterion
  ProgramStatus status_ = ProgramStatus::kFailed;  ///< of the last round
};

void check(const ExcitationOptions& options) {
  const auto require = [](bool good, const std::string& sentence) {
    if (!good) throw Error(sentence);
  };
  require(options.margin >= 0.0 && options.margin < 1.0,
          fmt::format("a margin of {}; expected a part of the limits, from 0 to below 1",
                      options.margin));
  require(
      options.speed > 0.0 && options.speed <= 1.0,
      fmt::format("a speed of {}; expected a part of the limits, above 0 up to 1", options.speed));
  require(options.rounds >= 0 && options.iterations >= 1, "needs at least one iteration");
}

Designer::Designer(const std::shared_ptr<const Model>& model, const ExcitationOptions& options)
    : options_(options) {
  check(options);
  const internal::RestBasis basis = internal::restBasis(options);
  dense_ = internal::restGrid(
      basis, std::max(kDense * basis.waves, static_cast<int>(kDenseRate * options.seconds)));
  const auto dense_samples = static_cast<double>(dense_.time.size());
  const auto smooth = std::make_shared<const Model>(withSmoothSigns(*model, options.sign_gain));
  tree_ = std::make_shared<const Tree>(model);
  smooth_tree_ = std::make_shared<const Tree>(smooth);
  const Parameters parameters = declaredParameters(model), soft = declaredParameters(smooth);
  const HeldRobot held = heldRobot(tree_, parameters.layout, options);
  design_.base = excitableParameters(held);
  design_.silent = silentParameters(sampledBaseParameters(*tree_, parameters.layout), design_.base);
  CriterionOptions criterion = options.criterion;
  if (criterion.columns.empty()) criterion.columns = design_.base.independent;
  design_.columns = criterion.columns;
  ConstraintOptions limits = options.constraints;
  limits.limits = internal::designLimits(*model, options);
  limits.joints = limits.limits->joints;
  design_.joints = limits.joints;
  for (int j = 0; j < limits.limits->size(); ++j) {
    // without a velocity limit the best motion is infinitely fast
    requiredLimit(*limits.limits, j, "velocity");
  }
  constraints_ = std::make_shared<const MotionConstraints>(tree_, parameters, limits);
  smooth_constraints_ = std::make_shared<const MotionConstraints>(smooth_tree_, soft, limits);
  if (!options.earlier.empty()) {
    criterion.earlier =
        std::sqrt(dense_samples / options.seconds) * earlierFactor(held, criterion.columns);
  }
  criterion.smoothing = 0.0;
  criterion_ = std::make_unique<ExcitationCriterion>(tree_, parameters.layout, criterion);
  // fewer samples in the search: the earlier ones count less in the same way
  criterion.earlier *=
      std::sqrt(static_cast<double>(internal::criterionSamples(basis, criterion, *smooth_tree_)) /
                dense_samples);
  criterion.smoothing = options.criterion.smoothing > 0.0 ? options.criterion.smoothing : 8.0;
  search_criterion_ = std::make_unique<ExcitationCriterion>(smooth_tree_, soft.layout, criterion);
  problem_ = std::make_unique<internal::ExcitationProblem>(
      basis, *smooth_tree_, smooth_constraints_, search_criterion_.get());
}

Eigen::MatrixXd Designer::denseUsage(const Eigen::VectorXd& x) const {
  const GridSamples s = problem_->samples(dense_, x);
  return constraints_->usage(s.q, s.v, s.a);
}

Usage Designer::worstUsage(const Eigen::VectorXd& x) const {
  const Eigen::MatrixXd usage = denseUsage(x);
  Usage worst;
  worst.worst.resize(usage.cols());
  worst.sample.resize(static_cast<size_t>(usage.cols()));
  for (Eigen::Index c = 0; c < usage.cols(); ++c) {
    const MotionConstraint& constraint = constraints_->list()[static_cast<size_t>(c)];
    const Eigen::VectorXd m =
        usage.col(c).unaryExpr([&](double u) { return constraint.measure(u); });
    worst.worst[c] = m.maxCoeff(&worst.sample[static_cast<size_t>(c)]);
  }
  return worst;
}

/// On the dense grid. Parts of it that are spread over the motion come one after the other, because
/// most motions that break a limit do so in the first.
bool Designer::keepsOnGrid(const Eigen::VectorXd& x) const {
  const GridSamples s = problem_->samples(dense_, x);
  for (int part = 0; part < kGridParts; ++part) {
    const auto rows = Eigen::seq(part, s.q.rows() - 1, kGridParts);
    const Eigen::MatrixXd q = s.q(rows, Eigen::all), v = s.v(rows, Eigen::all),
                          a = s.a(rows, Eigen::all), usage = constraints_->usage(q, v, a);
    for (Eigen::Index c = 0; c < usage.cols(); ++c) {
      const MotionConstraint& constraint = constraints_->list()[static_cast<size_t>(c)];
      for (Eigen::Index k = 0; k < usage.rows(); ++k) {
        if (!(constraint.measure(usage(k, c)) <= 1.0)) return false;
      }
    }
  }
  return true;
}

/// On the dense grid and between its samples.
bool Designer::keepsLimits(const Eigen::VectorXd& x) const {
  if (!keepsOnGrid(x)) return false;
  const std::shared_ptr<const Trajectory> motion = problem_->motion(x);
  const auto samples = static_cast<int>(dense_.time.size());
  return violations(extremes(*motion), constraints_->limits()).empty() &&
         constraintPeaks(*constraints_, *motion, samples, 1.0, true).empty();
}

double Designer::exactCriterion(const Eigen::VectorXd& x) {
  const GridSamples s = problem_->samples(dense_, x);
  return criterion_->value(constraints_->fullPositions(s.q), constraints_->fullVelocities(s.v),
                           constraints_->fullVelocities(s.a));
}

/// Random coefficients, each joint as large as its velocity, acceleration and range allow.
Eigen::VectorXd Designer::randomCoefficients(Uniform& random) const {
  const Eigen::Index p = problem_->perJoint();
  Eigen::VectorXd x =
      Eigen::VectorXd::NullaryExpr(problem_->variables(), [&] { return random(-1.0, 1.0); });
  const GridSamples s = problem_->samples(dense_, x);
  const MotionLimits& limits = constraints_->limits();
  for (Eigen::Index j = 0; j < problem_->jointCount(); ++j) {
    double factor = limits.velocity[j] / s.v.col(j).cwiseAbs().maxCoeff();
    const double acceleration = limits.acceleration[j] / s.a.col(j).cwiseAbs().maxCoeff();
    const double range =
        (limits.upper[j] - limits.lower[j]) / (s.q.col(j).maxCoeff() - s.q.col(j).minCoeff());
    // limits that are not stated compare as false
    if (acceleration < factor) factor = acceleration;
    if (range < factor) factor = range;
    x.segment(j * p, p) *= kStartUsage * factor;
  }
  return x;
}

Eigen::VectorXd Designer::randomCentre(Uniform& random) const {
  const MotionLimits& limits = constraints_->limits();
  Eigen::VectorXd centre(limits.size());
  for (Eigen::Index j = 0; j < centre.size(); ++j) {
    const bool stated = std::isfinite(limits.lower[j]) && std::isfinite(limits.upper[j]);
    centre[j] = stated ? random(limits.lower[j], limits.upper[j]) : random(-M_PI, M_PI);
  }
  return centre;
}

/// Usage of every constraint when resting at these positions.
Eigen::VectorXd Designer::restingUsage(const Eigen::VectorXd& q) const {
  const Eigen::MatrixXd still = Eigen::MatrixXd::Zero(1, q.size());
  Eigen::VectorXd usage = constraints_->usage(q.transpose(), still, still).row(0).transpose();
  for (Eigen::Index c = 0; c < usage.size(); ++c) {
    usage[c] = constraints_->list()[static_cast<size_t>(c)].measure(usage[c]);
  }
  return usage;
}

/// A random motion about the middle of the ranges, about the posture or, where that is not
/// possible, about random postures and postures between them and one that keeps the limits; as
/// large as all limits allow.
std::optional<Eigen::VectorXd> Designer::feasibleStart() {
  Uniform random(options_.seed);
  const Eigen::VectorXd raw = randomCoefficients(random);
  const MotionLimits& limits = constraints_->limits();
  Eigen::VectorXd middle = 0.5 * (limits.lower + limits.upper);
  for (double& c : middle) {
    if (!std::isfinite(c)) c = 0.0;
  }
  std::map<std::string, int> blame;
  std::optional<Eigen::VectorXd> best, resting;
  double largest = kSmallestStart;
  int tried = 0;
  // a small motion that was found leaves most of the time to the search
  const auto enough = [&] {
    return largest >= kLargeStart || outOfTime() ||
           (best && elapsed() > kStartTime * options_.time_limit);
  };
  for (; tried < kStartTries && (!enough() || (!best && tried < kLeastTries)); ++tried) {
    Eigen::VectorXd centre = tried == 0   ? middle
                             : tried == 1 ? constraints_->heldPositions()
                                          : randomCentre(random);
    // many joints at random nearly always collide: every other one is nearer to what does not
    if (tried > 1 && tried % 2 == 1 && resting) {
      centre = *resting + random(0.0, 0.7) * (centre - *resting);
    }
    const Eigen::VectorXd usage = restingUsage(centre);
    Eigen::Index worst = 0;
    if (usage.size() > 0 && !(usage.maxCoeff(&worst) <= 1.0)) {
      ++blame[constraints_->list()[static_cast<size_t>(worst)].name];
      continue;
    }
    if (!resting) resting = centre;
    const Eigen::VectorXd motion = problem_->centredAt(raw, centre);
    double scale = largestScale(motion, centre);
    while (scale > largest && !keepsLimits(problem_->scaled(motion, scale, centre))) {
      scale *= kStartBack;  // broken between the samples
    }
    if (scale <= largest) continue;
    largest = scale;
    best = problem_->scaled(motion, scale, centre);
  }
  if (!best) design_.note = noStart(tried, blame);
  return best;
}

/// How much of a motion about a posture keeps the limits, from 0 to 1.
double Designer::largestScale(const Eigen::VectorXd& motion, const Eigen::VectorXd& centre) const {
  double low = 0.0, high = 1.0;
  if (keepsOnGrid(motion)) return 1.0;
  for (int k = 0; k < 8; ++k) {
    const double middle = 0.5 * (low + high);
    (keepsOnGrid(problem_->scaled(motion, middle, centre)) ? low : high) = middle;
  }
  return low;
}

std::string Designer::noStart(int tried, const std::map<std::string, int>& blame) const {
  const std::string late =
      outOfTime() ? fmt::format(" within the time limit of {} s", options_.time_limit) : "";
  if (blame.empty()) {
    return fmt::format(
        "no motion was found that keeps the limits{}: of {} postures tried, none "
        "has room around it",
        late, tried);
  }
  const auto most = std::max_element(
      blame.begin(), blame.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return fmt::format("no posture was found that keeps the limits{}: of {} tried, {} break '{}'",
                     late, tried, most->second, most->first);
}

/// Evolution strategy on log(criterion) with a penalty for limits.
Eigen::VectorXd Designer::rescued(const Eigen::VectorXd& x) {
  CmaOptions cma;
  cma.generations = options_.generations > 0 ? options_.generations : kRescueGenerations;
  cma.seed = options_.seed;
  constexpr double kPenalty = 50.0;
  const internal::RestGrid grid =
      internal::restGrid(problem_->basis(), kRescueSamples * problem_->basis().waves);
  const auto value = [&](const Eigen::VectorXd& y) {
    const GridSamples s = problem_->samples(grid, y);
    const Eigen::MatrixXd usage = constraints_->usage(s.q, s.v, s.a);
    double excess = 0.0;
    for (Eigen::Index c = 0; c < usage.cols(); ++c) {
      const MotionConstraint& constraint = constraints_->list()[static_cast<size_t>(c)];
      const double worst =
          usage.col(c).unaryExpr([&](double u) { return constraint.measure(u); }).maxCoeff();
      excess += std::max(0.0, worst - 1.0 + kTightening);
    }
    return problem_->value(y) + kPenalty * excess;
  };
  const double step = 0.3 * std::max(0.01, x.cwiseAbs().mean());
  const auto stop = [&] { return elapsed() > kRescueTime * options_.time_limit; };
  return minimiseByCma(value, x, step, cma, stop).x;
}

/// The motion along(factor) of the largest factor up to 1 that keeps every limit; nothing if none
/// of those tried does.
std::optional<Eigen::VectorXd> Designer::largestKept(
    const std::function<Eigen::VectorXd(double)>& along) const {
  double bad = 1.0, good = 0.0;
  for (const double factor : {1.0, 0.995, 0.98, 0.95, 0.9, 0.8, 0.65, 0.5, 0.35, 0.2}) {
    if (keepsLimits(along(factor))) {
      good = factor;
      break;
    }
    bad = factor;
  }
  if (good == 0.0) return std::nullopt;
  for (int k = 0; k < 5 && good < 1.0; ++k) {
    const double middle = 0.5 * (good + bad);
    (keepsLimits(along(middle)) ? good : bad) = middle;
  }
  return along(good);
}

/// Keeps what comes near x and keeps every limit, if it is better than the best so far: x smaller
/// about its starting posture, or on the way from the best motion to x.
void Designer::keep(const Eigen::VectorXd& x) {
  const Eigen::VectorXd start = problem_->start(x);
  for (const bool scale : {true, false}) {
    const Eigen::VectorXd from = best_;
    const auto candidate = largestKept([&](double factor) -> Eigen::VectorXd {
      return scale ? problem_->scaled(x, factor, start) : from + factor * (x - from);
    });
    if (!candidate) continue;
    const double value = exactCriterion(*candidate);
    if (!(value < best_value_)) continue;
    best_value_ = value;
    best_ = *candidate;
  }
}

/// Peaks on the dense grid and between its samples that are beyond what watched times keep.
int Designer::watchExtremes(const Eigen::VectorXd& x) {
  int added = 0;
  for (const ConstraintPeak& peak :
       constraintPeaks(*constraints_, *problem_->motion(x), static_cast<int>(dense_.time.size()),
                       1.0 - 0.5 * kTightening)) {
    added += problem_->watch(peak.time, peak.constraint) ? 1 : 0;
  }
  return added;
}

/// Evenly spread times; pairs that are far apart are left to watchExtremes().
void Designer::watchCoarsely(const Eigen::VectorXd& x) {
  const int samples = kCoarse * problem_->basis().waves;
  const GridSamples s = problem_->samples(internal::restGrid(problem_->basis(), samples), x);
  const Eigen::MatrixXd usage = constraints_->usage(s.q, s.v, s.a, kFarPair);
  for (int k = 0; k < samples; ++k) {
    for (size_t c = 0; c < constraints_->list().size(); ++c) {
      const bool pair = constraints_->list()[c].kind == ConstraintKind::kCollision;
      if (pair && usage(k, static_cast<Eigen::Index>(c)) < kFarPair) continue;
      problem_->watch(s.time[k], static_cast<int>(c));
    }
  }
}

Eigen::VectorXd Designer::solveRound(const Eigen::VectorXd& x) {
  // half of what is left, so that limits broken between the watched times are seen early enough
  const double end = elapsed() + 0.5 * (options_.time_limit - elapsed());
  ProgramOptions solver;
  solver.iterations = options_.iterations;
  solver.tolerance = 1e-4;
  solver.barrier = kBarrier;
  solver.memory = 10;
  solver.stop = [&](int iteration, double value, double) {
    if (options_.progress) {
      options_.progress({design_.rounds, iteration, elapsed(), std::exp(value)});
    }
    return elapsed() > end;
  };
  const ProgramResult result = solveProgram(problem_->program(x, 1.0 - kTightening), solver);
  design_.iterations += result.iterations;
  status_ = result.status;
  return result.x.allFinite() ? result.x : x;
}

/// The motion nearest to x that keeps its limits at all watched times.
Eigen::VectorXd Designer::nearestKept(const Eigen::VectorXd& x) {
  NonlinearProgram program = problem_->program(x, 1.0 - kTightening);
  program.value = [&](const Eigen::VectorXd& y) { return 0.5 * (y - x).squaredNorm(); };
  program.gradient = [&](const Eigen::VectorXd& y, Eigen::VectorXd& g) { g = y - x; };
  ProgramOptions solver;
  solver.iterations = kRepairIterations;
  solver.barrier = kBarrier;
  solver.stop = [&](int, double, double violation) {
    return violation < 0.2 * kTightening || outOfTime();
  };
  const ProgramResult result = solveProgram(program, solver);
  return result.x.allFinite() ? result.x : x;
}

void Designer::finish() {
  design_.feasible = true;
  design_.motion = problem_->motion(best_);
  design_.criterion = exactCriterion(best_);
  const Eigen::VectorXd& s = criterion_->singularValues();
  design_.condition =
      s[s.size() - 1] > 0.0 ? s[0] / s[s.size() - 1] : std::numeric_limits<double>::infinity();
  design_.samples = static_cast<int>(dense_.time.size());
  const double samples = design_.samples;
  design_.singular_values = s / std::sqrt(samples);
  const Usage usage = worstUsage(best_);
  for (Eigen::Index c = 0; c < usage.worst.size(); ++c) {
    if (usage.worst[c] < kActive) continue;
    const MotionConstraint& constraint = constraints_->list()[static_cast<size_t>(c)];
    const double part = constraint.kind < ConstraintKind::kWorkspace ? 1.0 - options_.margin : 1.0;
    design_.active.push_back(
        {constraint.name, part * usage.worst[c],
         options_.seconds * static_cast<double>(usage.sample[static_cast<size_t>(c)]) / samples});
  }
}

ExcitationDesign Designer::run() {
  begin_ = std::chrono::steady_clock::now();  // the time limit is that of the search
  std::optional<Eigen::VectorXd> start = feasibleStart();
  if (!start) {
    design_.elapsed = elapsed();
    return design_;
  }
  Eigen::VectorXd x = best_ = *start;
  best_value_ = exactCriterion(x);
  design_.start_criterion = best_value_;
  const bool bad = options_.criterion.criterion != Criterion::kD && !(best_value_ < kBadStart);
  if (options_.generations > 0 || bad || !std::isfinite(best_value_)) {
    x = rescued(x);
    keep(x);
  }
  watchCoarsely(x);
  watchExtremes(x);
  design_.note = "all rounds done";
  for (int round = 0; round < options_.rounds; ++round) {
    if (best_value_ <= options_.target && options_.target != 0.0) {
      design_.note = "target reached";
      break;
    }
    if (elapsed() > (1.0 - kRepairTime) * options_.time_limit) {
      design_.note = "time limit";
      break;
    }
    design_.rounds = round + 1;
    const double before = best_value_;
    x = solveRound(x);
    keep(x);
    int added = watchExtremes(x);
    const double found = exactCriterion(x);
    // what was kept lags behind what was found: limits are broken too far to be scaled back
    const auto lags = [&] { return isBehind(best_value_, found); };
    for (int k = 0; k < kRepairs && added > 0 && lags() && !outOfTime(); ++k) {
      x = nearestKept(x);
      keep(x);
      added = watchExtremes(x);
    }
    const bool better = best_value_ < before - kProgress * std::abs(before);
    if (added == 0 && (status_ == ProgramStatus::kSolved || !better)) {
      design_.note =
          status_ == ProgramStatus::kSolved ? "settled at a local minimum" : "no more progress";
      break;
    }
    // a search that lost its way goes on from the best motion, with the times it has learnt; so
    // does one whose motion breaks limits too far, because from there Ipopt would first look for
    // any way back, whatever becomes of the criterion
    const bool failed = status_ == ProgramStatus::kFailed || status_ == ProgramStatus::kInfeasible;
    const bool broken = added > 0 && lags();
    if (failed || broken || isBehind(exactCriterion(x), best_value_)) x = best_;
  }
  finish();
  design_.elapsed = elapsed();
  return design_;
}

}  // namespace

HeldRobot heldRobot(const std::shared_ptr<const Tree>& tree,
                    const std::shared_ptr<const ParameterLayout>& layout,
                    const ExcitationOptions& options) {
  const ConstraintOptions& c = options.constraints;
  return {tree,
          layout,
          c.joints.empty() ? motionJoints(tree->model()) : c.joints,
          c.posture,
          options.criterion.row_scale,
          options.earlier};
}

GridSamples onGrid(const Trajectory& motion, int samples) {
  GridSamples grid;
  grid.time.resize(samples);
  grid.q.resize(samples, motion.size());
  grid.v = grid.a = grid.q;
  Eigen::VectorXd q(motion.size()), v(q), a(q);
  for (Eigen::Index k = 0; k < samples; ++k) {
    grid.time[k] = motion.duration() * static_cast<double>(k) / static_cast<double>(samples);
    motion.at(grid.time[k], q, v, a);
    grid.q.row(k) = q.transpose();
    grid.v.row(k) = v.transpose();
    grid.a.row(k) = a.transpose();
  }
  return grid;
}

ExcitationDesign designExcitation(const std::shared_ptr<const Model>& model,
                                  const ExcitationOptions& options) {
  ExcitationDesign best = Designer(model, options).run();
  if (!best.feasible) return best;
  for (int k = 1; k <= options.restarts; ++k) {
    const bool reached = options.target != 0.0 && best.criterion <= options.target;
    if (reached || best.elapsed > (1.0 - kRepairTime) * options.time_limit) break;
    ExcitationOptions next = options;
    next.seed = options.seed + kSeedStride * static_cast<uint64_t>(k);
    next.time_limit = options.time_limit - best.elapsed;
    if (options.progress) {
      next.progress = [&](ExcitationProgress progress) {
        progress.seconds += best.elapsed;
        options.progress(progress);
      };
    }
    ExcitationDesign other = Designer(model, next).run();
    const double elapsed = best.elapsed + other.elapsed;
    const int rounds = best.rounds + other.rounds, iterations = best.iterations + other.iterations;
    if (other.feasible && other.criterion < best.criterion) best = std::move(other);
    best.elapsed = elapsed;
    best.rounds = rounds;
    best.iterations = iterations;
    best.starts = k + 1;
  }
  return best;
}

}  // namespace proprio
