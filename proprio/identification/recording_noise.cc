#include "proprio/identification/recording_noise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "proprio/core/text.h"
#include "proprio/identification/diagnosis.h"
#include "proprio/identification/least_squares.h"

namespace proprio {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int kNoiseRounds = 30;
/// Changes of log s below this are none.
constexpr double kNoiseRests = 1e-4;
/// Rows besides those that the parameters explain, for a noise of its own.
constexpr double kEnoughRows = 60.0;
/// Rows of filtered and thinned recordings that tell as much as one.
constexpr double kRowsPerFact = 3.0;
/// Differences within so many standard deviations of log s^2 are none.
constexpr double kDoubtedDeviations = 2.0;
constexpr double kLargestRatio = 100.0;
/// Residuals below this part of the torques are rounding, not noise.
constexpr double kNoNoise = 1e-9;
/// Factors of noise below this are not worth a word.
constexpr double kNotableFactor = 1.25;

int sourcesOf(const IdentificationProblem& problem) {
  int last = -1;
  for (const MotionData& data : problem.data) last = std::max(last, data.source);
  return last + 1;
}

/// Weights of the problem that divide the rows of each source by its noise, times `unit`.
void applyNoise(const MatrixXd& sigma, const VectorXd& unit, IdentificationProblem* problem) {
  for (MotionData& data : problem->data) {
    data.joint_weights.resize(unit.size());
    for (Index j = 0; j < unit.size(); ++j) data.joint_weights[j] = unit[j] / sigma(data.source, j);
  }
  problem->stacked.weights = recordingWeights(problem->data, unit.size());
}

/// Sums over the blocks of each source, per coordinate.
struct NoiseSums {
  MatrixXd rows, squares, explained;
};

/// @param x, P  of the rows as they are weighted in the problem, which makes their noise one
NoiseSums noiseSums(const IdentificationProblem& problem, int sources, const VectorXd& x,
                    const MatrixXd& P) {
  const StackedProblem& stacked = problem.stacked;
  NoiseSums sums;
  sums.rows = sums.squares = sums.explained = MatrixXd::Zero(sources, stacked.coordinates());
  for (size_t k = 0; k < stacked.blocks.size(); ++k) {
    const StackedBlock& block = stacked.blocks[k];
    const MotionData& data = problem.data[static_cast<size_t>(block.recording)];
    const VectorXd squares = squaredResiduals(stacked, x, {static_cast<int>(k)});
    for (int j = 0; j < stacked.coordinates(); ++j) {
      const auto ju = static_cast<size_t>(j);
      if (block.rows[ju] == 0) continue;
      const std::vector<int>& touched = stacked.touch[ju];
      const auto n = static_cast<Index>(touched.size());
      const MatrixXd R = block.factor[ju].topLeftCorner(n, n).triangularView<Eigen::Upper>();
      const MatrixXd part = P(touched, touched);
      const double weight = stacked.weights(block.recording, j);
      sums.rows(data.source, j) += static_cast<double>(block.rows[ju]);
      sums.squares(data.source, j) += data.weight * data.weight * squares[j];
      sums.explained(data.source, j) += weight * weight * (R * part).cwiseProduct(R).sum();
    }
  }
  return sums;
}

/// One round: noise per source and coordinate from sums of squares.
void updateNoise(const NoiseSums& sums, const VectorXd& least, RecordingNoise* noise) {
  for (Index j = 0; j < noise->all.size(); ++j) {
    double squares = 0.0, free = 0.0;
    int with_rows = 0;
    for (Index s = 0; s < noise->sigma.rows(); ++s) {
      squares += sums.squares(s, j);
      free += sums.rows(s, j) - sums.explained(s, j);
      with_rows += sums.rows(s, j) > 0.0 ? 1 : 0;
    }
    noise->sigma.col(j).setOnes();
    noise->own.col(j).setZero();
    noise->all[j] = 1.0;
    if (!(free >= 1.0) || !(squares > least[j] * free)) continue;
    const double together = squares / free;
    noise->all[j] = std::sqrt(together);
    noise->sigma.col(j).setConstant(noise->all[j]);
    if (with_rows < 2) continue;
    bool differ = false;
    for (Index s = 0; s < noise->sigma.rows(); ++s) {
      const double own_free = sums.rows(s, j) - sums.explained(s, j);
      if (own_free < kEnoughRows) continue;
      const double ratio = std::max(sums.squares(s, j) / own_free, least[j]) / together;
      const double deviation = std::sqrt(2.0 * kRowsPerFact / own_free);
      differ = differ || std::abs(std::log(ratio)) > kDoubtedDeviations * deviation;
      noise->own(s, j) = 1.0;
      noise->sigma(s, j) =
          noise->all[j] * std::clamp(std::sqrt(ratio), 1.0 / kLargestRatio, kLargestRatio);
    }
    if (differ) continue;
    noise->own.col(j).setZero();
    noise->sigma.col(j).setConstant(noise->all[j]);
  }
}

}  // namespace

