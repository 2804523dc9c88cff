#pragma once

/// Every kind of model x random states, for tests that run over all of them.

#include <memory>
#include <string>
#include <vector>

#include "proprio/dynamics/workspace.h"
#include "proprio/model/testing/random_model.h"

namespace proprio {

struct ZooEntry {
  std::string name;
  std::shared_ptr<const Model> model;
};

/// Every third joint floats, if no other follows it and it leads away from the base.
inline Model withFloatingJoints(Model model) {
  const Traversal walk = traverse(model, model.base);
  for (size_t j = 0; j < model.joints.size(); j += 3) {
    Joint& joint = model.joints[j];
    bool kept = walk.parent[static_cast<size_t>(joint.second)] != joint.first;
    for (const Joint& other : model.joints)
      kept = kept || (other.mimic && other.mimic->leader == joint.name);
    if (kept || joint.mimic) continue;
    joint.type = JointType::kFloating;
    joint.drive = {};
    joint.friction = {};
    joint.spring = {};
    joint.limits = {};
  }
  return finalize(model);
}

/// Random trees of 1 to 60 joints: revolute and prismatic, oblique axes, branching, fixed and
/// floating base, fixed joints kept, planar joints, rotor inertia, mounted at an angle; with and
/// without mimic joints, with and without floating joints inside the tree (so that positions and
/// velocities have different numbers).
inline std::vector<ZooEntry> modelZoo(bool with_mimic = true, bool with_floating_joints = false) {
  std::vector<ZooEntry> zoo;
  unsigned seed = 1;
  const auto add = [&](const std::string& name, RandomModelOptions options) {
    for (const bool floating : {false, true}) {
      options.floating = floating;
      options.mounted = !floating;
      zoo.push_back({name + (floating ? " floating" : " fixed") + " seed " + std::to_string(seed),
                     std::make_shared<const Model>(randomModel(seed, options))});
      ++seed;
    }
  };
  for (const int joints : {1, 2, 3, 6, 7, 12, 30, 60}) {
    RandomModelOptions revolute;
    revolute.joints = joints;
    revolute.prismatic = 0.0;
    revolute.branching = 0.0;
    revolute.oblique = 0.0;
    add("serial revolute " + std::to_string(joints), revolute);
    RandomModelOptions general;
    general.joints = joints;
    general.rotor = 0.5;
    add("general tree " + std::to_string(joints), general);
  }
  RandomModelOptions odd;
  odd.joints = 12;
  odd.fixed = 0.2;
  odd.planar = 0.2;
  odd.reversed = 0.3;
  odd.offset = 0.5;
  odd.rotor = 0.3;
  add("fixed, planar, reversed joints", odd);
  if (with_mimic) {
    RandomModelOptions mimic = odd;
    mimic.mimic = 0.4;
    add("mimic joints", mimic);
  }
  if (with_floating_joints) {
    RandomModelOptions inside;
    inside.joints = 8;
    inside.rotor = 0.3;
    inside.offset = with_mimic ? 0.5 : 0.0;
    inside.reversed = with_mimic ? 0.3 : 0.0;
    inside.mimic = with_mimic ? 0.3 : 0.0;
    add("floating joints", inside);
    for (size_t k = zoo.size() - 2; k < zoo.size(); ++k)
      zoo[k].model = std::make_shared<const Model>(withFloatingJoints(*zoo[k].model));
  }
  return zoo;
}

/// All of it.
inline std::vector<ZooEntry> wholeZoo() { return modelZoo(true, true); }

struct RandomState {
  Eigen::VectorXd q, v, a, tau;
};

/// Positions within a turn, base pose anywhere.
inline RandomState randomState(const Tree& tree, unsigned seed, double speed = 2.0) {
  RandomModelSource random(seed);
  RandomState s;
  s.q =
      Eigen::VectorXd::NullaryExpr(tree.positionCount(), [&] { return random.uniform(-3.0, 3.0); });
  const auto normalise = [&](int start) { s.q.segment<4>(start).normalize(); };
  if (tree.floating()) normalise(3);
  for (size_t j = 0; j < tree.model().joints.size(); ++j) {
    if (tree.model().joints[j].type == JointType::kFloating)
      normalise(tree.positionIndex(static_cast<int>(j)) + 3);
  }
  const auto vector = [&](double scale) {
    return Eigen::VectorXd(Eigen::VectorXd::NullaryExpr(
        tree.velocityCount(), [&] { return random.uniform(-scale, scale); }));
  };
  s.v = vector(speed);
  s.a = vector(5.0);
  s.tau = vector(10.0);
  return s;
}

}  // namespace proprio
