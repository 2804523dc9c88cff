#include "proprio/identification/torque_delay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "proprio/numerics/dense.h"

namespace proprio {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr Index kShifts = 20;            // to either side
constexpr Index kSincHalf = 8;           // samples
constexpr Index kTimeStretches = 30;     // whose sums of residuals are independent
constexpr double kMostNumbers = 4e6;     // of all regressors; longer recordings are thinned
constexpr double kTurningSign = 0.999;   // filtered signs below are those of reversals
constexpr double kSilentShift = 1e-7;    // singular values below are no knowledge
constexpr double kSmallestShift = 4e-3;  // s; unmodelled friction is worth as much
constexpr double kShiftBetter = 1.05;    // of the errors

double stepOfShifts() { return kLongestDelay / static_cast<double>(kShifts); }

/// Lanczos' kernel.
double windowedSinc(double x) {
  if (std::abs(x) < 1e-12) return 1.0;
  const double y = std::numbers::pi * x, w = y / static_cast<double>(kSincHalf);
  return std::abs(x) < static_cast<double>(kSincHalf) ? std::sin(y) * std::sin(w) / (y * w) : 0.0;
}

/// Rows of one coordinate: regressor, torques at all shifts, time stretch of each row.
struct DelayRows {
  MatrixXd Y, T;
  std::vector<Index> stretch;
};

class DelaySearch {
 public:
  explicit DelaySearch(const IdentificationProblem& problem)
      : problem_(problem), rows_(static_cast<size_t>(problem.stacked.coordinates())) {
    for (const MotionData& data : problem.data) samples_ += static_cast<Index>(usable(data).size());
    const double numbers = static_cast<double>(samples_) *
                           static_cast<double>(problem.stacked.unknowns() + 2 * kShifts) *
                           static_cast<double>(problem.stacked.coordinates());
    thin_ = std::max<Index>(1, static_cast<Index>(std::ceil(numbers / kMostNumbers)));
    Index seen = 0;
    for (const MotionData& data : problem.data) gather(data, &seen);
    sigma_ = VectorXd::Ones(problem.stacked.coordinates());
  }

  TorqueDelay run() {
    TorqueDelay found;
    Index best = kShifts, rows = 0;
    for (const DelayRows& one : rows_) rows += one.Y.rows();
    if (rows < problem_.stacked.unknowns() + 2 * kTimeStretches) return found;
    for (int round = 0; round < 3; ++round) {
      fit();
      likelihood_.maxCoeff(&best);
      setNoise(best);
    }
    found.delay = static_cast<double>(best - kShifts) * stepOfShifts();
    found.better = std::exp((likelihood_[best] - likelihood_[kShifts]) / total_);
    if (best == 0 || best == 2 * kShifts) return found;
    refine(best, &found);
    return found;
  }

 private:
  static Index margin(const MotionData& data) {
    return static_cast<Index>(std::ceil(kLongestDelay * data.rate_hz)) + kSincHalf;
  }

  /// Do positions follow from speeds? States that are in no order of time have no delay.
  static bool isMotion(const MotionData& data) {
    const Index n = data.samples() - 1;
    if (!(data.rate_hz > 0.0) || n < 1 || data.q.cols() != data.v.cols()) return false;
    const MatrixXd moved = data.q.bottomRows(n) - data.q.topRows(n);
    const MatrixXd expected = 0.5 / data.rate_hz * (data.v.bottomRows(n) + data.v.topRows(n));
    return moved.cwiseProduct(expected).sum() > 0.5 * expected.squaredNorm();
  }

  /// Samples with torques on both sides for every shift.
  static std::vector<Index> usable(const MotionData& data) {
    std::vector<Index> rows;
    if (!isMotion(data)) return rows;
    for (Index k = margin(data); k + margin(data) < data.samples(); ++k) rows.push_back(k);
    return rows;
  }

  static bool counts(const MotionData& data, Index k, Index j) {
    return data.use(k, j) && (data.sign.cols() == 0 || std::abs(data.sign(k, j)) > kTurningSign);
  }

