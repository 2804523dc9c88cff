#include "proprio/simulation/free_motion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "proprio/core/error.h"
#include "proprio/dynamics/centroidal.h"
#include "proprio/dynamics/forward_dynamics.h"
#include "proprio/dynamics/kinematics.h"

namespace proprio {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

bool isViscous(FrictionTermKind kind) {
  return kind == FrictionTermKind::kViscous || kind == FrictionTermKind::kViscousPositive ||
         kind == FrictionTermKind::kViscousNegative;
}

// first coordinates of the base and of joints that are free in space: pairs (in q, in v)
std::vector<std::pair<Index, Index>> freePoses(const Tree& tree) {
  std::vector<std::pair<Index, Index>> out;
  if (tree.floating()) out.emplace_back(0, 0);
  for (int j = 0; j < static_cast<int>(tree.model().joints.size()); ++j) {
    if (tree.model().joints[static_cast<size_t>(j)].type == JointType::kFloating)
      out.emplace_back(tree.positionIndex(j), tree.velocityIndex(j));
  }
  return out;
}

// index of every q coordinate that is not part of a free pose, with its velocity
std::vector<std::pair<Index, Index>> plainCoordinates(const Tree& tree) {
  std::vector<std::pair<Index, Index>> out;
  for (int j = 0; j < static_cast<int>(tree.model().joints.size()); ++j) {
    const Joint& joint = tree.model().joints[static_cast<size_t>(j)];
    if (joint.mimic || joint.type == JointType::kFloating) continue;
    for (int k = 0; k < velocityCount(joint.type); ++k)
      out.emplace_back(tree.positionIndex(j) + k, tree.velocityIndex(j) + k);
  }
  return out;
}

struct Simulation {
  const Tree& tree;
  const Parameters& parameters;
  CompiledParameters compiled;
  Workspace workspace;
  Kinematics kinematics;
  VectorXd tau;

  Simulation(const Tree& t, const Parameters& p)
      : tree(t),
        parameters(p),
        compiled(compileParameters(t, p)),
        workspace(t),
        kinematics(t),
        tau(t.velocityCount()) {}

  // torques of viscous friction and springs; returns the power that friction takes
  double jointTorques(const VectorXd& q, const VectorXd& v) {
    const Model& model = tree.model();
    const ParameterLayout& layout = *parameters.layout;
    double power = 0.0;
    tau.setZero();
    for (int j = 0; j < static_cast<int>(model.joints.size()); ++j) {
      const Joint& joint = model.joints[static_cast<size_t>(j)];
      if (velocityCount(joint.type) != 1) continue;
      const Index row = tree.velocityIndex(j);
      const double position = joint.mimic_ratio * q[tree.positionIndex(j)] + joint.mimic_offset;
      const double velocity = joint.mimic_ratio * v[row];
      int k = layout.jointOffset(j) + (joint.drive.declared ? 1 : 0);
      double torque = 0.0;
      for (const FrictionTerm& term : joint.friction.terms) {
        const double coefficient = parameters.values[static_cast<size_t>(k++)];
        if (isViscous(term.kind))
          torque -= coefficient * frictionBasis(joint.friction, term, velocity);
      }
      power -= torque * velocity;
      if (joint.spring.declared) {
        torque -= parameters.values[static_cast<size_t>(k)] * position +
                  parameters.values[static_cast<size_t>(k) + 1];
      }
      tau[row] += joint.mimic_ratio * torque;
    }
    return power;
  }

  double springEnergy(const VectorXd& q) const {
    double energy = 0.0;
    const ParameterLayout& layout = *parameters.layout;
    for (int j = 0; j < static_cast<int>(tree.model().joints.size()); ++j) {
      const Joint& joint = tree.model().joints[static_cast<size_t>(j)];
      if (!joint.spring.declared) continue;
      const size_t k = static_cast<size_t>(layout.jointOffset(j) + layout.jointCount(j) - 2);
      const double position = joint.mimic_ratio * q[tree.positionIndex(j)] + joint.mimic_offset;
      energy +=
          0.5 * parameters.values[k] * position * position + parameters.values[k + 1] * position;
    }
    return energy;
  }

  // acceleration into a; returns the dissipated power
  double acceleration(const VectorXd& q, const VectorXd& v, VectorXd& a) {
    const double power = jointTorques(q, v);
    forwardDynamics(tree, compiled, workspace, q, v, tau, a);
    return power;
  }
};

void normalise(const Tree& tree, VectorXd& q) {
  for (const auto& [position, unused] : freePoses(tree)) q.segment<4>(position + 3).normalize();
}

// one step of the classical Runge-Kutta method; `lost` gains the dissipated work
void advance(Simulation& s, double h, VectorXd& q, VectorXd& v, double& lost) {
  const Index n = v.size();
  VectorXd a(n), dq = VectorXd::Zero(q.size()), dv = VectorXd::Zero(n);
  VectorXd q_stage = q, v_stage = v;
  double work = 0.0;
  constexpr double kWeight[] = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0};
  constexpr double kNext[] = {0.5, 0.5, 1.0, 0.0};
  for (int stage = 0; stage < 4; ++stage) {
    work += kWeight[stage] * s.acceleration(q_stage, v_stage, a);
    const VectorXd rate = positionRate(s.tree, q_stage, v_stage);
    dq += kWeight[stage] * rate;
    dv += kWeight[stage] * a;
    q_stage = q + kNext[stage] * h * rate;
    v_stage = v + kNext[stage] * h * a;
  }
  q += h * dq;
  v += h * dv;
  lost += h * work;
  normalise(s.tree, q);
}

