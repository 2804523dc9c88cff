#pragma once

/// Models for tests and benchmarks: random trees of any kind, a planar 2R arm with closed-form
/// answers, and arms and a humanoid of the size of common robots (own numbers). Same seed, same
/// model.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "proprio/model/model.h"

namespace proprio {

/// The probabilities are per joint; types are drawn in the order fixed, planar, prismatic, else
/// revolute.
struct RandomModelOptions {
  int joints = 10;
  double prismatic = 0.3;
  double fixed = 0.0;
  double planar = 0.0;
  double oblique = 0.5;    ///< axis in any direction; else one of +-x, +-y, +-z
  double branching = 0.4;  ///< hangs on a random earlier link; else on the last one
  double mimic = 0.0;      ///< follows an earlier joint with one degree of freedom
  double rotor = 0.0;      ///< declares a drive with rotor inertia
  double friction = 0.0;   ///< declares viscous, Coulomb and offset friction
  double spring = 0.0;     ///< declares a spring
  double reversed = 0.0;   ///< declared from the outer to the inner link (never in a URDF)
  double offset =
      0.0;  ///< second link away from the joint frame, X_JS not identity (never in a URDF)
  bool floating = false;
  bool mounted = false;  ///< fixed base at a random pose, gravity in a random direction
};

class RandomModelSource {
 public:
  explicit RandomModelSource(unsigned seed) : rng_(seed) {}

  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(rng_);
  }
  int integer(int low, int high) { return std::uniform_int_distribution<int>(low, high)(rng_); }
  bool chance(double probability) { return uniform(0.0, 1.0) < probability; }
  Vector3d normal(double scale = 1.0) {
    std::normal_distribution<double> n(0.0, scale);
    const double x = n(rng_), y = n(rng_), z = n(rng_);
    return {x, y, z};
  }
  Vector3d axis(bool oblique) {
    if (oblique) return normal().normalized();
    const Vector3d unit = Vector3d::Unit(integer(0, 2));
    return chance(0.5) ? unit : Vector3d(-unit);
  }
  Pose pose(double scale = 0.3) {
    const Vector3d angles = normal();
    return {rotationExp(angles), normal(scale)};
  }
  /// A body with positive second moments along random axes: always physically possible.
  InertialParameters inertia(double mass_scale = 1.0) {
    const double mass = mass_scale * std::exp(uniform(-1.0, 1.5));
    const Vector3d com = normal(0.1);
    const Vector3d moments(uniform(1e-3, 2e-2), uniform(1e-3, 2e-2), uniform(1e-3, 2e-2));
    const Matrix3d R = rotationExp(normal());
    const Vector3d principal = moments.sum() * Vector3d::Ones() - moments;
    return InertialParameters::fromCom(mass, com,
                                       mass * R * principal.asDiagonal() * R.transpose());
  }

 private:
  std::mt19937_64 rng_;
};

inline void addFriction(Joint& joint, double viscous, double coulomb, double offset) {
  joint.friction.terms = {{FrictionTermKind::kViscous, "viscous", viscous},
                          {FrictionTermKind::kCoulomb, "coulomb", coulomb},
                          {FrictionTermKind::kOffset, "offset", offset}};
}

inline Joint randomJoint(RandomModelSource& source, const RandomModelOptions& options) {
  Joint joint;
  joint.type = source.chance(options.fixed)       ? JointType::kFixed
               : source.chance(options.planar)    ? JointType::kPlanar
               : source.chance(options.prismatic) ? JointType::kPrismatic
               : source.chance(0.2)               ? JointType::kContinuous
                                                  : JointType::kRevolute;
  joint.axis = source.axis(source.chance(options.oblique));
  joint.X_FJ = source.pose();
  if (source.chance(options.offset)) joint.X_JS = source.pose();
  if (velocityCount(joint.type) != 1) return joint;
  joint.limits = {-2.0, 2.0, 3.0, 100.0, 20.0};
  if (source.chance(options.rotor)) {
    joint.drive.declared = true;
    joint.drive.rotor_inertia = source.uniform(0.01, 0.5);
  }
  if (source.chance(options.friction)) {
    const double viscous = source.uniform(0.1, 5.0), coulomb = source.uniform(0.1, 5.0);
    addFriction(joint, viscous, coulomb, source.uniform(-0.1, 0.1));
  }
  if (source.chance(options.spring)) {
    const double stiffness = source.uniform(1.0, 50.0);
    joint.spring = {true, stiffness, source.uniform(-0.5, 0.5)};
  }
  return joint;
}

