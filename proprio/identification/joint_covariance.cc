#include "proprio/identification/joint_covariance.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <map>

#include "proprio/core/parallel.h"
#include "proprio/core/text.h"
#include "proprio/numerics/streaming_qr.h"

namespace proprio {
namespace {

/// Fewer samples per joint than this say nothing about correlations.
constexpr Eigen::Index kSamplesPerJoint = 10;

/// What one thread needs to stream regressor rows.
struct RowScratch {
  Workspace workspace;
  RegressorBatch batch;
  RowScratch(const Tree& tree, Eigen::Index columns)
      : workspace(tree), batch(tree, RegressorBatch::recommendedSamples(tree), columns) {}
};

/// Calls visit(block, scratch) for every block of samples, on several threads.
template <class Visit>
void forEachBlock(const IdentificationProblem& problem, const Visit& visit) {
  std::vector<std::unique_ptr<RowScratch>> scratch(static_cast<size_t>(workerCount()));
  parallelChunks(static_cast<std::ptrdiff_t>(problem.stacked.blocks.size()), 1,
                 [&](std::ptrdiff_t k, std::ptrdiff_t, int worker) {
                   auto& mine = scratch[static_cast<size_t>(worker)];
                   if (!mine)
                     mine = std::make_unique<RowScratch>(*problem.tree, problem.layout->size());
                   visit(static_cast<size_t>(k), *mine);
                 });
}

/// The joints whose rows count in a sample, and the inverse Cholesky factor of their covariance.
struct Mixture {
  std::vector<Eigen::Index> joints;
  Eigen::MatrixXd inverse_factor;  // lower triangular
};

class Mixtures {
 public:
  explicit Mixtures(const Eigen::MatrixXd& covariance) : covariance_(covariance) {}

  const Mixture& of(const MotionData& data, Eigen::Index sample) {
    pattern_.resize(static_cast<size_t>(covariance_.rows()));
    for (Eigen::Index j = 0; j < covariance_.rows(); ++j)
      pattern_[static_cast<size_t>(j)] = data.use(sample, j) && std::isfinite(covariance_(j, j));
    const auto found = mixtures_.find(pattern_);
    if (found != mixtures_.end()) return found->second;
    Mixture mixture;
    for (size_t j = 0; j < pattern_.size(); ++j) {
      if (pattern_[j]) mixture.joints.push_back(static_cast<Eigen::Index>(j));
    }
    const auto size = static_cast<Eigen::Index>(mixture.joints.size());
    const Eigen::MatrixXd part = covariance_(mixture.joints, mixture.joints);
    mixture.inverse_factor = part.llt().matrixL().solve(Eigen::MatrixXd::Identity(size, size));
    return mixtures_.emplace(pattern_, std::move(mixture)).first->second;
  }

 private:
  const Eigen::MatrixXd& covariance_;
  std::vector<bool> pattern_;
  std::map<std::vector<bool>, Mixture> mixtures_;
};

/// Mixed rows of one block of samples on their way into one factor.
class MixedFolder {
 public:
  MixedFolder(const IdentificationProblem& problem, const Eigen::MatrixXd& covariance,
              const MotionData& data, const Eigen::ArrayXXd* row_weights)
      : stacked_(problem.stacked),
        data_(data),
        row_weights_(row_weights),
        mixtures_(covariance),
        qr_(problem.stacked.unknowns() + 1) {}

  void add(Eigen::Index start, Eigen::Index count, RegressorBatch& batch) {
    // samples with the same joints are mixed alike, column by column
    std::map<const Mixture*, std::vector<Eigen::Index>> groups;
    for (Eigen::Index i = 0; i < count; ++i) groups[&mixtures_.of(data_, start + i)].push_back(i);
    for (const auto& [mixture, samples] : groups) {
      for (size_t done = 0; done < samples.size();) {
        const size_t now = std::min(samples.size() - done, static_cast<size_t>(qr_.blockRows()));
        for (size_t a = 0; a < mixture->joints.size(); ++a)
          addRows(*mixture, static_cast<Eigen::Index>(a), start, count, batch, &samples[done],
                  static_cast<Eigen::Index>(now));
        done += now;
      }
    }
  }

