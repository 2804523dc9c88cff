#include "proprio/motion/motion_constraints.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "proprio/core/parallel.h"
#include "proprio/core/text.h"
#include "proprio/dynamics/augmented_regressor.h"
#include "proprio/dynamics/derivatives.h"
#include "proprio/dynamics/joint_effect_derivatives.h"
#include "proprio/dynamics/mass_matrix.h"
#include "proprio/motion/uniform_internal.h"

namespace proprio {
namespace {

constexpr double kLengthScale = 0.1;  // m: one unit of usage of a length
constexpr Eigen::Index kConstraintChunk = 16;
// Chosen constraints have exact distances from this usage on: up to 0.5 m beyond the clearance.
constexpr double kWatchedUsage = -4.0;
// A joint that moves one link relative to another by less than this (rad or m per rad) does not.
constexpr double kNoMotion = 1e-12;

bool isPlace(ConstraintKind kind) { return kind >= ConstraintKind::kWorkspace; }

}  // namespace

WorkspaceLimit workspaceLimitOf(const Model& model, const std::string& text) {
  const std::vector<std::string_view> words = splitWords(text);
  const auto wrong = [&](const std::string& what) {
    return Error(fmt::format("workspace limit {}: {}; write for example \"flange z > 0.3\"",
                             inQuotes(text), what));
  };
  if (words.size() != 4 && words.size() != 6) {
    throw wrong("expected a frame, an axis (or three factors of x, y and z), > or <, and metres");
  }
  WorkspaceLimit limit;
  limit.name = text;
  const std::string place(words[0]);
  const int frame = model.frameIndex(place);
  if (frame >= 0) {
    limit.link = model.frames[static_cast<size_t>(frame)].link;
    limit.X_LF = model.frames[static_cast<size_t>(frame)].X_LF;
  } else {
    limit.link = model.linkIndex(place);
  }
  if (limit.link < 0) {
    std::vector<std::string> names;
    for (const Frame& f : model.frames) names.push_back(f.name);
    for (const Link& l : model.links) names.push_back(l.name);
    throw wrong(
        fmt::format("there is no frame or link {}{}", inQuotes(place), didYouMean(place, names)));
  }
  const auto number = [&](std::string_view word) {
    const std::optional<double> value = parseNumber(word);
    if (!value || !std::isfinite(*value)) {
      throw wrong(fmt::format("{} is not a number", inQuotes(word)));
    }
    return *value;
  };
  Vector3d direction;
  if (words.size() == 4) {
    const int axis = words[1] == "x" ? 0 : words[1] == "y" ? 1 : words[1] == "z" ? 2 : -1;
    if (axis < 0) throw wrong(fmt::format("{} is not x, y or z", inQuotes(words[1])));
    direction = Vector3d::Unit(axis);
  } else {
    direction = Vector3d(number(words[1]), number(words[2]), number(words[3]));
    if (!(direction.norm() > 0.0)) throw wrong("the factors of x, y and z are all zero");
  }
  const std::string_view side = words[words.size() - 2];
  if (side != ">" && side != "<") {
    throw wrong(fmt::format("{} is neither > nor <", inQuotes(side)));
  }
  const double sign = (side == ">" ? 1.0 : -1.0) / direction.norm();
  limit.normal = sign * direction;
  limit.offset = sign * number(words.back());
  return limit;
}

struct MotionConstraints::Impl {
  struct Worker {
    explicit Worker(const Tree& tree)
        : workspace(tree),
          kinematics(tree),
          q(tree.positionCount()),
          v(tree.velocityCount()),
          a(tree.velocityCount()),
          tau(tree.velocityCount()),
          dq(v.size(), v.size()),
          dv(dq),
          da(dq),
          gradient(v.size()),
          jacobian(6, v.size()) {}
    Workspace workspace;
    Kinematics kinematics;
    Eigen::VectorXd q, v, a, tau;
    Eigen::MatrixXd dq, dv, da;
    Eigen::VectorXd gradient;
    Eigen::Matrix<double, 6, Eigen::Dynamic> jacobian;
    std::vector<JointEffectDerivative> effects;
  };

  void prepare(const std::vector<int>& chosen, ConstVectorRef q, ConstVectorRef v, ConstVectorRef a,
               bool with_slopes, Worker& w) const;
  double usageOf(const MotionConstraint& c, ConstVectorRef q, ConstVectorRef v, ConstVectorRef a,
                 double least, const Worker& w) const;
  void evaluate(const std::vector<int>& chosen, ConstVectorRef q, ConstVectorRef v,
                ConstVectorRef a, double least, int worker, VectorRef usage) const;
  void placeGradient(const MotionConstraint& c, Worker& w) const;
  void findJoints();

