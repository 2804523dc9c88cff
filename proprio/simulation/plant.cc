#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "proprio/core/error.h"
#include "proprio/dynamics/forward_dynamics.h"
#include "proprio/dynamics/inverse_dynamics.h"
#include "proprio/dynamics/joint_effects.h"
#include "proprio/dynamics/mass_matrix.h"
#include "proprio/dynamics/position_steps.h"
#include "proprio/servo/computed_torque.h"
#include "proprio/simulation/plant_internal.h"

namespace proprio::internal {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr int kPadding = 8;  // kernels work on whole packs

double stribeck(const DynamicFriction& law, double v) {
  if (law.kind == DynamicFrictionKind::kDahl) return law.coulomb;
  const double decay = std::exp(-std::pow(std::abs(v / law.stribeck_velocity), law.exponent));
  return law.coulomb + (law.stiction - law.coulomb) * decay;
}

/// zdot of a bristle that carries `load` times what it can carry at this speed.
double bristleRate(const DynamicFriction& law, double load, double v) {
  const double sliding = v - std::abs(v) * load;
  if (law.kind != DynamicFrictionKind::kLeuven) return sliding;
  const bool sticks = v * load <= 0.0 || std::abs(load) < 1.0;
  return sticks ? v : std::clamp(sliding, -std::abs(v), std::abs(v));
}

}  // namespace

bool Plant::needsOneLane(const Tree& tree) {
  if (tree.hasMimic() || tree.positionCount() != tree.velocityCount()) return true;
  for (const CouplingColumn& column : tree.model().couplings) {
    for (const CouplingTerm& term : column.terms) {
      if (term.signal == Signal::kAcceleration) return true;
    }
  }
  return false;
}

Plant::Plant(const Tree& tree, const std::vector<const Parameters*>& lanes, double sign_gain)
    : tree_(tree),
      lanes_(static_cast<int>(lanes.size())),
      n_(tree.velocityCount()),
      nq_(tree.positionCount()),
      table_(kernels::active()),
      workspace_(tree),
      sign_gain_(sign_gain) {
  for (const Parameters* parameters : lanes)
    lane_.push_back({*parameters, *parameters, compileParameters(tree, *parameters)});
  plain_ = nq_ == n_;
  q_of_.assign(static_cast<size_t>(n_), -1);
  flexible_of_.assign(static_cast<size_t>(n_), -1);
  signs_ = n_ * lanes_;
  readJoints(sign_gain);
  readCouplings();
  const auto flexible = static_cast<Index>(flexible_.size());
  const Index size = (nq_ + n_ + 2 * flexible + bristle_states_ + 2) * lanes_;
  for (VectorXd* x : {&state, &rates_, &sum_, &stage_, &stage_rates_}) x->setZero(size);
  for (VectorXd* x : {&torque, &net_, &friction_, &drive_}) x->setZero(n_ * lanes_);
  argument_.setZero(signs_ + kPadding);
  sign_.setZero(signs_ + kPadding);
  const auto width = static_cast<size_t>(lanes_);
  inertias_ = AlignedBuffer(10 * static_cast<size_t>(tree.bodyCount()) * width);
  link_rotor_ = AlignedBuffer(static_cast<size_t>(n_) * width);
  for (int lane = 0; lane < lanes_; ++lane) compileLane(lane);
  wrenches_.setZero(6, static_cast<Index>(tree.model().links.size()));
}

void Plant::readJoints(double sign_gain) {
  const Model& model = tree_.model();
  const Index size = n_ * lanes_;
  for (VectorXd* x :
       {&viscous_, &coulomb_, &offset_, &spring_, &preload_, &stiffness_, &damping_, &rotor_})
    x->setZero(size);
  gain_.setConstant(size, sign_gain);
  for (int j = 0; j < static_cast<int>(model.joints.size()); ++j) {
    const Joint& joint = model.joints[static_cast<size_t>(j)];
    for (int k = 0; !joint.mimic && k < velocityCount(joint.type); ++k)
      q_of_[static_cast<size_t>(tree_.velocityIndex(j) + k)] = tree_.positionIndex(j) + k;
    if (velocityCount(joint.type) == 1) readTerms(j, sign_gain);
  }
  for (Index i = 0; i < n_; ++i)
    q_of_[static_cast<size_t>(i)] = std::max<Index>(0, q_of_[static_cast<size_t>(i)]);
}

