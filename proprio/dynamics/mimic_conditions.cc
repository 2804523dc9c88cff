#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "proprio/dynamics/joint_features_internal.h"
#include "proprio/dynamics/mimic_conditions_internal.h"
#include "proprio/dynamics/mimic_positions_internal.h"
#include "proprio/numerics/streaming_qr.h"

namespace proprio::internal {
namespace {

/// A parameter that all conditions together show with less than this has no effect: what single
/// vectors keep of rounding (kStructuralRounding) adds up over pairs and positions.
constexpr double kNothingSeen = 10.0 * kStructuralRounding;

/// How a joint acts on velocities and on rows of what is beyond it.
struct Action {
  Matrix6d velocities;
  Matrix10d rows;
};

/// Per unit of the joint's coordinate.
Action generatorOf(const Vector6d& S) {
  return {-motionCross(S), parameterGenerator(S).transpose()};
}

/// Links that move as one, seen from every joint and every measured wrench.
struct Part {
  int body = -1;           ///< the innermost
  std::vector<int> links;  ///< bodies that carry links
};

/// Stacked vectors: 1, then per part some velocities and some rows.
struct Stack {
  std::vector<Part> parts;
  Eigen::Index velocities = 0, rows = 0;
  Eigen::Index width() const { return 6 * velocities + 10 * rows; }
  Eigen::Index size() const { return 1 + static_cast<Eigen::Index>(parts.size()) * width(); }
  auto velocity(Eigen::VectorXd& x, size_t part, Eigen::Index k) const {
    return x.segment<6>(1 + static_cast<Eigen::Index>(part) * width() + 6 * k);
  }
  auto row(Eigen::VectorXd& x, size_t part, Eigen::Index k) const {
    return x.segment<10>(1 + static_cast<Eigen::Index>(part) * width() + 6 * velocities + 10 * k);
  }
};
using StackedSpan = Span<Eigen::Dynamic>;
using RowSpan = Span<10>;

class MimicConditions {
 public:
  MimicConditions(const Tree& tree, const ParameterLayout& layout, const MeasuredRows& measured,
                  const std::function<void(double)>& progress)
      : layout_(layout),
        reference_(tree),
        bodies_(tree.bodies()),
        features_(jointFeatures(layout, measured.joints)),
        conditions_(layout.size()) {
    const std::vector<Positions> positions = comparedPositions(reference_);
    if (positions.empty()) throw Error(mimicConditionsObstacle(tree));
    markMeasured(measured);
    findParts();
    findLinkRows();
    findGenerators();
    for (size_t i = 0; i < positions.size(); ++i) {
      if (progress) progress(static_cast<double>(i) / static_cast<double>(positions.size()));
      compare(positions[i]);
    }
    // features that no rigid body shows
    for (const RowFeature& f : features_) {
      if (f.acceleration_of < 0 && !f.constant) addCondition(Stack{}, unitState(Stack{}), 0, &f, 1);
    }
  }

  /// Their triangular factor: what they span, whatever their number.
  Eigen::MatrixXd rows() {
    conditions_.fold(pending_);
    pending_ = 0;
    Eigen::MatrixXd rows = conditions_.factor();
    for (int i = 0; i < layout_.inertialSize(); ++i) {
      if (rows.col(i).norm() < kNothingSeen) rows.col(i).setZero();
      rows.col(i) *= parameterUnit(i % 10, reference_.size());
    }
    return rows;
  }

 private:
  void markMeasured(const MeasuredRows& measured) {
    std::vector<FreeCoordinate>& all = reference_.coordinates();
    for (FreeCoordinate& z : all) {
      z.measured = z.joint < 0 ? measured.base : measured.joints[static_cast<size_t>(z.joint)];
    }
    if (measured.base && !reference_.tree().floating()) wrenches_.insert(0);
    for (const int link : measured.cut_links) wrenches_.insert(reference_.tree().bodyOfLink(link));
    for (const int body : wrenches_) {
      for (int k = 0; k < 6; ++k) {
        FreeCoordinate wrench;
        wrench.drives = {{body, velocityAdjoint(reference_.pose(body)) * Vector6d::Unit(k)}};
        wrench.moves = false;
        wrench.measured = true;
        all.push_back(wrench);
      }
    }
  }

  void findParts() {
    std::vector<size_t> part_of;
    for (int b = 0; b < static_cast<int>(bodies_.size()); ++b) {
      const TreeBody& body = bodies_[static_cast<size_t>(b)];
      const bool rigid =
          body.parent >= 0 && body.joint == BodyJoint::kFixed && wrenches_.count(b) == 0;
      if (!rigid) parts_.push_back({b, {}});
      part_of.push_back(rigid ? part_of[static_cast<size_t>(body.parent)] : parts_.size() - 1);
      if (body.link >= 0) parts_[part_of.back()].links.push_back(b);
    }
    std::erase_if(parts_, [](const Part& part) { return part.links.empty(); });
  }

