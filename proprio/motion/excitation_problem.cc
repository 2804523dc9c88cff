#include <algorithm>
#include <cmath>

#include "proprio/core/parallel.h"
#include "proprio/motion/excitation_problem_internal.h"

namespace proprio::internal {
namespace {

// Criterion samples per shortest period, and watched times nearer than a part of it, or than this
// many seconds, are one.
constexpr int kSamplesPerPeriod = 5;
constexpr double kSameTime = 0.01, kSameSeconds = 0.01;
// Time points per task.
constexpr std::ptrdiff_t kPointsPerTask = 4;

}  // namespace

MotionLimits designLimits(const Model& model, const ExcitationOptions& options) {
  const ConstraintOptions& c = options.constraints;
  const std::vector<std::string> joints = c.joints.empty() ? motionJoints(model) : c.joints;
  MotionLimits limits =
      withMargin(c.limits ? *c.limits : limitsOf(model, joints), 1.0 - options.margin);
  limits.velocity *= options.speed;
  limits.acceleration *= options.speed * options.speed;
  return limits;
}

RestBasis restBasis(const ExcitationOptions& options) {
  switch (options.basis) {
    case ExcitationBasis::kFourier:
      return fourierRest(options.harmonics, options.seconds);
    case ExcitationBasis::kBSpline:
      return bSplineRest(options.control_points, options.seconds);
    case ExcitationBasis::kTrapezoid:
      return trapezoidRest(options.stops, options.seconds);
  }
  return {};
}

Eigen::Index criterionSamples(const RestBasis& basis, const CriterionOptions& criterion,
                              const Tree& tree) {
  return std::max<Eigen::Index>(
      kSamplesPerPeriod * basis.waves,
      3 * static_cast<Eigen::Index>(criterion.columns.size()) / std::max(1, tree.velocityCount()));
}

ExcitationProblem::ExcitationProblem(RestBasis basis, const Tree& smooth,
                                     std::shared_ptr<const MotionConstraints> constraints,
                                     ExcitationCriterion* criterion)
    : basis_(std::move(basis)), constraints_(std::move(constraints)), criterion_(criterion) {
  const auto n = static_cast<Eigen::Index>(constraints_->joints().size());
  const MotionLimits& limits = constraints_->limits();
  unit_.resize(n * perJoint());
  const double w = 2.0 * M_PI / basis_.seconds;
  for (Eigen::Index j = 0; j < n; ++j) {
    double speed = limits.velocity[j];
    if (!std::isfinite(speed)) speed = limits.acceleration[j] / (4.0 * w);
    if (!std::isfinite(speed)) speed = 1.0;
    unit_.segment(j * perJoint(), perJoint()).setConstant(speed);
    unit_[j * perJoint()] = 1.0;
  }
  const Eigen::Index count = criterionSamples(basis_, criterion->options(), smooth);
  grid_ = basis_.at(Eigen::VectorXd::NullaryExpr(count, [&](Eigen::Index k) {
    return basis_.seconds * static_cast<double>(k) / static_cast<double>(count);
  }));
}

Eigen::MatrixXd ExcitationProblem::coefficients(const Eigen::VectorXd& x) const {
  const Eigen::VectorXd y = x.cwiseProduct(unit_);
  return Columns(y.data(), perJoint(), jointCount());
}

std::shared_ptr<const Trajectory> ExcitationProblem::motion(const Eigen::VectorXd& x) const {
  return basis_.trajectory(basis_.to_full * coefficients(x));
}

GridSamples ExcitationProblem::samples(const RestGrid& grid, const Eigen::VectorXd& x) const {
  const Eigen::MatrixXd full = basis_.to_full * coefficients(x);
  return {grid.time, grid.full.q * full, grid.full.v * full, grid.full.a * full};
}

Eigen::VectorXd ExcitationProblem::start(const Eigen::VectorXd& x) const {
  return coefficients(x).row(0).transpose();
}

Eigen::VectorXd ExcitationProblem::scaled(const Eigen::VectorXd& x, double factor,
                                          const Eigen::VectorXd& centre) const {
  Eigen::VectorXd y = factor * x;
  for (Eigen::Index j = 0; j < jointCount(); ++j) {
    y[j * perJoint()] += (1.0 - factor) * centre[j] / unit_[j * perJoint()];
  }
  return y;
}

Eigen::VectorXd ExcitationProblem::centredAt(const Eigen::VectorXd& x,
                                             const Eigen::VectorXd& centre) const {
  const Eigen::MatrixXd q = grid_.q * coefficients(x);
  Eigen::VectorXd y = x;
  for (Eigen::Index j = 0; j < jointCount(); ++j) {
    const double middle = 0.5 * (q.col(j).minCoeff() + q.col(j).maxCoeff());
    y[j * perJoint()] += (centre[j] - middle) / unit_[j * perJoint()];
  }
  return y;
}

double ExcitationProblem::value(const Eigen::VectorXd& x) {
  const Eigen::MatrixXd c = coefficients(x);
  const double value = criterion_->value(constraints_->fullPositions(grid_.q * c),
                                         constraints_->fullVelocities(grid_.v * c),
                                         constraints_->fullVelocities(grid_.a * c));
  if (criterion_->options().criterion == Criterion::kD) {
    return value / (2.0 * static_cast<double>(criterion_->options().columns.size()));
  }
  return std::log(value);
}

double ExcitationProblem::valueAndGradient(const Eigen::VectorXd& x, Eigen::VectorXd* gradient) {
  const Eigen::MatrixXd c = coefficients(x);
  const Eigen::MatrixXd q = constraints_->fullPositions(grid_.q * c),
                        v = constraints_->fullVelocities(grid_.v * c),
                        a = constraints_->fullVelocities(grid_.a * c);
  Eigen::MatrixXd dq(v.rows(), v.cols()), dv(dq), da(dq);
  const double value = criterion_->valueAndGradient(q, v, a, dq, dv, da);
  const bool d = criterion_->options().criterion == Criterion::kD;
  const double slope =
      d ? 0.5 / static_cast<double>(criterion_->options().columns.size()) : 1.0 / value;
  gradient->resize(x.size());
  for (Eigen::Index j = 0; j < jointCount(); ++j) {
    const int k = constraints_->coordinates()[static_cast<size_t>(j)];
    gradient->segment(j * perJoint(), perJoint()) =
        slope * (grid_.q.transpose() * dq.col(k) + grid_.v.transpose() * dv.col(k) +
                 grid_.a.transpose() * da.col(k));
  }
  *gradient = gradient->cwiseProduct(unit_);
  return d ? slope * value : std::log(value);
}

bool ExcitationProblem::watch(double time, int constraint) {
  const double near = std::min(kSameTime * basis_.seconds / basis_.waves, kSameSeconds);
  TimePoint* same = nullptr;
  for (TimePoint& point : points_) {
    if (std::abs(point.time - time) > near) continue;
    same = &point;
    for (const int c : point.chosen) {
      if (c == constraint) return false;
    }
  }
  if (same == nullptr) {
    TimePoint point;
    point.time = time;
    const MotionBasis basis = basis_.at(Eigen::VectorXd::Constant(1, time));
    point.q = basis.q.row(0);
    point.v = basis.v.row(0);
    point.a = basis.a.row(0);
    points_.push_back(std::move(point));
    same = &points_.back();
  }
  same->chosen.push_back(constraint);
  return true;
}

int ExcitationProblem::watched() const {
  int rows = 0;
  for (const TimePoint& point : points_) rows += static_cast<int>(point.chosen.size());
  return rows;
}

void ExcitationProblem::evaluate(const Eigen::VectorXd& x, Eigen::VectorXd& g) const {
  const Eigen::MatrixXd c = coefficients(x);
  parallelChunks(static_cast<std::ptrdiff_t>(points_.size()), kPointsPerTask,
                 [&](std::ptrdiff_t first, std::ptrdiff_t count, int worker) {
                   for (std::ptrdiff_t k = first; k < first + count; ++k) {
                     const TimePoint& p = points_[static_cast<size_t>(k)];
                     const Eigen::VectorXd q = (p.q * c).transpose(), v = (p.v * c).transpose(),
                                           a = (p.a * c).transpose();
                     constraints_->evaluate(
                         p.chosen, q, v, a, worker,
                         g.segment(p.first_row, static_cast<Eigen::Index>(p.chosen.size())));
                   }
                 });
}

void ExcitationProblem::jacobian(const Eigen::VectorXd& x, Eigen::VectorXd& values) const {
  const Eigen::MatrixXd c = coefficients(x);
  const Eigen::Index p_count = perJoint();
  parallelChunks(
      static_cast<std::ptrdiff_t>(points_.size()), kPointsPerTask,
      [&](std::ptrdiff_t first, std::ptrdiff_t count, int worker) {
        MotionConstraints::Sample sample;
        for (std::ptrdiff_t k = first; k < first + count; ++k) {
          const TimePoint& p = points_[static_cast<size_t>(k)];
          const Eigen::VectorXd q = (p.q * c).transpose(), v = (p.v * c).transpose(),
                                a = (p.a * c).transpose();
          constraints_->linearise(p.chosen, q, v, a, worker, &sample);
          Eigen::Index entry = p.first_entry;
          for (size_t r = 0; r < p.chosen.size(); ++r) {
            const auto row = static_cast<Eigen::Index>(r);
            const MotionConstraint& constraint =
                constraints_->list()[static_cast<size_t>(p.chosen[r])];
            for (const int j : constraint.joints) {
              values.segment(entry, p_count) =
                  (sample.dq(row, j) * p.q + sample.dv(row, j) * p.v + sample.da(row, j) * p.a)
                      .transpose()
                      .cwiseProduct(unit_.segment(j * p_count, p_count));
              entry += p_count;
            }
          }
        }
      });
}

NonlinearProgram ExcitationProblem::program(const Eigen::VectorXd& x, double bound) {
  NonlinearProgram p;
  p.start = x;
  const Eigen::Index rows = watched();
  p.g_lower = Eigen::VectorXd::Constant(rows, -bound);
  p.g_upper = Eigen::VectorXd::Constant(rows, bound);
  int row = 0;
  for (TimePoint& point : points_) {
    point.first_row = row;
    point.first_entry = static_cast<int>(p.jacobian_rows.size());
    for (const int c : point.chosen) {
      const MotionConstraint& constraint = constraints_->list()[static_cast<size_t>(c)];
      if (!constraint.bothSides()) p.g_lower[row] = -std::numeric_limits<double>::infinity();
      for (const int j : constraint.joints) {
        for (Eigen::Index i = j * perJoint(); i < (j + 1) * perJoint(); ++i) {
          p.jacobian_rows.push_back(row);
          p.jacobian_columns.push_back(static_cast<int>(i));
        }
      }
      ++row;
    }
  }
  p.value = [this](const Eigen::VectorXd& y) { return value(y); };
  p.gradient = [this](const Eigen::VectorXd& y, Eigen::VectorXd& g) { valueAndGradient(y, &g); };
  p.constraints = [this](const Eigen::VectorXd& y, Eigen::VectorXd& g) { evaluate(y, g); };
  p.jacobian = [this](const Eigen::VectorXd& y, Eigen::VectorXd& values) { jacobian(y, values); };
  return p;
}

}  // namespace proprio::internal
