#include "proprio/identification/essential_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "proprio/core/text.h"
#include "proprio/identification/least_squares.h"
#include "proprio/identification/robust_covariance.h"
#include "proprio/numerics/dense.h"
#include "proprio/numerics/distributions.h"

namespace proprio {
namespace {

/// A column whose own part is below this, relative, depends on the others.
constexpr double kExactlyDependent = 1e-10;

/// Least squares in some of the columns.
struct SubsetFit {
  std::vector<int> columns;
  Eigen::VectorXd x, percent;  // in the order of `columns`
  Eigen::MatrixXd covariance;
  double squares = 0.0;  // of the residual
  double free = 0.0;     // rows less columns

  size_t worst() const {
    Eigen::Index place = 0;
    percent.maxCoeff(&place);
    return static_cast<size_t>(place);
  }
};

SubsetFit fitSubset(const TriangularSystem& system, std::vector<int> columns) {
  SubsetFit fit;
  fit.columns = std::move(columns);
  const auto n = static_cast<Eigen::Index>(fit.columns.size());
  fit.free = static_cast<double>(system.rows) - static_cast<double>(n);
  fit.squares = system.rest * system.rest + system.b.squaredNorm();
  if (n == 0) return fit;
  const Eigen::MatrixXd A = system.A(Eigen::all, fit.columns);
  const Eigen::MatrixXd R = triangularFactor(A, system.b);
  fit.x = solveUpper(R.leftCols(n), R.col(n));
  fit.squares = system.rest * system.rest + (system.b - A * fit.x).squaredNorm();
  const Eigen::MatrixXd inverse = solveUpper(R.leftCols(n), Eigen::MatrixXd::Identity(n, n));
  fit.covariance = fit.squares / std::max(fit.free, 1.0) * (inverse * inverse.transpose());
  fit.percent.resize(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const double sigma = std::sqrt(fit.covariance(i, i));
    fit.percent[i] = fit.x[i] != 0.0 ? 100.0 * sigma / std::abs(fit.x[i])
                                     : std::numeric_limits<double>::infinity();
  }
  return fit;
}

std::vector<int> without(std::vector<int> columns, size_t place) {
  columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(place));
  return columns;
}

/// Columns that the ones before them do not explain; the others go to `dropped`.
std::vector<int> ownColumns(const TriangularSystem& system, double tolerance,
                            std::vector<int>* dropped) {
  std::vector<int> kept;
  Eigen::MatrixXd basis(system.A.rows(), 0);
  for (int c = 0; c < static_cast<int>(system.A.cols()); ++c) {
    Eigen::VectorXd own = system.A.col(c);
    const double length = own.norm();
    // twice: what rounding left of the first projection goes with the second
    for (int pass = 0; pass < 2; ++pass) own -= basis * (basis.transpose() * own);
    if (!(own.norm() > tolerance * length)) {
      dropped->push_back(c);
      continue;
    }
    kept.push_back(c);
    basis.conservativeResize(Eigen::NoChange, basis.cols() + 1);
    basis.col(basis.cols() - 1) = own.normalized();
  }
  return kept;
}

/// Residual norm of a fit on other rows.
double predictionNorm(const TriangularSystem& rows, const SubsetFit& fit) {
  Eigen::VectorXd error = rows.b;
  for (size_t i = 0; i < fit.columns.size(); ++i)
    error -= fit.x[static_cast<Eigen::Index>(i)] * rows.A.col(fit.columns[i]);
  return std::sqrt(rows.rest * rows.rest + error.squaredNorm());
}

TestResult compareFits(const SubsetFit& all, const SubsetFit& part, double inflation) {
  TestResult test;
  const auto dropped = static_cast<double>(all.columns.size() - part.columns.size());
  if (dropped == 0.0) return test;
  const double rows = all.free + static_cast<double>(all.columns.size());
  const double free = std::max(rows / inflation - static_cast<double>(all.columns.size()), 1.0);
  const double change = std::max(part.squares - all.squares, 0.0) / dropped;
  test.statistic = change / std::max(all.squares / all.free, 1e-300) / inflation;
  test.degrees = dropped;
  test.p_value = fisherTail(test.statistic, dropped, free);
  return test;
}

/// One rule at work: the current fit and what went.
class Selection {
 public:
  Selection(const TriangularSystem& system, const EssentialOptions& options,
            std::vector<int> columns, std::vector<int>* dropped)
      : system_(system),
        options_(options),
        fit_(fitSubset(system, std::move(columns))),
        all_(fit_),
        dropped_(*dropped) {}

