#include "proprio/identification/maximum_likelihood.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "proprio/dynamics/augmented_regressor.h"
#include "proprio/dynamics/derivatives.h"
#include "proprio/dynamics/joint_effects.h"
#include "proprio/dynamics/mass_matrix.h"
#include "proprio/identification/least_squares.h"
#include "proprio/identification/sensed_wrenches.h"
#include "proprio/numerics/streaming_qr.h"

namespace proprio {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int kIterations = 10;
/// Steps below this part of a standard deviation are none.
constexpr double kTolerance = 1e-3;
/// Torque noise is at least this part of the residuals of least squares.
constexpr double kLeastTorqueNoise = 0.2;
/// Step of the slope of friction, rad/s.
constexpr double kSlopeStep = 1e-4;

bool noiseIsKnown(const IdentificationProblem& problem) {
  return !problem.tree->floating() && !problem.tree->hasMimic() &&
         !hasSensedWrenches(problem.tree->model()) &&
         std::all_of(problem.data.begin(), problem.data.end(), [&](const MotionData& data) {
           return data.noise.rows() == problem.tree->velocityCount() && data.noise.any();
         });
}

/// d tau / d(q, v, a) of one sample, and the noise that the motion's noise makes of it.
class Sensitivity {
 public:
  Sensitivity(const Tree& tree, const Parameters& parameters)
      : tree_(tree),
        parameters_(parameters),
        compiled_(compileParameters(tree, parameters)),
        workspace_(tree),
        Dq(tree.velocityCount(), tree.velocityCount()),
        Dv(Dq),
        Da(Dq),
        covariance(Dq) {}

  void moveTo(const VectorXd& q, const VectorXd& v, const VectorXd& a, const MatrixXd& noise) {
    inverseDynamicsDerivatives(tree_, compiled_, workspace_, q, v, a, Dq, Dv);
    massMatrix(tree_, compiled_, workspace_, q, Da);
    addCouplingInertia(tree_, parameters_, Da);
    Dv.diagonal() +=
        (effects(q, v.array() + kSlopeStep, a) - effects(q, v.array() - kSlopeStep, a)) /
        (2.0 * kSlopeStep);
    q_ = noise.col(0).cwiseAbs2();
    v_ = noise.col(1).cwiseAbs2();
    a_ = noise.col(2).cwiseAbs2();
    // q and a come from one encoder: E[q a] = -E[v^2]
    const MatrixXd mixed = Dq * v_.asDiagonal() * Da.transpose();
    covariance = Dq * q_.asDiagonal() * Dq.transpose() + Dv * v_.asDiagonal() * Dv.transpose() +
                 Da * a_.asDiagonal() * Da.transpose() - mixed - mixed.transpose();
  }

  /// Where the motion most likely was: S D^T lambda.
  void correction(const VectorXd& lambda, VectorXd* dq, VectorXd* dv, VectorXd* da) const {
    const VectorXd by_q = Dq.transpose() * lambda, by_a = Da.transpose() * lambda;
    *dq = q_.cwiseProduct(by_q) - v_.cwiseProduct(by_a);
    *dv = v_.cwiseProduct(Dv.transpose() * lambda);
    *da = a_.cwiseProduct(by_a) - v_.cwiseProduct(by_q);
  }

 private:
  VectorXd effects(const VectorXd& q, const VectorXd& v, const VectorXd& a) const {
    VectorXd tau = VectorXd::Zero(v.size());
    addJointEffects(tree_, parameters_, q, v, a, tau);
    return tau;
  }

  const Tree& tree_;
  const Parameters& parameters_;
  CompiledParameters compiled_;
  Workspace workspace_;
  VectorXd q_, v_, a_;

 public:
  MatrixXd Dq, Dv, Da, covariance;
};

/// One pass over all samples at the parameters beta.
class Pass {
 public:
  Pass(const IdentificationProblem& problem, const VectorXd& beta)
      : problem_(problem),
        tree_(*problem.tree),
        beta_(beta),
        parameters_{problem.layout, {}},
        rows_(problem.stacked.unknowns() + 1),
        here_(tree_.velocityCount(), problem.layout->size()),
        there_(here_),
        workspace_(tree_) {
    const VectorXd chi = standardFromBase(problem, beta);
    parameters_.values.assign(chi.begin(), chi.end());
  }

  /// Mean variance that the motion's noise gives each torque.
  VectorXd meanVariance() {
    VectorXd sum = VectorXd::Zero(tree_.velocityCount()), count = sum;
    forEachSample([&](const MotionData& data, Index k, Index, RegressorBatch&, Index) {
      for (Index j = 0; j < sum.size(); ++j) {
        if (!data.use(k, j)) continue;
        sum[j] += sensitivity_->covariance(j, j);
        count[j] += 1.0;
      }
    });
    return sum.cwiseQuotient(count.cwiseMax(1.0));
  }