void requirePositive(const char* what, double value) {
  if (value > 0.0 && std::isfinite(value)) return;
  throw Error(fmt::format("the {} of the simulation is {} s; give a positive number", what, value));
}

}  // namespace

VectorXd positionRate(const Tree& tree, const VectorXd& q, const VectorXd& v) {
  VectorXd rate = VectorXd::Zero(q.size());
  for (const auto& [p, i] : plainCoordinates(tree)) rate[p] = v[i];
  for (const auto& [p, i] : freePoses(tree)) {
    // body twist (v, w): pdot = R v, and for the quaternion (u, s): udot = (s w + u x w)/2,
    // sdot = -u.w/2
    const Eigen::Vector4d quaternion = q.segment<4>(p + 3);
    const Vector3d u = quaternion.head<3>(), w = v.segment<3>(i + 3);
    rate.segment<3>(p) = rotationFromQuaternion(quaternion) * v.segment<3>(i);
    rate.segment<3>(p + 3) = 0.5 * (quaternion[3] * w + skew(u) * w);
    rate[p + 6] = -0.5 * u.dot(w);
  }
  return rate;
}

std::vector<std::string> leftOutOfFreeMotion(const Model& model) {
  std::vector<std::string> friction, bristles, elastic, parts;
  for (const Joint& joint : model.joints) {
    const auto& terms = joint.friction.terms;
    if (std::any_of(terms.begin(), terms.end(), [](const FrictionTerm& term) {
          return !isViscous(term.kind) && term.coefficient != 0.0;
        }))
      friction.push_back(joint.name);
    if (joint.friction.dynamic.kind != DynamicFrictionKind::kNone) bristles.push_back(joint.name);
    if (joint.drive.stiffness > 0.0) elastic.push_back(joint.name);
  }
  const auto add = [&](const char* what, const std::vector<std::string>& joints) {
    if (!joints.empty()) parts.push_back(fmt::format("{} of {}", what, fmt::join(joints, ", ")));
  };
  add("friction other than viscous", friction);
  add("bristle friction", bristles);
  add("elasticity", elastic);
  if (!model.couplings.empty()) parts.push_back("couplings");
  return parts;
}

FreeMotion freeMotion(const Tree& tree, const Parameters& parameters, const VectorXd& q_start,
                      const VectorXd& v_start, const FreeMotionOptions& options) {
  requirePositive("duration", options.seconds);
  requirePositive("step", options.step);
  requirePositive("interval", options.interval);
  const auto samples =
      static_cast<Index>(std::floor(options.seconds / options.interval + 1e-9)) + 1;
  const auto steps =
      std::max<Index>(1, static_cast<Index>(std::ceil(options.interval / options.step - 1e-9)));
  const double h = options.interval / static_cast<double>(steps);

  Simulation s(tree, parameters);
  FreeMotion out;
  StateTable& states = out.states;
  states.time.resize(samples);
  states.q.resize(samples, tree.positionCount());
  states.v.resize(samples, tree.velocityCount());
  states.a.resize(samples, tree.velocityCount());
  states.has_v = states.has_a = true;
  out.energy.resize(samples);
  out.lost.resize(samples);
  VectorXd q = q_start, v = v_start, a(v_start.size());
  double lost = 0.0;
  for (Index i = 0; i < samples; ++i) {
    for (Index k = 0; i > 0 && k < steps; ++k) advance(s, h, q, v, lost);
    s.acceleration(q, v, a);
    if (!q.allFinite() || !v.allFinite() || !a.allFinite()) {
      throw Error(
          fmt::format("the motion is no longer finite at {:.4g} s; take a smaller step than "
                      "{} s, or check the model",
                      static_cast<double>(i) * options.interval, h));
    }
    states.time[i] = static_cast<double>(i) * options.interval;
    states.q.row(i) = q.transpose();
    states.v.row(i) = v.transpose();
    states.a.row(i) = a.transpose();
    computeKinematics(tree, q, v, s.kinematics);
    const double kinetic = kineticEnergy(tree, s.compiled, s.kinematics, v);
    out.energy[i] = kinetic + potentialEnergy(tree, s.compiled, s.kinematics) + s.springEnergy(q);
    out.lost[i] = lost;
    out.largest_kinetic = std::max(out.largest_kinetic, kinetic);
    out.largest_drift = std::max(out.largest_drift, std::abs(out.energy[i] + lost - out.energy[0]));
  }
  return out;
}

}  // namespace proprio