  void run() {
    switch (options_.rule) {
      case EssentialRule::kThreshold:
        return dropAbove(options_.percent);
      case EssentialRule::kTimesBest:
        return fit_.columns.empty() ? void() : dropAbove(options_.times * fit_.percent.minCoeff());
      case EssentialRule::kRatio:
        while (fit_.columns.size() > 1 &&
               fit_.percent.maxCoeff() > options_.ratio * fit_.percent.minCoeff())
          drop(fit_.worst());
        return;
      case EssentialRule::kStepwise:
        return stepwise();
      case EssentialRule::kFisher:
        return fisher();
      case EssentialRule::kTriangle:
        return;  // the columns are chosen already
    }
  }

  const SubsetFit& fit() const { return fit_; }
  const SubsetFit& all() const { return all_; }

 private:
  void drop(size_t place) {
    dropped_.push_back(fit_.columns[place]);
    fit_ = fitSubset(system_, without(fit_.columns, place));
  }

  void dropAbove(double limit) {
    std::vector<int> kept;
    for (size_t i = 0; i < fit_.columns.size(); ++i) {
      const bool essential = fit_.percent[static_cast<Eigen::Index>(i)] <= limit;
      (essential ? kept : dropped_).push_back(fit_.columns[i]);
    }
    fit_ = fitSubset(system_, kept);
  }

  void stepwise() {
    const TriangularSystem& rows = options_.held_out ? *options_.held_out : system_;
    std::vector<int> needed;  // tried, and predictions suffered
    for (;;) {
      size_t worst = fit_.columns.size();
      double largest = options_.percent;
      for (size_t i = 0; i < fit_.columns.size(); ++i) {
        const double percent = fit_.percent[static_cast<Eigen::Index>(i)];
        const bool tried = std::find(needed.begin(), needed.end(), fit_.columns[i]) != needed.end();
        if (tried || !(percent > largest)) continue;
        largest = percent;
        worst = i;
      }
      if (worst == fit_.columns.size()) return;
      const SubsetFit next = fitSubset(system_, without(fit_.columns, worst));
      if (predictionNorm(rows, next) <= (1.0 + options_.loss) * predictionNorm(rows, all_)) {
        drop(worst);
      } else {
        needed.push_back(fit_.columns[worst]);
      }
    }
  }

  void fisher() {
    while (!fit_.columns.empty()) {
      const size_t worst = fit_.worst();
      const SubsetFit next = fitSubset(system_, without(fit_.columns, worst));
      if (compareFits(all_, next, options_.inflation).rejects(options_.level)) return;
      drop(worst);
    }
  }

  const TriangularSystem& system_;
  const EssentialOptions& options_;
  SubsetFit fit_;
  const SubsetFit all_;
  std::vector<int>& dropped_;
};

constexpr EssentialRule kEssentialRules[] = {EssentialRule::kFisher,    EssentialRule::kThreshold,
                                             EssentialRule::kTimesBest, EssentialRule::kRatio,
                                             EssentialRule::kStepwise,  EssentialRule::kTriangle};

/// The number that belongs to the rule.
double& numberOf(EssentialOptions& options) {
  switch (options.rule) {
    case EssentialRule::kThreshold:
      return options.percent;
    case EssentialRule::kTimesBest:
      return options.times;
    case EssentialRule::kRatio:
      return options.ratio;
    case EssentialRule::kStepwise:
      return options.loss;
    case EssentialRule::kTriangle:
      return options.tolerance;
    case EssentialRule::kFisher:
      break;
  }
  return options.level;
}

void requireRanges(const EssentialOptions& options) {
  const auto require = [](bool allowed, const char* what, double value, const char* expected) {
    if (!allowed)
      throw Error(
          fmt::format("essential parameters: {} is {}; expected {}", what, value, expected));
  };
  const auto positive = [&](double value, const char* what) {
    require(value > 0.0 && std::isfinite(value), what, value, "a positive number");
  };
  positive(options.percent, "the relative deviation");
  positive(options.times, "the multiple of the best deviation");
  positive(options.ratio, "the ratio of deviations");
  positive(options.tolerance, "the tolerance");
  require(options.inflation >= 1.0, "the inflation", options.inflation, "a number of at least 1");
  require(options.loss >= 0.0, "the loss", options.loss, "a number of at least 0");
  require(options.level > 0.0 && options.level < 1.0, "the level", options.level,
          "a probability between 0 and 1");
}

void requireOptions(const TriangularSystem& system, const EssentialOptions& options) {
  requireRanges(options);
  if (system.rows <= system.A.cols())
    throw Error(
        fmt::format("essential parameters: {} rows for {} columns", system.rows, system.A.cols()));
}

}  // namespace

