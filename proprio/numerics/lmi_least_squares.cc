#include "proprio/numerics/lmi_least_squares.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>

#include "proprio/core/error.h"
#include "proprio/numerics/dense.h"

namespace proprio {
namespace {

using Eigen::Index;
using Eigen::Matrix4d;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Vector10d = Eigen::Matrix<double, 10, 1>;

// A block counts as active when its smallest eigenvalue, relative to the block itself as it was at
// the start, is below this.
constexpr double kActive = 1e-6;
// Steps shorter than this are no progress.
constexpr double kShortestStep = 1e-8;
// Relative violation of a constraint that counts as none.
constexpr double kFulfilled = 1e-7;
// The search for a point inside all constraints goes this deep, relative to their sizes; pulls back
// to where it began this much; and has to prove that any such point is this much farther away than
// the constraints themselves before it calls them contradicting.
constexpr double kDeep = 0.1, kPull = 1e-4, kFarAway = 10.0;

Matrix4d symmetric(const Vector10d& t) {
  Matrix4d S;
  S << t[0], t[1], t[3], t[6], t[1], t[2], t[4], t[7], t[3], t[4], t[5], t[8], t[6], t[7], t[8],
      t[9];
  return S;
}

/// The vector y with y^T t = tr(symmetric(t) Z) for the symmetric part of Z.
Vector10d traceForm(const Matrix4d& Z) {
  Vector10d y;
  y << Z(0, 0), Z(0, 1) + Z(1, 0), Z(1, 1), Z(0, 2) + Z(2, 0), Z(1, 2) + Z(2, 1), Z(2, 2),
      Z(0, 3) + Z(3, 0), Z(1, 3) + Z(3, 1), Z(2, 3) + Z(3, 2), Z(3, 3);
  return y;
}

Matrix4d symmetricPart(const Matrix4d& A) { return 0.5 * (A + A.transpose()); }

/// Smallest eigenvalue of S^-1 D for S = L L^T.
double smallestRelative(const Eigen::LLT<Matrix4d>& S, const Matrix4d& D) {
  Matrix4d B = D;
  S.matrixL().solveInPlace(B);
  B.transposeInPlace();
  S.matrixL().solveInPlace(B);
  const Eigen::SelfAdjointEigenSolver<Matrix4d> eigen(symmetricPart(B), Eigen::EigenvaluesOnly);
  return eigen.eigenvalues()[0];
}

/// The largest step a <= 2 that keeps S + a D positive semidefinite.
double stepTo(const Matrix4d& S, const Matrix4d& D) {
  const Eigen::LLT<Matrix4d> factor(S);
  const double smallest = smallestRelative(factor, D);
  return smallest < -0.5 ? -1.0 / smallest : 2.0;
}

void requireIndices(const std::vector<int>& variables, Index n, const char* what, size_t number) {
  for (const int i : variables) {
    if (i < 0 || i >= n) {
      throw Error(fmt::format("matrix inequality problem: {} {} names variable {}, there are {}",
                              what, number, i, n));
    }
  }
}

void checkProblem(const LmiProblem& p) {
  const Index n = p.A.cols();
  const auto finite = [](const auto& m, const char* what) {
    if (!m.allFinite()) {
      throw Error(
          fmt::format("matrix inequality problem: {} has numbers that are not finite", what));
    }
  };
  if (p.b.size() != p.A.rows()) {
    throw Error(
        fmt::format("matrix inequality problem: A has {} rows, b {}", p.A.rows(), p.b.size()));
  }
  if (p.linear.size() != 0 && p.linear.size() != n) {
    throw Error(fmt::format("matrix inequality problem: A has {} columns, the linear term {}", n,
                            p.linear.size()));
  }
  finite(p.A, "A");
  finite(p.b, "b");
  finite(p.linear, "the linear term");
  for (size_t k = 0; k < p.blocks.size(); ++k) {
    const PsdBlock& block = p.blocks[k];
    requireIndices(block.variables, n, "block", k);
    if (block.map.rows() != 10 || block.map.cols() != static_cast<Index>(block.variables.size())) {
      throw Error(
          fmt::format("matrix inequality problem: the map of block {} is {} x {}, expected "
                      "10 x {}",
                      k, block.map.rows(), block.map.cols(), block.variables.size()));
    }
    finite(block.map, "the map of a block");
    finite(block.constant, "the constant of a block");
    if (!(block.log_det_weight >= 0) || !std::isfinite(block.log_det_weight)) {
      throw Error(
          fmt::format("matrix inequality problem: log-det weight {} of block {}; expected "
                      "zero or more",
                      block.log_det_weight, k));
    }
  }
  for (size_t l = 0; l < p.inequalities.size(); ++l) {
    const LinearInequality& row = p.inequalities[l];
    requireIndices(row.variables, n, "inequality", l);
    if (row.coefficients.size() != static_cast<Index>(row.variables.size())) {
      throw Error(
          fmt::format("matrix inequality problem: inequality {} has {} coefficients for {} "
                      "variables",
                      l, row.coefficients.size(), row.variables.size()));
    }
    finite(row.coefficients, "an inequality");
    if (!std::isfinite(row.lower)) {
      throw Error(
          fmt::format("matrix inequality problem: bound {} of inequality {}", row.lower, l));
    }
  }
}

struct BlockState {
  Matrix4d S, Z, root, inverse, residual;  // inverse = root^T root; residual: S(x) - S
  Matrix4d dS, dZ, correction;
  Eigen::LLT<Matrix4d> start;  // for the verdict "active"
};

class Solver {
 public:
  /// @param scale  the objective is divided by it
  Solver(const LmiProblem& problem, const LmiOptions& options, double scale)
      : p_(problem), options_(options), n_(problem.A.cols()), scale_(scale) {
    if (!(scale_ > 0)) scale_ = 1.0;
    H_.setZero(n_, n_);
    H_.selfadjointView<Eigen::Lower>().rankUpdate(p_.A.transpose(), 1.0 / scale_);
    gradient_size_ = (p_.A.transpose() * p_.b).norm() / scale_;
    if (p_.linear.size() != 0) gradient_size_ += p_.linear.norm() / scale_;
    gradient_size_ = std::max(gradient_size_, 1e-300);
    m_ = static_cast<Index>(p_.inequalities.size());
    start();
  }

