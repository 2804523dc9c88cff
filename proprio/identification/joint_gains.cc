#include "proprio/identification/joint_gains.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "proprio/identification/diagnosis.h"
#include "proprio/identification/sensed_wrenches.h"
#include "proprio/numerics/dense.h"
#include "proprio/numerics/streaming_qr.h"

namespace proprio {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kRowsBesideParameters = 30.0;  // fewer do not tell anything
constexpr double kTellsGain = 0.15;  // largest relative deviation of a joint that is told about
constexpr double kOwnShareOfTorque = 1.5e-3;  // of its squares that tell the factor; friction that
                                              // is not quite the model's is as much
constexpr double kOtherGain = 1.35;    // factors beyond are told; catalogues are as wrong as that
constexpr double kNonsenseGain = 1.6;  // factors beyond contradict the other joints
constexpr double kManyDeviations = 6.0;
constexpr double kBetterBy = 1.05;      // of the error in some joint, for a factor to be told
constexpr double kMuchBetterBy = 1.15;  // and to contradict
constexpr double kAsLikely = 0.75;      // of the likelihood that is gained: a rival
constexpr double kWorthAFit = 1.1;      // first steps to smaller factors are not followed
constexpr size_t kMostCandidates = 8;   // that are fitted, those that explain most first
constexpr int kMostSteps = 20;
constexpr double kSettledStep = 0.003;

struct GainFit {
  VectorXd gains, sigma, beta;
  double likelihood = 0.0;
  std::vector<int> free;  // coordinates whose gains are estimated
  MatrixXd R;             // rows = Q R diag(scale)^-1
  VectorXd scale;
};

class GainSearch {
 public:
  explicit GainSearch(const IdentificationProblem& problem)
      : blocks_(problem.stacked), rows_(problem.stacked) {
    // all blocks in one
    StackedBlock all;
    for (int j = 0; j < rows_.coordinates(); ++j) {
      const auto k = static_cast<size_t>(j);
      StreamingQr qr(static_cast<Index>(rows_.touch[k].size()) + 1);
      for (const StackedBlock& block : blocks_.blocks) {
        if (block.rows[k] > 0) qr.add(weighted(block, j));
      }
      all.factor.push_back(qr.factor().triangularView<Eigen::Upper>());
      const auto touched = static_cast<double>(rows_.touch[k].size());
      const auto rows = static_cast<double>(blocks_.rows(j));
      const bool enough = rows > touched + kRowsBesideParameters &&
                          all.factor.back().rightCols(1).squaredNorm() > 0.0;
      all.rows.push_back(enough ? blocks_.rows(j) : 0);
      free_rows_.push_back(enough ? rows - touched : 0.0);
    }
    rows_.blocks = {std::move(all)};
    rows_.weights = MatrixXd::Ones(1, rows_.coordinates());
  }

  bool counts(int j) const { return free_rows_[static_cast<size_t>(j)] > 0.0; }

  /// The best fit with these gains free, from where `start` ended.
  GainFit fit(const std::vector<int>& free, const GainFit* start) const {
    GainFit now;
    now.gains = start != nullptr ? start->gains : VectorXd::Ones(rows_.coordinates()).eval();
    now.sigma = start != nullptr ? start->sigma : torqueSizes();
    now.free = free;
    for (int step = 0; step < kMostSteps; ++step) {
      const VectorXd noise = solve(&now);
      double largest = 0.0;  // relative change
      for (int j = 0; j < rows_.coordinates(); ++j) {
        if (counts(j)) largest = std::max(largest, std::abs(noise[j] / now.sigma[j] - 1.0));
      }
      const VectorXd steps = gainSteps(now);
      if (steps.size() > 0) largest = std::max(largest, steps.cwiseAbs().maxCoeff());
      if (largest < kSettledStep || step + 1 == kMostSteps) break;
      now.sigma = noise;
      for (size_t g = 0; g < free.size(); ++g)
        now.gains[free[g]] *= std::clamp(1.0 + steps[static_cast<Index>(g)], 0.5, 2.0);
    }
    return now;
  }

