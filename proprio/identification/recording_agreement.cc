#include "proprio/identification/recording_agreement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "proprio/core/text.h"
#include "proprio/identification/diagnosis.h"
#include "proprio/identification/least_squares.h"
#include "proprio/identification/robust_covariance.h"
#include "proprio/numerics/distributions.h"

namespace proprio {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kChance = 1e-3;       // probability below which equal parameters are not believed
constexpr double kClearFactor = 2.0;   // error together over apart
constexpr double kNotablePart = 10.0;  // percent of the torque
constexpr double kRowsBesides = 60.0;  // those that the parameters explain
constexpr double kRounding = 1e-9;     // of the torques: less is no noise
constexpr double kMostOfIt = 0.5;      // share of a difference that is worth a name

/// The rows of one source.
IdentificationProblem sourceAlone(const IdentificationProblem& problem, int source) {
  IdentificationProblem alone = problem;
  for (MotionData& data : alone.data) {
    if (data.source != source) data.use.setConstant(false);
  }
  std::erase_if(alone.stacked.blocks, [&](const StackedBlock& block) {
    return problem.data[static_cast<size_t>(block.recording)].source != source;
  });
  return alone;
}

/// Squares that the best x leaves, and how many of its directions the rows decide.
struct Remainder {
  VectorXd x;
  double squares = 0.0;
  Index rank = 0;
};

Remainder remainderOf(const MatrixXd& A, const VectorXd& b, double rest) {
  const RankedSolution fit = solveRanked(A, b, VectorXd::Zero(A.cols()));
  return {fit.x, rest * rest + (A * fit.x - b).squaredNorm(), A.cols() - fit.silent.cols()};
}

class AgreementTest {
 public:
  explicit AgreementTest(const IdentificationProblem& problem)
      : problem_(problem), scaled_(problem.stacked) {
    found_.together = found_.apart = torques_ = VectorXd::Zero(scaled_.coordinates());
  }

  RecordingAgreement run() {
    std::vector<int> sources;
    for (const MotionData& data : problem_.data) sources.push_back(data.source);
    std::sort(sources.begin(), sources.end());
    sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
    if (sources.size() < 2) return found_;
    for (const int source : sources) scaleSource(source);
    for (const int source : sources) addSystem(source);
    compare();
    if (!found_.agree()) nameDifference();
    return found_;
  }

 private:
  /// Rows of a source in units of the noise that its own fit leaves, with their memory.
  void scaleSource(int source) {
    const IdentificationProblem alone = sourceAlone(problem_, source);
    if (alone.stacked.rows() == 0) return;
    const Estimate own = weightedLeastSquares(alone, {});
    const VectorXd noise = jointNoise(alone.stacked, own.beta);
    const VectorXd memory = correctedCovariance(alone, own).inflation;
    const VectorXd torques = squaredTorques(alone.stacked);
    torques_ += torques;
    for (int j = 0; j < scaled_.coordinates(); ++j) {
      const auto rows = static_cast<double>(alone.stacked.rows(j));
      const auto touched = static_cast<double>(scaled_.touch[static_cast<size_t>(j)].size());
      const bool enough = rows > touched + kRowsBesides && std::isfinite(noise[j]);
      const double least = kRounding * std::sqrt(torques[j] / std::max(rows, 1.0));
      const double deviation = std::max({enough ? noise[j] : 0.0, least, 1e-300});
      const double inflation = std::max(memory[j], 1.0);
      if (enough) {
        found_.apart[j] += rows * deviation * deviation;
        facts_ += rows / inflation;
      }
      for (size_t r = 0; r < problem_.data.size(); ++r) {
        if (problem_.data[r].source != source) continue;
        scaled_.weights(static_cast<Index>(r), j) =
            enough ? 1.0 / (deviation * std::sqrt(inflation)) : 0.0;
      }
    }
  }

  std::vector<int> blocksBesides(int source) const {
    std::vector<int> omit;
    for (size_t k = 0; k < scaled_.blocks.size(); ++k) {
      if (problem_.data[static_cast<size_t>(scaled_.blocks[k].recording)].source != source)
        omit.push_back(static_cast<int>(k));
    }
    return omit;
  }

  void addSystem(int source) {
    const std::vector<int> omit = blocksBesides(source);
    if (omit.size() == scaled_.blocks.size()) return;
    const TriangularSystem system =
        weightedSystem(scaled_, VectorXd::Ones(scaled_.coordinates()), omit);
    const Remainder own = remainderOf(system.A, system.b, system.rest);
    apart_ += own.squares;
    ranks_ += own.rank;
    systems_.push_back(system);
  }

