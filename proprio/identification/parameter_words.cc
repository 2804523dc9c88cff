#include "proprio/identification/parameter_words.h"

#include <array>

namespace proprio {
namespace {

constexpr std::array<const char*, 10> kInertialWords = {
    "mass",       "first moment x", "first moment y", "first moment z", "inertia xx",
    "inertia xy", "inertia xz",     "inertia yy",     "inertia yz",     "inertia zz"};

}  // namespace

std::string parameterWords(const ParameterLayout& layout, int parameter) {
  const ParameterInfo& info = layout[parameter];
  const Model& model = layout.model();
  const auto ofJoint = [&](const std::string& what) {
    return what + " of " + model.joints[static_cast<size_t>(info.joint)].name;
  };
  switch (info.kind) {
    case ParameterKind::kInertial:
      return std::string(kInertialWords[static_cast<size_t>(info.component)]) + " of " +
             model.links[static_cast<size_t>(info.link)].name;
    case ParameterKind::kRotorInertia:
      return ofJoint("rotor inertia");
    case ParameterKind::kFriction: {
      const FrictionTerm& term = model.joints[static_cast<size_t>(info.joint)]
                                     .friction.terms[static_cast<size_t>(info.component)];
      return ofJoint(term.kind == FrictionTermKind::kOffset ? "torque offset"
                                                            : term.name + " friction");
    }
    case ParameterKind::kSpringStiffness:
      return ofJoint("spring stiffness");
    case ParameterKind::kSpringPreload:
      return ofJoint("spring preload");
    case ParameterKind::kCoupling:
      break;
  }
  return "coupling " + info.name;
}

}  // namespace proprio
