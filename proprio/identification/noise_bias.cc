#include "proprio/identification/noise_bias.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "proprio/identification/least_squares.h"
#include "proprio/identification/robust_covariance.h"
#include "proprio/numerics/dense.h"
#include "proprio/numerics/distributions.h"
#include "proprio/numerics/streaming_qr.h"

namespace proprio {
namespace {

constexpr Eigen::Index kEnoughSamples = 2000;
/// The instruments are taken where the residual's correlation has fallen below this, ...
constexpr double kForgotten = 0.1;
/// ... at least so many samples away (differentiation spreads noise over its neighbours) and at
/// most so long, s: the motion must still be known.
constexpr Eigen::Index kNearest = 3;
constexpr double kFarthest = 0.1;
/// Parts of the instruments below this, relative, are rounding.
constexpr double kDistinct = 1e-6;
constexpr double kRelevant = 0.1;
/// A bias is noticed at 1 % and in nine of ten cases if it is so many deviations of the difference
/// between the estimates (2.6 + 1.3); directions that instruments know less than kHidden are
/// unseen.
constexpr double kNoticed = 3.9, kHidden = 1e-6;
constexpr Eigen::Index kTail = 512;  // samples that filters ring on

/// Samples at which the residuals of every joint have forgotten themselves.
Eigen::Index forgettingTime(const MotionData& data, const Eigen::MatrixXd& residuals) {
  const auto farthest = std::max(kNearest, static_cast<Eigen::Index>(kFarthest * data.rate_hz));
  Eigen::Index longest = kNearest;
  for (Eigen::Index j = 0; j < residuals.cols(); ++j) {
    const Autocovariance memory = autocovariance(residuals.col(j), data.use.col(j), farthest);
    Eigen::Index k = kNearest;
    while (k < farthest && std::abs(memory.values[k]) > kForgotten * memory.values[0]) ++k;
    longest = std::max(longest, k);
  }
  return longest;
}

/// Mean of the motion `shift` samples before and after; rows without both do not count.
MotionData neighbours(const MotionData& data, Eigen::Index shift) {
  MotionData around = data;
  const Eigen::Index n = data.samples(), inner = n - 2 * shift;
  if (inner <= 0) {
    around.use.setConstant(false);
    return around;
  }
  for (auto signal : {&MotionData::q, &MotionData::v, &MotionData::a}) {
    (around.*signal).middleRows(shift, inner) =
        0.5 * ((data.*signal).topRows(inner) + (data.*signal).bottomRows(inner));
  }
  if (data.sign.cols() > 0)
    around.sign.middleRows(shift, inner) =
        0.5 * (data.sign.topRows(inner) + data.sign.bottomRows(inner));
  around.use.topRows(shift).setConstant(false);
  around.use.bottomRows(shift).setConstant(false);
  return around;
}

/// The commanded motion at the times of the samples, linear between its own.
MotionData commandedMotion(const Tree& tree, const MotionData& data) {
  MotionData commanded = data;
  commanded.sign.resize(0, 0);  // of the recorded motion
  const MotionSamples& reference = *data.reference;
  const Eigen::VectorXd& times = reference.time;
  for (Eigen::Index i = 0; i < data.samples(); ++i) {
    const double t = data.time[i];
    const double* after = std::upper_bound(times.data(), times.data() + times.size(), t);
    const Eigen::Index right = after - times.data();
    if (right == 0 || right == times.size()) {
      commanded.use.row(i).setConstant(false);
      continue;
    }
    const double share = (t - times[right - 1]) / (times[right] - times[right - 1]);
    const auto between = [&](const Eigen::MatrixXd& from, Eigen::Index c) {
      return (1.0 - share) * from(right - 1, c) + share * from(right, c);
    };
    for (size_t c = 0; c < reference.joints.size(); ++c) {
      const int joint = requireJoint(tree.model(), reference.joints[c]);
      const auto column = static_cast<Eigen::Index>(c);
      commanded.q(i, tree.positionIndex(joint)) = between(reference.q, column);
      commanded.v(i, tree.velocityIndex(joint)) = between(reference.v, column);
      commanded.a(i, tree.velocityIndex(joint)) = between(reference.a, column);
    }
  }
  return commanded;
}

/// Regressor rows of all samples, per coordinate its touched columns.
std::vector<Eigen::MatrixXd> denseRows(const IdentificationProblem& problem,
                                       const MotionData& data) {
  const StackedProblem& stacked = problem.stacked;
  std::vector<Eigen::MatrixXd> rows;
  for (const std::vector<int>& touched : stacked.touch)
    rows.emplace_back(data.samples(), static_cast<Eigen::Index>(touched.size()));
  Workspace workspace(*problem.tree);
  RegressorBatch batch(*problem.tree, RegressorBatch::recommendedSamples(*problem.tree),
                       problem.layout->size());
  forEachBatch(*problem.tree, *problem.layout, data, 0, data.samples(), workspace, batch,
               [&](Eigen::Index start, Eigen::Index count, RegressorBatch& regressor) {
                 for (size_t j = 0; j < rows.size(); ++j) {
                   const auto Y = regressor.rows(static_cast<Eigen::Index>(j), count);
                   for (size_t c = 0; c < stacked.touch[j].size(); ++c) {
                     const auto place = static_cast<size_t>(stacked.touch[j][c]);
                     rows[j].col(static_cast<Eigen::Index>(c)).segment(start, count) =
                         Y.col(stacked.columns[place]);
                   }
                 }
               });
  return rows;
}

/// Every column through 1 / A(z), with what comes after the last row.
Eigen::MatrixXd throughFilter(const Autoregression& model, const Eigen::MatrixXd& columns) {
  const Eigen::Index n = columns.rows(), p = model.order();
  if (p == 0) return columns;
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(n + kTail, columns.cols());
  out.topRows(n) = columns;
  for (Eigen::Index c = 0; c < out.cols(); ++c) {
    for (Eigen::Index t = 1; t < out.rows(); ++t) {
      const Eigen::Index reach = std::min(p, t);
      out(t, c) +=
          model.coefficients.head(reach).reverse().dot(out.col(c).segment(t - reach, reach));
    }
  }
  return std::sqrt(model.innovation_share) * out;
}

/// Factors of [W, Z - W, tau] and of its first two parts as coloured noise sees them, all rows
/// weighted by the noise.
struct InstrumentFactors {
  StreamingQr plain, coloured;
  double rows = 0.0;
  double degrees = 0.0;  // behind Cov(g)
  explicit InstrumentFactors(Eigen::Index n) : plain(2 * n + 1), coloured(2 * n) {}
};

void addScattered(const std::vector<int>& touched, const Eigen::MatrixXd& block, Eigen::Index n,
                  StreamingQr* whole) {
  // first a small factor in the touched columns only
  StreamingQr own(block.cols());
  own.add(block);
  const Eigen::MatrixXd R = own.factor().triangularView<Eigen::Upper>();
  const auto half = static_cast<Eigen::Index>(touched.size());
  Eigen::MatrixXd scattered = Eigen::MatrixXd::Zero(R.rows(), whole->factor().cols());
  for (size_t c = 0; c < touched.size(); ++c) {
    const auto column = static_cast<Eigen::Index>(c);
    scattered.col(touched[c]) = R.col(column);
    scattered.col(n + touched[c]) = R.col(half + column);
  }
  if (block.cols() > 2 * half) scattered.col(2 * n) = R.col(2 * half);
  whole->add(scattered);
}

void addRecording(const IdentificationProblem& problem, const Estimate& estimate,
                  const MotionData& data, const MotionData& instruments,
                  InstrumentFactors* factors) {
  const StackedProblem& stacked = problem.stacked;
  const std::vector<Eigen::MatrixXd> W = denseRows(problem, data);
  const std::vector<Eigen::MatrixXd> Z = denseRows(problem, instruments);
  const Eigen::MatrixXd residuals = torqueResiduals(problem, data, estimate.beta);
  for (size_t j = 0; j < W.size(); ++j) {
    const auto i = static_cast<Eigen::Index>(j);
    if (!std::isfinite(estimate.sigma[i])) continue;
    const Eigen::Array<bool, Eigen::Dynamic, 1> use = data.use.col(i) && instruments.use.col(i);
    const Eigen::Index half = W[j].cols();
    Eigen::MatrixXd block(W[j].rows(), 2 * half + 1);
    block << W[j], Z[j] - W[j], data.tau.col(i);
    block.array().colwise() *= use.cast<double>() * (data.rowWeight(i) / estimate.sigma[i]);
    const Autoregression model = fitAutoregression(residuals.col(i), use);
    addScattered(stacked.touch[j], block, stacked.unknowns(), &factors->plain);
    addScattered(stacked.touch[j], throughFilter(model, block.leftCols(2 * half)),
                 stacked.unknowns(), &factors->coloured);
    const auto rows = static_cast<double>(use.count());
    factors->rows += rows;
    factors->degrees +=
        model.order() > 0 ? rows / (2.0 * static_cast<double>(model.order())) : rows;
  }
}

/// Three quarters of the values are not larger.
double upperQuartile(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::infinity();
  const auto place = static_cast<std::ptrdiff_t>((3 * values.size()) / 4);
  const auto there = values.begin() + std::min<std::ptrdiff_t>(place, std::ssize(values) - 1);
  std::nth_element(values.begin(), there, values.end());
  return *there;
}

void findShift(const Eigen::MatrixXd& R, const InstrumentFactors& factors, Eigen::Index n,
               NoiseBiasTest* test) {
  const Eigen::MatrixXd R11 = R.topLeftCorner(n, n), R12 = R.block(0, n, n, n);
  const RankedSolution solution =
      solveRanked(R11, Eigen::VectorXd::Zero(n), Eigen::VectorXd::Zero(n), 1e-8);
  const Eigen::Index rank = n - solution.silent.cols();
  // directions in which W has orthonormal columns
  const Eigen::MatrixXd half = solution.column_scale.cwiseInverse().asDiagonal() *
                               solution.directions.leftCols(rank) *
                               solution.singular_values.head(rank).cwiseInverse().asDiagonal();
  const Eigen::MatrixXd ZtW =
      Eigen::MatrixXd::Identity(rank, rank) + half.transpose() * R12.transpose() * R11 * half;
  const Svd parts = svd(ZtW);
  const Eigen::VectorXd g =
      half.transpose() * R.block(n, n, n, n).transpose() * R.col(2 * n).segment(n, n);
  // weak directions would show chance as a shift
  const Eigen::Index known = (parts.values.array() > kRelevant).count();
  const Eigen::VectorXd shift =
      parts.V.leftCols(known) *
      (parts.U.leftCols(known).transpose() * g).cwiseQuotient(parts.values.head(known));
  test->relevance = known == 0 ? 0.0 : parts.values[known / 2];
  test->torque_shift = shift.norm() / std::sqrt(std::max(factors.rows, 1.0));
  // deviations of least squares, with the residuals' memory
  const Eigen::MatrixXd seen = factors.coloured.factor().triangularView<Eigen::Upper>();
  const Eigen::VectorXd deviations =
      (seen.leftCols(n) * half * half.transpose()).colwise().norm().cwiseMax(1e-300);
  const Eigen::VectorXd relative = (half * shift).cwiseAbs().cwiseQuotient(deviations);
  if (relative.size() > 0) test->largest_shift = relative.maxCoeff(&test->shifted);
  // deviations of the difference between the two estimates, in all directions: M_W (Z - W) as the
  // noise sees it, through (Z^T W)^-1
  Eigen::MatrixXd unexplained(2 * n, rank);
  unexplained.topRows(n) = -half * (half.transpose() * (R11.transpose() * (R12 * half)));
  unexplained.bottomRows(n) = half;
  const Eigen::MatrixXd back = parts.U *
                               parts.values.cwiseMax(kHidden).cwiseInverse().asDiagonal() *
                               (half * parts.V).transpose();
  const Eigen::VectorXd difference = (seen * unexplained * back).colwise().norm();
  std::vector<double> detectable;
  for (Eigen::Index i = 0; i < n; ++i) {
    if (deviations[i] > 1e-300) detectable.push_back(kNoticed * difference[i] / deviations[i]);
  }
  test->detectable = upperQuartile(std::move(detectable));
}

void findStatistic(const Eigen::MatrixXd& R, const InstrumentFactors& factors, Eigen::Index n,
                   NoiseBiasTest* test) {
  // what W does not explain of Z, in an orthonormal basis
  Eigen::MatrixXd R22 = R.block(n, n, n, n);
  Eigen::VectorXd scale = R.middleCols(n, n).colwise().norm().transpose().cwiseMax(1e-300);
  const Svd parts = svd(R22 * scale.cwiseInverse().asDiagonal());
  const Eigen::Index rank =
      (parts.values.array() > kDistinct * std::max(parts.values[0], kDistinct)).count();
  if (rank == 0 || factors.rows < 4.0 * static_cast<double>(n)) return;
  const Eigen::VectorXd u = parts.U.leftCols(rank).transpose() * R.col(2 * n).segment(n, n);
  const Eigen::MatrixXd basis = scale.cwiseInverse().asDiagonal() * parts.V.leftCols(rank) *
                                parts.values.head(rank).cwiseInverse().asDiagonal();
  const RankedSolution explain =
      solveRanked(R.topLeftCorner(n, n), Eigen::VectorXd::Zero(n), Eigen::VectorXd::Zero(n), 1e-8);
  Eigen::MatrixXd combination(2 * n, rank);
  combination.topRows(n) =
      -explain.covariance * (R.topLeftCorner(n, n).transpose() * (R.block(0, n, n, n) * basis));
  combination.bottomRows(n) = basis;
  const Eigen::MatrixXd seen =
      factors.coloured.factor().triangularView<Eigen::Upper>() * combination;
  const Eigen::MatrixXd covariance = seen.transpose() * seen;
  const auto count = static_cast<double>(rank);
  const double noise =
      std::pow(R(2 * n, 2 * n), 2) / std::max(factors.rows - static_cast<double>(n) - count, 1.0);
  const double squares = u.dot(solveSymmetric(covariance, u).col(0)) / std::max(noise, 1e-300);
  const double degrees = std::max(factors.degrees - static_cast<double>(n) - count, 1.0);
  test->result.statistic = squares;
  test->result.degrees = count;
  test->result.p_value = fisherTail(squares / count, count, degrees);
}

}  // namespace

NoiseBiasTest testNoiseBias(const IdentificationProblem& problem, const Estimate& estimate) {
  const Eigen::Index n = problem.stacked.unknowns();
  InstrumentFactors factors(n);
  bool commanded = !problem.data.empty();
  for (const MotionData& data : problem.data) commanded = commanded && data.reference != nullptr;
  NoiseBiasTest test;
  test.instruments = commanded ? "the commanded motion" : "";
  for (const MotionData& data : problem.data) {
    MotionData instruments;
    if (commanded) {
      instruments = commandedMotion(*problem.tree, data);
    } else {
      const Eigen::Index shift =
          forgettingTime(data, torqueResiduals(problem, data, estimate.beta));
      instruments = neighbours(data, shift);
      if (test.instruments.empty())
        test.instruments = fmt::format("the motion {:.3g} s before and after",
                                       static_cast<double>(shift) / data.rate_hz);
    }
    const Eigen::Index step = std::max<Eigen::Index>(1, data.samples() / kEnoughSamples);
    addRecording(problem, estimate, everyNth(data, step), everyNth(instruments, step), &factors);
  }
  if (factors.rows == 0.0 || n == 0) return test;
  const Eigen::MatrixXd R = factors.plain.factor().triangularView<Eigen::Upper>();
  findShift(R, factors, n, &test);
  if (test.relevance > kRelevant) findStatistic(R, factors, n, &test);
  return test;
}

}  // namespace proprio