/// A random tree: links "link_0" ... "link_n", joints "joint_1" ... "joint_n" (joint_i carries
/// link_i).
inline Model randomModel(unsigned seed, const RandomModelOptions& options = {}) {
  RandomModelSource source(seed);
  Model model;
  model.name = fmt::format("random_{}", seed);
  const auto addLink = [&](int index) {
    Link link;
    link.name = fmt::format("link_{}", index);
    link.inertia = source.inertia();
    link.has_inertial = true;
    model.links.push_back(link);
  };
  addLink(0);
  for (int i = 1; i <= options.joints; ++i) {
    addLink(i);
    Joint joint = randomJoint(source, options);
    joint.name = fmt::format("joint_{}", i);
    const int inner = source.chance(options.branching) ? source.integer(0, i - 1) : i - 1;
    const bool reversed = source.chance(options.reversed);
    joint.first = reversed ? i : inner;
    joint.second = reversed ? inner : i;
    if (source.chance(options.mimic) && velocityCount(joint.type) == 1 && !model.joints.empty()) {
      const Joint& leader = model.joints[source.integer(0, i - 2)];
      if (velocityCount(leader.type) == 1) {
        const double ratio = source.uniform(-2.0, 2.0);
        joint.mimic = Mimic{leader.name, ratio, source.uniform(-0.5, 0.5)};
      }
    }
    model.joints.push_back(joint);
  }
  model.floating = options.floating;
  if (options.mounted) {
    model.X_WB = source.pose();
    model.gravity = 9.81 * source.axis(true);
  }
  return finalize(model);
}

/// Joint positions within +-2.
inline Eigen::VectorXd randomShape(const Model& model, unsigned seed) {
  RandomModelSource source(seed);
  Eigen::VectorXd s(model.position_count);
  for (Eigen::Index i = 0; i < s.size(); ++i) s[i] = source.uniform(-2.0, 2.0);
  return s;
}

/// Options number k of a list that covers every kind of tree, for tests over all of them.
inline std::vector<RandomModelOptions> randomModelFamilies() {
  std::vector<RandomModelOptions> families;
  families.push_back({.joints = 1});
  families.push_back({.joints = 6, .prismatic = 0.0, .oblique = 0.0, .branching = 0.0});
  families.push_back({.joints = 7, .prismatic = 0.5, .oblique = 1.0, .branching = 0.0});
  families.push_back({.joints = 12, .fixed = 0.2, .rotor = 0.5, .mounted = true});
  families.push_back(
      {.joints = 20, .fixed = 0.1, .branching = 0.5, .rotor = 0.5, .floating = true});
  families.push_back({.joints = 10, .planar = 0.3, .reversed = 0.3, .offset = 0.5});
  families.push_back({.joints = 15,
                      .fixed = 0.1,
                      .planar = 0.1,
                      .mimic = 0.3,
                      .rotor = 0.5,
                      .friction = 0.5,
                      .spring = 0.3,
                      .reversed = 0.3,
                      .offset = 0.3,
                      .floating = true,
                      .mounted = true});
  families.push_back({.joints = 60, .branching = 0.3, .floating = true});
  families.push_back({.joints = 60, .prismatic = 0.1, .branching = 0.0});
  return families;
}

/// Two links in the vertical x-z plane, both axes -y: at q = 0 the arm points along +x, positive
/// angles lift it. With lengths l, distances c of the centres of mass, masses m, inertias I at the
/// centres of mass, c2 = cos q2:
///   M11 = I1 + m1 c1^2 + I2 + m2 (l1^2 + c2^2 + 2 l1 c2 cos q2),
///   M12 = I2 + m2 (c2^2 + l1 c2 cos q2),  M22 = I2 + m2 c2^2,
///   h = m2 l1 c2 sin q2,  C v = (-h (2 v1 v2 + v2^2), h v1^2),
///   G = g ((m1 c1 + m2 l1) cos q1 + m2 c2 cos(q1 + q2), m2 c2 cos(q1 + q2)).
struct Planar2R {
  double l1 = 0.5, l2 = 0.4, c1 = 0.2, c2 = 0.15;
  double m1 = 3.0, m2 = 2.0, I1 = 0.07, I2 = 0.03;
  double gravity = 9.81;