void Plant::readTerms(int j, double sign_gain) {
  const Joint& joint = tree_.model().joints[static_cast<size_t>(j)];
  const Index row = tree_.velocityIndex(j);
  const double ratio = joint.mimic_ratio;
  if (!joint.mimic && !std::isnan(joint.drive.stiffness)) {
    if (!joint.drive.declared ||
        !(lane_[0].declared.values[static_cast<size_t>(lane_[0].declared.layout->jointOffset(j))] >
          0.0)) {
      throw Error(fmt::format(
          "joint '{}': its drive has a stiffness but no rotor inertia; a flexible joint needs "
          "drive.rotor_inertia or drive.motor_inertia above 0",
          joint.name));
    }
    flexible_of_[static_cast<size_t>(row)] = static_cast<Index>(flexible_.size());
    flexible_.push_back(row);
  }
  if (const DynamicFriction& law = joint.friction.dynamic;
      law.kind != DynamicFrictionKind::kNone && !joint.mimic) {
    const Index count = law.kind == DynamicFrictionKind::kLeuven ? law.elements : 1;
    bristles_.push_back({row, law, bristle_states_, count});
    bristle_states_ += count;
  }
  FrictionModel smooth = joint.friction;
  if (smooth.smooth_sign == SmoothSign::kSign) {
    smooth.smooth_sign = SmoothSign::kTanh;
    smooth.smooth_gain = signGain(joint.type, sign_gain);
  }
  const size_t others = others_.size();
  for (int lane = 0; lane < lanes_; ++lane) {
    const Parameters& parameters = lane_[static_cast<size_t>(lane)].declared;
    const double* value = parameters.values.data() + parameters.layout->jointOffset(j);
    const Index i = row * lanes_ + lane;
    if (joint.drive.declared) {
      const double inertia = *value++;
      if (flexible(row)) {
        rotor_[i] = inertia;
        stiffness_[i] = joint.drive.stiffness;
        damping_[i] = joint.drive.damping;
      }
    }
    if (smooth.smooth_sign == SmoothSign::kTanh && !joint.mimic) gain_[i] = smooth.smooth_gain;
    size_t other = others;
    for (size_t k = 0; k < smooth.terms.size(); ++k) {
      const FrictionTermKind kind = smooth.terms[k].kind;
      const double coefficient = *value++;
      if (kind == FrictionTermKind::kViscous) {
        viscous_[i] += ratio * ratio * coefficient;
      } else if (kind == FrictionTermKind::kOffset) {
        offset_[i] += ratio * coefficient;
      } else if (kind == FrictionTermKind::kCoulomb && !joint.mimic &&
                 smooth.smooth_sign == SmoothSign::kTanh) {
        coulomb_[i] += coefficient;
      } else {
        if (lane == 0) others_.push_back({row, ratio, smooth, k, {}});
        others_[other++].coefficient.push_back(coefficient);
      }
    }
    if (joint.spring.declared) {
      spring_[i] += ratio * ratio * value[0];
      preload_[i] += ratio * (value[0] * joint.mimic_offset + value[1]);
    }
  }
}