  /// tau_j(t_k + d) for all shifts d.
  static VectorXd shiftedTorques(const MotionData& data, Index k, Index j) {
    VectorXd values(2 * kShifts + 1);
    for (Index s = 0; s < values.size(); ++s) {
      const double at = static_cast<double>(s - kShifts) * stepOfShifts() * data.rate_hz;
      const auto whole = static_cast<Index>(std::floor(at));
      double sum = 0.0, weights = 0.0;
      for (Index i = whole - kSincHalf + 1; i <= whole + kSincHalf; ++i) {
        const double weight = windowedSinc(at - static_cast<double>(i));
        sum += weight * data.tau(k + i, j);
        weights += weight;
      }
      values[s] = sum / weights;
    }
    return values;
  }

  void gather(const MotionData& data, Index* seen) {
    std::vector<Index> chosen;
    for (const Index k : usable(data)) {
      if ((*seen)++ % thin_ == 0) chosen.push_back(k);
    }
    if (chosen.empty()) return;
    const MotionData few = chosenSamples(data, chosen);
    const StackedProblem& stacked = problem_.stacked;
    Workspace workspace(*problem_.tree);
    const Index all = problem_.layout->size();
    RegressorBatch batch(*problem_.tree, RegressorBatch::recommendedSamples(*problem_.tree), all);
    const Index first = *seen - static_cast<Index>(usable(data).size());
    const auto visit = [&](Index start, Index count, RegressorBatch& now) {
      for (Index j = 0; j < stacked.coordinates(); ++j) {
        DelayRows& rows = rows_[static_cast<size_t>(j)];
        const auto Y = now.rows(j, count);
        for (Index i = 0; i < count; ++i) {
          const Index k = chosen[static_cast<size_t>(start + i)];
          if (!counts(data, k, j)) continue;
          const Index r = static_cast<Index>(rows.stretch.size());
          if (r == rows.Y.rows()) grow(&rows);
          for (Index c = 0; c < stacked.unknowns(); ++c)
            rows.Y(r, c) = Y(i, stacked.columns[static_cast<size_t>(c)]);
          rows.T.row(r) = shiftedTorques(data, k, j);
          rows.stretch.push_back((first + (start + i) * thin_) * kTimeStretches / samples_);
        }
      }
    };
    forEachBatch(*problem_.tree, *problem_.layout, few, 0, few.samples(), workspace, batch, visit);
    for (DelayRows& rows : rows_) {
      rows.Y.conservativeResize(static_cast<Index>(rows.stretch.size()), stacked.unknowns());
      rows.T.conservativeResize(rows.Y.rows(), 2 * kShifts + 1);
    }
  }

  void grow(DelayRows* rows) const {
    const Index more = rows->Y.rows() + samples_ / thin_ + 1;
    rows->Y.conservativeResize(more, problem_.stacked.unknowns());
    rows->T.conservativeResize(more, 2 * kShifts + 1);
  }

  /// What the parameters leave of columns that belong to the rows of all coordinates.
  std::vector<MatrixXd> leftOf(const std::vector<MatrixXd>& columns) const {
    MatrixXd right = MatrixXd::Zero(normal_.rows(), columns.front().cols());
    for (size_t j = 0; j < rows_.size(); ++j) {
      if (rows_[j].Y.rows() == 0) continue;
      const double weight = 1.0 / (sigma_[static_cast<Index>(j)] * sigma_[static_cast<Index>(j)]);
      right += weight * (rows_[j].Y.transpose() * columns[j]);
    }
    const MatrixXd beta =
        scale_.asDiagonal() * solveSymmetric(normal_, scale_.asDiagonal() * right);
    std::vector<MatrixXd> left;
    for (size_t j = 0; j < rows_.size(); ++j)
      left.push_back(rows_[j].Y.rows() == 0 ? columns[j] : columns[j] - rows_[j].Y * beta);
    return left;
  }

