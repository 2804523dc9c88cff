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
Finding jointFinding(Severity severity, const char* rule, const Model& model, int joint);

}  // namespace proprio::internal
