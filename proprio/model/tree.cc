#include "proprio/model/tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace proprio {
namespace {

// Rotation entries and offsets nearer than this to 0 or +-1 are rounding of an exact number.
constexpr double kSnap = 1e-14;

double snapped(double x) {
  for (double exact : {0.0, 1.0, -1.0}) {
    if (std::abs(x - exact) <= kSnap) return exact;
  }
  return x;
}

void store(const Pose& X, double (&R)[9], double (&p)[3]) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) R[3 * i + j] = snapped(X.R(i, j));
    p[i] = std::abs(X.p[i]) <= kSnap ? 0.0 : X.p[i];
  }
}

// 0 identity, 1 signed permutation of the axes, 2 general
int frameCase(const TreeBody& body) {
  if (std::any_of(body.p_BL, body.p_BL + 3, [](double x) { return x != 0.0; })) return 2;
  const auto exact = [](double x) { return x == 0.0 || std::abs(x) == 1.0; };
  if (!std::all_of(body.R_BL, body.R_BL + 9, exact)) return 2;
  constexpr double kIdentity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  return std::equal(body.R_BL, body.R_BL + 9, kIdentity) ? 0 : 1;
}

void requireFinalized(const Model& model) {
  if (model.links.empty() || model.joints_of_link.size() != model.links.size()) {
    throw Error(
        fmt::format("model '{}': it has not been checked; pass it through finalize()", model.name));
  }
}

void requireLinkIndex(const Model& model, int link) {
  requireFinalized(model);
  if (link < 0 || static_cast<size_t>(link) >= model.links.size()) {
    throw Error(fmt::format("model '{}': there is no link number {}, it has {} links", model.name,
                            link, model.links.size()));
  }
}

int otherEnd(const Joint& joint, int link) {
  return joint.first == link ? joint.second : joint.first;
}

// One degree of freedom of a joint: turn about or slide along an axis of the joint frame.
struct Step {
  BodyJoint joint;
  Vector3d axis;
  int coordinate;  // of the joint
};

// motion(q) of a joint as a product of steps
std::vector<Step> stepsOf(const Joint& joint) {
  switch (joint.type) {
    case JointType::kRevolute:
    case JointType::kContinuous:
      return {{BodyJoint::kRevolute, joint.axis, 0}};
    case JointType::kPrismatic:
      return {{BodyJoint::kPrismatic, joint.axis, 0}};
    case JointType::kPlanar: {
      const Matrix3d A = rotationWithZAlong(joint.axis);
      return {{BodyJoint::kPrismatic, A.col(0), 0},
              {BodyJoint::kPrismatic, A.col(1), 1},
              {BodyJoint::kRevolute, joint.axis, 2}};
    }
    default:
      return {};
  }
}

// Appends the bodies of one joint: the last one carries the link.
class BodyBuilder {
 public:
  explicit BodyBuilder(std::vector<TreeBody>& bodies) : bodies_(bodies) {}

  void add(int parent, BodyJoint joint, const Pose& X_PJ, int q, int v) {
    TreeBody body;
    body.parent = parent;
    body.joint = joint;
    body.q = q;
    body.v = v;
    store(X_PJ, body.R_PJ, body.p_PJ);
    bodies_.push_back(body);
  }

  // the last body added carries `link` at X_BL
  int carry(int link, const Pose& X_BL) {
    TreeBody& body = bodies_.back();
    body.link = link;
    store(X_BL, body.R_BL, body.p_BL);
    body.frame_case = frameCase(body);
    return static_cast<int>(bodies_.size()) - 1;
  }

 private:
  std::vector<TreeBody>& bodies_;
};

Pose linkInBody(const TreeBody& body) {
  Pose X_BL;
  X_BL.R = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(body.R_BL);
  X_BL.p = Eigen::Map<const Vector3d>(body.p_BL);
  return X_BL;
}