  void fit() {
    const Index n = problem_.stacked.unknowns();
    MatrixXd normal = MatrixXd::Zero(n, n);
    std::vector<MatrixXd> torques;
    for (size_t j = 0; j < rows_.size(); ++j) {
      const double weight = 1.0 / (sigma_[static_cast<Index>(j)] * sigma_[static_cast<Index>(j)]);
      if (rows_[j].Y.rows() > 0) normal += weight * (rows_[j].Y.transpose() * rows_[j].Y);
      torques.push_back(rows_[j].T);
    }
    scale_ = normal.diagonal().cwiseMax(1e-300).cwiseSqrt().cwiseInverse();
    normal_ = scale_.asDiagonal() * normal * scale_.asDiagonal();
    normal_.diagonal().array() += kSilentShift;
    left_ = leftOf(torques);
    likelihood_ = VectorXd::Zero(2 * kShifts + 1);
    total_ = 0.0;
    for (size_t j = 0; j < rows_.size(); ++j) {
      const auto count = static_cast<double>(rows_[j].Y.rows());
      if (count == 0.0) continue;
      total_ += count;
      for (Index s = 0; s < likelihood_.size(); ++s)
        likelihood_[s] -= 0.5 * count * std::log(std::max(left_[j].col(s).squaredNorm(), 1e-300));
    }
  }

  void setNoise(Index shift) {
    for (size_t j = 0; j < rows_.size(); ++j) {
      const auto count = static_cast<double>(rows_[j].Y.rows());
      if (count > 0.0)
        sigma_[static_cast<Index>(j)] =
            std::sqrt(std::max(left_[j].col(shift).squaredNorm(), 1e-300) / count);
    }
  }

  /// Gauss-Newton from the best shift, and the deviation there.
  void refine(Index best, TorqueDelay* found) const {
    std::vector<MatrixXd> slopes;
    for (const DelayRows& rows : rows_)
      slopes.push_back((rows.T.col(best + 1) - rows.T.col(best - 1)) / (2.0 * stepOfShifts()));
    const std::vector<MatrixXd> slope = leftOf(slopes);
    VectorXd scores = VectorXd::Zero(kTimeStretches);
    double curvature = 0.0;
    for (int pass = 0; pass < 2; ++pass) {
      const double step = pass == 0 ? 0.0 : -scores.sum() / curvature;
      if (pass == 1) found->delay += std::clamp(step, -stepOfShifts(), stepOfShifts());
      scores.setZero();
      for (size_t j = 0; j < rows_.size(); ++j) {
        const double s = sigma_[static_cast<Index>(j)];
        for (size_t r = 0; r < rows_[j].stretch.size(); ++r) {
          const auto i = static_cast<Index>(r);
          const double e = left_[j](i, best) + step * slope[j](i, 0);
          scores[std::min(rows_[j].stretch[r], kTimeStretches - 1)] += e * slope[j](i, 0) / (s * s);
          if (pass == 0) curvature += slope[j](i, 0) * slope[j](i, 0) / (s * s);
        }
      }
    }
    if (curvature > 0.0) found->deviation = scores.norm() / curvature;
  }

  const IdentificationProblem& problem_;
  std::vector<DelayRows> rows_;
  Index samples_ = 0, thin_ = 1;
  VectorXd sigma_, scale_, likelihood_;
  MatrixXd normal_;
  std::vector<MatrixXd> left_;
  double total_ = 0.0;
};

}  // namespace

bool TorqueDelay::shifted() const {
  return std::abs(delay) > std::max(kSureShift * deviation, kSmallestShift) &&
         better > kShiftBetter;
}

TorqueDelay findTorqueDelay(const IdentificationProblem& problem) {
  return DelaySearch(problem).run();
}

std::string delayText(const TorqueDelay& found) {
  return fmt::format(
      "torques come {:.3g} ± {:.2g} ms {} positions, by the fit of all joints; 'delay: {:.3g}' of "
      "the torques in robot.yaml, in whole samples, undoes it",
      1e3 * std::abs(found.delay), 1e3 * found.deviation, found.delay > 0.0 ? "after" : "before",
      found.delay);
}

}  // namespace proprio
