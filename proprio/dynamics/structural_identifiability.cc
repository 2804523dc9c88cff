#include "proprio/dynamics/structural_identifiability.h"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "proprio/dynamics/body_regressor.h"
#include "proprio/dynamics/joint_features_internal.h"
#include "proprio/dynamics/joint_signals_internal.h"
#include "proprio/dynamics/mimic_conditions_internal.h"
#include "proprio/dynamics/structural_spaces_internal.h"

namespace proprio {
namespace {

using internal::motionCross;
using internal::parameterGenerator;
using internal::productRow;
using internal::RowMajor3;
using internal::Span;
using Span3 = Span<3>;
using Span6 = Span<6>;
using Span10 = Span<10>;

Vector10d gravityRow(const Vector6d& S, const Vector3d& g) {
  return productRow(S, (Vector6d() << g, Vector3d::Zero()).finished());
}

/// What one body needs to know: its joint, and the spaces it can reach.
struct Node {
  int parent = -1;
  int joint = -1;  ///< model joint, -1 for the root
  Pose X_PB;       ///< at the reference position, scaled
  std::vector<Vector6d> S;
  // transforms from the parent to here, and generators of the joint's motion, both for columns
  Matrix6d motion;  ///< velocities
  Matrix10d rows;   ///< rows on parameters, transposed
  std::vector<Matrix6d> motion_generators;
  std::vector<Matrix10d> row_generators;
  std::vector<Matrix3d> rotation_generators;
  Span6 V;
  Span10 P;
  Vector3d g0 = Vector3d::Zero();  ///< gravity at the reference position
  Span3 gravity_span;              ///< and its differences from there
};

/// A condition: row on the composite parameters of a body, plus parameters at the joints.
struct Condition {
  int body = -1;
  Vector10d row = Vector10d::Zero();
  std::map<int, double> extra;
};

/// Rows whose remains are to be followed outwards.
struct Seeds {
  explicit Seeds(size_t bodies) : rows(bodies), first(bodies), second(bodies) {}
  std::vector<Span10> rows;
  std::vector<Span6> first;   ///< S_j of momentum rows, paired with every joint further out
  std::vector<Span6> second;  ///< S_j x u of energy rows, likewise
};

class StructuralAnalysis {
 public:
  StructuralAnalysis(const Tree& tree, const ParameterLayout& layout, const MeasuredRows& measured)
      : tree_(tree), layout_(layout), measured_(measured), plain_(tree.bodies().size()) {
    scale_ = internal::robotSize(tree);
    buildNodes();
    for (size_t b = 0; b < nodes_.size(); ++b) reach(b);
    features_ = internal::jointFeatures(layout, measured.joints);
    addRows();
  }

  /// All conditions as rows over the layout.
  Eigen::MatrixXd conditions() const {
    std::vector<Condition> all = extended_;
    for (size_t b = 0; b < nodes_.size(); ++b) {
      for (const Vector10d& row : plain_[b].basis()) all.push_back({static_cast<int>(b), row, {}});
    }
    Eigen::MatrixXd rows =
        Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(all.size()), layout_.size());
    for (size_t i = 0; i < all.size(); ++i) {
      const auto k = static_cast<Eigen::Index>(i);
      if (all[i].body >= 0) spread(static_cast<size_t>(all[i].body), all[i].row, rows, k);
      for (const auto& [parameter, value] : all[i].extra) rows(k, parameter) += value;
    }
    return rows;
  }

 private:
  void buildNodes() {
    const Model& model = tree_.model();
    std::vector<int> joint_of(static_cast<size_t>(tree_.fullVelocityCount()), -1);
    for (int j = 0; j < static_cast<int>(model.joints.size()); ++j) {
      const int index = tree_.fullVelocityIndex(j);
      for (int k = 0; k < velocityCount(model.joints[static_cast<size_t>(j)].type); ++k) {
        joint_of[static_cast<size_t>(index + k)] = j;
      }
    }
    for (const TreeBody& body : tree_.bodies()) {
      Node node;
      node.parent = body.parent;
      if (body.v >= 0) node.joint = joint_of[static_cast<size_t>(body.v)];
      node.X_PB = {RowMajor3::Map(body.R_PJ), Vector3d::Map(body.p_PJ) / scale_};
      node.S = internal::jointTwists(body.joint);
      node.motion = velocityAdjoint(node.X_PB.inverse());
      node.rows = parameterTransform(node.X_PB).transpose();
      for (const Vector6d& S : node.S) {
        node.motion_generators.push_back(motionCross(S));
        node.row_generators.push_back(parameterGenerator(S).transpose());
        node.rotation_generators.push_back(skew(S.tail<3>()));
      }
      if (node.joint >= 0) body_of_joint_[node.joint] = static_cast<int>(nodes_.size());
      nodes_.push_back(node);
    }
  }

