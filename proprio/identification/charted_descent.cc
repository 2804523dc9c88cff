#include "proprio/identification/charted_descent.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>

#include "proprio/core/error.h"
#include "proprio/spatial/log_cholesky.h"
#include "proprio/spatial/principal_inertia.h"
#include "proprio/spatial/pseudo_inertia.h"

namespace proprio {
namespace {

using Eigen::Index;
using Eigen::Matrix4d;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Smallest diagonal entry of a Cholesky factor, and of the spectrum of a start, relative to its
/// largest.
constexpr double kSmallestPivot = 1e-5;
constexpr double kSmallestEigenvalue = 1e-3;
/// Corrections of a step that misses an inequality, and how much farther than missed they aim.
constexpr int kCorrections = 2;
constexpr double kOvershoot = 1.2;
constexpr double kUnbounded = std::numeric_limits<double>::infinity();

struct CoordinateState {
  Vector10d theta = Vector10d::Zero();  // kLogCholesky, kCholesky
  PrincipalInertia principal;
};

Matrix4d lowerFactor(const Vector10d& theta) {
  return symmetricFromLowerTriangle(theta).triangularView<Eigen::Lower>();
}

/// d (C C^T) in direction of entry i of C.
Matrix4d factorChange(const Matrix4d& C, int i) {
  const Matrix4d E = lowerFactor(Vector10d::Unit(i));
  return E * C.transpose() + C * E.transpose();
}

/// A step as the linearised problem wants it, and where it leads when the inequalities are kept.
struct Attempt {
  VectorXd wanted, x;
  std::vector<CoordinateState> states;
  bool allowed = false;  // keeps the inequalities
};

class ChartedSolver {
 public:
  ChartedSolver(const LmiProblem& problem, const std::vector<ChartedBody>& bodies,
                const DescentOptions& options)
      : problem_(problem), bodies_(bodies), options_(options), n_(problem.A.cols()) {
    information_ = MatrixXd::Zero(n_, n_);
    information_.selfadjointView<Eigen::Lower>().rankUpdate(problem.A.transpose());
    information_ = MatrixXd(information_.selfadjointView<Eigen::Lower>());
    charted_.assign(static_cast<size_t>(n_), false);
    for (const ChartedBody& body : bodies) {
      for (int i = 0; i < 10; ++i) charted_[static_cast<size_t>(body.first + i)] = true;
    }
  }
  DescentResult solve(const VectorXd& start);

 private:
  CoordinateState stateOf(const ChartedBody& body, const Vector10d& p) const;
  Vector10d parametersOf(const CoordinateState& state) const;
  Matrix10d jacobianOf(const CoordinateState& state) const;
  CoordinateState movedBy(const CoordinateState& state, const ChartedBody& body,
                          const Vector10d& d) const;
  void boundsOf(const CoordinateState& state, const ChartedBody& body, Eigen::Ref<VectorXd> lower);
  void derivatives(const VectorXd& x, VectorXd* gradient, MatrixXd* hessian) const;
  VectorXd place(const std::vector<CoordinateState>& states, const VectorXd& x) const;
  VectorXd missedBy(const VectorXd& x) const;
  VectorXd stepUnder(const MatrixXd& H, const VectorXd& g, const VectorXd& lower,
                     const VectorXd& tightened) const;
  Attempt attempt(const std::vector<CoordinateState>& states, const MatrixXd& H, const VectorXd& g,
                  const VectorXd& lower) const;