  /// What the gain of coordinate j alone would do first: its step, relative, and the squares that
  /// it explains.
  std::pair<double, double> firstStep(const GainFit& at, int j) const {
    const OwnPart own = ownPart(at, j);
    if (!(own.squares > kNothingOwn * own.all)) return {0.0, 0.0};
    return {own.slope / own.squares, own.slope * own.slope / own.squares};
  }

  /// Relative standard deviation of the gain of coordinate j; infinite where too little decides it.
  double deviation(const GainFit& at, int j) const {
    const OwnPart own = ownPart(at, j);
    if (!(own.squares > kOwnShareOfTorque * own.all)) return INFINITY;
    const VectorXd others = at.scale.cwiseProduct(solveUpper(at.R, own.projected).col(0));
    double sum = 0.0, count = 0.0;
    for (const StackedBlock& block : blocks_.blocks) {
      double score = 0.0;
      for (int i = 0; i < rows_.coordinates(); ++i) {
        if (!counts(i) || block.rows[static_cast<size_t>(i)] == 0) continue;
        const MatrixXd factor = weighted(block, i) / at.sigma[i];
        const MatrixXd Y = at.gains[i] * factor.leftCols(factor.cols() - 1);
        const std::vector<int>& touch = rows_.touch[static_cast<size_t>(i)];
        const VectorXd fitted = Y * VectorXd(at.beta(touch));
        VectorXd column = -(Y * VectorXd(others(touch)));
        if (i == j) column += fitted;
        score += column.dot(factor.rightCols(1).col(0) - fitted);
      }
      sum += score * score;
      count += 1.0;
    }
    if (count < 2.0) return INFINITY;
    return std::sqrt(sum * count / (count - 1.0)) / own.squares;
  }

 private:
  static constexpr double kNothingOwn = 1e-9;  // of a joint's torque: rounding
  static constexpr double kSilent = 1e-7;      // singular values below are no knowledge

  MatrixXd weighted(const StackedBlock& block, int j) const {
    return blocks_.weights(block.recording, j) * block.factor[static_cast<size_t>(j)];
  }

  VectorXd torqueSizes() const {
    const VectorXd squares = squaredTorques(rows_);
    VectorXd sizes = VectorXd::Constant(rows_.coordinates(), INFINITY);
    for (int j = 0; j < rows_.coordinates(); ++j) {
      if (counts(j)) sizes[j] = std::sqrt(squares[j] / static_cast<double>(rows_.rows(j)));
    }
    return sizes;
  }

  StackedProblem scaledBy(const VectorXd& gains) const {
    StackedProblem scaled = rows_;
    for (int j = 0; j < rows_.coordinates(); ++j) {
      MatrixXd& factor = scaled.blocks[0].factor[static_cast<size_t>(j)];
      factor.leftCols(factor.cols() - 1) *= gains[j];
    }
    return scaled;
  }

  /// beta and its triangular factor at the present gains and noise; the noise that remains. Columns
  /// are scaled to length one; a pull to zero of kSilent makes the factor regular where the motion
  /// is silent.
  VectorXd solve(GainFit* now) const {
    const StackedProblem scaled = scaledBy(now->gains);
    const TriangularSystem system = weightedSystem(scaled, now->sigma);
    const Index n = system.A.cols();
    now->scale = system.A.colwise().norm().transpose().cwiseMax(1e-300).cwiseInverse();
    MatrixXd A(2 * n, n);
    A << system.A * now->scale.asDiagonal(), kSilent * MatrixXd::Identity(n, n);
    VectorXd b = VectorXd::Zero(2 * n);
    b.head(n) = system.b;
    const MatrixXd factor = triangularFactor(A, b);
    now->R = factor.topLeftCorner(n, n);
    now->beta = now->scale.cwiseProduct(solveUpper(now->R, factor.col(n).head(n)).col(0));
    return noiseOf(squaredResiduals(scaled, now->beta), now);
  }