const char* toString(EssentialRule rule) {
  switch (rule) {
    case EssentialRule::kThreshold:
      return "threshold";
    case EssentialRule::kTimesBest:
      return "times-best";
    case EssentialRule::kRatio:
      return "ratio";
    case EssentialRule::kStepwise:
      return "stepwise";
    case EssentialRule::kTriangle:
      return "triangle";
    case EssentialRule::kFisher:
      break;
  }
  return "fisher";
}

EssentialOptions essentialOptions(const std::string& text) {
  const size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  std::vector<std::string> names;
  for (const EssentialRule rule : kEssentialRules) names.emplace_back(toString(rule));
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    throw Error("there is no rule for essential parameters " + inQuotes(name) +
                didYouMean(name, names));
  EssentialOptions options;
  options.rule = kEssentialRules[found - names.begin()];
  if (colon == std::string::npos) return options;
  const std::optional<double> number = parseNumber(text.substr(colon + 1));
  if (!number)
    throw Error(fmt::format("essential parameters: {} in {} is not a number",
                            inQuotes(text.substr(colon + 1)), inQuotes(text)));
  numberOf(options) = *number;
  requireRanges(options);
  return options;
}

EssentialParameters essentialParameters(const TriangularSystem& system,
                                        const EssentialOptions& options) {
  requireOptions(system, options);
  EssentialParameters result;
  const bool triangle = options.rule == EssentialRule::kTriangle;
  std::vector<int> columns =
      ownColumns(system, triangle ? options.tolerance : kExactlyDependent, &result.dropped);
  Selection selection(system, options, std::move(columns), &result.dropped);
  selection.run();
  const SubsetFit& fit = selection.fit();
  const Eigen::Index n = system.A.cols();
  result.kept = fit.columns;
  result.x = Eigen::VectorXd::Zero(n);
  result.covariance = Eigen::MatrixXd::Zero(n, n);
  result.percent = Eigen::VectorXd::Constant(n, std::numeric_limits<double>::infinity());
  if (!fit.columns.empty()) {
    result.x(fit.columns) = fit.x;
    result.covariance(fit.columns, fit.columns) = fit.covariance;
    result.percent(fit.columns) = fit.percent;
  }
  result.test = compareFits(selection.all(), fit, options.inflation);
  result.norm_before = std::sqrt(selection.all().squares);
  result.norm_after = std::sqrt(fit.squares);
  return result;
}

TestResult fisherTest(const TriangularSystem& system, const std::vector<int>& kept,
                      double inflation) {
  std::vector<int> dependent;
  const SubsetFit all = fitSubset(system, ownColumns(system, kExactlyDependent, &dependent));
  return compareFits(all, fitSubset(system, kept), inflation);
}

Estimate essentialLeastSquares(const IdentificationProblem& problem, const MethodOptions& options) {
  Estimate estimate = weightedLeastSquares(problem, options);
  estimate.method = "wls";
  const CorrectedCovariance memory = correctedCovariance(problem, estimate);
  EssentialOptions choice = options.essential;
  choice.inflation = std::max(choice.inflation, memory.inflation.maxCoeff());
  const EssentialParameters essential =
      essentialParameters(weightedSystem(problem.stacked, estimate.sigma), choice);
  std::vector<std::string> names;
  for (const int column : essential.dropped)
    names.push_back(
        problem.labels[static_cast<size_t>(problem.base.independent[static_cast<size_t>(column)])]);
  estimate.beta = essential.x;
  estimate.covariance = essential.covariance;
  estimate.undecided.clear();
  estimate.chi = standardFromBase(problem, estimate.beta);
  estimate.iterations = static_cast<int>(essential.dropped.size()) + 1;
  estimate.notes.push_back(fmt::format(
      "{} of {} base parameters are essential by the rule {}; without the others the residual "
      "grows by {:.2g} % (F-test, p = {:.2g}){}",
      essential.kept.size(), essential.x.size(), toString(choice.rule),
      100.0 * (essential.norm_after / std::max(essential.norm_before, 1e-300) - 1.0),
      essential.test.p_value,
      names.empty() ? "" : fmt::format(": dropped {}", fmt::join(names, ", "))));
  return estimate;
}

}  // namespace proprio
