#pragma once

/// Robots in special position: axes parallel, perpendicular or on one line, offsets often zero,
/// gravity along an axis or absent, drives, friction, springs and couplings at random. Where
/// identifiability is decided by coincidences, these have them.

#include <fmt/format.h>

#include "proprio/model/testing/random_model.h"

namespace proprio {

inline CouplingColumn randomCoupling(RandomModelSource& random, const std::string& name,
                                     int joints) {
  constexpr Signal kSignals[] = {Signal::kAcceleration, Signal::kVelocity, Signal::kSignVelocity,
                                 Signal::kPosition, Signal::kOne};
  CouplingColumn column;
  column.name = name;
  const int terms = random.integer(1, 3);
  for (int t = 0; t < terms; ++t) {
    CouplingTerm term;
    term.joint = random.integer(0, joints - 1);
    term.signal = kSignals[random.chance(0.5) ? 0 : random.integer(0, 4)];
    term.joints = {random.integer(0, joints - 1)};
    term.weights = {1.0};
    if (random.chance(0.3)) {
      term.joints.push_back(random.integer(0, joints - 1));
      term.weights.push_back(random.chance(0.5) ? 1.0 : -2.0);
    }
    column.terms.push_back(term);
  }
  return column;
}

/// @param arm  true: a fixed serial arm of revolute joints; false: a tree, some joints prismatic,
/// sometimes floating.
inline Model specialModel(unsigned seed, bool arm) {
  RandomModelSource random(seed);
  Model model;
  model.name = fmt::format("special_{}", seed);
  const Vector3d ones = Vector3d::Ones();
  const int joints = random.integer(1, 6);
  model.links.push_back(makeLink("link_0", 1.0, 0.1 * ones, ones));
  for (int i = 1; i <= joints; ++i) {
    model.links.push_back(makeLink(fmt::format("link_{}", i), 1.0, 0.1 * ones, ones));
    const bool slides = !arm && random.chance(0.3);
    const int parent = !arm && random.chance(0.2) ? random.integer(0, i - 1) : i - 1;
    const Vector3d axis = random.chance(0.1) ? Vector3d(1.0, 1.0, 0.0).normalized()
                                             : Vector3d(Vector3d::Unit(random.integer(0, 2)));
    Vector3d offset;
    for (double& x : offset) x = random.chance(0.5) ? 0.0 : 0.1 * random.integer(-3, 3);
    Joint joint =
        makeJoint(fmt::format("joint_{}", i), slides ? JointType::kPrismatic : JointType::kRevolute,
                  parent, i, axis, offset);
    joint.drive.declared = random.chance(0.6);
    if (random.chance(0.6)) addFriction(joint, 0.1, 0.1, 0.1);
    if (random.chance(0.3)) joint.spring = {true, 1.0, 0.2};
    model.joints.push_back(joint);
  }
  const int couplings = random.integer(0, 2);
  for (int c = 0; c < couplings; ++c) {
    model.couplings.push_back(randomCoupling(random, fmt::format("coupling_{}", c), joints));
  }
  if (random.chance(0.15)) {
    model.gravity.setZero();
  } else if (random.chance(0.3)) {
    model.gravity = {9.81, 0.0, 0.0};
  } else if (random.chance(0.2)) {
    model.gravity = {3.0, 4.0, -8.0};
  }
  model.floating = !arm && random.chance(0.2);
  return finalize(model);
}

}  // namespace proprio
