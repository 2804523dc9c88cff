#include "proprio/identification/signal_gains.h"

#include <algorithm>
#include <cmath>

#include "proprio/identification/least_squares.h"
#include "proprio/numerics/dense.h"

namespace proprio {
namespace {

/// Singular values below this part of the largest are zero.
constexpr double kRankTolerance = 1e-10;
/// A direction that no row sees has a share of the gain larger than this, or rounding.
constexpr double kSilentShare = 1e-6;
constexpr int kRefinements = 50;
constexpr double kShortestStep = 1e-4;
/// The known torque has to have this part in the null vector.
constexpr double kKnownShare = 1e-12;

double squareOf(double value) { return value * value; }

/// Triangular, with as many rows as columns (zeros below where there were fewer).
Eigen::MatrixXd squareFactor(const Eigen::MatrixXd& rows) {
  Eigen::MatrixXd factor = Eigen::MatrixXd::Zero(rows.cols(), rows.cols());
  const Eigen::MatrixXd R = triangularFactor(rows);
  factor.topRows(R.rows()) = R;
  return factor;
}

GainSolution emptySolution(size_t signals, int unknowns) {
  GainSolution solution;
  const auto n = static_cast<Eigen::Index>(signals);
  solution.gains = solution.deviations = solution.noise = Eigen::VectorXd::Constant(n, NAN);
  solution.fitted.assign(signals, {Eigen::VectorXd::Zero(unknowns), 0.0});
  solution.influences = solution.fitted;
  solution.reach = solution.echo = Eigen::MatrixXd::Zero(n, n);
  return solution;
}

/// Does a direction that no row sees change this entry of the solution?
bool silentAt(const RankedSolution& solution, Eigen::Index place) {
  const Eigen::Index silent = solution.silent.cols();
  return silent > 0 &&
         solution.directions.rightCols(silent).row(place).cwiseAbs().maxCoeff() > kSilentShare;
}

/// s_j on [columns, known]: the last coefficient is 1 / gain.
void separateGain(const SignalRows& signal, Eigen::Index j, GainSolution* all) {
  const auto columns = static_cast<Eigen::Index>(signal.columns.size());
  const Eigen::MatrixXd R = squareFactor(signal.rows);
  const Eigen::MatrixXd A = R.leftCols(columns + 1);
  const Eigen::VectorXd s = R.col(columns + 1);
  if (signal.equations == 0 || s.isZero(0.0)) return;
  const RankedSolution fit = solveRanked(A, s, Eigen::VectorXd::Zero(columns + 1), kRankTolerance);
  const Eigen::Index rank = columns + 1 - fit.silent.cols();
  const Eigen::Index rest = signal.equations - rank;
  if (rest <= 0) return;
  const double variance =
      std::max((s - A * fit.x).squaredNorm() / static_cast<double>(rest),
               squareOf(1e-12 * s.norm()) / static_cast<double>(signal.equations));
  all->noise[j] = std::sqrt(variance);
  LinearForm& fitted = all->fitted[static_cast<size_t>(j)];
  fitted.unknowns(signal.columns) = fit.x.head(columns);
  fitted.known = fit.x[columns];
  const double inverse = fit.x[columns];
  if (A.col(columns).isZero(0.0) || silentAt(fit, columns) || inverse == 0.0) return;
  all->gains[j] = 1.0 / inverse;
  all->deviations[j] = std::sqrt(variance * fit.covariance(columns, columns)) / squareOf(inverse);
  // d gain = -gain^2 d(1 / gain)
  const double slope = -1.0 / squareOf(inverse);
  LinearForm& influence = all->influences[static_cast<size_t>(j)];
  influence.unknowns(signal.columns) = slope * fit.covariance.col(columns).head(columns);
  influence.known = slope * fit.covariance(columns, columns);
  all->reach(j, j) = 1.0;
  all->solved = true;
}

/// All signals that have a gain, rows weighted to unit noise: A x + k + D c = 0 with
/// c_j = -gain_j / first_j sqrt(rows_j), so that every column of D has noise of norm one.
struct SharedSystem {
  std::vector<Eigen::Index> taking_part;
  Eigen::MatrixXd A, D;
  Eigen::VectorXd k;
  Eigen::VectorXd weight;  ///< of the rows of each signal taking part
  Eigen::VectorXd scale;   ///< of its column: first_j / sqrt(rows_j)
  Eigen::Index equations = 0;
};

SharedSystem sharedSystem(const std::vector<SignalRows>& signals, int unknowns,
                          const GainSolution& first) {
  SharedSystem system;
  Eigen::Index rows = 0;
  for (size_t j = 0; j < signals.size(); ++j) {
    if (!std::isfinite(first.gains[static_cast<Eigen::Index>(j)])) continue;
    system.taking_part.push_back(static_cast<Eigen::Index>(j));
    rows += signals[j].rows.cols();
    system.equations += signals[j].equations;
  }
  const auto n = static_cast<Eigen::Index>(system.taking_part.size());
  rows = std::max(rows, unknowns + n + 1);  // zeros below, so that null spaces are whole
  system.A = Eigen::MatrixXd::Zero(rows, unknowns);
  system.D = Eigen::MatrixXd::Zero(rows, n);
  system.k = Eigen::VectorXd::Zero(rows);
  system.weight.resize(n);
  system.scale.resize(n);
  Eigen::Index at = 0;
  for (Eigen::Index i = 0; i < n; ++i) {
    const Eigen::Index j = system.taking_part[static_cast<size_t>(i)];
    const SignalRows& signal = signals[static_cast<size_t>(j)];
    system.weight[i] = 1.0 / (std::abs(first.gains[j]) * first.noise[j]);
    system.scale[i] = first.gains[j] / std::sqrt(static_cast<double>(signal.equations));
    const Eigen::MatrixXd R = system.weight[i] * squareFactor(signal.rows);
    const auto columns = static_cast<Eigen::Index>(signal.columns.size());
    for (Eigen::Index c = 0; c < columns; ++c)
      system.A.col(signal.columns[static_cast<size_t>(c)]).segment(at, R.rows()) = R.col(c);
    system.k.segment(at, R.rows()) = R.col(columns);
    system.D.col(i).segment(at, R.rows()) = system.scale[i] * R.col(columns + 1);
    at += R.rows();
  }
  return system;
}

/// The part of B that the columns of A do not reach.
Eigen::MatrixXd unexplainedBy(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B) {
  const Eigen::MatrixXd Q = rangeBasis(A, kRankTolerance);
  return B - Q * (Q.transpose() * B);
}

/// Rows (s - fitted) / noise and their slopes by x and by every 1 / gain, at a solution.
struct FittedRows {
  Eigen::MatrixXd slopes;
  Eigen::VectorXd residuals;
};

FittedRows fittedRows(const std::vector<SignalRows>& signals, const SharedSystem& system,
                      const Eigen::VectorXd& noise, const Eigen::VectorXd& z) {
  const Eigen::Index unknowns = system.A.cols();
  FittedRows rows;
  rows.slopes = Eigen::MatrixXd::Zero(system.A.rows(), z.size());
  rows.residuals = Eigen::VectorXd::Zero(system.A.rows());
  Eigen::Index at = 0;
  for (size_t i = 0; i < system.taking_part.size(); ++i) {
    const Eigen::Index j = system.taking_part[i];
    const SignalRows& signal = signals[static_cast<size_t>(j)];
    const auto columns = static_cast<Eigen::Index>(signal.columns.size());
    const Eigen::MatrixXd R = squareFactor(signal.rows) / noise[j];
    const Eigen::Index place = unknowns + static_cast<Eigen::Index>(i);
    const Eigen::VectorXd torque = R.leftCols(columns) * z(signal.columns) + R.col(columns);
    for (Eigen::Index c = 0; c < columns; ++c)
      rows.slopes.col(signal.columns[static_cast<size_t>(c)]).segment(at, R.rows()) =
          z[place] * R.col(c);
    rows.slopes.col(place).segment(at, R.rows()) = torque;
    rows.residuals.segment(at, R.rows()) = R.col(columns + 1) - z[place] * torque;
    at += R.rows();
  }
  return rows;
}

/// Gauss-Newton from the gains and parameters of the solution, and all that follows from them.
void refine(const std::vector<SignalRows>& signals, const SharedSystem& system,
            GainSolution* solution) {
  const Eigen::Index unknowns = system.A.cols();
  const auto n = static_cast<Eigen::Index>(system.taking_part.size());
  Eigen::VectorXd z(unknowns + n);
  z.head(unknowns) = solution->unknowns;
  z.tail(n) = solution->gains(system.taking_part).cwiseInverse();
  if (!z.allFinite()) return;  // a gain of zero
  FittedRows rows = fittedRows(signals, system, solution->noise, z);
  RankedSolution step;
  for (int round = 0; round < kRefinements; ++round) {
    step =
        solveRanked(rows.slopes, rows.residuals, Eigen::VectorXd::Zero(z.size()), kRankTolerance);
    double share = 1.0;
    FittedRows next = fittedRows(signals, system, solution->noise, z + step.x);
    while (!(next.residuals.norm() <= rows.residuals.norm()) && share > kShortestStep) {
      share *= 0.5;
      next = fittedRows(signals, system, solution->noise, z + share * step.x);
    }
    if (!(next.residuals.norm() < rows.residuals.norm())) break;
    const bool rests = next.residuals.norm() > (1.0 - 1e-12) * rows.residuals.norm();
    z += share * step.x;
    rows = std::move(next);
    if (rests) break;
  }
  step = solveRanked(rows.slopes, rows.residuals, Eigen::VectorXd::Zero(z.size()), kRankTolerance);
  const Eigen::MatrixXd& P = step.covariance;
  const auto left = static_cast<double>(system.equations - z.size() + step.silent.cols());
  const double variance = rows.residuals.squaredNorm() / left;
  solution->unknowns = z.head(unknowns);
  solution->unknown_deviations = (variance * P.diagonal().head(unknowns)).cwiseSqrt();
  for (Eigen::Index i = 0; i < n; ++i) {
    const Eigen::Index j = system.taking_part[static_cast<size_t>(i)], place = unknowns + i;
    const double slope = -1.0 / squareOf(z[place]);  // of the gain by its inverse
    solution->gains[j] = silentAt(step, place) ? NAN : 1.0 / z[place];
    solution->deviations[j] = -slope * std::sqrt(variance * P(place, place));
    solution->fitted[static_cast<size_t>(j)] = {z[place] * solution->unknowns, z[place]};
    solution->influences[static_cast<size_t>(j)].unknowns = slope * P.col(place).head(unknowns);
    for (Eigen::Index other = 0; other < n; ++other) {
      const Eigen::Index o = system.taking_part[static_cast<size_t>(other)];
      const double inverse = z[unknowns + other], weight = 1.0 / squareOf(solution->noise[o]);
      solution->reach(j, o) = weight * inverse;
      solution->echo(j, o) = weight * slope * P(unknowns + other, place) / inverse;
    }
  }
  solution->solved = solution->gains(system.taking_part).allFinite() &&
                     solution->deviations(system.taking_part).allFinite();
}

}  // namespace

GainSolution separateGains(const std::vector<SignalRows>& signals, int unknowns) {
  GainSolution solution = emptySolution(signals.size(), unknowns);
  for (size_t j = 0; j < signals.size(); ++j)
    separateGain(signals[j], static_cast<Eigen::Index>(j), &solution);
  return solution;
}

GainSolution jointGains(const std::vector<SignalRows>& signals, int unknowns,
                        const GainSolution& first) {
  GainSolution solution = emptySolution(signals.size(), unknowns);
  solution.noise = first.noise;
  const SharedSystem system = sharedSystem(signals, unknowns, first);
  const auto n = static_cast<Eigen::Index>(system.taking_part.size());
  if (n == 0 || system.equations <= unknowns + n) return solution;

  // the null vector: model columns eliminated, then the smallest direction of the signals
  Eigen::MatrixXd exact(system.A.rows(), unknowns + 1);
  exact << system.A, system.k;
  const Svd signals_left = svd(unexplainedBy(exact, system.D));
  const Eigen::VectorXd direction = signals_left.V.col(n - 1);
  const RankedSolution model = solveRanked(exact, -system.D * direction,
                                           Eigen::VectorXd::Zero(unknowns + 1), kRankTolerance);
  const double known = model.x[unknowns];
  if (!(std::abs(known) * system.k.norm() > kKnownShare * (system.D * direction).norm()))
    return solution;
  const Eigen::VectorXd c = -direction.cwiseProduct(system.scale) / known;
  for (Eigen::Index i = 0; i < n; ++i)
    solution.gains[system.taking_part[static_cast<size_t>(i)]] = c[i];
  solution.unknowns = model.x.head(unknowns) / known;
  refine(signals, system, &solution);
  if (!solution.solved) solution.gains.setConstant(NAN);
  return solution;
}

}  // namespace proprio