  void findLinkRows() {
    for (size_t b = 0; b < bodies_.size(); ++b) {
      const TreeBody& body = bodies_[b];
      const Pose X_BL = {RowMajor3::Map(body.R_BL), Vector3d::Map(body.p_BL) / reference_.size()};
      link_rows_.push_back(
          parameterTransform(reference_.pose(static_cast<int>(b)) * X_BL).transpose());
    }
  }

  void findGenerators() {
    generators_.resize(bodies_.size());
    for (const FreeCoordinate& z : reference_.coordinates()) {
      if (!z.moves || z.led()) continue;
      const DrivenTwist& drive = z.drives.front();
      generators_[static_cast<size_t>(drive.body)].push_back(generatorOf(drive.S));
    }
  }

  /// All conditions at one position of the mimicked coordinates.
  void compare(const Positions& position) {
    displacements_.clear();
    const std::vector<FreeCoordinate>& all = reference_.coordinates();
    for (size_t z = 0; z < position.size(); ++z) {
      if (!all[z].led()) continue;
      for (const DrivenTwist& drive : all[z].drives) {
        displacements_[drive.body] = displacement(drive, position[z]);
      }
    }
    outward_.assign(bodies_.size(), RowSpan());
    plain_.assign(bodies_.size(), RowSpan());
    for (const FreeCoordinate& f : all) {
      if (!f.measured) continue;
      addGravity(f);
      for (const FreeCoordinate& k : all) {
        // M_fk is M_kf; once is enough unless parameters at the joints share one of the rows
        const bool done = k.measured && f.moves && &k < &f && !sharesFeature(f, k);
        if (k.moves && !done && !ordinary(f, k)) addPair(f, k);
      }
      addHiddenPairs(f);
    }
    addOrdinaryPairs();
  }

  /// What the joint does between the reference position and this one.
  Action displacement(const DrivenTwist& drive, double z) const {
    const double q = drive.ratio * z + drive.offset;
    Pose X;
    if (bodies_[static_cast<size_t>(drive.body)].joint == BodyJoint::kPrismatic) {
      X.p.z() = q;
    } else {
      X.R << std::cos(q), -std::sin(q), 0, std::sin(q), std::cos(q), 0, 0, 0, 1;
    }
    const Pose& X_WB = reference_.pose(drive.body);
    X = X_WB * X * X_WB.inverse();
    return {velocityAdjoint(X.inverse()), parameterTransform(X).transpose()};
  }

  /// The feature of a row that is the acceleration of k, or the constant one.
  const RowFeature* feature(const FreeCoordinate& row, const FreeCoordinate* k) const {
    if (row.joint < 0 || (k != nullptr && k->joint < 0)) return nullptr;
    for (const RowFeature& f : features_) {
      if (f.row_joint != row.joint) continue;
      if (k == nullptr ? f.constant : f.acceleration_of == k->joint) return &f;
    }
    return nullptr;
  }
  bool sharesFeature(const FreeCoordinate& f, const FreeCoordinate& k) const {
    return feature(f, &k) != nullptr || feature(k, &f) != nullptr;
  }
  /// Two coordinates of one joint each, whose M_fk no other parameter shares.
  bool ordinary(const FreeCoordinate& f, const FreeCoordinate& k) const {
    return !f.led() && !k.led() && !sharesFeature(f, k);
  }

  Eigen::VectorXd unitState(const Stack& stack) const {
    return Eigen::VectorXd::Unit(stack.size(), 0);
  }

  /// x with the action applied to all that is beyond body b; the rest kept, or set to zero.
  Eigen::VectorXd applied(const Stack& stack, int b, const Action& A, Eigen::VectorXd x,
                          bool keep) const {
    if (!keep) x[0] = 0.0;
    for (size_t p = 0; p < stack.parts.size(); ++p) {
      const bool beyond = reference_.beyond(b, stack.parts[p].body);
      for (Eigen::Index k = 0; k < stack.velocities; ++k) {
        auto u = stack.velocity(x, p, k);
        if (beyond)
          u = (A.velocities * u).eval();
        else if (!keep)
          u.setZero();
      }
      for (Eigen::Index k = 0; k < stack.rows; ++k) {
        auto e = stack.row(x, p, k);
        if (beyond)
          e = (A.rows * e).eval();
        else if (!keep)
          e.setZero();
      }
    }
    return x;
  }

