#include "proprio/identification/consistent_alternatives.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "proprio/core/random.h"
#include "proprio/core/text.h"
#include "proprio/identification/shape_hull.h"
#include "proprio/numerics/nonnegative_least_squares.h"
#include "proprio/spatial/pseudo_inertia.h"

namespace proprio {
namespace {

using Eigen::Index;
using Eigen::Matrix4d;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Spectrum of a start relative to its largest, and mass relative to the prior's.
constexpr double kClipped = 1e-3;
constexpr double kLeastMass = 1e-4;
/// Published form: smallest diagonal entry, box 10 exp(-i / 4) of each entry and of 1.
constexpr double kPivot = 1e-5;
constexpr double kBox = 10.0, kAnnealing = 0.25, kBoxFloor = 0.1;
constexpr int kPublishedIterations = 30;
/// Point masses under inequalities: how much heavier those rows are than the data's, how many
/// rounds, when they are kept, and from where on they cannot be.
constexpr double kRowWeight = 1e3, kRowsKept = 1e-10, kRowsBroken = 1e-6;
constexpr int kRowRounds = 5;

/// The place of a link's unknowns and the block that says when it is possible.
struct LinkBlock {
  int link = -1;
  int first = 0;
  const PsdBlock* block = nullptr;
};

std::vector<LinkBlock> linkBlocks(const IdentificationProblem& problem,
                                  const ConsistentProblem& consistent) {
  std::vector<LinkBlock> all;
  for (size_t k = 0; k < consistent.lmi.blocks.size(); ++k) {
    const PsdBlock& block = consistent.lmi.blocks[k];
    if (block.log_det_weight > 0.0) continue;
    const int link = consistent.block_links[k];
    for (const LinkBlock& other : all) {
      if (other.first != block.variables.front()) continue;
      throw Error(
          fmt::format("link {} is tied to its mirror image and has lumped parts: only "
                      "pc-ols, pc-wls and their kin can keep both possible",
                      inQuotes(problem.tree->model().links[static_cast<size_t>(link)].name)));
    }
    all.push_back({link, block.variables.front(), &block});
  }
  return all;
}

/// xi of a link whose block is S: map^-1 (S - constant).
Vector10d unknownsOf(const PsdBlock& block, const Matrix4d& S) {
  return (lowerTriangle(S) - block.constant).cwiseQuotient(block.map.diagonal());
}

bool keepsRows(const LmiProblem& problem, const VectorXd& xi) {
  return std::all_of(problem.inequalities.begin(), problem.inequalities.end(),
                     [&](const LinearInequality& row) { return slackAt(row, xi) >= -1e-9; });
}

/// Strictly possible, all inequalities kept: the prior if it is that, else the nearest to it.
VectorXd possibleStart(const ConsistentProblem& consistent) {
  VectorXd start = keptInside(consistent, consistent.inside);
  if (keepsRows(consistent.lmi, start)) return start;
  LmiProblem nearest;
  nearest.A = MatrixXd::Identity(start.size(), start.size());
  nearest.b = start;
  nearest.blocks = consistent.lmi.blocks;
  for (PsdBlock& block : nearest.blocks) block.log_det_weight = 0.0;
  nearest.inequalities = consistent.lmi.inequalities;
  const LmiSolution solution = solveLmiLeastSquares(nearest);
  if (!fulfilsConstraints(solution))
    throw Error("no robot fulfils all the constraints: bounds contradict each other");
  return keptInside(consistent, solution.x);
}

/// The better of the prior and the unconstrained solution with its bodies made possible.
VectorXd goodStart(const ConsistentProblem& consistent, const LmiProblem& triangular,
                   const std::vector<LinkBlock>& links) {
  VectorXd start = possibleStart(consistent);
  VectorXd fitted = unconstrainedPoint(triangular);
  if (!fitted.allFinite()) return start;
  for (const LinkBlock& link : links) {
    const Eigen::SelfAdjointEigenSolver<Matrix4d> eigen(blockAt(*link.block, fitted));
    const Eigen::Vector4d& values = eigen.eigenvalues();
    if (values[0] > 0.0) continue;
    const double least = kClipped * values.cwiseAbs().maxCoeff();
    const Matrix4d S = eigen.eigenvectors() * values.cwiseMax(least).asDiagonal() *
                       eigen.eigenvectors().transpose();
    fitted.segment<10>(link.first) = unknownsOf(*link.block, S);
  }
  fitted = keptInside(consistent, fitted);
  const bool better = keepsRows(consistent.lmi, fitted) &&
                      objectiveAt(triangular, fitted) < objectiveAt(triangular, start);
  return better ? fitted : start;
}

/// What all these methods share: noise, system, problem; and the estimate at the end.
struct Prepared {
  VectorXd sigma;
  TriangularSystem system;
  PriorOptions prior;
  ConsistentProblem consistent;
  LmiProblem triangular;
  std::vector<LinkBlock> links;
};

Prepared prepare(const IdentificationProblem& problem, const MethodOptions& options) {
  Prepared p;
  p.sigma = consistentNoise(problem);
  const MethodOptions weighted = withKnownWeight(problem, options);
  p.system = weightedSystem(problem.stacked, p.sigma);
  p.prior = doubtingPrior(problem, p.system, weighted);
  p.consistent = consistentProblem(problem, p.system, options.constraints, p.prior);
  tellWeight(options, weighted, &p.consistent.notes);
  p.triangular = withTriangularRows(p.consistent.lmi);
  p.links = linkBlocks(problem, p.consistent);
  return p;
}

Estimate finished(const IdentificationProblem& problem, const Prepared& p, const VectorXd& xi,
                  int iterations, bool converged) {
  const VectorXd inside = keptInside(p.consistent, xi);
  Estimate estimate = estimateAt(problem, p.system, p.consistent, inside, p.prior);
  tellDoubts(problem, p.prior, &estimate);
  estimate.sigma = p.sigma;
  estimate.iterations = iterations;
  estimate.converged = converged;
  for (const LinkBlock& link : p.links) {
    const Eigen::SelfAdjointEigenSolver<Matrix4d> eigen(blockAt(*link.block, inside),
                                                        Eigen::EigenvaluesOnly);
    if (eigen.eigenvalues()[0] < 1e-6) estimate.active_links.push_back(link.link);
  }
  return estimate;
}

Estimate descend(const IdentificationProblem& problem, const MethodOptions& options,
                 BodyCoordinates coordinates) {
  const Prepared p = prepare(problem, options);
  DescentOptions descent;
  descent.coordinates = coordinates;
  if (options.max_iterations > 0) descent.max_iterations = options.max_iterations;
  if (options.tolerance > 0.0) descent.tolerance = options.tolerance;
  const VectorXd start = goodStart(p.consistent, p.triangular, p.links);
  descent.constant = objectiveAt(p.consistent.lmi, start) - objectiveAt(p.triangular, start);
  const DescentResult result = chartedDescent(
      p.triangular, chartedBodies(problem, p.consistent, coordinates), start, descent);
  Estimate estimate = finished(problem, p, result.x, result.iterations, result.converged);
  if (std::isfinite(result.gap))
    estimate.gap = result.gap / std::max(result.objective + descent.constant, 1e-300);
  if (!result.converged && options.max_iterations == 0)
    estimate.notes.push_back(fmt::format(
        "the descent was still on its way after {} steps: {} of {} links end on the boundary of "
        "what is possible, which is {} in its coordinates; pc-wls finds the optimum of the same "
        "problem",
        result.iterations, estimate.active_links.size(), p.links.size(),
        coordinates == BodyCoordinates::kLogCholesky ? "infinitely far away" : "degenerate"));
  return estimate;
}

/// The quadratic program of one published iteration. Unknowns: Cholesky entries in place of the
/// links' xi, the others as they are.
class PublishedStep {
 public:
  PublishedStep(const Prepared& p, const VectorXd& xi) : p_(p), rho_(xi) {
    for (const LinkBlock& link : p.links) {
      Matrix4d S = blockAt(*link.block, xi);
      S.diagonal().array() += kPivot * kPivot;
      const Matrix4d C = S.llt().matrixL();
      rho_.segment<10>(link.first) = lowerTriangle(C);
    }
  }
  VectorXd point() const {
    VectorXd xi = rho_;
    for (const LinkBlock& link : p_.links) {
      const Matrix4d C = factor(link);
      xi.segment<10>(link.first) = unknownsOf(*link.block, C * C.transpose());
    }
    return xi;
  }
  void advance(double width);