  TriangularSystem system(const VectorXd& torque_noise) {
    forEachSample([&](const MotionData& data, Index k, Index at, RegressorBatch& batch,
                      Index count) { addSample(data, k, at, batch, count, torque_noise); });
    const Index n = problem_.stacked.unknowns();
    TriangularSystem system;
    const MatrixXd& R = rows_.factor();
    system.A = R.topLeftCorner(n, n).triangularView<Eigen::Upper>();
    system.b = R.col(n).head(n);
    system.rest = std::abs(R(n, n));
    system.rows = rows_.rows();
    return system;
  }

 private:
  template <class Visit>
  void forEachSample(const Visit& visit) {
    sensitivity_ = std::make_unique<Sensitivity>(tree_, parameters_);
    RegressorBatch batch(tree_, RegressorBatch::recommendedSamples(tree_), problem_.layout->size());
    for (const MotionData& data : problem_.data) {
      forEachBatch(tree_, *problem_.layout, data, 0, data.samples(), workspace_, batch,
                   [&](Index start, Index count, RegressorBatch& rows) {
                     for (Index k = start; k < start + count; ++k) {
                       q_ = data.q.row(k), v_ = data.v.row(k), a_ = data.a.row(k);
                       sensitivity_->moveTo(q_, v_, a_, data.noise);
                       visit(data, k, k - start, rows, count);
                     }
                   });
    }
  }

  void addSample(const MotionData& data, Index k, Index at, RegressorBatch& batch, Index count,
                 const VectorXd& torque_noise) {
    const std::vector<int>& columns = problem_.stacked.columns;
    std::vector<int> used;
    for (int j = 0; j < tree_.velocityCount(); ++j)
      if (data.use(k, j) && std::isfinite(torque_noise[j])) used.push_back(j);
    if (used.empty()) return;
    const auto m = static_cast<Index>(used.size()), n = static_cast<Index>(columns.size());
    MatrixXd Y(m, n);
    VectorXd e(m);
    for (Index i = 0; i < m; ++i) {
      const int j = used[static_cast<size_t>(i)];
      const auto row = batch.rows(j, count).row(at);
      for (Index c = 0; c < n; ++c) Y(i, c) = row[columns[static_cast<size_t>(c)]];
      e[i] = data.tau(k, j);
    }
    e -= Y * beta_;
    MatrixXd C = sensitivity_->covariance(used, used);
    for (Index i = 0; i < m; ++i) {
      const int j = used[static_cast<size_t>(i)];
      C(i, i) += std::pow(torque_noise[j] / data.rowWeight(j), 2);
    }
    const Eigen::LLT<MatrixXd> root(C);
    VectorXd lambda = VectorXd::Zero(tree_.velocityCount()), dq, dv, da;
    lambda(used) = VectorXd(root.solve(e));
    sensitivity_->correction(lambda, &dq, &dv, &da);
    // signs of dry friction stay those of the batch: differences of the rest alone
    augmentedRegressor(tree_, *problem_.layout, workspace_, q_, v_, a_, here_);
    augmentedRegressor(tree_, *problem_.layout, workspace_, q_ + dq, v_ + dv, a_ + da, there_);
    MatrixXd rows(m, n + 1);
    rows.leftCols(n) = Y + there_(used, columns) - here_(used, columns);
    rows.col(n) = e + rows.leftCols(n) * beta_;
    rows_.add(MatrixXd(root.matrixL().solve(rows)));
  }

  const IdentificationProblem& problem_;
  const Tree& tree_;
  const VectorXd& beta_;
  Parameters parameters_;
  StreamingQr rows_;
  MatrixXd here_, there_;
  Workspace workspace_;
  std::unique_ptr<Sensitivity> sensitivity_;
  VectorXd q_, v_, a_;
};

}  // namespace

Estimate maximumLikelihood(const IdentificationProblem& problem, const MethodOptions& options) {
  Estimate estimate = weightedLeastSquares(problem, options);
  if (!noiseIsKnown(problem)) {
    estimate.notes.emplace_back(
        "ml: how much noise the motion has is not known, so this is wls (cut-offs that are chosen "
        "from the recording tell it)");
    return estimate;
  }
  const VectorXd sigma = estimate.sigma;
  VectorXd torque_noise = Pass(problem, estimate.beta).meanVariance();
  for (Index j = 0; j < sigma.size(); ++j) {
    const double variance = sigma[j] * sigma[j];
    torque_noise[j] = std::sqrt(
        std::max(variance - torque_noise[j], kLeastTorqueNoise * kLeastTorqueNoise * variance));
  }
  const double tolerance = options.tolerance > 0.0 ? options.tolerance : kTolerance;
  const int iterations = options.max_iterations > 0 ? options.max_iterations : kIterations;
  for (int i = 1; i <= iterations; ++i) {
    const VectorXd before = estimate.beta;
    estimate = solveSystem(problem, Pass(problem, before).system(torque_noise), options, sigma);
    estimate.iterations = i;
    const VectorXd size = estimate.covariance.diagonal().cwiseMax(1e-300).cwiseSqrt();
    estimate.converged =
        (estimate.beta - before).cwiseQuotient(size).cwiseAbs().maxCoeff() < tolerance;
    if (estimate.converged) break;
  }
  return estimate;
}

}  // namespace proprio