void Plant::readCouplings() {
  const Model& model = tree_.model();
  for (size_t c = 0; c < model.couplings.size(); ++c) {
    for (const CouplingTerm& term : model.couplings[c].terms) {
      if (term.signal == Signal::kAcceleration) {
        inertial_couplings_ = true;
        continue;
      }
      Coupling coupling;
      coupling.row = tree_.velocityIndex(term.joint);
      coupling.ratio = model.joints[static_cast<size_t>(term.joint)].mimic_ratio;
      coupling.signal = term.signal;
      if (term.signal == Signal::kSignVelocity) {
        coupling.sign = signs_;
        signs_ += lanes_;
      }
      for (size_t k = 0; k < term.joints.size(); ++k) {
        const Joint& joint = model.joints[static_cast<size_t>(term.joints[k])];
        coupling.q.push_back(tree_.positionIndex(term.joints[k]));
        coupling.v.push_back(tree_.velocityIndex(term.joints[k]));
        coupling.weights.push_back(term.weights[k] * joint.mimic_ratio);
        coupling.offsets.push_back(term.weights[k] * joint.mimic_offset);
      }
      for (const Lane& lane : lane_) {
        coupling.value.push_back(
            lane.declared.values[static_cast<size_t>(lane.declared.layout->couplingOffset()) + c]);
      }
      couplings_.push_back(std::move(coupling));
    }
  }
  if (inertial_couplings_) M_.setZero(n_, n_);
}

// inertias into the lanes; rotors of flexible joints do not belong to the links
void Plant::compileLane(int lane) {
  Lane& own = lane_[static_cast<size_t>(lane)];
  compileParameters(tree_, own.actual, &own.compiled);
  for (Index i : flexible_) own.compiled.rotor[static_cast<size_t>(i)] = 0.0;
  if (lanes_ == 1) return;
  for (size_t b = 0; b < own.compiled.bodies.size(); ++b) {
    const double* numbers = &own.compiled.bodies[b].m;
    for (size_t k = 0; k < 10; ++k)
      inertias_.data()[(10 * b + k) * static_cast<size_t>(lanes_) + static_cast<size_t>(lane)] =
          numbers[k];
  }
  for (size_t i = 0; i < own.compiled.rotor.size(); ++i)
    link_rotor_.data()[i * static_cast<size_t>(lanes_) + static_cast<size_t>(lane)] =
        own.compiled.rotor[i];
}

double Plant::motorPosition(Index i, int lane) const {
  const Index k = flexible_of_[static_cast<size_t>(i)];
  return k < 0 ? position(i, lane) : state[(nq_ + n_ + k) * lanes_ + lane];
}

void Plant::alignMotors(int lane, ConstVectorRef link_torque) {
  const auto flexible = static_cast<Index>(flexible_.size());
  for (Index k = 0; k < flexible; ++k) {
    const Index i = flexible_[static_cast<size_t>(k)];
    state[(nq_ + n_ + k) * lanes_ + lane] =
        position(i, lane) + link_torque[i] / stiffness_[i * lanes_ + lane];
    state[(nq_ + n_ + flexible + k) * lanes_ + lane] = state[(nq_ + i) * lanes_ + lane];
  }
}

double Plant::linkTorque(Index i, int lane) const {
  const Index entry = i * lanes_ + lane;
  if (flexible(i)) return drive_[entry];
  const std::vector<double>& rotor = lane_[static_cast<size_t>(lane)].compiled.rotor;
  const double inertia = tree_.hasMimic() ? 0.0 : rotor[static_cast<size_t>(i)];
  return torque[entry] - inertia * accelerations()[entry];
}

void Plant::setPayload(int lane, int link, const InertialParameters& payload) {
  Lane& own = lane_[static_cast<size_t>(lane)];
  const auto start = static_cast<size_t>(own.actual.layout->linkOffset(link));
  const Vector10d extra = payload.vector();
  for (size_t k = 0; k < 10; ++k)
    own.actual.values[start + k] = own.declared.values[start + k] + extra[static_cast<Index>(k)];
  compileLane(lane);
}

void Plant::evaluate() { derivative(state.data(), rates_.data()); }