 private:
  Matrix4d factor(const LinkBlock& link) const {
    const Vector10d entries = rho_.segment<10>(link.first);
    return symmetricFromLowerTriangle(entries).triangularView<Eigen::Lower>();
  }
  const Prepared& p_;
  VectorXd rho_;
};

void PublishedStep::advance(double width) {
  const Index n = rho_.size();
  // xi = T rho + t with one factor from before: S = (C_before C^T + C C_before^T) / 2
  MatrixXd T = MatrixXd::Identity(n, n);
  VectorXd t = VectorXd::Zero(n);
  LmiProblem program;
  const auto bound = [&](Index i, double sign, double lower) {
    program.inequalities.push_back({{static_cast<int>(i)}, VectorXd::Constant(1, sign), lower});
  };
  for (const LinkBlock& link : p_.links) {
    const Matrix4d before = factor(link);
    for (int i = 0; i < 10; ++i) {
      const Matrix4d E =
          symmetricFromLowerTriangle(Vector10d::Unit(i)).triangularView<Eigen::Lower>();
      const Matrix4d S = 0.5 * (before * E.transpose() + E * before.transpose());
      T.block<10, 1>(link.first, link.first + i) =
          lowerTriangle(S).cwiseQuotient(link.block->map.diagonal());
      const double value = rho_[link.first + i], box = width * std::max(std::abs(value), kBoxFloor);
      const bool diagonal = i == 0 || i == 2 || i == 5 || i == 9;
      bound(link.first + i, 1.0, diagonal ? std::max(value - box, kPivot) : value - box);
      bound(link.first + i, -1.0, -(value + box));
    }
    t.segment<10>(link.first) = -link.block->constant.cwiseQuotient(link.block->map.diagonal());
  }
  for (const LinearInequality& row : p_.triangular.inequalities) {
    VectorXd dense = VectorXd::Zero(n);
    for (size_t i = 0; i < row.variables.size(); ++i)
      dense += row.coefficients[static_cast<Index>(i)] * T.row(row.variables[i]).transpose();
    LinearInequality moved;
    for (Index i = 0; i < n; ++i) {
      if (dense[i] != 0.0) moved.variables.push_back(static_cast<int>(i));
    }
    moved.coefficients = dense(moved.variables);
    moved.lower = -slackAt(row, t);
    program.inequalities.push_back(std::move(moved));
  }
  program.A = p_.triangular.A * T;
  program.b = p_.triangular.b - p_.triangular.A * t;
  LmiOptions solver;
  solver.start = rho_;
  const LmiSolution solution = solveLmiLeastSquares(program, solver);
  if (!fulfilsConstraints(solution)) return;
  rho_ = solution.x;
  for (const LinkBlock& link : p_.links) {
    for (const int i : {0, 2, 5, 9}) rho_[link.first + i] = std::max(rho_[link.first + i], kPivot);
  }
}

/// Places for point masses in the link frame: in the hull of the shapes, else in the prior's
/// ellipsoid. The same ones every time.
std::vector<Vector3d> pointPlaces(const IdentificationProblem& problem, int link,
                                  const PolytopeOptions& options) {
  const Model& model = problem.tree->model();
  std::vector<Vector3d> places;
  const Eigen::MatrixX3d normals = hullNormals(model, link);
  const VectorXd support = supportOfShapes(model, link, normals);
  const auto random = [&](int i, int axis) {
    return uniformNumber(1, static_cast<std::uint64_t>(link),
                         static_cast<std::uint64_t>(3 * i + axis));
  };
  if (support.size() > 0) {
    const Eigen::MatrixX3d axes = Matrix3d::Identity();
    const Vector3d upper = supportOfShapes(model, link, axes);
    const Vector3d lower = -supportOfShapes(model, link, -axes);
    for (int i = 0; static_cast<int>(places.size()) < options.points && i < 100 * options.points;
         ++i) {
      Vector3d r;
      for (int axis = 0; axis < 3; ++axis)
        r[axis] = lower[axis] + (upper[axis] - lower[axis]) * random(i, axis);
      if (((normals * r - support).array() <= 0.0).all()) places.push_back(r);
    }
    if (static_cast<int>(places.size()) == options.points) return places;
    places.clear();  // shapes without volume
  }
  const auto prior = InertialParameters::fromVector(problem.prior.segment<10>(10 * link));
  const Matrix3d root = Matrix3d(centralSecondMoment(prior) / prior.mass).llt().matrixL();
  for (int i = 0; i < options.points; ++i) {
    // Fibonacci's spiral, shells by volume
    const double share = (i + 0.5) / options.points, golden = M_PI * (3.0 - std::sqrt(5.0));
    const double z = 1.0 - 2.0 * std::fmod(i * 0.618034, 1.0), ring = std::sqrt(1.0 - z * z);
    const Vector3d u(ring * std::cos(golden * i), ring * std::sin(golden * i), z);
    places.push_back(prior.com() + options.reach * std::cbrt(share) * (root * u));
  }
  return places;
}

/// min |A (T x + t) - b|^2 over x >= 0 besides the first `free`, under the rows
/// c^T (T x + t) - s = lower with slacks s >= 0. The rows are heavy ones of the least squares; what
/// is left of them is added to their right side until nothing is (method of multipliers).
PolytopeSolution mixtureUnder(const LmiProblem& triangular,
                              const std::vector<const LinearInequality*>& rows, const MatrixXd& T,
                              const VectorXd& t, int free, Index points) {
  const Index n = triangular.A.rows(), count = static_cast<Index>(rows.size());
  MatrixXd C = MatrixXd::Zero(count, triangular.A.cols());
  VectorXd least(count);
  for (Index r = 0; r < count; ++r) {
    const LinearInequality& row = *rows[static_cast<size_t>(r)];
    for (size_t i = 0; i < row.variables.size(); ++i)
      C(r, row.variables[i]) = row.coefficients[static_cast<Index>(i)];
    least[r] = row.lower;
  }
  const double weight = kRowWeight * std::max(triangular.A.colwise().norm().maxCoeff(), 1e-300);
  MatrixXd M = MatrixXd::Zero(n + count, T.cols() + count);
  M.topLeftCorner(n, T.cols()) = triangular.A * T;
  M.bottomLeftCorner(count, T.cols()) = weight * C * T;
  M.bottomRightCorner(count, count).diagonal().setConstant(-weight);
  VectorXd right(n + count), shift = VectorXd::Zero(count);
  right.head(n) = triangular.b - triangular.A * t;
  PolytopeSolution out;
  for (int round = 0; round < kRowRounds; ++round) {
    right.tail(count) = weight * (least + shift - C * t);
    const NonnegativeSolution solution = nonnegativeLeastSquares(M, right, free);
    const VectorXd x = solution.x.head(T.cols());
    out.xi = T * x + t;
    out.used = static_cast<int>((x.tail(points).array() > 0.0).count());
    out.iterations += solution.iterations;
    const VectorXd missing = (least - C * out.xi).cwiseMax(0.0);
    out.missing = count == 0 ? 0.0 : missing.maxCoeff();
    if (out.missing < kRowsKept) break;
    shift += missing;
  }
  return out;
}

/// Quadratic programs cannot hold a divergence; its curvature at the prior is the pull-back metric.
MethodOptions withQuadraticPrior(MethodOptions options) {
  if (options.prior.kind == PriorKind::kEntropic) options.prior.kind = PriorKind::kPullback;
  return options;
}

void notePrior(const MethodOptions& options, Estimate* estimate) {
  if (options.prior.kind == PriorKind::kEntropic)
    estimate->notes.push_back(
        "this method has no entropic prior: the pull-back metric, its curvature, took its place");
}

}  // namespace

std::vector<ChartedBody> chartedBodies(const IdentificationProblem& problem,
                                       const ConsistentProblem& consistent,
                                       BodyCoordinates coordinates) {
  std::vector<ChartedBody> bodies;
  for (const LinkBlock& link : linkBlocks(problem, consistent)) {
    ChartedBody body;
    body.first = link.first;
    const Vector10d inverse = link.block->map.diagonal().cwiseInverse();
    body.w0 = -inverse.cwiseProduct(link.block->constant);
    body.W = inverse.asDiagonal() * pseudoInertiaJacobian();
    const auto prior = InertialParameters::fromVector(problem.prior.segment<10>(10 * link.link));
    if (coordinates == BodyCoordinates::kPrincipal) {
      // the block sees the body through the prior: S = L^-1 D L^-T
      const Matrix4d L = pseudoInertia(prior).llt().matrixL();
      body.W = body.W * congruenceMap(L.inverse());
      body.least_mass = kLeastMass * prior.mass;
    }
    bodies.push_back(body);
  }
  return bodies;
}

Estimate logCholeskyMethod(const IdentificationProblem& problem, const MethodOptions& options) {
  return descend(problem, options, BodyCoordinates::kLogCholesky);
}

Estimate manifoldMethod(const IdentificationProblem& problem, const MethodOptions& options) {
  return descend(problem, options, BodyCoordinates::kPrincipal);
}

Estimate gaussNewtonSqp(const IdentificationProblem& problem, const MethodOptions& options) {
  return descend(problem, options, BodyCoordinates::kCholesky);
}

Estimate publishedSqp(const IdentificationProblem& problem, const MethodOptions& options) {
  const Prepared p = prepare(problem, withQuadraticPrior(options));
  VectorXd best = possibleStart(p.consistent);
  double best_value = objectiveAt(p.triangular, best);
  PublishedStep step(p, best);
  const int iterations = options.max_iterations > 0 ? options.max_iterations : kPublishedIterations;
  for (int i = 1; i <= iterations; ++i) {
    step.advance(kBox * std::exp(-kAnnealing * i));
    const VectorXd xi = step.point();
    const double value = objectiveAt(p.triangular, xi);
    if (value < best_value && keepsRows(p.triangular, xi)) {
      best = xi;
      best_value = value;
    }
  }
  Estimate estimate = finished(problem, p, best, iterations, true);
  notePrior(options, &estimate);
  return estimate;
}

PolytopeSolution solvePolytope(const IdentificationProblem& problem,
                               const ConsistentProblem& consistent,
                               const PolytopeOptions& options) {
  const LmiProblem triangular = withTriangularRows(consistent.lmi);
  const std::vector<LinkBlock> links = linkBlocks(problem, consistent);
  const Index n = triangular.A.cols();
  const Index inertial = 10 * static_cast<Index>(consistent.links.size());
  // lower bounds of the parameters after the links; everything else becomes a row with a slack
  VectorXd lower = VectorXd::Constant(n, -1e300);
  std::vector<const LinearInequality*> rows;
  for (const LinearInequality& row : triangular.inequalities) {
    const bool bound =
        row.variables.size() == 1 && row.variables[0] >= inertial && row.coefficients[0] > 0.0;
    if (bound) {
      double& least = lower[row.variables[0]];
      least = std::max(least, row.lower / row.coefficients[0]);
    } else {
      rows.push_back(&row);
    }
  }
  std::vector<Index> free, bounded;
  for (Index i = inertial; i < n; ++i) (lower[i] > -1e299 ? bounded : free).push_back(i);
  const Index points = static_cast<Index>(links.size()) * options.points;
  // xi = T x + t with x >= 0 besides the free ones
  MatrixXd T = MatrixXd::Zero(n, static_cast<Index>(free.size() + bounded.size()) + points);
  VectorXd t = VectorXd::Zero(n);
  Index column = 0;
  for (const Index i : free) T(i, column++) = 1.0;
  for (const Index i : bounded) {
    T(i, column++) = 1.0;
    t[i] = lower[i];
  }
  for (const LinkBlock& link : links) {
    const auto prior = InertialParameters::fromVector(problem.prior.segment<10>(10 * link.link));
    const Eigen::LLT<Matrix4d> D0(pseudoInertia(prior));
    const Vector10d inverse = link.block->map.diagonal().cwiseInverse();
    t.segment<10>(link.first) = -inverse.cwiseProduct(link.block->constant);
    for (const Vector3d& place : pointPlaces(problem, link.link, options)) {
      const Eigen::Vector4d s = D0.matrixL().solve(place.homogeneous());
      T.block<10, 1>(link.first, column++) = inverse.cwiseProduct(lowerTriangle(s * s.transpose()));
    }
  }
  return mixtureUnder(triangular, rows, T, t, static_cast<int>(free.size()), points);
}

Estimate polytopeMethod(const IdentificationProblem& problem, const MethodOptions& options) {
  const Prepared p = prepare(problem, withQuadraticPrior(options));
  const PolytopeSolution solution = solvePolytope(problem, p.consistent);
  if (solution.missing > kRowsBroken)
    throw Error(
        "polytope: no mixture of its point masses fulfils all the constraints: bounds contradict "
        "each other, or pc-wls has to be used");
  Estimate estimate = finished(problem, p, solution.xi, solution.iterations, true);
  estimate.notes.push_back(fmt::format("{} point masses carry weight", solution.used));
  notePrior(options, &estimate);
  return estimate;
}

}  // namespace proprio
