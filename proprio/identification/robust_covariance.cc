#include "proprio/identification/robust_covariance.h"

#include <algorithm>
#include <cmath>

#include "proprio/identification/least_squares.h"
#include "proprio/numerics/autoregression.h"
#include "proprio/numerics/distributions.h"
#include "proprio/numerics/streaming_qr.h"

namespace proprio {
namespace {

/// After the last sample the filters ring on; longer than this is not waited for.
constexpr Eigen::Index kLongestTail = 4096;
/// ... nor until less than this part of what came out is left.
constexpr double kDiedAway = 1e-6;
/// However much of the noise the parameters explain, this part of the rows stays.
constexpr double kLeastRest = 0.2;

/// The rows of one coordinate, filtered by 1 / A(z) column by column and folded into a factor.
class FilteredRows {
 public:
  FilteredRows(const Autoregression& model, const std::vector<int>& columns, Eigen::Index longest)
      : columns_(columns),
        reversed_(model.coefficients.reverse()),
        past_(Eigen::MatrixXd::Zero(model.order(), static_cast<Eigen::Index>(columns.size()))),
        line_(model.order() + longest),
        qr_(static_cast<Eigen::Index>(columns.size())) {}

  /// @param column  place(c) is the c-th column of the rows, or null for zeros
  /// @param use     which rows count, or null for none
  template <class Place>
  void add(Eigen::Index count, const Place& place, const bool* use) {
    const Eigen::Index p = reversed_.size();
    for (Eigen::Index done = 0; done < count;) {
      const Eigen::Index now = std::min(qr_.blockRows() - filled_, count - done);
      auto block = qr_.block();
      for (size_t c = 0; c < columns_.size(); ++c) {
        const auto column = static_cast<Eigen::Index>(c);
        const double* in = place(c);
        line_.head(p) = past_.col(column);
        for (Eigen::Index t = 0; t < now; ++t) {
          const double driven = use != nullptr && use[done + t] ? in[done + t] : 0.0;
          line_[p + t] = driven + reversed_.dot(line_.segment(t, p));
        }
        block.col(column).segment(filled_, now) = line_.segment(p, now);
        past_.col(column) = line_.segment(now, p);
      }
      filled_ += now;
      done += now;
      if (filled_ == qr_.blockRows()) flush();
    }
  }

  /// Lets the filter ring out; returns sum of the squares of what came out of it.
  Eigen::MatrixXd finish() {
    flush();
    const double enough = kDiedAway * qr_.factor().norm();
    const Eigen::Index step = std::min<Eigen::Index>(line_.size() - reversed_.size(), 64);
    for (Eigen::Index t = 0; t < kLongestTail && past_.norm() > enough; t += step)
      add(
          step, [](size_t) { return static_cast<const double*>(nullptr); }, nullptr);
    flush();
    const Eigen::MatrixXd R = qr_.factor().triangularView<Eigen::Upper>();
    return R.transpose() * R;
  }

 private:
  void flush() {
    if (filled_ > 0) qr_.fold(filled_);
    filled_ = 0;
  }

