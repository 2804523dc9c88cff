#include "proprio/dynamics/base_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "proprio/core/text.h"

namespace proprio {
namespace {

/// Columns smaller than this part of an effect's natural size are rounding.
constexpr double kNoEffect = 1e-10;
/// Coefficients of a grouping smaller than this (columns scaled to one) are rounding.
constexpr double kZeroCoefficient = 1e-11;

std::vector<int> requirePermutation(const std::vector<int>& order, int size) {
  std::vector<int> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  std::vector<int> expected(static_cast<size_t>(size));
  std::iota(expected.begin(), expected.end(), 0);
  if (sorted != expected) {
    throw Error(fmt::format(
        "preference order: it has {} entries; name each of the {} parameters exactly once",
        order.size(), size));
  }
  return order;
}

/// The columns of A in order, brought to echelon form by reflections; columns that the earlier ones
/// explain are passed over. `rounding`: how uncertain each column is. What is left of a column
/// beside its combination K of kept ones is as uncertain as K times these (reflections are backward
/// stable column by column), and means nothing below that.
class Echelon {
 public:
  Echelon(Eigen::MatrixXd A, double tolerance, Eigen::VectorXd rounding)
      : A_(std::move(A)), tolerance_(tolerance), rounding_(std::move(rounding)) {
    for (Eigen::Index k = 0; k < A_.cols(); ++k) visit(k);
  }

  std::vector<Eigen::Index> kept, passed;
  double smallest_kept = 1.0, largest_passed = 0.0;

  /// Coefficients of the passed columns in terms of the kept ones.
  Eigen::MatrixXd coefficients() const {
    const auto r = static_cast<Eigen::Index>(kept.size());
    Eigen::MatrixXd right = A_.topRows(r)(Eigen::all, passed);
    keptTriangle(r).triangularView<Eigen::Upper>().solveInPlace(right);
    return right;
  }

 private:
  void visit(Eigen::Index k) {
    const auto rank = static_cast<Eigen::Index>(kept.size());
    auto rest = A_.col(k).tail(A_.rows() - rank);
    const double ratio = rest.size() == 0 ? 0.0 : rest.norm();
    if (ratio <= tolerance_ || ratio <= uncertainty(k, rank)) {
      if (A_.col(k).norm() > 0.0) largest_passed = std::max(largest_passed, ratio);
      rest.setZero();
      passed.push_back(k);
      return;
    }
    smallest_kept = std::min(smallest_kept, ratio);
    kept.push_back(k);
    Eigen::VectorXd u = rest;
    u[0] += u[0] > 0.0 ? ratio : -ratio;
    u.normalize();
    auto right = A_.bottomRightCorner(A_.rows() - rank, A_.cols() - k);
    const Eigen::RowVectorXd w = u.transpose() * right;
    right.noalias() -= 2.0 * u * w;
  }

  /// Of what is left of column k.
  double uncertainty(Eigen::Index k, Eigen::Index rank) const {
    Eigen::VectorXd K = A_.col(k).head(rank);
    keptTriangle(rank).triangularView<Eigen::Upper>().solveInPlace(K);
    double sum = rounding_[k] * rounding_[k];
    for (Eigen::Index i = 0; i < rank; ++i) {
      const double part = K[i] * rounding_[kept[static_cast<size_t>(i)]];
      sum += part * part;
    }
    return std::sqrt(sum);
  }
  Eigen::MatrixXd keptTriangle(Eigen::Index rank) const {
    return A_.topRows(rank)(Eigen::all, kept);
  }

