#include "proprio/identification/constraints.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <utility>

#include "proprio/core/text.h"
#include "proprio/dynamics/kinematics.h"
#include "proprio/identification/method.h"
#include "proprio/identification/prior.h"
#include "proprio/identification/shape_hull.h"
#include "proprio/numerics/dense.h"
#include "proprio/spatial/physical_consistency.h"
#include "proprio/spatial/pseudo_inertia.h"

namespace proprio {
namespace {

using Eigen::Matrix4d;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Data that see a direction less than this part of the one they see best are silent about it.
constexpr double kSilent = 1e-8;
/// A mass that nobody declared may be so many times farther from its guess than a declared one from
/// its declaration: with the usual trust, 90 % of it.
constexpr double kGuessedMass = 3.0;
/// Two frozen links are mirror images up to this part of their parameters.
constexpr double kMirrored = 1e-6;

/// X of the i-th whitened unknown of a link: orthonormal in the Frobenius norm.
Matrix4d whitenedBasis(int i) {
  Vector10d entry = Vector10d::Zero();
  const bool diagonal = i == 0 || i == 2 || i == 5 || i == 9;
  entry[i] = diagonal ? 1.0 : std::sqrt(0.5);
  return symmetricFromLowerTriangle(entry);
}

Vector10d whitenedScale() {
  Vector10d scale;
  for (int i = 0; i < 10; ++i) scale[i] = lowerTriangle(whitenedBasis(i))[i];
  return scale;
}

/// What one link's estimate is about.
struct LinkUnknowns {
  int first = -1;      // unknown; -1: kept
  int twin = -1;       // the link that this one mirrors
  Matrix4d L;          // D(chi0) = L L^T of the link that has the unknowns
  Matrix4d H;          // of twins: D = H D_twin H^T
  double share = 1.0;  // weight of its prior: 2 for twins
};

/// Builds a ConsistentProblem step by step.
class ConsistencyBuilder {
 public:
  ConsistencyBuilder(const IdentificationProblem& problem, const ConsistencyOptions& constraints,
                     const PriorOptions& prior)
      : problem_(problem),
        model_(problem.tree->model()),
        layout_(*problem.layout),
        constraints_(constraints),
        prior_(prior) {}

  ConsistentProblem build(const TriangularSystem& system);

 private:
  void check() const;
  void chooseUnknowns();
  void pairLinks(const std::vector<bool>& kept);
  void requireMirrored(int one, int other, const Matrix4d& H) const;
  void tieJoints(int one, int other);
  void mapLinks();
  void mapOthers();
  void addBlocks();
  void addJointRows();
  void addMassRows();
  void addShapeRows(int link);
  void addData(const TriangularSystem& system);
  MatrixXd withMassRows(MatrixXd pull) const;
  /// sum of coefficients * chi[parameters] >= lower
  void addRow(const std::vector<int>& parameters, const VectorXd& coefficients, double lower,
              const std::string& what);
  Matrix4d priorOf(int link) const {
    return pseudoInertia(InertialParameters::fromVector(centre_.segment<10>(10 * link)));
  }
  double doubt(int link) const {
    return prior_.doubt.empty() ? 1.0 : prior_.doubt[static_cast<size_t>(link)];
  }
  const LinkUnknowns& owner(int link) const {
    const LinkUnknowns& own = links_[static_cast<size_t>(link)];
    return own.twin < 0 ? own : links_[static_cast<size_t>(own.twin)];
  }
  bool estimated(int link) const { return owner(link).first >= 0; }