  const std::vector<int>& columns_;
  Eigen::VectorXd reversed_;  // a_p ... a_1
  Eigen::MatrixXd past_;      // the last p outputs of every column, oldest first
  Eigen::VectorXd line_;
  StreamingQr qr_;
  Eigen::Index filled_ = 0;
};

/// W_j^T Rho_j W_j of one recording, in the touched columns of each coordinate with a memory.
std::vector<Eigen::MatrixXd> filteredSquares(const IdentificationProblem& problem,
                                             const MotionData& data,
                                             const std::vector<Autoregression>& models) {
  const StackedProblem& stacked = problem.stacked;
  Workspace workspace(*problem.tree);
  RegressorBatch batch(*problem.tree, RegressorBatch::recommendedSamples(*problem.tree),
                       problem.layout->size());
  std::vector<std::unique_ptr<FilteredRows>> rows(models.size());
  for (size_t j = 0; j < models.size(); ++j) {
    if (models[j].order() > 0)
      rows[j] = std::make_unique<FilteredRows>(models[j], stacked.touch[j],
                                               std::max<Eigen::Index>(batch.capacity(), 64));
  }
  forEachBatch(*problem.tree, *problem.layout, data, 0, data.samples(), workspace, batch,
               [&](Eigen::Index start, Eigen::Index count, RegressorBatch& regressor) {
                 for (size_t j = 0; j < rows.size(); ++j) {
                   if (!rows[j]) continue;
                   const auto Y = regressor.rows(static_cast<Eigen::Index>(j), count);
                   const std::vector<int>& touched = stacked.touch[j];
                   rows[j]->add(
                       count,
                       [&](size_t c) {
                         return Y.col(stacked.columns[static_cast<size_t>(touched[c])]).data();
                       },
                       data.use.col(static_cast<Eigen::Index>(j)).data() + start);
                 }
               });
  std::vector<Eigen::MatrixXd> squares(models.size());
  for (size_t j = 0; j < rows.size(); ++j) {
    if (rows[j]) squares[j] = models[j].innovation_share * rows[j]->finish();
  }
  return squares;
}

/// W_j^T W_j of one recording.
Eigen::MatrixXd plainSquares(const StackedProblem& stacked, int recording, size_t j) {
  const auto n = static_cast<Eigen::Index>(stacked.touch[j].size());
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(n, n);
  for (const StackedBlock& block : stacked.blocks) {
    if (block.recording != recording || block.rows[j] == 0) continue;
    const Eigen::MatrixXd R = block.factor[j].topLeftCorner(n, n).triangularView<Eigen::Upper>();
    sum.noalias() += R.transpose() * R;
  }
  return sum;
}

void addTouched(const std::vector<int>& touched, const Eigen::MatrixXd& part, double scale,
                Eigen::MatrixXd* whole) {
  for (size_t a = 0; a < touched.size(); ++a) {
    for (size_t b = 0; b < touched.size(); ++b)
      (*whole)(touched[a], touched[b]) +=
          scale * part(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(b));
  }
}

/// Sums of w_t^T P w_(t+k), k = 0 ..., of the rows of one coordinate that count.
class LeverageSums {
 public:
  LeverageSums(const Eigen::MatrixXd& P, const std::vector<int>& touched, Eigen::Index lags,
               Eigen::Index longest)
      : P_(touched.size(), touched.size()),
        rows_(Eigen::MatrixXd::Zero(lags + longest, P_.cols())),
        sums_(Eigen::VectorXd::Zero(lags + 1)) {
    for (size_t a = 0; a < touched.size(); ++a) {
      for (size_t b = 0; b < touched.size(); ++b)
        P_(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(b)) = P(touched[a], touched[b]);
    }
  }

  /// @param place  place(c) is the c-th column of the rows
  template <class Place>
  void add(Eigen::Index count, const Place& place, const bool* use) {
    const Eigen::Index lags = sums_.size() - 1;
    for (Eigen::Index c = 0; c < rows_.cols(); ++c) {
      const double* in = place(static_cast<size_t>(c));
      for (Eigen::Index t = 0; t < count; ++t) rows_(lags + t, c) = use[t] ? in[t] : 0.0;
    }
    const Eigen::MatrixXd weighted = rows_.middleRows(lags, count) * P_;
    addLaggedProducts(weighted, rows_.topRows(lags + count), sums_);
    const Eigen::MatrixXd last = rows_.middleRows(count, lags);
    rows_.topRows(lags) = last;
  }

  const Eigen::VectorXd& sums() const { return sums_; }

