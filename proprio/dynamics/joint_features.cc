#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "proprio/dynamics/joint_features_internal.h"

namespace proprio::internal {
namespace {

class FeatureTable {
 public:
  explicit FeatureTable(const std::vector<bool>& measured) : measured_(measured) {}

  void add(int row, const std::string& name, int parameter, double coefficient,
           int acceleration_of = -1, bool constant = false) {
    if (!measured_[static_cast<size_t>(row)]) return;
    RowFeature& feature = table_[{row, name}];
    feature.row_joint = row;
    feature.name = name;
    feature.acceleration_of = acceleration_of;
    feature.constant = constant;
    feature.coefficients[parameter] += coefficient;
  }
  void addOne(int row, int parameter, double coefficient) {
    add(row, "1", parameter, coefficient, -1, true);
  }
  void addAcceleration(int row, int k, int parameter, double coefficient) {
    add(row, fmt::format("a{}", k), parameter, coefficient, k);
  }
  void addVelocity(int row, int k, int parameter, double coefficient) {
    add(row, fmt::format("v{}+", k), parameter, coefficient);
    add(row, fmt::format("v{}-", k), parameter, coefficient);
  }
  void addSign(int row, int k, const std::string& kind, int parameter, double coefficient) {
    add(row, fmt::format("s{}{}+", k, kind), parameter, coefficient);
    add(row, fmt::format("s{}{}-", k, kind), parameter, coefficient);
  }

  std::vector<RowFeature> features() const {
    std::vector<RowFeature> list;
    for (const auto& entry : table_) list.push_back(entry.second);
    return list;
  }

 private:
  const std::vector<bool>& measured_;
  std::map<std::pair<int, std::string>, RowFeature> table_;
};

/// Which sign function a joint's friction uses; plain signs need no name.
std::string signKind(const FrictionModel& friction) {
  switch (friction.smooth_sign) {
    case SmoothSign::kSign:
      return "";
    case SmoothSign::kTanh:
      return fmt::format("tanh{}", friction.smooth_gain);
    case SmoothSign::kArctan:
      return fmt::format("atan{}", friction.smooth_gain);
  }
  return "";
}

void addFrictionTerm(FeatureTable& table, int j, const FrictionModel& friction,
                     const FrictionTerm& term, int parameter) {
  const std::string sign = signKind(friction);
  const bool plain = friction.smooth_sign == SmoothSign::kSign;
  switch (term.kind) {
    case FrictionTermKind::kViscous:
      return table.addVelocity(j, j, parameter, 1.0);
    case FrictionTermKind::kCoulomb:
      return table.addSign(j, j, sign, parameter, 1.0);
    case FrictionTermKind::kOffset:
      return table.addOne(j, parameter, 1.0);
    case FrictionTermKind::kViscousPositive:
      return table.add(j, fmt::format("v{}+", j), parameter, 1.0);
    case FrictionTermKind::kViscousNegative:
      return table.add(j, fmt::format("v{}-", j), parameter, 1.0);
    case FrictionTermKind::kCoulombPositive:
      return table.add(j, fmt::format("s{}{}+", j, sign), parameter, 1.0);
    case FrictionTermKind::kCoulombNegative:
      return table.add(j, fmt::format("s{}{}-", j, sign), parameter, 1.0);
    case FrictionTermKind::kPower:
      if (term.exponent == 0.0) return table.addSign(j, j, sign, parameter, 1.0);
      if (term.exponent == 1.0 && plain) return table.addVelocity(j, j, parameter, 1.0);
      return table.add(j, fmt::format("power{}{}", term.exponent, sign), parameter, 1.0);
    case FrictionTermKind::kArctan:
      if (friction.smooth_sign == SmoothSign::kArctan &&
          std::abs(term.scale) == friction.smooth_gain) {
        const double factor = std::copysign(std::numbers::pi / 2.0, term.scale);
        return table.addSign(j, j, sign, parameter, factor);
      }
      return table.add(j, fmt::format("arctan{}", std::abs(term.scale)), parameter,
                       std::copysign(1.0, term.scale));
    case FrictionTermKind::kStribeck:
      return table.add(j, fmt::format("stribeck{}^{}{}", std::abs(term.scale), term.exponent, sign),
                       parameter, 1.0);
  }
}

/// sign(sum w v): written with the first weight 1, because only ratios matter.
void addSignTerm(FeatureTable& table, const CouplingTerm& term, int parameter) {
  std::map<int, double> weights;
  for (size_t k = 0; k < term.joints.size(); ++k) weights[term.joints[k]] += term.weights[k];
  std::erase_if(weights, [](const auto& entry) { return entry.second == 0.0; });
  if (weights.empty()) return;
  const double first = weights.begin()->second, sign = first > 0.0 ? 1.0 : -1.0;
  if (weights.size() == 1) {
    return table.addSign(term.joint, weights.begin()->first, "", parameter, sign);
  }
  std::string name = "sign";
  for (const auto& [joint, weight] : weights) name += fmt::format(" {}v{}", weight / first, joint);
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
      table.add(term.joint, fmt::format("q{}", joint), parameter, weight);
    }
  }
}

}  // namespace

std::vector<RowFeature> jointFeatures(const ParameterLayout& layout,
                                      const std::vector<bool>& measured) {
  const Model& model = layout.model();
  FeatureTable table(measured);
  for (int j = 0; j < static_cast<int>(model.joints.size()); ++j) {
    const Joint& joint = model.joints[static_cast<size_t>(j)];
    if (layout.jointCount(j) == 0) continue;
    int parameter = layout.jointOffset(j);
    if (joint.drive.declared) table.addAcceleration(j, j, parameter++, 1.0);
    for (const FrictionTerm& term : joint.friction.terms) {
      addFrictionTerm(table, j, joint.friction, term, parameter++);
    }
    if (joint.spring.declared) {
      table.add(j, fmt::format("q{}", j), parameter++, 1.0);
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
