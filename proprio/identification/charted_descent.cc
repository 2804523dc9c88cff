#include "proprio/identification/charted_descent.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>

#include "proprio/core/error.h"
#include "proprio/numerics/dense.h"
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
/// Corrections of a step whose coordinates are curved, until it has this share of what it promised.
constexpr int kStraightened = 4;
constexpr double kGoodShare = 0.7;
/// Rows that see a direction less than this part of the others leave a quadratic program undecided.
constexpr double kSmallestPivotOfStep = 1e-10;
/// Columns are damped by their own length, at least by this part of the longest (squares).
constexpr double kLeastDamping = 1e-24;
/// Promises below this part of the objective are not kept because of rounding.
constexpr double kRounding = 1e-10;
constexpr int kHalvings = 40;
/// An objective below this part of |b|^2 is that of exact data.
constexpr double kExactData = 1e-14;
/// Damping that hardly shortens a step.
constexpr double kLongStep = 1e-14;
constexpr double kUnbounded = std::numeric_limits<double>::infinity();
/// Steps without barrier at first; a body whose pseudo-inertia keeps this part of the start's in
/// every direction is away from the boundary.
constexpr int kPlainSteps = 40;
constexpr double kAwayFromBoundary = 1e-4;
/// The barrier: its start, where the step back inside ends, how it shrinks, when it is followed
/// closely enough (promised decrease per weight), and the gap relative to the objective that ends
/// it.
constexpr double kFirstBarrier = 0.1, kStepInside = 0.1, kBarrierShrinks = 0.2;
constexpr double kFollowed = 0.1, kEndGap = 1e-6, kLeastBarrier = 1e-16;

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

/// The pseudo-inertia of a body as a block of the problem's unknowns.
PsdBlock barrierOf(const ChartedBody& body) {
  PsdBlock block;
  for (int i = 0; i < 10; ++i) block.variables.push_back(body.first + i);
  const Matrix10d map = pseudoInertiaJacobian() * Matrix10d(body.W.inverse());
  block.map = map;
  block.constant = -map * body.w0;
  return block;
}

/// A step as the linearised problem wants it, and where it leads when the inequalities are kept.
struct Attempt {
  VectorXd wanted, step, x;
  std::vector<CoordinateState> states;
  bool allowed = false;  // keeps the inequalities
};

/// 1/2 |rows dx + rest|^2 + linear^T dx: the objective for small changes dx of the unknowns, its
/// rows those of the data and the halves of the log-det terms. Steps d in coordinates, dx = J d,
/// are those of least squares by orthogonal factors: squares of the rows would lose the directions
/// in which the data say a millionth of what they say in others.
struct LocalModel {
  MatrixXd rows;
  VectorXd rest, linear;
  MatrixXd charted;  // rows J
  VectorXd damping;  // added to the diagonal of (rows J)^T (rows J)
};