 private:
  Eigen::MatrixXd P_;
  Eigen::MatrixXd rows_;  // the last `lags` ones, then those of a batch
  Eigen::VectorXd sums_;
};

/// Sums of the hat matrix along its diagonals (autoregression.h) per coordinate, of one recording.
/// @param scales  squared weights of the rows per coordinate
std::vector<Eigen::VectorXd> leverages(const IdentificationProblem& problem, const MotionData& data,
                                       const Eigen::MatrixXd& P, const Eigen::VectorXd& scales) {
  const StackedProblem& stacked = problem.stacked;
  Workspace workspace(*problem.tree);
  RegressorBatch batch(*problem.tree, RegressorBatch::recommendedSamples(*problem.tree),
                       problem.layout->size());
  std::vector<LeverageSums> sums;
  for (size_t j = 0; j < stacked.touch.size(); ++j)
    sums.emplace_back(P, stacked.touch[j],
                      highestOrder(data.use.col(static_cast<Eigen::Index>(j)).count()),
                      batch.capacity());
  forEachBatch(*problem.tree, *problem.layout, data, 0, data.samples(), workspace, batch,
               [&](Eigen::Index start, Eigen::Index count, RegressorBatch& regressor) {
                 for (size_t j = 0; j < sums.size(); ++j) {
                   const auto i = static_cast<Eigen::Index>(j);
                   const auto Y = regressor.rows(i, count);
                   sums[j].add(
                       count,
                       [&](size_t c) {
                         const auto place = static_cast<size_t>(stacked.touch[j][c]);
                         return Y.col(stacked.columns[place]).data();
                       },
                       data.use.col(i).data() + start);
                 }
               });
  std::vector<Eigen::VectorXd> result;
  for (size_t j = 0; j < sums.size(); ++j)
    result.push_back(scales[static_cast<Eigen::Index>(j)] * sums[j].sums());
  return result;
}

std::vector<Autoregression> residualModels(const IdentificationProblem& problem,
                                           const MotionData& data, const Mask& use,
                                           const Eigen::VectorXd& beta,
                                           const std::vector<Eigen::VectorXd>& leverage) {
  const Eigen::MatrixXd residuals = torqueResiduals(problem, data, beta);
  std::vector<Autoregression> models;
  for (Eigen::Index j = 0; j < residuals.cols(); ++j)
    models.push_back(fitNoise(residuals.col(j), use.col(j), leverage[static_cast<size_t>(j)]));
  return models;
}

double traceOfProduct(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B) {
  return A.cwiseProduct(B).sum();  // both symmetric
}

}  // namespace

Eigen::MatrixXd torqueResiduals(const IdentificationProblem& problem, const MotionData& data,
                                const Eigen::VectorXd& beta) {
  Eigen::VectorXd chi = Eigen::VectorXd::Zero(problem.layout->size());
  for (size_t i = 0; i < problem.stacked.columns.size(); ++i)
    chi[problem.stacked.columns[i]] = beta[static_cast<Eigen::Index>(i)];
  return data.tau - predictTorques(*problem.tree, *problem.layout, chi, data);
}

CorrectedCovariance correctedCovariance(const IdentificationProblem& problem,
                                        const Estimate& estimate) {
  // the rows that multiply the noise: of the instruments where there are some
  const std::vector<MotionData>& motions =
      estimate.instruments ? *estimate.instruments : problem.data;
  StackedProblem own;
  if (estimate.instruments)
    own = stack(*problem.tree, problem.layout, problem.base.independent, motions);
  const StackedProblem& stacked = estimate.instruments ? own : problem.stacked;
  const auto coordinates = static_cast<size_t>(stacked.coordinates());
  const Eigen::Index n = stacked.unknowns();
  const bool alike = estimate.method == "ols";
  const Eigen::VectorXd weights =
      alike ? Eigen::VectorXd::Ones(estimate.sigma.size()) : estimate.sigma;
  const TriangularSystem system = weightedSystem(stacked, weights);
  const Eigen::MatrixXd P =
      solveRanked(system.A, Eigen::VectorXd::Zero(n), Eigen::VectorXd::Zero(n)).covariance;

  // squares of the rows per coordinate, weighted: plain, and after the filter of the residual
  std::vector<Eigen::MatrixXd> plain(coordinates, Eigen::MatrixXd::Zero(n, n)), coloured = plain;
  CorrectedCovariance result;
  result.orders.assign(coordinates, 0);
  for (size_t r = 0; r < motions.size(); ++r) {
    const MotionData& rows = motions[r];
    Eigen::VectorXd scales(weights.size());  // zero for coordinates that do not count
    for (Eigen::Index j = 0; j < scales.size(); ++j)
      scales[j] = std::pow(rows.rowWeight(j) / weights[j], 2);
    const std::vector<Autoregression> models = residualModels(
        problem, problem.data[r], rows.use, estimate.beta, leverages(problem, rows, P, scales));
    const std::vector<Eigen::MatrixXd> filtered = filteredSquares(problem, rows, models);
    for (size_t j = 0; j < coordinates; ++j) {
      const double scale = scales[static_cast<Eigen::Index>(j)];
      if (!(scale > 0.0) || stacked.touch[j].empty()) continue;
      const Eigen::MatrixXd squares = plainSquares(stacked, static_cast<int>(r), j);
      addTouched(stacked.touch[j], squares, scale, &plain[j]);
      addTouched(stacked.touch[j], filtered[j].size() > 0 ? filtered[j] : squares, scale,
                 &coloured[j]);
      result.orders[j] = std::max(result.orders[j], static_cast<int>(models[j].order()));
    }
  }

  Eigen::MatrixXd middle = Eigen::MatrixXd::Zero(n, n);
  result.inflation = Eigen::VectorXd::Ones(static_cast<Eigen::Index>(coordinates));
  Eigen::VectorXd variance = Eigen::VectorXd::Zero(n), doubt = variance;
  for (size_t j = 0; j < coordinates; ++j) {
    const auto i = static_cast<Eigen::Index>(j);
    if (!std::isfinite(weights[i])) continue;
    const auto rows = static_cast<double>(stacked.rows(static_cast<int>(j)));
    const double spent = traceOfProduct(P, plain[j]),
                 spent_coloured = traceOfProduct(P, coloured[j]);
    double scale = alike ? std::pow(estimate.sigma[i], 2) : 1.0;
    if (result.orders[j] > 0) {
      result.inflation[i] = spent > 0.0 ? spent_coloured / spent : 1.0;
      // what the fit took away from the residuals, of white and of coloured noise
      scale *= (rows - spent) / std::max(rows - spent_coloured, kLeastRest * rows);
    }
    middle += scale * coloured[j];
    // this coordinate's share of each parameter's variance, and how well that share is known
    const Eigen::VectorXd share = scale * (P * coloured[j]).cwiseProduct(P).rowwise().sum();
    const double order = result.orders[j];
    const double degrees = std::max(order > 0 ? rows / (2.0 * order) : rows - spent, 1.0);
    variance += share;
    doubt += share.cwiseAbs2() / degrees;
  }
  result.degrees = Eigen::VectorXd::Ones(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    if (doubt[i] > 0.0) result.degrees[i] = std::max(variance[i] * variance[i] / doubt[i], 1.0);
  }
  const bool white =
      std::all_of(result.orders.begin(), result.orders.end(), [](int order) { return order == 0; });
  if (alike) {
    result.covariance = P * middle * P;
  } else if (white) {
    result.covariance = estimate.covariance;
  } else {
    const Eigen::MatrixXd corrected = P * middle * P;
    if (estimate.method == "wls") {
      result.covariance = corrected;
    } else {
      Eigen::VectorXd ratio = Eigen::VectorXd::Ones(n);
      for (Eigen::Index i = 0; i < n; ++i) {
        if (P(i, i) > 0.0) ratio[i] = std::sqrt(corrected(i, i) / P(i, i));
      }
      result.covariance = ratio.asDiagonal() * estimate.covariance * ratio.asDiagonal();
    }
  }
  return result;
}

double confidenceHalfWidth(double standard_deviation, double degrees, double level) {
  return standard_deviation * studentQuantile(0.5 + 0.5 * level, degrees);
}

}  // namespace proprio
