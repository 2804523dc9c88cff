#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "proprio/dynamics/joint_features_internal.h"

namespace proprio::internal {
namespace {

/// A joint's motion as that of the joint which leads it: q = ratio * q_leader + offset.
struct Follower {
  int leader = -1;
  double ratio = 1.0, offset = 0.0;
  double sign() const { return ratio > 0.0 ? 1.0 : ratio < 0.0 ? -1.0 : 0.0; }
};

class FeatureTable {
 public:
  FeatureTable(const Model& model, const std::vector<bool>& measured) : measured_(measured) {
    std::map<int, int> free_joint;  // by position index
    for (int j = 0; j < static_cast<int>(model.joints.size()); ++j) {
      const Joint& joint = model.joints[static_cast<size_t>(j)];
      if (!joint.mimic) free_joint[joint.position_index] = j;
    }
    for (int j = 0; j < static_cast<int>(model.joints.size()); ++j) {
      const Joint& joint = model.joints[static_cast<size_t>(j)];
      const int leader = joint.mimic ? free_joint.at(joint.position_index) : j;
      followers_.push_back({leader, joint.mimic_ratio, joint.mimic_offset});
    }
  }

  const Follower& follower(int joint) const { return followers_[static_cast<size_t>(joint)]; }

  /// In the row of joint `row`: coefficient times a function of the leader's state.
  void add(int row, const std::string& name, int parameter, double coefficient,
           int acceleration_of = -1, bool constant = false) {
    const Follower& f = follower(row);
    if (!measured_[static_cast<size_t>(f.leader)]) return;
    RowFeature& feature = table_[{f.leader, name}];
    feature.row_joint = f.leader;
    feature.name = name;
    feature.acceleration_of = acceleration_of;
    feature.constant = constant;
    feature.coefficients[parameter] += f.ratio * coefficient;
  }
  void addOne(int row, int parameter, double coefficient) {
    add(row, "1", parameter, coefficient, -1, true);
  }
  void addAcceleration(int row, int k, int parameter, double coefficient) {
    const Follower& f = follower(k);
    add(row, fmt::format("a{}", f.leader), parameter, f.ratio * coefficient, f.leader);
  }
  void addPosition(int row, int k, int parameter, double coefficient) {
    const Follower& f = follower(k);
    add(row, fmt::format("q{}", f.leader), parameter, f.ratio * coefficient);
    if (f.offset != 0.0) addOne(row, parameter, f.offset * coefficient);
  }
  /// The velocity where it is positive, or negative: side +1 or -1.
  void addVelocitySide(int row, int k, int side, int parameter, double coefficient) {
    const Follower& f = follower(k);
    add(row, fmt::format("v{}{}", f.leader, side * f.sign() > 0.0 ? '+' : '-'), parameter,
        f.ratio * coefficient);
  }
  void addVelocity(int row, int k, int parameter, double coefficient) {
    for (const int side : {1, -1}) addVelocitySide(row, k, side, parameter, coefficient);
  }
  void addSignSide(int row, int k, const std::string& kind, int side, int parameter,
                   double coefficient) {
    const Follower& f = follower(k);
    if (kind.empty()) {  // where v > 0: (1 + sign v)/2, where v < 0: (sign v - 1)/2
      add(row, fmt::format("s{}", f.leader), parameter, 0.5 * f.sign() * coefficient);
      return addOne(row, parameter, 0.5 * side * coefficient);
    }
    add(row, fmt::format("s{}{}{}", f.leader, kind, side * f.sign() > 0.0 ? '+' : '-'), parameter,
        f.sign() * coefficient);
  }
  void addSign(int row, int k, const std::string& kind, int parameter, double coefficient) {
    if (kind.empty())
      return add(row, fmt::format("s{}", follower(k).leader), parameter,
                 follower(k).sign() * coefficient);
    for (const int side : {1, -1}) addSignSide(row, k, kind, side, parameter, coefficient);
  }

  std::vector<RowFeature> features() const {
    std::vector<RowFeature> list;
    for (const auto& entry : table_) list.push_back(entry.second);
    return list;
  }