  Eigen::Matrix2d massMatrix(double q2) const {
    Eigen::Matrix2d M;
    const double M22 = I2 + m2 * c2 * c2, M12 = M22 + m2 * l1 * c2 * std::cos(q2);
    M << I1 + m1 * c1 * c1 + m2 * l1 * l1 + 2.0 * M12 - M22, M12, M12, M22;
    return M;
  }
  Eigen::Vector2d coriolisTorque(double q2, const Eigen::Vector2d& v) const {
    const double h = m2 * l1 * c2 * std::sin(q2);
    return {-h * (2.0 * v[0] * v[1] + v[1] * v[1]), h * v[0] * v[0]};
  }
  Eigen::Vector2d gravityTorque(const Eigen::Vector2d& q) const {
    const double outer = m2 * c2 * std::cos(q[0] + q[1]);
    return gravity * Eigen::Vector2d((m1 * c1 + m2 * l1) * std::cos(q[0]) + outer, outer);
  }
  Eigen::Vector2d torque(const Eigen::Vector2d& q, const Eigen::Vector2d& v,
                         const Eigen::Vector2d& a) const {
    return massMatrix(q[1]) * a + coriolisTorque(q[1], v) + gravityTorque(q);
  }
  /// Tip in the x-z plane.
  Vector3d tip(const Eigen::Vector2d& q) const {
    return {l1 * std::cos(q[0]) + l2 * std::cos(q[0] + q[1]), 0.0,
            l1 * std::sin(q[0]) + l2 * std::sin(q[0] + q[1])};
  }
};

inline Link makeLink(const std::string& name, double mass, const Vector3d& com,
                     const Vector3d& principal_inertia) {
  Link link;
  link.name = name;
  link.has_inertial = true;
  link.inertia = InertialParameters::fromCom(mass, com, principal_inertia.asDiagonal());
  link.X_LI.p = com;
  return link;
}

inline Joint makeJoint(const std::string& name, JointType type, int first, int second,
                       const Vector3d& axis, const Vector3d& xyz,
                       const Vector3d& rpy = Vector3d::Zero()) {
  Joint joint;
  joint.name = name;
  joint.type = type;
  joint.first = first;
  joint.second = second;
  joint.axis = axis;
  joint.X_FJ = Pose::fromXyzRpy(xyz, rpy);
  return joint;
}

/// A sensor on a link, a joint or both (-1: none).
inline Sensor makeSensor(const std::string& name, SensorKind kind, int link, int joint) {
  Sensor sensor;
  sensor.name = name;
  sensor.kind = kind;
  sensor.link = link;
  sensor.joint = joint;
  return sensor;
}

/// The model of Planar2R: links "base", "link_1", "link_2", frame "tip".
inline Model planar2R(const Planar2R& arm = {}) {
  Model model;
  model.name = "planar_2r";
  model.gravity = {0.0, 0.0, -arm.gravity};
  Link base;
  base.name = "base";
  model.links = {base, makeLink("link_1", arm.m1, {arm.c1, 0, 0}, {arm.I1 / 10, arm.I1, arm.I1}),
                 makeLink("link_2", arm.m2, {arm.c2, 0, 0}, {arm.I2 / 10, arm.I2, arm.I2})};
  const Vector3d up = -Vector3d::UnitY();
  model.joints = {makeJoint("joint_1", JointType::kRevolute, 0, 1, up, Vector3d::Zero()),
                  makeJoint("joint_2", JointType::kRevolute, 1, 2, up, {arm.l1, 0, 0})};
  model.frames = {{"tip", 2, Pose::fromXyzRpy({arm.l2, 0, 0}, Vector3d::Zero())}};
  return finalize(model);
}

