#pragma once

/// Short ways to the parts of a model, for tests.

#include <memory>
#include <string>
#include <utility>

#include "proprio/model/model.h"

namespace proprio {

inline Link& linkOf(Model& model, const std::string& name) {
  return model.links.at(static_cast<size_t>(requireLink(model, name)));
}
inline const Link& linkOf(const Model& model, const std::string& name) {
  return model.links.at(static_cast<size_t>(requireLink(model, name)));
}
inline Joint& jointOf(Model& model, const std::string& name) {
  return model.joints.at(static_cast<size_t>(requireJoint(model, name)));
}
inline const Joint& jointOf(const Model& model, const std::string& name) {
  return model.joints.at(static_cast<size_t>(requireJoint(model, name)));
}

inline std::shared_ptr<const Model> sharedModel(Model model) {
  return std::make_shared<const Model>(std::move(model));
}

inline double poseDistance(const Pose& a, const Pose& b) {
  return (a.matrix() - b.matrix()).norm();
}

}  // namespace proprio