  LmiSolution solve();

 private:
  Matrix4d at(const PsdBlock& block, const VectorXd& x, bool constant) const {
    Vector10d t = constant ? block.constant : Vector10d(Vector10d::Zero());
    for (size_t i = 0; i < block.variables.size(); ++i) {
      t += x[block.variables[i]] * block.map.col(static_cast<Index>(i));
    }
    return symmetric(t);
  }
  double at(const LinearInequality& row, const VectorXd& x) const {
    double sum = 0.0;
    for (size_t i = 0; i < row.variables.size(); ++i) {
      sum += row.coefficients[static_cast<Index>(i)] * x[row.variables[i]];
    }
    return sum;
  }
  /// y += sum_k S_k^*(Z_k) for one block.
  static void addAdjoint(const PsdBlock& block, const Matrix4d& Z, VectorXd& y) {
    const Vector10d form = traceForm(Z);
    for (size_t i = 0; i < block.variables.size(); ++i) {
      y[block.variables[i]] += block.map.col(static_cast<Index>(i)).dot(form);
    }
  }
  double weight(size_t k) const { return p_.blocks[k].log_det_weight / scale_; }

  void start();
  void startDuals();
  double complementarity() const;
  double logDetGap() const;
  void residuals();
  bool factorise();
  void direction(double target);
  double longestStep(double fraction) const;
  void advance(double step);
  double infeasibility() const;
  LmiSolution result(LmiStatus status) const;