/// n revolute joints in series, each 0.25 m along z from the last, axes z y z y ...
inline Model serialChain(int joints) {
  Model model;
  model.name = fmt::format("serial_{}", joints);
  model.links.push_back(makeLink("link_0", 4.0, {0, 0, 0.05}, {0.02, 0.02, 0.02}));
  for (int i = 1; i <= joints; ++i) {
    const double size = std::max(0.2, 1.0 - 0.1 * i);
    model.links.push_back(makeLink(fmt::format("link_{}", i), 4.0 * size, {0.01, -0.02, 0.1},
                                   size * Vector3d(0.03, 0.028, 0.01)));
    const Vector3d axis = i % 2 == 1 ? Vector3d::UnitZ() : Vector3d::UnitY();
    model.joints.push_back(makeJoint(fmt::format("joint_{}", i), JointType::kRevolute, i - 1, i,
                                     axis, {0, i % 2 == 0 ? 0.1 : 0.0, 0.25}));
    model.joints.back().limits = {-2.0, 2.0, 3.0, 100.0, 20.0};
  }
  return finalize(model);
}

/// Six revolute joints about z y y y z y, as a URDF of a UR5-sized arm has them.
inline Model sixAxisArm() {
  Model model = serialChain(6);
  model.name = "six_axis_arm";
  const Vector3d axes[6] = {Vector3d::UnitZ(), Vector3d::UnitY(), Vector3d::UnitY(),
                            Vector3d::UnitY(), Vector3d::UnitZ(), Vector3d::UnitY()};
  for (int i = 0; i < 6; ++i) model.joints[i].axis = axes[i];
  return finalize(model);
}

/// Seven revolute joints, all about z of frames turned by +-90 degrees, as a URDF of a Panda-sized
/// arm has them.
inline Model sevenAxisArm() {
  constexpr double kQuarter = std::numbers::pi / 2;
  Model model = serialChain(7);
  model.name = "seven_axis_arm";
  const double rolls[7] = {0, -kQuarter, kQuarter, kQuarter, -kQuarter, kQuarter, kQuarter};
  for (int i = 0; i < 7; ++i) {
    model.joints[i].axis = Vector3d::UnitZ();
    model.joints[i].X_FJ =
        Pose::fromXyzRpy({i % 3 == 0 ? 0.0 : 0.08, i % 2 == 0 ? -0.2 : 0.0, 0.1}, {rolls[i], 0, 0});
  }
  return finalize(model);
}

/// Humanoid of TALOS size: floating pelvis, 32 revolute joints (legs 2 x 6, torso 2, arms 2 x 7,
/// head 2, hands 2 x 1).
inline Model humanoid32() {
  Model model;
  model.name = "humanoid_32";
  model.floating = true;
  model.links.push_back(makeLink("pelvis", 15.0, {-0.05, 0, 0.02}, {0.12, 0.08, 0.13}));
  const auto addChain = [&](const std::string& prefix, int from, const Vector3d& start,
                            const Vector3d& step, const std::string& axes, double mass) {
    int parent = from;
    for (size_t i = 0; i < axes.size(); ++i) {
      const int link = static_cast<int>(model.links.size());
      const double m = mass / static_cast<double>(i + 1);
      model.links.push_back(makeLink(fmt::format("{}_{}_link", prefix, i + 1), m,
                                     Vector3d(0.01, 0.005, 0.0) + 0.5 * step,
                                     m * Vector3d(0.02, 0.018, 0.01)));
      model.joints.push_back(makeJoint(fmt::format("{}_{}", prefix, i + 1), JointType::kRevolute,
                                       parent, link, Vector3d::Unit(axes[i] - 'x'),
                                       i == 0 ? start : step));
      model.joints.back().limits = {-1.5, 1.5, 5.0, 150.0, 30.0};
      parent = link;
    }
    return parent;
  };
  addChain("left_leg", 0, {0, 0.09, -0.05}, {0, 0, -0.15}, "zxyyyx", 4.0);
  addChain("right_leg", 0, {0, -0.09, -0.05}, {0, 0, -0.15}, "zxyyyx", 4.0);
  const int torso = addChain("torso", 0, {0, 0, 0.1}, {0, 0, 0.1}, "zy", 10.0);
  for (const char* side : {"left", "right"}) {
    const double y = side[0] == 'l' ? 1.0 : -1.0;
    const int wrist = addChain(fmt::format("{}_arm", side), torso, {0, 0.16 * y, 0.25},
                               {0, 0.02 * y, -0.12}, "zxzyzxy", 2.5);
    addChain(fmt::format("{}_hand", side), wrist, {0, 0, -0.05}, {0, 0, -0.05}, "y", 0.5);
  }
  addChain("head", torso, {0.02, 0, 0.3}, {0, 0, 0.08}, "yz", 1.5);
  return finalize(model);
}

}  // namespace proprio