// Bodies of `joint`, traversed from first to second when `forward`; q, v: its first full
// coordinates.
int addJoint(std::vector<TreeBody>& bodies, const Model& model, const Joint& joint, bool forward,
             int parent, int q, int v) {
  BodyBuilder builder(bodies);
  const int link = forward ? joint.second : joint.first;
  const Pose X_BL_parent = linkInBody(bodies[parent]);
  const Pose X_before = X_BL_parent * (forward ? joint.X_FJ : joint.X_JS.inverse());
  const Pose X_after = forward ? joint.X_JS : joint.X_FJ.inverse();
  if (joint.type == JointType::kFixed) {
    builder.add(parent, BodyJoint::kFixed, X_before * X_after, -1, -1);
    return builder.carry(link, Pose::identity());
  }
  if (joint.type == JointType::kFloating) {
    if (!forward) {
      throw Error(
          fmt::format("joint '{}': a floating joint can be passed only from '{}' to '{}'; choose a "
                      "base on the side of '{}'",
                      joint.name, model.links[joint.first].name, model.links[joint.second].name,
                      model.links[joint.first].name));
    }
    builder.add(parent, BodyJoint::kFloating, X_before, q, v);
    return builder.carry(link, X_after);
  }
  // inverse motion: the steps in reverse order about the opposite axes, same coordinates
  std::vector<Step> steps = stepsOf(joint);
  if (!forward) std::reverse(steps.begin(), steps.end());
  Pose X = X_before;
  for (const Step& step : steps) {
    const Matrix3d A = rotationWithZAlong(forward ? step.axis : Vector3d(-step.axis));
    builder.add(parent, step.joint, X * Pose{A, Vector3d::Zero()}, q + step.coordinate,
                v + step.coordinate);
    parent = static_cast<int>(bodies.size()) - 1;
    X = Pose{A.transpose(), Vector3d::Zero()};
  }
  return builder.carry(link, X * X_after);
}

}  // namespace

Tree::Tree(const std::shared_ptr<const Model>& model)
    : Tree(model, model ? model->base : 0, model && model->floating, model ? model->X_WB : Pose{}) {
}

Tree::Tree(std::shared_ptr<const Model> model, int base_link, bool floating, const Pose& X_WB)
    : model_(std::move(model)), base_link_(base_link), floating_(floating) {
  if (!model_) throw Error("tree: there is no model (null pointer)");
  if (!floating) X_WB_ = X_WB;
  const Traversal traversal = traverse(*model_, base_link);
  numberCoordinates();
  buildBodies(traversal);
}

// The base, then every joint by index; mimic joints read the coordinates of their leader.
void Tree::numberCoordinates() {
  const auto add_position = [this](int source, double ratio, double offset) {
    q_source.push_back(source);
    q_ratio.push_back(ratio);
    q_offset.push_back(offset);
  };
  const auto add_velocity = [this](int source, double ratio) {
    v_source.push_back(source);
    v_ratio.push_back(ratio);
  };
  const int base_q = floating_ ? 7 : 0, base_v = floating_ ? 6 : 0;
  for (int k = 0; k < base_q; ++k) add_position(k, 1.0, 0.0);
  for (int k = 0; k < base_v; ++k) add_velocity(k, 1.0);
  for (const Joint& joint : model_->joints) {
    full_q_.push_back(static_cast<int>(q_source.size()));
    full_v_.push_back(static_cast<int>(v_source.size()));
    for (int k = 0; k < proprio::positionCount(joint.type); ++k) {
      add_position(base_q + joint.position_index + k, joint.mimic_ratio, joint.mimic_offset);
    }
    for (int k = 0; k < proprio::velocityCount(joint.type); ++k) {
      add_velocity(base_v + joint.velocity_index + k, joint.mimic_ratio);
    }
    if (joint.mimic) has_mimic_ = true;
  }
  nq_ = base_q + model_->position_count;
  nv_ = base_v + model_->velocity_count;
  nq_full_ = static_cast<int>(q_source.size());
  nv_full_ = static_cast<int>(v_source.size());
}

void Tree::buildBodies(const Traversal& traversal) {
  body_of_link_.assign(model_->links.size(), -1);
  BodyBuilder root(bodies_);
  const int first = floating_ ? 0 : -1;
  root.add(-1, floating_ ? BodyJoint::kFloating : BodyJoint::kFixed, X_WB_, first, first);
  body_of_link_[base_link_] = root.carry(base_link_, Pose::identity());
  for (int link : traversal.order) {
    if (link == base_link_) continue;
    const int index = traversal.parent_joint[link];
    const Joint& joint = model_->joints[index];
    const int parent = body_of_link_[traversal.parent[link]];
    body_of_link_[link] = addJoint(bodies_, *model_, joint, joint.second == link, parent,
                                   full_q_[index], full_v_[index]);
  }
  for (int i = bodyCount() - 1; i >= 0; --i) {
    bodies_[i].subtree_end = std::max(bodies_[i].subtree_end, i + 1);
    if (const int parent = bodies_[i].parent; parent >= 0) {
      bodies_[parent].subtree_end = std::max(bodies_[parent].subtree_end, bodies_[i].subtree_end);
    }
  }
}