void Plant::advance(double h, Integrator integrator) {
  if (integrator == Integrator::kRk1) {
    state += h * rates_;
  } else if (integrator == Integrator::kRk2) {
    stage_ = state + 0.5 * h * rates_;
    derivative(stage_.data(), stage_rates_.data());
    state += h * stage_rates_;
  } else {
    sum_ = rates_;
    stage_ = state + 0.5 * h * rates_;
    derivative(stage_.data(), stage_rates_.data());
    sum_ += 2.0 * stage_rates_;
    stage_ = state + 0.5 * h * stage_rates_;
    derivative(stage_.data(), stage_rates_.data());
    sum_ += 2.0 * stage_rates_;
    stage_ = state + h * stage_rates_;
    derivative(stage_.data(), stage_rates_.data());
    sum_ += stage_rates_;
    state += (h / 6.0) * sum_;
  }
  if (!plain_) normalise();
}

void Plant::derivative(const double* y, double* dy) {
  const double* q = y;
  const double* v = y + nq_ * lanes_;
  positionRates(q, v, dy);
  double* rest = dy + (nq_ + n_) * lanes_;
  driveTorques(y, rest);
  frictionTorques(y, rest + 2 * static_cast<Index>(flexible_.size()) * lanes_);
  const Index size = n_ * lanes_;
  if (plain_) {
    const Eigen::Map<const VectorXd> position(q, size);
    net_ = drive_ - friction_ - spring_.cwiseProduct(position) - preload_;
  } else {
    for (Index i = 0; i < size; ++i)
      net_[i] =
          drive_[i] - friction_[i] - (spring_[i] * q[q_of_[static_cast<size_t>(i)]] + preload_[i]);
  }
  // power of what only takes; couplings are added below
  double lost = counts_work_ ? lostPower(y) : 0.0;
  for (const Coupling& coupling : couplings_) {
    for (int lane = 0; lane < lanes_; ++lane) {
      const double signal = coupling.sign >= 0                ? sign_[coupling.sign + lane]
                            : coupling.signal == Signal::kOne ? 1.0
                                                              : couplingSum(coupling, q, v, lane);
      const double own = coupling.ratio * coupling.value[static_cast<size_t>(lane)] * signal;
      net_[coupling.row * lanes_ + lane] -= own;
      lost += own * v[coupling.row * lanes_ + lane];
    }
  }
  solve(q, v, dy + nq_ * lanes_);
  if (!counts_work_) return;
  dy[state.size() - 2] = lost + inertialCouplingPower(v, dy + nq_);
  dy[state.size() - 1] = outsidePower();
}

void Plant::positionRates(const double* q, const double* v, double* dq) const {
  if (plain_) {
    std::copy(v, v + n_ * lanes_, dq);
    return;
  }
  using Map = Eigen::Map<const VectorXd>;
  positionRate(tree_, Map(q, nq_), Map(v, n_), Eigen::Map<VectorXd>(dq, nq_));
}

// torque on the link, and the rates of the rotors
void Plant::driveTorques(const double* y, double* dy) {
  drive_ = torque;
  const auto flexible = static_cast<Index>(flexible_.size());
  const double* theta = y + (nq_ + n_) * lanes_;
  const double* omega = theta + flexible * lanes_;
  for (Index k = 0; k < flexible; ++k) {
    const Index i = flexible_[static_cast<size_t>(k)];
    for (int lane = 0; lane < lanes_; ++lane) {
      const Index entry = i * lanes_ + lane, own = k * lanes_ + lane;
      const double q = y[q_of_[static_cast<size_t>(i)] * lanes_ + lane];
      const double v = y[(nq_ + i) * lanes_ + lane];
      const double elastic =
          stiffness_[entry] * (theta[own] - q) + damping_[entry] * (omega[own] - v);
      drive_[entry] = elastic;
      dy[own] = omega[own];
      dy[flexible * lanes_ + own] = (torque[entry] - elastic) / rotor_[entry];
    }
  }
}