  /// What a change of the gain of coordinate j does to its torque, c = h_j Y_j beta / sigma_j, and
  /// how much of it no beta does.
  struct OwnPart {
    double all = 0.0, squares = 0.0;  // |c|^2, |c|^2 - |projected|^2
    VectorXd projected;               // Q^T c, with the fit's rows = Q R
    double slope = 0.0;               // c . residual
  };

  OwnPart ownPart(const GainFit& at, int j) const {
    const auto k = static_cast<size_t>(j);
    const MatrixXd factor = rows_.blocks[0].factor[k] / at.sigma[j];
    const MatrixXd Y = at.gains[j] * factor.leftCols(factor.cols() - 1);
    const VectorXd c = Y * VectorXd(at.beta(rows_.touch[k]));
    VectorXd u = VectorXd::Zero(at.beta.size());
    u(rows_.touch[k]) = Y.transpose() * c;
    OwnPart own;
    own.projected = solveUpperTransposed(at.R, at.scale.cwiseProduct(u)).col(0);
    own.all = c.squaredNorm();
    own.squares = std::max(own.all - own.projected.squaredNorm(), 0.0);
    own.slope = c.dot(factor.rightCols(1).col(0) - c);
    return own;
  }

  /// Gauss-Newton steps of the free gains, relative; zero where nothing decides them.
  VectorXd gainSteps(const GainFit& at) const {
    const auto n = static_cast<Index>(at.free.size());
    std::vector<OwnPart> own;
    for (const int j : at.free) own.push_back(ownPart(at, j));
    MatrixXd gram(n, n);
    VectorXd slopes(n);
    for (Index g = 0; g < n; ++g) {
      const OwnPart& one = own[static_cast<size_t>(g)];
      for (Index k = 0; k < n; ++k)
        gram(g, k) = -one.projected.dot(own[static_cast<size_t>(k)].projected);
      gram(g, g) = std::max(one.squares, kNothingOwn * one.all) + 1e-300;
      slopes[g] = one.squares > kNothingOwn * one.all ? one.slope : 0.0;
    }
    if (n == 0) return VectorXd();
    return solveSymmetric(gram, slopes).col(0);
  }

  VectorXd noiseOf(const VectorXd& squares, GainFit* now) const {
    VectorXd noise = now->sigma;
    now->likelihood = 0.0;
    const VectorXd torques = squaredTorques(rows_);
    for (int j = 0; j < rows_.coordinates(); ++j) {
      if (!counts(j)) continue;
      const double rows = free_rows_[static_cast<size_t>(j)];
      // rounding is the least noise there can be
      noise[j] = std::sqrt(std::max(squares[j], 1e-20 * torques[j]) / rows);
      now->likelihood -= rows * std::log(noise[j]);
    }
    return noise;
  }