  const IdentificationProblem& problem_;
  const Model& model_;
  const ParameterLayout& layout_;
  const ConsistencyOptions& constraints_;
  const PriorOptions& prior_;
  VectorXd centre_;
  std::vector<LinkUnknowns> links_;
  std::vector<int> unknown_of_;  // per parameter after the links: unknown, -1: kept
  std::vector<int> tied_to_;     // per parameter after the links: the one it equals, or itself
  std::vector<double> other_share_;
  int unknowns_ = 0;
  ConsistentProblem out_;
};

void ConsistencyBuilder::check() const {
  const auto inRange = [](double value, double upper) {
    return value > 0.0 && value < upper && std::isfinite(value);
  };
  if (!inRange(prior_.weight, 1e300)) {
    throw Error(
        fmt::format("the weight of the prior is {}, expected a positive number", prior_.weight));
  }
  if (!inRange(constraints_.margin, 0.5)) {
    throw Error(fmt::format("the margin of consistency is {}, expected a number between 0 and 0.5",
                            constraints_.margin));
  }
}

void ConsistencyBuilder::chooseUnknowns() {
  centre_ = problem_.prior;
  const std::vector<ParameterStatus> statuses = parameterStatuses(problem_.base);
  const auto effect = [&](int parameter) {
    return statuses[static_cast<size_t>(parameter)] != ParameterStatus::kWithoutEffect;
  };
  const int links = static_cast<int>(model_.links.size());
  links_.resize(model_.links.size());
  std::vector<bool> kept(model_.links.size(), false);
  for (const std::string& name : constraints_.frozen) {
    kept[static_cast<size_t>(requireLink(model_, name))] = true;
  }
  const int others = layout_.size() - layout_.inertialSize();
  tied_to_.resize(static_cast<size_t>(others));
  other_share_.assign(static_cast<size_t>(others), 1.0);
  for (int i = 0; i < others; ++i) tied_to_[static_cast<size_t>(i)] = i;
  pairLinks(kept);
  for (int link = 0; link < links; ++link) {
    LinkUnknowns& own = links_[static_cast<size_t>(link)];
    bool any = false;
    for (int i = 0; i < 10; ++i) any = any || effect(layout_.linkOffset(link) + i);
    if (!any || kept[static_cast<size_t>(link)] || own.twin >= 0) continue;
    own.first = unknowns_;
    unknowns_ += 10;
    out_.links.push_back(link);
    if (!consistencyMargins(InertialParameters::fromVector(centre_.segment<10>(10 * link)))
             .fullyConsistent()) {
      throw Error(fmt::format("the prior of link {} is not physically possible",
                              inQuotes(model_.links[static_cast<size_t>(link)].name)));
    }
    own.L = priorOf(link).llt().matrixL();
  }
  unknown_of_.assign(static_cast<size_t>(others), -1);
  for (int i = 0; i < others; ++i) {
    if (tied_to_[static_cast<size_t>(i)] == i && effect(layout_.inertialSize() + i)) {
      unknown_of_[static_cast<size_t>(i)] = unknowns_++;
    }
  }
}

/// What is frozen cannot be made a mirror image: it has to be one.
void ConsistencyBuilder::requireMirrored(int one, int other, const Matrix4d& H) const {
  const Vector10d image = congruenceMap(H) * centre_.segment<10>(10 * one);
  if ((image - centre_.segment<10>(10 * other)).norm() <= kMirrored * image.norm()) return;
  throw Error(
      fmt::format("links {} and {} are both frozen and declared symmetric, but their descriptions "
                  "are no mirror "
                  "images of each other; freeze only one of them",
                  inQuotes(model_.links[static_cast<size_t>(one)].name),
                  inQuotes(model_.links[static_cast<size_t>(other)].name)));
}

/// Mirror images: the other link follows the first one, and both pull with their prior; a frozen
/// one is followed as it is.
void ConsistencyBuilder::pairLinks(const std::vector<bool>& kept) {
  if (constraints_.symmetric.empty()) return;
  Kinematics kinematics(*problem_.tree);
  computeKinematics(*problem_.tree, problem_.tree->neutralPosition(), kinematics);
  const Vector3d n = constraints_.mirror.normalized();
  if (!n.allFinite()) throw Error("the normal of the mirror plane has no direction");
  Matrix4d mirror = Matrix4d::Identity();
  mirror.topLeftCorner<3, 3>() -= 2.0 * n * n.transpose();
  const auto poseOf = [&](int link) {
    const Pose X = relativePose(kinematics, problem_.tree->baseLink(), link);
    Matrix4d matrix = Matrix4d::Identity();
    matrix.topLeftCorner<3, 3>() = X.R;
    matrix.topRightCorner<3, 1>() = X.p;
    return matrix;
  };
  const Traversal traversal = traverse(model_, problem_.tree->baseLink());
  for (const SymmetricLinks& pair : constraints_.symmetric) {
    int one = requireLink(model_, pair.one), other = requireLink(model_, pair.other);
    const bool both = kept[static_cast<size_t>(one)] && kept[static_cast<size_t>(other)];
    if (kept[static_cast<size_t>(other)] && !both) std::swap(one, other);
    LinkUnknowns& follower = links_[static_cast<size_t>(other)];
    if (one == other || follower.twin >= 0 || links_[static_cast<size_t>(one)].twin >= 0 ||
        follower.share > 1.0 || links_[static_cast<size_t>(one)].share > 1.0) {
      throw Error(
          fmt::format("links {} and {} are declared symmetric, but one of them already has "
                      "a mirror image",
                      inQuotes(pair.one), inQuotes(pair.other)));
    }
    follower.H = poseOf(other).inverse() * mirror * poseOf(one);
    links_[static_cast<size_t>(one)].share = 2.0;
    if (both) {
      requireMirrored(one, other, follower.H);
    } else {
      follower.twin = one;
    }
    if (!kept[static_cast<size_t>(one)]) {
      const Matrix4d back = follower.H.inverse();
      centre_.segment<10>(10 * one) = 0.5 * (centre_.segment<10>(10 * one) +
                                             congruenceMap(back) * centre_.segment<10>(10 * other));
    }
    tieJoints(traversal.parent_joint[static_cast<size_t>(one)],
              traversal.parent_joint[static_cast<size_t>(other)]);
  }
}

/// The joints that carry mirror images have equal rotors and friction; offsets may differ.
void ConsistencyBuilder::tieJoints(int one, int other) {
  if (one < 0 || other < 0) return;
  for (int i = 0; i < layout_.jointCount(other); ++i) {
    const int parameter = layout_.jointOffset(other) + i;
    const ParameterInfo& info = layout_[parameter];
    const auto offset = [&](const ParameterInfo& p) {
      return p.kind == ParameterKind::kFriction &&
             model_.joints[static_cast<size_t>(p.joint)]
                     .friction.terms[static_cast<size_t>(p.component)]
                     .kind == FrictionTermKind::kOffset;
    };
    for (int k = 0; k < layout_.jointCount(one); ++k) {
      const int twin = layout_.jointOffset(one) + k;
      const bool same =
          layout_[twin].kind == info.kind && layout_[twin].component == info.component;
      if (!same || offset(info) || offset(layout_[twin])) continue;
      const auto here = static_cast<size_t>(parameter - layout_.inertialSize());
      const auto there = static_cast<size_t>(twin - layout_.inertialSize());
      tied_to_[here] = static_cast<int>(there);
      other_share_[there] = 2.0;
      centre_[twin] = 0.5 * (centre_[twin] + centre_[parameter]);
    }
  }
}

void ConsistencyBuilder::mapLinks() {
  for (int link = 0; link < static_cast<int>(links_.size()); ++link) {
    const LinkUnknowns& unknowns = owner(link);
    const int twin = links_[static_cast<size_t>(link)].twin;
    const Matrix10d turn =
        twin < 0 ? Matrix10d::Identity() : congruenceMap(links_[static_cast<size_t>(link)].H);
    const int source = twin < 0 ? link : twin;
    out_.f0.segment<10>(10 * link) = turn * centre_.segment<10>(10 * source);
    if (unknowns.first < 0) continue;
    for (int i = 0; i < 10; ++i) {
      const Matrix4d change = unknowns.L * whitenedBasis(i) * unknowns.L.transpose();
      out_.F.block<10, 1>(10 * link, unknowns.first + i) =
          turn * fromPseudoInertia(change).vector();
    }
  }
}

void ConsistencyBuilder::mapOthers() {
  const VectorXd& size = problem_.sizes;
  for (size_t i = 0; i < tied_to_.size(); ++i) {
    const auto source = static_cast<size_t>(tied_to_[i]);
    const auto parameter = layout_.inertialSize() + static_cast<Eigen::Index>(i);
    const auto from = layout_.inertialSize() + static_cast<Eigen::Index>(source);
    out_.f0[parameter] = centre_[from];
    if (unknown_of_[source] >= 0)
      out_.F(parameter, unknown_of_[source]) = size[static_cast<Eigen::Index>(source)];
  }
}

/// D >= eps D0, seen by the owner's L: 1 + X - eps >= 0. A mirrored link is possible if its image
/// is.
void ConsistencyBuilder::addBlocks() {
  const Vector10d scale = whitenedScale();
  for (int link = 0; link < static_cast<int>(links_.size()); ++link) {
    if (!estimated(link) || links_[static_cast<size_t>(link)].twin >= 0) continue;
    const LinkUnknowns& unknowns = owner(link);
    PsdBlock block;
    for (int i = 0; i < 10; ++i) block.variables.push_back(unknowns.first + i);
    block.map = scale.asDiagonal();
    const Matrix4d constant = (1.0 - constraints_.margin) * Matrix4d::Identity();
    block.constant = lowerTriangle(constant);
    out_.lmi.blocks.push_back(block);
    out_.block_links.push_back(link);
    if (prior_.kind != PriorKind::kEntropic) continue;
    block.constant = lowerTriangle(Matrix4d::Identity());
    block.log_det_weight = prior_.weight * unknowns.share;
    out_.lmi.blocks.push_back(block);
    out_.block_links.push_back(link);
  }
}

void ConsistencyBuilder::addRow(const std::vector<int>& parameters, const VectorXd& coefficients,
                                double lower, const std::string& what) {
  VectorXd row = VectorXd::Zero(unknowns_);
  double constant = 0.0;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const double c = coefficients[static_cast<Eigen::Index>(i)];
    row += c * out_.F.row(parameters[i]).transpose();
    constant += c * out_.f0[parameters[i]];
  }
  const double size = row.norm();
  if (size == 0.0) {
    if (constant >= lower) return;
    throw Error(
        fmt::format("{} does not hold for the prior, and nothing in it is estimated", what));
  }
  LinearInequality inequality;
  std::vector<double> values;
  for (int i = 0; i < unknowns_; ++i) {
    if (row[i] == 0.0) continue;
    inequality.variables.push_back(i);
    values.push_back(row[i] / size);
  }
  inequality.coefficients =
      Eigen::Map<const VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
  inequality.lower = (lower - constant) / size;
  out_.lmi.inequalities.push_back(std::move(inequality));
}

void ConsistencyBuilder::addJointRows() {
  const auto one = [](double c) { return VectorXd::Constant(1, c); };
  for (size_t j = 0; j < model_.joints.size(); ++j) {
    const FrictionModel& friction = model_.joints[j].friction;
    const bool shared =
        std::any_of(friction.terms.begin(), friction.terms.end(), [](const auto& t) {
          return t.kind == FrictionTermKind::kPower || t.kind == FrictionTermKind::kArctan;
        });
    int coulomb = -1, offset = -1;
    const int first = layout_.jointOffset(static_cast<int>(j));
    for (int p = first; p < first + layout_.jointCount(static_cast<int>(j)); ++p) {
      const ParameterInfo& info = layout_[p];
      const auto i = static_cast<size_t>(p - layout_.inertialSize());
      if (tied_to_[i] != static_cast<int>(i) || unknown_of_[i] < 0) continue;
      bool positive = info.kind == ParameterKind::kRotorInertia;
      if (info.kind == ParameterKind::kFriction) {
        switch (friction.terms[static_cast<size_t>(info.component)].kind) {
          case FrictionTermKind::kCoulomb:
            coulomb = p;
            positive = true;
            break;
          case FrictionTermKind::kCoulombPositive:
          case FrictionTermKind::kCoulombNegative:
            positive = true;
            break;
          case FrictionTermKind::kViscous:
          case FrictionTermKind::kViscousPositive:
          case FrictionTermKind::kViscousNegative:
            positive = !shared;
            break;
          case FrictionTermKind::kOffset:
            offset = p;
            break;
          default:
            break;
        }
      }
      if (!positive || !constraints_.positive_joints) continue;
      addRow({p}, one(1.0), 0.0, info.name);
      out_.nonnegative.push_back(p);
    }
    if (!constraints_.offset_below_coulomb || coulomb < 0 || offset < 0) continue;
    for (const double sign : {1.0, -1.0}) {
      addRow({coulomb, offset}, Eigen::Vector2d(1.0, sign), 0.0, "|offset| <= Coulomb friction");
    }
  }
}

void ConsistencyBuilder::addMassRows() {
  const auto one = [](double c) { return VectorXd::Constant(1, c); };
  for (const MassBounds& bounds : constraints_.masses) {
    const int link = requireLink(model_, bounds.link);
    const std::string what = fmt::format("the mass bound of link {}", inQuotes(bounds.link));
    if (bounds.lower > bounds.upper)
      throw Error(fmt::format("{}: {} kg to {} kg", what, bounds.lower, bounds.upper));
    if (std::isfinite(bounds.lower)) addRow({10 * link}, one(1.0), bounds.lower, what);
    if (std::isfinite(bounds.upper)) addRow({10 * link}, one(-1.0), -bounds.upper, what);
  }
  if (constraints_.total_mass_lower > constraints_.total_mass_upper) {
    throw Error(fmt::format("the bounds of the total mass: {} kg to {} kg",
                            constraints_.total_mass_lower, constraints_.total_mass_upper));
  }
  std::vector<int> masses;
  for (int link = 0; link < static_cast<int>(model_.links.size()); ++link) {
    if (link != problem_.tree->baseLink() || problem_.tree->floating()) masses.push_back(10 * link);
  }
  const VectorXd ones = VectorXd::Ones(static_cast<Eigen::Index>(masses.size()));
  const std::string what = "the bound of the total mass";
  if (std::isfinite(constraints_.total_mass_lower))
    addRow(masses, ones, constraints_.total_mass_lower, what);
  if (std::isfinite(constraints_.total_mass_upper))
    addRow(masses, -ones, -constraints_.total_mass_upper, what);
}

/// h(n) m - n^T mc >= 0 for the hull; tr(D Q) >= 0 with the ellipsoid's
/// Q = [-W, W r; r^T W, 1 - r^T W r], W = diag(1 / (3 half^2)) around the box's centre r.
void ConsistencyBuilder::addShapeRows(int link) {
  const std::string name = inQuotes(model_.links[static_cast<size_t>(link)].name);
  std::vector<int> parameters(10);
  for (int i = 0; i < 10; ++i) parameters[static_cast<size_t>(i)] = 10 * link + i;
  const Eigen::MatrixX3d normals = hullNormals(model_, link);
  const VectorXd support = supportOfShapes(model_, link, normals);
  if (support.size() == 0) {
    out_.notes.push_back(
        fmt::format("link {} has no shapes that could be read: its mass may be anywhere", name));
    return;
  }
  out_.geometric = true;
  if (constraints_.com_in_shapes) {
    for (Eigen::Index i = 0; i < normals.rows(); ++i) {
      Eigen::Vector4d row(support[i], -normals(i, 0), -normals(i, 1), -normals(i, 2));
      addRow({10 * link, 10 * link + 1, 10 * link + 2, 10 * link + 3}, row, 0.0,
             fmt::format("the centre of mass of link {} inside its shapes", name));
    }
  }
  if (!constraints_.mass_in_ellipsoid) return;
  Vector3d lower, upper;
  const Eigen::MatrixX3d axes = Matrix3d::Identity();
  upper = supportOfShapes(model_, link, axes);
  lower = -supportOfShapes(model_, link, -axes);
  const Vector3d half = (0.5 * (upper - lower)).cwiseMax(1e-3), r = 0.5 * (upper + lower);
  const Matrix3d W = (3.0 * half.cwiseAbs2()).cwiseInverse().asDiagonal();
  Matrix4d Q;
  Q << -W, W * r, (W * r).transpose(), 1.0 - r.dot(W * r);
  VectorXd row(10);
  for (int i = 0; i < 10; ++i) {
    const InertialParameters unit = InertialParameters::fromVector(Vector10d::Unit(i));
    row[i] = pseudoInertia(unit).cwiseProduct(Q).sum();
  }
  addRow(parameters, row, 0.0, fmt::format("the mass of link {} inside its ellipsoid", name));
}

/// Torques show masses in sums only, and 100 % of a body allows one without mass: the mass of each
/// link is believed better than the rest of it, and less so where it was guessed.
MatrixXd ConsistencyBuilder::withMassRows(MatrixXd pull) const {
  for (const int link : out_.links) {
    const std::vector<int>& guessed = problem_.guessed;
    const bool guess = std::find(guessed.begin(), guessed.end(), link) != guessed.end();
    const double trust = prior_.mass_trust * (guess ? kGuessedMass : 1.0);
    const int mass = layout_.linkOffset(link);
    pull.conservativeResize(pull.rows() + 1, Eigen::NoChange);
    pull.bottomRows(1) =
        std::sqrt(prior_.weight) / (doubt(link) * trust * problem_.prior[mass]) * out_.F.row(mass);
  }
  return pull;
}

/// Rows of the data, and of the quadratic prior below them.
void ConsistencyBuilder::addData(const TriangularSystem& system) {
  const MatrixXd B = baseMatrix(problem_.base);
  if (system.A.cols() != B.rows()) {
    throw Error(fmt::format("the system has {} columns, the robot {} base parameters",
                            system.A.cols(), B.rows()));
  }
  out_.base_map = B * out_.F;
  out_.base_offset = B * out_.f0;
  const MatrixXd data = system.A * out_.base_map;
  VectorXd share = VectorXd::Zero(unknowns_);
  for (int link = 0; link < static_cast<int>(links_.size()); ++link) {
    const LinkUnknowns& own = links_[static_cast<size_t>(link)];
    if (own.first >= 0)
      share.segment<10>(own.first).setConstant(own.share / (doubt(link) * doubt(link)));
  }
  for (size_t i = 0; i < unknown_of_.size(); ++i) {
    if (unknown_of_[i] >= 0) share[unknown_of_[i]] = other_share_[i];
  }
  const VectorXd root = (prior_.weight * share).cwiseSqrt();
  MatrixXd pull;
  const Eigen::Index inertial = 10 * static_cast<Eigen::Index>(out_.links.size());
  switch (prior_.kind) {
    case PriorKind::kNone: {
      // what the data are silent about
      pull = std::sqrt(prior_.weight) * nullBasis(data, kSilent).transpose();
      break;
    }
    case PriorKind::kEuclidean:
      // links in SI units, each parameter for itself; the others by size as always
      pull = MatrixXd::Zero(10 * static_cast<Eigen::Index>(links_.size()) + unknowns_ - inertial,
                            unknowns_);
      pull.topRows(10 * static_cast<Eigen::Index>(links_.size())) =
          std::sqrt(prior_.weight) * out_.F.topRows(layout_.inertialSize());
      for (Eigen::Index i = inertial; i < unknowns_; ++i)
        pull(pull.rows() - unknowns_ + i, i) = root[i];
      break;
    case PriorKind::kPullback:
      pull = root.asDiagonal();
      break;
    case PriorKind::kEntropic:
      pull = MatrixXd::Zero(unknowns_ - inertial, unknowns_);
      pull.rightCols(unknowns_ - inertial) = root.tail(unknowns_ - inertial).asDiagonal();
      out_.lmi.linear = VectorXd::Zero(unknowns_);
      for (Eigen::Index i = 0; i < inertial; i += 10) {
        for (const int d : {0, 2, 5, 9}) out_.lmi.linear[i + d] = root[i + d] * root[i + d];
      }
      break;
  }
  if (prior_.kind == PriorKind::kPullback || prior_.kind == PriorKind::kEntropic)
    pull = withMassRows(std::move(pull));
  out_.lmi.A.resize(data.rows() + pull.rows(), unknowns_);
  out_.lmi.A << data, pull;
  out_.lmi.b = VectorXd::Zero(out_.lmi.A.rows());
  out_.lmi.b.head(data.rows()) = system.b - system.A * out_.base_offset;
}

ConsistentProblem ConsistencyBuilder::build(const TriangularSystem& system) {
  check();
  chooseUnknowns();
  out_.F = MatrixXd::Zero(layout_.size(), unknowns_);
  out_.f0 = VectorXd::Zero(layout_.size());
  out_.inside = VectorXd::Zero(unknowns_);
  out_.margin = constraints_.margin;
  mapLinks();
  mapOthers();
  addBlocks();
  addJointRows();
  addMassRows();
  if (constraints_.com_in_shapes || constraints_.mass_in_ellipsoid) {
    for (const int link : out_.links) addShapeRows(link);
  }
  addData(system);
  return std::move(out_);
}

}  // namespace