void Plant::frictionTorques(const double* y, double* dz) {
  const double* v = y + nq_ * lanes_;
  const double* z = y + (nq_ + n_ + 2 * static_cast<Index>(flexible_.size())) * lanes_;
  const Index size = n_ * lanes_;
  const Eigen::Map<const VectorXd> speed(v, size);
  argument_.head(size) = gain_.cwiseProduct(speed);
  for (const Coupling& coupling : couplings_) {
    if (coupling.sign < 0) continue;
    for (int lane = 0; lane < lanes_; ++lane)
      argument_[coupling.sign + lane] = sign_gain_ * couplingSum(coupling, y, v, lane);
  }
  table_.tanh(argument_.data(), sign_.data(), signs_);
  friction_ = viscous_.cwiseProduct(speed) + coulomb_.cwiseProduct(sign_.head(size)) + offset_;
  for (const OtherTerm& other : others_) {
    for (int lane = 0; lane < lanes_; ++lane) {
      const Index i = other.row * lanes_ + lane;
      friction_[i] +=
          other.ratio * other.coefficient[static_cast<size_t>(lane)] *
          frictionBasis(other.friction, other.friction.terms[other.term], other.ratio * v[i]);
    }
  }
  for (const Bristle& bristle : bristles_) {
    const DynamicFriction& law = bristle.law;
    const auto n = static_cast<double>(bristle.count);
    const double stiffness = law.sigma0 / n;
    for (int lane = 0; lane < lanes_; ++lane) {
      const Index i = bristle.row * lanes_ + lane;
      const double curve = stribeck(law, v[i]);
      double force = 0.0, rate = 0.0;
      for (Index j = 0; j < bristle.count; ++j) {
        const Index own = (bristle.first + j) * lanes_ + lane;
        const double share = static_cast<double>(2 * j + 1) / (n * n);  // 1 for a single one
        dz[own] = bristleRate(law, stiffness * z[own] / (share * curve), v[i]);
        force += stiffness * z[own];
        rate += dz[own] / n;
      }
      friction_[i] += force;
      if (law.kind != DynamicFrictionKind::kDahl)
        friction_[i] += law.sigma1 * rate + law.sigma2 * v[i];
    }
  }
  for (size_t lane = 0; lane < friction_factors.size(); ++lane) {
    if (friction_factors[lane] == nullptr) continue;
    for (Index k = 0; k < n_; ++k) {
      const Index i = k * lanes_ + static_cast<Index>(lane);
      const Index at = q_of_[static_cast<size_t>(k)];
      if (at < 0) continue;
      friction_[i] *= (*friction_factors[lane])(
          {static_cast<int>(k), time, y[at * lanes_ + static_cast<Index>(lane)], v[i], drive_[i]});
    }
  }
}

double Plant::couplingSum(const Coupling& coupling, const double* q, const double* v,
                          int lane) const {
  double sum = 0.0;
  for (size_t k = 0; k < coupling.weights.size(); ++k) {
    const bool positions = coupling.signal == Signal::kPosition;
    const Index index = positions ? coupling.q[k] : coupling.v[k];
    sum += coupling.weights[k] * (positions ? q : v)[index * lanes_ + lane];
    if (positions) sum += coupling.offsets[k];
  }
  return sum;
}

void Plant::solve(const double* q, const double* v, double* a) {
  if (lanes_ == 1) {
    using Map = Eigen::Map<const VectorXd>;
    solveOne(Map(q, nq_), Map(v, n_), Eigen::Map<VectorXd>(a, n_));
    return;
  }
  table_.lane.forward_dynamics(
      workspace_.kernelTree(), reinterpret_cast<const kernels::Inertia<double>*>(inertias_.data()),
      lane_[0].compiled.has_rotor ? link_rotor_.data() : nullptr, workspace_.scratch(), {q, lanes_},
      {v, lanes_}, {net_.data(), lanes_}, nullptr, {a, lanes_});
}