  /// V, P, G of a body from those of its parent.
  void reach(size_t b) {
    Node& node = nodes_[b];
    Span6 V;
    Span10 P;
    Vector3d g0 = tree_.model().gravity;
    if (g0.norm() > 0.0) g0.normalize();
    Span3 gravity_span;
    if (node.parent >= 0) {
      const Node& parent = nodes_[static_cast<size_t>(node.parent)];
      V = parent.V;
      P = parent.P;
      g0 = parent.g0;
      gravity_span = parent.gravity_span;
    }
    node.V = V.mapped(node.motion).invariant(node.motion_generators);
    node.P = P.mapped(node.rows).invariant(node.row_generators);
    for (const Vector6d& S : node.S) {
      for (const Vector6d& u : node.V.basis()) node.P.add(productRow(S, u));
      for (const Vector6d& other : node.S) node.P.add(productRow(S, other));
    }
    for (const Vector6d& S : node.S) node.V.add(S);
    node.g0 = node.X_PB.R.transpose() * g0;
    node.gravity_span = gravity_span.mapped(Matrix3d(node.X_PB.R.transpose()));
    for (const Matrix3d& W : node.rotation_generators) node.gravity_span.add(Vector3d(W * node.g0));
    node.gravity_span = node.gravity_span.invariant(node.rotation_generators);
  }

  bool isAncestorOrSelf(int ancestor, int body) const {
    return ancestor <= body && body < tree_.bodies()[static_cast<size_t>(ancestor)].subtree_end;
  }

  const internal::RowFeature* feature(int joint, int acceleration_of, bool constant) const {
    for (const internal::RowFeature& f : features_) {
      if (f.row_joint == joint && f.constant == constant && f.acceleration_of == acceleration_of) {
        return &f;
      }
    }
    return nullptr;
  }

  void addRows() {
    Seeds common(nodes_.size());
    for (size_t b = 0; b < nodes_.size(); ++b) {
      const Node& node = nodes_[b];
      const int joint = node.joint;
      if (joint >= 0 && measured_.joints[static_cast<size_t>(joint)]) addJointRow(b, common);
      if (node.parent < 0 && measured_.base) addWrenchRows(b, common);
    }
    for (const int link : measured_.cut_links) {
      addWrenchRows(static_cast<size_t>(tree_.bodyOfLink(link)), common);
    }
    follow(common, {});
    // features that no rigid body shows
    for (const internal::RowFeature& f : features_) {
      if (f.acceleration_of < 0 && !f.constant) extended_.push_back({-1, {}, f.coefficients});
    }
  }

  void plain(size_t b, const Vector10d& row, Seeds& seeds) {
    plain_[b].add(row);
    seeds.rows[b].add(row);
  }

  /// A row that shares its feature with parameters at the joints, if there are any.
  /// @param factor  from the scaled row to the torque of a unit of the feature
  void shared(size_t b, const Vector10d& row, double factor, const internal::RowFeature* f,
              Seeds& seeds) {
    if (f == nullptr) return plain(b, row, seeds);
    extended_.push_back({static_cast<int>(b), factor * row, f->coefficients});
    seeds.rows[b].add(row);
  }

  /// Energies are those of the scaled robot times scale^2; a sliding joint's coordinate is scaled,
  /// too.
  double coordinateScale(size_t b) const {
    return nodes_[b].S.front().head<3>().isZero() ? 1.0 : scale_;
  }

  /// The part of a row that neither accelerations nor gravity bring: T must not depend on q_j.
  void addEnergyRows(size_t b, const Vector6d& S, Seeds& seeds) {
    const Node& node = nodes_[b];
    const Matrix10d generator = parameterGenerator(S).transpose();
    for (const Vector10d& row : node.P.basis()) plain(b, generator * row, seeds);
    for (const Vector6d& u : node.V.basis()) seeds.second[b].add(Vector6d(motionCross(S) * u));
  }

