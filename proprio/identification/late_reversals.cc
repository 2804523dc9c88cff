#include "proprio/identification/late_reversals.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "proprio/identification/diagnosis.h"
#include "proprio/identification/stacked_problem.h"
#include "proprio/numerics/dense.h"

namespace proprio {
namespace {

using Eigen::Index;

constexpr Index kMostReversalRows = 4000;  // of a fit; longer recordings are thinned
constexpr double kReversalRank = 1e-8;     // pivots of the regressor below this are zero
constexpr double kSureDeviations = 4.0;    // of c: a false alarm in 1000 with kStretches
constexpr Index kStretches = 30;           // of time, whose sums of residuals are independent
constexpr double kOwnShare = 0.05;         // of l that nothing else explains, at least
constexpr double kMostShare = 3.0;         // beyond, pulses are no longer short
constexpr double kToldTravel = 2e-5;       // rad, m; a smooth sign of a simulator has less

/// The rows of one coordinate.
struct ReversalRows {
  Eigen::MatrixXd W;      ///< all but dry friction, and a constant
  Eigen::MatrixXd pulse;  ///< s, l
  Eigen::VectorXd tau;
};

bool isDryFriction(const Tree& tree, const ParameterInfo& info, int coordinate) {
  if (info.kind != ParameterKind::kFriction || tree.velocityIndex(info.joint) != coordinate)
    return false;
  const Joint& joint = tree.model().joints[static_cast<size_t>(info.joint)];
  const FrictionTermKind kind = joint.friction.terms[static_cast<size_t>(info.component)].kind;
  return kind == FrictionTermKind::kCoulomb || kind == FrictionTermKind::kCoulombPositive ||
         kind == FrictionTermKind::kCoulombNegative;
}

/// Coordinates whose friction is a plain jump.
std::vector<int> coordinatesThatJump(const Tree& tree, const ParameterLayout& layout) {
  std::vector<int> found;
  for (int i = 0; i < tree.velocityCount(); ++i) {
    for (int p = layout.inertialSize(); p < layout.size(); ++p) {
      if (!isDryFriction(tree, layout[p], i)) continue;
      const Joint& joint = tree.model().joints[static_cast<size_t>(layout[p].joint)];
      if (joint.mimic || joint.friction.smooth_sign != SmoothSign::kSign) continue;
      found.push_back(i);
      break;
    }
  }
  return found;
}

/// Per coordinate of `coordinates`, thinned to kMostReversalRows.
std::vector<ReversalRows> gatherRows(const Tree& tree, const ParameterLayout& layout,
                                     const std::vector<int>& coordinates,
                                     const std::vector<MotionData>& data) {
  Index samples = 0;
  for (const MotionData& motion : data) samples += motion.late.cols() > 0 ? motion.samples() : 0;
  const Index step = std::max<Index>(1, samples / kMostReversalRows);
  std::vector<int> all(static_cast<size_t>(layout.size()));
  std::iota(all.begin(), all.end(), 0);
  const std::vector<std::vector<int>> touched = touchedColumns(tree, layout, all);
  std::vector<ReversalRows> rows(coordinates.size());
  std::vector<std::vector<int>> columns(coordinates.size());
  std::vector<Index> filled(coordinates.size(), 0);
  for (size_t c = 0; c < coordinates.size(); ++c) {
    const int i = coordinates[c];
    for (const int p : touched[static_cast<size_t>(i)]) {
      if (!isDryFriction(tree, layout[p], i)) columns[c].push_back(p);
    }
    const Index most = samples / step + static_cast<Index>(data.size());
    rows[c].W.setOnes(most, static_cast<Index>(columns[c].size()) + 1);
    rows[c].pulse.resize(most, 2);
    rows[c].tau.resize(most);
  }
  Workspace workspace(tree);
  RegressorBatch batch(tree, RegressorBatch::recommendedSamples(tree), layout.size());
  for (const MotionData& whole : data) {
    if (whole.late.cols() == 0) continue;
    const MotionData motion = everyNth(whole, step);
    forEachBatch(tree, layout, motion, 0, motion.samples(), workspace, batch,
                 [&](Index start, Index count, RegressorBatch& now) {
                   for (size_t c = 0; c < coordinates.size(); ++c) {
                     const int i = coordinates[c];
                     const auto Y = now.rows(i, count);
                     for (Index k = 0; k < count; ++k) {
                       if (!motion.use(start + k, i) && !motion.mixed(start + k, i)) continue;
                       const Index r = filled[c]++;
                       for (size_t p = 0; p < columns[c].size(); ++p)
                         rows[c].W(r, static_cast<Index>(p)) = Y(k, columns[c][p]);
                       rows[c].pulse.row(r) << motion.sign(start + k, i), motion.late(start + k, i);
                       rows[c].tau[r] = motion.tau(start + k, i);
                     }
                   }
                 });
  }
  for (size_t c = 0; c < coordinates.size(); ++c) {
    rows[c].W.conservativeResize(filled[c], Eigen::NoChange);
    rows[c].pulse.conservativeResize(filled[c], Eigen::NoChange);
    rows[c].tau.conservativeResize(filled[c]);
  }
  return rows;
}

/// c / F_c, or zero where it is not sure.
double lateShare(const ReversalRows& rows) {
  const Index n = rows.tau.size();
  if (n < rows.W.cols() + 2 * kStretches) return 0.0;
  const Eigen::MatrixXd Q = rangeBasis(rows.W, kReversalRank);
  const auto without = [&](const Eigen::MatrixXd& x) -> Eigen::MatrixXd {
    return x - Q * (Q.transpose() * x);
  };
  const Eigen::MatrixXd own = without(rows.pulse);
  const Eigen::VectorXd tau = without(rows.tau);
  const Eigen::VectorXd s = own.col(0);
  if (!(s.squaredNorm() > 0.0)) return 0.0;
  const Eigen::VectorXd l = own.col(1) - s * (s.dot(own.col(1)) / s.squaredNorm());
  if (l.squaredNorm() <= kOwnShare * rows.pulse.col(1).squaredNorm()) return 0.0;
  const double c = l.dot(tau) / l.squaredNorm();
  const double friction = s.dot(tau - c * own.col(1)) / s.squaredNorm();
  if (!(c > 0.0) || !(friction > 0.0)) return 0.0;
  const Eigen::VectorXd score =
      l.cwiseProduct(tau - c * own.col(1) - friction * s) / l.squaredNorm();
  double variance = 0.0;
  for (Index b = 0; b < kStretches; ++b) {
    const Index from = b * n / kStretches, to = (b + 1) * n / kStretches;
    variance += std::pow(score.segment(from, to - from).sum(), 2.0);
  }
  return c > kSureDeviations * std::sqrt(variance) ? std::min(c / friction, kMostShare) : 0.0;
}

}  // namespace

std::vector<LateReversal> findLateReversals(const Tree& tree, const std::vector<MotionData>& data) {
  const ParameterLayout layout(tree.sharedModel());
  const std::vector<int> coordinates = coordinatesThatJump(tree, layout);
  const std::vector<ReversalRows> rows = gatherRows(tree, layout, coordinates, data);
  std::vector<LateReversal> found;
  for (size_t c = 0; c < coordinates.size(); ++c) {
    const double share = lateShare(rows[c]);
    if (share > 0.0) found.push_back({coordinates[c], share, share * share * kPresliding});
  }
  return found;
}

void turnLate(const std::vector<LateReversal>& found, std::vector<MotionData>* data) {
  for (MotionData& motion : *data) {
    if (motion.late.cols() == 0) continue;
    motion.late_shares = Eigen::VectorXd::Zero(motion.sign.cols());
    for (const LateReversal& one : found) {
      motion.sign.col(one.coordinate) += one.share * motion.late.col(one.coordinate);
      motion.late_shares[one.coordinate] = one.share;
    }
    motion.late.resize(0, 0);
    motion.mixed.resize(0, 0);
  }
}

std::string lateReversalText(const Tree& tree, const std::vector<LateReversal>& found) {
  if (found.empty()) return "";
  const std::vector<std::string> names = coordinateNames(tree);
  std::vector<std::string> joints;
  for (const LateReversal& one : found) {
    if (one.travel < kToldTravel) continue;
    joints.push_back(
        fmt::format("{} {:.2g}", names[static_cast<size_t>(one.coordinate)], 1e3 * one.travel));
  }
  if (joints.empty()) return "";
  return fmt::format(
      "Dry friction turns later than the joint does, after so many thousandths of rad or m of "
      "travel: {}; the rows beside reversals allow for it.",
      fmt::join(joints, ", "));
}

}  // namespace proprio