  std::shared_ptr<const Tree> tree;
  Parameters parameters;
  CompiledParameters compiled;
  ConstraintOptions options;
  MotionLimits limits;
  std::vector<int> positions, velocities;  ///< coordinates of the moving joints
  std::vector<MotionConstraint> list;
  std::vector<int> all;
  std::vector<std::unique_ptr<Worker>> workers;
};

MotionConstraints::MotionConstraints(std::shared_ptr<const Tree> tree, Parameters parameters,
                                     ConstraintOptions options)
    : impl_(std::make_unique<Impl>()) {
  Impl& m = *impl_;
  m.tree = std::move(tree);
  m.parameters = std::move(parameters);
  m.compiled = compileParameters(*m.tree, m.parameters);
  m.options = std::move(options);
  const Model& model = m.tree->model();
  if (m.options.joints.empty()) m.options.joints = motionJoints(model);
  if (m.options.joints.empty()) throw Error("this robot has no joint that could move");
  m.limits = m.options.limits ? *m.options.limits : limitsOf(model, m.options.joints);
  if (m.limits.joints != m.options.joints) {
    throw Error("MotionConstraints: the limits are those of other joints");
  }
  if (m.options.posture.size() == 0) m.options.posture = m.tree->neutralPosition();
  requireSize("MotionConstraints", "posture", m.options.posture.size(), m.tree->positionCount());
  for (const std::string& name : m.options.joints) {
    const int joint = requireJoint(model, name);
    m.positions.push_back(m.tree->positionIndex(joint));
    m.velocities.push_back(m.tree->velocityIndex(joint));
  }
  const auto add = [&](ConstraintKind kind, int index, double middle, double half,
                       const std::string& name) {
    if (!std::isfinite(middle) || !std::isfinite(half)) return;
    m.list.push_back({kind, index, middle, half, name, {}});
  };
  for (int i = 0; i < m.limits.size(); ++i) {
    const std::string& name = m.options.joints[static_cast<size_t>(i)];
    add(ConstraintKind::kPosition, i, 0.5 * (m.limits.lower[i] + m.limits.upper[i]),
        0.5 * (m.limits.upper[i] - m.limits.lower[i]), name + " position");
    add(ConstraintKind::kVelocity, i, 0.0, m.limits.velocity[i], name + " velocity");
    add(ConstraintKind::kAcceleration, i, 0.0, m.limits.acceleration[i], name + " acceleration");
    // a free base's joint torques depend on the ground
    if (!m.tree->floating()) {
      add(ConstraintKind::kEffort, i, 0.0, m.limits.effort[i], name + " effort");
    }
  }
  for (const MotionConstraint& c : m.list) {
    if (!(c.half > 0.0)) {
      throw Error(fmt::format("{}: the limit leaves no room to move", c.name));
    }
  }
  for (size_t k = 0; k < m.options.workspace.size(); ++k) {
    add(ConstraintKind::kWorkspace, static_cast<int>(k), 0.0, 1.0, m.options.workspace[k].name);
  }
  const int pairs = m.options.collisions ? m.options.collisions->pairCount() : 0;
  for (int p = 0; p < pairs; ++p) {
    add(ConstraintKind::kCollision, p, 0.0, 1.0, m.options.collisions->pairName(p));
  }
  m.all.resize(m.list.size());
  std::iota(m.all.begin(), m.all.end(), 0);
  for (int w = 0; w < workerCount(); ++w) {
    m.workers.push_back(std::make_unique<Impl::Worker>(*m.tree));
  }
  m.findJoints();
}

MotionConstraints::~MotionConstraints() = default;

const std::vector<std::string>& MotionConstraints::joints() const { return impl_->options.joints; }
const MotionLimits& MotionConstraints::limits() const { return impl_->limits; }
const std::vector<MotionConstraint>& MotionConstraints::list() const { return impl_->list; }
const std::vector<int>& MotionConstraints::coordinates() const { return impl_->velocities; }

Eigen::VectorXd MotionConstraints::heldPositions() const {
  Eigen::VectorXd q(impl_->limits.size());
  for (Eigen::Index i = 0; i < q.size(); ++i) {
    q[i] = impl_->options.posture[impl_->positions[static_cast<size_t>(i)]];
  }
  return q;
}

Eigen::MatrixXd MotionConstraints::fullPositions(ConstMatrixRef q) const {
  Eigen::MatrixXd full = impl_->options.posture.transpose().replicate(q.rows(), 1);
  for (Eigen::Index i = 0; i < q.cols(); ++i) {
    full.col(impl_->positions[static_cast<size_t>(i)]) = q.col(i);
  }
  return full;
}

Eigen::MatrixXd MotionConstraints::fullVelocities(ConstMatrixRef v) const {
  Eigen::MatrixXd full = Eigen::MatrixXd::Zero(v.rows(), impl_->tree->velocityCount());
  for (Eigen::Index i = 0; i < v.cols(); ++i) {
    full.col(impl_->velocities[static_cast<size_t>(i)]) = v.col(i);
  }
  return full;
}

/// Which joints each constraint depends on. Poses and torques are analytic functions of the joints:
/// a derivative that vanishes at a random state vanishes everywhere. A distance depends on what
/// moves one link relative to the other.
void MotionConstraints::Impl::findJoints() {
  Worker& w = *workers.front();
  Uniform random(1);
  Eigen::VectorXd x[3];
  for (Eigen::VectorXd& vector : x) {
    // slow: smooth signs have slopes near zero only
    vector = Eigen::VectorXd::NullaryExpr(limits.size(), [&] { return random(0.01, 0.02); });
  }
  for (double& q : x[0]) q *= 50.0;
  prepare(all, x[0], x[1], x[2], true, w);
  const int base = tree->floating() ? 6 : 0;
  Eigen::Matrix<double, 6, Eigen::Dynamic> relative(6, tree->velocityCount() - base);
  for (MotionConstraint& c : list) {
    const int row = isPlace(c.kind) ? 0 : velocities[static_cast<size_t>(c.index)];
    if (c.kind == ConstraintKind::kWorkspace) placeGradient(c, w);
    if (c.kind == ConstraintKind::kCollision) {
      const auto [first, second] = options.collisions->links(c.index);
      if (second >= 0) {
        relativeJacobian(*tree, w.kinematics, first, second, Representation::kBody, relative);
      } else {
        frameJacobian(*tree, w.kinematics, first, {}, Representation::kBody, Representation::kBody,
                      w.jacobian);
        relative = w.jacobian.rightCols(relative.cols());
      }
    }
    for (int i = 0; i < limits.size(); ++i) {
      const int k = velocities[static_cast<size_t>(i)];
      bool depends = i == c.index;
      if (c.kind == ConstraintKind::kEffort) {
        depends |= w.dq(row, k) != 0.0 || w.dv(row, k) != 0.0 || w.da(row, k) != 0.0;
      }
      if (c.kind == ConstraintKind::kWorkspace) depends = w.gradient[k] != 0.0;
      if (c.kind == ConstraintKind::kCollision) {
        depends = relative.col(k - base).cwiseAbs().maxCoeff() > kNoMotion;
      }
      if (depends) c.joints.push_back(i);
    }
  }
}

/// Torques and poses (and their derivatives) as far as the chosen constraints need them.
void MotionConstraints::Impl::prepare(const std::vector<int>& chosen, ConstVectorRef q,
                                      ConstVectorRef v, ConstVectorRef a, bool with_slopes,
                                      Worker& w) const {
  bool effort = false, place = false;
  for (const int c : chosen) {
    effort |= list[static_cast<size_t>(c)].kind == ConstraintKind::kEffort;
    place |= isPlace(list[static_cast<size_t>(c)].kind);
  }
  if (!effort && !place) return;
  w.q = options.posture;
  w.v.setZero();
  w.a.setZero();
  for (size_t i = 0; i < positions.size(); ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    w.q[positions[i]] = q[k];
    w.v[velocities[i]] = v[k];
    w.a[velocities[i]] = a[k];
  }
  if (place) computeKinematics(*tree, w.q, w.kinematics);
  if (!effort) return;
  fullTorque(*tree, parameters, compiled, w.workspace, w.q, w.v, w.a, w.tau);
  if (!with_slopes) return;
  inverseDynamicsDerivatives(*tree, compiled, w.workspace, w.q, w.v, w.a, w.dq, w.dv);
  massMatrix(*tree, compiled, w.workspace, w.q, w.da);
  jointEffectDerivatives(*tree, *parameters.layout, w.v, &w.effects);
  addJointEffectDerivatives(parameters, w.effects, w.dq, w.dv, w.da);
}

double MotionConstraints::Impl::usageOf(const MotionConstraint& c, ConstVectorRef q,
                                        ConstVectorRef v, ConstVectorRef a, double least,
                                        const Worker& w) const {
  switch (c.kind) {
    case ConstraintKind::kPosition:
      return (q[c.index] - c.middle) / c.half;
    case ConstraintKind::kVelocity:
      return v[c.index] / c.half;
    case ConstraintKind::kAcceleration:
      return a[c.index] / c.half;
    case ConstraintKind::kEffort:
      return w.tau[velocities[static_cast<size_t>(c.index)]] / c.half;
    case ConstraintKind::kWorkspace: {
      const WorkspaceLimit& limit = options.workspace[static_cast<size_t>(c.index)];
      const Vector3d p = framePose(w.kinematics, limit.link, limit.X_LF).p;
      return 1.0 - (limit.normal.dot(p) - limit.offset) / kLengthScale;
    }
    case ConstraintKind::kCollision: {
      const double enough = options.clearance + (1.0 - least) * kLengthScale;
      const LinkDistance d = options.collisions->distance(w.kinematics, c.index, enough);
      return 1.0 - (d.distance - options.clearance) / kLengthScale;
    }
  }
  return 0.0;
}

/// Into w.gradient: of the usage of a workspace or collision constraint by all coordinates.
void MotionConstraints::Impl::placeGradient(const MotionConstraint& c, Worker& w) const {
  if (c.kind == ConstraintKind::kWorkspace) {
    const WorkspaceLimit& limit = options.workspace[static_cast<size_t>(c.index)];
    frameJacobian(*tree, w.kinematics, limit.link, limit.X_LF, Representation::kMixed,
                  Representation::kBody, w.jacobian);
    w.gradient.noalias() = w.jacobian.topRows<3>().transpose() * limit.normal;
  } else {
    const double enough = options.clearance + (1.0 - kWatchedUsage) * kLengthScale;
    const LinkDistance d = options.collisions->distance(w.kinematics, c.index, enough);
    options.collisions->gradient(w.kinematics, c.index, d, w.gradient);
  }
  w.gradient /= -kLengthScale;
}

void MotionConstraints::Impl::evaluate(const std::vector<int>& chosen, ConstVectorRef q,
                                       ConstVectorRef v, ConstVectorRef a, double least, int worker,
                                       VectorRef usage) const {
  Worker& w = *workers[static_cast<size_t>(worker)];
  prepare(chosen, q, v, a, false, w);
  for (size_t r = 0; r < chosen.size(); ++r) {
    usage[static_cast<Eigen::Index>(r)] =
        usageOf(list[static_cast<size_t>(chosen[r])], q, v, a, least, w);
  }
}

void MotionConstraints::evaluate(const std::vector<int>& chosen, ConstVectorRef q, ConstVectorRef v,
                                 ConstVectorRef a, int worker, VectorRef usage) const {
  impl_->evaluate(chosen, q, v, a, kWatchedUsage, worker, usage);
}

void MotionConstraints::linearise(const std::vector<int>& chosen, ConstVectorRef q,
                                  ConstVectorRef v, ConstVectorRef a, int worker,
                                  Sample* sample) const {
  Impl::Worker& w = *impl_->workers[static_cast<size_t>(worker)];
  const auto rows = static_cast<Eigen::Index>(chosen.size());
  impl_->prepare(chosen, q, v, a, true, w);
  sample->usage.resize(rows);
  for (Eigen::MatrixXd* d : {&sample->dq, &sample->dv, &sample->da}) d->setZero(rows, q.size());
  for (Eigen::Index r = 0; r < rows; ++r) {
    const MotionConstraint& c = impl_->list[static_cast<size_t>(chosen[static_cast<size_t>(r)])];
    sample->usage[r] = impl_->usageOf(c, q, v, a, kWatchedUsage, w);
    if (c.kind == ConstraintKind::kPosition) sample->dq(r, c.index) = 1.0 / c.half;
    if (c.kind == ConstraintKind::kVelocity) sample->dv(r, c.index) = 1.0 / c.half;
    if (c.kind == ConstraintKind::kAcceleration) sample->da(r, c.index) = 1.0 / c.half;
    if (isPlace(c.kind)) impl_->placeGradient(c, w);
    for (const int k : c.joints) {
      const int column = impl_->velocities[static_cast<size_t>(k)];
      if (isPlace(c.kind)) sample->dq(r, k) = w.gradient[column];
      if (c.kind != ConstraintKind::kEffort) continue;
      const int row = impl_->velocities[static_cast<size_t>(c.index)];
      sample->dq(r, k) = w.dq(row, column) / c.half;
      sample->dv(r, k) = w.dv(row, column) / c.half;
      sample->da(r, k) = w.da(row, column) / c.half;
    }
  }
}

Eigen::MatrixXd MotionConstraints::usage(ConstMatrixRef q, ConstMatrixRef v, ConstMatrixRef a,
                                         double least) const {
  const Eigen::Index samples = q.rows();
  requireSize("MotionConstraints", "columns of q", q.cols(), impl_->limits.size());
  Eigen::MatrixXd by_sample(static_cast<Eigen::Index>(impl_->list.size()), samples);
  parallelChunks(samples, kConstraintChunk,
                 [&](std::ptrdiff_t start, std::ptrdiff_t count, int worker) {
                   for (std::ptrdiff_t k = start; k < start + count; ++k) {
                     impl_->evaluate(impl_->all, q.row(k).transpose(), v.row(k).transpose(),
                                     a.row(k).transpose(), least, worker, by_sample.col(k));
                   }
                 });
  return by_sample.transpose();
}

}  // namespace proprio