  Eigen::MatrixXd A_;
  double tolerance_;
  Eigen::VectorXd rounding_;
};

/// Size of a parameter for lengths of the order `length`.
double naturalSize(const ParameterInfo& info, double length) {
  if (info.kind == ParameterKind::kRotorInertia) return length * length;
  if (info.kind != ParameterKind::kInertial) return 1.0;
  return info.component == 0 ? 1.0 : info.component < 4 ? length : length * length;
}

/// Angles this near to a multiple of 15 degrees, and entries of rotations this near to 0, are meant
/// to be it.
constexpr double kSnap = 1e-5;

/// Rotations are written as roll, pitch and yaw: one of them may be round where no entry is.
Matrix3d withRoundAngles(const Matrix3d& R) {
  constexpr double kRound = std::numbers::pi / 12.0, kExact = 1e-13;
  Vector3d rpy = rpyFromRotation(R);
  if (std::abs(std::cos(rpy[1])) < kSnap) return R;  // roll and yaw turn about one axis
  bool changed = false;
  for (double& angle : rpy) {
    const double round = kRound * std::round(angle / kRound), off = std::abs(angle - round);
    if (off >= kSnap || off < kExact) continue;
    angle = round;
    changed = true;
  }
  return changed ? rotationFromRpy(rpy) : R;
}

Matrix3d snappedRotation(Matrix3d R) {
  const auto snap = [](Matrix3d& M, double tolerance, double exact) {
    for (double& x : M.reshaped()) {
      if (std::abs(std::abs(x) - exact) < tolerance) x = x > 0.0 ? exact : 0.0 - exact;
    }
  };
  R = withRoundAngles(R);  // first: entries that are cut off bend the other angles
  snap(R, kSnap, 0.0);
  // nearest rotation; zero patterns survive the iteration
  for (int i = 0; i < 4; ++i) R = 0.5 * R * (3.0 * Matrix3d::Identity() - R.transpose() * R);
  snap(R, 1e-13, 0.0);
  snap(R, 1e-13, 1.0);
  return R;
}

Pose snappedPose(const Pose& X) {
  constexpr double kShort = 1e-7;
  Pose out = {snappedRotation(X.R), X.p};
  for (double& x : out.p) {
    if (std::abs(x) < kShort) x = 0.0;
  }
  return out;
}

/// " + 0.0506 ", " - " for minus one; the same text for numbers that differ by rounding.
std::string coefficientText(double k) {
  const double rounded = *parseNumber(fmt::format("{:.12g}", std::abs(k)));
  const std::string number = fmt::format("{:.4g}", rounded);
  return (k < 0.0 ? " - " : " + ") + (number == "1" ? "" : number + " ");
}

std::string frictionLabel(const FrictionTerm& term, int number) {
  switch (term.kind) {
    case FrictionTermKind::kViscous:
      return fmt::format("Fv{}", number);
    case FrictionTermKind::kCoulomb:
      return fmt::format("Fc{}", number);
    case FrictionTermKind::kOffset:
      return fmt::format("Fo{}", number);
    default:
      return fmt::format("{}{}", term.name, number);
  }
}

std::string shortLabel(const Model& model, const ParameterInfo& info, int number) {
  constexpr const char* kNames[10] = {"m", "MX", "MY", "MZ", "XX", "XY", "XZ", "YY", "YZ", "ZZ"};
  switch (info.kind) {
    case ParameterKind::kInertial:
      return fmt::format("{}{}", kNames[info.component], number);
    case ParameterKind::kRotorInertia:
      return fmt::format("Ia{}", number);
    case ParameterKind::kFriction:
      return frictionLabel(model.joints[static_cast<size_t>(info.joint)]
                               .friction.terms[static_cast<size_t>(info.component)],
                           number);
    case ParameterKind::kSpringStiffness:
      return fmt::format("Ks{}", number);
    case ParameterKind::kSpringPreload:
      return fmt::format("Ps{}", number);
    case ParameterKind::kCoupling:
      break;
  }
  return info.name;
}

}  // namespace

const char* toString(ParameterStatus status) {
  switch (status) {
    case ParameterStatus::kIdentifiable:
      return "identifiable";
    case ParameterStatus::kCombined:
      return "in combination";
    case ParameterStatus::kWithoutEffect:
      return "without effect";
  }
  return "";
}

std::vector<ParameterStatus> parameterStatuses(const BaseParameters& base) {
  std::vector<ParameterStatus> statuses(static_cast<size_t>(base.layout->size()),
                                        ParameterStatus::kWithoutEffect);
  for (size_t i = 0; i < base.independent.size(); ++i) {
    const bool alone = base.K.row(static_cast<Eigen::Index>(i)).isZero(0.0);
    statuses[static_cast<size_t>(base.independent[i])] =
        alone ? ParameterStatus::kIdentifiable : ParameterStatus::kCombined;
  }
  for (size_t d = 0; d < base.dependent.size(); ++d) {
    if (!base.K.col(static_cast<Eigen::Index>(d)).isZero(0.0)) {
      statuses[static_cast<size_t>(base.dependent[d])] = ParameterStatus::kCombined;
    }
  }
  return statuses;
}

Eigen::MatrixXd baseMatrix(const BaseParameters& base) {
  Eigen::MatrixXd B = Eigen::MatrixXd::Zero(base.count(), base.layout->size());
  for (Eigen::Index i = 0; i < B.rows(); ++i) B(i, base.independent[static_cast<size_t>(i)]) = 1.0;
  for (Eigen::Index d = 0; d < base.K.cols(); ++d) {
    B.col(base.dependent[static_cast<size_t>(d)]) = base.K.col(d);
  }
  return B;
}

SplitParameters splitParameters(const BaseParameters& base, const Eigen::VectorXd& chi) {
  if (chi.size() != base.layout->size()) {
    throw Error(fmt::format("splitParameters: there are {} standard parameters, found {} numbers",
                            base.layout->size(), chi.size()));
  }
  SplitParameters split = {chi(base.independent), chi(base.dependent)};
  split.beta += base.K * split.chi_d;
  return split;
}

Eigen::VectorXd joinParameters(const BaseParameters& base, const SplitParameters& split) {
  if (split.beta.size() != base.count() || split.chi_d.size() != base.K.cols()) {
    throw Error(
        fmt::format("joinParameters: expected {} base and {} dependent numbers, found {} "
                    "and {}",
                    base.count(), base.K.cols(), split.beta.size(), split.chi_d.size()));
  }
  Eigen::VectorXd chi(base.layout->size());
  chi(base.independent) = split.beta - base.K * split.chi_d;
  chi(base.dependent) = split.chi_d;
  return chi;
}

std::vector<int> defaultPreference(const Tree& tree, const ParameterLayout& layout) {
  std::vector<int> order, rotors;
  for (const TreeBody& body : tree.bodies()) {
    if (body.link < 0) continue;
    for (const int component : {4, 5, 6, 7, 8, 9, 1, 2, 3, 0}) {
      order.push_back(layout.linkOffset(body.link) + component);
    }
  }
  for (int i = layout.inertialSize(); i < layout.size(); ++i) {
    (layout[i].kind == ParameterKind::kRotorInertia ? rotors : order).push_back(i);
  }
  order.insert(order.end(), rotors.begin(), rotors.end());
  return order;
}

BaseParameters reduceRows(std::shared_ptr<const ParameterLayout> layout, Eigen::MatrixXd rows,
                          const Eigen::VectorXd& scale, const ReductionOptions& options) {
  const int size = layout->size();
  const std::vector<int> order = requirePermutation(options.preference, size);
  if (rows.cols() != size || scale.size() != size) {
    throw Error(
        fmt::format("reduceRows: the rows have {} columns for {} parameters", rows.cols(), size));
  }
  if (!rows.allFinite()) throw Error("reduceRows: the rows contain a number that is not finite");
  // columns of size one, so that units do not decide; zero where there is no effect
  Eigen::VectorXd norms = rows.colwise().norm();
  for (Eigen::Index k = 0; k < size; ++k) {
    if (norms[k] <= kNoEffect * scale[k]) norms[k] = 0.0;
    rows.col(k) *= norms[k] > 0.0 ? 1.0 / norms[k] : 0.0;
  }
  constexpr double kRounding = 1e-15;  // of entries, which are sums of a few products
  Eigen::VectorXd rounding = Eigen::VectorXd::Zero(size);
  for (Eigen::Index k = 0; k < size; ++k) {
    const auto i = order[static_cast<size_t>(k)];
    if (norms[i] > 0.0) rounding[k] = kRounding * scale[i] / norms[i];
  }
  const Echelon echelon(rows(Eigen::all, order), options.tolerance, std::move(rounding));
  BaseParameters base;
  base.layout = std::move(layout);
  base.smallest_kept = echelon.smallest_kept;
  base.largest_dropped = echelon.largest_passed;
  for (const Eigen::Index k : echelon.kept)
    base.independent.push_back(order[static_cast<size_t>(k)]);
  for (const Eigen::Index k : echelon.passed)
    base.dependent.push_back(order[static_cast<size_t>(k)]);
  base.K = echelon.coefficients();
  for (Eigen::Index d = 0; d < base.K.cols(); ++d) {
    const double from = norms[base.dependent[static_cast<size_t>(d)]];
    for (Eigen::Index i = 0; i < base.K.rows(); ++i) {
      double& entry = base.K(i, d);
      if (std::abs(entry) < kZeroCoefficient) entry = 0.0;
      entry *= from / norms[base.independent[static_cast<size_t>(i)]];
    }
  }
  return base;
}

double groupingDistance(const BaseParameters& a, const BaseParameters& b, double length) {
  if (a.independent != b.independent || a.dependent != b.dependent) {
    return std::numeric_limits<double>::infinity();
  }
  double worst = 0.0;
  for (Eigen::Index i = 0; i < a.K.rows(); ++i) {
    const double to = naturalSize((*a.layout)[a.independent[static_cast<size_t>(i)]], length);
    for (Eigen::Index d = 0; d < a.K.cols(); ++d) {
      const double from = naturalSize((*a.layout)[a.dependent[static_cast<size_t>(d)]], length);
      worst = std::max(worst, std::abs(a.K(i, d) - b.K(i, d)) * from / to);
    }
  }
  return worst;
}

std::vector<std::string> fullLabels(const ParameterLayout& layout) {
  std::vector<std::string> labels;
  for (int i = 0; i < layout.size(); ++i) labels.push_back(layout[i].name);
  return labels;
}

std::optional<std::vector<std::string>> shortLabels(const Tree& tree,
                                                    const ParameterLayout& layout) {
  const Model& model = tree.model();
  if (tree.floating()) return std::nullopt;
  // one chain: every body has at most one child, every joint at most one degree of freedom
  std::vector<int> number_of_link(model.links.size(), 0), number_of_joint(model.joints.size(), 0);
  const Traversal traversal = traverse(model, tree.baseLink());
  int number = 0;
  for (const int link : traversal.order) {
    const auto l = static_cast<size_t>(link);
    if (traversal.children[l].size() > 1) return std::nullopt;
    if (const int joint = traversal.parent_joint[l]; joint >= 0) {
      const int freedom = velocityCount(model.joints[static_cast<size_t>(joint)].type);
      if (freedom != 1) return std::nullopt;
      number_of_joint[static_cast<size_t>(joint)] = ++number;
    }
    number_of_link[l] = number;
  }
  std::vector<std::string> labels;
  for (int i = 0; i < layout.size(); ++i) {
    const ParameterInfo& info = layout[i];
    const int n = info.link >= 0    ? number_of_link[static_cast<size_t>(info.link)]
                  : info.joint >= 0 ? number_of_joint[static_cast<size_t>(info.joint)]
                                    : 0;
    labels.push_back(shortLabel(model, info, n));
  }
  return labels;
}

std::string groupingText(const BaseParameters& base, int i,
                         const std::vector<std::string>& labels) {
  const auto label = [&](int index) { return labels[static_cast<size_t>(index)]; };
  // terms of one coefficient stand together
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  const auto collect = [&](bool inertial) {
    for (size_t d = 0; d < base.dependent.size(); ++d) {
      const bool is_inertial = (*base.layout)[base.dependent[d]].kind == ParameterKind::kInertial;
      const double k = base.K(i, static_cast<Eigen::Index>(d));
      if (k == 0.0 || is_inertial != inertial) continue;
      const std::string number = coefficientText(k);
      if (groups.empty() || groups.back().first != number || number == " + " || number == " - ") {
        groups.push_back({number, {}});
      }
      groups.back().second.push_back(label(base.dependent[d]));
    }
  };
  collect(false);  // a rotor stands beside the link that it turns
  collect(true);
  std::string text = label(base.independent[static_cast<size_t>(i)]);
  for (const auto& [number, members] : groups) {
    const bool several = members.size() > 1;
    text += number + (several ? "(" : "");
    for (size_t k = 0; k < members.size(); ++k) text += (k > 0 ? " + " : "") + members[k];
    if (several) text += ")";
  }
  return text;
}

std::vector<std::string> snappedJoints(const Model& model, const Model& snapped) {
  constexpr double kChanged = 1e-12;  // more than what a change of frames and back leaves
  std::vector<std::string> names;
  const auto differ = [](const Pose& a, const Pose& b) {
    return (a.R - b.R).norm() > kChanged || (a.p - b.p).norm() > kChanged;
  };
  for (size_t j = 0; j < model.joints.size(); ++j) {
    const Joint &before = model.joints[j], &after = snapped.joints[j];
    if (differ(before.X_FJ, after.X_FJ) || differ(before.X_JS, after.X_JS) ||
        (before.axis - after.axis).norm() > kChanged) {
      names.push_back(before.name);
    }
  }
  return names;
}

Model withSnappedGeometry(const Model& model) {
  Model out = model;
  for (Joint& joint : out.joints) {
    joint.X_FJ = snappedPose(joint.X_FJ);
    joint.X_JS = snappedPose(joint.X_JS);
    const Vector3d axis = joint.axis;
    for (double& x : joint.axis) {
      if (std::abs(x) < kSnap) x = 0.0;
    }
    joint.axis = joint.axis.isZero(0.0) ? axis : Vector3d(joint.axis.normalized());
  }
  out.X_WB = snappedPose(out.X_WB);
  const double g = out.gravity.norm();
  for (double& x : out.gravity) {
    if (std::abs(x) < kSnap * g) x = 0.0;
  }
  return finalize(std::move(out));
}

}  // namespace proprio