  const Eigen::MatrixXd& factor() const { return qr_.factor(); }
  Eigen::Index rows() const { return qr_.rows(); }

 private:
  // row a of the mixture for these samples
  void addRows(const Mixture& mixture, Eigen::Index a, Eigen::Index start, Eigen::Index count,
               RegressorBatch& batch, const Eigen::Index* samples, Eigen::Index rows) {
    auto block = qr_.block();
    block.topRows(rows).setZero();
    for (Eigen::Index b = 0; b <= a; ++b) {
      const Eigen::Index j = mixture.joints[static_cast<size_t>(b)];
      const double share = mixture.inverse_factor(a, b) * data_.rowWeight(j);
      const auto Y = batch.rows(j, count);
      for (const int c : stacked_.touch[static_cast<size_t>(j)]) {
        const auto from = Y.col(stacked_.columns[static_cast<size_t>(c)]);
        for (Eigen::Index i = 0; i < rows; ++i) block(i, c) += share * from[samples[i]];
      }
      for (Eigen::Index i = 0; i < rows; ++i)
        block(i, block.cols() - 1) += share * data_.tau(start + samples[i], j);
    }
    if (row_weights_ != nullptr) {
      const Eigen::Index j = mixture.joints[static_cast<size_t>(a)];
      for (Eigen::Index i = 0; i < rows; ++i)
        block.row(i) *= (*row_weights_)(start + samples[i], j);
    }
    qr_.fold(rows);
  }