  /// The joint of body b moves: to where it is, or everywhere.
  void move(const Stack& stack, int b, StackedSpan& span) const {
    if (const auto to = displacements_.find(b); to != displacements_.end()) {
      StackedSpan moved;
      for (const Eigen::VectorXd& x : span.basis()) {
        moved.add(applied(stack, b, to->second, x, true));
      }
      span = moved;
      return;
    }
    const std::vector<Action>& generators = generators_[static_cast<size_t>(b)];
    span.close(generators.size(), [&](size_t k, const Eigen::VectorXd& x) {
      return applied(stack, b, generators[k], x, false);
    });
  }

  /// Velocities of body b that the chosen coordinates can give it.
  template <class Chosen>
  Span<6> velocitiesAt(int b, const Chosen& chosen) const {
    Span<6> V;
    if (const int parent = bodies_[static_cast<size_t>(b)].parent; parent >= 0) {
      V = velocitiesAt(parent, chosen);
    }
    if (const auto to = displacements_.find(b); to != displacements_.end()) {
      V = V.mapped(to->second.velocities);
    } else {
      std::vector<Matrix6d> generators;
      for (const Action& A : generators_[static_cast<size_t>(b)])
        generators.push_back(A.velocities);
      V = V.invariant(generators);
    }
    for (const FreeCoordinate& k : reference_.coordinates()) {
      if (!k.led() && k.drives.front().body == b && chosen(k)) V.add(k.drives.front().S);
    }
    return V;
  }

  /// M_fk of all ordinary pairs with a measured row, and what becomes further out of these and of
  /// all rows in plain_ and outward_. It does not depend on where they came from, and as long as
  /// only joints that move alone or stand still are passed all that is beyond a body sees the same
  /// row: one space for each body.
  void addOrdinaryPairs() {
    for (int b = 0; b < static_cast<int>(bodies_.size()); ++b) {
      RowSpan rows, &conditions = plain_[static_cast<size_t>(b)];
      if (const int parent = bodies_[static_cast<size_t>(b)].parent; parent >= 0)
        rows = outward_[static_cast<size_t>(parent)];
      if (const auto to = displacements_.find(b); to != displacements_.end()) {
        rows = rows.mapped(to->second.rows);
      } else {
        const std::vector<Action>& generators = generators_[static_cast<size_t>(b)];
        rows.close(generators.size(), [&](size_t k, const Vector10d& row) {
          return Vector10d(generators[k].rows * row);
        });
        for (const Action& A : generators) {
          for (const Vector10d& row : rows.basis()) conditions.add(Vector10d(A.rows * row));
        }
      }
      for (const FreeCoordinate& k : reference_.coordinates()) {
        if (k.led() || k.drives.front().body != b) continue;
        const Span<6> partners = velocitiesAt(b, [&](const FreeCoordinate& f) {
          return (f.measured || k.measured) && (f.moves || k.moves) && ordinary(f, k);
        });
        for (const Vector6d& u : partners.basis())
          conditions.add(productRow(k.drives.front().S, u));
      }
      for (const Vector10d& row : conditions.basis()) addBodyCondition(b, row, 0.0, nullptr, 1.0);
      rows.add(conditions);
      rows.add(outward_[static_cast<size_t>(b)]);
      outward_[static_cast<size_t>(b)] = rows;
    }
  }

  /// The parts that every one of the coordinates moves.
  std::vector<Part> partsMovedBy(const std::vector<const FreeCoordinate*>& coordinates) const {
    std::vector<Part> moved;
    for (const Part& part : parts_) {
      const bool all =
          std::all_of(coordinates.begin(), coordinates.end(), [&](const FreeCoordinate* z) {
            return std::any_of(z->drives.begin(), z->drives.end(), [&](const DrivenTwist& drive) {
              return reference_.beyond(drive.body, part.body);
            });
          });
      if (all) moved.push_back(part);
    }
    return moved;
  }

  /// Applies `change(part, x)`, made by `make(drive)`, for each joint at body b that z drives, to
  /// all parts beyond.
  template <class Make>
  void drive(const Stack& stack, const FreeCoordinate& z, int b, StackedSpan& span,
             const Make& make) const {
    for (const DrivenTwist& d : z.drives) {
      if (d.body != b) continue;
      const auto change = make(d);
      StackedSpan changed;
      for (Eigen::VectorXd x : span.basis()) {
        for (size_t p = 0; p < stack.parts.size(); ++p) {
          if (reference_.beyond(b, stack.parts[p].body)) change(p, x);
        }
        changed.add(x);
      }
      span = changed;
    }
  }

