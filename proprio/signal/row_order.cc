#include "proprio/signal/row_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "proprio/core/error.h"

namespace proprio {
namespace {

constexpr Eigen::Index kFewest = 20;        // rows that tell anything
constexpr double kUnrelated = 0.3;          // mean dq^2 / (2 variance of q); 1 for independent rows
constexpr double kNormal = 1.4826;          // standard deviation over median deviation
constexpr double kKnown = 0.1, kOff = 0.5;  // of the median step

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// All joints that move differ from row to row as they do from any row to any other.
bool isShuffled(const Eigen::MatrixXd& q, const Eigen::MatrixXd& dq) {
  int moving = 0;
  for (Eigen::Index j = 0; j < q.cols(); ++j) {
    const double variance = (q.col(j).array() - q.col(j).mean()).square().mean();
    if (!(variance > 0.0)) continue;
    if (dq.col(j).squaredNorm() / static_cast<double>(dq.rows()) < 2.0 * kUnrelated * variance)
      return false;
    ++moving;
  }
  return moving > 0;
}

/// The step that the joints imply, one per row, and the weight that it has.
Eigen::MatrixX2d impliedSteps(const Eigen::MatrixXd& dq, const Eigen::MatrixXd& v,
                              const Eigen::VectorXd& weights) {
  Eigen::MatrixX2d steps(dq.rows(), 2);
  steps.col(1) = v.array().square().matrix() * weights;
  steps.col(0) = (dq.array() * v.array()).matrix() * weights;
  steps.col(0).array() /= steps.col(1).array();
  return steps;
}

/// Half of the weight is below it: rows at rest say nothing about the step, however many they are.
double medianStep(const Eigen::MatrixX2d& steps) {
  std::vector<std::pair<double, double>> known;
  double all = 0.0;
  for (Eigen::Index k = 0; k < steps.rows(); ++k) {
    if (!std::isfinite(steps(k, 0)) || !(steps(k, 1) > 0.0)) continue;
    known.emplace_back(steps(k, 0), steps(k, 1));
    all += steps(k, 1);
  }
  std::sort(known.begin(), known.end());
  double below = 0.0;
  for (const auto& [step, weight] : known) {
    below += weight;
    if (below >= 0.5 * all) return step;
  }
  return 0.0;
}

}  // namespace

RowOrder rowOrder(const Eigen::MatrixXd& q, const Eigen::MatrixXd& v) {
  if (v.cols() > 0 && (v.cols() != q.cols() || v.rows() != q.rows()))
    throw Error(fmt::format("{} x {} positions, but {} x {} velocities", q.rows(), q.cols(),
                            v.rows(), v.cols()));
  RowOrder order;
  const Eigen::Index n = q.rows() - 1;
  if (n < kFewest) return order;
  const Eigen::MatrixXd dq = q.bottomRows(n) - q.topRows(n);
  order.shuffled = isShuffled(q, dq);
  if (order.shuffled || v.cols() == 0) return order;
  const Eigen::MatrixXd mean_v = 0.5 * (v.topRows(n) + v.bottomRows(n));
  Eigen::VectorXd weights(q.cols());
  for (Eigen::Index j = 0; j < q.cols(); ++j) {
    const double power = mean_v.col(j).squaredNorm();
    weights[j] = power > 0.0 ? 1.0 / power : 0.0;
  }
  const double first = medianStep(impliedSteps(dq, mean_v, weights));
  for (Eigen::Index j = 0; j < q.cols(); ++j) {
    if (weights[j] == 0.0) continue;
    std::vector<double> residuals(static_cast<size_t>(n));
    Eigen::VectorXd::Map(residuals.data(), n) = (dq.col(j) - first * mean_v.col(j)).cwiseAbs();
    // rounding is the least noise there is
    const double floor = 1e-9 * dq.col(j).cwiseAbs().maxCoeff();
    const double sigma = std::max(kNormal * median(std::move(residuals)), floor);
    weights[j] = sigma > 0.0 ? 1.0 / (sigma * sigma) : 0.0;
  }
  const Eigen::MatrixX2d steps = impliedSteps(dq, mean_v, weights);
  const double step = medianStep(steps);
  for (Eigen::Index k = 0; k < n; ++k) {
    if (!(steps(k, 1) * kKnown * kKnown * step * step > 1.0)) continue;
    ++order.judged;
    if (std::abs(steps(k, 0) - step) > kOff * std::abs(step)) ++order.unequal;
  }
  return order;
}

}  // namespace proprio
