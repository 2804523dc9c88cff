#include "proprio/model/parameters.h"

#include <fmt/format.h>

#include <unordered_set>
#include <utility>

namespace proprio {
namespace {

constexpr const char* kInertialUnits[10] = {"kg",     "kg m",   "kg m",   "kg m",   "kg m^2",
                                            "kg m^2", "kg m^2", "kg m^2", "kg m^2", "kg m^2"};

std::vector<ParameterInfo> linkParameters(const Link& link, int index) {
  std::vector<ParameterInfo> infos;
  infos.reserve(10);
  for (int k = 0; k < 10; ++k) {
    infos.push_back({ParameterKind::kInertial, fmt::format("{}.{}", link.name, kInertialNames[k]),
                     kInertialUnits[k], index, -1, k});
  }
  return infos;
}

std::vector<ParameterInfo> jointParameters(const Joint& joint, int index) {
  const bool prismatic = joint.type == JointType::kPrismatic;
  std::vector<ParameterInfo> infos;
  if (joint.drive.declared) {
    infos.push_back({ParameterKind::kRotorInertia, joint.name + ".rotor_inertia",
                     prismatic ? "kg" : "kg m^2", -1, index, 0});
  }
  for (size_t k = 0; k < joint.friction.terms.size(); ++k) {
    const FrictionTerm& term = joint.friction.terms[k];
    infos.push_back({ParameterKind::kFriction, joint.name + "." + term.name,
                     frictionUnit(term, prismatic), -1, index, static_cast<int>(k)});
  }
  if (joint.spring.declared) {
    infos.push_back({ParameterKind::kSpringStiffness, joint.name + ".spring_stiffness",
                     prismatic ? "N/m" : "N m/rad", -1, index, 0});
    infos.push_back({ParameterKind::kSpringPreload, joint.name + ".spring_preload",
                     prismatic ? "N" : "N m", -1, index, 0});
  }
  return infos;
}

// the value that the model declares for one parameter
double declaredValue(const Model& model, const ParameterInfo& info) {
  switch (info.kind) {
    case ParameterKind::kInertial:
      return model.links[info.link].inertia.vector()[info.component];
    case ParameterKind::kRotorInertia:
      return model.joints[info.joint].drive.rotor_inertia;
    case ParameterKind::kFriction:
      return model.joints[info.joint].friction.terms[info.component].coefficient;
    case ParameterKind::kSpringStiffness:
      return model.joints[info.joint].spring.stiffness;
    case ParameterKind::kSpringPreload: {
      const Spring& spring = model.joints[info.joint].spring;
      return -spring.stiffness * spring.rest;
    }
    case ParameterKind::kCoupling:
      return model.couplings[info.component].value;
  }
  return 0.0;
}

void requireSize(const Parameters& parameters) {
  if (!parameters.layout) throw Error("parameters: they have no layout; use declaredParameters()");
  const size_t expected = static_cast<size_t>(parameters.layout->size());
  if (parameters.values.size() != expected) {
    throw Error(fmt::format("parameters: found {} values, the layout of '{}' expects {}",
                            parameters.values.size(), parameters.layout->model().name, expected));
  }
}

void requireLinkOf(const Parameters& parameters, int link) {
  requireSize(parameters);
  const size_t count = parameters.layout->model().links.size();
  if (link < 0 || static_cast<size_t>(link) >= count) {
    throw Error(fmt::format("parameters: there is no link {}; the model '{}' has {} links", link,
                            parameters.layout->model().name, count));
  }
}

// preload = -stiffness * rest; a preload without stiffness has no rest position
void setSpringPreload(Joint& joint, double preload) {
  Spring& spring = joint.spring;
  if (spring.stiffness != 0.0) {
    spring.rest = -preload / spring.stiffness;
  } else if (preload != 0.0) {
    throw Error(
        fmt::format("joint '{}': a spring of zero stiffness cannot have the preload {}; "
                    "declare an offset friction term for a constant torque",
                    joint.name, preload));
  }
}

}  // namespace

const char* const kInertialNames[10] = {"m",   "mcx", "mcy", "mcz", "Ixx",
                                        "Ixy", "Ixz", "Iyy", "Iyz", "Izz"};

ParameterLayout::ParameterLayout(std::shared_ptr<const Model> model) : model_(std::move(model)) {
  if (!model_) throw Error("parameter layout: there is no model (null pointer)");
  const auto append = [this](const std::vector<ParameterInfo>& infos) {
    infos_.insert(infos_.end(), infos.begin(), infos.end());
  };
  for (size_t i = 0; i < model_->links.size(); ++i) {
    append(linkParameters(model_->links[i], static_cast<int>(i)));
  }
  for (size_t i = 0; i < model_->joints.size(); ++i) {
    joint_offset_.push_back(size());
    append(jointParameters(model_->joints[i], static_cast<int>(i)));
    joint_count_.push_back(size() - joint_offset_.back());
  }
  coupling_offset_ = size();
  for (size_t i = 0; i < model_->couplings.size(); ++i) {
    const CouplingColumn& column = model_->couplings[i];
    infos_.push_back(
        {ParameterKind::kCoupling, column.name, column.unit, -1, -1, static_cast<int>(i)});
  }
  std::unordered_set<std::string> names;
  for (const ParameterInfo& info : infos_) {
    if (!names.insert(info.name).second) {
      throw Error(
          fmt::format("model '{}': two parameters are called '{}'; rename the friction "
                      "term or the coupling column",
                      model_->name, info.name));
    }
  }
}

int ParameterLayout::index(const std::string& name) const {
  for (int i = 0; i < size(); ++i) {
    if ((*this)[i].name == name) return i;
  }
  return -1;
}

Parameters declaredParameters(std::shared_ptr<const Model> model) {
  Parameters parameters;
  parameters.layout = std::make_shared<const ParameterLayout>(std::move(model));
  const ParameterLayout& layout = *parameters.layout;
  parameters.values.reserve(static_cast<size_t>(layout.size()));
  for (int i = 0; i < layout.size(); ++i) {
    parameters.values.push_back(declaredValue(layout.model(), layout[i]));
  }
  return parameters;
}

InertialParameters linkInertia(const Parameters& parameters, int link) {
  requireLinkOf(parameters, link);
  const double* values = parameters.values.data() + parameters.layout->linkOffset(link);
  return InertialParameters::fromVector(Eigen::Map<const Vector10d>(values));
}

void setLinkInertia(Parameters& parameters, int link, const InertialParameters& inertia) {
  requireLinkOf(parameters, link);
  double* values = parameters.values.data() + parameters.layout->linkOffset(link);
  Eigen::Map<Vector10d> target(values);
  target = inertia.vector();
}

Model modelWithParameters(const Parameters& parameters) {
  requireSize(parameters);
  const ParameterLayout& layout = *parameters.layout;
  Model model = layout.model();
  for (size_t i = 0; i < model.links.size(); ++i) {
    Link& link = model.links[i];
    link.inertia = linkInertia(parameters, static_cast<int>(i));
    if (!link.inertia.vector().isZero(0.0)) link.has_inertial = true;
  }
  for (int i = layout.inertialSize(); i < layout.size(); ++i) {
    const ParameterInfo& info = layout[i];
    const double value = parameters.values[i];
    switch (info.kind) {
      case ParameterKind::kInertial:
        break;
      case ParameterKind::kRotorInertia:
        model.joints[info.joint].drive.rotor_inertia = value;
        break;
      case ParameterKind::kFriction:
        model.joints[info.joint].friction.terms[info.component].coefficient = value;
        break;
      case ParameterKind::kSpringStiffness:
        model.joints[info.joint].spring.stiffness = value;
        break;
      case ParameterKind::kSpringPreload:
        setSpringPreload(model.joints[info.joint], value);
        break;
      case ParameterKind::kCoupling:
        model.couplings[info.component].value = value;
        break;
    }
  }
  return finalize(std::move(model));
}

}  // namespace proprio