  /// Coordinate z gives velocity number `own`, which the products with number `other` feel; `pairs`
  /// of them: values, and derivatives.
  void driveVelocity(const Stack& stack, const FreeCoordinate& z, int b, Eigen::Index own,
                     StackedSpan& span) const {
    drive(stack, z, b, span, [&](const DrivenTwist& d) {
      return [&stack, own, S = Vector6d(d.ratio * d.S)](size_t p, Eigen::VectorXd& x) {
        stack.velocity(x, p, own) += x[0] * S;
        for (Eigen::Index k = 0; k < stack.rows; ++k) {
          const Vector6d other = stack.velocity(x, p, 2 * k + 1 - own);
          stack.row(x, p, k) += productRow(S, other);
        }
      };
    });
  }

  /// Derivatives with respect to z: numbers beyond the values of velocities and rows.
  void driveDerivative(const Stack& stack, const FreeCoordinate& z, int b,
                       StackedSpan& span) const {
    drive(stack, z, b, span, [&](const DrivenTwist& d) {
      return [&stack, A = generatorOf(d.ratio * d.S)](size_t p, Eigen::VectorXd& x) {
        for (Eigen::Index k = 0; k < stack.velocities / 2; ++k) {
          const Vector6d u = stack.velocity(x, p, k);
          stack.velocity(x, p, k + stack.velocities / 2) += A.velocities * u;
        }
        const Vector10d e = stack.row(x, p, 0);
        stack.row(x, p, 1) += A.rows * e;
      };
    });
  }

  /// The body beyond which all coordinates have acted; -1 if one of them drives several joints or
  /// they are on different branches.
  int outermost(const std::vector<const FreeCoordinate*>& coordinates) const {
    int outer = 0;
    for (const FreeCoordinate* z : coordinates) {
      if (z->led()) return -1;
      outer = std::max(outer, z->drives.front().body);
    }
    for (const FreeCoordinate* z : coordinates) {
      if (!reference_.beyond(z->drives.front().body, outer)) return -1;
    }
    return outer;
  }

  /// Conditions from row number k of a space that starts with the row `start` (number 0) in every
  /// part and is moved and, by `driven(stack, b, span)`, driven outwards body by body. Beyond the
  /// outermost of coordinates that drive one joint each one part stands for all.
  /// @param stack  without parts
  template <class Driven>
  void addQuantity(const std::vector<const FreeCoordinate*>& coordinates, Stack stack,
                   const Vector10d& start, Eigen::Index k, const RowFeature* f, double factor,
                   const Driven& driven) {
    const int outer = outermost(coordinates);
    stack.parts = outer < 0 ? partsMovedBy(coordinates) : std::vector<Part>{{outer, {}}};
    if (stack.parts.empty() && f == nullptr) return;
    Eigen::VectorXd x0 = unitState(stack);
    for (size_t p = 0; p < stack.parts.size(); ++p) stack.row(x0, p, 0) = start;
    StackedSpan span;
    span.add(x0);
    const int last = outer < 0 ? static_cast<int>(bodies_.size()) - 1 : outer;
    for (int b = 0; b <= last; ++b) {
      move(stack, b, span);
      driven(stack, b, span);
    }
    for (Eigen::VectorXd& x : span.basis()) {
      if (outer < 0) {
        addCondition(stack, x, k, f, factor);
        continue;
      }
      const Vector10d row = stack.row(x, 0, k);
      (f == nullptr ? plain_ : outward_)[static_cast<size_t>(outer)].add(row);
      if (f != nullptr) addBodyCondition(outer, row, x[0], f, factor);
    }
  }

  /// M_fk, with what the parameters at the joints add to it in row f.
  void addPair(const FreeCoordinate& f, const FreeCoordinate& k) {
    const double factor = reference_.size() * reference_.size() / (f.scale * k.scale);
    addQuantity({&f, &k}, {{}, 2, 1}, Vector10d::Zero(), 0, feature(f, &k), factor,
                [&](const Stack& stack, int b, StackedSpan& span) {
                  driveVelocity(stack, f, b, 0, span);
                  driveVelocity(stack, k, b, 1, span);
                });
  }

  /// d/dz_f of M_kl where neither row k nor row l is measured: else M_kl = 0 already.
  void addHiddenPairs(const FreeCoordinate& f) {
    const std::vector<FreeCoordinate>& all = reference_.coordinates();
    for (const FreeCoordinate& k : all) {
      for (const FreeCoordinate& l : all) {
        if (&l < &k || k.measured || l.measured || !k.moves || !l.moves) continue;
        addQuantity({&f, &k, &l}, {{}, 4, 2}, Vector10d::Zero(), 1, nullptr, 1.0,
                    [&](const Stack& stack, int b, StackedSpan& span) {
                      driveDerivative(stack, f, b, span);
                      driveVelocity(stack, k, b, 0, span);
                      driveVelocity(stack, l, b, 1, span);
                    });
      }
    }
  }