 private:
  const std::vector<bool>& measured_;
  std::vector<Follower> followers_;
  std::map<std::pair<int, std::string>, RowFeature> table_;
};

/// The same text for numbers that differ by rounding.
std::string featureNumber(double x) { return fmt::format("{:.12g}", x); }

/// Which sign function of its leader's velocity a joint's friction uses; plain signs need no name.
std::string signKind(const FrictionModel& friction, const Follower& f) {
  const double gain = friction.smooth_gain * std::abs(f.ratio);
  switch (friction.smooth_sign) {
    case SmoothSign::kSign:
      return "";
    case SmoothSign::kTanh:
      return "tanh" + featureNumber(gain);
    case SmoothSign::kArctan:
      return "atan" + featureNumber(gain);
  }
  return "";
}

void addFrictionTerm(FeatureTable& table, int j, const FrictionModel& friction,
                     const FrictionTerm& term, int parameter) {
  const Follower& f = table.follower(j);
  if (f.ratio == 0.0) return;  // it stands still, and its torque moves nothing
  const std::string sign = signKind(friction, f);
  const bool plain = friction.smooth_sign == SmoothSign::kSign;
  const double speed = std::abs(f.ratio);  // of this joint where its leader's is one
  switch (term.kind) {
    case FrictionTermKind::kViscous:
      return table.addVelocity(j, j, parameter, 1.0);
    case FrictionTermKind::kCoulomb:
      return table.addSign(j, j, sign, parameter, 1.0);
    case FrictionTermKind::kOffset:
      return table.addOne(j, parameter, 1.0);
    case FrictionTermKind::kViscousPositive:
      return table.addVelocitySide(j, j, 1, parameter, 1.0);
    case FrictionTermKind::kViscousNegative:
      return table.addVelocitySide(j, j, -1, parameter, 1.0);
    case FrictionTermKind::kCoulombPositive:
      return table.addSignSide(j, j, sign, 1, parameter, 1.0);
    case FrictionTermKind::kCoulombNegative:
      return table.addSignSide(j, j, sign, -1, parameter, 1.0);
    case FrictionTermKind::kPower:
      if (term.exponent == 0.0) return table.addSign(j, j, sign, parameter, 1.0);
      if (term.exponent == 1.0 && plain) return table.addVelocity(j, j, parameter, 1.0);
      return table.add(j, fmt::format("power{}{}", term.exponent, sign), parameter,
                       f.sign() * std::pow(speed, term.exponent));
    case FrictionTermKind::kArctan:
      return table.addSign(j, j, "atan" + featureNumber(std::abs(term.scale) * speed), parameter,
                           std::copysign(std::numbers::pi / 2.0, term.scale));
    case FrictionTermKind::kStribeck:
      return table.add(j,
                       fmt::format("stribeck{}^{}{}", featureNumber(std::abs(term.scale) / speed),
                                   term.exponent, sign),
                       parameter, f.sign());
  }
}

/// sign(sum w v): written with the first weight 1, because only ratios matter.
void addSignTerm(FeatureTable& table, const CouplingTerm& term, int parameter) {
  std::map<int, double> weights;
  for (size_t k = 0; k < term.joints.size(); ++k) {
    const Follower& f = table.follower(term.joints[k]);
    weights[f.leader] += f.ratio * term.weights[k];
  }
  std::erase_if(weights, [](const auto& entry) { return entry.second == 0.0; });
  if (weights.empty()) return;
  const double first = weights.begin()->second, sign = first > 0.0 ? 1.0 : -1.0;
  if (weights.size() == 1) {
    return table.addSign(term.joint, weights.begin()->first, "", parameter, sign);
  }
  std::string name = "sign";
  for (const auto& [joint, weight] : weights) {
    name += fmt::format(" {}v{}", featureNumber(weight / first), joint);
  }
  table.add(term.joint, name, parameter, sign);
}

void addCouplingFeature(FeatureTable& table, const CouplingTerm& term, int parameter) {
  if (term.signal == Signal::kOne) return table.addOne(term.joint, parameter, 1.0);
  if (term.signal == Signal::kSignVelocity) return addSignTerm(table, term, parameter);
  for (size_t k = 0; k < term.joints.size(); ++k) {
    const int joint = term.joints[k];
    const double weight = term.weights[k];
    if (term.signal == Signal::kAcceleration) {
      table.addAcceleration(term.joint, joint, parameter, weight);
    } else if (term.signal == Signal::kVelocity) {
      table.addVelocity(term.joint, joint, parameter, weight);
    } else {
      table.addPosition(term.joint, joint, parameter, weight);
    }
  }
}

}  // namespace

std::vector<RowFeature> jointFeatures(const ParameterLayout& layout,
                                      const std::vector<bool>& measured) {
  const Model& model = layout.model();
  FeatureTable table(model, measured);
  for (int j = 0; j < static_cast<int>(model.joints.size()); ++j) {
    const Joint& joint = model.joints[static_cast<size_t>(j)];
    if (layout.jointCount(j) == 0) continue;
    int parameter = layout.jointOffset(j);
    if (joint.drive.declared) table.addAcceleration(j, j, parameter++, 1.0);
    for (const FrictionTerm& term : joint.friction.terms) {
      addFrictionTerm(table, j, joint.friction, term, parameter++);
    }
    if (joint.spring.declared) {
      table.addPosition(j, j, parameter++, 1.0);
      table.addOne(j, parameter++, 1.0);
    }
  }
  for (size_t c = 0; c < model.couplings.size(); ++c) {
    const int parameter = layout.couplingOffset() + static_cast<int>(c);
    for (const CouplingTerm& term : model.couplings[c].terms) {
      addCouplingFeature(table, term, parameter);
    }
  }
  return table.features();
}

}  // namespace proprio::internal