  const LmiProblem& p_;
  const LmiOptions& options_;
  Index n_, m_;
  double scale_;
  MatrixXd H_, K_;
  Eigen::LLT<MatrixXd> factor_;
  VectorXd x_, dx_, stationarity_;
  std::vector<BlockState> blocks_;
  VectorXd s_, z_, r_, ds_, dz_, correction_, slack_size_;
  double decrement_ = 0.0, gradient_size_ = 1.0;
  int iterations_ = 0;
};

/// At the given x, or at the unconstrained minimum; matrices and slacks that are not inside are
/// pushed there, and the iteration closes the difference to S(x).
void Solver::start() {
  x_ = options_.warm ? options_.warm->x : options_.start;
  if (x_.size() == 0) {
    MatrixXd K = H_;
    const double size = std::max(H_.diagonal().maxCoeff(), 1e-300);
    K.diagonal().array() += 1e-8 * size;
    x_ = K.selfadjointView<Eigen::Lower>().llt().solve(p_.A.transpose() * p_.b / scale_);
  }
  if (x_.size() != n_ || !x_.allFinite()) {
    throw Error(
        fmt::format("matrix inequality problem: the start has {} numbers or some that are not "
                    "finite, expected {}",
                    x_.size(), n_));
  }
  dx_.resize(n_);
  const double inside = options_.warm ? 1e-3 : 1e-1;
  for (const PsdBlock& block : p_.blocks) {
    BlockState state;
    state.S = at(block, x_, true);
    const Eigen::SelfAdjointEigenSolver<Matrix4d> eigen(state.S);
    const double size = std::max(eigen.eigenvalues().cwiseAbs().maxCoeff(), 1e-12);
    if (eigen.eigenvalues()[0] < (options_.warm ? inside : 1e-9) * size) {
      state.S = eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(inside * size).asDiagonal() *
                eigen.eigenvectors().transpose();
    }
    state.start.compute(state.S);
    state.correction.setZero();
    blocks_.push_back(state);
  }
  s_.resize(m_);
  slack_size_.resize(m_);
  for (Index l = 0; l < m_; ++l) {
    const LinearInequality& row = p_.inequalities[static_cast<size_t>(l)];
    const double value = at(row, x_), slack = value - row.lower;
    const double size = std::max({std::abs(value), std::abs(row.lower), 1e-12});
    slack_size_[l] = size;
    s_[l] = slack > (options_.warm ? inside : 1e-9) * size ? slack : inside * size;
  }
  correction_ = VectorXd::Zero(m_);
  startDuals();
}

/// Z = mu S^-1 with the mu that lets the duals balance the gradient on the average; a warm start
/// adds its duals.
void Solver::startDuals() {
  VectorXd gradient = p_.A.transpose() * (p_.A * x_ - p_.b) / scale_;
  if (p_.linear.size() != 0) gradient += p_.linear / scale_;
  VectorXd unit = VectorXd::Zero(n_);
  for (size_t k = 0; k < blocks_.size(); ++k) {
    addAdjoint(p_.blocks[k], blocks_[k].S.inverse(), unit);
  }
  for (Index l = 0; l < m_; ++l) {
    const LinearInequality& row = p_.inequalities[static_cast<size_t>(l)];
    for (size_t i = 0; i < row.variables.size(); ++i) {
      unit[row.variables[i]] += row.coefficients[static_cast<Index>(i)] / s_[l];
    }
  }
  const bool warm =
      options_.warm && options_.warm->Z.size() == blocks_.size() && options_.warm->z.size() == m_;
  double mu = unit.squaredNorm() > 0 ? std::abs(gradient.dot(unit)) / unit.squaredNorm() : 1.0;
  mu = std::clamp(mu, warm ? 1e-6 : 1e-3, 1.0);
  for (size_t k = 0; k < blocks_.size(); ++k) {
    const double target = weight(k) > 0 ? weight(k) : mu;
    blocks_[k].Z = target * blocks_[k].S.inverse();
    if (warm && weight(k) == 0) blocks_[k].Z += options_.warm->Z[k] / scale_;
  }
  z_ = mu * s_.cwiseInverse();
  if (warm) z_ += options_.warm->z / scale_;
}

double Solver::complementarity() const {
  double sum = s_.dot(z_);
  for (size_t k = 0; k < blocks_.size(); ++k) {
    if (weight(k) == 0) sum += blocks_[k].S.cwiseProduct(blocks_[k].Z).sum();
  }
  return sum;
}

/// Distance of the log-det terms from their conjugates: w (tr(SZ)/w - log det(SZ/w) - 4).
double Solver::logDetGap() const {
  double sum = 0.0;
  for (size_t k = 0; k < blocks_.size(); ++k) {
    const double w = weight(k);
    if (w == 0) continue;
    const Eigen::LLT<Matrix4d> S(blocks_[k].S), Z(blocks_[k].Z);
    double log_det = -4 * std::log(w);
    for (int i = 0; i < 4; ++i) {
      log_det += 2 * std::log(S.matrixLLT()(i, i)) + 2 * std::log(Z.matrixLLT()(i, i));
    }
    sum += blocks_[k].S.cwiseProduct(blocks_[k].Z).sum() - w * log_det - 4 * w;
  }
  return std::max(sum, 0.0);
}

void Solver::residuals() {
  stationarity_ = p_.A.transpose() * (p_.A * x_ - p_.b) / scale_;
  if (p_.linear.size() != 0) stationarity_ += p_.linear / scale_;
  VectorXd duals = VectorXd::Zero(n_);
  for (size_t k = 0; k < blocks_.size(); ++k) {
    BlockState& block = blocks_[k];
    block.root = Eigen::LLT<Matrix4d>(block.S).matrixL().solve(Matrix4d::Identity());
    block.inverse = block.root.transpose() * block.root;
    block.residual = at(p_.blocks[k], x_, true) - block.S;
    addAdjoint(p_.blocks[k], block.Z, duals);
  }
  r_.resize(m_);
  for (Index l = 0; l < m_; ++l) {
    const LinearInequality& row = p_.inequalities[static_cast<size_t>(l)];
    r_[l] = at(row, x_) - row.lower - s_[l];
    for (size_t i = 0; i < row.variables.size(); ++i) {
      duals[row.variables[i]] += z_[l] * row.coefficients[static_cast<Index>(i)];
    }
  }
  stationarity_ -= duals;
}

/// K = H + sum M_k + G^T diag(z / s) G, factorised. With Z = Q^T Q and S^-1 = P^T P, M_k(i, j) is
/// the scalar product of Q S_ki P^T and Q S_kj P^T: semidefinite also in floating point.
bool Solver::factorise() {
  K_ = H_;
  for (size_t k = 0; k < blocks_.size(); ++k) {
    const PsdBlock& block = p_.blocks[k];
    const auto count = static_cast<Index>(block.variables.size());
    const Eigen::LLT<Matrix4d> dual(blocks_[k].Z);
    if (dual.info() != Eigen::Success) return false;
    const Matrix4d Q = dual.matrixU();
    Eigen::Matrix<double, 16, Eigen::Dynamic> roots(16, count);
    for (Index i = 0; i < count; ++i) {
      const Matrix4d root = Q * symmetric(block.map.col(i)) * blocks_[k].root.transpose();
      roots.col(i) = root.reshaped();
    }
    const MatrixXd M = roots.transpose().lazyProduct(roots);
    for (Index j = 0; j < count; ++j) {
      const int column = block.variables[static_cast<size_t>(j)];
      for (Index i = 0; i < count; ++i) {
        const int row = block.variables[static_cast<size_t>(i)];
        if (row >= column) K_(row, column) += M(i, j);
      }
    }
  }
  for (Index l = 0; l < m_; ++l) {
    const LinearInequality& row = p_.inequalities[static_cast<size_t>(l)];
    const double ratio = z_[l] / s_[l];
    for (size_t j = 0; j < row.variables.size(); ++j) {
      const double gj = ratio * row.coefficients[static_cast<Index>(j)];
      for (size_t i = 0; i < row.variables.size(); ++i) {
        if (row.variables[i] < row.variables[j]) continue;
        K_(row.variables[i], row.variables[j]) += gj * row.coefficients[static_cast<Index>(i)];
      }
    }
  }
  const VectorXd diagonal = K_.diagonal();
  const double tiny = 1e-30 + 1e-16 * diagonal.cwiseAbs().maxCoeff();
  for (double shift = 1e-15; shift < 1e-6; shift *= 100) {
    K_.diagonal() = diagonal + shift * diagonal.cwiseAbs() + VectorXd::Constant(n_, shift * tiny);
    factor_.compute(K_);
    if (factor_.info() == Eigen::Success) return true;
  }
  return false;
}

/// Newton step towards complementarity products of `target`, with the corrections stored.
void Solver::direction(double target) {
  VectorXd right = -stationarity_;
  for (size_t k = 0; k < blocks_.size(); ++k) {
    BlockState& block = blocks_[k];
    const double t = weight(k) > 0 ? weight(k) : target;
    block.dZ = t * block.inverse - block.Z -
               symmetricPart(block.Z * block.residual * block.inverse) - block.correction;
    addAdjoint(p_.blocks[k], block.dZ, right);
  }
  dz_.resize(m_);
  ds_.resize(m_);
  for (Index l = 0; l < m_; ++l) {
    const LinearInequality& row = p_.inequalities[static_cast<size_t>(l)];
    dz_[l] = target / s_[l] - z_[l] - z_[l] / s_[l] * r_[l] - correction_[l];
    for (size_t i = 0; i < row.variables.size(); ++i) {
      right[row.variables[i]] += dz_[l] * row.coefficients[static_cast<Index>(i)];
    }
  }
  dx_ = factor_.solve(right);
  for (size_t k = 0; k < blocks_.size(); ++k) {
    BlockState& block = blocks_[k];
    const Matrix4d moved = at(p_.blocks[k], dx_, false);
    block.dS = moved + block.residual;
    block.dZ -= symmetricPart(block.Z * moved * block.inverse);
  }
  for (Index l = 0; l < m_; ++l) {
    const double moved = at(p_.inequalities[static_cast<size_t>(l)], dx_);
    ds_[l] = moved + r_[l];
    dz_[l] -= z_[l] / s_[l] * moved;
  }
}

/// How far S, Z, s and z stay inside their cones, times a fraction where that ends the step.
double Solver::longestStep(double fraction) const {
  double step = 2.0;
  for (const BlockState& block : blocks_) {
    step = std::min({step, stepTo(block.S, block.dS), stepTo(block.Z, block.dZ)});
  }
  for (Index l = 0; l < m_; ++l) {
    if (ds_[l] < 0) step = std::min(step, -s_[l] / ds_[l]);
    if (dz_[l] < 0) step = std::min(step, -z_[l] / dz_[l]);
  }
  return step < 1.0 / fraction ? fraction * step : 1.0;
}

void Solver::advance(double step) {
  x_ += step * dx_;
  for (BlockState& block : blocks_) {
    block.S += step * block.dS;
    block.Z += step * block.dZ;
  }
  s_ += step * ds_;
  z_ += step * dz_;
}

double Solver::infeasibility() const {
  double worst = 0.0;
  for (const BlockState& block : blocks_) {
    worst = std::max(worst, block.residual.norm() / block.S.norm());
  }
  for (Index l = 0; l < m_; ++l) {
    const LinearInequality& row = p_.inequalities[static_cast<size_t>(l)];
    worst = std::max(worst, std::abs(r_[l]) / std::max(std::abs(row.lower), slack_size_[l]));
  }
  return worst;
}

LmiSolution Solver::result(LmiStatus status) const {
  LmiSolution out;
  out.status = status;
  out.x = x_;
  out.objective = 0.5 * (p_.A * x_ - p_.b).squaredNorm();
  if (p_.linear.size() != 0) out.objective += p_.linear.dot(x_);
  for (size_t k = 0; k < blocks_.size(); ++k) {
    out.Z.push_back(scale_ * blocks_[k].Z);
    out.block_active.push_back(weight(k) == 0 &&
                               smallestRelative(blocks_[k].start, blocks_[k].S) < kActive);
    if (weight(k) > 0) {
      out.objective -= p_.blocks[k].log_det_weight * std::log(blocks_[k].S.determinant());
    }
  }
  out.z = scale_ * z_;
  for (Index l = 0; l < m_; ++l) {
    const LinearInequality& row = p_.inequalities[static_cast<size_t>(l)];
    const double size = row.coefficients.norm() * (1.0 + x_.norm()) + std::abs(row.lower);
    out.inequality_active.push_back(s_[l] < kActive * size && s_[l] * size < z_[l] * scale_);
  }
  out.gap = scale_ * (complementarity() + logDetGap());
  out.stationarity = scale_ * decrement_;
  out.infeasibility = infeasibility();
  out.iterations = iterations_;
  return out;
}

LmiSolution Solver::solve() {
  double products = static_cast<double>(m_);
  for (size_t k = 0; k < blocks_.size(); ++k) products += weight(k) == 0 ? 4 : 0;
  // relative violations that weigh as much as the tolerance
  constexpr double kFeasible = 1e-10, kStationary = 1e-8;
  // far below the tolerance: where rounding ends the gain
  const double floor = 1e-6 * options_.tolerance;
  LmiSolution best;
  double best_merit = std::numeric_limits<double>::infinity();
  double best_violation = best_merit, best_slope = best_merit;
  const double start_size = 1.0 + x_.norm();
  int without_gain = 0;
  for (iterations_ = 0;; ++iterations_) {
    residuals();
    if (!factorise()) break;
    decrement_ = 0.5 * stationarity_.dot(factor_.solve(stationarity_));
    const double gap = complementarity() + logDetGap(), violation = infeasibility();
    const double slope = stationarity_.norm() / gradient_size_;
    const double merit = std::max({gap, decrement_, violation * options_.tolerance / kFeasible,
                                   slope * options_.tolerance / kStationary});
    if (merit < 0.9 * best_merit) {
      best = result(LmiStatus::kStalled);
      best_merit = merit;
      without_gain = 0;
    } else if (merit > options_.tolerance &&
               (violation < 0.9 * best_violation || slope < 0.9 * best_slope)) {
      without_gain = 0;  // on the way to the constraints or to the path, where the gap may grow
    } else if (++without_gain > 3) {
      break;
    }
    best_violation = std::min(best_violation, violation);
    best_slope = std::min(best_slope, slope);
    if (merit < floor || iterations_ == options_.max_iterations) break;
    if (!(x_.norm() < 1e12 * start_size)) return result(LmiStatus::kUnbounded);

    const double mu = products > 0 ? complementarity() / products : 0.0;
    for (BlockState& block : blocks_) block.correction.setZero();
    correction_.setZero();
    direction(0.0);
    const double affine = longestStep(0.95);
    double after = (s_ + affine * ds_).dot(z_ + affine * dz_);
    for (size_t k = 0; k < blocks_.size(); ++k) {
      BlockState& block = blocks_[k];
      if (weight(k) == 0) {
        after += (block.S + affine * block.dS).cwiseProduct(block.Z + affine * block.dZ).sum();
      }
      block.correction = symmetricPart(block.dZ * block.dS * block.inverse);
    }
    correction_ = ds_.cwiseProduct(dz_).cwiseQuotient(s_);
    const double ratio = mu > 0 ? std::clamp(after / products / mu, 0.0, 1.0) : 0.0;
    const double centring = affine < 0.1 ? std::max(0.3, std::pow(ratio, 2)) : std::pow(ratio, 3);
    direction(centring * mu);
    const double fraction = 0.9 + 0.09 * affine;
    double step = longestStep(fraction);
    if (step < 0.1) {  // the second-order correction misleads far from the path
      for (BlockState& block : blocks_) block.correction.setZero();
      correction_.setZero();
      direction(0.5 * mu);
      step = longestStep(fraction);
    }
    if (step < kShortestStep || !dx_.allFinite()) break;
    advance(step);
  }
  best.iterations = iterations_;
  const double gap = best.gap / scale_, rest = best.stationarity / scale_;
  if (best.infeasibility < kFulfilled && gap < options_.tolerance && rest < options_.tolerance) {
    best.status = LmiStatus::kSolved;
  }
  return best;
}

}  // namespace

Matrix4d blockAt(const PsdBlock& block, const VectorXd& x) {
  Vector10d t = block.constant;
  for (size_t i = 0; i < block.variables.size(); ++i) {
    t += x[block.variables[i]] * block.map.col(static_cast<Index>(i));
  }
  return symmetric(t);
}

double slackAt(const LinearInequality& row, const VectorXd& x) {
  double sum = -row.lower;
  for (size_t i = 0; i < row.variables.size(); ++i) {
    sum += row.coefficients[static_cast<Index>(i)] * x[row.variables[i]];
  }
  return sum;
}

double objectiveAt(const LmiProblem& problem, const VectorXd& x) {
  double value = 0.5 * (problem.A * x - problem.b).squaredNorm();
  if (problem.linear.size() != 0) value += problem.linear.dot(x);
  for (const PsdBlock& block : problem.blocks) {
    if (block.log_det_weight <= 0) continue;
    const Eigen::LLT<Matrix4d> factor(blockAt(block, x));
    if (factor.info() != Eigen::Success) return std::numeric_limits<double>::infinity();
    value -= 2 * block.log_det_weight * factor.matrixLLT().diagonal().array().log().sum();
  }
  return value;
}

LmiProblem withTriangularRows(LmiProblem problem) {
  const Index n = problem.A.cols();
  if (problem.A.rows() < n) return problem;
  const MatrixXd factor = triangularFactor(problem.A, problem.b);
  problem.A = factor.leftCols(n);
  problem.b = factor.col(n);
  return problem;
}

bool fulfilsConstraints(const LmiSolution& solution) {
  return solution.status != LmiStatus::kInfeasible && solution.infeasibility < kFulfilled &&
         solution.x.allFinite();
}

namespace {

/// Minimises t + 1/2 kPull^2 |y|^2 over x = y r and t >= -kDeep with S_k(x) + t s_k 1 >= 0 and
/// g_l^T x - h_l + t s_l >= 0, from y = 0 and a t that fulfils all: s are the sizes of the
/// constraints at x = 0, r is how far away the farthest of them lies.
struct InsidePoint {
  VectorXd x;
  bool inside = false;
  bool contradiction = false;  // any feasible x has |x| > kFarAway r
};

bool isInside(const LmiProblem& problem, const VectorXd& x) {
  for (const PsdBlock& block : problem.blocks) {
    if (Eigen::LLT<Matrix4d>(blockAt(block, x)).info() != Eigen::Success) return false;
  }
  return std::all_of(problem.inequalities.begin(), problem.inequalities.end(),
                     [&](const LinearInequality& row) { return slackAt(row, x) > 0; });
}

InsidePoint insidePoint(const LmiProblem& problem) {
  const Index n = problem.A.cols();
  double reach = 1.0;
  for (const LinearInequality& row : problem.inequalities)
    reach = std::max(reach, std::abs(row.lower) / std::max(row.coefficients.norm(), 1e-300));
  const int t = static_cast<int>(n);
  LmiProblem search;
  search.A = kPull * MatrixXd::Identity(n, n + 1);
  search.b = VectorXd::Zero(n);
  search.linear = VectorXd::Unit(n + 1, n);
  for (PsdBlock block : problem.blocks) {
    const double size = std::max({block.constant.norm(), reach * block.map.norm(), 1e-300});
    block.log_det_weight = 0.0;
    block.constant /= size;
    block.map *= reach / size;
    block.map.conservativeResize(10, block.map.cols() + 1);
    block.map.rightCols(1) = traceForm(Matrix4d::Identity());  // of 1, as of any diagonal matrix
    block.variables.push_back(t);
    search.blocks.push_back(std::move(block));
  }
  for (LinearInequality row : problem.inequalities) {
    const double size = std::max({std::abs(row.lower), reach * row.coefficients.norm(), 1e-300});
    row.lower /= size;
    row.coefficients *= reach / size;
    row.coefficients.conservativeResize(row.coefficients.size() + 1);
    row.coefficients[row.coefficients.size() - 1] = 1.0;
    row.variables.push_back(t);
    search.inequalities.push_back(std::move(row));
  }
  search.inequalities.push_back({{t}, VectorXd::Ones(1), -kDeep});
  LmiOptions options;
  options.start = VectorXd::Unit(n + 1, n) * 2.0;  // sizes are at least those at x = 0
  const LmiSolution found = Solver(search, options, 1.0).solve();
  InsidePoint point;
  point.x = reach * found.x.head(n);
  point.inside = found.x[n] < 0 && isInside(problem, point.x);
  const double least = found.objective - found.gap - found.stationarity;
  point.contradiction = found.status == LmiStatus::kSolved && !point.inside &&
                        least > 0.5 * std::pow(kFarAway * kPull, 2);
  return point;
}

}  // namespace

LmiSolution solveLmiLeastSquares(const LmiProblem& problem, const LmiOptions& options) {
  checkProblem(problem);
  const double scale = problem.b.squaredNorm();
  LmiSolution solution = Solver(problem, options, scale).solve();
  if (solution.status == LmiStatus::kUnbounded || fulfilsConstraints(solution)) return solution;
  // bounds far from the data: from a point inside all of them, in units of the objective there
  const InsidePoint point = insidePoint(problem);
  if (point.contradiction) solution.status = LmiStatus::kInfeasible;
  if (!point.inside) return solution;
  LmiOptions inside = options;
  inside.start = point.x;
  inside.warm = nullptr;
  LmiSolution better =
      Solver(problem, inside, std::max(scale, (problem.A * point.x - problem.b).squaredNorm()))
          .solve();
  better.iterations += solution.iterations;
  return better;
}

}  // namespace proprio