RecordingNoise weighRecordings(IdentificationProblem* problem) {
  StackedProblem& stacked = problem->stacked;
  const int sources = sourcesOf(*problem);
  const Index coordinates = stacked.coordinates();
  for (MotionData& data : problem->data) data.joint_weights.resize(0);
  stacked.weights = recordingWeights(problem->data, coordinates);
  RecordingNoise noise;
  noise.all = jointNoise(stacked);
  noise.sigma = noise.all.transpose().replicate(sources, 1);
  noise.own = MatrixXd::Zero(sources, coordinates);
  if (sources < 2) return noise;
  VectorXd least = squaredTorques(stacked);
  for (Index j = 0; j < coordinates; ++j) {
    const auto rows = std::max<Index>(stacked.rows(static_cast<int>(j)), 1);
    least[j] *= kNoNoise * kNoNoise / static_cast<double>(rows);
    if (!std::isfinite(noise.all[j])) noise.all[j] = 1.0;  // without rows
  }
  noise.sigma = noise.all.transpose().replicate(sources, 1);
  const VectorXd ones = VectorXd::Ones(coordinates);
  const VectorXd start = baseMatrix(problem->base) * problem->prior;
  double change = 1.0;
  while (change > kNoiseRests && noise.iterations < kNoiseRounds) {
    ++noise.iterations;
    applyNoise(noise.sigma, ones, problem);
    const TriangularSystem system = weightedSystem(stacked, ones);
    const RankedSolution fit = solveRanked(system.A, system.b, start);
    const MatrixXd before = noise.sigma;
    updateNoise(noiseSums(*problem, sources, fit.x, fit.covariance), least, &noise);
    change = 0.0;
    for (Index i = 0; i < before.size(); ++i)
      change = std::max(change, std::abs(std::log(noise.sigma.data()[i] / before.data()[i])));
  }
  applyNoise(noise.sigma, noise.all, problem);
  return noise;
}

void setRecordingNoise(IdentificationProblem* problem, const std::vector<double>& relative) {
  const int sources = sourcesOf(*problem);
  if (static_cast<int>(relative.size()) != sources)
    throw Error(fmt::format("noise is given for {} recordings of {}; expected one number for each",
                            relative.size(), sources));
  const Index coordinates = problem->stacked.coordinates();
  MatrixXd sigma(sources, coordinates);
  for (Index s = 0; s < sources; ++s) {
    const double value = relative[static_cast<size_t>(s)];
    if (!(value > 0.0) || !std::isfinite(value))
      throw Error(
          fmt::format("the noise of recording {} is {}; expected a positive number", s + 1, value));
    sigma.row(s).setConstant(value);
  }
  applyNoise(sigma, VectorXd::Ones(coordinates), problem);
}

std::string recordingNoiseText(const IdentificationProblem& problem, const RecordingNoise& noise,
                               const std::vector<std::string>& names) {
  double largest = kNotableFactor;
  Index joint = -1, loud = 0, quiet = 0;
  for (Index j = 0; j < noise.sigma.cols(); ++j) {
    for (Index a = 0; a < noise.sigma.rows(); ++a) {
      for (Index b = 0; b < noise.sigma.rows(); ++b) {
        const bool both = noise.own(a, j) > 0.0 && noise.own(b, j) > 0.0;
        if (!both || !(noise.sigma(a, j) > largest * noise.sigma(b, j))) continue;
        largest = noise.sigma(a, j) / noise.sigma(b, j);
        joint = j;
        loud = a;
        quiet = b;
      }
    }
  }
  if (joint < 0) return "";
  return fmt::format(
      "recordings count by their noise: that of {} is {:.2g} times as large in {} as in {} "
      "(--recording-noise)",
      inQuotes(coordinateNames(*problem.tree)[static_cast<size_t>(joint)]), largest,
      names[static_cast<size_t>(loud)], names[static_cast<size_t>(quiet)]);
}

}  // namespace proprio