  /// The six components of the wrench through which the rest of the robot carries body b.
  void addWrenchRows(size_t b, Seeds& seeds) {
    const Node& node = nodes_[b];
    for (int k = 0; k < 6; ++k) {
      const Vector6d S = Vector6d::Unit(k);
      for (const Vector6d& u : node.V.basis()) plain(b, productRow(S, u), seeds);
      plain(b, gravityRow(S, node.g0), seeds);
      for (const Vector3d& g : node.gravity_span.basis()) plain(b, gravityRow(S, g), seeds);
      addEnergyRows(b, S, seeds);
      seeds.first[b].add(S);
    }
  }

  /// The torque row of the joint at body b (six rows of a floating joint).
  void addJointRow(size_t b, Seeds& common) {
    const Node& node = nodes_[b];
    // joints whose accelerations other parameters multiply in this row
    std::set<int> special;
    for (const internal::RowFeature& f : features_) {
      if (f.row_joint == node.joint && f.acceleration_of >= 0) special.insert(f.acceleration_of);
    }
    const bool outward = std::any_of(special.begin(), special.end(), [&](int k) {
      const int body = body_of_joint_.at(k);
      return body != static_cast<int>(b) && isAncestorOrSelf(static_cast<int>(b), body);
    });
    Seeds own(outward ? nodes_.size() : 0);
    Seeds& seeds = outward ? own : common;
    const Span6 ordinary = velocities(b, special);
    for (const Vector6d& S : node.S) {
      for (const Vector6d& u : ordinary.basis()) plain(b, productRow(S, u), seeds);
      // gravity is felt as an acceleration upwards
      const double weight = -tree_.model().gravity.norm() * scale_ / coordinateScale(b);
      shared(b, gravityRow(S, node.g0), weight, feature(node.joint, -1, true), seeds);
      for (const Vector3d& g : node.gravity_span.basis()) plain(b, gravityRow(S, g), seeds);
      addEnergyRows(b, S, seeds);
      seeds.first[b].add(S);
    }
    for (const int k : special) addPair(b, k, common);
    if (outward) follow(seeds, special);
  }

  /// Velocities of body b that all joints but the named ones can give it.
  Span6 velocities(size_t b, const std::set<int>& without) const {
    const Node& node = nodes_[b];
    Span6 V;
    if (node.parent >= 0) {
      V = velocities(static_cast<size_t>(node.parent), without)
              .mapped(node.motion)
              .invariant(node.motion_generators);
    }
    if (without.count(node.joint) == 0 || node.joint < 0) {
      for (const Vector6d& S : node.S) V.add(S);
    }
    return V;
  }

  /// M_jk(q), which other parameters add a constant to: its value at the reference position goes
  /// with them, its differences are the bodies' alone.
  void addPair(size_t row_body, int k, Seeds& seeds) {
    const int j_body = static_cast<int>(row_body), k_body = body_of_joint_.at(k);
    const internal::RowFeature* f = feature(nodes_[row_body].joint, k, false);
    if (!isAncestorOrSelf(j_body, k_body) && !isAncestorOrSelf(k_body, j_body)) {
      extended_.push_back({-1, {}, f->coefficients});
      return;
    }
    const int inner = std::min(j_body, k_body), outer = std::max(j_body, k_body);
    // the inner joint's twist, carried to the outer body
    std::vector<int> path;
    for (int b = outer; b != inner; b = nodes_[static_cast<size_t>(b)].parent) path.push_back(b);
    Vector6d s = nodes_[static_cast<size_t>(inner)].S.front();
    Span6 differences;
    for (auto b = path.rbegin(); b != path.rend(); ++b) {
      const Node& node = nodes_[static_cast<size_t>(*b)];
      s = node.motion * s;
      differences = differences.mapped(node.motion);
      for (const Matrix6d& A : node.motion_generators) differences.add(Vector6d(A * s));
      differences = differences.invariant(node.motion_generators);
    }
    const Vector6d S = nodes_[static_cast<size_t>(outer)].S.front();
    const double factor =
        scale_ * scale_ /
        (coordinateScale(static_cast<size_t>(inner)) * coordinateScale(static_cast<size_t>(outer)));
    shared(static_cast<size_t>(outer), productRow(S, s), factor, f, seeds);
    for (const Vector6d& d : differences.basis()) {
      plain(static_cast<size_t>(outer), productRow(S, d), seeds);
    }
  }

