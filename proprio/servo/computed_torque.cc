#include "proprio/servo/computed_torque.h"

#include "proprio/dynamics/inverse_dynamics.h"
#include "proprio/dynamics/joint_effects.h"

namespace proprio {

double signGain(JointType type, double gain) {
  constexpr double kRadiansPerMetre = 10.0;
  return type == JointType::kPrismatic ? kRadiansPerMetre * gain : gain;
}

ComputedTorque::ComputedTorque(const Tree& tree, const Parameters& model, double sign_gain)
    : tree_(tree), workspace_(tree) {
  Model smoothed = model.layout->model();
  for (Joint& joint : smoothed.joints) {
    if (joint.friction.smooth_sign != SmoothSign::kSign) continue;
    joint.friction.smooth_sign = SmoothSign::kTanh;
    joint.friction.smooth_gain = signGain(joint.type, sign_gain);
  }
  const auto smooth = std::make_shared<const Model>(std::move(smoothed));
  model_ = {std::make_shared<const ParameterLayout>(smooth), model.values};
  smooth_tree_ =
      std::make_unique<const Tree>(smooth, tree.baseLink(), tree.floating(), tree.mounting());
  compiled_ = compileParameters(*smooth_tree_, model_);
}

void ComputedTorque::torque(ConstVectorRef q, ConstVectorRef v, ConstVectorRef v_ref,
                            ConstVectorRef a, VectorRef tau) {
  inverseDynamics(tree_, compiled_, workspace_, q, v, a, tau);
  addJointEffects(*smooth_tree_, model_, q, v_ref, a, tau);
}

void ComputedTorque::gravity(ConstVectorRef q, VectorRef tau) {
  gravityTorque(tree_, compiled_, workspace_, q, tau);
}

}  // namespace proprio