Matrix10d congruenceMap(const Matrix4d& H) {
  Matrix10d map;
  for (int i = 0; i < 10; ++i) {
    const Matrix4d D = pseudoInertia(InertialParameters::fromVector(Vector10d::Unit(i)));
    map.col(i) = fromPseudoInertia(H * D * H.transpose()).vector();
  }
  return map;
}

PriorKind priorKind(const std::string& name) {
  std::vector<std::string> names;
  for (const PriorKind kind :
       {PriorKind::kNone, PriorKind::kEuclidean, PriorKind::kEntropic, PriorKind::kPullback}) {
    if (name == toString(kind)) return kind;
    names.emplace_back(toString(kind));
  }
  throw Error("there is no prior " + inQuotes(name) + didYouMean(name, names));
}

const char* toString(PriorKind kind) {
  switch (kind) {
    case PriorKind::kNone:
      return "none";
    case PriorKind::kEuclidean:
      return "euclidean";
    case PriorKind::kEntropic:
      return "entropic";
    case PriorKind::kPullback:
      break;
  }
  return "pullback";
}

ConsistentProblem consistentProblem(const IdentificationProblem& problem,
                                    const TriangularSystem& system,
                                    const ConsistencyOptions& constraints,
                                    const PriorOptions& prior) {
  return ConsistencyBuilder(problem, constraints, prior).build(system);
}

}  // namespace proprio
