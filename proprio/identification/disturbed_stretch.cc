#include "proprio/identification/disturbed_stretch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "proprio/identification/diagnosis.h"
#include "proprio/identification/joint_covariance.h"
#include "proprio/identification/robust_least_squares.h"

namespace proprio {
namespace {

using Eigen::Index;

constexpr double kLargeResidual = 5.0;      // robust deviations
constexpr double kLargePart = 0.1;          // of the joint's torque
constexpr double kMovingSpeed = 1.0 / 3.0;  // of the root mean square
constexpr int kJointsAtOnce = 2;
constexpr double kWindowSeconds = 0.25;
constexpr double kOneEventSeconds = 0.5;  // the shortest, and the longest gap within one
constexpr size_t kMostEvents = 3;
constexpr double kMostSamples = 1.0 / 3.0;

/// Rows that count for coordinate j: from when it first moves until it last does.
Eigen::Array<bool, Eigen::Dynamic, 1> usedWhileMoving(const MotionData& data, Index j) {
  Eigen::Array<bool, Eigen::Dynamic, 1> use = data.use.col(j);
  const double slow = kMovingSpeed * std::sqrt(data.v.col(j).squaredNorm() /
                                               static_cast<double>(std::max<Index>(1, use.size())));
  const auto rests = [&](Index i) { return std::abs(data.v(i, j)) <= slow; };
  for (Index i = 0; i < use.size() && rests(i); ++i) use[i] = false;
  for (Index i = use.size() - 1; i >= 0 && rests(i); --i) use[i] = false;
  return use;
}

/// Is the mean square of the window about each sample above this? Rows that do not count have none.
Eigen::Array<bool, Eigen::Dynamic, 1> above(const Eigen::ArrayXd& residual,
                                            const Eigen::Array<bool, Eigen::Dynamic, 1>& use,
                                            Index half, double limit) {
  const Index n = residual.size();
  Eigen::ArrayXd squares = Eigen::ArrayXd::Zero(n + 1), rows = squares;  // sums up to a sample
  for (Index i = 0; i < n; ++i) {
    squares[i + 1] = squares[i] + (use[i] ? residual[i] * residual[i] : 0.0);
    rows[i + 1] = rows[i] + (use[i] ? 1.0 : 0.0);
  }
  Eigen::Array<bool, Eigen::Dynamic, 1> large(n);
  for (Index i = 0; i < n; ++i) {
    const Index first = std::max<Index>(i - half, 0), last = std::min(i + half + 1, n);
    const double count = rows[last] - rows[first];
    large[i] = count > 0.0 && squares[last] - squares[first] > limit * limit * count;
  }
  return large;
}

/// Stretches of one recording.
void addStretches(const MotionData& data, int recording,
                  const Eigen::Array<bool, Eigen::Dynamic, Eigen::Dynamic>& large,
                  std::vector<DisturbedStretch>* stretches) {
  const auto shortest = static_cast<Index>(std::ceil(kOneEventSeconds * data.rate_hz));
  std::vector<DisturbedStretch> found;
  for (Index i = 0; i < large.rows(); ++i) {
    if (large.row(i).count() < kJointsAtOnce) continue;
    if (found.empty() || i - (found.back().start + found.back().count) >= shortest)
      found.push_back({recording, i, 0, {}});
    found.back().count = i + 1 - found.back().start;
  }
  for (DisturbedStretch& stretch : found) {
    if (stretch.count < shortest) continue;
    for (Index j = 0; j < large.cols(); ++j) {
      if (2 * large.col(j).segment(stretch.start, stretch.count).count() > stretch.count)
        stretch.coordinates.push_back(static_cast<int>(j));
    }
    if (std::ssize(stretch.coordinates) >= kJointsAtOnce) stretches->push_back(std::move(stretch));
  }
}

}  // namespace

std::vector<DisturbedStretch> disturbedStretches(const IdentificationProblem& problem,
                                                 const Estimate& robust) {
  const std::vector<Eigen::ArrayXXd> residuals = torqueResiduals(problem, robust.beta);
  const Eigen::VectorXd noise = robustNoise(problem, residuals);
  const Eigen::VectorXd torques = squaredTorques(problem.stacked);
  std::vector<DisturbedStretch> stretches;
  Index samples = 0, disturbed = 0;
  for (size_t r = 0; r < problem.data.size(); ++r) {
    const MotionData& data = problem.data[r];
    samples += data.samples();
    const auto half = static_cast<Index>(std::lround(0.5 * kWindowSeconds * data.rate_hz));
    Eigen::Array<bool, Eigen::Dynamic, Eigen::Dynamic> large(data.samples(), data.tau.cols());
    for (Index j = 0; j < data.tau.cols(); ++j) {
      const auto rows = static_cast<double>(problem.stacked.rows(static_cast<int>(j)));
      const double torque = std::sqrt(torques[j] / std::max(rows, 1.0));
      const double limit = std::max(kLargeResidual * noise[j], kLargePart * torque);
      large.col(j) = above(residuals[r].col(j), usedWhileMoving(data, j), half, limit);
    }
    addStretches(data, static_cast<int>(r), large, &stretches);
  }
  for (const DisturbedStretch& stretch : stretches) disturbed += stretch.count;
  const bool event = stretches.size() <= kMostEvents &&
                     static_cast<double>(disturbed) <= kMostSamples * static_cast<double>(samples);
  return event ? stretches : std::vector<DisturbedStretch>{};
}

std::vector<MotionData> undisturbed(const IdentificationProblem& problem,
                                    const std::vector<DisturbedStretch>& stretches) {
  std::vector<MotionData> data = problem.data;
  for (const DisturbedStretch& stretch : stretches)
    data[static_cast<size_t>(stretch.recording)]
        .use.middleRows(stretch.start, stretch.count)
        .setConstant(false);
  return data;
}

std::string stretchText(const IdentificationProblem& problem, const DisturbedStretch& stretch) {
  const MotionData& data = problem.data[static_cast<size_t>(stretch.recording)];
  const std::vector<std::string> names = coordinateNames(*problem.tree);
  std::vector<std::string> joints;
  for (const int j : stretch.coordinates) joints.push_back(names[static_cast<size_t>(j)]);
  return fmt::format("from {:.1f} to {:.1f} s of {} ({})", data.time[stretch.start],
                     data.time[stretch.start + stretch.count - 1], data.name,
                     fmt::join(joints, ", "));
}

}  // namespace proprio
