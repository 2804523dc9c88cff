#pragma once

/// Between the files of the linter.

#include "proprio/model/lint.h"

namespace proprio::internal {

/// Links that fixed joints hold together are one body.
struct RigidGroups {
  std::vector<int> of_link;                 ///< group of every link
  std::vector<InertialParameters> inertia;  ///< per group, in the frame of its first link
  std::vector<bool> moves;                  ///< per group: false for the one with a fixed base
};
RigidGroups rigidGroups(const Model& model);

/// Everything beyond a joint, seen from the base, at zero joint positions: in the joint frame.
std::vector<InertialParameters> inertiaBeyondJoints(const Model& model);

void lintLinks(const Model& model, std::vector<Finding>& findings);
void lintJoints(const Model& model, std::vector<Finding>& findings);

Finding linkFinding(Severity severity, const char* rule, const Model& model, int link);
/// `keys`: the values that are judged, which robot.yaml may state (whereStated).
Finding jointFinding(Severity severity, const char* rule, const Model& model, int joint,
                     std::initializer_list<std::string> keys = {});

/// Does the value that a finding is about stand in the URDF, so that a repair can change it?
bool inUrdf(const Model& model, const Finding& finding);

}  // namespace proprio::internal