Eigen::VectorXd Tree::neutralPosition() const {
  Eigen::VectorXd q = Eigen::VectorXd::Zero(nq_);
  constexpr int kQuaternionW = 6;
  if (floating_) q[kQuaternionW] = 1.0;
  for (size_t i = 0; i < model_->joints.size(); ++i) {
    if (model_->joints[i].type != JointType::kFloating) continue;
    q[positionIndex(static_cast<int>(i)) + kQuaternionW] = 1.0;
  }
  return q;
}

int Tree::positionIndex(int joint) const {
  const int index = model_->joints[joint].position_index;
  return index < 0 ? -1 : index + (floating_ ? 7 : 0);
}

int Tree::velocityIndex(int joint) const {
  const int index = model_->joints[joint].velocity_index;
  return index < 0 ? -1 : index + (floating_ ? 6 : 0);
}

int Tree::fullPositionIndex(int joint) const {
  return model_->joints[joint].type == JointType::kFixed ? -1 : full_q_[joint];
}

int Tree::fullVelocityIndex(int joint) const {
  return model_->joints[joint].type == JointType::kFixed ? -1 : full_v_[joint];
}

Traversal traverse(const Model& model, int base) {
  requireLinkIndex(model, base);
  Traversal traversal;
  traversal.base = base;
  traversal.parent.assign(model.links.size(), -1);
  traversal.parent_joint.assign(model.links.size(), -1);
  traversal.children.assign(model.links.size(), {});
  std::vector<int> stack = {base};
  while (!stack.empty()) {
    const int link = stack.back();
    stack.pop_back();
    traversal.order.push_back(link);
    for (int joint : model.joints_of_link[link]) {
      if (joint == traversal.parent_joint[link]) continue;
      const int child = otherEnd(model.joints[joint], link);
      traversal.parent[child] = link;
      traversal.parent_joint[child] = joint;
      traversal.children[link].push_back(child);
    }
    // last in, first out: the first child is on top
    const std::vector<int>& children = traversal.children[link];
    stack.insert(stack.end(), children.rbegin(), children.rend());
  }
  return traversal;
}

std::vector<int> linkPath(const Model& model, int from, int to) {
  requireLinkIndex(model, to);
  const Traversal traversal = traverse(model, from);
  std::vector<int> path;
  for (int link = to; link >= 0; link = traversal.parent[link]) path.push_back(link);
  std::reverse(path.begin(), path.end());
  return path;
}

std::vector<int> jointPath(const Model& model, int from, int to) {
  requireLinkIndex(model, to);
  const Traversal traversal = traverse(model, from);
  std::vector<int> path;
  for (int link = to; link != from; link = traversal.parent[link]) {
    path.push_back(traversal.parent_joint[link]);
  }
  std::reverse(path.begin(), path.end());
  return path;
}

std::vector<int> dofPath(const Model& model, int from, int to) {
  std::vector<int> dofs;
  for (int index : jointPath(model, from, to)) {
    const Joint& joint = model.joints[index];
    for (int k = 0; k < velocityCount(joint.type); ++k) dofs.push_back(joint.velocity_index + k);
  }
  // a mimic joint may share its degree of freedom with another one on the path
  std::sort(dofs.begin(), dofs.end());
  dofs.erase(std::unique(dofs.begin(), dofs.end()), dofs.end());
  return dofs;
}

int ancestor(const Traversal& traversal, int link, int steps) {
  for (; steps > 0 && link >= 0; --steps) link = traversal.parent[link];
  return link;
}

std::vector<int> subtree(const Model& model, int base, int link) {
  requireLinkIndex(model, link);
  const Traversal traversal = traverse(model, base);
  std::vector<int> links = {link};
  for (size_t i = 0; i < links.size(); ++i) {
    const std::vector<int>& children = traversal.children[links[i]];
    links.insert(links.end(), children.begin(), children.end());
  }
  return links;
}

std::vector<int> neighbours(const Model& model, int link) {
  requireLinkIndex(model, link);
  std::vector<int> links;
  for (int joint : model.joints_of_link[link]) links.push_back(otherEnd(model.joints[joint], link));
  return links;
}

TreeSet::TreeSet(const std::shared_ptr<const Model>& model, bool floating) {
  if (!model) throw Error("tree set: there is no model (null pointer)");
  trees_.reserve(model->links.size());
  for (int base = 0; base < static_cast<int>(model->links.size()); ++base) {
    trees_.emplace_back(model, base, floating, base == model->base ? model->X_WB : Pose{});
  }
}

}  // namespace proprio