  /// Follows rows outwards: behind each joint they must not change with its q and v.
  void follow(Seeds& seeds, const std::set<int>& without) {
    for (size_t b = 0; b < nodes_.size(); ++b) {
      const Node& node = nodes_[b];
      if (node.parent < 0) continue;
      const auto p = static_cast<size_t>(node.parent);
      const Span10 rows = seeds.rows[p].mapped(node.rows).invariant(node.row_generators);
      const Span6 first = seeds.first[p].mapped(node.motion).invariant(node.motion_generators);
      const Span6 second = seeds.second[p].mapped(node.motion).invariant(node.motion_generators);
      for (const Matrix10d& generator : node.row_generators) {
        for (const Vector10d& row : rows.basis()) plain_[b].add(Vector10d(generator * row));
      }
      seeds.rows[b].add(rows);
      const bool paired = node.joint < 0 || without.count(node.joint) == 0;
      for (const Vector6d& S : node.S) {
        if (paired) {
          for (const Vector6d& s : first.basis()) plain(b, productRow(s, S), seeds);
        }
        for (const Vector6d& s : second.basis()) plain(b, productRow(s, S), seeds);
      }
      seeds.first[b].add(first);
      seeds.second[b].add(second);
    }
  }

  /// A row on the composite parameters of body b as a row on the links beyond it.
  void spread(size_t b, const Vector10d& row, Eigen::MatrixXd& rows, Eigen::Index k) const {
    const TreeBody& body = tree_.bodies()[b];
    if (body.link >= 0) {
      const Pose X_BL = {RowMajor3::Map(body.R_BL), Vector3d::Map(body.p_BL) / scale_};
      const Vector10d link = parameterTransform(X_BL).transpose() * row;
      for (int c = 0; c < 10; ++c)
        rows(k, layout_.linkOffset(body.link) + c) = link[c] * internal::parameterUnit(c, scale_);
    }
    for (size_t child = b + 1; child < static_cast<size_t>(body.subtree_end); ++child) {
      if (nodes_[child].parent == static_cast<int>(b)) {
        spread(child, nodes_[child].rows * row, rows, k);
      }
    }
  }

  const Tree& tree_;
  const ParameterLayout& layout_;
  const MeasuredRows& measured_;
  double scale_ = 1.0;
  std::vector<Node> nodes_;
  std::map<int, int> body_of_joint_;
  std::vector<internal::RowFeature> features_;
  std::vector<Span10> plain_;        ///< conditions on the bodies alone
  std::vector<Condition> extended_;  ///< conditions that other parameters share
};

}  // namespace

std::string structuralAnalysisObstacle(const Tree& tree) {
  return tree.hasMimic() ? internal::mimicConditionsObstacle(tree) : "";
}

BaseParameters structuralBaseParameters(const Tree& tree,
                                        std::shared_ptr<const ParameterLayout> layout,
                                        const Measurement& measurement,
                                        const ReductionOptions& options) {
  internal::requireSameModel("structuralBaseParameters", tree, *layout);
  if (const std::string obstacle = structuralAnalysisObstacle(tree); !obstacle.empty()) {
    throw Error(obstacle);
  }
  const MeasuredRows measured = measuredRows(tree, measurement);
  Eigen::MatrixXd conditions =
      tree.hasMimic() ? internal::mimicConditions(tree, *layout, measured, options.progress)
                      : StructuralAnalysis(tree, *layout, measured).conditions();
  // size of an effect per column
  Eigen::VectorXd sizes = Eigen::VectorXd::Ones(layout->size());
  const double size = tree.hasMimic() ? internal::robotReach(tree) : internal::robotSize(tree);
  for (int i = 0; i < layout->inertialSize(); ++i) sizes[i] = internal::parameterUnit(i % 10, size);
  ReductionOptions reduction = options;
  if (reduction.preference.empty()) reduction.preference = defaultPreference(tree, *layout);
  return reduceRows(std::move(layout), std::move(conditions), sizes, reduction);
}

}  // namespace proprio
