#include "proprio/motion/static_postures.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <optional>

#include "proprio/dynamics/augmented_regressor.h"
#include "proprio/motion/uniform_internal.h"
#include "proprio/numerics/streaming_qr.h"

namespace proprio {
namespace {

// Prior information, relative to what the candidates tell on average: breaks ties while the set is
// still too small to determine everything.
constexpr double kPrior = 1e-6;
constexpr double kExchangeGain = 1e-9;
constexpr int kSweeps = 20;
// A random posture that breaks a limit is taken nearer to one that does not so often.
constexpr int kNearer = 5;

/// Static rows of every candidate, only the chosen columns, scaled to columns of size one.
struct Candidates {
  std::vector<Eigen::MatrixXd> rows;
  std::vector<int> columns;
};

Eigen::MatrixXd staticRows(const Tree& tree, const ParameterLayout& layout, Workspace& workspace,
                           const Eigen::VectorXd& q, const Eigen::VectorXd& row_scale) {
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(tree.velocityCount());
  Eigen::MatrixXd Y(tree.velocityCount(), layout.size());
  augmentedRegressor(tree, layout, workspace, q, zero, zero, Y);
  if (row_scale.size() > 0) Y = row_scale.asDiagonal() * Y;
  return Y;
}

Candidates candidateRows(const std::shared_ptr<const Tree>& tree,
                         const std::shared_ptr<const ParameterLayout>& layout,
                         const Eigen::MatrixXd& postures, const Eigen::VectorXd& row_scale) {
  Workspace workspace(*tree);
  std::vector<Eigen::MatrixXd> full;
  StreamingQr qr(layout->size());
  for (Eigen::Index k = 0; k < postures.rows(); ++k) {
    full.push_back(staticRows(*tree, *layout, workspace, postures.row(k).transpose(), row_scale));
    qr.add(full.back());
  }
  const double size = qr.factor().norm();
  if (!(size > 0.0)) throw Error("static postures: gravity acts on no joint of these candidates");
  ReductionOptions reduction;
  reduction.preference = defaultPreference(*tree, *layout);
  const BaseParameters base =
      reduceRows(layout, qr.factor(), Eigen::VectorXd::Constant(layout->size(), size), reduction);
  Candidates c;
  c.columns = base.independent;
  for (const Eigen::MatrixXd& Y : full) {
    Eigen::MatrixXd rows(Y.rows(), base.count());
    for (int i = 0; i < base.count(); ++i) {
      rows.col(i) = Y.col(base.independent[static_cast<size_t>(i)]);
    }
    c.rows.push_back(std::move(rows));
  }
  return c;
}

/// log det(I + sign Y G^-1 Y^T): what adding (+1) or removing (-1) a posture changes.
double change(const Eigen::MatrixXd& inverse, const Eigen::MatrixXd& Y, double sign) {
  Eigen::MatrixXd A = sign * Y * inverse * Y.transpose();
  A.diagonal().array() += 1.0;
  const Eigen::LDLT<Eigen::MatrixXd> ldlt(A);
  return ldlt.vectorD().array().max(1e-300).log().sum();
}

Eigen::MatrixXd inverseGram(const Eigen::MatrixXd& G) {
  return Eigen::LLT<Eigen::MatrixXd>(G).solve(Eigen::MatrixXd::Identity(G.rows(), G.cols()));
}

}  // namespace

Eigen::MatrixXd candidatePostures(const MotionConstraints& constraints, int count, uint64_t seed,
                                  int tries) {
  if (tries <= 0) tries = 50 * count;
  Uniform random(seed);
  const MotionLimits& limits = constraints.limits();
  const Eigen::Index n = limits.size();
  const Eigen::MatrixXd still = Eigen::MatrixXd::Zero(1, n);
  const auto kept = [&](const Eigen::RowVectorXd& q) {
    const Eigen::MatrixXd usage = constraints.usage(q, still, still);
    for (Eigen::Index c = 0; c < usage.cols(); ++c) {
      if (!(constraints.list()[static_cast<size_t>(c)].measure(usage(0, c)) <= 1.0)) return false;
    }
    return true;
  };
  // many joints at random nearly always collide; nearer to a posture that does not, fewer do
  std::optional<Eigen::RowVectorXd> anchor;
  const Eigen::RowVectorXd held = constraints.heldPositions().transpose();
  if (kept(held)) anchor = held;
  std::vector<Eigen::RowVectorXd> found;
  Eigen::RowVectorXd q(n);
  for (int t = 0; t < tries && static_cast<int>(found.size()) < count; ++t) {
    for (Eigen::Index j = 0; j < n; ++j) {
      const bool stated = std::isfinite(limits.lower[j]) && std::isfinite(limits.upper[j]);
      q[j] = stated ? random(limits.lower[j], limits.upper[j]) : random(-M_PI, M_PI);
    }
    bool good = kept(q);
    for (int k = 0; k < kNearer && anchor && !good; ++k) {
      q = *anchor + 0.7 * (q - *anchor);
      good = kept(q);
    }
    if (!good) continue;
    if (!anchor) anchor = q;
    found.push_back(constraints.fullPositions(q).row(0));
  }
  Eigen::MatrixXd postures(static_cast<Eigen::Index>(found.size()),
                           constraints.fullPositions(q).cols());
  for (size_t k = 0; k < found.size(); ++k) postures.row(static_cast<Eigen::Index>(k)) = found[k];
  return postures;
}

StaticPostures chooseStaticPostures(const std::shared_ptr<const Tree>& tree,
                                    const std::shared_ptr<const ParameterLayout>& layout,
                                    const Eigen::MatrixXd& candidates, int count,
                                    const Eigen::VectorXd& row_scale) {
  if (count < 1 || candidates.rows() < count) {
    throw Error(fmt::format("static postures: {} wanted of {} candidates; give more candidates",
                            count, candidates.rows()));
  }
  requireSize("chooseStaticPostures", "columns of candidates", candidates.cols(),
              tree->positionCount());
  const Candidates c = candidateRows(tree, layout, candidates, row_scale);
  const auto n = static_cast<Eigen::Index>(c.columns.size());
  const size_t total = c.rows.size();
  double mean = 0.0;
  for (const Eigen::MatrixXd& Y : c.rows) mean += Y.squaredNorm();
  mean /= static_cast<double>(total) * static_cast<double>(n);
  Eigen::MatrixXd G = kPrior * mean * Eigen::MatrixXd::Identity(n, n);
  std::vector<bool> used(total, false);
  StaticPostures result;
  // the candidate that adds most
  const auto bestAddition = [&](const Eigen::MatrixXd& inverse) {
    int best = -1;
    double largest = -1.0;
    for (size_t k = 0; k < total; ++k) {
      if (used[k]) continue;
      const double gain = change(inverse, c.rows[k], 1.0);
      if (gain <= largest) continue;
      largest = gain;
      best = static_cast<int>(k);
    }
    return std::pair(best, largest);
  };
  const auto add = [&](int k, double sign) {
    const Eigen::MatrixXd& Y = c.rows[static_cast<size_t>(k)];
    G.noalias() += sign * Y.transpose() * Y;
    used[static_cast<size_t>(k)] = sign > 0.0;
  };
  for (int m = 0; m < count; ++m) {
    const int k = bestAddition(inverseGram(G)).first;
    add(k, 1.0);
    result.chosen.push_back(k);
  }
  // exchanges: take one out, put the best one in
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    bool changed = false;
    for (int& k : result.chosen) {
      add(k, -1.0);
      const Eigen::MatrixXd inverse = inverseGram(G);
      const double own = change(inverse, c.rows[static_cast<size_t>(k)], 1.0);
      const auto [other, gain] = bestAddition(inverse);
      if (gain > own + kExchangeGain) {
        k = other;
        changed = true;
      }
      add(k, 1.0);
    }
    if (!changed) break;
  }
  std::sort(result.chosen.begin(), result.chosen.end());
  result.columns = c.columns;
  result.q.resize(count, candidates.cols());
  for (int m = 0; m < count; ++m) {
    result.q.row(m) = candidates.row(result.chosen[static_cast<size_t>(m)]);
  }
  CriterionOptions options;
  options.criterion = Criterion::kD;
  options.columns = c.columns;
  options.row_scale = row_scale;
  ExcitationCriterion criterion(tree, layout, options);
  const Eigen::MatrixXd still = Eigen::MatrixXd::Zero(count, tree->velocityCount());
  result.criterion = criterion.value(result.q, still, still);
  const Eigen::VectorXd& s = criterion.singularValues();
  result.condition = s[n - 1] > 0.0 ? s[0] / s[n - 1] : std::numeric_limits<double>::infinity();
  return result;
}

}  // namespace proprio