void Plant::solveOne(ConstVectorRef q, ConstVectorRef v, VectorRef a) {
  const CompiledParameters& compiled = lane_[0].compiled;
  const LinkWrenches* external = nullptr;
  if (surroundings_ != nullptr) {
    updateKinematics(q, v);
    contact_forces_.resize(static_cast<Index>(surroundings_->points.size()));
    wrenches_.setZero();
    addContactWrenches(tree_, *kinematics_, surroundings_->half_spaces, surroundings_->points,
                       &wrenches_, contact_forces_);
    for (const AppliedWrench* wrench : wrenches_now)
      addAppliedWrench(*kinematics_, *wrench, &wrenches_);
    external = &wrenches_;
  }
  if (!inertial_couplings_) {
    forwardDynamics(tree_, compiled, workspace_, q, v, net_, a, external);
    return;
  }
  // M + couplings is not symmetric in general
  massMatrix(tree_, compiled, workspace_, q, M_);
  addCouplingInertia(tree_, lane_[0].actual, M_);
  biasTorque(tree_, compiled, workspace_, q, v, workspace_.column(), external);
  net_ -= workspace_.column();
  a = M_.partialPivLu().solve(net_);
}

void Plant::updateKinematics(ConstVectorRef q, ConstVectorRef v) {
  if (!kinematics_) kinematics_ = std::make_unique<Kinematics>(tree_);
  computeKinematics(tree_, q, v, *kinematics_);
}

void Plant::normalise() {
  if (tree_.floating()) state.segment<4>(3).normalize();
  const Model& model = tree_.model();
  for (int j = 0; j < static_cast<int>(model.joints.size()); ++j) {
    if (model.joints[static_cast<size_t>(j)].type == JointType::kFloating)
      state.segment<4>(tree_.positionIndex(j) + 3).normalize();
  }
}

double Plant::fastestRate(const VectorXd& velocity_limit) const {
  double fastest = 0.0;
  Workspace workspace(tree_);
  Eigen::MatrixXd M(n_, n_);
  for (int lane = 0; lane < lanes_; ++lane) {
    VectorXd q(nq_);
    for (Index i = 0; i < nq_; ++i) q[i] = state[i * lanes_ + lane];
    const CompiledParameters& compiled = lane_[static_cast<size_t>(lane)].compiled;
    massMatrix(tree_, compiled, workspace, q, M);
    // inertia that a torque at the joint feels while all others are free to move
    const VectorXd mobility = M.inverse().diagonal();
    for (Index i = 0; i < n_; ++i) {
      const Index entry = i * lanes_ + lane;
      double slope = viscous_[entry] + coulomb_[entry] * gain_[entry];
      double hardest = spring_[entry];
      double bristle_rate = 0.0;
      for (const Bristle& bristle : bristles_) {
        if (bristle.row != i) continue;
        const DynamicFriction& law = bristle.law;
        slope += law.sigma1 + law.sigma2;
        hardest += law.sigma0;
        const double lowest = law.kind == DynamicFrictionKind::kDahl
                                  ? law.coulomb
                                  : std::min(law.coulomb, law.stiction);
        // the weakest of several elements has stiffness 1 / n and strength 1 / n^2
        const auto n = static_cast<double>(bristle.count);
        bristle_rate += n * law.sigma0 * velocity_limit[i] / lowest;
      }
      const double m = mobility[i];
      fastest = std::max({fastest, slope * m + bristle_rate, std::sqrt(hardest * m)});
      if (flexible(i)) {
        const double both = m + 1.0 / rotor_[entry];
        fastest = std::max(
            {fastest, slope * m + damping_[entry] * both, std::sqrt(stiffness_[entry] * both)});
      }
    }
    if (surroundings_ == nullptr) continue;
    // a point of a link moves at most with the mobility of the whole path above it
    Kinematics kinematics(tree_);
    computeKinematics(tree_, q, kinematics);
    Eigen::Matrix<double, 6, Eigen::Dynamic> J(6, n_);
    for (const ContactPoint& point : surroundings_->points) {
      frameJacobian(tree_, kinematics, point.link, {Matrix3d::Identity(), point.p_L},
                    Representation::kMixed, Representation::kBody, J);
      const Eigen::MatrixXd Jp = J.topRows<3>();
      const double m = (Jp * M.inverse() * Jp.transpose()).trace();
      for (const HalfSpace& space : surroundings_->half_spaces)
        fastest = std::max({fastest, space.damping * m, std::sqrt(space.stiffness * m)});
    }
  }
  return fastest;
}

}  // namespace proprio::internal