  const LmiProblem& problem_;
  const std::vector<ChartedBody>& bodies_;
  const DescentOptions& options_;
  Index n_;
  MatrixXd information_, chart_jacobian_;
  std::vector<bool> charted_;
  VectorXd at_;
};

CoordinateState ChartedSolver::stateOf(const ChartedBody& body, const Vector10d& p) const {
  // the nearest possible body: eigenvalues of the pseudo-inertia cut off from below
  const Matrix4d D = pseudoInertia(InertialParameters::fromVector(p));
  const Eigen::SelfAdjointEigenSolver<Matrix4d> eigen(D);
  Eigen::Vector4d values = eigen.eigenvalues();
  const double least = kSmallestEigenvalue * values.cwiseAbs().maxCoeff();
  Matrix4d inside = D;
  if (values[0] <= 0.0) {
    inside = eigen.eigenvectors() * values.cwiseMax(least).asDiagonal() *
             eigen.eigenvectors().transpose();
  }
  const InertialParameters possible = fromPseudoInertia(inside);
  CoordinateState state;
  switch (options_.coordinates) {
    case BodyCoordinates::kLogCholesky:
      state.theta = logCholesky(possible);
      break;
    case BodyCoordinates::kCholesky: {
      const Matrix4d C = inside.llt().matrixL();
      state.theta = lowerTriangle(C);
      for (const int i : {0, 2, 5, 9}) state.theta[i] = std::max(state.theta[i], kSmallestPivot);
      break;
    }
    case BodyCoordinates::kPrincipal:
      state.principal = principalInertia(possible);
      state.principal.second_moments = state.principal.second_moments.cwiseMax(0.0);
      state.principal.mass = std::max(state.principal.mass, body.least_mass);
      break;
  }
  return state;
}

Vector10d ChartedSolver::parametersOf(const CoordinateState& state) const {
  switch (options_.coordinates) {
    case BodyCoordinates::kLogCholesky:
      return fromLogCholesky(state.theta).vector();
    case BodyCoordinates::kCholesky: {
      const Matrix4d C = lowerFactor(state.theta);
      return fromPseudoInertia(C * C.transpose()).vector();
    }
    case BodyCoordinates::kPrincipal:
      break;
  }
  return fromPrincipal(state.principal).vector();
}

Matrix10d ChartedSolver::jacobianOf(const CoordinateState& state) const {
  Matrix10d J;
  switch (options_.coordinates) {
    case BodyCoordinates::kLogCholesky:
      return logCholeskyJacobian(state.theta);
    case BodyCoordinates::kCholesky: {
      const Matrix4d C = lowerFactor(state.theta);
      for (int i = 0; i < 10; ++i) J.col(i) = fromPseudoInertia(factorChange(C, i)).vector();
      return J;
    }
    case BodyCoordinates::kPrincipal:
      break;
  }
  return principalJacobian(state.principal);
}

CoordinateState ChartedSolver::movedBy(const CoordinateState& state, const ChartedBody& body,
                                       const Vector10d& d) const {
  CoordinateState next = state;
  if (options_.coordinates == BodyCoordinates::kPrincipal) {
    next.principal = moved(state.principal, d);
    // bounds were kept up to rounding
    next.principal.mass = std::max(next.principal.mass, body.least_mass);
    next.principal.second_moments = next.principal.second_moments.cwiseMax(0.0);
    return next;
  }
  next.theta += d;
  if (options_.coordinates == BodyCoordinates::kCholesky) {
    for (const int i : {0, 2, 5, 9}) next.theta[i] = std::max(next.theta[i], kSmallestPivot);
  }
  return next;
}

void ChartedSolver::boundsOf(const CoordinateState& state, const ChartedBody& body,
                             Eigen::Ref<VectorXd> lower) {
  if (options_.coordinates == BodyCoordinates::kCholesky) {
    for (const int i : {0, 2, 5, 9}) lower[i] = kSmallestPivot - state.theta[i];
  }
  if (options_.coordinates == BodyCoordinates::kPrincipal) {
    lower[0] = body.least_mass - state.principal.mass;
    lower.tail<3>() = -state.principal.second_moments;
  }
}

void ChartedSolver::derivatives(const VectorXd& x, VectorXd* gradient, MatrixXd* hessian) const {
  *gradient = problem_.A.transpose() * (problem_.A * x - problem_.b);
  *hessian = information_;
  if (problem_.linear.size() != 0) *gradient += problem_.linear;
  for (const PsdBlock& block : problem_.blocks) {
    if (block.log_det_weight <= 0.0) continue;
    const Matrix4d inverse = blockAt(block, x).inverse();
    const auto count = static_cast<Index>(block.variables.size());
    for (Index i = 0; i < count; ++i) {
      const Matrix4d Vi = inverse * symmetricFromLowerTriangle(block.map.col(i));
      const int row = block.variables[static_cast<size_t>(i)];
      (*gradient)[row] -= block.log_det_weight * Vi.trace();
      for (Index k = 0; k < count; ++k) {
        const Matrix4d Vk = inverse * symmetricFromLowerTriangle(block.map.col(k));
        (*hessian)(row, block.variables[static_cast<size_t>(k)]) +=
            block.log_det_weight * Vi.cwiseProduct(Vk.transpose()).sum();
      }
    }
  }
}

VectorXd ChartedSolver::place(const std::vector<CoordinateState>& states, const VectorXd& x) const {
  VectorXd placed = x;
  for (size_t k = 0; k < bodies_.size(); ++k) {
    placed.segment<10>(bodies_[k].first) = bodies_[k].W * parametersOf(states[k]) + bodies_[k].w0;
  }
  return placed;
}

/// By how much each inequality is missed, where that is more than rounding.
VectorXd ChartedSolver::missedBy(const VectorXd& x) const {
  VectorXd missed = VectorXd::Zero(static_cast<Index>(problem_.inequalities.size()));
  for (Index r = 0; r < missed.size(); ++r) {
    const LinearInequality& row = problem_.inequalities[static_cast<size_t>(r)];
    double sum = -row.lower, size = std::abs(row.lower);
    for (size_t i = 0; i < row.variables.size(); ++i) {
      const double term = row.coefficients[static_cast<Index>(i)] * x[row.variables[i]];
      sum += term;
      size += std::abs(term);
    }
    if (sum < -1e-9 * (1.0 + size)) missed[r] = -sum;
  }
  return missed;
}

/// argmin 1/2 d^T H d + g^T d under d >= lower and the linearised inequalities, each tightened.
VectorXd ChartedSolver::stepUnder(const MatrixXd& H, const VectorXd& g, const VectorXd& lower,
                                  const VectorXd& tightened) const {
  const Eigen::LLT<MatrixXd> factor(H);
  if (factor.info() != Eigen::Success) return VectorXd::Constant(n_, kUnbounded);
  VectorXd free = -factor.solve(g);
  LmiProblem program;
  bool violated = false;
  for (Index i = 0; i < n_; ++i) {
    if (lower[i] == -kUnbounded) continue;
    violated = violated || free[i] < lower[i];
    program.inequalities.push_back({{static_cast<int>(i)}, VectorXd::Constant(1, 1.0), lower[i]});
  }
  for (size_t r = 0; r < problem_.inequalities.size(); ++r) {
    const LinearInequality& row = problem_.inequalities[r];
    VectorXd coefficients = VectorXd::Zero(n_);
    double value = -row.lower - tightened[static_cast<Index>(r)];
    for (size_t i = 0; i < row.variables.size(); ++i) {
      const double c = row.coefficients[static_cast<Index>(i)];
      coefficients += c * chart_jacobian_.row(row.variables[i]).transpose();
      value += c * at_[row.variables[i]];
    }
    violated = violated || value + coefficients.dot(free) < 0.0;
    LinearInequality linear;
    std::vector<double> entries;
    for (Index i = 0; i < n_; ++i) {
      if (coefficients[i] == 0.0) continue;
      linear.variables.push_back(static_cast<int>(i));
      entries.push_back(coefficients[i]);
    }
    linear.coefficients =
        Eigen::Map<const VectorXd>(entries.data(), static_cast<Index>(entries.size()));
    linear.lower = -value;
    program.inequalities.push_back(std::move(linear));
  }
  if (!violated) return free;
  program.A = factor.matrixU();
  program.b = program.A * free;
  const LmiSolution solution = solveLmiLeastSquares(program);
  VectorXd step = solution.x;
  return solution.status == LmiStatus::kInfeasible ? VectorXd::Zero(n_).eval()
                                                   : step.cwiseMax(lower).eval();
}

/// A step under the inequalities as they are linearised, and where coordinates are curved (a mass
/// is a sum of squares) once more under ones that are tighter by what it missed.
Attempt ChartedSolver::attempt(const std::vector<CoordinateState>& states, const MatrixXd& H,
                               const VectorXd& g, const VectorXd& lower) const {
  Attempt out;
  VectorXd tightened = VectorXd::Zero(static_cast<Index>(problem_.inequalities.size()));
  for (int correction = 0; correction <= kCorrections && !out.allowed; ++correction) {
    const VectorXd step = stepUnder(H, g, lower, tightened);
    if (correction == 0) out.wanted = step;
    if (!step.allFinite()) break;
    out.states = states;
    out.x = at_;
    for (Index i = 0; i < n_; ++i) {
      if (!charted_[static_cast<size_t>(i)]) out.x[i] += step[i];
    }
    for (size_t k = 0; k < bodies_.size(); ++k)
      out.states[k] = movedBy(states[k], bodies_[k], step.segment<10>(bodies_[k].first));
    out.x = place(out.states, out.x);
    if (!out.x.allFinite()) break;
    const VectorXd missed = missedBy(out.x);
    out.allowed = missed.isZero(0.0);
    tightened += kOvershoot * missed;
  }
  return out;
}

DescentResult ChartedSolver::solve(const VectorXd& start) {
  std::vector<CoordinateState> states;
  for (const ChartedBody& body : bodies_) {
    const Vector10d p = body.W.partialPivLu().solve(start.segment<10>(body.first) - body.w0);
    states.push_back(stateOf(body, p));
  }
  at_ = place(states, start);
  double value = objectiveAt(problem_, at_);
  if (options_.visit) options_.visit(at_);
  DescentResult result;
  double lambda = 1e-3;
  VectorXd gradient, lower;
  MatrixXd hessian;
  for (result.iterations = 0; result.iterations < options_.max_iterations; ++result.iterations) {
    derivatives(at_, &gradient, &hessian);
    chart_jacobian_ = MatrixXd::Identity(n_, n_);
    lower = VectorXd::Constant(n_, -kUnbounded);
    for (size_t k = 0; k < bodies_.size(); ++k) {
      const int first = bodies_[k].first;
      chart_jacobian_.block<10, 10>(first, first) = bodies_[k].W * jacobianOf(states[k]);
      boundsOf(states[k], bodies_[k], lower.segment(first, 10));
    }
    const VectorXd g = chart_jacobian_.transpose() * gradient;
    const MatrixXd H = chart_jacobian_.transpose() * hessian * chart_jacobian_;
    const VectorXd damping =
        H.diagonal().cwiseMax(1e-12 * std::max(H.diagonal().maxCoeff(), 1e-300));
    bool taken = false;
    double promise = 0.0;
    for (int trial = 0; trial < 30 && !taken; ++trial, lambda = std::min(lambda * 4.0, 1e12)) {
      MatrixXd damped = H;
      damped.diagonal() += lambda * damping;
      Attempt next = attempt(states, damped, g, lower);
      const VectorXd& d = next.wanted;
      if (!d.allFinite()) continue;
      promise = -(g.dot(d) + 0.5 * d.dot(H * d));
      if (promise <= options_.tolerance * std::abs(value)) break;
      const double candidate = next.allowed ? objectiveAt(problem_, next.x) : kUnbounded;
      if (!(candidate < value)) continue;
      const double ratio = (value - candidate) / promise;
      states = std::move(next.states);
      at_ = std::move(next.x);
      value = candidate;
      taken = true;
      // the loop multiplies once more
      lambda = std::max(ratio > 0.5 ? lambda / 40.0 : lambda / 4.0, 1e-14);
      if (options_.visit) options_.visit(at_);
    }
    if (!taken) {
      result.converged = promise <= 1e-6 * std::abs(value);
      break;
    }
  }
  for (Index i = 0; i < n_ && lower.size() == n_; ++i) result.bounds_active += lower[i] == 0.0;
  result.x = at_;
  result.objective = value;
  return result;
}

}  // namespace

DescentResult chartedDescent(const LmiProblem& problem, const std::vector<ChartedBody>& bodies,
                             const VectorXd& start, const DescentOptions& options) {
  if (start.size() != problem.A.cols() || !start.allFinite())
    throw Error("descent in body coordinates: the start does not fit the problem");
  for (const ChartedBody& body : bodies) {
    if (body.first < 0 || body.first + 10 > start.size())
      throw Error("descent in body coordinates: a body lies outside the unknowns");
  }
  return ChartedSolver(problem, bodies, options).solve(start);
}

DescentResult fitBody(const MatrixXd& A, const VectorXd& b, const InertialParameters& start,
                      const DescentOptions& options) {
  if (A.cols() != 10 || A.rows() != b.size())
    throw Error("fit of one body: expected ten columns and as many rows as wrenches");
  LmiProblem problem;
  problem.A = A;
  problem.b = b;
  ChartedBody body;
  body.least_mass = 1e-6;  // kg: the centre of a massless body could be anywhere
  return chartedDescent(problem, {body}, start.vector(), options);
}

}  // namespace proprio
