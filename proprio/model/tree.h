#pragma once

/// A model compiled for one base link: bodies in depth-first order, each with the constant
/// placement of its joint, frames relabelled so that every joint axis is z. The dynamics kernels
/// read nothing else.
///
/// Body frame B_i: origin on the joint axis, z along it (against it where the joint is traversed
/// from `second` to `first`, so that the sign of q never changes). X_parent_body(q) = X_PJ * Rz(q)
/// or X_PJ * Tz(q). The user's link frame sits at the constant X_BL in the body frame. The root's
/// body frame is its link frame.
///
/// A planar joint becomes three bodies (Tx, Ty, Rz), two of them massless (link = -1). Mimic joints
/// are bodies of their own with own entries in the "full" vectors; `expansion` maps the model's
/// free coordinates to them.

#include <memory>
#include <vector>

#include "proprio/model/model.h"

namespace proprio {

enum class BodyJoint : int { kFixed, kRevolute, kPrismatic, kFloating };

/// Plain data: what a kernel needs about one body.
struct TreeBody {
  int parent = -1;      ///< body index; -1 for the root
  int subtree_end = 0;  ///< bodies i .. subtree_end-1 are the subtree of i (depth-first order)
  BodyJoint joint = BodyJoint::kFixed;
  int q = -1;          ///< first position coordinate in the full q
  int v = -1;          ///< first velocity coordinate in the full v
  int link = -1;       ///< model link; -1 for a massless helper body
  int frame_case = 0;  ///< X_BL is: 0 identity, 1 signed axis permutation, 2 general
  double R_PJ[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};  ///< row-major
  double p_PJ[3] = {0, 0, 0};
  double R_BL[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  double p_BL[3] = {0, 0, 0};
};

/// Parent, ancestors, children, subtree, neighbours and paths for one base (T-16).
struct Traversal {
  int base = 0;
  std::vector<int> order;         ///< links, parent before child
  std::vector<int> parent;        ///< per link; -1 for the base
  std::vector<int> parent_joint;  ///< per link; -1 for the base
  std::vector<std::vector<int>> children;
};

/// Coordinates, in this order: base first when it floats, q = (position, quaternion xyzw, shape
/// positions), v = (base twist, shape velocities); shape coordinates by the model's position_index
/// / velocity_index, which do not depend on the base. A fixed base has shape coordinates only. With
/// mimic joints the kernels work on full coordinates; nq/nv count the free ones, nq_full/nv_full
/// all.
class Tree {
 public:
  /// @throws Error if the base lies beyond a floating joint that would be traversed from child to
  /// parent.
  Tree(std::shared_ptr<const Model> model, int base_link, bool floating, const Pose& X_WB = {});
  /// For the model's own base.
  explicit Tree(const std::shared_ptr<const Model>& model);

  const Model& model() const { return *model_; }
  std::shared_ptr<const Model> sharedModel() const { return model_; }
  int baseLink() const { return base_link_; }
  bool floating() const { return floating_; }
  int positionCount() const { return nq_; }
  int velocityCount() const { return nv_; }
  int bodyCount() const { return static_cast<int>(bodies_.size()); }
  const std::vector<TreeBody>& bodies() const { return bodies_; }
  /// Body of a link.
  int bodyOfLink(int link) const { return body_of_link_[static_cast<size_t>(link)]; }
  /// Pose of the root in the world when it is fixed.
  const Pose& mounting() const { return X_WB_; }

  bool hasMimic() const { return has_mimic_; }
  int fullPositionCount() const { return nq_full_; }
  int fullVelocityCount() const { return nv_full_; }
  /// full q[i] = q_ratio[i] * q[q_source[i]] + q_offset[i]; full v[i] = v_ratio[i] *
  /// v[v_source[i]].
  std::vector<int> q_source, v_source;
  std::vector<double> q_ratio, q_offset, v_ratio;

  /// q with every joint at zero and the base at the world origin.
  Eigen::VectorXd neutralPosition() const;
  /// Index of a joint's first coordinate in q and in v (its leader's for a mimic joint; -1 if
  /// fixed).
  int positionIndex(int joint) const;
  int velocityIndex(int joint) const;
  /// Index of a joint's own first coordinate in the full vectors (-1 if fixed).
  int fullPositionIndex(int joint) const;
  int fullVelocityIndex(int joint) const;

 private:
  void numberCoordinates();
  void buildBodies(const Traversal& traversal);

  std::shared_ptr<const Model> model_;
  int base_link_ = 0;
  bool floating_ = false;
  bool has_mimic_ = false;
  Pose X_WB_;
  int nq_ = 0, nv_ = 0, nq_full_ = 0, nv_full_ = 0;
  std::vector<TreeBody> bodies_;
  std::vector<int> body_of_link_;
  std::vector<int> full_q_, full_v_;
};

Traversal traverse(const Model& model, int base);
/// Links from `from` to `to`, both included; and the joints between them.
std::vector<int> linkPath(const Model& model, int from, int to);
std::vector<int> jointPath(const Model& model, int from, int to);
/// Shape velocity indices of the degrees of freedom between two links, ascending.
std::vector<int> dofPath(const Model& model, int from, int to);
/// The link `steps` parents up from `link`; -1 beyond the base.
int ancestor(const Traversal& traversal, int link, int steps);
/// Links of the subtree rooted at `link` (itself included) when `base` is the base.
std::vector<int> subtree(const Model& model, int base, int link);
std::vector<int> neighbours(const Model& model, int link);

/// Every base prebuilt, so that changing the base costs nothing. The model's own base is at its
/// X_WB when fixed, the others at the world origin. @throws Error for a model with a floating
/// joint: it cannot be passed from every base.
class TreeSet {
 public:
  TreeSet(const std::shared_ptr<const Model>& model, bool floating);
  const Tree& at(int base_link) const { return trees_[static_cast<size_t>(base_link)]; }

 private:
  std::vector<Tree> trees_;
};

}  // namespace proprio
