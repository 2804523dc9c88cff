#include "proprio/dynamics/joint_effect_derivatives.h"

#include "proprio/dynamics/joint_signals_internal.h"

namespace proprio {
namespace {

void addCouplingDerivative(const Tree& tree, const CouplingTerm& term, int parameter,
                           std::vector<JointEffectDerivative>* list) {
  if (term.signal == Signal::kOne || term.signal == Signal::kSignVelocity) return;
  const std::vector<Joint>& joints = tree.model().joints;
  const double scale = joints[static_cast<size_t>(term.joint)].mimic_ratio;
  for (size_t k = 0; k < term.joints.size(); ++k) {
    const int other = term.joints[k];
    const double slope = scale * term.weights[k] * joints[static_cast<size_t>(other)].mimic_ratio;
    JointEffectDerivative d = {tree.velocityIndex(term.joint), parameter,
                               tree.velocityIndex(other)};
    if (term.signal == Signal::kAcceleration) d.da = slope;
    if (term.signal == Signal::kVelocity) d.dv = slope;
    if (term.signal == Signal::kPosition) d.dq = slope;
    list->push_back(d);
  }
}

}  // namespace

void jointEffectDerivatives(const Tree& tree, const ParameterLayout& layout, ConstVectorRef v,
                            std::vector<JointEffectDerivative>* derivatives) {
  constexpr const char* kName = "jointEffectDerivatives";
  internal::requireSameModel(kName, tree, layout);
  requireSize(kName, "v", v.size(), tree.velocityCount());
  derivatives->clear();
  const Model& model = tree.model();
  for (int j = 0; j < static_cast<int>(model.joints.size()); ++j) {
    if (layout.jointCount(j) == 0 || tree.velocityIndex(j) < 0) continue;
    const Joint& joint = model.joints[static_cast<size_t>(j)];
    const int row = tree.velocityIndex(j);
    const double squared = joint.mimic_ratio * joint.mimic_ratio;
    int parameter = layout.jointOffset(j);
    if (joint.drive.declared) derivatives->push_back({row, parameter++, row, 0.0, 0.0, squared});
    for (const FrictionTerm& term : joint.friction.terms) {
      const double slope =
          frictionBasisDerivative(joint.friction, term, joint.mimic_ratio * v[row]);
      derivatives->push_back({row, parameter++, row, 0.0, squared * slope, 0.0});
    }
    if (joint.spring.declared) derivatives->push_back({row, parameter, row, squared, 0.0, 0.0});
  }
  for (size_t c = 0; c < model.couplings.size(); ++c) {
    for (const CouplingTerm& term : model.couplings[c].terms) {
      addCouplingDerivative(tree, term, layout.couplingOffset() + static_cast<int>(c), derivatives);
    }
  }
}

void addJointEffectDerivatives(const Parameters& parameters,
                               const std::vector<JointEffectDerivative>& derivatives,
                               MatrixRef dtau_dq, MatrixRef dtau_dv, MatrixRef dtau_da) {
  for (const JointEffectDerivative& d : derivatives) {
    if ((*parameters.layout)[d.parameter].kind == ParameterKind::kRotorInertia) continue;
    const double value = parameters.values[static_cast<size_t>(d.parameter)];
    dtau_dq(d.row, d.coordinate) += value * d.dq;
    dtau_dv(d.row, d.coordinate) += value * d.dv;
    dtau_da(d.row, d.coordinate) += value * d.da;
  }
}

}  // namespace proprio