class ChartedSolver {
 public:
  ChartedSolver(const LmiProblem& problem, const std::vector<ChartedBody>& bodies,
                const DescentOptions& options)
      : problem_(problem),
        smooth_(problem),
        bodies_(bodies),
        options_(options),
        n_(problem.A.cols()) {
    charted_.assign(static_cast<size_t>(n_), false);
    for (const ChartedBody& body : bodies) {
      for (int i = 0; i < 10; ++i) charted_[static_cast<size_t>(body.first + i)] = true;
      smooth_.blocks.push_back(barrierOf(body));
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
  LocalModel modelAt(const VectorXd& x) const;
  VectorXd place(const std::vector<CoordinateState>& states, const VectorXd& x) const;
  VectorXd missedBy(const VectorXd& x) const;
  /// What differences of the objective are measured by; exact data leave rounding.
  double sizeOf(double value) const {
    return std::abs(value) + std::abs(options_.constant) + kExactData * problem_.b.squaredNorm();
  }
  void setBarrier(double weight);
  bool awayFromBoundary() const;
  void straighten(const LocalModel& model, double enough, Attempt* next, double* value) const;
  double promised(const LocalModel& model, const VectorXd& step) const;
  void keepBest();
  void moveTo(const VectorXd& x);
  bool straightStep(const LocalModel& model, double* value);
  bool descend(double enough, int budget);
  bool followBarrier();
  VectorXd stepUnder(const MatrixXd& R, const VectorXd& free, const VectorXd& tightened) const;
  Attempt attempt(const LocalModel& model, const VectorXd& bend) const;

  const LmiProblem& problem_;
  LmiProblem smooth_;  // with the barrier of each body as its last blocks
  const std::vector<ChartedBody>& bodies_;
  const DescentOptions& options_;
  Index n_;
  MatrixXd chart_jacobian_;
  std::vector<bool> charted_;
  // where it is, and the best point so far in terms of the problem itself
  std::vector<CoordinateState> states_;
  VectorXd at_, inside_, lower_;
  double lambda_ = 1e-3;
  DescentResult best_;
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

LocalModel ChartedSolver::modelAt(const VectorXd& x) const {
  LocalModel model;
  const Index data = problem_.A.rows();
  Index count = data;
  for (const PsdBlock& block : smooth_.blocks) count += block.log_det_weight > 0.0 ? 16 : 0;
  model.rows = MatrixXd::Zero(count, n_);
  model.rest = VectorXd::Zero(count);
  model.rows.topRows(data) = problem_.A;
  model.rest.head(data) = problem_.A * x - problem_.b;
  model.linear = problem_.linear.size() != 0 ? problem_.linear : VectorXd::Zero(n_);
  Index row = data;
  for (const PsdBlock& block : smooth_.blocks) {
    if (block.log_det_weight <= 0.0) continue;
    // -w log det(S + dS) = w (-tr V + 1/2 tr V^2 ...), V = L^-1 dS L^-T
    const double root = std::sqrt(block.log_det_weight);
    const Eigen::LLT<Matrix4d> factor(blockAt(block, x));
    for (size_t i = 0; i < block.variables.size(); ++i) {
      const Matrix4d change = symmetricFromLowerTriangle(block.map.col(static_cast<Index>(i)));
      Matrix4d V = factor.matrixL().solve(change);
      V = factor.matrixL().solve(Matrix4d(V.transpose()));
      for (int e = 0; e < 16; ++e)
        model.rows(row + e, block.variables[i]) += root * V(e / 4, e % 4);
    }
    for (int e = 0; e < 16; e += 5) model.rest[row + e] = -root;
    row += 16;
  }
  model.charted = model.rows * chart_jacobian_;
  model.damping = model.charted.colwise().squaredNorm();
  model.damping =
      model.damping.cwiseMax(kLeastDamping * std::max(model.damping.maxCoeff(), 1e-300)).eval();
  return model;
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

/// argmin |R (d - free)|^2 under d >= lower and the linearised inequalities, each tightened.
VectorXd ChartedSolver::stepUnder(const MatrixXd& R, const VectorXd& free,
                                  const VectorXd& tightened) const {
  // in units of the columns
  const VectorXd unit = R.colwise().norm().transpose().cwiseMax(1e-300).cwiseInverse();
  LmiProblem program;
  bool violated = false;
  for (Index i = 0; i < n_; ++i) {
    if (lower_[i] == -kUnbounded) continue;
    violated = violated || free[i] < lower_[i];
    program.inequalities.push_back(
        {{static_cast<int>(i)}, VectorXd::Constant(1, 1.0), lower_[i] / unit[i]});
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
      entries.push_back(coefficients[i] * unit[i]);
    }
    linear.coefficients =
        Eigen::Map<const VectorXd>(entries.data(), static_cast<Index>(entries.size()));
    linear.lower = -value;
    program.inequalities.push_back(std::move(linear));
  }
  if (!violated) return free;
  program.A = R * unit.asDiagonal();
  const VectorXd pivots = program.A.diagonal().cwiseAbs();
  if (!(pivots.minCoeff() > kSmallestPivotOfStep)) return VectorXd::Constant(n_, kUnbounded);
  program.b = R * free;
  const LmiSolution solution = solveLmiLeastSquares(program);
  const VectorXd step = unit.cwiseProduct(solution.x);
  return !fulfilsConstraints(solution) ? VectorXd::Zero(n_).eval() : step.cwiseMax(lower_).eval();
}

/// A step under the inequalities as they are linearised, and where coordinates are curved (a mass
/// is a sum of squares) once more under ones that are tighter by what it missed.
/// @param bend  what the curvature of the coordinates adds to dx
Attempt ChartedSolver::attempt(const LocalModel& model, const VectorXd& bend) const {
  Attempt out;
  MatrixXd rows(model.charted.rows() + n_, n_);
  rows << model.charted, MatrixXd((lambda_ * model.damping).cwiseSqrt().asDiagonal());
  VectorXd right = VectorXd::Zero(rows.rows());
  right.head(model.rest.size()) = -model.rest - model.rows * bend;
  const MatrixXd factor = triangularFactor(rows, right);
  const MatrixXd R = factor.leftCols(n_).triangularView<Eigen::Upper>();
  VectorXd free = solveUpper(R, factor.col(n_));
  if (!model.linear.isZero(0.0))
    free -= solveUpper(R, solveUpperTransposed(R, chart_jacobian_.transpose() * model.linear));
  if (!free.allFinite()) return out;
  VectorXd tightened = VectorXd::Zero(static_cast<Index>(problem_.inequalities.size()));
  for (int correction = 0; correction <= kCorrections && !out.allowed; ++correction) {
    const VectorXd step = stepUnder(R, free, tightened);
    if (correction == 0) out.wanted = step;
    out.step = step;
    if (!step.allFinite()) break;
    out.states = states_;
    out.x = at_;
    for (Index i = 0; i < n_; ++i) {
      if (!charted_[static_cast<size_t>(i)]) out.x[i] += step[i];
    }
    for (size_t k = 0; k < bodies_.size(); ++k)
      out.states[k] = movedBy(states_[k], bodies_[k], step.segment<10>(bodies_[k].first));
    out.x = place(out.states, out.x);
    if (!out.x.allFinite()) break;
    const VectorXd missed = missedBy(out.x);
    out.allowed = missed.isZero(0.0);
    tightened += kOvershoot * missed;
  }
  return out;
}

void ChartedSolver::setBarrier(double weight) {
  const size_t own = problem_.blocks.size();
  for (size_t k = own; k < smooth_.blocks.size(); ++k) smooth_.blocks[k].log_det_weight = weight;
}

/// There the coordinates are smooth both ways, and a point that no step improves is the optimum of
/// the convex problem.
bool ChartedSolver::awayFromBoundary() const {
  for (size_t k = problem_.blocks.size(); k < smooth_.blocks.size(); ++k) {
    const PsdBlock& block = smooth_.blocks[k];
    const Eigen::LLT<Matrix4d> scale(blockAt(block, inside_));
    Matrix4d relative = scale.matrixL().solve(blockAt(block, at_));
    relative = scale.matrixL().solve(Matrix4d(relative.transpose()));
    const Eigen::SelfAdjointEigenSolver<Matrix4d> eigen(relative, Eigen::EigenvaluesOnly);
    if (!(eigen.eigenvalues()[0] > kAwayFromBoundary)) return false;
  }
  return true;
}

/// Coordinates are curved: a step d leads to x + J d + c(d). Once more with c in the model, until
/// the objective is below `enough`: the step bends back to where the linear one wanted to be, which
/// narrow valleys need.
void ChartedSolver::straighten(const LocalModel& model, double enough, Attempt* next,
                               double* value) const {
  Attempt bent = *next;
  for (int k = 0; k<kStraightened&& * value> enough && bent.x.allFinite(); ++k) {
    bent = attempt(model, bent.x - at_ - chart_jacobian_ * bent.step);
    if (!bent.allowed) return;
    const double candidate = objectiveAt(smooth_, bent.x);
    if (!(candidate < *value)) continue;
    *value = candidate;
    *next = bent;
  }
}

/// What the model says a step gains; infinite if there is no step.
double ChartedSolver::promised(const LocalModel& model, const VectorXd& step) const {
  if (step.size() == 0 || !step.allFinite()) return kUnbounded;
  const VectorXd change = model.charted * step;
  return -(model.rest.dot(change) + 0.5 * change.squaredNorm() +
           model.linear.dot(chart_jacobian_ * step));
}

void ChartedSolver::keepBest() {
  const double own = objectiveAt(problem_, at_);
  if (!(own < best_.objective)) return;
  best_.objective = own;
  best_.x = at_;
  if (options_.visit) options_.visit(at_);
}

void ChartedSolver::moveTo(const VectorXd& x) {
  for (size_t k = 0; k < bodies_.size(); ++k) {
    const ChartedBody& body = bodies_[k];
    states_[k] = stateOf(body, body.W.partialPivLu().solve(x.segment<10>(body.first) - body.w0));
  }
  at_ = place(states_, x);
}

/// Where no step in coordinates gets ahead: along the straight line of the undamped one, for which
/// objective and barrier are convex, to coordinates of the first point that is better.
bool ChartedSolver::straightStep(const LocalModel& model, double* value) {
  const double damped = lambda_;
  lambda_ = 0.0;
  const VectorXd step = attempt(model, VectorXd::Zero(n_)).wanted;
  lambda_ = std::min(damped, 1.0);
  if (!(promised(model, step) < kUnbounded)) return false;
  const VectorXd from = at_, change = chart_jacobian_ * step;
  const std::vector<CoordinateState> states = states_;
  double share = 1.0;
  for (int halving = 0; halving < kHalvings; ++halving, share *= 0.5) {
    const VectorXd x = from + share * change;
    if (!(objectiveAt(smooth_, x) < *value) || !missedBy(x).isZero(0.0)) continue;
    moveTo(x);
    const double candidate = objectiveAt(smooth_, at_);
    if (candidate < *value && missedBy(at_).isZero(0.0)) {
      *value = candidate;
      keepBest();
      return true;
    }
    states_ = states;
    at_ = from;
  }
  return false;
}

/// Steps with the barrier as it is until they promise less than `enough`.
bool ChartedSolver::descend(double enough, int budget) {
  double value = objectiveAt(smooth_, at_);
  for (int step = 0; step < budget; ++step, ++best_.iterations) {
    chart_jacobian_ = MatrixXd::Identity(n_, n_);
    lower_ = VectorXd::Constant(n_, -kUnbounded);
    for (size_t k = 0; k < bodies_.size(); ++k) {
      const int first = bodies_[k].first;
      chart_jacobian_.block<10, 10>(first, first) = bodies_[k].W * jacobianOf(states_[k]);
      boundsOf(states_[k], bodies_[k], lower_.segment(first, 10));
    }
    const LocalModel model = modelAt(at_);
    bool taken = false, asked = false;
    double whole = kUnbounded;  // what there is to gain by the model
    for (int trial = 0; trial < 30 && !taken; ++trial, lambda_ = std::min(lambda_ * 4.0, 1e12)) {
      Attempt next = attempt(model, VectorXd::Zero(n_));
      const double promise = promised(model, next.wanted);
      if (promise == kUnbounded) continue;
      if (promise <= enough) {
        // a damped step promises less than there is to gain
        if (asked) break;
        asked = true;
        const double damped = lambda_;
        lambda_ = 0.0;
        whole = promised(model, attempt(model, VectorXd::Zero(n_)).wanted);
        lambda_ = whole <= enough ? damped : kLongStep;
        if (whole <= enough) return true;
        continue;
      }
      double candidate = next.allowed ? objectiveAt(smooth_, next.x) : kUnbounded;
      straighten(model, value - kGoodShare * promise, &next, &candidate);
      if (!(candidate < value)) continue;
      const double ratio = (value - candidate) / promise;
      states_ = std::move(next.states);
      at_ = std::move(next.x);
      value = candidate;
      taken = true;
      // the loop multiplies once more
      lambda_ = std::max(ratio > 0.5 ? lambda_ / 40.0 : lambda_ / 4.0, 1e-14);
      keepBest();
    }
    if (taken || straightStep(model, &value)) continue;
    return whole <= kRounding * sizeOf(value);
  }
  return false;
}

/// Along the minima of objective - mu log det as mu goes to zero: inside, where the gradient
/// vanishes at the minimum, Gauss-Newton steps are Newton's, and what is left to the optimum is at
/// most 4 mu per body.
bool ChartedSolver::followBarrier() {
  moveTo((1.0 - kStepInside) * at_ + kStepInside * inside_);
  const double count = 4.0 * static_cast<double>(std::max<size_t>(bodies_.size(), 1));
  const double first = kFirstBarrier * sizeOf(best_.objective) / count;
  lambda_ = 1e-3;
  for (double weight = first; weight > kLeastBarrier * first; weight *= kBarrierShrinks) {
    setBarrier(weight);
    if (!descend(kFollowed * weight, options_.max_iterations - best_.iterations)) return false;
    best_.gap = count * weight;
    if (best_.gap <= kEndGap * sizeOf(best_.objective)) return true;
  }
  return true;
}

DescentResult ChartedSolver::solve(const VectorXd& start) {
  states_.resize(bodies_.size());
  moveTo(start);
  inside_ = best_.x = at_;
  best_.objective = objectiveAt(problem_, at_);
  best_.gap = kUnbounded;
  if (options_.visit) options_.visit(at_);
  const int plain = std::min(kPlainSteps, options_.max_iterations);
  best_.converged = descend(options_.tolerance * sizeOf(best_.objective), plain);
  if (best_.converged && awayFromBoundary()) {
    best_.gap = 0.0;
  } else if (best_.iterations < options_.max_iterations) {
    best_.converged = followBarrier();
  }
  for (Index i = 0; i < n_ && lower_.size() == n_; ++i) best_.bounds_active += lower_[i] == 0.0;
  return best_;
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