  const StackedProblem& blocks_;
  StackedProblem rows_;            // all blocks in one, weighted
  std::vector<double> free_rows_;  // per coordinate, besides those that the parameters explain
};

/// How far a factor is from one, at least 1.
double farOff(double gain) { return std::max(gain, 1.0 / gain); }

/// The largest of the joints' errors in `before` over that in `after`.
double betterBy(const GainSearch& search, const GainFit& before, const GainFit& after) {
  double most = 1.0;
  for (int j = 0; j < static_cast<int>(before.sigma.size()); ++j) {
    if (search.counts(j)) most = std::max(most, before.sigma[j] / after.sigma[j]);
  }
  return most;
}

/// Coordinates whose gains explain most, by their first steps.
std::vector<int> worthAFit(const GainSearch& search, const GainFit& base) {
  std::vector<std::pair<double, int>> found;
  for (int j = 0; j < static_cast<int>(base.gains.size()); ++j) {
    const bool taken = std::find(base.free.begin(), base.free.end(), j) != base.free.end();
    if (!search.counts(j) || taken) continue;
    const auto [step, explained] = search.firstStep(base, j);
    if (farOff(1.0 + std::max(step, -0.9)) > kWorthAFit) found.emplace_back(-explained, j);
  }
  std::sort(found.begin(), found.end());
  found.resize(std::min(found.size(), kMostCandidates));
  std::vector<int> coordinates;
  for (const auto& [explained, j] : found) coordinates.push_back(j);
  return coordinates;
}

/// The coordinate whose gain alone explains most, if that is worth telling.
bool addNext(const GainSearch& search, GainFit* base, std::vector<JointGain>* wrong) {
  struct Candidate {
    JointGain gain;
    GainFit fit;
  };
  std::vector<Candidate> candidates;
  for (const int j : worthAFit(search, *base)) {
    std::vector<int> free = base->free;
    free.push_back(j);
    GainFit fit = search.fit(free, base);
    JointGain gain{j, fit.gains[j], search.deviation(fit, j), betterBy(search, *base, fit), {}};
    if (fit.likelihood > base->likelihood) candidates.push_back({gain, std::move(fit)});
  }
  const auto gained = [&](const Candidate& one) { return one.fit.likelihood - base->likelihood; };
  const Candidate* best = nullptr;
  double most = 0.0;
  for (const Candidate& one : candidates) {
    most = std::max(most, gained(one));
    const bool told = one.gain.deviation < kTellsGain;
    if (told && (best == nullptr || gained(one) > gained(*best))) best = &one;
  }
  if (best == nullptr || gained(*best) < kAsLikely * most) return false;
  JointGain found = best->gain;
  if (farOff(found.gain) < kOtherGain || found.better < kBetterBy ||
      std::log(farOff(found.gain)) < kManyDeviations * found.deviation)
    return false;
  for (const Candidate& other : candidates) {
    if (other.gain.coordinate != found.coordinate && farOff(other.gain.gain) > kOtherGain &&
        gained(other) > kAsLikely * gained(*best))
      found.rivals.emplace_back(other.gain.coordinate, other.gain.gain);
  }
  *base = best->fit;
  wrong->push_back(std::move(found));
  return true;
}

}  // namespace

JointGains findWrongGains(const IdentificationProblem& problem) {
  JointGains found;
  // what sensors measure was taken out of the torques
  if (hasSensedWrenches(problem.tree->model())) return found;
  const GainSearch search(problem);
  size_t measured = 0;
  for (int j = 0; j < problem.stacked.coordinates(); ++j) measured += search.counts(j);
  if (measured == 0) return found;
  GainFit base = search.fit({}, nullptr);
  // of more than half of the joints nobody knows who is right
  while (2 * (found.wrong.size() + 1) <= measured && addNext(search, &base, &found.wrong)) {
  }
  for (int j = 0; j < problem.stacked.coordinates(); ++j) {
    if (search.counts(j) && !(search.deviation(base, j) < kTellsGain)) found.untold.push_back(j);
  }
  return found;
}

bool contradicts(const JointGain& found) {
  return farOff(found.gain) > kNonsenseGain && found.better > kMuchBetterBy;
}

std::string gainText(const IdentificationProblem& problem, const JointGain& found) {
  const std::vector<std::string> names = coordinateNames(*problem.tree);
  std::string rivals;
  for (const auto& [coordinate, gain] : found.rivals)
    rivals +=
        fmt::format(", or that of '{}' {:.2g} times", names[static_cast<size_t>(coordinate)], gain);
  return fmt::format(
      "the torque of joint '{}' is {:.3g} ± {:.2g} times what the other joints imply{}: check its "
      "gear ratio, drive gain and unit",
      names[static_cast<size_t>(found.coordinate)], found.gain, found.gain * found.deviation,
      rivals);
}

}  // namespace proprio