  /// dU/dz_f, with what is constant in row f. U = -g^T (first moment about the world's origin).
  void addGravity(const FreeCoordinate& f) {
    const Vector3d g = reference_.tree().model().gravity;
    Vector10d start = Vector10d::Zero();
    if (!g.isZero(0.0)) start.segment<3>(1) = -g.normalized();
    const double factor = g.isZero(0.0) ? 1.0 : g.norm() * reference_.size() / f.scale;
    addQuantity(
        {&f}, {{}, 0, 2}, start, 1, feature(f, nullptr), factor,
        [&](const Stack& stack, int b, StackedSpan& span) { driveDerivative(stack, f, b, span); });
  }

  /// A row on what is beyond body b as seen from body `to`: joints between them that move together
  /// have moved it.
  Vector10d carried(int b, int to, const Vector10d& row) const {
    if (to == b) return row;
    const Vector10d inner = carried(b, bodies_[static_cast<size_t>(to)].parent, row);
    const auto by = displacements_.find(to);
    return by == displacements_.end() ? inner : Vector10d(by->second.rows * inner);
  }

  /// A row on all that is beyond body b, with the constant part that parameters at the joints
  /// share.
  void addBodyCondition(int b, const Vector10d& row, double constant, const RowFeature* f,
                        double factor) {
    Stack stack = {{}, 0, 1};
    for (const Part& part : parts_) {
      if (reference_.beyond(b, part.body)) stack.parts.push_back(part);
    }
    Eigen::VectorXd x = constant * unitState(stack);
    for (size_t p = 0; p < stack.parts.size(); ++p)
      stack.row(x, p, 0) = carried(b, stack.parts[p].body, row);
    addCondition(stack, x, 0, f, factor);
  }

  /// Row number k of a stacked vector as a row on the parameters of all links, and with it the
  /// parameters at the joints that share its constant part.
  /// @param factor  from the scaled row to the torque of a unit of the feature
  void addCondition(const Stack& stack, Eigen::VectorXd x, Eigen::Index k, const RowFeature* f,
                    double factor) {
    Eigen::VectorXd row = Eigen::VectorXd::Zero(layout_.size());
    for (size_t p = 0; p < stack.parts.size(); ++p) {
      const Vector10d part = stack.row(x, p, k);
      for (const int b : stack.parts[p].links) {
        row.segment<10>(layout_.linkOffset(bodies_[static_cast<size_t>(b)].link)) =
            link_rows_[static_cast<size_t>(b)] * part;
      }
    }
    if (f != nullptr) {
      for (const auto& [parameter, value] : f->coefficients)
        row[parameter] += x[0] * value / factor;
    }
    conditions_.block().row(pending_) = row.transpose();
    if (++pending_ < conditions_.blockRows()) return;
    conditions_.fold(pending_);
    pending_ = 0;
  }

  const ParameterLayout& layout_;
  ReferenceTree reference_;
  const std::vector<TreeBody>& bodies_;
  std::vector<RowFeature> features_;
  std::set<int> wrenches_;  ///< bodies at which a wrench is measured
  std::vector<Part> parts_;
  std::vector<std::vector<Action>> generators_;  ///< of joints that move alone, per body
  std::map<int, Action> displacements_;          ///< of joints that move together, by body
  std::vector<Matrix10d> link_rows_;             ///< from rows at the world to rows on the link
  std::vector<RowSpan> plain_;                   ///< per body: conditions on all that is beyond it
  std::vector<RowSpan> outward_;                 ///< other rows on that, to be followed outwards
  StreamingQr conditions_;
  Eigen::Index pending_ = 0;  ///< rows that are not folded in yet
};

}  // namespace

std::string mimicConditionsObstacle(const Tree& tree) {
  if (!comparedPositions(ReferenceTree(tree)).empty()) return "";
  return fmt::format(
      "its mimic joints follow each other along one path in ways that take more than {} positions "
      "to compare; the sampled analysis does not need them",
      kMostPositions);
}

Eigen::MatrixXd mimicConditions(const Tree& tree, const ParameterLayout& layout,
                                const MeasuredRows& measured,
                                const std::function<void(double)>& progress) {
  return MimicConditions(tree, layout, measured, progress).rows();
}

}  // namespace proprio::internal