  const StackedProblem& stacked_;
  const MotionData& data_;
  const Eigen::ArrayXXd* row_weights_;
  Mixtures mixtures_;
  StreamingQr qr_;
};

}  // namespace

std::vector<Eigen::ArrayXXd> torqueResiduals(const IdentificationProblem& problem,
                                             const Eigen::VectorXd& beta) {
  const StackedProblem& stacked = problem.stacked;
  if (beta.size() != stacked.unknowns())
    throw Error(fmt::format("{} base parameters are given for a problem of {}", beta.size(),
                            stacked.unknowns()));
  std::vector<Eigen::ArrayXXd> residuals;
  for (const MotionData& data : problem.data) {
    Eigen::ArrayXXd& weighted = residuals.emplace_back(data.tau.array());
    for (Eigen::Index j = 0; j < weighted.cols(); ++j) weighted.col(j) *= data.rowWeight(j);
  }
  forEachBlock(problem, [&](size_t k, RowScratch& scratch) {
    const StackedBlock& block = stacked.blocks[k];
    const MotionData& data = problem.data[static_cast<size_t>(block.recording)];
    Eigen::ArrayXXd& out = residuals[static_cast<size_t>(block.recording)];
    forEachBatch(*problem.tree, *problem.layout, data, block.start, block.count, scratch.workspace,
                 scratch.batch, [&](Eigen::Index start, Eigen::Index count, RegressorBatch& batch) {
                   for (Eigen::Index j = 0; j < out.cols(); ++j) {
                     auto e = out.col(j).segment(start, count);
                     const auto Y = batch.rows(j, count);
                     for (const int c : stacked.touch[static_cast<size_t>(j)])
                       e -= data.rowWeight(j) * beta[c] *
                            Y.col(stacked.columns[static_cast<size_t>(c)]).array();
                   }
                 });
  });
  for (size_t r = 0; r < residuals.size(); ++r)
    residuals[r] = problem.data[r].use.select(residuals[r], 0.0);
  return residuals;
}

Eigen::MatrixXd jointCovariance(const IdentificationProblem& problem,
                                const std::vector<Eigen::ArrayXXd>& residuals,
                                const Eigen::VectorXd& sigma) {
  const Eigen::Index n = sigma.size();
  std::vector<Eigen::Index> joints;
  for (Eigen::Index j = 0; j < n; ++j) {
    if (std::isfinite(sigma[j])) joints.push_back(j);
  }
  const auto size = static_cast<Eigen::Index>(joints.size());
  Eigen::MatrixXd products = Eigen::MatrixXd::Zero(size, size);
  Eigen::Index samples = 0;
  for (size_t r = 0; r < residuals.size(); ++r) {
    for (Eigen::Index i = 0; i < residuals[r].rows(); ++i) {
      bool all = true;
      for (const Eigen::Index j : joints) all = all && problem.data[r].use(i, j);
      if (!all) continue;
      const Eigen::VectorXd e = residuals[r].row(i)(joints).matrix().transpose();
      products.selfadjointView<Eigen::Lower>().rankUpdate(e);
      ++samples;
    }
  }
  if (samples < kSamplesPerJoint * size)
    throw Error(
        fmt::format("only {} samples have torques of all {} joints that count; correlations "
                    "between joints need {}: record more or leave the full covariance out",
                    samples, size, kSamplesPerJoint * size));
  Eigen::MatrixXd covariance = Eigen::MatrixXd::Zero(n, n);
  covariance.diagonal() = sigma.cwiseAbs2();
  for (Eigen::Index a = 0; a < size; ++a) {
    for (Eigen::Index b = 0; b < a; ++b) {
      const double norm = std::sqrt(products(a, a) * products(b, b));
      const Eigen::Index i = joints[static_cast<size_t>(a)], j = joints[static_cast<size_t>(b)];
      const double correlation = norm > 0.0 ? products(a, b) / norm : 0.0;
      covariance(i, j) = covariance(j, i) = correlation * sigma[i] * sigma[j];
    }
  }
  return covariance;
}

std::vector<Eigen::ArrayXXd> whitenedResiduals(const IdentificationProblem& problem,
                                               const std::vector<Eigen::ArrayXXd>& residuals,
                                               const Eigen::MatrixXd& covariance) {
  Mixtures mixtures(covariance);
  std::vector<Eigen::ArrayXXd> whitened;
  for (size_t r = 0; r < residuals.size(); ++r) {
    Eigen::ArrayXXd& out =
        whitened.emplace_back(Eigen::ArrayXXd::Zero(residuals[r].rows(), residuals[r].cols()));
    for (Eigen::Index i = 0; i < out.rows(); ++i) {
      const Mixture& mixture = mixtures.of(problem.data[r], i);
      for (size_t a = 0; a < mixture.joints.size(); ++a) {
        for (size_t b = 0; b <= a; ++b)
          out(i, mixture.joints[a]) +=
              mixture.inverse_factor(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(b)) *
              residuals[r](i, mixture.joints[b]);
      }
    }
  }
  return whitened;
}

TriangularSystem correlatedSystem(const IdentificationProblem& problem,
                                  const Eigen::MatrixXd& covariance,
                                  const std::vector<Eigen::ArrayXXd>& row_weights) {
  const StackedProblem& stacked = problem.stacked;
  struct Part {
    Eigen::MatrixXd factor;
    Eigen::Index rows = 0;
  };
  std::vector<Part> parts(stacked.blocks.size());
  forEachBlock(problem, [&](size_t k, RowScratch& scratch) {
    const StackedBlock& block = stacked.blocks[k];
    const auto r = static_cast<size_t>(block.recording);
    MixedFolder folder(problem, covariance, problem.data[r],
                       row_weights.empty() ? nullptr : &row_weights[r]);
    forEachBatch(*problem.tree, *problem.layout, problem.data[r], block.start, block.count,
                 scratch.workspace, scratch.batch,
                 [&](Eigen::Index start, Eigen::Index count, RegressorBatch& batch) {
                   folder.add(start, count, batch);
                 });
    parts[k] = {folder.factor(), folder.rows()};
  });
  const Eigen::Index n = stacked.unknowns();
  StreamingQr qr(n + 1);
  TriangularSystem system;
  for (const Part& part : parts) {
    qr.add(part.factor);
    system.rows += part.rows;
  }
  system.A = qr.factor().topLeftCorner(n, n).triangularView<Eigen::Upper>();
  system.b = qr.factor().col(n).head(n);
  system.rest = std::abs(qr.factor()(n, n));
  return system;
}

}  // namespace proprio