  /// Squares that remain if every source but the first has its own values of these parameters.
  Remainder withOwn(const std::vector<int>& parameters) const {
    const Index n = scaled_.unknowns(), extra = static_cast<Index>(parameters.size());
    const auto count = static_cast<Index>(systems_.size());
    const MatrixXd change = baseMatrix(problem_.base)(Eigen::all, parameters);
    MatrixXd A = MatrixXd::Zero(count * n, n + (count - 1) * extra);
    VectorXd b(count * n);
    double rest = 0.0;
    for (Index s = 0; s < count; ++s) {
      const TriangularSystem& system = systems_[static_cast<size_t>(s)];
      A.block(s * n, 0, n, n) = system.A;
      if (s > 0) A.block(s * n, n + (s - 1) * extra, n, extra) = system.A * change;
      b.segment(s * n, n) = system.b;
      rest += system.rest * system.rest;
    }
    return remainderOf(A, b, std::sqrt(rest));
  }

  void compare() {
    if (systems_.size() < 2) return;
    const Remainder all = withOwn({});
    difference_ = all.squares - apart_;
    together_ = all.squares;
    const double more = static_cast<double>(ranks_ - all.rank);
    const double left = facts_ - static_cast<double>(ranks_);
    if (!(more >= 1.0) || !(left >= 1.0)) return;
    found_.p_value = fisherTail(std::max(difference_, 0.0) / more, more, left);
    const VectorXd squares = squaredResiduals(problem_.stacked, all.x);
    double worst = 0.0;
    for (int j = 0; j < scaled_.coordinates(); ++j) {
      const double rows = std::max(static_cast<double>(scaled_.rows(j)), 1.0);
      found_.together[j] = std::sqrt(squares[j] / rows);
      found_.apart[j] = std::sqrt(found_.apart[j] / rows);
      if (!(found_.apart[j] > 0.0) || !(torques_[j] > 0.0)) continue;
      const double percent = 100.0 * std::sqrt(squares[j] / torques_[j]);
      const bool clear =
          found_.together[j] > kClearFactor * found_.apart[j] && percent > kNotablePart;
      if (!clear || found_.p_value > kChance || percent <= worst) continue;
      worst = found_.percent = percent;
      found_.own_percent = percent * found_.apart[j] / found_.together[j];
      found_.coordinate = j;
    }
  }

  void nameDifference() {
    const ParameterLayout& layout = *problem_.layout;
    const MatrixXd base = baseMatrix(problem_.base);
    const auto tryGroup = [&](int first, int count, int link) {
      std::vector<int> parameters;
      for (int k = first; k < first + count; ++k) {
        if (base.col(k).any()) parameters.push_back(k);  // else no torque depends on it
      }
      if (parameters.empty()) return;
      const double share = (together_ - withOwn(parameters).squares) / difference_;
      if (share <= found_.share) return;
      found_.share = share;
      found_.link = link;
    };
    tryGroup(layout.inertialSize(), layout.size() - layout.inertialSize(), -1);
    const std::vector<TreeBody>& bodies = problem_.tree->bodies();
    for (const TreeBody& body : bodies) {
      if (body.link >= 0) tryGroup(layout.linkOffset(body.link), 10, body.link);
    }
  }

  const IdentificationProblem& problem_;
  StackedProblem scaled_;
  std::vector<TriangularSystem> systems_;  // per source with rows
  RecordingAgreement found_;
  VectorXd torques_;                                        // squares
  double facts_ = 0.0;                                      // rows that tell something new
  double apart_ = 0.0, together_ = 0.0, difference_ = 0.0;  // squares
  Index ranks_ = 0;
};

}  // namespace

bool RecordingAgreement::contradict() const {
  return !agree() && (link >= 0 || share <= kMostOfIt);
}

RecordingAgreement testAgreement(const IdentificationProblem& problem) {
  return AgreementTest(problem).run();
}

std::string agreementText(const IdentificationProblem& problem, const RecordingAgreement& found,
                          const std::vector<std::string>& names) {
  std::vector<std::string> files;
  for (const std::string& name : names)
    files.push_back(std::filesystem::path(name).filename().string());
  std::string what = "no single link explains the difference: was the robot changed in between?";
  if (found.share > kMostOfIt && found.link >= 0) {
    what = fmt::format(
        "{:.0f} % of the difference is the inertia of {}: a payload or a tool that not all of them "
        "have? Identify from recordings with the same load",
        100.0 * found.share,
        inQuotes(problem.tree->model().links[static_cast<size_t>(found.link)].name));
  } else if (found.share > kMostOfIt) {
    what = fmt::format(
        "{:.0f} % of the difference is friction and drives: another temperature, or a brake?",
        100.0 * found.share);
  }
  return fmt::format(
      "the recordings {} contradict each other: one robot for all leaves {:.2g} % of the torque of "
      "{} unexplained, one for each {:.2g} %; {}",
      fmt::join(files, ", "), found.percent,
      inQuotes(coordinateNames(*problem.tree)[static_cast<size_t>(found.coordinate)]),
      found.own_percent, what);
}

}  // namespace proprio
